//! Suite 5: the exact message with which a block sends the agent to answer a review. At its end, the agent runs
//! `taskie enter` and does not edit `state.json`.

use serde_json::{Value, json};

use crate::expected::{plan_in, review};
use crate::support::{Project, Ran, Reviewer, blocked, state};

const CODE: &str = "A code review (iteration 3) has been written to .taskie/plans/test-plan/task-2-review-3.md by an \
independent reviewer. Read this review file and perform the post-code-review action: address all issues, update the \
code, then create .taskie/plans/test-plan/task-2-post-review-3.md documenting your fixes. `/taskie:post-code-review` \
has the steps. Skip a suggestion that would remove working functionality, and say so in the post-review file. Update \
tasks.md, commit and push to remote. If there is no remote, skip the push and say so. Do not push to the default \
branch of the remote unless the user asked for that. As the last step, AFTER completing all post-review work and \
writing the post-review file, run `taskie enter post-code-review --plan test-plan`: it updates state.json atomically \
(phase \"post-code-review\", next_phase \"code-review\", all other fields unchanged). Do not edit state.json \
yourself. (User: Esc, then `! taskie pause`, stops the review loop.)";

/// The whole answer to a stop at which a review is due.
fn answer(before: Value) -> Ran {
    plan_in(&before, &Reviewer::fail()).stop()
}

fn blocks(ran: &Ran, reason: &str) {
    assert_eq!(ran.json(), blocked(reason));
    assert_eq!(ran.err(), (0, ""));
}

fn plan_review() -> Value {
    json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null })
}

#[test]
fn t01_code_review() {
    blocks(&answer(json!({ "current_task": "2", "phase_iteration": 2 })), CODE);
    assert_eq!(review("code-review", 3).of_task("2").block(), CODE);
}

#[test]
fn t02_plan_review() {
    blocks(&answer(plan_review()), &review("plan-review", 1).block());
}

#[test]
fn t03_tasks_review() {
    let before =
        json!({ "phase": "post-tasks-review", "next_phase": "tasks-review", "phase_iteration": 1 });
    blocks(&answer(before), &review("tasks-review", 2).block());
}

#[test]
fn t04_all_code_review() {
    blocks(
        &answer(json!({ "next_phase": "all-code-review" })),
        &review("all-code-review", 1).block(),
    );
}

#[test]
fn t05_names_the_plan() {
    let project = Project::empty();
    let plan = project.root.join(".taskie/plans/payments.v2");
    std::fs::create_dir_all(&plan).unwrap();
    std::fs::write(plan.join("plan.md"), "# Plan\n").unwrap();
    std::fs::write(plan.join("state.json"), state(plan_review()).to_string()).unwrap();
    project.reviewer(&Reviewer::fail());
    let reason = review("plan-review", 1).block().replace("test-plan", "payments.v2");
    blocks(&project.stop(), &reason);
    assert!(plan.join("plan-review-1.md").is_file());
}

// One object on one line and nothing else, with a space after each colon for scripts that grep.
#[test]
fn t06_is_json() {
    let stdout = answer(json!({ "current_task": "2", "phase_iteration": 2 })).stdout;
    let reason = Value::from(CODE);
    assert_eq!(stdout, format!("{{\"decision\": \"block\", \"reason\": {reason}}}\n"));
}
