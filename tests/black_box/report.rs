//! `taskie report`, and a large plan in it, in `status` and in `log`.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::support::{PLAN, Project};

const TASKS: usize = 30;

/// A plan of 30 tasks, 24 of them done, after 264 reviews: 8 of the plan, of the tasks, and of each of 31 things reviewed
/// later.
fn large() -> Project {
    let project = Project::in_state(json!({}));
    // A journal of this machine begins with a line that only this machine writes.
    project.run(&["run", "limit", "8"]);
    let mut tasks = "| Id | Status |\n|---|---|\n".to_owned();
    let mut bases = vec![("plan-review", "plan".to_owned()), ("tasks-review", "tasks".to_owned())];
    for task in 1..=TASKS {
        let status = if task <= 24 { "done" } else { "pending" };
        writeln!(tasks, "| {task} | {status} |").unwrap();
        project.write(&format!("task-{task}.md"), "# Task\n");
        bases.push(("code-review", format!("task-{task}")));
    }
    bases.push(("all-code-review", "all-code".to_owned()));
    project.write("tasks.md", tasks);
    let mut journal = String::new();
    for (at, (cycle, base)) in bases.iter().enumerate() {
        for n in 1..=8 {
            let file = format!("{base}-review-{n}.md");
            let text = format!("# Review\n\n- Issue {n} in `{base}` & <more>\n");
            let verdict = if n > 6 { "PASS" } else { "FAIL" };
            let time = format!("2026-01-{:02}T{:02}:00:00.000Z", 1 + at / 3, at % 3 * 8 + n - 1);
            let review = json!({
                "line": "review", "at": time, "instance": PLAN, "cycle": cycle, "n": n, "file": file, "sha256": sha256(&text),
                "verdict": verdict, "error": null, "by": (["opus", "sonnet"][n % 2]), "seconds": 60, "cost": 250_000,
            });
            let decision = json!({
                "line": "decision", "at": time, "instance": PLAN, "event": "Stop", "session": null, "rules": [
                    { "rule": "on.Stop[9]", "about": "the cycle goes on: the agent answers the review", "fired": true }],
                "answer": "block", "changed": { "phase_iteration": [n - 1, n] },
            });
            write!(journal, "\n{review}\n{decision}").unwrap();
            project.write(&file, text);
            project.write(&format!("{base}-post-review-{n}.md"), "Fixed.\n");
        }
    }
    let path = project.lock_file("jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, journal.as_bytes()).unwrap();
    project.set_state(json!({ "current_task": "30", "phase_iteration": 8, "max_reviews": 9 }));
    project
}

/// Returns the hash of a review, as the journal has it.
fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_large_plan_stays_readable() {
    let project = large();
    let before = project.files();
    let status = project.run(&["status"]).stdout;
    assert!(status.lines().count() <= 40, "{status}");
    for part in [
        "progress      24 of 30 tasks done",
        "264 reviews in 4 h 24 min, cost $66.00, 75% found something",
        "code-review: 26 more before these",
        "code-review of task-30: reviews in this cycle 8 of 9, 0 of 2 clean in a row,",
    ] {
        assert!(status.contains(part), "{part}\n{status}");
    }
    let log = project.run(&["log"]).stdout;
    assert!(log.lines().count() < 264 * 3);
    assert!(log.lines().all(|line| line.chars().count() <= 100), "{log}");
    assert!(log.contains("code-review 3 of task-7: FAIL by sonnet in"), "{log}");
    let page = project.run(&["report"]).stdout;
    assert!(page.lines().count() <= 140, "{page}");
    assert_eq!(project.files(), before);
}
