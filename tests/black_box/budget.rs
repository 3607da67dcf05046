//! What reviews may cost: for a plan, for a cycle, for one review.

use serde_json::json;

use crate::support::{PLAN, Project, Ran, Reviewer, state};

fn priced(verdict: &'static str, dollars: Option<f64>) -> Reviewer {
    let stdout = json!({
        "is_error": false, "total_cost_usd": dollars, "structured_output": { "verdict": verdict },
    });
    Reviewer::of(verdict).prints(stdout.to_string())
}

fn message(ran: &Ran) -> String {
    let message = ran.message();
    message.lines().next().unwrap_or_default().to_owned()
}

/// The review that is due runs, and is answered.
fn review(project: &Project, reviewer: &Reviewer) {
    let n = project.state()["phase_iteration"].as_u64().unwrap() + 1;
    project.reviewer(reviewer);
    assert_eq!(project.stop().json()["decision"], "block", "{n}");
    project.write(&format!("task-1-post-review-{n}.md"), "answered\n");
    assert_eq!(project.run(&["enter", "post-code-review"]).code, 0);
}

#[test]
fn a_cycle_pauses_at_its_budget() {
    let project = Project::in_state(json!({}));
    project.set(&json!({ "max_cost_usd_cycle": 2 }));
    review(&project, &priced("FAIL", Some(1.5)));
    review(&project, &priced("FAIL", Some(0.49)));
    // The one that uses it up counts.
    review(&project, &priced("FAIL", Some(0.01)));
    let over = "The code-reviews of this cycle cost $2.00, and the budget is $2. Raise `max_cost_usd_cycle` in \
                .taskie/config.json to continue. (`taskie run skip` moves on to complete-task without another review.)";
    let before = project.state();
    assert_eq!(message(&project.stop()), over);
    assert_eq!((project.calls().len(), project.state()), (3, before));
    let next = project.run(&["next"]).stdout;
    assert!(
        next.starts_with(&format!("next: ask\nwhy:  {over}\n")),
        "{next}"
    );
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("it cost $2.00 so far"), "{status}");
    project.set(&json!({ "max_cost_usd_cycle": 3 }));
    review(&project, &priced("FAIL", Some(0.5)));
    // Another task's cycle has its own.
    project.set_state(json!({ "current_task": "2" }));
    project.set(&json!({ "max_cost_usd_cycle": 1 }));
    assert_eq!(project.stop().json()["decision"], "block");
    assert_eq!(project.calls().len(), 5);
}

#[test]
fn a_plan_pauses_at_its_budget_whatever_is_unknown() {
    let project = Project::in_state(json!({}));
    project.set(&json!({ "max_cost_usd": 1, "max_cost_usd_cycle": 9 }));
    review(&project, &priced("FAIL", None));
    review(&project, &priced("PASS", Some(0.5)));
    review(
        &project,
        &Reviewer::fail().prints("{\"result\":{\"verdict\":\"FAIL\"}}"),
    );
    project.set_state(json!({ "current_task": "2" }));
    project.reviewer(&priced("FAIL", Some(0.5)));
    assert_eq!(project.stop().json()["decision"], "block");
    project.set_state(json!({ "current_task": "2" }));
    let over = format!(
        "The reviews of plan '{PLAN}' cost $1.00 + 2 unknown, and the budget is $1. Raise `max_cost_usd` in \
         .taskie/config.json to continue."
    );
    let said = message(&project.stop());
    assert!(said.starts_with(&over), "{said}");
    // The user goes on without.
    assert_eq!(project.run(&["run", "skip"]).code, 0);
    assert_eq!(project.state()["next_phase"], "complete-task");
}

/// A review that fails over the budget is reported as what it is, and the budget after it.
#[test]
fn a_review_has_a_cap() {
    let project = Project::in_state(json!({}));
    project.set(&json!({ "max_cost_usd_review": 1, "max_cost_usd": 1 }));
    let error = "Reached maximum budget ($1)";
    let stdout = json!({ "is_error": true, "total_cost_usd": 1.2, "errors": [error] });
    project.reviewer(&Reviewer::fail().exits(1).prints(stdout.to_string()));
    let ran = project.stop();
    let call = &project.calls()[0];
    let at = call
        .iter()
        .position(|arg| arg == "--max-budget-usd")
        .unwrap();
    assert_eq!(call[at + 1], "1");
    assert!(
        message(&ran).contains("Reached maximum budget ($1)"),
        "{}",
        ran.stdout
    );
    assert!(message(&project.stop()).starts_with("The reviews of plan"));
    assert_eq!(project.state(), state(json!({})));
    project.set(&json!({ "max_cost_usd": 0 }));
    let said = project.stop().message();
    assert!(said.contains("max_cost_usd"), "{said}");
    assert_eq!(project.calls().len(), 1);
    project.set(&json!({}));
    project.reviewer(&Reviewer::fail());
    project.stop();
    assert!(!project.calls()[1].contains(&"--max-budget-usd".to_owned()));
}
