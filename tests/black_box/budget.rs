//! What reviews may cost, in money, reviews and minutes, and how often they may fail.

use std::fs;

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
                .taskie/config.json to continue. (`! taskie skip` moves on to complete-task without another review.)";
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

/// A review that fails and costs money, or that may have done so.
fn failing(dollars: Option<f64>) -> Reviewer {
    let stdout = json!({ "is_error": true, "total_cost_usd": dollars, "errors": ["no network"] });
    Reviewer::fail().exits(1).prints(stdout.to_string())
}

const FAILED_OUT: &str = "No further review starts by itself: fix the cause, and `! taskie next --retry` makes the next stop try again.";

#[test]
fn failures_in_a_row_are_bounded() {
    let project = Project::in_state(json!({}));
    project.reviewer(&failing(Some(0.42)));
    let failed = "Review failed: `claude` exited with code 1: no network.";
    for _ in 0..2 {
        let said = message(&project.stop());
        assert_eq!(
            said,
            format!("{failed} The next stop tries again: ask the agent to go on.")
        );
    }
    let said = message(&project.stop());
    assert_eq!(said, format!("{failed} {FAILED_OUT}"));
    let over = format!(
        "The last 3 reviews failed: `claude` exited with code 1: no network. {FAILED_OUT} (`! taskie skip` moves on to \
         complete-task without another review.)"
    );
    for _ in 0..7 {
        let ran = project.stop();
        assert_eq!(
            (message(&ran), &ran.json()["decision"]),
            (over.clone(), &json!(null))
        );
    }
    assert_eq!(project.calls().len(), 3);
    let next = project.run(&["next"]).stdout;
    assert!(
        next.starts_with(&format!("next: ask\nwhy:  {over}\n")),
        "{next}"
    );
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("The last 3 reviews failed"), "{status}");

    assert_eq!(project.run(&["next", "--retry"]).code, 0);
    let said = message(&project.stop());
    assert_eq!(
        said,
        format!("{failed} The next stop tries again: ask the agent to go on.")
    );
    // One that succeeds ends the row.
    review(&project, &Reviewer::fail());
    project.reviewer(&failing(None));
    for _ in 0..5 {
        project.stop();
    }
    assert_eq!(project.calls().len(), 3 + 1 + 1 + 3);
    project.set_for_all(&json!({ "max_failures": null }));
    project.stop();
    assert_eq!(project.calls().len(), 3 + 1 + 1 + 4);
    project.set(&json!({ "max_failures": 1 }));
    let said = message(&project.stop());
    assert!(
        said.starts_with("The last review failed: `claude`"),
        "{said}"
    );
}

/// Nothing is lost where no reviewer was started.
#[test]
fn failures_without_a_reviewer_are_not_bounded() {
    let project = Project::in_state(json!({}));
    for _ in 0..5 {
        let said = message(&project.stop());
        assert!(
            said.ends_with("The next stop tries again: ask the agent to go on."),
            "{said}"
        );
    }
}

#[test]
fn a_plan_pauses_after_its_reviews_and_minutes() {
    let project = Project::in_state(json!({}));
    project.set(&json!({ "max_reviews_total": 3 }));
    project.reviewer(&failing(None));
    project.stop();
    review(&project, &Reviewer::fail());
    review(&project, &Reviewer::fail());
    let said = message(&project.stop());
    let skip = "in .taskie/config.json to continue. (`! taskie skip` moves on to complete-task without another review.)";
    let over = format!(
        "Plan '{PLAN}' has had all of its 3 reviews, failed ones included. Raise `max_reviews_total` {skip}"
    );
    assert_eq!((said, project.calls().len()), (over, 3));

    // A review that took a minute: the journal says so.
    project.set(&json!({ "max_minutes": 1 }));
    project.set_state(json!({ "phase_iteration": 2, "phase": "post-code-review" }));
    let journal = project.lock_file("journal");
    let text = fs::read_to_string(&journal).unwrap();
    let last = text.rfind("\"seconds\":0").unwrap();
    fs::write(
        &journal,
        format!("{}\"seconds\":60{}", &text[..last], &text[last + 11..]),
    )
    .unwrap();
    let said = message(&project.stop());
    let over = format!(
        "The reviews of plan '{PLAN}' have taken a minute, which is the limit. Raise `max_minutes` {skip}"
    );
    assert_eq!((said, project.calls().len()), (over, 3));
}

/// A budget in dollars cannot hold with a reviewer that reports no cost.
#[test]
fn a_review_without_a_cost_says_what_can_hold() {
    let unpriced = "The reviewer reported no cost, so a budget in dollars cannot hold: the settings `max_reviews_total` and \
                    `max_minutes` can.";
    for (settings, dollars, is_said) in [
        (json!({ "max_cost_usd": 5 }), None, true),
        (json!({ "max_cost_usd_cycle": 5 }), None, true),
        (json!({ "max_cost_usd": 5 }), Some(0.1), false),
        (json!({ "max_cost_usd": 5, "max_minutes": 60 }), None, false),
        (json!({}), None, false),
    ] {
        for reviewer in [priced("FAIL", dollars), failing(dollars)] {
            let project = Project::in_state(json!({}));
            project.set(&settings);
            project.reviewer(&reviewer);
            let said = project.stop().message();
            assert_eq!(said.contains(unpriced), is_said, "{settings}: {said}");
        }
    }
}
