//! Suite 6: unusual plans and states, and whole loops of several stops.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::expected::{
    Expected, VALID, blocks, check, check_run, goes_through, plan_in, review, rows,
};
use crate::support::{PLAN, Project, Reviewer, nobodys, set_modified, state};

// The plan that was modified last is checked; its Markdown files and its state count.
#[test]
fn t01_newest_of_several_plans() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let other = project.root.join(".taskie/plans/other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("state.json"), state(json!({ "next_phase": null })).to_string()).unwrap();
    fs::write(other.join("flawed.md"), "").unwrap();
    fs::write(other.join("notes.txt"), "").unwrap();
    let start = SystemTime::now() - Duration::from_secs(1000);
    for entry in [&project.plan(), &other].into_iter().flat_map(|plan| fs::read_dir(plan).unwrap())
    {
        set_modified(entry.unwrap().path(), start);
    }
    let minute = |n: u64| start + Duration::from_secs(60 * n);
    let flaws = || {
        Expected::block("Plan 'other': Missing required file: plan.md; Invalid filename: flawed.md")
    };

    set_modified(other.join("state.json"), minute(1));
    check(&project, flaws());
    set_modified(other.join("state.json"), start);
    set_modified(other.join("notes.txt"), minute(3));
    set_modified(project.plan().join("task-2.md"), minute(2));
    let review = review("code-review", 1);
    check(&project, Expected::blocked_by(&review, "opus").state(review.after("sonnet")));
    set_modified(other.join("flawed.md"), SystemTime::now() + Duration::from_secs(60));
    check(&project, flaws());
}

rows! {
    t02_unknown_fields_stay => blocks(
        json!({ "custom_field": 42, "$schema": "x", "nested": { "b": [1, null], "a": "ä" } }), Reviewer::fail(), review("code-review", 1),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet" }));
    t03_iteration_null => goes_through(json!({ "phase": "next-task", "phase_iteration": null, "next_phase": null }), VALID);
    t04_other_model => blocks(
        json!({ "review_model": "haiku" }), Reviewer::fail(), review("code-review", 1),
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "opus" }));
}

// A plan review that is already due finds no plan to read: it fails, and the structure checks still block.
#[test]
fn t05_state_json_before_plan_md() {
    let flaw = "Plan 'test-plan': Missing required file: plan.md";
    let why = ".taskie/plans/test-plan/plan.md does not exist";
    let failure = format!("Review failed: {why}. The next stop tries again.");
    for (next, expected) in [
        (Value::Null, Expected::block(flaw)),
        (
            json!("plan-review"),
            Expected::block_and_tell(flaw, &failure)
                .stderr(&format!("taskie: the review failed: {why}\n")),
        ),
    ] {
        let project = Project::with(&[]);
        project.set_state(json!({ "phase": "new-plan", "next_phase": next, "current_task": null }));
        project.reviewer(&Reviewer::fail());
        check(&project, expected);
    }
}

#[test]
fn t06_review_goes_before_structure() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    project.write("nested/extra.md", "");
    let review = review("code-review", 1);
    check(&project, Expected::blocked_by(&review, "opus").state(review.after("sonnet")));
    check(&project, Expected::block("Plan 'test-plan': Files found in nested directories"));
}

#[test]
fn t07_no_plan_at_all() {
    let project = Project::empty();
    fs::create_dir_all(project.root.join(".taskie/plans")).unwrap();
    project.reviewer(&Reviewer::fail());
    check(&project, Expected::silent());
}

// The count becomes 0 whatever it was, and the structure is not checked.
#[test]
fn t08_reviews_are_off() {
    for (tdd, iteration, next) in [(false, 0, "complete-task"), (true, 3, "complete-task-tdd")] {
        let project = plan_in(
            &json!({ "max_reviews": 0, "phase_iteration": iteration, "tdd": tdd }),
            &Reviewer::fail(),
        );
        project.write("nested/extra.md", "");
        let message = format!(
            "Reviews are off (max_reviews is 0). Run /taskie:continue-plan to proceed (next: {next})."
        );
        let after = json!({ "phase": "code-review", "next_phase": next, "phase_iteration": 0 });
        check(&project, Expected::allow(&message).state(after));
    }
}

#[test]
fn t09_plan_without_state_json() {
    let project = Project::with(&[
        ("plan.md", "# Plan\n"),
        ("tasks.md", "| Id | Status |\n|---|---|\n| 1 | pending |\n"),
    ]);
    project.reviewer(&Reviewer::fail());
    check(&project, Expected::allow(VALID));
}

/// What the agent does about code review `n`: it writes the answer and then, last of all, enters the phase.
fn post_review(project: &Project, n: u32) {
    project.write(&format!("task-1-post-review-{n}.md"), "# Fixed\n");
    let ran = project.run(&["enter", "post-code-review", "--plan", PLAN]);
    let said =
        format!("Entered post-code-review in plan 'test-plan'.\n{}\n", nobodys("code-review"));
    assert_eq!(ran.all(), (0, said.as_str(), ""));
}

// From the second stop of a turn on, stop_hook_active is set: a review that is due runs nevertheless.
#[test]
fn t10_models_alternate() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    for (n, model, next_model) in
        [(1, "opus", "sonnet"), (2, "sonnet", "opus"), (3, "opus", "sonnet"), (4, "sonnet", "opus")]
    {
        let review = review("code-review", n);
        let expected = Expected::blocked_by(&review, model).state(review.after(next_model));
        check_run(&project, expected, |project| project.stop_active(n > 1));
        post_review(&project, n);
    }
}

#[test]
fn t11_two_clean_reviews() {
    let project = plan_in(&json!({}), &Reviewer::pass());
    let (first, second) = (review("code-review", 1).clean(), review("code-review", 2));
    let after = json!({
        "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1, "review_model": "sonnet",
        "consecutive_clean": 1,
    });
    check(&project, Expected::blocked_by(&first, "opus").state(after));
    post_review(&project, 1);
    let after = json!({
        "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 2, "review_model": "opus",
        "consecutive_clean": 2,
    });
    let expected = Expected::passed_by(&second, "sonnet", "complete-task").state(after);
    check_run(&project, expected, |project| project.stop_active(true));
    check_run(&project, Expected::silent(), |project| project.stop_active(true));
}

// The review is the only new file in the plan's folder: no temporary file, no lock, no log.
#[test]
fn t12_no_files_left_behind() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    assert_eq!(project.stop().code, 0);
    let names =
        ["plan.md", "state.json", "task-1-review-1.md", "task-1.md", "task-2.md", "tasks.md"];
    assert_eq!(project.names(), names);
}

#[test]
fn git_ignores_the_notes_of_a_machine_again_when_its_ignore_file_was_lost() {
    let project = Project::in_state(json!({}));
    let locks = project.root.join(".taskie/.locks");
    fs::create_dir_all(&locks).unwrap();
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    assert_eq!(fs::read_to_string(locks.join(".gitignore")).unwrap(), "*\n");
    // Whatever somebody has put there is left as it is, especially a link that leads out of the project.
    fs::write(locks.join(".gitignore"), "*.state\n").unwrap();
    project.set_state(json!({}));
    assert_eq!(project.stop().json()["decision"], "block");
    let kept = fs::read_to_string(locks.join(".gitignore")).unwrap();
    assert_eq!(kept, "*.state\n");
    fs::remove_file(locks.join(".gitignore")).unwrap();
    let outside = project.bin.join("outside");
    std::os::unix::fs::symlink(&outside, locks.join(".gitignore")).unwrap();
    project.set_state(json!({}));
    assert_eq!(project.stop().json()["decision"], "block");
    assert!(!outside.exists());
}
