//! Suite 4: how the reviewer is called, what it is asked to read, and what happens if it fails. The whole command line
//! is compared in every row, so each row uses a different review.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::expected::{
    Expected, Review, VALID, blocks, check, check_run, plan_in, review, rows, tasks,
};
use crate::support::{Project, Reviewer, cases, feed};

/// The log of a code review's first run, which is kept if the run fails.
const LOG: &str = "; its log is .taskie/.locks/test-plan.log";

/// A review that is due with these fields in the state, by the model that they name; it finds issues.
fn called(before: Value, next_model: &str, review: Review) {
    let after = review.after(next_model);
    blocks(before, Reviewer::fail(), review, after);
}

/// A failed review is reported, `state.json` stays the same, and the structure checks decide about the stop.
fn failed(why: &str) -> Expected {
    Expected::allow(&format!(
        "Review failed: {why}. The next stop tries again: ask the agent to go on.\n{VALID}"
    ))
    .stderr(&format!("taskie: the review failed: {why}\n"))
}

rows! {
    t01_model_opus => called(json!({ "review_model": "opus" }), "sonnet", review("code-review", 1));
    t02_model_sonnet => called(json!({ "review_model": "sonnet" }), "opus", review("code-review", 1));
    t03_permissions => called(
        json!({ "next_phase": "plan-review", "review_model": "sonnet" }), "opus", review("plan-review", 1));
    t04_print => called(
        json!({ "next_phase": "tasks-review", "phase_iteration": 6 }), "sonnet", review("tasks-review", 7));
    t06_plan_review_names_the_plan => called(
        json!({ "next_phase": "plan-review", "current_task": null }), "sonnet", review("plan-review", 1));
    t07_tasks_review_names_the_tasks => called(
        json!({ "next_phase": "tasks-review", "current_task": null }), "sonnet", review("tasks-review", 1));
    t08_all_code_review_names_all => called(
        json!({ "next_phase": "all-code-review", "current_task": "2" }), "sonnet", review("all-code-review", 1).of_task("2"));
    t09_review_file => called(
        json!({ "current_task": "2", "phase_iteration": 2 }), "sonnet", review("code-review", 3).of_task("2"));
    t14_structured_output => called(
        json!({ "next_phase": "all-code-review", "phase_iteration": 7 }), "sonnet", review("all-code-review", 8));
}

#[test]
fn t05_code_review_names_the_task() {
    let project = plan_in(&json!({ "current_task": "3" }), &Reviewer::fail());
    project.write("tasks.md", tasks(&[("1", "done"), ("2", "done"), ("3", "pending")]));
    project.write("task-3.md", "# Task 3\n");
    let review = review("code-review", 1).of_task("3");
    check(&project, Expected::blocked_by(&review, "opus").state(review.after("sonnet")));
}

#[test]
fn t10_no_claude_on_path() {
    let project = Project::in_state(json!({}));
    check_run(&project, failed("`claude` is not on PATH"), |project| {
        let mut command = project.command(["hook", "stop"]);
        command.env("PATH", &project.bin);
        feed(command, "{}")
    });
}

#[test]
fn t11_claude_fails() {
    let unauthorized = include_str!("fixtures/print-api-error-401.2.1.197.json");
    for (stdout, stderr, why) in [
        ("", "first line\nlast line", "`claude` exited with code 1 (last line)"),
        (unauthorized, "", "`claude` exited with code 1: Invalid API key · Fix external API key"),
    ] {
        let reviewer = Reviewer::pass().exits(1).prints(stdout).warns(stderr);
        let review = review("code-review", 1);
        // An empty log is neither mentioned nor kept.
        let log = if stderr.is_empty() { "" } else { LOG };
        let project = plan_in(&json!({}), &reviewer);
        check(&project, failed(&format!("{why}{log}")).review(&review, "opus"));
        let kept = fs::read_to_string(project.root.join(".taskie/.locks/test-plan.log"));
        assert_eq!(kept.ok(), (!stderr.is_empty()).then(|| format!("{stderr}\n")));
    }
}

// A file that existed before does not count: the run has to write it.
#[test]
fn t12_claude_writes_no_review() {
    let reviewer = Reviewer::pass().without_review();
    for left_behind in [None, Some("# An older review\n")] {
        let project = plan_in(&json!({}), &reviewer);
        if let Some(text) = left_behind {
            project.write("task-1-review-1.md", text);
        }
        let why = "`claude` did not write .taskie/plans/test-plan/task-1-review-1.md";
        let call = review("code-review", 1).call("opus");
        check(&project, failed(why).call(call));
    }
}

// The reviewer and its child ignore SIGTERM and hold the writing end of a FIFO, which reaches its end once both are
// gone.
#[test]
fn t13_timeout() {
    let project = plan_in(&json!({}), &Reviewer::pass());
    let alive = project.bin.join("alive");
    assert!(Command::new("mkfifo").arg(&alive).status().unwrap().success());
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut fifo =
        fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(&alive).unwrap();
    let first = format!(
        "trap '' TERM; exec 9> '{}'; sleep 60 & echo started >&9; sleep 60",
        alive.display()
    );
    project.reviewer(&Reviewer::pass().first(first));
    project.set(&json!({ "review_timeout": 1 }));

    let why = "`claude` was killed after 1 second, the limit of `review_timeout`".to_owned();
    let call = review("code-review", 1).call("opus");
    let call = call.iter().map(|word| word.replace("at most 570 seconds", "at most 1 seconds"));
    check_run(&project, failed(&why).call(call.collect()), |project| {
        // On a busy machine, the second may be over before the reviewer has got that far: such a run does not count.
        for _ in 0..20 {
            let ran = project.stop();
            let mut said = String::new();
            // While anyone holds the other end, this is an error, "would block".
            fifo.read_to_string(&mut said).expect("the reviewer and its child are gone");
            if said == "started\n" {
                return ran;
            }
            let _ = fs::remove_file(project.bin.join("calls"));
        }
        panic!("the reviewer never got started");
    });
}

// The list of task files is made from the ids in the table, not from the files in the folder, and each id is compared
// as a whole: 10 is not 1.
#[test]
fn the_task_files_of_the_table() {
    for (cycle, ids, reads) in
        cases::<(&str, Vec<&str>, Vec<&str>)>("cli_invocation", "the_task_files_of_the_table")
    {
        let project = plan_in(&json!({ "next_phase": cycle }), &Reviewer::fail());
        // Tasks that are still open are not part of the last review.
        let status = match cycle {
            "all-code-review" => "done",
            _ => "pending",
        };
        project.write("tasks.md", tasks(&ids.iter().map(|id| (*id, status)).collect::<Vec<_>>()));
        for id in ids.iter().chain(&["4", "11"]) {
            project.write(&format!("task-{id}.md"), "# Task\n");
        }
        let review = review(cycle, 1).reading(reads);
        check(&project, Expected::blocked_by(&review, "opus").state(review.after("sonnet")));
    }
}

// Every row except that of the current task counts as remaining work.
#[test]
fn task_10_is_not_task_1() {
    for (current, rows, next) in [
        ("1", [("1", "pending"), ("10", "pending")], "complete-task"),
        ("10", [("1", "pending"), ("10", "pending")], "complete-task"),
        ("1", [("1", "pending"), ("10", "done")], "all-code-review"),
    ] {
        let before = json!({ "current_task": current, "consecutive_clean": 1 });
        let project = plan_in(&before, &Reviewer::pass());
        project.write("tasks.md", tasks(&rows));
        project.write("task-10.md", "# Task 10\n");
        let review = review("code-review", 1).of_task(current);
        let after = match next {
            "complete-task" => json!({
                "phase": "code-review", "next_phase": next, "phase_iteration": 1, "review_model": "sonnet",
                "consecutive_clean": 2,
            }),
            _ => {
                json!({ "phase": "code-review", "next_phase": next, "phase_iteration": 0, "consecutive_clean": 0 })
            }
        };
        check(&project, Expected::passed_by(&review, "opus", next).state(after));
    }
}

/// `taskie pause` is `taskie run pause`, but a command of the program's own keeps its meaning in every chart.
#[test]
fn a_command_of_a_chart_needs_no_run() {
    let project = Project::valid();
    project.set_state(json!({ "phase": "new-plan", "next_phase": "plan-review" }));
    let next_phase = || project.state()["next_phase"].clone();
    assert_eq!(project.run(&["pause"]).code, 0);
    assert_eq!(next_phase(), json!(null));
    assert_eq!(project.run(&["run", "resume"]).code, 0);
    assert_eq!(next_phase(), "plan-review");
}
