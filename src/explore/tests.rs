//! Each property refuted by a small chart, with the counterexample that shows it; and all of them proved on the
//! charts compiled in.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it should do")]

mod claims;
mod differential;
mod fold;
mod limits;
mod random;
mod state;
mod steps;
mod undecided;

use std::path::Path;

use super::budget::Caps;
use super::imagined_world::{Base, ImaginedWorld, Question, is_of_the_host};
use super::state::Looks;
use super::*;
use crate::chart::choice::CHARTS;
use crate::chart::load;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Segment;
use crate::engine::decide::decide_with;
use crate::engine::decision::{Answer, Ended, Step as Decided};
use crate::engine::event::Trigger;
use crate::explore::report::Verdict;
use crate::explore::trace::Trace;
use crate::expr::templates::Templates;

/// A small chart of which every property is proved.
const BASE: &str = include_str!("../../tests/charts/base.toml");

const CLEAN: &str = "clean = { type = \"boolean\", default = false }";
const FIRST_RULE: &str = "[[on.Stop]]\nguard = \"cycle.due and";

/// The base chart with edits: each text, which must be there, becomes another.
fn chart(edits: &[(&str, &str)]) -> Arc<Chart> {
    let mut text = BASE.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/charts/templates");
    let chart = load::from_text("base.toml", &text, Templates::folders(vec![folder]));
    Arc::new(chart.unwrap_or_else(|error| panic!("{error}")))
}

fn states(states: usize) -> Caps {
    Caps { states, ..Caps::default() }
}

fn embedded() -> impl Iterator<Item = Arc<Chart>> {
    CHARTS.iter().map(|embedded| embedded.load().unwrap_or_else(|error| panic!("{error}")))
}

/// What is wrong, and the way there.
fn in_words(trace: &Trace) -> String {
    let steps = trace.in_words(&str::to_owned).into_iter();
    let lines = std::iter::once(trace.claim.clone()).chain(steps);
    lines.collect::<Vec<_>>().join("\n")
}

/// What is not proved: the code, then where and the counterexample, or the reason.
fn findings(report: &Report) -> Vec<(&'static str, String)> {
    let findings = report.results.iter().filter_map(|result| {
        let text = match &result.verdict {
            Verdict::Proved(_) => return None,
            Verdict::Undecided(why) => format!("not decided: {why}"),
            Verdict::Refuted { trace, path } => {
                let step = |step: &Segment| match step {
                    Segment::Key(key) => key.clone(),
                    Segment::Index(index) => index.to_string(),
                };
                let path: Vec<String> = path.iter().map(step).collect();
                format!("{}: {}", path.join("."), in_words(trace))
            }
        };
        Some((result.code.as_str(), text))
    });
    findings.collect()
}

/// What was said of the properties that are proved.
fn proofs(report: &Report) -> Vec<String> {
    let proofs = report.results.iter().filter_map(|result| match &result.verdict {
        Verdict::Proved(detail) => Some(format!("{}: {detail}", result.name)),
        _ => None,
    });
    proofs.collect()
}

#[test]
fn all_is_proved_on_the_base_chart() {
    let report = explore(&chart(&[]), &Caps::default());
    assert_eq!(findings(&report), []);
    assert_eq!(
        proofs(&report),
        [
            "every event leads to a decision: 49 states, 9 kinds of move",
            "every state fits the schema: 5 fields",
            "every phase can be reached: 4 phases",
            "every rule can fire: 9 rules, commands, advance targets and checks",
            "no dead end before a final phase: 49 states",
            "a final phase stays within reach: from every state",
            "text-review ends within its limit: at most 3 reviews with max_reviews 3, 2 with 2, 1 with 1, 0 with 0",
            "the number of all reviews is bounded: at most max_reviews × text-review reviews that count, without a user's \
             command. A name stands for how often its cycle starts: text-review with `write`",
            "at most 8 blocks in a row while the agent does nothing: 1 at most",
            "no blocks without progress: what the agent does after a block leads on",
            "what is done asks for nothing more: never phase == 'done' and next_phase is not none",
        ]
    );
    assert_eq!(
        report.domain,
        [
            "max_reviews: 3, 0, 1, 2, set by the user at any time",
            "--reviews: 3, 0, 1, 2",
            "tables.tasks.rows: none; or id 1, status open; or id 1, status done; or several of these",
            "review: PASS, FAIL, no verdict, failed",
            "events: Stop",
            "the agent: enters any phase whose guard holds, writes the answer to a review or does not, does nothing and stops again",
            "the user: runs limit, skip",
            "files and tables: chosen again at every event",
        ]
    );
    assert!(report.cut.is_none());
    assert!(report.transitions > report.states);
}

/// A cycle that the agent cannot start over has at most its limit of reviews; what starts another is named.
#[test]
fn all_reviews_are_counted() {
    let write = "guard = \"free or phase == 'write'\", arms = \"text-review\"";
    let cases = [
        (
            vec![(write, "guard = \"not scope.started\", arms = \"text-review\"")],
            "at most max_reviews reviews that count, without a user's command",
        ),
        (
            vec![
                (write, "guard = \"not scope.started\", arms = \"text-review\""),
                (
                    "[phases]\n",
                    "[phases]\nagain = { guard = \"next_phase == 'done'\", arms = \"text-review\" }\n",
                ),
            ],
            "at most max_reviews × text-review reviews that count, without a user's command. A name stands for how often \
             its cycle starts: text-review with `write` or `again`",
        ),
        (
            vec![(
                "[args]\n",
                "[config.usd]\ntype = \"integer or null\"\n\n[budget]\nreview = \"{{ config.usd }}\"\n\n[args]\n",
            )],
            "at most max_reviews × text-review reviews that count, without a user's command. A name stands for how often \
             its cycle starts: text-review with `write`. Each costs at most config.usd dollars, if the reviewer keeps to that",
        ),
    ];
    for (edits, expected) in cases {
        let report = explore(&chart(&edits), &Caps::default());
        let name = "the number of all reviews is bounded: ";
        let proofs = proofs(&report);
        let proof = proofs.iter().find_map(|proof| proof.strip_prefix(name));
        assert_eq!(proof, Some(expected), "{:?}", report.results);
    }
}

/// The sum of all reviews is not proved if one of its parts is not.
#[test]
fn a_sum_rests_on_its_parts() {
    let counted = "reviews = \"{{ review.n }}\"";
    let guessed = "reviews = \"{{ review.n if tables.tasks.rows | map(attribute='id') | join | length < 99 else 0 }}\"";
    let report = explore(&chart(&[(counted, guessed)]), &Caps::default());
    let why = |name: &str| {
        let mut results = report.results.iter();
        let result = results.find(|result| result.name == name).unwrap();
        match &result.verdict {
            Verdict::Undecided(why) => why.clone(),
            verdict => panic!("{verdict:?}"),
        }
    };
    let part = why("text-review ends within its limit");
    assert!(part.starts_with("`reviews` is assigned `{{ review.n if "));
    assert_eq!(why("the number of all reviews is bounded"), part);
}

/// What is found in each of these charts is compared with the snapshot.
#[test]
fn flaws_are_found_with_their_counterexamples() {
    let mut all = String::new();
    for case in include_str!("tests/flaws.txt").split("\n== ").skip(1) {
        let (name, edits) = case.split_once("\n- ").unwrap();
        let edits = edits.trim_end().replace("\n- ", "\0").replace("\n+ ", "\0");
        let texts: Vec<String> = edits.split('\0').map(|text| text.replace("\\n", "\n")).collect();
        let pairs = texts.chunks_exact(2);
        let edits: Vec<(&str, &str)> = pairs.map(|pair| (&*pair[0], &*pair[1])).collect();
        all += &format!("== {name}\n");
        for (code, text) in findings(&explore(&chart(&edits), &Caps::default())) {
            all += &format!("{code}: {text}\n");
        }
    }
    insta::assert_snapshot!("flaws", all);
}

#[test]
fn what_a_cap_cut_off_is_bounded() {
    let report = explore(&chart(&[]), &states(3));
    assert!(report.cut.is_some());
    assert_eq!(report.states, 3);
    let bounded = "not decided: only the first 3 states were looked at (--max-states)".to_owned();
    assert_eq!(
        findings(&report).iter().map(|(code, text)| (*code, text == &bounded)).collect::<Vec<_>>(),
        [
            ("no-decision", true),
            ("assignment-misfit", true),
            ("phase-unreachable", true),
            ("phase-unreachable", true),
            ("dead-end", true),
            ("final-out-of-reach", true),
            ("cycle-unbounded", true),
            ("cycle-unbounded", true),
            ("blocks-in-a-row", true),
            ("block-loop", true),
            ("property-refuted", true),
        ]
    );
    // What has been seen is there, however little of the rest was looked at.
    assert_eq!(
        proofs(&report),
        ["every rule can fire: 9 rules, commands, advance targets and checks"]
    );
}

/// The base chart with a rule before all others.
fn with_rule(rule: &str) -> Arc<Chart> {
    let first = "[[on.Stop]]\nguard = \"cycle.due and";
    chart(&[(first, &format!("[[on.Stop]]\n{rule}\n\n{first}"))])
}

#[test]
fn a_counterexample_beyond_the_cap_ends_at_the_first_block_that_is_too_many() {
    let field = format!("{CLEAN}\nblocks = {{ type = \"integer from 0\", default = 0 }}");
    let rule = format!(
        "[[on.Stop]]\nguard = \"phase == 'write'\"\nassign = {{ blocks = \"{{{{ blocks + 1 }}}}\" }}\nblock = \"{{{{ blocks % 7 }}}}\"\n\n{FIRST_RULE}"
    );
    let blocks = explore(&chart(&[(CLEAN, &field), (FIRST_RULE, &rule)]), &states(500));
    let reviews = explore(
        &chart(&[("cycle.due and cycle.n <= cycle.limit\"\ninvoke", "cycle.due\"\ninvoke")]),
        &states(500),
    );
    let cases = [
        (blocks, Code::BlocksInARow, "blocked more than 8 times in a row"),
        (reviews, Code::CycleUnbounded, "has more than 0 reviews, max_reviews being 0"),
    ];
    for (report, code, claim) in cases {
        let found = report.results.iter().find_map(|result| match &result.verdict {
            Verdict::Refuted { trace, .. } if result.code == code => Some(trace),
            _ => None,
        });
        let trace = found.unwrap();
        assert!(trace.claim.ends_with(claim), "{}", trace.claim);
        assert!(trace.steps.len() <= 10, "{} steps", trace.steps.len());
    }
}

/// The search takes a decision part by part and shares the result of each. What it finds must be what
/// `decide` says, called as the hook calls it.
#[test]
fn every_edge_is_a_decision_of_decide() {
    for chart in embedded().chain([chart(&[])]) {
        let mut search = Search::of(&chart, &states(3_000));
        // All edges would take a minute; these are a fifth of those of fifty states.
        let (mut seen, mut compared) = (0, 0);
        let states = search.looked_at();
        for state in (0..states).step_by(states.div_ceil(50)) {
            let situation = search.states[state].clone();
            for mover in 0..search.moves.all.len() {
                let Some(trigger) = search.moves.all[mover].trigger.clone() else {
                    continue;
                };
                let mut looks = Looks::default();
                for ending in search.moves.endings_of(mover, &situation, &mut looks) {
                    seen += 1;
                    if seen % 5 != 0 {
                        continue;
                    }
                    let edge = ending.edge;
                    let tails = [ending.tail];
                    let witnesses = search.moves.witnesses(mover, &situation, tails);
                    assert!(!witnesses.is_empty(), "{edge:?}");
                    let questions = &search.moves.tree.questions;
                    let is_settled = |(asked, _): &(u32, u32)| {
                        !matches!(*questions[*asked as usize], Question::Assumed { .. })
                    };
                    for witness in witnesses.iter().filter(|witness| witness.iter().all(is_settled))
                    {
                        compare(&search, state, &trigger, &edge, witness);
                        compared += 1;
                    }
                }
            }
        }
        assert!(seen > 100 && compared > 20, "{compared} of {seen}");
    }
}

fn compare(
    search: &Search,
    state: usize,
    trigger: &Trigger,
    edge: &moves::Edge,
    witness: &decision_tree::Witness,
) {
    let tree = &search.moves.tree;
    let chart = &tree.chart;
    let situation = &search.states[state];
    let shared = |value: u32| Arc::clone(&tree.values[value as usize]);
    let fields = situation.fields().iter().map(|value| shared(*value));
    let known = situation.answered();
    let answers = known.iter().chain(witness);
    let answers = answers
        .map(|(asked, value)| (Arc::clone(&tree.questions[*asked as usize]), shared(*value)));
    let base = Base {
        fields: fields.collect(),
        started: situation.is_started(),
        has_failed: false,
        is_hook: is_of_the_host(trigger),
        answers: answers.collect(),
        part: None,
    };
    let world = ImaginedWorld::new(&tree.domain, base);
    let mut step = decide_with(world.names(trigger), trigger, None);
    if let Ok(Decided::Invoke(invocation)) = &step {
        let outcome = tree.runs[edge.done.review.unwrap() as usize].outcome.clone();
        let ended = Ended::new((**invocation).clone(), outcome);
        step = decide_with(world.names(trigger), trigger, Some(ended));
    }
    if let Some(fault) = edge.done.fault {
        assert_eq!(step.unwrap_err(), search.moves.tree.faults[fault as usize]);
        return;
    }
    let Ok(Decided::Done(decision)) = step else { panic!("{trigger:?} {step:?}") };
    let fields: std::collections::BTreeMap<&String, &serde_json::Value> =
        decision.patch.iter().collect();
    let assigned = edge.done.assigned.iter().chain(&edge.sets);
    let expected = assigned.map(|(field, value)| {
        (chart.context.get_index(*field).unwrap().0, tree.answer_of(*value).seen())
    });
    assert_eq!(fields, expected.collect(), "{trigger:?}");
    assert_eq!(matches!(decision.answer, Answer::Block(_)), edge.done.block, "{trigger:?}");
    let fired: Vec<&String> = decision.fired.iter().map(|fired| &fired.place).collect();
    let expected: Vec<&String> =
        edge.done.fired.iter().map(|place| &tree.places[*place as usize]).collect();
    assert_eq!(fired, expected, "{trigger:?}");
}

/// A chart with one phase, a counter and these rules.
fn counting(rules: &str) -> Arc<Chart> {
    let text = format!(
        "id = \"made\"\ninitial = \"one\"\nstate = \"phase\"\ntemplates = []\n\
         [scope]\nhome = \".made\"\nnoun = \"session\"\ninstances = \"sessions/{{session}}\"\n\
         [context]\nphase = {{ type = \"phase\" }}\n\
         n = {{ type = \"integer from 0\", default = 0 }}\n\
         [config]\nmost = {{ type = \"integer from 1\", default = 20 }}\n\
         [phases]\none = {{}}\n{rules}"
    );
    let chart = load::from_text("made", &text, Templates::folders(Vec::new()));
    Arc::new(chart.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn with_an_instance_for_each_session_no_command_lacks_one() {
    let command = "[commands.go]\nabout = \"Go\"\nguard = \"session is none\"\nsay = \"x\"\n";
    let report = explore(&counting(command), &Caps::default());
    let found = ("command-never-applies", "commands.go: the command `go` never applies".to_owned());
    assert_eq!(findings(&report), [found]);
}

/// What is not proved of each of these charts stands below its name.
#[test]
fn what_can_happen_is_never_refuted() {
    let mut wrong = Vec::new();
    for case in include_str!("tests/inputs.txt").split("\n== ").skip(1) {
        let mut lines = case.lines();
        let name = lines.next().unwrap();
        let expected = lines.next().unwrap();
        let chart = counting(&lines.collect::<Vec<_>>().join("\n"));
        let findings = findings(&explore(&chart, &Caps::default()));
        let verdicts = findings.iter().map(|(code, text)| {
            let is_open = text.starts_with("not decided: ");
            format!("{code} {}", if is_open { "not decided" } else { "refuted" })
        });
        let verdicts: Vec<String> = verdicts.collect();
        let found = match verdicts.is_empty() {
            true => "all proved".to_owned(),
            false => verdicts.join(", "),
        };
        if found != expected {
            wrong.push(format!("{name}: {found}: {findings:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A chart with this many switches, which one can leave by these rules.
fn with_switches(count: usize, rules: &str) -> Arc<Chart> {
    let switches = (0..count).map(|switch| {
        format!(
            "[config.s{switch}]\ntype = \"boolean\"\ndefault = false\n\
             [[on.Stop]]\nguard = \"config.s{switch}\"\nmessage = \"x\"\nallow = true\n"
        )
    });
    let end = "[phases.two]\ntype = \"final\"\nguard = \"phase == 'two'\"\n";
    counting(&format!("{end}{rules}{}", switches.collect::<String>()))
}

/// However many switches there are: what goes wrong only when all are on is found, and what goes right is proved.
#[test]
fn all_combinations_of_settings_count() {
    let leave = |guard: &str| {
        format!("[[on.Stop]]\nguard = \"phase == 'one' and {guard}\"\ntarget = \"two\"\n")
    };
    for count in [4, 7, 12] {
        let all: Vec<String> = (0..count).map(|switch| format!("config.s{switch}")).collect();
        let trap = leave(&format!("not ({})", all.join(" and ")));
        let report = explore(&with_switches(count, &trap), &Caps::default());
        let found = findings(&report);
        let [(code, counterexample)] = &found[..] else { panic!("{count}: {found:?}") };
        assert_eq!(*code, "dead-end", "{count}");
        for switch in 0..count {
            assert!(
                counterexample.contains(&format!("config.s{switch} being true")),
                "{counterexample}"
            );
        }
        let safe = leave("config.s0") + &leave("not config.s0");
        let report = explore(&with_switches(count, &safe), &Caps::default());
        assert_eq!(findings(&report), [], "{count}");
        let claim = "[[properties]]\nabout = \"ends\"\neventually = \"phase == 'two'\"\n";
        let report = explore(&with_switches(count, &(trap + claim)), &Caps::default());
        let codes: Vec<&str> = findings(&report).iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, ["dead-end", "property-refuted"], "{count}");
    }
}

/// What a command sets under a guard is part of no state all the same, and nothing is shown with a value that the command
/// cannot have set.
#[test]
fn what_a_command_sets_under_a_guard_is_what_it_can_have_set() {
    let guarded = |guard: &str, rest: &str| {
        counting(&format!(
            "[phases.two]\n[context.limit]\ntype = \"integer from 0\"\ndefault = 3\n\
             [args.m]\ntype = \"integer from 0\"\ngiven = \"argument\"\n\
             [commands.set]\nabout = \"Set\"\nguard = \"{guard}\"\nassign = {{ limit = \"{{{{ args.m }}}}\" }}\n\
             [[on.Stop]]\nguard = \"n == 0\"\nassign = {{ n = 1 }}\n\
             [[properties]]\nabout = \"p\"\nnever = \"{rest}\"\n"
        ))
    };
    let cases = [
        // While the guard holds, and after that.
        ("phase == 'one'", "phase == 'one' and n == 1 and limit == 2", "refuted"),
        ("phase == 'one'", "phase == 'two' and n == 1 and limit == 2", "refuted"),
        // Where it has never held, and after a decision that has looked at another value.
        ("phase == 'two' and phase == 'one'", "limit == 2", "not decided"),
        ("phase == 'two'", "phase == 'one' and limit == 2", "not decided"),
        ("phase == 'one'", "limit < 0", "proved"),
    ];
    for (guard, never, expected) in cases {
        let report = explore(&guarded(guard, never), &Caps::default());
        let found = findings(&report);
        let mut found = found.iter().filter(|(code, _)| *code == "property-refuted");
        let verdict = match found.next() {
            None => "proved",
            Some((_, text)) if text.starts_with("not decided: ") => "not decided",
            Some(_) => "refuted",
        };
        assert_eq!(verdict, expected, "{guard}; {never}: {:?}", report.results);
        assert!(report.states <= 8, "{} states", report.states);
    }
}
