//! Single edits of the root chart. Each of [`MUTANTS`] must be reported with the right code, at the right line, and
//! with nothing else; those in `tests/cases/mutants.toml` leave a chart that is still correct, as far as anyone can know.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use taskie::check::conditions::Limits;
use taskie::diagnostic::code::{Code, Stage};
use taskie::diagnostic::flaw::Flaw;
use taskie::expr::templates::Templates;

use crate::support::{cases, chart_files, temporary, write_chart};

/// Where a finding is expected.
enum At {
    /// On the line of the edit.
    Edit,
    /// On the line of the mutant where this text first ends.
    Line(&'static str),
    /// On the line before that: a rule is found at its `[[on.EVENT]]`, and named by its `about`.
    Rule(&'static str),
    /// On this line of a template.
    Template(&'static str, usize),
}

use At::{Edit, Line, Rule, Template};

/// One edit of the chart: the `nth` occurrence of `find`, from 1, becomes `replace`.
struct Mutant {
    find: &'static str,
    nth: usize,
    replace: &'static str,
    /// Every finding, in the order of the report.
    expected: &'static [(&'static str, At)],
}

const fn mutant(
    find: &'static str,
    nth: usize,
    replace: &'static str,
    expected: &'static [(&'static str, At)],
) -> Mutant {
    Mutant { find, nth, replace, expected }
}

#[rustfmt::skip]
const MUTANTS: &[Mutant] = &[
    // Misspelled keys.
    mutant("initial =", 1, "inital =", &[("unknown-key", Edit)]),
    mutant(r#"guard = "cycle.due and not used_up and not passed and waits "#, 1, r#"gaurd = "cycle.due and not used_up and not passed and waits "#, &[("unknown-key", Edit)]),
    mutant("one_of =", 1, "oneof =", &[("unknown-key", Edit)]),
    // Misspelled phases and cycles.
    mutant(r#"resume = "new-plan""#, 1, r#"resume = "new-pln""#, &[("unknown-phase", Edit)]),
    mutant(r#"next = "tasks-review""#, 1, r#"next = "task-review""#, &[("unknown-cycle", Edit)]),
    mutant("next_phase == 'complete'", 1, "next_phase == 'complet'", &[("unlike-types", Edit)]),
    mutant("phase == 'complete' and", 1, "phase == 'completed' and", &[("unlike-types", Edit)]),
    mutant("[phases.continue-task]", 1, "[phases.continue-tasks]", &[
            ("unknown-phase", Line(r#"resume = "continue-task""#)),
            ("unlike-types", Line("'continue-task'] and coded")),
            ("unlike-types", Line("'complete-task-tdd', 'continue-task']")),
            ("unlike-types", Template("next-alone.md", 2)),
        ]),
    // Misspelled context fields.
    mutant(r#"limit = "max_reviews""#, 1, r#"limit = "max_review""#, &[("unknown-field", Edit)]),
    // Misspelled lets, sources, file sets, tables and their fields.
    mutant("coded =", 1, "codd =", &[("unknown-name", Line(r#"ready = "coded""#)), ("unknown-name", Line("'continue-task'] and coded"))]),
    mutant("not scope.started", 1, "not scope.startd", &[("unknown-name", Edit)]),
    mutant(r#"each = "files.reviews""#, 1, r#"each = "files.review""#, &[("unknown-name", Edit)]),
    mutant("rejectattr('id'", 1, "rejectattr('idd'", &[("unknown-name", Edit)]),
    mutant("[[checks.structure]]", 1, "[[checks.struktur]]", &[("unused-name", Edit)]),
    mutant("review.ok and", 1, "review.okay and", &[("unknown-name", Edit)]),
    mutant("[args.reviews]", 1, "[args.review]", &[
            ("unknown-name", Line("assign = { max_reviews")),
            ("unknown-name", Template("limit-set.md", 1)),
            ("unknown-name", Template("limit-set.md", 4)),
            ("unknown-name", Template("limit-set.md", 4)),
            ("unknown-name", Template("limit-set.md", 5)),
            ("unknown-name", Template("limit-set.md", 6)),
        ]),
    mutant("session is not none", 1, "sesion is not none", &[("unknown-name", Edit)]),
    // Misspelled templates, filters, tests, invocations, events and types.
    mutant("include 'review.md'", 1, "include 'reviw.md'", &[("unknown-template", Edit)]),
    mutant("brief('; ')", 1, "breif('; ')", &[("unknown-filter", Edit)]),
    mutant("brief('; ')", 1, "brief", &[("wrong-operand", Edit)]),
    mutant("map(attribute='id')", 1, "map(atribute='id')", &[("wrong-operand", Edit)]),
    mutant(r#"current_task is not none""#, 1, r#"current_task is not non""#, &[("unknown-test", Edit)]),
    mutant("[[on.enter]]", 1, "[[on.entr]]", &[("unknown-event", Edit)]),
    mutant("review.verdict == 'PASS'", 1, "review.verdict == 'PAS'", &[("unlike-types", Edit)]),
    // Wrong types and values.
    mutant("[[on.unclaimed]]", 1, "[[on.unclaimed]", &[("toml-syntax", Edit)]),
    mutant(r#"[phases."{cycle}"]"#, 1, r#"[phases."{cycle}x"]"#, &[("unknown-phase", Line("[cycles.plan-review]")), ("unknown-phase", Line("[cycles.tasks-review]")), ("unknown-phase", Line("[cycles.code-review]")), ("unknown-phase", Line(r#"target = "all-code-review""#)), ("unknown-phase", Line("[cycles.all-code-review]"))]),
    mutant("{base}-review-{n}.md\"\nanswer", 1, "{base}-review.md\"\nanswer", &[("bad-pattern", Edit)]),
    mutant(r#"subject = ["plan.md"]"#, 1, r#"subject = "plan.md""#, &[("wrong-type", Edit)]),
    mutant("phase_iteration = 0 }", 1, r#"phase_iteration = "0" }"#, &[("wrong-assignment", Edit)]),
    mutant(r#"clear = ["current_task"]"#, 1, r#"clear = ["current_task", "max_reviews"]"#, &[("wrong-assignment", Edit)]),
    mutant(r#"next_phase = "{{ cycle.post }}""#, 1, r#"next_phase = "{{ cycle.n }}""#, &[("wrong-assignment", Edit)]),
    mutant("cycle.n > cycle.limit", 1, "cycle.id > cycle.limit", &[("wrong-operand", Edit)]),
    mutant("phase in ['next-task'", 1, "tdd in ['next-task'", &[("unlike-types", Edit)]),
    mutant(r#"guard = "remaining""#, 1, r#"guard = "remaining[0]""#, &[("not-a-condition", Edit)]),
    mutant("'plan.md' not in names", 1, "'plan.md' not in phase_iteration", &[("wrong-operand", Edit)]),
    mutant("default = 8", 1, r#"default = "8""#, &[("bad-default", Edit)]),
    mutant("{n}.md", 1, "{nn}.md", &[("bad-pattern", Edit)]),
    mutant("task-{current_task}.md", 1, "task-{curent_task}.md", &[("bad-pattern", Edit)]),
    mutant("- **Status**: {status}", 1, "- **Status**: {status", &[("bad-pattern", Edit)]),
    // Missing keys, and tables that are incomplete without them.
    mutant(r#"next = "next_phase""#, 1, "#", &[("missing-key", Line("[cycles.plan"))]),
    mutant("base = \"plan\"\n", 1, "\n", &[("missing-key", Line("[cycles.plan"))]),
    mutant(r#"exit = "consecutive"#, 1, r#"# "consecutive"#, &[("missing-key", Line("[cycles.plan")), ("missing-key", Line("[cycles.tasks")), ("missing-key", Line("[cycles.code")), ("missing-key", Line("[cycles.all"))]),
    mutant("columns = { id = [\"Id\", \"Task ID\", \"Task #\", \"#\", \"Task\"], status = \"Status\" }\n", 1, "", &[("missing-key", Line("[tables.tasks]"))]),
    mutant("default = 0\nlooser = \"higher\"\n", 1, "looser = \"higher\"\n", &[("bad-default", Line("[context.consecutive_clean]"))]),
    mutant("guard = \"cycle.due or cycle.owed\"", 1, "block = \"x\"\nguard = \"cycle.due or cycle.owed\"", &[("conflicting-keys", Line("block = \"x\""))]),
    mutant(r#"never = "phase"#, 1, r#"# "phase"#, &[("missing-key", Line("[[properties"))]),
    mutant(r#"invoke = "{{ reviewer }}""#, 1, "", &[("idle-rule", Rule("a review is due: run it"))]),
    // Things that can never matter, that run out, or that occur twice.
    mutant("{ guard = \"tdd\", target = \"complete-task-tdd\" },\n { target = \"complete-task\" },", 1, "{ target = \"complete-task\" },\n  { guard = \"tdd\", target = \"complete-task-tdd\" },", &[("target-never-taken", Line("{ guard = \"tdd\""))]),
    mutant(r#"guard = "remaining""#, 1, r#"guard = "remaining and tdd""#, &[("target-never-taken", Line("remaining and tdd\", target = \"complete-task\" }"))]),
    mutant("{ target = \"complete\" }", 1, "{ guard = \"not remaining\", target = \"complete\" }", &[("no-decision", Edit)]),
    mutant("to 3570", 1, "to 3600", &[("deadline-too-long", Line(r#"timeout = "{{ config.review_timeout }}""#))]),
    mutant(" to 3570", 1, "", &[("wrong-type", Line(r#"timeout = "{{ config.review_timeout }}""#))]),
    mutant("[[on.Stop]]\nabout = \"a flaw in", 1, "[[on.Stop]] # the second\nguard = \"event.stop_hook_active and not checks.structure\"\nallow = true\n\n[[on.Stop]]\nabout = \"a flaw in", &[("rule-never-fires", Line("# the second"))]),
    mutant(r#"guard = "not checks.structure""#, 1, r#"guard = "true""#, &[("constant-guard", Edit), ("rule-never-fires", Rule("a flaw in the plan")), ("rule-never-fires", Rule("the flaw is still there"))]),
    mutant("guard = \"free and phase != 'complete'\"", 1, "guard = \"free and false\"", &[("phase-never-entered", Line("[phases.\"{cycle}\"]"))]),
    mutant("allow = true\n", 6, "allow = true\nblock = \"no\"\n", &[("conflicting-keys", Line(r#"block = "no""#))]),
    // It includes one that nothing else does.
    mutant("{% include 'passed.md' %}", 1, "passed", &[("unused-template", Line("templates")), ("unused-template", Line("templates"))]),
    mutant(r#"never = "phase"#, 1, "reachable = \"free\"\nnever = \"phase", &[("conflicting-keys", Line(r#"never = "pha"#))]),
    // Syntax.
    mutant(r#"home = ".taskie""#, 1, r#"home = ".taskie"#, &[("toml-syntax", Edit)]),
    mutant(r#"cycle.n > cycle.limit""#, 1, r#"cycle.n > ""#, &[("expression-syntax", Edit)]),
    mutant("{% endif %}", 3, "{% endfi %}", &[("expression-syntax", Edit)]),
    // A missing rule: a due review never runs, or a reached limit is silently ignored.
    mutant("or spent.over is not none or stalled", 1, "or spent.over is not none or stalled or cycle.n > 2", &[("cycle-falls-short", Line("[cycles.plan-review]"))]),
    mutant("cycle.due and used_up and", 1, "cycle.due and cycle.n < 0 and", &[("rule-never-fires", Rule("the limit or a budget is reached, or nothing changes: the"))]),
    // A final phase that is not marked as final.
    mutant("type = \"final\"\n", 1, "", &[("no-final", Line("[phases.new-plan]"))]),
    // A cycle whose target is itself.
    mutant(r#"target = "all-code-review""#, 1, r#"target = "code-review""#, &[("cycle-unbounded", Line("[cycles.code-review]")), ("target-never-taken", Line("[{ target = \"complete\" }]")), ("blocks-in-a-row", Rule("reviews are off, and the user is not asked"))]),
    mutant(r#"target = "create-tasks""#, 1, r#"target = "plan-review""#, &[("cycle-unbounded", Line("[cycles.plan-review]")), ("blocks-in-a-row", Rule("reviews are off, and the user is not asked"))]),
    // Off by one: one review beyond the limit, or none although one is left.
    mutant("cycle.n > cycle.limit or spent.over", 1, "cycle.n > cycle.limit + 1 or spent.over", &[("cycle-unbounded", Line("[cycles.plan-review]"))]),
    mutant("cycle.n > cycle.limit or spent.over", 1, "cycle.n >= cycle.limit or spent.over", &[("cycle-falls-short", Line("[cycles.plan-review]"))]),
    // A counter that does not count, a verdict that is taken for its opposite.
    // A guard that is true in no state that can be reached.
    mutant(r#"guard = "passed and not held""#, 1, r#"guard = "passed and not held and free""#, &[("rule-never-fires", Rule("enough clean reviews, and the user is not"))]),
    // Swapped targets: past the final review, or back to the previous cycle.
    mutant(r#"target = "all-code-review""#, 1, r#"target = "complete""#, &[("target-never-taken", Line("[{ target = \"complete\" }]"))]),
    mutant(r#"next = "tasks-review""#, 1, r#"next = "plan-review""#, &[("target-never-taken", Line("{ guard = \"tdd\"")), ("target-never-taken", Line("{ target = \"complete-task\" }"))]),
    // A guard that is true whether or not the flag is set that keeps an agent from being blocked forever.
    mutant("not event.stop_hook_active or review.ok and consecutive_clean <= needed", 1, "event.stop_hook_active or not event.stop_hook_active", &[
            ("blocks-in-a-row", Rule("a flaw in the plan")),
            ("constant-guard", Edit),
            ("rule-never-fires", Rule("the flaw is still there")),
        ]),
    // A gate that fails forever, or too often in the same way.
    mutant("gate.failed and gate.times <= 3", 1, "gate.failed and gate.times >= 1", &[("blocks-in-a-row", Rule("enough clean reviews, and the user is not")), ("rule-never-fires", Rule("a gate failed again"))]),
    mutant("gate.times <= 3", 1, "gate.times <= 9", &[("blocks-in-a-row", Rule("enough clean reviews, and the user is not"))]),
];

/// Returns where `part` is in `text`. A space in it matches any number of spaces, so that columns can be realigned.
fn places(text: &str, part: &str) -> Vec<Range<usize>> {
    let length = |rest: &str| {
        let mut at = 0;
        for sign in part.chars() {
            at += sign.len_utf8();
            if !rest.get(..at)?.ends_with(sign) {
                return None;
            }
            if sign == ' ' {
                at += rest[at..].len() - rest[at..].trim_start_matches(' ').len();
            }
        }
        Some(at)
    };
    let starts = text.char_indices().map(|(start, _)| start);
    starts.filter_map(|start| Some(start..start + length(&text[start..])?)).collect()
}

/// The files of the chart with one edit, the file that has it, and its line.
struct Edited {
    files: Vec<(String, String)>,
    file: usize,
    line: usize,
}

/// Edits the `nth` occurrence of `find` in the files, the chart's own first.
fn edited(files: &[(String, String)], find: &str, nth: usize, replace: &str) -> Edited {
    let mut files = files.to_vec();
    let mut left = nth - 1;
    for (file, (_, text)) in files.iter_mut().enumerate() {
        let all = places(text, find);
        let Some(place) = all.get(left).cloned() else {
            left -= all.len();
            continue;
        };
        let line = text[..place.start].matches('\n').count() + 1;
        assert_ne!(&text[place.clone()], replace, "{find:?} is edited to itself");
        text.replace_range(place, replace);
        return Edited { files, file, line };
    }
    panic!("the chart has no {find:?}, number {nth}")
}

/// Writes the files of an edited chart into a folder. Returns each with its name in findings.
fn written(folder: &Path, files: &[(String, String)]) -> Vec<(String, String)> {
    let unchanged = chart_files();
    write_chart(folder, |text| {
        let index = unchanged.iter().position(|(_, own)| own == text).unwrap();
        files[index].1.clone()
    })
}

/// The findings of each chart, as (code, file, line); its states are explored if that is true. The charts are checked by the
/// library, on every core.
fn findings(charts: &[(String, String, bool)]) -> Vec<Vec<(String, String, usize)>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![Vec::new(); charts.len()]);
    let worker = || {
        while let Some((index, (origin, chart, is_explored))) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            charts.get(index).map(|chart| (index, chart))
        } {
            let of_chart = findings_of(origin, chart, *is_explored);
            found.lock().unwrap()[index] = of_chart;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    found.into_inner().unwrap()
}

fn findings_of(origin: &str, chart: &str, is_explored: bool) -> Vec<(String, String, usize)> {
    // Tests run in the folder of the root chart.
    let templates =
        |folders: &[String]| Templates::folders(folders.iter().map(PathBuf::from).collect());
    let limits = is_explored.then(Limits::default);
    let flaws = taskie::check::lint::run(origin, chart, templates, limits.as_ref()).flaws;
    let place = |flaw: &Flaw| {
        let (file, text) = flaw.source(origin, chart);
        let line = flaw.position(text).0;
        (flaw.code.as_str().to_owned(), file.to_owned(), line)
    };
    flaws.iter().map(place).collect()
}

fn line_of(text: &str, part: &str) -> usize {
    let place = places(text, part).into_iter().next();
    let place = place.unwrap_or_else(|| panic!("no line has {part:?}"));
    text[..place.end].matches('\n').count() + 1
}

#[test]
#[ignore = "slow: it follows many charts"]
fn every_mutant_is_reported_at_its_line() {
    let chart = chart_files();
    let folder = temporary();
    // With fewer reviews per cycle, there are fewer states to explore, and the same mistakes show. That a cycle falls
    // short shows only if a third review is left. What a rule finds in the text needs no states at all.
    let edits = MUTANTS
        .iter()
        .enumerate()
        .map(|(index, mutant)| {
            let mut edited = edited(&chart, mutant.find, mutant.nth, mutant.replace);
            let codes = || mutant.expected.iter().map(|(code, _)| *code);
            let limit = if codes().any(|code| code == "cycle-falls-short") { 3 } else { 2 };
            let is_explored = codes().any(|code| stage(code) == Stage::Explore);
            for (_, text) in &mut edited.files {
                *text = text.replacen("default = 8", &format!("default = {limit}"), 1);
            }
            let folder = folder.path().join(index.to_string());
            (written(&folder, &edited.files), edited, is_explored)
        })
        .collect::<Vec<_>>();
    assert!(chart.iter().any(|(_, text)| text.contains("default = 8")));
    let texts: Vec<(String, String, bool)> = edits
        .iter()
        .map(|(files, _, is_explored)| (files[0].0.clone(), files[0].1.clone(), *is_explored))
        .collect();
    let mut wrong = String::new();
    for (index, found) in findings(&texts).into_iter().enumerate() {
        let Mutant { find, replace, expected, .. } = &MUTANTS[index];
        let (files, edited, _) = &edits[index];
        let line = |part: &str| {
            let file = files.iter().find(|(_, text)| !places(text, part).is_empty());
            let (name, text) = file.unwrap_or_else(|| panic!("no line has {part:?}"));
            (name.clone(), line_of(text, part))
        };
        let place = |at: &At| match at {
            Edit => (files[edited.file].0.clone(), edited.line),
            Line(part) => line(part),
            Template(name, line) => (format!("templates/{name}"), *line),
            Rule(about) => {
                let (name, line) = line(about);
                (name, line - 1)
            }
        };
        let expected: Vec<(String, String, usize)> = expected
            .iter()
            .map(|(code, at)| {
                let (file, line) = place(at);
                ((*code).to_owned(), file, line)
            })
            .collect();
        if found != expected {
            wrong.push_str(&format!(
                "{find:?} -> {replace:?}\n  expected {expected:?}\n  found    {found:?}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(MUTANTS.len() >= 40);
}

fn stage(code: &str) -> Stage {
    let known = Code::named(code);
    known.unwrap_or_else(|| panic!("there is no code `{code}`")).stage()
}

/// All of them at once: none of them touches what another one changes.
#[test]
fn edits_that_pass_are_listed() {
    let folder = temporary();
    let unnoticed = cases::<(&str, usize, &str, &str)>("mutants", "edits_that_pass_are_listed");
    let all = unnoticed.iter().fold(chart_files(), |files, (find, nth, replace, _)| {
        edited(&files, find, *nth, replace).files
    });
    let all = written(folder.path(), &all);
    assert_eq!(findings(&[(all[0].0.clone(), all[0].1.clone(), true)]), [[]]);
}
