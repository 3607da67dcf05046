//! `taskie log --follow`. Everything else about the journal is in `tests/transcripts/journal.md`.

use std::io::{BufRead as _, BufReader};

use serde_json::json;

use crate::support::{Project, Ran, Reviewer};

#[test]
fn a_followed_log_shows_new_lines() {
    let project = Project::in_state(json!({ "next_phase": null }));
    project.stop();
    let mut child = project.command(["log", "--follow"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().ends_with(" UTC"));
    let line = next();
    assert!(line.ends_with("Stop allowed: the plan's files are in order"), "{line}");
    assert_eq!(project.run(&["enter", "code-review"]).code, 0);
    let line = next();
    assert!(line.contains("  enter code-review · "), "{line}");
    drop(lines);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr), (0, String::new()));
}

/// An allowed stop that ends the loop names the rule that ends it.
#[test]
fn the_log_says_why_the_loop_ended() {
    let last = |project: &Project| {
        project.stop();
        let log = project.run(&["log"]).stdout;
        log[log.find("Stop allowed").unwrap()..].replace("\n          ", " ")
    };
    let full = json!({ "phase": "post-code-review", "phase_iteration": 2, "max_reviews": 2 });
    assert_eq!(
        last(&Project::in_state(full)),
        "Stop allowed: the limit or a budget is reached, or nothing changes: the user decides; the plan's files are in \
         order · your turn: the limit of reviews is reached\n"
    );
    let project = Project::in_state(json!({}));
    project.reviewer(&Reviewer::pass().exits(1));
    assert_eq!(
        last(&project),
        "Stop allowed: the review failed: it does not count; the plan's files are in order · \
         your turn: the code-review failed\n"
    );
}
