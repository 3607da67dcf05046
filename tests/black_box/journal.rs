//! `taskie log --follow`. Everything else about the journal is in `tests/transcripts/journal.md`.

use std::io::{BufRead as _, BufReader};

use serde_json::json;

use crate::support::{Project, Ran};

#[test]
fn a_followed_log_shows_new_lines() {
    let project = Project::in_state(json!({ "next_phase": null }));
    project.stop();
    let mut child = project.command(["log", "--follow"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().ends_with(" UTC"));
    let line = next();
    assert!(
        line.ends_with("Stop allowed: the plan's files are in order"),
        "{line}"
    );
    assert_eq!(project.run(&["enter", "code-review"]).code, 0);
    let line = next();
    assert!(line.contains("  enter code-review · "), "{line}");
    drop(lines);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr), (0, String::new()));
}
