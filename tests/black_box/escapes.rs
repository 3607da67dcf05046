//! Whatever a project contains: no output moves a cursor, hides a text, or says something that only an agent reads.
//!
//! `cargo test` runs a few cases. `TASKIE_FORCE=1000000 cargo test --test black_box escapes` runs a million.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use taskie::text::is_harmful;

use crate::force::{rounds, scattered};
use crate::support::{PLAN, Project, Ran, Reviewer, git};

/// What each § in a file or in a name may become.
const HARMFUL: &[&str] = &[
    "\u{1b}[2J",
    "\u{1b}[8m",
    "\u{1b}]0;title\u{7}",
    "\u{1b}[31m",
    "\u{9b}2J",
    "\u{7f}",
    "\u{85}",
    "\u{8}",
    "\r",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}",
];

/// The files of a project, with a § in each of their fields.
const FILES: &[(&str, &str)] = &[
    (
        ".taskie/plans/test-plan/state.json",
        r#"{"max_reviews": 8, "current_task": "1§", "phase": "complete-task§", "phase_iteration": 0, "next_phase": "code-review§",
            "review_model": "opus§", "consecutive_clean": 0, "tdd": false, "mine§": "§"}"#,
    ),
    (
        ".taskie/config.json",
        r#"{"models": ["opus§"], "reviewer": "claude§", "instructions": "notes§.md", "gates": ["true §"], "unknown§": 1,
            "permissions": "restricted§", "clean_means": "pass§"}"#,
    ),
    (
        ".taskie/post-review.md",
        "Read {{review}}. § {{unknown§}}\n",
    ),
    (
        ".taskie/plans/test-plan/plan.md",
        "# Plan §\n\n## Overview §\n",
    ),
    (
        ".taskie/plans/test-plan/tasks.md",
        "| Id | Status § | Priority |\n|---|---|---|\n| 1§ | pending§ | high§ |\n| 2 | done | § |\n",
    ),
    (
        ".taskie/plans/test-plan/task-1.md",
        "# Task 1 §\n- **Must-run commands**: `true §`\n- **Status**: pending §\n",
    ),
    (".taskie/plans/test-plan/task-2.md", "# Task 2\n"),
    (".taskie/plans/test-plan/odd§.md", "§\n"),
    (".taskie/plans/test-plan/below§/deep.md", "§\n"),
    (".taskie/plans/other§/plan.md", "# Other\n"),
    (
        ".taskie/plans/test-plan/rulings",
        "task-1-review-1.1 accepted: It is wrong § (why §)\n",
    ),
    (
        ".taskie/statechart.toml",
        "id = \"own§\"\ninitial = \"§\"\n[phases.\"a§\"]\nunknown§ = 1\n",
    ),
    (
        ".taskie/.locks/test-plan.running",
        r#"{"cycle": "code-review§", "n": 1, "file": "task-1-review-1.md§", "by": "opus§", "started": 1, "timeout": 9,
            "log": ".review-1.log§", "gate": "true §"}"#,
    ),
    (
        ".claude/settings.json",
        r#"{"hooks": {"Stop§": [{"hooks": [{"type": "command", "command": "taskie hook stop §"}]}]}}"#,
    ),
];

/// What the reviewer prints.
const ANSWER: &str = r#"{"type": "result", "is_error": false, "total_cost_usd": 0.1, "result": "§", "structured_output":
    {"verdict": "FAIL", "findings": [{"severity": "major", "file": "src§", "line": 1, "title": "It is wrong §"}]}}"#;

/// Where a report is written.
const PAGE: &str = "page.html";

/// Everything that prints something about a project.
const COMMANDS: &[&[&str]] = &[
    &["hook", "stop"],
    &["hook", "session-start"],
    &["hook", "user-prompt-submit"],
    &["next"],
    &["next", "--json"],
    &["status"],
    &["status", "--json"],
    &["status", "--all"],
    &["validate"],
    &["validate", "--json"],
    &["log"],
    &["log", "--json"],
    &["log", "--why", "next"],
    &["log", "--why", "1"],
    &["report", "--html", PAGE],
    &["review"],
    &["review", "--json"],
    &["review", "--format", "github"],
    &["review", "--format", "sarif"],
    &["review", "--print-prompt"],
    &[
        "resolve",
        "task-1-review-1.1",
        "accept",
        "why\u{1b}[2J\u{202e}",
    ],
    &["add-task", "--task", "1\u{1b}[2J"],
    &["pause"],
    &["resume"],
    &["test", ".taskie"],
    &["stats"],
    &["stats", "--json"],
    &["list"],
    &["list", "--json"],
    &["findings"],
    &["findings", "--json"],
    &["config"],
    &["config", "--json"],
    &["doctor"],
    &["doctor", "--json"],
    &["trust"],
    &["render", "--next"],
    &["render", "review.md"],
    &["enter", "post-code-review", "--check"],
    &["run", "limit", "3"],
    &["run", "skip"],
    &["run", "cancel"],
    &["check-chart", ".taskie/statechart.toml"],
    &["check-chart", "--format", "json", ".taskie/statechart.toml"],
    &[
        "check-chart",
        "--format",
        "concise",
        ".taskie/statechart.toml",
    ],
    &["--chart", ".taskie/statechart.toml", "status"],
    &["diagram", "--plan", PLAN],
    &["simulate", "--plan", PLAN],
    &["enter", "next-task", "--task", "1\u{1b}[2J\u{202e}"],
    &["unknown\u{1b}[2J\u{202e}"],
];

/// Replaces each § by nothing, or by something harmful.
fn filled(text: &str, is_json: bool, dice: &mut impl FnMut(u64) -> u64) -> String {
    let mut parts = text.split('§');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if dice(4) == 0 {
            let harmful = HARMFUL[usize::try_from(dice(HARMFUL.len() as u64)).unwrap()];
            let escaped = Value::from(harmful).to_string();
            match is_json {
                true => filled.push_str(escaped.trim_matches('"')),
                false => filled.push_str(harmful),
            }
        }
        filled.push_str(part);
    }
    filled
}

/// Fails if a text that a terminal shows has a harmful character.
#[track_caller]
fn expect_harmless(what: &str, text: &str) {
    let found = text
        .chars()
        .find(|char| is_harmful(*char) && !matches!(char, '\n' | '\t'));
    assert!(found.is_none(), "{what}: {found:?} in {text:?}");
}

/// Does the same for each text in an answer, which the host shows.
#[track_caller]
fn expect_harmless_texts(what: &str, json: &Value) {
    match json {
        Value::String(text) => expect_harmless(what, text),
        Value::Array(items) => items
            .iter()
            .for_each(|item| expect_harmless_texts(what, item)),
        Value::Object(fields) => fields
            .values()
            .for_each(|item| expect_harmless_texts(what, item)),
        _ => {}
    }
}

#[test]
fn no_field_of_any_file_reaches_a_terminal_or_an_agent_as_it_is() {
    for round in 0..rounds(250) {
        let mut count = 0;
        let mut dice = |below| {
            count += 1;
            scattered(round * 1_000 + count, below)
        };
        let project = Project::empty();
        for (name, text) in FILES {
            // A chart of the project's own and an unreadable file of settings hide much of the rest.
            let is_rare = name.ends_with("statechart.toml") || name.ends_with("config.json");
            if is_rare && dice(3) > 0 {
                continue;
            }
            let path = project.root.join(filled(name, false, &mut dice));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = filled(text, name.ends_with(".json"), &mut dice);
            fs::write(path, text).unwrap();
        }
        let answer = filled(ANSWER, true, &mut dice);
        project.reviewer(
            &Reviewer::fail()
                .prints(answer)
                .exits(i32::from(dice(3) == 0)),
        );
        let is_running = dice(4) == 0;
        let lock = File::open(project.plan()).unwrap();
        if is_running {
            flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        }
        if dice(2) == 0 {
            project.stop();
        }
        let command = COMMANDS[usize::try_from(dice(COMMANDS.len() as u64)).unwrap()];
        if command[0] == "review" {
            git(&project.root, &["init", "--quiet"]);
        }
        let event = json!({ "cwd": project.root, "prompt": "x\u{1b}[2J", "source": "startup" });
        let ran = match command {
            ["hook", name] => project.hook_raw(name, event.to_string()),
            command => project.run(command),
        };
        expect_clean(&project, round, command, &ran);
    }
}

#[track_caller]
fn expect_clean(project: &Project, round: u64, command: &[&str], ran: &Ran) {
    let what = format!("round {round}: {command:?}");
    assert_ne!(ran.code, 101, "{what}: {}", ran.stderr);
    expect_harmless(&what, &ran.stdout);
    expect_harmless(&what, &ran.stderr);
    let unknown_to_the_program = command[0].starts_with("unknown");
    assert_eq!(
        ran.stderr.contains("unrecognized subcommand"),
        unknown_to_the_program,
        "{what}"
    );
    if command.contains(&PAGE)
        && let Ok(page) = fs::read_to_string(project.root.join(PAGE))
    {
        expect_harmless(&what, &page);
    }
    if command[0] == "hook" && ran.stdout.starts_with('{') {
        expect_harmless_texts(&what, &ran.json());
    }
}

/// Only the modules in this list print: each of them escapes what it prints.
#[test]
fn nothing_is_printed_elsewhere() {
    const SINKS: &[&str] = &[
        "cli/output.rs",
        "page.rs",
        // A host's answer, which `Reply` escapes, and lines for its log.
        "hook/output.rs",
        "cli/render.rs",
        // Texts of their own: a question, a count of states.
        "cli/trust.rs",
        "cli/check_chart.rs",
        // Stdout as a terminal or a pipe; nothing is printed.
        "run/asked.rs",
        "os/unix/bell.rs",
        "os/unix/supervisor.rs",
        "os/windows/supervisor.rs",
        "lint/report.rs",
        "cli/watch.rs",
        // The demo's reviewer is a program of its own.
        "demo/reviewer.rs",
        "explore/tests/differential.rs",
    ];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    crate::plugin::files_below(&source, &mut files);
    let prints = |file: &Path| {
        let text = fs::read_to_string(file).unwrap_or_default();
        ["::stdout()", "::stderr()", "println!(", " print!("]
            .iter()
            .any(|word| text.contains(word))
    };
    let printing = files.iter().filter(|file| prints(file));
    for file in printing {
        let name = file.strip_prefix(&source).unwrap().to_str().unwrap();
        assert!(
            SINKS.contains(&name),
            "{name} prints: use `say`, `tell` or a page"
        );
    }
}
