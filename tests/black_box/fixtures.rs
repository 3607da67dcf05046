//! Whole hook runs with input from the real host and output of the real client, as captured in `fixtures/`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::expected::plan_in;
use crate::support::{PLAN, Project, Reviewer, cases, silent, state, validated};

/// The captured files whose names begin like this, sorted, with their texts.
fn captured(start: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/black_box/fixtures");
    let mut files: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
        })
        .filter(|(name, _)| name.starts_with(start))
        .collect();
    files.sort();
    files
}

#[test]
fn everything_the_client_prints() {
    let printed = captured("print-");
    let known = cases::<(&str, &str, &str)>("fixtures", "everything_the_client_prints");
    for (name, ..) in &known {
        assert!(
            printed.iter().any(|(file, _)| file.starts_with(&format!("print-{name}.2."))),
            "{name} is not captured"
        );
    }
    for (file, stdout) in printed {
        let name = file.strip_prefix("print-").unwrap().split(".2.").next().unwrap();
        let (_, outcome, why) = known
            .iter()
            .find(|(known, ..)| *known == name)
            .unwrap_or_else(|| panic!("{file} is not expected"));
        let project = Project::in_state(
            json!({ "consecutive_clean": 1, "phase_iteration": 4, "review_model": "haiku" }),
        );
        let before = project.read("state.json");
        let exit = i32::from(!why.is_empty());
        // The review file is written even if the run fails: it must not count then.
        project.reviewer(&Reviewer::fail().prints(stdout).exits(exit));
        let ran = project.stop();
        assert_eq!(ran.code, 0, "{file}");
        match *outcome {
            "passes" | "finds" => {
                let clean = *outcome == "passes";
                assert_eq!(ran.stderr, "", "{file}");
                assert_eq!(ran.json()["decision"] == "block", !clean, "{file}: {}", ran.stdout);
                let next = if clean { "complete-task" } else { "post-code-review" };
                let changes = json!({
                    "phase": "code-review", "next_phase": next, "phase_iteration": 5, "review_model": "opus", "consecutive_clean": if clean { 2 } else { 0 },
                });
                assert_eq!(project.state(), state(changes), "{file}");
                assert!(!project.root.join(".taskie/.locks/test-plan.log").exists(), "{file}");
            }
            _ => {
                let message = ran.message();
                let is_postponed = *outcome == "is postponed";
                let next = match is_postponed {
                    true => ". It is postponed until ",
                    false => ". The next stop tries again: ask the agent to go on.\n",
                };
                let (failed, rest) = message.split_once(next).unwrap();
                let why = why.trim_end_matches('.');
                assert!(failed.starts_with(&format!("Review failed: {why}")), "{file}: {message}");
                let structure = format!("Plan '{PLAN}' structure validated successfully");
                assert!(rest.ends_with(&structure), "{file}: {message}");
                assert!(is_postponed || rest == structure, "{file}: {message}");
                assert!(
                    ran.stderr.starts_with(&format!("taskie: the review failed: {why}")),
                    "{file}"
                );
                let calls = project.calls().len();
                project.stop();
                assert_eq!(project.calls().len() == calls, is_postponed, "{file}");
                assert_eq!(project.read("state.json"), before, "{file}");
                // It had nothing to say there.
                assert!(!project.root.join(".taskie/.locks/test-plan.log").exists(), "{file}");
            }
        }
    }
}

/// The exit code alone does not decide: an error reported with exit code 0 is an error too.
#[test]
fn an_error_that_is_reported_with_exit_0() {
    for (file, stdout) in captured("print-") {
        let json: Value = serde_json::from_str(&stdout).unwrap();
        if json["is_error"] != true {
            continue;
        }
        let project = Project::in_state(json!({}));
        let before = project.read("state.json");
        project.reviewer(&Reviewer::fail().prints(stdout));
        let ran = project.stop();
        let message = ran.message();
        assert!(message.starts_with("Review failed: `claude` failed: "), "{file}: {message}");
        assert_eq!(project.read("state.json"), before, "{file}");
    }
}

/// A fixture's event with the session's directory in place of the captured one.
fn event(project: &Project, text: &str) -> Value {
    let mut event: Value = serde_json::from_str(text).unwrap();
    event["cwd"] = json!(project.root);
    event
}

/// Returns the subcommand of a captured event: its name up to the version, without the case.
fn subcommand(file: &str) -> &'static str {
    let name = file.strip_prefix("event-").unwrap();
    let words = [
        "user-prompt-submit",
        "subagent-stop",
        "pre-compact",
        "post-compact",
        "session-start",
        "session-end",
        "stop",
    ];
    words
        .into_iter()
        .find(|word| name.starts_with(word))
        .unwrap_or_else(|| panic!("{file} is not expected"))
}

/// The session of the event drives the plan.
fn take_up(project: &Project, event: &Value) {
    let session = event["session_id"].as_str().unwrap();
    assert_eq!(project.run(&["next", "--session", session]).code, 0);
}

#[test]
fn every_event_of_the_host_in_a_valid_plan() {
    let events = captured("event-");
    assert_eq!(events.len(), 11);
    for (file, text) in events {
        let project = Project::in_state(json!({ "next_phase": null }));
        let event = event(&project, &text);
        take_up(&project, &event);
        let before = project.files();
        let command = subcommand(&file);
        let ran = project.hook_raw(command, event.to_string());
        // That the files are in order is news only after a block.
        let expected = match (command, event["stop_hook_active"].as_bool()) {
            ("stop", Some(true)) => {
                format!(
                    "{{\"systemMessage\": {}, \"suppressOutput\": true}}\n",
                    validated()["systemMessage"]
                )
            }
            ("stop" | "subagent-stop", _) => silent().to_owned(),
            _ => String::new(),
        };
        assert_eq!((ran.code, ran.stdout, ran.stderr.as_str()), (0, expected, ""), "{file}");
        assert_eq!(project.files(), before, "{file}");
    }
}

/// Only the agent's own stop runs a review.
#[test]
fn every_event_of_the_host_while_a_review_is_due() {
    for (file, text) in captured("event-") {
        let project = plan_in(&json!({}), &Reviewer::fail());
        let event = event(&project, &text);
        take_up(&project, &event);
        let before = project.files();
        let command = subcommand(&file);
        let ran = project.hook_raw(command, event.to_string());
        assert_eq!(ran.err(), (0, ""), "{file}");
        if command == "stop" {
            assert_eq!(
                (ran.json()["decision"].as_str(), project.calls().len()),
                (Some("block"), 1),
                "{file}"
            );
        } else {
            let expected = match command {
                "subagent-stop" => silent(),
                "session-start" => {
                    "{\"systemMessage\": \"Plan 'test-plan' is waiting: code-review comes next. /taskie:continue-plan continues it.\", \"hookSpecificOutput\": {\"hookEventName\": \"SessionStart\", \"additionalContext\": \"[taskie] Plan 'test-plan' is waiting: code-review comes next. /taskie:continue-plan continues it.\"}}\n"
                }
                _ => "",
            };
            assert_eq!((ran.stdout.as_str(), project.calls().len()), (expected, 0), "{file}");
            assert_eq!(project.files(), before, "{file}");
        }
    }
}
