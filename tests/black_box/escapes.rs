//! Whatever a project contains: no output moves a cursor, hides a text, or says something that only an agent reads.
//!
//! `cargo test` runs a few cases. `TASKIE_FORCE=1000 cargo test --test black_box escapes` runs a thousand projects with whole
//! processes, and a thousand commands within one process. The latter are for long runs (`escapes::no_command`): they start
//! nothing.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use taskie::text::is_harmful;

use crate::force::{rounds, scattered};
use crate::support::{Project, Ran, Reviewer, feed, git};

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
        r#"{"models": ["opus§"], "instructions": "notes§.md", "gates": ["true §"], "unknown§": 1,
            "permissions": "restricted§", "clean_means": "pass§"}"#,
    ),
    (".taskie/post-review.md", "Read {{review}}. § {{unknown§}}\n"),
    (".taskie/plans/test-plan/plan.md", "# Plan §\n\n## Overview §\n"),
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
    (".taskie/plans/test-plan/rulings", "task-1-review-1.1 accepted: It is wrong § (why §)\n"),
    (".taskie/statechart.toml", "id = \"own§\"\ninitial = \"§\"\n[phases.\"a§\"]\nunknown§ = 1\n"),
    (
        CHART,
        r#"extends = ["taskie"]
templates = ["templates"]
[context.mine]
about = "A field §"
type = "string or absent"
one_of = ["a§", "b"]
[commands.hello]
about = "Say hello §"
say = "Hello § {{ scope.name }} {{ mine }}"
[reviewers.own]
argv = ["claude", "{% include 'own.md' %}", "§"]
[[on.Stop]]
before = "review"
about = "a rule §"
guard = "phase == 'complete'"
message = "Complete § {% include 'own.md' %}"
allow = true
[[properties]]
about = "never §"
never = "phase == 'plan-review' and mine == 'b'"
"#,
    ),
    (".taskie/own/templates/own.md", "§ {{ current_task }} § {{ scope.path }}\n"),
    (".taskie/own/templates/other§.md", "§ {{ unknown }}\n"),
    (
        ".taskie/own/scenarios/one.toml",
        "[[scenario]]\nname = \"one §\"\nunknown = \"§\"\nsteps = [{ stop = {}, expect = { phase = \"§\" } }]\n",
    ),
    (".taskie/plans/test-plan/task-1-review-1.md", "# Review § \n- §\n"),
    (".taskie/plans/test-plan/task-1-post-review-1.md", "- task-1-review-1.1: fixed §\n"),
    (".taskie/plans/test-plan/plan-review-1.md", "# Review §\n<script>§</script>\n"),
    (".taskie/.locks/test-plan.log", "thinking §\n§"),
    (".dr-done/config.json", r#"{"gitCommit": false, "maxIterations": 3, "unknown§": "§"}"#),
    (".dr-done/loop.md", "Do {{task}} § {{unknown§}}\n"),
    (".dr-done/sessions/mine/state.json", r#"{"state": "on", "iteration": 1, "more§": "§"}"#),
    (".dr-done/sessions/mine/20260101T120000.md", "A task §\n"),
    (".dr-done/sessions/mine/2026010§1T120000.done.md", "A task §\n"),
    (".dr-done/sessions/other§/20260101T120000.md", "A task §\n"),
    ("src§/a§.txt", "§\n"),
    (
        ".claude/settings.json",
        r#"{"hooks": {"Stop§": [{"hooks": [{"type": "command", "command": "taskie hook stop §"}]}]}}"#,
    ),
];

/// The user's own settings, of both workflows.
const SETTINGS: &str = r#"{"models": ["opus§"], "gates": ["false §"], "max_cost_usd": 1, "clean_means": "none",
    "gitCommit": true, "more§": "§"}"#;

/// What the reviewer prints.
const ANSWER: &str = r#"{"type": "result", "is_error": false, "total_cost_usd": 0.1, "result": "§", "structured_output":
    {"verdict": "FAIL", "findings": [{"severity": "major", "file": "src§", "line": 1, "title": "It is wrong §"}]}}"#;

/// Everything that prints something about a project.
const COMMANDS: &[&[&str]] = &[
    &["hook", "stop"],
    &["hook", "session-start"],
    &["hook", "user-prompt-submit"],
    &["hook", "pre-compact"],
    &["hook", "session-end"],
    &["hook", "stop", "--host", "codex"],
    &["hook", "stop", "--host", "gemini"],
    &["--chart", "dr-done", "hook", "stop"],
    &["--chart", "dr-done", "hook", "session-start"],
    &["--chart", "dr-done", "status", "--all"],
    &["--chart", "dr-done", "config"],
    &["--chart", "dr-done", "log"],
    &["--chart", "change", "status"],
    &["--chart", "change", "status", "--all", "--json"],
    &["--chart", "change", "log"],
    &["--chart", "change", "log", "--why", "1"],
    &["--chart", "change", "findings"],
    &["--chart", "change", "status", "--cost"],
    &["--chart", "change", "next"],
    &["--chart", "change", "report"],
    &["--chart", "change", "restart"],
    &["--chart", CHART, "hook", "stop"],
    &["--chart", CHART, "hello"],
    &["--chart", CHART, "--help"],
    &["--chart", CHART, "render", "own.md"],
    &["--chart", CHART, "chart", "draw"],
    &["--chart", CHART, "schema", "state"],
    &["--chart", CHART, "chart", "test", ".taskie/own/scenarios"],
    &["--chart", CHART, "review"],
    &["check-chart", "--max-states", "50", CHART],
    &["next"],
    &["next", "--json"],
    &["status"],
    &["status", "--json"],
    &["validate"],
    &["validate", "--json"],
    &["log"],
    &["log", "--json"],
    &["log", "--why", "1"],
    &["report"],
    &["review"],
    &["review", "--json"],
    &["review", "--format", "github"],
    &["review", "--format", "sarif"],
    &["review", "--print-prompt"],
    &["findings", "accept", "task-1-review-1.1", "--reason", "why\u{1b}[2J\u{202e}"],
    &["add-task", "--task", "1\u{1b}[2J"],
    &["pause"],
    &["resume"],
    &["chart", "test", ".taskie"],
    &["status", "--cost"],
    &["status", "--cost", "--json"],
    &["status", "--all"],
    &["status", "--all", "--json"],
    &["findings"],
    &["findings", "--json"],
    &["config"],
    &["config", "--json"],
    &["doctor"],
    &["doctor", "--json"],
    &["config", "trust"],
    &["render", "--next"],
    &["render", "review.md"],
    &["enter", "post-code-review", "--check"],
    &["run", "limit", "3"],
    &["run", "skip"],
    &["run", "cancel"],
    &["check-chart", ".taskie/statechart.toml"],
    &["check-chart", "--format", "json", ".taskie/statechart.toml"],
    &["check-chart", "--format", "concise", ".taskie/statechart.toml"],
    &["--chart", ".taskie/statechart.toml", "status"],
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
    let found = text.chars().find(|char| is_harmful(*char) && !matches!(char, '\n' | '\t'));
    assert!(found.is_none(), "{what}: {found:?} in {text:?}");
}

/// Does the same for each text in an answer, which the host shows.
#[track_caller]
fn expect_harmless_texts(what: &str, json: &Value) {
    match json {
        Value::String(text) => expect_harmless(what, text),
        Value::Array(items) => items.iter().for_each(|item| expect_harmless_texts(what, item)),
        Value::Object(fields) => {
            fields.values().for_each(|item| expect_harmless_texts(what, item));
        }
        _ => {}
    }
}

/// A chart of the project's own that can run, for `--chart`.
const CHART: &str = ".taskie/own/statechart.toml";

/// What this program keeps about a project, and about a change: each text in it may change.
const KEPT: &[&str] = &[".taskie/.locks", ".git/taskie"];

/// What a host says of an event, with a § in each field.
const EVENT: &str = r#"{"session_id": "mine", "hook_event_name": "Stop", "prompt": "x§", "source": "startup§",
    "permission_mode": "default§", "last_assistant_message": "done § change-1-review-1.1: declined: no §",
    "transcript_path": "/nowhere§", "background_tasks": [], "stop_hook_active": false, "unknown§": "§"}"#;

/// Variables that a project could set.
const VARIABLES: &[&str] = &[
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PLUGIN_ROOT",
    "TASKIE_PLUGIN",
    "TERM",
    "COLUMNS",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "TZ",
];

/// What is replaced by § in a file that this program has written: the end of each text and each name.
fn marked(text: &str) -> String {
    let mut is_escaped = false;
    let mut is_inside = false;
    let mut marked = String::new();
    for char in text.chars() {
        if char == '"' && !is_escaped {
            if is_inside {
                marked.push('§');
            }
            is_inside = !is_inside;
        }
        is_escaped = char == '\\' && !is_escaped;
        marked.push(char);
    }
    marked
}

/// Changes texts in the files below a folder. Each stays the same file: a record of another one counts for nothing.
fn change_texts(folder: &Path, dice: &mut impl FnMut(u64) -> u64) {
    let mut files = Vec::new();
    if folder.exists() {
        crate::plugin::files_below(folder, &mut files);
    }
    files.sort();
    for file in files {
        let is_json = |text: &String| text.starts_with('{');
        if let Some(text) = fs::read_to_string(&file).ok().filter(is_json) {
            let marked = match dice(2) {
                0 => marked(&text),
                _ => text,
            };
            let _ = fs::write(&file, filled(&marked, true, dice));
        } else if let Some(text) = fs::read_to_string(&file)
            .ok()
            .filter(|_| file.extension().is_some_and(|end| end == "md"))
        {
            let _ = fs::write(&file, filled(&format!("{text}§"), false, dice));
        }
    }
}

/// The other tests ask the program's own list.
#[test]
fn what_is_harmful_is_known() {
    for text in HARMFUL {
        assert!(text.contains(is_harmful), "{text:?}");
    }
    assert!(!"äß 项目 🙂".contains(is_harmful));
}

#[test]
fn no_field_of_any_file_reaches_a_terminal_or_an_agent_as_it_is() {
    let all = rounds(120);
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(n) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < all)
                {
                    round(n);
                }
            });
        }
    });
}

/// Writes a file of the project, with something harmful in some of its fields.
fn write_file(root: &Path, (name, text): (&str, &str), dice: &mut impl FnMut(u64) -> u64) {
    let path = root.join(filled(name, false, dice));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, filled(text, name.ends_with(".json"), dice)).unwrap();
}

/// Writes the files of a project.
fn write_files(root: &Path, dice: &mut impl FnMut(u64) -> u64) {
    for file in FILES {
        // A chart of the project's own and an unreadable file of settings hide much of the rest.
        let is_rare = file.0 == ".taskie/statechart.toml" || file.0.ends_with("config.json");
        if !is_rare || dice(3) == 0 {
            write_file(root, *file, dice);
        }
    }
}

/// What a host says, with something harmful in some of its fields.
fn event(root: &Path, dice: &mut impl FnMut(u64) -> u64) -> String {
    let event = filled(EVENT, true, dice);
    let mut event: Value = serde_json::from_str(&event).unwrap();
    event["cwd"] = json!(root);
    if dice(3) == 0 {
        event.as_object_mut().unwrap().remove("session_id");
    }
    event.to_string()
}

/// One project, what has happened in it, and one command.
fn round(round: u64) {
    let mut count = 0;
    let mut dice = |below| {
        count += 1;
        scattered(round * 10_000 + count, below)
    };
    let project = Project::empty();
    write_files(&project.root, &mut dice);
    if dice(3) == 0 {
        let folder = project.bin.with_file_name("home/.config/taskie");
        fs::create_dir_all(&folder).unwrap();
        let name = ["taskie.json", "dr-done.json"][usize::try_from(dice(2)).unwrap()];
        fs::write(folder.join(name), filled(SETTINGS, true, &mut dice)).unwrap();
    }
    let answer = filled(ANSWER, true, &mut dice);
    project.reviewer(&Reviewer::fail().prints(answer).exits(i32::from(dice(3) == 0)));
    let command = COMMANDS[usize::try_from(dice(COMMANDS.len() as u64)).unwrap()];
    let is_of_change = command.contains(&"review") || command.contains(&"change");
    if is_of_change || dice(4) == 0 {
        git(&project.root, &["init", "--quiet", "-b", "main"]);
    }
    let mut ran = Vec::new();
    // What has happened before.
    match dice(4) {
        0 => {}
        1 => drop(project.stop()),
        _ if is_of_change => {
            let how = [&["review"][..], &["review", "--at-stop", "--session", "mine"]];
            ran.push(("a review", project.run(how[usize::try_from(dice(2)).unwrap()])));
        }
        _ => {
            ran.push(("a session", project.run(&["next", "--session", "mine"])));
            ran.push(("a stop", project.stop_of("mine")));
        }
    }
    for folder in KEPT {
        change_texts(&project.root.join(folder), &mut dice);
    }
    let is_running = dice(4) == 0;
    let lock = File::open(project.plan()).unwrap();
    if is_running {
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    }
    let mut process = project.command(command);
    if dice(3) == 0 {
        let variable = VARIABLES[usize::try_from(dice(VARIABLES.len() as u64)).unwrap()];
        let value = format!("{}/x§y§", project.root.display());
        process.env(variable, filled(&value, false, &mut dice));
    }
    let event = match command.contains(&"hook") {
        true => event(&project.root, &mut dice),
        false => String::new(),
    };
    let last = feed(process, event);
    for (what, ran) in &ran {
        expect_clean(round, &[what], ran);
    }
    expect_clean(round, command, &last);
    for call in project.calls() {
        // The other arguments are for a program, not for a reader.
        let prompt = call.last().cloned().unwrap_or_default();
        let what = format!("round {round}: the reviewer's prompt");
        expect_harmless(&what, &prompt.replace("\\n", "\n"));
    }
}

#[track_caller]
fn expect_clean(round: u64, command: &[&str], ran: &Ran) {
    let what = format!("round {round}: {command:?}");
    assert_ne!(ran.code, 101, "{what}: {}", ran.stderr);
    expect_harmless(&what, &ran.stdout);
    expect_harmless(&what, &ran.stderr);
    // A chart that cannot be used has no commands.
    let may_be_unknown = command[0].starts_with("unknown") || command.contains(&"hello");
    let is_unknown = ran.stderr.contains("unrecognized subcommand");
    assert!(!is_unknown || may_be_unknown, "{what}: {}", ran.stderr);
    if command.contains(&"hook") && ran.stdout.starts_with('{') {
        expect_harmless_texts(&what, &ran.json());
    }
}

/// Only the modules in this list print: each of them escapes what it prints.
#[test]
fn nothing_is_printed_elsewhere() {
    const SINKS: &[&str] = &[
        "commands/output.rs",
        "page.rs",
        // A host's answer, which `Reply` escapes, and lines for its log.
        "hook/output.rs",
        "cli/render.rs",
        // Texts of their own: a question, a count of states.
        "cli/trust.rs",
        "cli/check_chart.rs",
        // Stdout as a terminal or a pipe; nothing is printed.
        "commands/review.rs",
        "run/asked.rs",
        "os/supervisor.rs",
        "check/lint/report.rs",
        // The demo's reviewer is a program of its own.
        "demo/reviewer.rs",
    ];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    crate::plugin::files_below(&source, &mut files);
    let prints = |file: &Path| {
        let text = fs::read_to_string(file).unwrap_or_default();
        ["::stdout()", "::stderr()", "println!(", " print!("].iter().any(|word| text.contains(word))
    };
    let printing = files.iter().filter(|file| prints(file));
    for file in printing {
        let name = file.strip_prefix(&source).unwrap().to_str().unwrap();
        assert!(SINKS.contains(&name), "{name} prints: use `say`, `tell` or a page");
    }
}
