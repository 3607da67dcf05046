//! `TASKIE_TRACE=FILE`: what was decided, and which rules decided it.

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Ran, Reviewer, feed, validated};

const STOP: &str = r#"{"hook_event_name":"Stop"}"#;

fn traced(project: &Project, args: &[&str], stdin: &str) -> (Ran, Vec<Value>) {
    let file = project.bin.join("trace");
    let _ = std::fs::remove_file(&file);
    let mut command = project.command(args);
    command.env("TASKIE_TRACE", &file);
    let ran = feed(command, stdin);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    (
        ran,
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

#[test]
fn a_review_and_the_rules_around_it() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer::fail());
    let (ran, lines) = traced(&project, &["hook", "stop"], STOP);
    let expected = json!({
        "event": "Stop",
        "session": null,
        "dir": format!(".taskie/plans/{PLAN}"),
        "fired": [
            { "rule": "on.Stop[3]", "about": "a review is due: run it" },
            { "rule": "on.Stop[4]", "about": "it ran: count it; the next model in the list reviews next" },
            { "rule": "on.Stop[6]", "about": "not clean yet: the agent answers the review" },
        ],
        "run": {
            "name": "review", "cycle": "code-review", "n": 1, "file": "task-1-review-1.md",
            "verdict": "FAIL", "error": null, "superseded": false,
        },
        "patch": {
            "phase": "code-review", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 0,
            "next_phase": "post-code-review",
        },
        "messages": [],
        "says": [],
        "answer": "block",
        "text": ran.json()["reason"],
    });
    assert_eq!(lines, [expected]);
}

#[test]
fn a_failed_review_says_why() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer {
        exit: 3,
        ..Reviewer::fail()
    });
    let (_, lines) = traced(&project, &["hook", "stop"], STOP);
    let error = lines[0]["run"]["error"].as_str().unwrap();
    assert!(error.starts_with("`claude` exited with code 3"), "{error}");
    assert_eq!(
        (
            &lines[0]["run"]["verdict"],
            &lines[0]["patch"],
            &lines[0]["answer"]
        ),
        (&Value::Null, &json!({}), &json!("allow"))
    );
}

#[test]
fn commands_leave_a_line_too() {
    let project = Project::valid();
    project.set_state(json!({}));
    for (args, event, answer) in [
        (&["run", "pause"] as &[&str], "run pause", "pass"),
        (&["run", "pause"], "run pause", "refuse"),
        (
            &["enter", "complete-task", "--task", "2"],
            "enter complete-task",
            "pass",
        ),
    ] {
        let (_, lines) = traced(&project, args, "");
        assert_eq!(lines.len(), 1, "{args:?}");
        assert_eq!(
            (&lines[0]["event"], &lines[0]["answer"]),
            (&json!(event), &json!(answer)),
            "{args:?}"
        );
    }
}

#[test]
fn a_trace_that_cannot_be_written_changes_no_answer() {
    let project = Project::valid();
    let stop = |trace: &str| {
        let mut command = project.command(["hook", "stop"]);
        command.env("TASKIE_TRACE", trace);
        feed(command, STOP)
    };
    let ran = stop("/nowhere/trace");
    let message = ran.json()["systemMessage"].as_str().unwrap().to_owned();
    let warning =
        "the trace /nowhere/trace cannot be written: No such file or directory (os error 2)";
    assert_eq!(
        message,
        format!(
            "{warning}\n{}",
            validated()["systemMessage"].as_str().unwrap()
        )
    );
    assert_eq!((ran.code, ran.stderr), (0, format!("taskie: {warning}\n")));
    assert_eq!(stop("").json(), validated());
}
