//! A usage limit or an outage: no stop starts a reviewer until it is over.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Reviewer};

/// A reviewer that cannot work, in the words of the real client.
fn limited(status: u16, result: &str) -> Reviewer {
    let stdout = json!({ "is_error": true, "api_error_status": status, "result": result, "total_cost_usd": 0 });
    Reviewer::fail().exits(1).prints(stdout.to_string())
}

/// Returns until when a message says that reviews are postponed.
fn until(message: &str) -> &str {
    let (_, rest) = message.split_once("postponed until ").unwrap();
    rest.split_once(" UTC").unwrap().0
}

#[test]
fn nothing_is_started_for_a_while_after_a_limit() {
    let project = Project::in_state(json!({}));
    let limit = "You've hit your 5-hour limit · resets 6:23pm (Europe/Berlin)";
    project.reviewer(&limited(429, limit));
    let before = project.read("state.json");
    let failed = project.stop().message();
    let until = format!("{} UTC", until(&failed));
    assert_eq!(
        failed.lines().next().unwrap(),
        format!(
            "Review failed: `claude` exited with code 1: {limit}. \
             It is postponed until {until}: the first stop after that tries again. \
             (`! taskie next --retry` makes the next stop try again.)"
        )
    );
    project.reviewer(&Reviewer::pass());
    let postponed = format!("The code-review is postponed until {until}: ");
    for active in [false, true] {
        let ran = project.stop_active(active);
        assert_eq!(
            ran.message(),
            format!(
                "{postponed}the first stop after that runs it. (`! taskie next --retry` makes the next stop try again.)"
            )
        );
    }
    // What limits one plan limits them all.
    std::fs::create_dir_all(project.root.join(".taskie/plans/other")).unwrap();
    for name in ["plan.md", "tasks.md", "task-1.md", "task-2.md", "state.json"] {
        std::fs::write(project.root.join(".taskie/plans/other").join(name), project.read(name))
            .unwrap();
    }
    assert!(project.stop().message().starts_with(&postponed));
    assert_eq!(project.calls().len(), 1);
    assert_eq!(project.read("state.json"), before);

    let next = project.run(&["next", "--plan", PLAN]).stdout;
    assert!(
        next.starts_with(&format!(
            "next: stop\nwhy:  The code-review is postponed until {until}. The first stop after that runs it; \
             `taskie next --retry` makes the next stop try again."
        )),
        "{next}"
    );
    let status: Value =
        serde_json::from_str(&project.run(&["status", "--plan", PLAN, "--json"]).stdout).unwrap();
    assert_eq!((&status["stop"]["does"], &status["waits_for"]), (&json!("allow"), &json!("user")));
    assert!(status["stop"]["text"].as_str().unwrap().contains(&postponed), "{status}");
    let log = project.run(&["log", "--plan", PLAN]).stdout;
    assert!(log.contains("a review is due, but has to wait"), "{log}");
    let log = project.run(&["log", "--plan", PLAN, "--json"]).stdout;
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert!(
        first["until"].as_str().unwrap().replace('T', " ").replace('Z', " UTC") == until,
        "{first}"
    );

    let next = project.run(&["next", "--plan", PLAN, "--retry"]).stdout;
    assert!(next.contains("Nothing is left to do before the next code-review"), "{next}");
    project.stop();
    assert_eq!(project.calls().len(), 2);
}

#[test]
fn an_outage_is_over_soon() {
    let project = Project::in_state(json!({}));
    project.reviewer(&limited(529, "API Error: 529 Overloaded"));
    let start = SystemTime::now();
    assert!(project.stop().message().contains(". It is postponed until "));
    project.reviewer(&Reviewer::fail());
    let message = project.stop().message();
    assert!(message.starts_with("The code-review is postponed until "));
    assert_eq!(project.calls().len(), 1);
    let journal = project.root.join(".taskie/.locks/.home.jsonl");
    let journal = std::fs::read_to_string(journal).unwrap();
    let line: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
    let until = UNIX_EPOCH + Duration::from_secs(line["until"].as_u64().unwrap());
    let wait = until.duration_since(start).unwrap().as_secs();
    assert!((299..330).contains(&wait), "{wait}");
}

/// A record that came with the project says nothing, nor does a failure of another kind.
#[test]
fn only_what_this_machine_has_seen_counts() {
    let project = Project::in_state(json!({}));
    let locks = project.root.join(".taskie/.locks");
    std::fs::create_dir_all(&locks).unwrap();
    let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 60;
    let forged = json!({
        "at": "2026-01-01T00:00:00.000Z", "instance": ".home",
        "line": "postponed", "by": "claude", "until": soon,
    });
    std::fs::write(locks.join(".home.jsonl"), format!("{{\"inode\":1}}\n{forged}")).unwrap();
    project.reviewer(&limited(401, "Invalid API key"));
    let failed = project.stop().message();
    assert!(failed.contains("The next stop tries again: ask the agent to go on."), "{failed}");
    project.stop();
    assert_eq!(project.calls().len(), 2);
}
