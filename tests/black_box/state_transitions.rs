//! Suite 3: how a review changes `state.json`.

use std::fs;

use serde_json::{Value, json};

use crate::expected::{Expected, blocks, check, passes, plan_in, review, rows, tasks};
use crate::support::Reviewer;

/// A code review that finds issues, with these fields in the state: how it changes them.
fn code_review(n: u32, before: Value, after: Value) {
    let mut changes =
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": n });
    changes.as_object_mut().unwrap().extend(after.as_object().unwrap().clone());
    blocks(before, Reviewer::fail(), review("code-review", n), changes);
}

rows! {
    t01_code_review => blocks(
        json!({ "phase": "next-task", "next_phase": "code-review", "phase_iteration": 0, "review_model": "opus", "current_task": "1", "consecutive_clean": 0 }),
        Reviewer::fail(), review("code-review", 1),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet", "current_task": "1", "consecutive_clean": 0 }));
    t02_plan_review => blocks(
        json!({ "phase": "new-plan", "next_phase": "plan-review", "phase_iteration": 0, "review_model": "opus", "current_task": null, "consecutive_clean": 0 }),
        Reviewer::fail(), review("plan-review", 1),
        json!({ "phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 1, "review_model": "sonnet", "current_task": null, "consecutive_clean": 0 }));
    t03_tasks_review => blocks(
        json!({ "phase": "create-tasks", "next_phase": "tasks-review", "phase_iteration": 0, "review_model": "opus", "consecutive_clean": 0 }),
        Reviewer::fail(), review("tasks-review", 1),
        json!({ "phase": "tasks-review", "next_phase": "post-tasks-review", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 0 }));

    t04_opus_then_sonnet => code_review(1, json!({ "review_model": "opus", "phase_iteration": 0 }), json!({ "review_model": "sonnet" }));
    t05_sonnet_then_opus => code_review(2, json!({ "review_model": "sonnet", "phase_iteration": 1 }), json!({ "review_model": "opus" }));
    t06_iteration => code_review(5, json!({ "phase_iteration": 4 }), json!({ "phase_iteration": 5, "review_model": "sonnet" }));
    t07_max_reviews_stays => code_review(1, json!({ "max_reviews": 5 }), json!({ "max_reviews": 5, "review_model": "sonnet" }));
    t09_clean_is_counted => blocks(
        json!({ "consecutive_clean": 0 }), Reviewer::pass(), review("code-review", 1).clean(),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 1 }));
    t10_an_issue_restarts_the_count => code_review(
        1, json!({ "consecutive_clean": 1 }), json!({ "consecutive_clean": 0, "review_model": "sonnet" }));

    t11_code_review_leads_to_complete_task => passes(
        json!({ "consecutive_clean": 1, "next_phase": "code-review", "tdd": false }), review("code-review", 1), "complete-task",
        json!({ "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 2 }));
    t12_plan_review_leads_to_create_tasks => passes(
        json!({ "consecutive_clean": 1, "next_phase": "plan-review" }), review("plan-review", 1), "create-tasks",
        json!({ "phase": "plan-review", "next_phase": "create-tasks", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 2 }));
    t13_tasks_review_leads_to_complete_task => passes(
        json!({ "consecutive_clean": 1, "next_phase": "tasks-review", "tdd": false }), review("tasks-review", 1), "complete-task",
        json!({ "phase": "tasks-review", "next_phase": "complete-task", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 2 }));
    t14_all_code_review_leads_to_complete => passes(
        json!({ "consecutive_clean": 1, "next_phase": "all-code-review" }), review("all-code-review", 1), "complete",
        json!({ "phase": "all-code-review", "next_phase": "complete", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 2 }));
    t15_all_fields_are_written => passes(
        json!({ "consecutive_clean": 1, "phase_iteration": 3, "review_model": "opus" }), review("code-review", 4), "complete-task",
        json!({ "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 4, "review_model": "sonnet", "consecutive_clean": 2 }));

    // The table names the variants for `tdd = false` only.
    code_review_leads_to_complete_task_tdd => passes(
        json!({ "consecutive_clean": 1, "tdd": true }), review("code-review", 1), "complete-task-tdd",
        json!({ "phase": "code-review", "next_phase": "complete-task-tdd", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 2 }));
    tasks_review_leads_to_complete_task_tdd => passes(
        json!({ "consecutive_clean": 1, "next_phase": "tasks-review", "tdd": true }), review("tasks-review", 1), "complete-task-tdd",
        json!({ "phase": "tasks-review", "next_phase": "complete-task-tdd", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 2 }));
}

// No field is missing afterwards, even if one was missing before, and the file is replaced in one step, not
// overwritten: a process that has the old file open reads the old state to its end.
#[test]
fn t16_atomic_write() {
    let before = r#"{"phase": "complete-task", "next_phase": "code-review", "current_task": "1", "mine": [1]}"#;
    let project = plan_in(&json!({}), &Reviewer::fail());
    project.write("state.json", before);
    let held = project.bin.join("held");
    fs::hard_link(project.plan().join("state.json"), &held).unwrap();
    let review = review("code-review", 1);
    let warning = ".taskie/plans/test-plan/state.json lacks `review_model`, `max_reviews`, `consecutive_clean`, `tdd`: \
                   the defaults are used.";
    let after = r#"{
  "phase": "code-review",
  "next_phase": "post-code-review",
  "current_task": "1",
  "mine": [1],
  "review_model": "sonnet",
  "max_reviews": 8,
  "consecutive_clean": 0,
  "tdd": false,
  "phase_iteration": 1
}
"#;
    let expected = Expected::block_and_tell(&review.block(), warning)
        .stderr(&format!("taskie: {warning}\n"))
        .review(&review, "opus")
        .file("state.json", after);
    check(&project, expected);
    assert_eq!(fs::read_to_string(held).unwrap(), before);
}

// With no task left, the final review is due, and it starts over: the counters and the model.
#[test]
fn the_last_code_review_leads_to_all_code_review() {
    for last in ["done", "Cancelled", "**postponed**"] {
        let before =
            json!({ "consecutive_clean": 1, "phase_iteration": 4, "review_model": "sonnet" });
        let project = plan_in(&before, &Reviewer::pass());
        project.write("tasks.md", tasks(&[("1", "pending"), ("2", last)]));
        let review = review("code-review", 5);
        let after = json!({
            "phase": "code-review", "next_phase": "all-code-review", "phase_iteration": 0, "review_model": "opus",
            "consecutive_clean": 0,
        });
        check(&project, Expected::passed_by(&review, "sonnet", "all-code-review").state(after));
    }
}
