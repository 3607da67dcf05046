//! Suite 2: whether a stop runs a review, and what it answers after one.

use serde_json::json;

use crate::expected::{Expected, VALID, blocks, check, goes_through, passes, review, rows};
use crate::support::{Project, Reviewer};

const WAYS_OUT: &str = "The cycle has not passed: 0 of 2 clean in a row. \
                        `! taskie limit N` allows more; `! taskie skip` moves on to complete-task.";
const LIMIT: &str = "Edit state.json to adjust max_reviews or set next_phase manually.";

/// The limit is reached: no review runs, and the message says how to continue.
fn limit_of(max_reviews: u32) {
    goes_through(
        json!({ "phase": "post-code-review", "phase_iteration": max_reviews, "max_reviews": max_reviews }),
        &format!(
            "{WAYS_OUT} Max review limit ({max_reviews}) reached for code-review. {LIMIT}\n{VALID}"
        ),
    );
}

rows! {
    t01_code_review => blocks(
        json!({ "phase": "next-task", "next_phase": "code-review" }), Reviewer::fail(), review("code-review", 1),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet" }));
    t02_plan_review => blocks(
        json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null }), Reviewer::fail(), review("plan-review", 1),
        json!({ "phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 1, "review_model": "sonnet" }));
    t03_tasks_review => blocks(
        json!({ "phase": "create-tasks", "next_phase": "tasks-review", "current_task": null }), Reviewer::fail(), review("tasks-review", 1),
        json!({ "phase": "tasks-review", "next_phase": "post-tasks-review", "phase_iteration": 1, "review_model": "sonnet" }));

    t04_standalone => goes_through(json!({ "phase": "next-task", "next_phase": null }), VALID);
    t05_post_review_is_the_agents => goes_through(
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }), VALID);
    t06_limit => limit_of(8);
    t07_limit_of_the_user => limit_of(3);
    t10_next_is_complete_task => goes_through(json!({ "phase": "post-code-review", "next_phase": "complete-task" }), VALID);
    t11_next_is_create_tasks => goes_through(
        json!({ "phase": "post-plan-review", "next_phase": "create-tasks", "current_task": null }), VALID);

    t12_all_code_review => blocks(
        json!({ "phase": "post-code-review", "next_phase": "all-code-review" }), Reviewer::fail(), review("all-code-review", 1),
        json!({ "phase": "all-code-review", "next_phase": "post-all-code-review", "phase_iteration": 1, "review_model": "sonnet" }));
    t13_one_clean_review_is_not_enough => blocks(
        json!({ "consecutive_clean": 0 }), Reviewer::pass(), review("code-review", 1).clean(),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 1 }));
    t14_two_clean_reviews_are => passes(
        json!({ "consecutive_clean": 1 }), review("code-review", 1), "complete-task",
        json!({ "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 2 }));
    t15_an_issue_restarts_the_count => blocks(
        json!({ "consecutive_clean": 1 }), Reviewer::fail(), review("code-review", 1),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet", "consecutive_clean": 0 }));
}

#[test]
fn t08_no_state_json() {
    let project = Project::valid();
    project.reviewer(&Reviewer::fail());
    check(&project, Expected::allow(VALID));
}

#[test]
fn t09_malformed_state_json() {
    for (text, why) in [
        ("not json", "it is not valid JSON: expected ident at line 1 column 2"),
        ("\"not json\"", "it contains \"not json\", not an object"),
    ] {
        let project = Project::valid();
        project.write("state.json", text);
        project.reviewer(&Reviewer::fail());
        let warning = format!(
            ".taskie/plans/test-plan/state.json: {why}. No review of this plan runs and nothing is written until it is fixed."
        );
        let expected =
            Expected::allow(&format!("{warning}\n{VALID}")).stderr(&format!("taskie: {warning}\n"));
        check(&project, expected);
    }
}
