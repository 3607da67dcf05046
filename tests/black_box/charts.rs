//! Charts with a flaw: each flaw is reported with its code before anything runs, and a hook allows the stop.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{Project, cases, chart_files, write_chart};

/// Taskie's chart with the first occurrence of a text replaced, in a folder with its templates.
pub fn chart(project: &Project, from: &str, to: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = chart_files();
    let has = files.iter().find(|(_, text)| text.contains(from));
    let (_, edited) = has.unwrap_or_else(|| panic!("{from}"));
    let folder = project.bin.join("chart");
    fs::create_dir_all(&folder).unwrap();
    for templates in ["templates", "plugin"] {
        if !folder.join(templates).exists() {
            symlink(root.join(templates), folder.join(templates)).unwrap();
        }
    }
    let files = write_chart(&folder, |text| match text == edited {
        true => text.replacen(from, to, 1),
        false => text.to_owned(),
    });
    files[0].0.clone()
}

/// One edit, the code of the flaw, and the message about it.
type Case<'c> = (&'c str, String, &'c str, &'c str);

fn reported(cases: Vec<Case<'_>>) {
    let project = Project::valid();
    for (from, to, code, message) in cases {
        let chart = chart(&project, from, &to);
        let ran = project.run(&["--chart", &chart, "enter", "--help"]);
        let lines: Vec<&str> =
            ran.stderr.lines().map(|line| line.trim_start_matches([' ', '×', '│'])).collect();
        assert_eq!(ran.out(), (1, ""), "{to}: {}", ran.stderr);
        assert!(lines.contains(&code) && lines.join(" ").contains(message), "{to}: {}", ran.stderr);

        let ran = project.stop_with(&chart);
        let answer = ran.message();
        assert_eq!(ran.code, 0);
        assert!(
            answer.starts_with(
                "No decision could be made about this Stop, so it is allowed: the chart cannot be used: "
            ),
            "{answer}"
        );
        assert!(answer.contains(message), "{answer}");
    }
}

fn case<'c>(from: &'c str, to: impl Into<String>, code: &'c str, message: &'c str) -> Case<'c> {
    (from, to.into(), code, message)
}

/// `taskie enter` has its own `--force`; commands may declare one.
#[test]
fn an_option_that_enter_has_itself() {
    let project = Project::valid();
    let arg = "[args.task]";
    let force = format!("[args.force]\ntype = \"boolean\"\ndefault = false\n\n{arg}");
    let path = chart(&project, arg, &force);
    assert_eq!(project.run(&["--chart", &path, "enter", "--help"]).code, 0);
    let text = fs::read_to_string(&path).unwrap();
    let guard = "stage = \"Task creation\"\nguard = \"";
    assert!(text.contains(guard));
    fs::write(&path, text.replace(guard, &format!("{guard}args.force or "))).unwrap();
    let ran = project.run(&["--chart", &path, "enter", "--help"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("`force` cannot be an option on the command line"),
        "{}",
        ran.stderr
    );
}

/// These names become part of the command line, and clap panics if it cannot use them.
#[test]
fn names_that_the_command_line_cannot_have() {
    reported(cases("charts", "names_that_the_command_line_cannot_have"));
}

#[test]
fn paths_that_lead_outside() {
    reported(cases("charts", "paths_that_lead_outside"));
}

/// Settings that a chart can contain but that would never have an effect.
#[test]
fn keys_that_would_be_ignored() {
    reported(cases("charts", "keys_that_would_be_ignored"));
}

/// Each would overflow the stack.
#[test]
fn endless_names_and_expressions() {
    let free = "\"cycle.id is none\"";
    let deep: String = (0..1000).map(|n| format!("l{n} = \"l{}\"\n", n + 1)).collect();
    reported(vec![
        case(free, "\"free\"", "self-reference", "`free` refers to itself: free → free"),
        case(free, "\"coded and free\"", "self-reference", "`free` refers to itself"),
        case(
            "\"not tables.subtasks.open\"",
            "\"cycle.ready\"",
            "self-reference",
            "`coded` refers to itself: coded → cycle.ready → coded",
        ),
        case(
            "\n[let]\n",
            format!("\n[let]\n{deep}l1000 = \"true\"\n"),
            "self-reference",
            "`l0` refers to other names more than 32 levels deep",
        ),
        case(
            free,
            format!("\"{}true\"", "not ".repeat(5000)),
            "expression-syntax",
            "this expression has 20004 bytes",
        ),
        case(
            free,
            format!("\"true{}\"", " and true".repeat(5000)),
            "expression-syntax",
            "this expression has 45004 bytes",
        ),
        case(
            "{% include 'passed.md' %}",
            format!("{{{{ {}true }}}}", "not ".repeat(5000)),
            "expression-syntax",
            "this expression has 20008 bytes",
        ),
        case(
            "{% include 'passed.md' %}",
            format!("{{% if true %}}{}{{% endif %}}", "{% elif true %}".repeat(5_000)),
            "expression-syntax",
            "a text has at most 1000 `{% %}`",
        ),
    ]);
}
