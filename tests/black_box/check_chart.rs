//! `taskie check-chart`: the page of every code, the formats, exit codes, and the findings of one run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use std::sync::OnceLock;

use serde_json::{Value, json};
use taskie::diagnostic::code::Code;

use crate::support::{Project, Ran, feed, report};

const BASE: &str = include_str!("../charts/base.toml");

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// A project with this text as its `chart.toml`, and the templates of the base chart.
pub fn with_chart(text: &str) -> Project {
    let project = Project::empty();
    fs::write(project.root.join("chart.toml"), text).unwrap();
    symlink(source("tests/charts/templates"), project.root.join("templates")).unwrap();
    project
}

fn check(text: &str, format: &str) -> Ran {
    with_chart(text).run(&["check-chart", "--format", format, "chart.toml"])
}

/// The findings of a chart as `line: code`.
fn found(text: &str) -> Vec<String> {
    let report = report_on(text);
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|one| format!("{}: {}", one["line"], one["code"].as_str().unwrap())).collect()
}

/// Checks a chart that uses the templates of the base chart.
fn report_on(text: &str) -> Value {
    report("chart.toml", text, &source("tests/charts"))
}

/// A table of a chart as lines; the first table has no header.
struct Section {
    header: String,
    lines: Vec<String>,
    /// From the base chart, not from the fragment.
    is_own: bool,
}

fn sections(text: &str, is_own: bool) -> Vec<Section> {
    let mut sections = vec![Section { header: String::new(), lines: Vec::new(), is_own }];
    for line in text.lines() {
        if line.starts_with('[') {
            sections.push(Section { header: line.to_owned(), lines: Vec::new(), is_own });
        } else if let Some(last) = sections.last_mut() {
            last.lines.push(line.to_owned());
        }
    }
    sections
}

fn key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once('=')?;
    (!line.starts_with([' ', '{', '#'])).then(|| key.trim())
}

/// The base chart with a fragment merged into it, line by line, so that broken TOML and comments stay as they are. A
/// key replaces the key of the same name in the same table, a new table is added at the end, and a `[[x]]` before the
/// base's own. A fragment with an `id` is a whole chart.
pub fn over_base(fragment: &str) -> String {
    if fragment.starts_with("id =") {
        return fragment.to_owned();
    }
    let mut all = sections(BASE, true);
    for new in sections(fragment, false) {
        let at = all.iter().position(|section| section.is_own && section.header == new.header);
        match at {
            Some(at) if new.header.starts_with("[[") => all.insert(at, new),
            Some(at) => {
                let is_given = |line: &String| {
                    key(line).is_some_and(|own| new.lines.iter().any(|line| key(line) == Some(own)))
                };
                all[at].lines.retain(|line| !is_given(line));
                let end = all[at]
                    .lines
                    .iter()
                    .rposition(|line| !line.is_empty())
                    .map_or(0, |last| last + 1);
                all[at].lines.splice(end..end, new.lines);
            }
            None => all.push(new),
        }
    }
    let lines =
        all.into_iter().flat_map(|section| std::iter::once(section.header).chain(section.lines));
    lines.map(|line| line + "\n").collect::<String>().trim_start().to_owned()
}

/// The example of a code in `docs/rules.md`.
fn example(code: &str) -> &'static str {
    let page = Code::named(code).unwrap().page();
    let (head, rest) = page.split_once("\n\n```toml\n").unwrap();
    let lines: Vec<&str> = head.lines().collect();
    let [name, "", summary, why @ ..] = lines.as_slice() else { panic!("{head}") };
    assert!(*name == code && summary.ends_with('.'), "{code}: one sentence says what it is");
    assert!((1..=3).contains(&why.len()), "{code}: two lines say why it hurts");
    rest.trim_end().strip_suffix("\n```").unwrap()
}

/// All codes that the binary knows.
fn codes() -> Vec<String> {
    let ran = Project::empty().run(&["check-chart", "--explain", "0"]);
    let (_, list) = ran.stderr.split_once("the codes are ").unwrap();
    list.trim().trim_end_matches('.').split(", ").map(str::to_owned).collect()
}

/// What a page promises: its example has that finding and no other.
#[test]
fn every_code_has_a_page_with_an_example() {
    let page = fs::read_to_string(source("docs/rules.md")).unwrap();
    let sections: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let codes = codes();
    assert_eq!(codes, sections);
    let mut shown = String::new();
    // A file that cannot be read has no text for a page to show.
    for code in codes.iter().filter(|code| *code != "unreadable") {
        let report = report_on(&over_base(example(code)));
        let findings = report["findings"].as_array().unwrap();
        assert!(!findings.is_empty(), "{code}");
        for one in findings {
            assert_eq!(one["code"], code.as_str(), "{code}: {one}");
            let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
            shown.push_str(&format!(
                "{code}, {}: {}\n  {}\n",
                one["line"],
                text("message"),
                text("help")
            ));
        }
    }
    insta::assert_snapshot!("pages", shown);
}

/// What a person reads: an excerpt, and the path to a state that breaks a property.
#[test]
fn people_see_an_excerpt_and_a_counterexample() {
    let ran = check(&over_base(example("property-refuted")), "human");
    assert_eq!(ran.err(), (1, ""));
    insta::assert_snapshot!("property-refuted", ran.stdout);
}

/// A token in a string of several lines, or with escapes, is found at its own line and column.
#[test]
fn tokens_in_strings_of_several_lines_keep_their_place() {
    let strings = [
        ("\"\"\"\n  cycle.id is none\n  or cycl.due\"\"\"", 2, 6),
        ("'''\ncycle.id is none or\n\tcycl.due'''", 2, 2),
        ("\"\"\"\\\n  cycle.id \\\n  is none or cycl.due\"\"\"", 2, 14),
        (r#""cycle.id is none or '\u0061\"' == 'b' or cycl.due""#, 0, 50),
    ];
    for (string, below, column) in strings {
        let text = BASE.replace("free = \"cycle.id is none\"", &format!("free = {string}"));
        let line = 1 + BASE[..BASE.find("free =").unwrap()].matches('\n').count();
        let report = report_on(&text);
        let findings = report["findings"].as_array().unwrap().iter();
        let places: Vec<_> = findings
            .filter(|one| one["code"] == "unknown-name")
            .map(|one| (one["line"].clone(), one["column"].clone()))
            .collect();
        assert_eq!(places, [(json!(line + below), json!(column))], "{text}");
    }
}

#[test]
fn explain_knows_its_codes() {
    let ran = Project::empty().run(&["check-chart", "--explain", "unreadable"]);
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("unreadable")));
    let ran = Project::empty().run(&["check-chart", "--explain", "unknown-phse"]);
    assert_eq!(ran.out(), (2, ""));
    assert_eq!(
        ran.stderr,
        "taskie: unknown code `unknown-phse`\n  help: did you mean `unknown-phase`?\n"
    );
}

/// A chart with findings in the chart and in a template.
fn faulty() -> Project {
    let project = Project::empty();
    let text = "[let]\nfree = \"cycl.id is none\"\n\n[[on.Stop]]\nguard = \"phse == 'done'\"\nallow = true\n";
    fs::write(project.root.join("chart.toml"), over_base(text)).unwrap();
    fs::create_dir(project.root.join("templates")).unwrap();
    fs::write(project.root.join("templates/review.md"), "Read\n{{ cycle.subjct }}: 100%.\n")
        .unwrap();
    project
}

#[test]
fn concise_is_a_line_each() {
    let ran = faulty().run(&["check-chart", "--format=concise", "chart.toml"]);
    assert_eq!(ran.err(), (1, ""));
    let expected = "\
chart.toml:33:9: unknown-name: unknown name `cycl`
chart.toml:62:10: unknown-name: unknown name `phse`
templates/review.md:2:4: unknown-name: unknown name `subjct`
";
    assert_eq!(ran.stdout, expected);
}

#[test]
fn json_keeps_its_promise() {
    let ran = faulty().run(&["check-chart", "--format=json", "chart.toml"]);
    assert_eq!(ran.err(), (1, ""));
    let finding = |code, message, meant, file, line, from, to| {
        json!({
            "code": code, "message": message, "help": format!("did you mean `{meant}`?"), "note": null,
            "file": file, "line": line, "column": from, "end_line": line, "end_column": to,
        })
    };
    let expected = json!({
        "version": 1,
        "charts": [{ "file": "chart.toml", "findings": 3, "explored": null }],
        "findings": [
            finding("unknown-name", "unknown name `cycl`", "cycle", "chart.toml", 33, 9, 13),
            finding("unknown-name", "unknown name `phse`", "phase", "chart.toml", 62, 10, 14),
            finding("unknown-name", "unknown name `subjct`", "subject", "templates/review.md", 2, 4, 16),
        ],
    });
    assert_eq!(ran.json(), expected);
}

/// A chart of which not everything is looked at, and what each format says about it.
#[test]
fn every_format_shows_what_is_cut_off() {
    let project = with_chart(BASE);
    let why = "only the first 5 states were looked at (--max-states)";
    let args = ["check-chart", "--max-states=5", "--format=concise", "chart.toml"];
    assert_eq!(project.run(&args).all(), (1, format!("chart.toml: {why}\n").as_str(), ""));
    let json = project.run(&["check-chart", "--max-states=5", "--format=json", "chart.toml"]);
    let explored = &json.json()["charts"][0]["explored"];
    assert_eq!((&explored["complete"], &explored["cut"]), (&json!(false), &json!(why)));
}

#[test]
fn exit_codes() {
    let sound = with_chart(BASE).run(&["check-chart", "chart.toml"]);
    assert_eq!(sound.code, 0, "{}", sound.stdout);
    let project = faulty();
    let code = |args: &[&str]| project.run(&[&["check-chart"], args].concat()).code;
    assert_eq!(code(&["chart.toml"]), 1);
    assert_eq!(code(&["--format=xml", "chart.toml"]), 2);
    assert_eq!(code(&["--nope"]), 2);
    assert_eq!(code(&["--max-states=0", "chart.toml"]), 2);
    assert_eq!(code(&["--max-states=99999999999999999999", "chart.toml"]), 2);
    assert_eq!(code(&["--explain", "nope"]), 2);
    assert_eq!(code(&["nope.toml"]), 3);
    assert_eq!(code(&["nope.toml", "chart.toml"]), 3);
}

#[test]
fn unreadable_files_are_reported() {
    let project = with_chart(BASE);
    let ran = project.run(&["check-chart", "nope.toml", "chart.toml"]);
    assert!(ran.stdout.starts_with("chart.toml: no finding\n"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "taskie: nope.toml: No such file or directory (os error 2)\n");
    fs::write(project.root.join("latin.toml"), b"id = \"\xe9\"").unwrap();
    let ran = project.run(&["check-chart", "latin.toml"]);
    assert_eq!(ran.out(), (3, ""));
    assert_eq!(ran.stderr, "taskie: latin.toml: stream did not contain valid UTF-8\n");
}

#[test]
fn a_chart_comes_from_stdin_too() {
    let project = with_chart(BASE);
    let ran = feed(project.command(["check-chart", "-"]), BASE);
    assert_eq!(ran.err(), (0, ""));
    assert!(ran.stdout.starts_with("stdin: no finding\n"), "{}", ran.stdout);
    let ran = feed(project.command(["check-chart", "--format=concise", "-"]), "id = 3");
    assert_eq!(ran.err(), (1, ""));
    assert!(
        ran.stdout.contains("stdin:1:6: misfit: this is integer `3`, expected a string\n"),
        "{}",
        ran.stdout
    );
}

/// A chart is looked at in three steps: its syntax, its keys and their types, and everything else. Of the first two, only
/// what is wrong first is reported.
#[test]
fn a_chart_is_looked_at_step_by_step() {
    let syntax = over_base("[scope]\nhome = \".texts\n\n[reviewers.review]\ntext = 3 4\n");
    assert_eq!(found(&syntax), ["13: toml-syntax"]);
    let keys = over_base(
        "inital = \"write\"\n\n[context]\nclean = { type = \"boolean\", defualt = false }\n\n[reviewers.review]\ntext = 3\n\n\
         [[on.Stop]]\nguard = \"true\"\nsay = \"{% include 'nope.md' %}\"\n",
    );
    assert_eq!(found(&keys), ["10: misfit"]);
    let rest = over_base(
        "state = \"phse\"\n\n[let]\nfree = \"cycl.id is none\"\n\n[cycles.text-review]\nresume = \"wriet\"\n\n\
         [[on.Stop]]\nguard = \"true\"\nsay = \"{% include 'nope.md' %}\"\n",
    );
    let expected =
        ["9: unknown-field", "34: unknown-name", "56: unknown-phase", "65: unknown-template"];
    assert_eq!(found(&rest), expected);
}

/// A key or a value that does not fit is found at its place, in the words of TOML.
#[test]
fn what_does_not_fit_is_named() {
    for (from, to, place, message) in [
        ("base = \"text\"\n", "", (49, 1), "missing key `base`"),
        ("allow = true", "alow = true", (72, 1), "unknown key `alow`"),
        ("[files]", "[file]", (25, 2), "unknown key `file`"),
        ("advance = true", "advance = 1", (70, 11), "this is integer `1`, expected a boolean"),
        ("[\"text.md\"]", "\"text.md\"", (51, 11), "this is string \"text.md\", expected a list"),
        ("home = \".texts\"", "home = []", (12, 8), "this is a list, expected a string"),
        ("\"phase\" }", "\"phse\" }", (16, 18), "unknown type `phse`"),
        ("\"final\"", "\"finl\"", (37, 17), "unknown value `finl`"),
        ("{n:int}.md", "{n:int.md", (26, 12), "`chapter-{n:int.md` has a `{` without its `}`"),
    ] {
        let report = report_on(&BASE.replacen(from, to, 1));
        let [found] = report["findings"].as_array().unwrap().as_slice() else { panic!("{report}") };
        assert_eq!(found["message"], message, "{to}");
        assert_eq!((&found["line"], &found["column"]), (&json!(place.0), &json!(place.1)), "{to}");
    }
}

/// The output of `taskie check-chart` for the charts that are compiled in. It is the same in every project, so all tests
/// share one run.
pub fn compiled_in() -> &'static str {
    static PRINTED: OnceLock<String> = OnceLock::new();
    PRINTED.get_or_init(|| {
        let ran = Project::empty().run(&["check-chart"]);
        assert_eq!(ran.err(), (0, ""));
        ran.stdout
    })
}

#[test]
fn nothing_is_found_in_the_charts_compiled_in() {
    // How many states there are changes with the charts.
    let shape = compiled_in().replace(|sign: char| sign.is_ascii_digit(), "");
    insta::assert_snapshot!("compiled-in", shape);
}

#[test]
fn the_json_contains_the_exploration() {
    let ran = with_chart(BASE).run(&["check-chart", "--format=json", "chart.toml"]);
    assert_eq!(ran.err(), (0, ""));
    insta::assert_snapshot!("explored", ran.stdout);
}

/// Ordinary workflows: nothing is found in them.
#[test]
fn nothing_is_found_in_ordinary_workflows() {
    let folders = ["tests/charts/workflows", "examples"];
    let entries = folders.map(|folder| fs::read_dir(source(folder)).unwrap());
    let paths = entries.into_iter().flatten().map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() { path.join("statechart.toml") } else { path }
    });
    let charts = paths.filter(|path| path.is_file() && !path.ends_with("demo.toml"));
    let charts: Vec<String> = charts.map(|path| path.to_str().unwrap().to_owned()).collect();
    assert_eq!(charts.len(), 7);
    let project = Project::empty();
    let mut command = project.command(["check-chart", "--format=concise"]);
    let ran = Ran::of(command.args(&charts).output().unwrap());
    assert_eq!(ran.all(), (0, "", ""));
}

/// A property that a setting breaks names the setting.
#[test]
fn a_refutation_names_the_setting() {
    let text = over_base(
        "[config.most]\ntype = \"integer from 1\"\ndefault = 3\n\n\
         [[properties]]\nabout = \"few reviews\"\nnever = \"reviews > config.most\"\n",
    );
    let report = report_on(&text);
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "refuted: few reviews: `reviews > config.most` can hold here, where `config.most < 2`"
    );
}

/// A finding in a phase that is made for each cycle is reported once, at its own table, whatever the cycles are
/// called.
#[test]
fn a_phase_of_each_cycle_is_found_where_it_is_written() {
    let chart = BASE
        .replace("text-review", "post")
        .replace("\"{cycle}\" = { guard = \"free\"", "\"{cycle}\" = { guard = \"fre\"")
        .replace("guard = \"next_phase == it.id\"", "guard = \"next_phase == it.di\"");
    let line = |part: &str| 1 + chart[..chart.find(part).unwrap()].matches('\n').count();
    assert_eq!(
        found(&chart),
        [format!("{}: unknown-name", line("\"fre\"")), format!("{}: unknown-name", line("it.di")),]
    );
}

/// However a chart is named on the command line, that chart is checked.
#[test]
fn the_chart_option_names_the_chart_to_check() {
    let project = with_chart(&BASE.replacen("initial", "inital", 1));
    let run = |args: &[&str]| {
        let ran = project.run(args);
        (ran.code, ran.stdout, ran.stderr)
    };
    let by_file = run(&["check-chart", "chart.toml"]);
    assert_eq!(by_file.0, 1, "{}", by_file.1);
    assert_eq!(run(&["check-chart", "--chart", "chart.toml"]), by_file);
    assert_eq!(run(&["--chart", "chart.toml", "check-chart"]), by_file);
    assert_eq!(run(&["--chart=absent.toml", "check-chart"]).0, 3);

    let quick = ["check-chart", "--format", "json", "--max-states", "1"];
    let report = project.run(&[&["--chart", "dr-done"], &quick[..]].concat());
    let charts = report.json()["charts"].clone();
    assert_eq!((charts.as_array().unwrap().len(), &charts[0]["file"]), (1, &json!("dr-done")));

    let both = "taskie: --chart and FILE both name a chart to check\n  help: remove --chart\n";
    let both = (2, String::new(), both.to_owned());
    assert_eq!(run(&["--chart", "chart.toml", "check-chart", "chart.toml"]), both);
}

/// Values that are of the right type, and of no use.
#[test]
fn an_id_a_home_and_an_option_that_cannot_be_used() {
    for (fragment, expected) in [
        ("id = \"m m/../\"\n", "bad-name"),
        ("[args]\nwords = { type = \"list\" }\n", "wrong-type"),
        ("[scope]\nhome = \".git\"\n", "bad-pattern"),
        ("[scope]\nhome = \"a/.git/b\"\n", "bad-pattern"),
    ] {
        // A fragment that begins with an `id` would be a chart of its own.
        let text = over_base(&format!("# over the base\n{fragment}"));
        let codes = found(&text);
        assert!(codes.iter().any(|code| code.ends_with(expected)), "{fragment}: {codes:?}");
    }
}
