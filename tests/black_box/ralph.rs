//! A third workflow, `examples/ralph`, which consists only of a chart.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Project, Ran, allowed, blocked, feed};

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ralph/statechart.toml");

const PROMPT: &str = "Make the tests pass.\n\nOnly if this is completely done, end your turn with <promise>DONE</promise>.";

fn run(project: &Project, args: &[&str], stdin: &str) -> Ran {
    let words = [&["--chart", CHART, "run"], args, &["--session", "s1"]].concat();
    feed(project.command(words), stdin)
}

fn stop(project: &Project, last: &str) -> Value {
    let event = json!({ "session_id": "s1", "cwd": project.root, "last_assistant_message": last });
    let ran = feed(project.command(["--chart", CHART, "hook", "stop"]), event.to_string());
    assert_eq!(ran.err(), (0, ""));
    ran.json()
}

fn begun() -> Project {
    let project = Project::empty();
    let ran = run(&project, &["loop"], "Make the tests pass.");
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(ran.stdout, format!("{PROMPT}\n"));
    project
}

#[test]
fn the_prompt_comes_again_until_the_phrase() {
    let project = begun();
    for last in ["I tried.", "", "DONE"] {
        assert_eq!(stop(&project, last), blocked(PROMPT), "{last}");
    }
    let end = allowed("ralph: done after 3 more round(s).");
    assert_eq!(stop(&project, "All green. <promise>DONE</promise>"), end);
    assert_eq!(stop(&project, "And on."), Value::Null);
}

#[test]
fn or_until_the_limit() {
    let project = begun();
    fs::write(project.root.join(".ralph/config.json"), "{\"iterations\": 2}").unwrap();
    for _ in 0..2 {
        assert_eq!(stop(&project, "no")["decision"], "block");
    }
    let end = allowed("ralph: not done after 2 more round(s).");
    assert_eq!(stop(&project, "no"), end);
    assert_eq!(stop(&project, "no"), Value::Null);
}

#[test]
fn or_until_the_user_cancels() {
    let project = begun();
    let ran = run(&project, &["cancel"], "");
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(stop(&project, "no"), Value::Null);
}
