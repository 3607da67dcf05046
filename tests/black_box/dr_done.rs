//! dr-done: every item of its test plan by name, on the built binary; a scripted agent plays the integration tests.
//! If the test plan mentions a script, the corresponding command or hook is tested.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{Project, Ran, allowed, expect_warning, feed, git, json_of, set_modified};

const SESSION: &str = "0e0ff1ce-aaaa-bbbb-cccc-000000000001";
const LOOP: &str = include_str!("../../plugin/dr-done/templates/loop.md");
const REVIEW: &str = include_str!("../../plugin/dr-done/templates/review.md");

fn plugin(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("plugin/dr-done")
        .join(file)
}

fn json_in(file: &str) -> Value {
    json_of(&fs::read_to_string(plugin(file)).unwrap())
}

/// A project with a home for sessions, outside git.
fn project() -> Project {
    let project = Project::empty();
    fs::create_dir_all(dir(&project, SESSION)).unwrap();
    project
}

/// The test plan's fixture: a session that is on, with one task to do and one done.
fn sample_session() -> Project {
    let project = project();
    state(&project, "on", 0);
    task(&project, "20260101T120000.md", "Test task\n");
    task(&project, "20260101T120001.done.md", "Done task\n");
    project
}

fn dir(project: &Project, session: &str) -> PathBuf {
    project.root.join(".dr-done/sessions").join(session)
}

fn path(name: &str) -> String {
    format!(".dr-done/sessions/{SESSION}/{name}")
}

fn state(project: &Project, state: &str, iteration: u64) {
    let text = json!({ "state": state, "iteration": iteration }).to_string();
    task(project, "state.json", &text);
}

fn task(project: &Project, name: &str, text: &str) {
    of(project, SESSION, name, text);
}

fn of(project: &Project, session: &str, name: &str, text: &str) {
    fs::create_dir_all(dir(project, session)).unwrap();
    fs::write(dir(project, session).join(name), text).unwrap();
}

fn home(project: &Project, name: &str, text: &str) {
    fs::write(project.root.join(".dr-done").join(name), text).unwrap();
}

fn text_of(project: &Project, name: &str) -> String {
    fs::read_to_string(dir(project, SESSION).join(name)).unwrap()
}

fn read(project: &Project) -> Value {
    json_of(&text_of(project, "state.json"))
}

fn rename(project: &Project, from: &str, to: &str) {
    let dir = dir(project, SESSION);
    fs::rename(dir.join(from), dir.join(to)).unwrap();
}

/// The names in a session's directory.
fn names(project: &Project, session: &str) -> Vec<String> {
    let entries = fs::read_dir(dir(project, session))
        .into_iter()
        .flatten()
        .flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn hook_with(project: &Project, event: &str, session: &str, more: Value) -> Ran {
    let mut input = json!({ "session_id": session, "cwd": project.root });
    for (key, value) in more.as_object().unwrap() {
        input[key] = value.clone();
    }
    feed(
        project.command(["--chart", "dr-done", "hook", event]),
        input.to_string(),
    )
}

fn hook(project: &Project, event: &str) -> Ran {
    hook_with(project, event, SESSION, json!({}))
}

/// What a hook prints; it must have no other effect.
fn said(ran: &Ran) -> &str {
    assert_eq!(ran.err(), (0, ""));
    &ran.stdout
}

/// The reason of a stop that is blocked.
fn reason(ran: &Ran) -> String {
    let answer: Value = serde_json::from_str(said(ran)).unwrap();
    assert_eq!(answer["decision"], "block", "{answer}");
    answer["reason"].as_str().unwrap().to_owned()
}

fn run_in(project: &Project, session: &str, args: &[&str], stdin: &str) -> Ran {
    let words = [
        &["--chart", "dr-done", "run"],
        args,
        &["--session", session],
    ]
    .concat();
    feed(project.command(words), stdin)
}

fn run(project: &Project, args: &[&str], stdin: &str) -> Ran {
    run_in(project, SESSION, args, stdin)
}

/// The output of a command that succeeds.
fn done(ran: &Ran) -> String {
    assert_eq!(ran.err(), (0, ""), "{}", ran.stdout);
    ran.stdout.clone()
}

fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut text = template.trim_end().to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    assert!(!text.contains("{{"), "{text}");
    text
}

/// The work prompt: the next task's name, the iteration, the numbers of pending, done and stuck tasks.
fn loop_prompt(next: &str, iteration: u64, [pending, done, stuck]: [u64; 3]) -> String {
    let values = [
        ("session_dir", format!(".dr-done/sessions/{SESSION}")),
        ("next_task", path(next)),
        ("iteration", iteration.to_string()),
        ("pending_count", pending.to_string()),
        ("done_count", done.to_string()),
        ("stuck_count", stuck.to_string()),
    ];
    fill(LOOP, &values)
}

fn review_prompt(done: &[&str]) -> String {
    let files: Vec<String> = done.iter().map(|name| path(name)).collect();
    let values = [
        ("session_dir", format!(".dr-done/sessions/{SESSION}")),
        ("done_files", files.join("\n")),
        ("done_count", done.len().to_string()),
    ];
    fill(REVIEW, &values)
}

/// Makes a session look as if it had been abandoned this many days ago.
fn age(project: &Project, session: &str, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600 + 60);
    for name in names(project, session) {
        set_modified(dir(project, session).join(name), then);
    }
    set_modified(dir(project, session), then);
}

mod setup {
    use super::*;

    #[test]
    fn plugin_structure() {
        let manifest: Value = json_in(".claude-plugin/plugin.json");
        assert_eq!(manifest["name"], "dr-done");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        for template in ["loop.md", "review.md"] {
            assert!(plugin("templates").join(template).is_file());
        }
        let market: Value = json_in("../../.claude-plugin/marketplace.json");
        let mut sources = market["plugins"].as_array().unwrap().iter();
        assert!(sources.any(|one| one["name"] == "dr-done" && one["source"] == "./plugin/dr-done"));
    }

    /// The plugin installs hooks for exactly those events that the chart has rules for.
    #[test]
    fn hooks_json_is_valid() {
        let hooks: Value = json_in("hooks/hooks.json");
        let hooks = hooks["hooks"].as_object().unwrap();
        let words = [
            ("Stop", "stop"),
            ("UserPromptSubmit", "user-prompt-submit"),
            ("PreCompact", "pre-compact"),
            ("SessionStart", "session-start"),
        ];
        for (event, word) in words {
            let hook = &hooks[event][0]["hooks"][0];
            let line =
                format!("\"${{CLAUDE_PLUGIN_ROOT}}/bin/taskie\" --chart dr-done hook {word}");
            assert_eq!(hook["command"], line);
            assert_eq!(hook_with(&project(), word, SESSION, json!({})).code, 0);
        }
        assert_eq!(hooks.len(), 4);
    }

    /// The examples in the documentation are in the chart.
    #[test]
    fn the_examples_of_the_documentation_are_the_charts() {
        let plain = |line: &str| {
            line.split(" #")
                .next()
                .unwrap()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let chart = fs::read_to_string(plugin("statechart.toml")).unwrap();
        let chart: Vec<String> = chart.lines().map(plain).collect();
        let page = fs::read_to_string(plugin("../../docs/chart-files.md")).unwrap();
        let blocks = page
            .split("```toml\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap());
        let mut count = 0;
        for line in blocks
            .flat_map(str::lines)
            .map(plain)
            .filter(|line| !line.is_empty())
        {
            assert!(chart.contains(&line), "{line}");
            count += 1;
        }
        assert!(count > 15, "{count}");
    }

    #[test]
    fn schemas_are_fresh() {
        for what in ["state", "config"] {
            let fresh = Project::empty().run(&["--chart", "dr-done", "schema", what]);
            let stored =
                fs::read_to_string(plugin(&format!("schemas/{what}.schema.json"))).unwrap();
            assert_eq!(
                fresh.stdout, stored,
                "generate it again: cargo run -- --chart dr-done schema {what} > plugin/dr-done/schemas/{what}.schema.json"
            );
        }
        let schema: Value = json_in("schemas/config.schema.json");
        for (config, fits) in [
            (json!({}), true),
            (
                json!({ "$schema": "x", "gitCommit": false, "maxIterations": 1 }),
                true,
            ),
            (json!({ "maxIterations": 0 }), false),
            (json!({ "gitCommit": "no" }), false),
            (json!({ "maxIteration": 5 }), false),
        ] {
            assert_eq!(
                jsonschema::draft7::is_valid(&schema, &config),
                fits,
                "{config}"
            );
        }
    }

    /// There is a slash command for each command of the chart, with a description; only the user can start, take over
    /// or delete.
    #[test]
    fn slash_commands() {
        let commands = [
            "add",
            "adopt",
            "cleanup",
            "do",
            "start",
            "status",
            "stop",
            "templates",
            "unstick",
        ];
        let mut files: Vec<String> = fs::read_dir(plugin("commands"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        assert_eq!(files, commands.map(|name| format!("{name}.md")));
        let help = Project::empty()
            .run(&["--chart", "dr-done", "run", "--help"])
            .stdout;
        for name in commands {
            assert!(help.contains(&format!("\n  {name} ")), "{name}");
            let text = fs::read_to_string(plugin(&format!("commands/{name}.md"))).unwrap();
            let call = format!("taskie --chart dr-done run {name} ");
            assert!(
                text.contains(&call) && text.starts_with("---\ndescription: "),
                "{name}"
            );
            assert!(
                text.contains("--session \"${CLAUDE_SESSION_ID}\""),
                "{name}"
            );
            let is_users = text.contains("\ndisable-model-invocation: true\n");
            let starts = ["adopt", "cleanup", "do", "start", "unstick"].contains(&name);
            assert_eq!(is_users, starts, "{name}");
        }
    }

    #[test]
    fn sample_session_fixtures() {
        let project = sample_session();
        let expected = [
            "20260101T120000.md",
            "20260101T120001.done.md",
            "state.json",
        ];
        assert_eq!(names(&project, SESSION), expected);
        let ran = run(&project, &["status"], "");
        assert_eq!(
            done(&ran),
            format!(
                "State: on | Iteration: 0 of 50 | Tasks: 1 pending, 1 done, 0 stuck | Next task: {}\n",
                path("20260101T120000.md")
            )
        );
    }
}

mod stop_hook {
    use super::*;

    #[test]
    fn no_state_file_allows_stop() {
        let project = project();
        task(&project, "20260101T120000.md", "x");
        assert_eq!(said(&hook(&project, "stop")), "");
        assert_eq!(said(&hook(&Project::empty(), "stop")), "");
        assert_eq!(names(&project, SESSION), ["20260101T120000.md"]);
    }

    #[test]
    fn state_off_allows_stop() {
        let project = sample_session();
        state(&project, "off", 3);
        let before = project.files();
        assert_eq!(said(&hook(&project, "stop")), "");
        assert_eq!(project.files(), before);
    }

    #[test]
    fn state_on_with_pending_tasks_blocks() {
        let project = sample_session();
        let next = "20260101T120000.md";
        let expected = |iteration| {
            format!(
                "{}\n\nNext task: {}",
                loop_prompt(next, iteration, [1, 1, 0]),
                path(next)
            )
        };
        assert_eq!(reason(&hook(&project, "stop")), expected(1));
        // It makes no difference that the host calls it active: the limit is the number of iterations.
        let active = hook_with(
            &project,
            "stop",
            SESSION,
            json!({ "stop_hook_active": true }),
        );
        assert_eq!(reason(&active), expected(2));
        assert_eq!(read(&project), json!({ "state": "on", "iteration": 2 }));
    }

    const COMMIT: &str = "You have uncommitted changes. Please commit your work before continuing.";

    #[test]
    fn state_on_with_uncommitted_changes_blocks() {
        let project = sample_session();
        git(&project.root, &["init", "-q"]);
        fs::write(project.root.join("new.txt"), "x").unwrap();
        assert_eq!(reason(&hook(&project, "stop")), COMMIT);
        git(&project.root, &["add", "new.txt"]);
        assert_eq!(reason(&hook(&project, "stop")), COMMIT);
        git(&project.root, &["commit", "-qm", "x"]);
        assert!(reason(&hook(&project, "stop")).contains("Next task"));
        fs::write(project.root.join("new.txt"), "y").unwrap();
        assert_eq!(reason(&hook(&project, "stop")), COMMIT);
        home(&project, "config.json", "{\"gitCommit\": false}");
        assert!(reason(&hook(&project, "stop")).contains("Next task"));
    }

    #[test]
    fn state_on_with_no_pending_tasks_transitions_to_review() {
        let project = sample_session();
        let (from, to) = ("20260101T120000.md", "20260101T120000.done.md");
        rename(&project, from, to);
        let expected = format!(
            "All tasks complete. Spawn a review subagent to verify the work. Pass the session ID ({SESSION}) to the subagent, and these instructions:\n\n{}",
            review_prompt(&[to, "20260101T120001.done.md"])
        );
        assert_eq!(reason(&hook(&project, "stop")), expected);
        assert_eq!(read(&project), json!({ "state": "review", "iteration": 1 }));
    }

    #[test]
    fn state_review_with_no_new_tasks_allows_stop() {
        let project = project();
        state(&project, "review", 1);
        task(&project, "20260101T120001.done.md", "x");
        let answer: Value = serde_json::from_str(said(&hook(&project, "stop"))).unwrap();
        assert_eq!(
            answer,
            allowed("dr-done: all tasks are done and reviewed (0 pending, 1 done, 0 stuck).")
        );
        assert_eq!(read(&project), json!({ "state": "off", "iteration": 2 }));
        assert_eq!(said(&hook(&project, "stop")), "");
    }

    #[test]
    fn state_review_with_new_tasks_transitions_to_on() {
        let project = sample_session();
        state(&project, "review", 4);
        let next = "20260101T120000.md";
        let expected = format!(
            "Review found issues. {}\n\nNext task: {}",
            loop_prompt(next, 5, [1, 1, 0]),
            path(next)
        );
        assert_eq!(reason(&hook(&project, "stop")), expected);
        assert_eq!(read(&project), json!({ "state": "on", "iteration": 5 }));
    }

    #[test]
    fn max_iterations_reached_allows_stop() {
        let project = sample_session();
        state(&project, "on", 50);
        let answer: Value = serde_json::from_str(said(&hook(&project, "stop"))).unwrap();
        assert_eq!(
            answer["systemMessage"],
            "dr-done: stopped after 50 iterations (1 pending, 1 done, 0 stuck). /dr-done:start continues."
        );
        assert_eq!(answer.get("decision"), None);
        assert_eq!(read(&project), json!({ "state": "off", "iteration": 51 }));
        // One below the limit is blocked, and a setting changes the limit.
        state(&project, "on", 49);
        reason(&hook(&project, "stop"));
        home(&project, "config.json", "{\"maxIterations\": 3}");
        state(&project, "on", 3);
        assert!(said(&hook(&project, "stop")).contains("stopped after 3 iterations"));
    }

    /// If the agent has a reviewer in the background, the review is not over; a server that it left running is not a
    /// reviewer.
    /// Copilot ignores the ninth block of a turn. The eighth asks the user, and counts as no iteration.
    #[test]
    fn a_host_that_ignores_further_blocks() {
        let project = project();
        state(&project, "on", 0);
        task(&project, "20260104T100000.md", "one\n");
        let stop = |is_again: bool| {
            let more = json!({ "stop_reason": "end_turn", "stop_hook_active": is_again });
            hook_with(&project, "stop", SESSION, more)
        };
        for n in 0..7 {
            let reason = reason(&stop(n > 0));
            assert!(!reason.starts_with("Tell the user"), "{n}: {reason}");
        }
        let asks = "Tell the user exactly this, do nothing else, and end your turn:\n\ndr-done: GitHub Copilot CLI does not \
                    send the agent back again in this turn (1 pending, 0 done, 0 stuck). Say \"Continue\", and it goes on.";
        assert_eq!(reason(&stop(true)), asks);
        assert_eq!(stop(true).json()["decision"], Value::Null);
        assert_eq!(read(&project)["iteration"], 7);
        assert_eq!(stop(false).json()["decision"], "block");
    }

    #[test]
    fn a_reviewer_still_at_work_is_not_a_finished_review() {
        let project = project();
        state(&project, "review", 1);
        let running = |kind: &str| json!({ "background_tasks": [{ "id": "b", "type": kind, "status": "running" }] });
        assert_eq!(
            said(&hook_with(&project, "stop", SESSION, running("agent"))),
            ""
        );
        assert_eq!(read(&project), json!({ "state": "review", "iteration": 1 }));
        said(&hook_with(&project, "stop", SESSION, running("shell")));
        assert_eq!(read(&project)["state"], "off");
    }

    #[test]
    fn a_stuck_task_does_not_keep_the_agent() {
        let project = project();
        state(&project, "on", 0);
        task(&project, "20260101T120000.stuck.md", "x");
        assert!(reason(&hook(&project, "stop")).starts_with("All tasks complete."));
    }
}

mod user_prompt_submit {
    use super::*;

    #[test]
    fn no_state_file_no_output() {
        let project = project();
        task(&project, "a.stuck.md", "x");
        assert_eq!(said(&hook(&project, "user-prompt-submit")), "");
    }

    #[test]
    fn state_off_no_output() {
        let project = sample_session();
        state(&project, "off", 0);
        assert_eq!(said(&hook(&project, "user-prompt-submit")), "");
    }

    #[test]
    fn state_on_with_stuck_tasks_outputs_reminder() {
        let project = sample_session();
        task(&project, "20260101T120002.stuck.md", "x");
        task(
            &project,
            "20260101T120003.stuck.md",
            "x\n> Unstuck 20260101T130000: read the user's answer before you go on\n",
        );
        let expected = format!(
            "[dr-done] There are 2 stuck task(s): 20260101T120002.stuck.md, 20260101T120003.stuck.md (stuck again: unstuck 1 time(s) before)\n\
             If your input helps resolve these, change the file's ending from .stuck.md to .md\n\
             [dr-done] State: on | Iteration: 0 | Next task: {}\n",
            path("20260101T120000.md")
        );
        assert_eq!(said(&hook(&project, "user-prompt-submit")), expected);
    }

    #[test]
    fn state_on_outputs_context() {
        let project = sample_session();
        state(&project, "on", 7);
        let before = project.files();
        let expected = format!(
            "[dr-done] State: on | Iteration: 7 | Next task: {}\n",
            path("20260101T120000.md")
        );
        assert_eq!(said(&hook(&project, "user-prompt-submit")), expected);
        assert_eq!(project.files(), before);
    }

    #[test]
    fn state_review_outputs_review_context() {
        let project = sample_session();
        state(&project, "review", 1);
        assert_eq!(
            said(&hook(&project, "user-prompt-submit")),
            "[dr-done] State: review | Verifying completed work\n"
        );
    }
}

mod precompact {
    use super::*;

    #[test]
    fn no_state_file_no_output() {
        assert_eq!(said(&hook(&project(), "pre-compact")), "");
    }

    #[test]
    fn state_off_no_output() {
        let project = sample_session();
        state(&project, "off", 0);
        assert_eq!(said(&hook(&project, "pre-compact")), "");
    }

    #[test]
    fn state_on_outputs_full_context_with_loop_prompt() {
        let project = sample_session();
        let next = "20260101T120000.md";
        let expected = format!(
            "[dr-done] Active session: {SESSION}\nState: on | Iteration: 0\nTasks: 1 pending, 1 done, 0 stuck\n\nNext task: {}\n\n{}\n",
            path(next),
            loop_prompt(next, 0, [1, 1, 0])
        );
        assert_eq!(said(&hook(&project, "pre-compact")), expected);
        // What the agent must know after the compaction is repeated afterward.
        for source in ["compact", "resume"] {
            let start = hook_with(
                &project,
                "session-start",
                SESSION,
                json!({ "source": source }),
            );
            assert_eq!(said(&start), expected, "{source}");
        }
    }

    /// The other tests fill in the templates; this one checks their wording.
    #[test]
    fn the_prompts_word_for_word() {
        let project = sample_session();
        insta::assert_snapshot!("dr-done-loop", reason(&hook(&project, "stop")));
        state(&project, "review", 2);
        insta::assert_snapshot!("dr-done-review", said(&hook(&project, "pre-compact")));
    }

    #[test]
    fn state_review_outputs_full_context_with_review_prompt() {
        let project = sample_session();
        state(&project, "review", 2);
        let expected = format!(
            "[dr-done] Active session: {SESSION}\nState: review | Iteration: 2\nTasks: 1 pending, 1 done, 0 stuck\n\n{}\n",
            review_prompt(&["20260101T120001.done.md"])
        );
        assert_eq!(said(&hook(&project, "pre-compact")), expected);
    }
}

/// The names of all tasks, which must be times.
fn stamps(project: &Project) -> Vec<String> {
    let names: Vec<String> = names(project, SESSION)
        .into_iter()
        .filter(|name| name.ends_with(".md"))
        .collect();
    for name in &names {
        let (date, time) = name.split_once('T').unwrap();
        assert!(
            date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()),
            "{name}"
        );
        assert!(
            time.len() == 9 && time[..6].bytes().all(|byte| byte.is_ascii_digit()),
            "{name}"
        );
    }
    names
}

mod add {
    use super::*;

    #[test]
    fn creates_session_directory_if_needed() {
        let project = Project::empty();
        let ran = run(&project, &["add"], "Fix it");
        let [name] = stamps(&project).try_into().unwrap();
        assert_eq!(done(&ran), format!("Added {}.\n", path(&name)));
        assert!(!dir(&project, SESSION).join("state.json").exists());
    }

    #[test]
    fn creates_timestamp_named_md_file() {
        let project = project();
        done(&run(&project, &["add"], "x"));
        let latest = now();
        let [name] = stamps(&project).try_into().unwrap();
        assert!(name.as_str() <= latest.as_str(), "{name} {latest}");
    }

    /// The current time in the form of file names, according to the system's own `date`.
    fn now() -> String {
        let output = Command::new("date")
            .args(["-u", "+%Y%m%dT%H%M%S.md"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn file_contains_raw_prompt_text() {
        for text in [
            "Fix the auth bug in login.ts",
            "a\n\n{{ next_task }} $(rm -rf /) `x` 'ü'\n\n",
        ] {
            let project = project();
            done(&run(&project, &["add"], text));
            let [name] = stamps(&project).try_into().unwrap();
            assert_eq!(text_of(&project, &name), text);
        }
    }

    #[test]
    fn multiple_adds_create_sequential_files() {
        let project = project();
        let texts = ["one", "two", "three", "four"];
        for text in texts {
            done(&run(&project, &["add"], text));
        }
        let added = stamps(&project);
        let read = |name: &String| text_of(&project, name);
        assert_eq!(added.iter().map(read).collect::<Vec<_>>(), texts);
        // A second is used only once: a task that was added in it and is done keeps its place.
        let (last, rest) = added.split_last().unwrap();
        let ending = last.replace(".md", ".done.md");
        rename(&project, last, &ending);
        done(&run(&project, &["add"], "five"));
        let after = names(&project, SESSION);
        assert_eq!(after[..3], rest[..]);
        assert_eq!(after[3], ending);
        assert!(after[4] > *last, "{after:?}");
    }

    #[test]
    fn creates_gitignore_for_sessions() {
        for command in [
            &["add"][..],
            &["templates"],
            &["cleanup"],
            &["status"],
            &["stop"],
            &["adopt", "--list"],
        ] {
            let project = Project::empty();
            done(&run(&project, command, "x"));
            let file = project.root.join(".dr-done/.gitignore");
            assert_eq!(
                fs::read_to_string(&file).unwrap(),
                "sessions/\n",
                "{command:?}"
            );
            fs::write(&file, "mine").unwrap();
            done(&run(&project, command, "x"));
            assert_eq!(fs::read_to_string(&file).unwrap(), "mine\nsessions/\n");
            done(&run(&project, command, "x"));
            assert_eq!(fs::read_to_string(&file).unwrap(), "mine\nsessions/\n");
        }
    }

    #[test]
    fn an_empty_task_is_refused() {
        let project = Project::empty();
        let ran = run(&project, &["add"], " \n");
        assert_eq!(
            ran.err(),
            (
                1,
                "taskie: The task is empty: pass its text on stdin.\n  help: nothing was written\n"
            )
        );
        assert_eq!(project.files(), BTreeMap::new());
    }
}

mod start {
    use super::*;

    #[test]
    fn creates_state_json_with_state_on_iteration_0() {
        let project = sample_session();
        fs::remove_file(dir(&project, SESSION).join("state.json")).unwrap();
        done(&run(&project, &["start"], ""));
        assert_eq!(read(&project), json!({ "state": "on", "iteration": 0 }));
        state(&project, "off", 9);
        done(&run(&project, &["start"], ""));
        assert_eq!(read(&project), json!({ "state": "on", "iteration": 0 }));
    }

    #[test]
    fn fails_if_no_pending_tasks() {
        let project = project();
        task(&project, "20260101T120001.done.md", "x");
        let before = project.files();
        let ran = run(&project, &["start"], "");
        assert_eq!(
            ran.all(),
            (
                1,
                "",
                "taskie: No pending tasks (0 pending, 1 done, 0 stuck). Add one first: /dr-done:add.\n  help: nothing was written\n"
            )
        );
        assert_eq!(project.files(), before);
    }

    #[test]
    fn outputs_instruction_to_follow_loop_prompt() {
        let project = sample_session();
        let next = "20260101T120000.md";
        assert_eq!(
            done(&run(&project, &["start"], "")),
            format!(
                "{}\n\nNext task: {}\n",
                loop_prompt(next, 0, [1, 1, 0]),
                path(next)
            )
        );
    }
}

mod unstick {
    use super::*;

    const STAMP: &str = ": read the user's answer before you go on";

    #[test]
    fn renames_stuck_md_to_md() {
        let project = project();
        task(&project, "20260101T120000.stuck.md", "Which colour?");
        done(&run(&project, &["unstick"], ""));
        assert_eq!(
            names(&project, SESSION),
            ["20260101T120000.md", "state.json"]
        );
        let text = text_of(&project, "20260101T120000.md");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Which colour?");
        assert!(
            lines[1].starts_with("> Unstuck 20") && lines[1].ends_with(STAMP),
            "{text}"
        );
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn handles_multiple_stuck_files() {
        let project = sample_session();
        for name in [
            "20260101T120002.stuck.md",
            "20260101T120003.stuck.md",
            "odd.stuck.md",
            "odd.md",
        ] {
            task(&project, name, "x\n");
        }
        // Nothing is overwritten, not even by a task that already has the name.
        done(&run(&project, &["unstick"], ""));
        let expected = [
            "20260101T120000.md",
            "20260101T120001.done.md",
            "20260101T120002.md",
            "20260101T120003.md",
            "odd-2.md",
            "odd.md",
            "state.json",
        ];
        assert_eq!(names(&project, SESSION), expected);
        assert_eq!(text_of(&project, "odd.md"), "x\n");
    }

    #[test]
    fn starts_processing_after_unsticking() {
        let project = project();
        state(&project, "off", 12);
        task(&project, "20260101T120000.stuck.md", "x");
        let printed = done(&run(&project, &["unstick"], ""));
        assert!(printed.starts_with("Unstuck 1 task(s).\n"), "{printed}");
        assert!(printed.contains("# dr-done Work Loop"), "{printed}");
        assert_eq!(read(&project), json!({ "state": "on", "iteration": 0 }));
        let none = run(&project, &["unstick"], "");
        assert_eq!(
            none.stderr,
            "taskie: No stuck tasks (1 pending, 0 done, 0 stuck).\n  help: nothing was written\n"
        );
    }
}

mod cleanup {
    use super::*;

    /// Sessions of each kind, each abandoned ten days ago.
    fn old_sessions() -> Project {
        let project = sample_session();
        let sessions: [(&str, &str, &[&str]); 7] = [
            (
                "completed",
                "{\"state\": \"off\", \"iteration\": 3}",
                &["a.done.md"],
            ),
            ("stateless", "", &["a.done.md"]),
            (
                "working",
                "{\"state\": \"on\", \"iteration\": 3}",
                &["a.done.md"],
            ),
            (
                "reviewing",
                "{\"state\": \"review\", \"iteration\": 3}",
                &["a.done.md"],
            ),
            (
                "pending",
                "{\"state\": \"off\", \"iteration\": 3}",
                &["a.md"],
            ),
            (
                "stuck",
                "{\"state\": \"off\", \"iteration\": 3}",
                &["a.stuck.md"],
            ),
            ("broken", "{\"state\": \"of", &["a.done.md"]),
        ];
        for (session, state, tasks) in sessions {
            for name in tasks {
                of(&project, session, name, "x");
            }
            if !state.is_empty() {
                of(&project, session, "state.json", state);
            }
            age(&project, session, 10);
        }
        project
    }

    fn left(project: &Project) -> Vec<String> {
        let entries = fs::read_dir(project.root.join(".dr-done/sessions"))
            .unwrap()
            .flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != SESSION).collect();
        names.sort();
        names
    }

    const KEPT: [&str; 5] = ["broken", "pending", "reviewing", "stuck", "working"];

    fn deleted(names: &[&str]) -> String {
        let paths: String = names
            .iter()
            .map(|name| format!("\n.dr-done/sessions/{name}"))
            .collect();
        format!("{} session(s).{paths}\n", names.len())
    }

    #[test]
    fn deletes_completed_sessions_older_than_n_days() {
        let project = old_sessions();
        assert_eq!(
            done(&run(&project, &["cleanup", "11"], "")),
            format!("Deleted {}", deleted(&[]))
        );
        let dry = done(&run(&project, &["cleanup", "9", "--dry-run"], ""));
        assert_eq!(
            dry,
            format!("Would delete {}", deleted(&["completed", "stateless"]))
        );
        assert_eq!(left(&project).len(), 7);
        let printed = done(&run(&project, &["cleanup", "9"], ""));
        assert_eq!(
            printed,
            format!("Deleted {}", deleted(&["completed", "stateless"]))
        );
        assert_eq!(left(&project), KEPT);
    }

    #[test]
    fn preserves_active_sessions_by_default() {
        let project = old_sessions();
        done(&run(&project, &["cleanup", "0"], ""));
        assert_eq!(left(&project), KEPT);
        // A session never counts as one of the others, however old it is.
        age(&project, SESSION, 100);
        done(&run(&project, &["cleanup", "0", "--force"], ""));
        assert!(dir(&project, SESSION).is_dir());
    }

    #[test]
    fn force_flag_deletes_all_old_sessions() {
        for flag in ["-f", "--force"] {
            let project = old_sessions();
            of(&project, "young", "a.md", "x");
            let all = [
                "broken",
                "completed",
                "pending",
                "reviewing",
                "stateless",
                "stuck",
                "working",
            ];
            assert_eq!(
                done(&run(&project, &["cleanup", flag], "")),
                format!("Deleted {}", deleted(&all))
            );
            assert_eq!(left(&project), ["young"]);
        }
    }

    #[test]
    fn default_n_is_7_days() {
        let project = sample_session();
        for (session, days) in [("six", 6), ("seven", 7), ("eight", 8)] {
            of(&project, session, "a.done.md", "x");
            age(&project, session, days);
        }
        let printed = done(&run(&project, &["cleanup"], ""));
        assert_eq!(printed, format!("Deleted {}", deleted(&["eight", "seven"])));
        assert_eq!(left(&project), ["six"]);
    }

    #[test]
    fn follows_no_symbolic_link() {
        let project = old_sessions();
        let outside = project.bin.join("precious");
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("a.done.md"), "x").unwrap();
        symlink(&outside, project.root.join(".dr-done/sessions/link")).unwrap();
        symlink(&outside, dir(&project, "completed").join("inner")).unwrap();
        age_link_target(&outside);
        done(&run(&project, &["cleanup", "0", "-f"], ""));
        assert_eq!(left(&project), ["link"]);
        assert!(outside.join("a.done.md").exists());
        // Nor is the whole folder found behind one.
        let elsewhere = project.bin.join("sessions");
        fs::rename(project.root.join(".dr-done/sessions"), &elsewhere).unwrap();
        symlink(&elsewhere, project.root.join(".dr-done/sessions")).unwrap();
        let ran = run(&project, &["cleanup", "0", "-f"], "");
        assert_eq!(ran.code, 1);
        assert_eq!(
            ran.stderr,
            format!(
                "taskie: session `{SESSION}` leads out of the project through a symbolic link\n"
            )
        );
        let stop = hook(&project, "stop");
        assert!(
            stop.stdout.contains("leads out of the project"),
            "{}",
            stop.stdout
        );
    }

    fn age_link_target(dir: &Path) {
        let then = SystemTime::now() - Duration::from_secs(3600 * 24 * 30);
        set_modified(dir, then);
    }

    #[test]
    fn says_what_was_deleted_before_something_could_not_be() {
        let project = old_sessions();
        let chart = fs::read_to_string(plugin("statechart.toml")).unwrap();
        let folder = project.bin.join("chart");
        fs::create_dir_all(&folder).unwrap();
        symlink(plugin("templates"), folder.join("templates")).unwrap();
        let bad = chart.replace(
            "remove = \"{{ it.path }}\"\n",
            "remove = \"{{ it.path }}\"\n\n[[commands.cleanup.actions]]\nremove = \"{{ scope.home }}/sessions\"\n",
        );
        assert_ne!(bad, chart);
        fs::write(folder.join("statechart.toml"), bad).unwrap();
        let path = folder.join("statechart.toml");
        let ran = project.run(&[
            "--chart",
            path.to_str().unwrap(),
            "run",
            "cleanup",
            "--session",
            SESSION,
        ]);
        assert_eq!(
            ran.stderr,
            "taskie: .dr-done/sessions cannot be removed (after removing .dr-done/sessions/completed, removing .dr-done/sessions/stateless): \
             it is not the directory of a session\n"
        );
        assert_eq!(left(&project), KEPT);
    }
}

mod common {
    use super::*;

    fn shuffled() -> Project {
        let project = project();
        state(&project, "on", 0);
        for name in ["20260103T000000", "20260101T000000", "20260102T000000"] {
            for ending in ["md", "done.md", "stuck.md"] {
                task(&project, &format!("{name}-{}.{ending}", ending.len()), "x");
            }
        }
        task(&project, "notes.txt", "no task");
        project
    }

    #[test]
    fn find_pending_tasks_returns_sorted_list() {
        let project = shuffled();
        for expected in [
            "20260101T000000-2.md",
            "20260102T000000-2.md",
            "20260103T000000-2.md",
        ] {
            let reason = reason(&hook(&project, "stop"));
            assert!(
                reason.ends_with(&format!("Next task: {}", path(expected))),
                "{reason}"
            );
            fs::remove_file(dir(&project, SESSION).join(expected)).unwrap();
        }
    }

    #[test]
    fn a_hidden_file_is_no_task() {
        let project = project();
        state(&project, "on", 0);
        for name in [".#a.md", "._a.md", ".md", ".b.stuck.md", ".c.done.md"] {
            task(&project, name, "x");
        }
        let counts = "0 pending, 0 done, 0 stuck";
        let printed = done(&run(&project, &["status"], ""));
        assert!(printed.contains(counts), "{printed}");
        let other = "0e0ff1ce-aaaa-bbbb-cccc-000000000002";
        let printed = done(&run_in(&project, other, &["adopt", "--list"], ""));
        assert_eq!(printed, "No other session has tasks left.\n");
    }

    #[test]
    fn find_done_tasks_returns_sorted_list() {
        let project = shuffled();
        state(&project, "review", 0);
        let done = [
            "20260101T000000-7.done.md",
            "20260102T000000-7.done.md",
            "20260103T000000-7.done.md",
        ];
        assert!(said(&hook(&project, "pre-compact")).contains(&done.map(path).join("\n")));
    }

    #[test]
    fn find_stuck_tasks_returns_sorted_list() {
        let stuck = [
            "20260101T000000-8.stuck.md",
            "20260102T000000-8.stuck.md",
            "20260103T000000-8.stuck.md",
        ];
        assert!(
            said(&hook(&shuffled(), "user-prompt-submit"))
                .contains(&format!("3 stuck task(s): {}\n", stuck.join(", ")))
        );
    }

    #[test]
    fn has_uncommitted_changes_excludes_sessions() {
        let project = sample_session();
        git(&project.root, &["init", "-q"]);
        // Neither untracked nor, if someone has committed it, changed.
        assert!(reason(&hook(&project, "stop")).contains("Next task"));
        git(&project.root, &["add", "-A"]);
        git(&project.root, &["commit", "-qm", "x"]);
        task(&project, "20260101T120000.md", "changed");
        assert!(reason(&hook(&project, "stop")).contains("Next task"));
        // Something with a similar name is not ours.
        fs::write(project.root.join(".dr-done.txt"), "x").unwrap();
        assert!(reason(&hook(&project, "stop")).contains("commit"));
    }

    /// The project may be in a subfolder of the git repository: changes anywhere in the repository count.
    #[test]
    fn has_uncommitted_changes_looks_at_the_whole_repository() {
        let project = sample_session();
        let top = project.root.join("../top");
        fs::create_dir_all(&top).unwrap();
        let root = top.join("sub");
        fs::rename(&project.root, &root).unwrap();
        fs::create_dir_all(&project.root).unwrap();
        git(&top, &["init", "-q"]);
        fs::write(root.join("kept.txt"), "x").unwrap();
        git(&top, &["add", "sub/kept.txt"]);
        git(&top, &["commit", "-qm", "x"]);
        let stop = || {
            let event = json!({ "session_id": SESSION, "cwd": root }).to_string();
            reason(&feed(
                project.command(["--chart", "dr-done", "hook", "stop"]),
                event,
            ))
        };
        assert!(stop().contains("Next task"));
        fs::write(top.join("outside.txt"), "x").unwrap();
        assert!(stop().contains("uncommitted"));
    }

    #[test]
    fn git_is_asked_whatever_its_path_modes() {
        let project = sample_session();
        git(&project.root, &["init", "--quiet"]);
        fs::write(project.root.join("new.txt"), "x").unwrap();
        for mode in [
            "GIT_LITERAL_PATHSPECS",
            "GIT_GLOB_PATHSPECS",
            "GIT_NOGLOB_PATHSPECS",
            "GIT_ICASE_PATHSPECS",
        ] {
            let mut command = project.command(["--chart", "dr-done", "hook", "stop"]);
            command.env(mode, "1");
            let event = json!({ "session_id": SESSION, "cwd": project.root });
            let reason = reason(&feed(command, event.to_string()));
            assert!(reason.contains("uncommitted"), "{mode}: {reason}");
        }
    }

    #[test]
    fn a_failing_git_is_reported_and_blocks_nothing() {
        let project = sample_session();
        fs::write(project.root.join(".git"), "gitdir: nowhere").unwrap();
        let ran = hook(&project, "stop");
        let answer = ran.json();
        assert!(answer["reason"].as_str().unwrap().contains("Next task"));
        let message = answer["systemMessage"].as_str().unwrap();
        assert!(
            message.starts_with("Cannot check for uncommitted changes: `git status` failed: "),
            "{message}"
        );
    }

    #[test]
    fn read_state_parses_state_json_correctly() {
        let project = sample_session();
        state(&project, "review", 7);
        let printed = done(&run(&project, &["status"], ""));
        assert!(
            printed.starts_with("State: review | Iteration: 7 of 50 |"),
            "{printed}"
        );
        // A state that cannot be read leads to no decision and stays as it is.
        for (text, why) in [
            (
                "{\"state\": \"onn\", \"iteration\": 0}",
                "`state` is \"onn\", but must be a phase of the chart; did you mean \"on\"?",
            ),
            (
                "{\"state\": \"on\", \"iteration\": -1}",
                "`iteration` is -1, but must be an integer of at least 0",
            ),
            (
                "nonsense",
                "it is not valid JSON: expected ident at line 1 column 2",
            ),
        ] {
            task(&project, "state.json", text);
            let ran = hook(&project, "stop");
            let answer = ran.json();
            assert_eq!(answer.get("decision"), None);
            assert!(
                answer["systemMessage"]
                    .as_str()
                    .unwrap()
                    .starts_with(&format!("{}: {why}", path("state.json"))),
                "{answer}"
            );
            // There are no reviewers to speak of here.
            let message = answer["systemMessage"].as_str().unwrap();
            let end = " Nothing is decided and nothing is written until it is fixed.";
            assert!(message.ends_with(end), "{message}");
            let ran = run(&project, &["start"], "");
            assert_eq!(ran.code, 1);
            assert!(ran.stderr.contains(why), "{}", ran.stderr);
            assert_eq!(text_of(&project, "state.json"), text);
        }
    }

    #[test]
    fn write_state_writes_valid_json() {
        let project = sample_session();
        task(
            &project,
            "state.json",
            "{\"mine\": [1], \"iteration\": 1, \"state\": \"on\"}",
        );
        hook(&project, "stop");
        let text = text_of(&project, "state.json");
        assert_eq!(
            text,
            "{\n  \"mine\": [1],\n  \"iteration\": 2,\n  \"state\": \"on\"\n}\n"
        );
        let schema: Value = json_in("schemas/state.schema.json");
        assert!(jsonschema::draft7::is_valid(&schema, &read(&project)));
    }

    #[test]
    fn read_config_returns_defaults_if_no_config_json() {
        let project = sample_session();
        for (config, most) in [
            (None, 50),
            (Some("{}"), 50),
            (Some("{\"$schema\": \"x\", \"maxIterations\": 4.0}"), 4),
        ] {
            if let Some(config) = config {
                home(&project, "config.json", config);
            }
            let printed = done(&run(&project, &["status"], ""));
            assert!(
                printed.contains(&format!("Iteration: 0 of {most} ")),
                "{config:?}: {printed}"
            );
        }
    }

    #[test]
    fn a_bad_config_is_a_clear_message() {
        let project = sample_session();
        for (config, why) in [
            (
                "{\"maxIterations\": 0}",
                "`maxIterations` is 0, but must be an integer of at least 1",
            ),
            (
                "{\"maxIterations\": \"9\"}",
                "`maxIterations` is \"9\", but must be an integer of at least 1",
            ),
            (
                "{\"gitCommit\": 1}",
                "`gitCommit` is 1, but must be a boolean",
            ),
            ("[]", "it contains a list, not an object"),
            (
                "{,}",
                "it is not valid JSON: key must be a string at line 1 column 2",
            ),
        ] {
            home(&project, "config.json", config);
            let before = project.files();
            let ran = hook(&project, "stop");
            let answer = ran.json();
            assert_eq!(
                answer["systemMessage"],
                format!(
                    "taskie could not decide about this Stop and allows it: .dr-done/config.json: {why}"
                )
            );
            let ran = run(&project, &["status"], "");
            assert_eq!(
                ran.stderr,
                format!("taskie: .dr-done/config.json: {why}\n  help: fix the file\n")
            );
            assert_eq!(project.files(), before);
        }
        // A broken link is not the same as a missing file.
        for name in ["config.json", "loop.md"] {
            let file = project.root.join(".dr-done").join(name);
            let _ = fs::remove_file(&file);
            symlink("nowhere", &file).unwrap();
            let answer = hook(&project, "stop").json();
            assert_eq!(
                answer["systemMessage"],
                format!(
                    "taskie could not decide about this Stop and allows it: .dr-done/{name}: it cannot be read: it is a symbolic link to a file that does not exist"
                )
            );
            fs::remove_file(&file).unwrap();
        }
        home(&project, "config.json", "{\"maxIteration\": 9}");
        let ran = hook(&project, "stop");
        let answer = ran.json();
        assert_eq!(answer["decision"], "block");
        assert_eq!(
            answer["systemMessage"],
            ".dr-done/config.json: there is no setting `maxIteration`; did you mean `maxIterations`?"
        );
    }
}

mod template {
    use super::*;

    #[test]
    fn substitute_template_replaces_all_variables() {
        let project = sample_session();
        let all = "{{session_dir}}|{{next_task}}|{{ iteration }}|{{pending_count}}|{{done_count}}|{{stuck_count}}|{{done_files}}";
        home(&project, "loop.md", all);
        let expected = format!(
            ".dr-done/sessions/{SESSION}|{0}|1|1|1|0|{1}\n\nNext task: {0}",
            path("20260101T120000.md"),
            path("20260101T120001.done.md")
        );
        assert_eq!(reason(&hook(&project, "stop")), expected);
    }

    #[test]
    fn substitute_template_handles_missing_variables_gracefully() {
        let project = sample_session();
        home(
            &project,
            "loop.md",
            "{{nope}} {{ x.y }} {% raw %} {{ 7 * 7 }} {{next_taks}}\n",
        );
        let ran = hook(&project, "stop");
        let answer = ran.json();
        let reason = answer["reason"].as_str().unwrap();
        assert!(
            reason.starts_with(
                "{{nope}} {{ x.y }} {% raw %} {{ 7 * 7 }} {{next_taks}}\n\nNext task:"
            ),
            "{reason}"
        );
        // It may be intended: a command warns the user, and a stop writes to the host's log.
        assert_eq!(answer.get("systemMessage"), None);
        let ran = run(&project, &["start"], "");
        assert_eq!(
            ran.stderr,
            "taskie: .dr-done/loop.md: {{nope}} is not filled in; the names are session_dir, next_task, iteration, pending_count, done_count, stuck_count, done_files\n\
             taskie: .dr-done/loop.md: {{next_taks}} is not filled in; did you mean {{next_task}}?\n"
        );
    }

    #[test]
    fn get_loop_prompt_path_prefers_dr_done_loop_md() {
        let project = sample_session();
        home(&project, "loop.md", "Mine.");
        assert_eq!(
            reason(&hook(&project, "stop")),
            format!("Mine.\n\nNext task: {}", path("20260101T120000.md"))
        );
    }

    #[test]
    fn get_loop_prompt_path_falls_back_to_templates_loop_md() {
        assert!(reason(&hook(&sample_session(), "stop")).starts_with("# dr-done Work Loop\n"));
    }

    #[test]
    fn get_review_prompt_path_prefers_dr_done_review_md() {
        let project = sample_session();
        state(&project, "review", 0);
        home(&project, "review.md", "Mine: {{done_count}}");
        assert!(said(&hook(&project, "pre-compact")).ends_with("\n\nMine: 1\n"));
    }

    #[test]
    fn get_review_prompt_path_falls_back_to_templates_review_md() {
        let project = sample_session();
        state(&project, "review", 0);
        assert!(said(&hook(&project, "pre-compact")).contains("\n\n# dr-done Review\n"));
    }

    /// A preview fills in a prompt the way the agent gets it.
    #[test]
    fn a_prompt_is_previewed_as_it_is_sent() {
        let project = sample_session();
        let render = || {
            project.run(&[
                "--chart",
                "dr-done",
                "render",
                "loop.md",
                "--session",
                SESSION,
            ])
        };
        assert_eq!(
            done(&render()),
            loop_prompt("20260101T120000.md", 0, [1, 1, 0])
        );
        home(&project, "loop.md", "Mine: {{iteration}}");
        assert_eq!(done(&render()), "Mine: 0");
    }

    #[test]
    fn templates_are_copied_once() {
        let project = Project::empty();
        let ran = run(&project, &["templates"], "");
        let edit = "Edit .dr-done/loop.md and .dr-done/review.md as you like: they replace the plugin's own.\n";
        assert_eq!(
            done(&ran),
            format!("Created .dr-done/loop.md and .dr-done/review.md. {edit}")
        );
        let read =
            |name: &str| fs::read_to_string(project.root.join(".dr-done").join(name)).unwrap();
        assert_eq!(
            (read("loop.md").as_str(), read("review.md").as_str()),
            (LOOP, REVIEW)
        );
        home(&project, "loop.md", "Mine.");
        fs::remove_file(project.root.join(".dr-done/review.md")).unwrap();
        assert_eq!(
            done(&run(&project, &["templates"], "")),
            format!("Created .dr-done/review.md. {edit}")
        );
        assert_eq!(read("loop.md"), "Mine.");
        assert_eq!(
            done(&run(&project, &["templates"], "")),
            format!("They already exist. {edit}")
        );
    }
}

mod adopt {
    use super::*;

    /// A session of three days ago, one of just now, and one that is off.
    fn others() -> Project {
        let project = project();
        task(&project, "20260101T120001.md", "mine");
        of(&project, "gone", "20260101T120001.md", "gone 1");
        of(&project, "gone", "20260101T120002.md", "gone 2");
        of(&project, "gone", "20260101T120003.stuck.md", "gone 3");
        of(&project, "gone", "20260101T120004.done.md", "gone 4");
        of(
            &project,
            "gone",
            "state.json",
            "{\"state\": \"on\", \"iteration\": 3}",
        );
        age(&project, "gone", 3);
        of(&project, "here", "20260101T120000.md", "here");
        of(
            &project,
            "here",
            "state.json",
            "{\"state\": \"on\", \"iteration\": 3}",
        );
        of(&project, "off", "20260101T110000.md", "off");
        of(&project, "quiet", "20260101T110000.done.md", "done");
        project
    }

    const LIST: &str = "- gone: 2 pending, 1 stuck, state on, untouched for 72 hour(s)\n\
        - here: 1 pending, 0 stuck, state on, untouched for 0 hour(s)\n\
        - off: 1 pending, 0 stuck, state off, untouched for 0 hour(s)\n";

    #[test]
    fn a_new_session_is_told_what_others_have_left() {
        let project = others();
        for (source, expected) in [
            ("startup", true),
            ("clear", true),
            ("compact", false),
            ("resume", false),
        ] {
            let ran = hook_with(
                &project,
                "session-start",
                "a-new-one",
                json!({ "source": source }),
            );
            let text = format!(
                "[dr-done] Other sessions have tasks left; tell the user, who can take them over with /dr-done:adopt.\n\
                 - {SESSION}: 1 pending, 0 stuck, state off, untouched for 0 hour(s)\n{LIST}"
            );
            assert_eq!(said(&ran), if expected { &text } else { "" }, "{source}");
        }
        let alone = sample_session();
        let own = hook_with(
            &alone,
            "session-start",
            SESSION,
            json!({ "source": "startup" }),
        );
        assert_eq!(said(&own), "");
    }

    #[test]
    fn list_names_them() {
        let project = others();
        let before = project.files();
        assert_eq!(done(&run(&project, &["adopt", "--list"], "")), LIST);
        let ran = run(&project, &["adopt"], "");
        assert_eq!(ran.out(), (1, ""));
        assert!(
            ran.stderr.starts_with(&format!(
                "taskie: Name one of these sessions, or pass --all:\n{LIST}"
            )),
            "{}",
            ran.stderr
        );
        let ran = run(&project, &["adopt", "../../etc"], "");
        assert_eq!(ran.code, 1);
        let mut after = project.files();
        after.remove(".dr-done/.gitignore");
        assert_eq!(after, before);
    }

    /// The tasks of one session keep their order, even if their names are taken; the done ones stay.
    #[test]
    fn one_session_in_its_order() {
        let project = others();
        done(&run(&project, &["adopt", "gone"], ""));
        let texts: Vec<(String, String)> = names(&project, SESSION)
            .into_iter()
            .map(|name| (name.clone(), text_of(&project, &name)))
            .collect();
        let expected = [
            ("20260101T120001.md", "mine"),
            ("20260101T120002.md", "gone 1"),
            ("20260101T120003.md", "gone 2"),
            ("20260101T120004.stuck.md", "gone 3"),
        ];
        assert_eq!(
            texts,
            expected.map(|(name, text)| (name.to_owned(), text.to_owned()))
        );
        assert_eq!(
            names(&project, "gone"),
            ["20260101T120004.done.md", "state.json"]
        );
    }

    #[test]
    fn all_but_those_at_work() {
        let project = others();
        let printed = done(&run(&project, &["adopt", "--all"], ""));
        assert!(printed.starts_with("Took over 4 task(s):\n"), "{printed}");
        assert_eq!(
            names(&project, "here"),
            ["20260101T120000.md", "state.json"]
        );
        assert_eq!(names(&project, "off"), Vec::<String>::new());
        assert_eq!(names(&project, SESSION).len(), 5);
    }
}

mod safety {
    use super::*;

    #[test]
    fn session_ids_are_validated() {
        let project = sample_session();
        for id in ["../x", "a/b", "..", ".", "-x", "a b", "$(x)", "ü", "a\nb"] {
            let before = project.files();
            let ran = run_in(&project, id, &["add"], "x");
            assert_ne!(ran.code, 0, "{id}");
            let stop = hook_with(&project, "stop", id, json!({}));
            assert_eq!(stop.code, 0);
            assert!(
                stop.stdout.contains("cannot be the name of a session"),
                "{id}: {}",
                stop.stdout
            );
            assert_eq!(project.files(), before, "{id}");
        }
        for event in [json!({}), json!({ "session_id": "" })] {
            let mut event = event;
            event["cwd"] = json!(project.root);
            let ran = feed(
                project.command(["--chart", "dr-done", "hook", "stop"]),
                event.to_string(),
            );
            let why = "The event names no session (session_id): nothing is decided.";
            expect_warning(&ran, why);
        }
        let ran = project.run(&["--chart", "dr-done", "run", "status"]);
        assert_eq!(
            ran.stderr,
            "taskie: the session is unknown\n  help: pass --session ID; in a command of Claude Code: --session \"${CLAUDE_SESSION_ID}\"\n"
        );
    }

    #[test]
    fn the_session_comes_from_the_environment() {
        let project = sample_session();
        let mut command = project.command(["--chart", "dr-done", "run", "status"]);
        command.env("CLAUDE_CODE_SESSION_ID", SESSION);
        assert!(done(&feed(command, "")).starts_with("State: on"));
    }

    /// What a killed process leaves behind: files that have moved, and the old state.
    #[test]
    fn a_crash_between_rename_and_state_write_loses_nothing() {
        let project = project();
        state(&project, "off", 5);
        task(&project, "20260101T120000.stuck.md", "a");
        task(&project, "20260101T120001.stuck.md", "b");
        // The state cannot be written: something is in the way of the new file in its directory.
        fs::create_dir(dir(&project, SESSION).join(".state.json.new")).unwrap();
        let ran = run(&project, &["unstick"], "");
        assert_eq!(ran.code, 1);
        assert!(
            ran.stderr.contains("state.json cannot be written"),
            "{}",
            ran.stderr
        );
        fs::remove_dir(dir(&project, SESSION).join(".state.json.new")).unwrap();
        assert_eq!(
            names(&project, SESSION),
            ["20260101T120000.md", "20260101T120001.md", "state.json"]
        );
        assert_eq!(read(&project), json!({ "state": "off", "iteration": 5 }));
        assert_eq!(said(&hook(&project, "stop")), "");
        done(&run(&project, &["start"], ""));
        assert!(reason(&hook(&project, "stop")).ends_with("20260101T120000.md"));
    }

    #[test]
    fn two_at_once_lose_no_task() {
        let project = Project::empty();
        let adds: Vec<_> = (0..8)
            .map(|number| {
                let mut command =
                    project.command(["--chart", "dr-done", "run", "add", "--session", SESSION]);
                std::thread::spawn(move || {
                    command.stdin(std::process::Stdio::piped());
                    feed(command, number.to_string())
                })
            })
            .collect();
        for add in adds {
            done(&add.join().unwrap());
        }
        let mut texts: Vec<String> = stamps(&project)
            .iter()
            .map(|name| text_of(&project, name))
            .collect();
        texts.sort();
        assert_eq!(texts, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let project = project();
        let outside = project.bin.join("outside");
        fs::write(&outside, "mine\n").unwrap();
        symlink(&outside, project.root.join(".dr-done/.gitignore")).unwrap();
        let ran = run(&project, &["add"], "x");
        assert_eq!(
            ran.stderr,
            format!(
                "taskie: .dr-done/.gitignore cannot be written (after writing {}): it is a symbolic link\n",
                path(&stamps(&project)[0])
            )
        );
        assert_eq!(fs::read_to_string(outside).unwrap(), "mine\n");
    }
}

mod integration {
    use super::*;

    /// An agent in a project under git that runs what the slash commands say and does what the hook says.
    struct Agent {
        project: Project,
    }

    impl Agent {
        fn new() -> Self {
            let project = Project::empty();
            git(&project.root, &["init", "-q"]);
            git(
                &project.root,
                &["commit", "-q", "--allow-empty", "-m", "Begin"],
            );
            Self { project }
        }

        /// Runs the first block of a slash command, filled in like the host and a careful agent do.
        fn slash(&self, name: &str, text: &str) -> Ran {
            let file = fs::read_to_string(plugin(&format!("commands/{name}.md"))).unwrap();
            let block = file.split("```\n").nth(1).unwrap();
            let script = block
                .replace("${CLAUDE_SESSION_ID}", SESSION)
                .replace("TEXT\n", &format!("{text}\n"));
            let exe = Path::new(env!("CARGO_BIN_EXE_taskie")).parent().unwrap();
            let path = format!("{}:{}", exe.display(), std::env::var("PATH").unwrap());
            let mut shell = Command::new("sh");
            shell
                .args(["-c", &script])
                .current_dir(&self.project.root)
                .env_clear();
            shell
                .env("PATH", path)
                .env("HOME", self.project.bin.join("home"));
            Ran::of(shell.output().unwrap())
        }

        fn stop(&self) -> Option<String> {
            let ran = hook(&self.project, "stop");
            let answer = ran.json();
            answer["reason"].as_str().map(str::to_owned)
        }

        /// Does what the prompt says: works, records what was done, changes the ending, commits.
        fn work(&self, prompt: &str, ending: &str) {
            let next = prompt.rsplit_once("Next task: ").unwrap().1;
            let file = self.project.root.join(next);
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, format!("{text}\n---\n## Work Summary\n- Done.\n")).unwrap();
            fs::rename(&file, next_name(&file, ending)).unwrap();
            let product = self.project.root.join("product.txt");
            let before = fs::read_to_string(&product).unwrap_or_default();
            fs::write(&product, before + &text).unwrap();
            assert!(self.stop().unwrap().contains("uncommitted changes"));
            git(&self.project.root, &["add", "product.txt"]);
            git(&self.project.root, &["commit", "-qm", "Work"]);
        }
    }

    fn next_name(file: &Path, ending: &str) -> PathBuf {
        let name = file.to_str().unwrap();
        PathBuf::from(format!("{}{ending}", name.strip_suffix(".md").unwrap()))
    }

    #[test]
    fn add_creates_task_file() {
        let agent = Agent::new();
        let text = "Say \"$HOME\" and `date`\nin 'two' lines";
        let ran = agent.slash("add", text);
        assert_eq!(ran.err(), (0, ""));
        let [name] = stamps(&agent.project).try_into().unwrap();
        let written = fs::read_to_string(dir(&agent.project, SESSION).join(name)).unwrap();
        assert_eq!(written, format!("{text}\n"));
        assert_eq!(agent.stop(), None);
    }

    #[test]
    fn start_begins_processing() {
        let agent = Agent::new();
        agent.slash("add", "One");
        assert!(
            agent
                .slash("start", "")
                .stdout
                .contains("# dr-done Work Loop")
        );
        assert!(agent.stop().unwrap().contains("# dr-done Work Loop"));
    }

    #[test]
    fn do_creates_and_starts() {
        let agent = Agent::new();
        let printed = agent.slash("do", "One").stdout;
        assert!(printed.starts_with("Added .dr-done/sessions/"), "{printed}");
        assert!(printed.contains("# dr-done Work Loop"), "{printed}");
        assert_eq!(
            read(&agent.project),
            json!({ "state": "on", "iteration": 0 })
        );
    }

    #[test]
    fn stop_halts_processing() {
        let agent = Agent::new();
        agent.slash("do", "One");
        let printed = agent.slash("stop", "").stdout;
        assert!(
            printed
                .ends_with("Stopped (1 pending, 0 done, 0 stuck). The agent may end its turn.\n"),
            "{printed}"
        );
        assert_eq!(agent.stop(), None);
        assert_eq!(stamps(&agent.project).len(), 1);
    }

    #[test]
    fn unstick_resumes_stuck_tasks() {
        let agent = Agent::new();
        let prompt = agent.slash("do", "One").stdout;
        agent.work(prompt.trim_end(), ".stuck.md");
        assert!(agent.stop().unwrap().starts_with("All tasks complete."));
        assert!(
            agent
                .slash("unstick", "")
                .stdout
                .contains("Unstuck 1 task(s).")
        );
        let prompt = agent.stop().unwrap();
        agent.work(&prompt, ".stuck.md");
        let reminder = hook(&agent.project, "user-prompt-submit").stdout;
        assert!(
            reminder.contains("(stuck again: unstuck 1 time(s) before)"),
            "{reminder}"
        );
    }

    #[test]
    fn full_loop_completes() {
        let agent = Agent::new();
        for text in ["One", "Two", "Three"] {
            agent.slash("add", text);
        }
        let mut prompt = agent.slash("start", "").stdout.trim_end().to_owned();
        let mut reviews = 0;
        let mut worked = 0;
        loop {
            if prompt.starts_with("All tasks complete.") {
                reviews += 1;
                // The reviewer finds something the first time. Its end fires no stop of the agent.
                if reviews == 1 {
                    task(&agent.project, "20990101T000000.md", "Mend Two\n");
                }
            } else {
                agent.work(&prompt, ".done.md");
                worked += 1;
            }
            match agent.stop() {
                Some(next) => prompt = next,
                None => break,
            }
        }
        assert_eq!((worked, reviews), (4, 2));
        let product = fs::read_to_string(agent.project.root.join("product.txt")).unwrap();
        assert_eq!(product, "One\nTwo\nThree\nMend Two\n");
        assert_eq!(read(&agent.project)["state"], "off");
        let status = agent.slash("status", "").stdout;
        assert!(
            status.contains("Tasks: 0 pending, 4 done, 0 stuck"),
            "{status}"
        );
        let tracked = git(&agent.project.root, &["ls-files"]);
        assert_eq!(tracked, "product.txt\n");
    }
}

/// There is a directory for each session, and one without a state is at its start: both are fine.
#[test]
fn doctor_knows_sessions() {
    let project = sample_session();
    let warned = |args: &[&str]| {
        let ran = project.run(&[&["--chart", "dr-done", "doctor"], args].concat());
        ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let any = warned(&[]);
    assert!(
        any.contains("hooks name the session themselves; check one with `--session ID`"),
        "{any}"
    );
    let state = dir(&project, SESSION).join("state.json");
    fs::write(&state, "{").unwrap();
    let broken = warned(&["--session", SESSION]);
    let remedy = "fix the file, or delete it to start over";
    assert!(broken.contains(remedy), "{broken}");
    let ran = run(&project, &["stop"], "");
    assert!(ran.stderr.contains(remedy), "{}", ran.stderr);
    fs::remove_file(&state).unwrap();
    let new = warned(&["--session", SESSION]);
    assert!(
        new.contains("has no state.json yet: it has not started"),
        "{new}"
    );
}
