//! Suite 1: the structure of a plan, checked by a stop at which no review is due.

use serde_json::json;

use crate::expected::{Expected, VALID, check, check_run, rows};
use crate::support::{Project, Reviewer, feed, state};

const PLAN_MD: (&str, &str) = ("plan.md", "# Plan\n");
const TABLE: &str = "| Id | Status |\n|---|---|\n| 1 | pending |\n";

/// Checks a plan with these files; if it has no flaw, it is validated.
fn structure(files: &[(&str, &str)], flaws: &str) {
    let project = Project::with(files);
    check(
        &project,
        match flaws {
            "" => Expected::allow(VALID),
            flaws => Expected::block(&format!("Plan 'test-plan': {flaws}")),
        },
    );
}

/// Checks a plan with this `state.json`: it is validated, and a warning goes to the user and to stderr.
fn state_file(text: &str, warning: &str) {
    let project = Project::with(&[PLAN_MD, ("state.json", text)]);
    project.reviewer(&Reviewer::fail());
    check(
        &project,
        match warning {
            "" => Expected::allow(VALID),
            warning => {
                let warning = format!(".taskie/plans/test-plan/state.json{warning}");
                Expected::allow(&format!("{warning}\n{VALID}"))
                    .stderr(&format!("taskie: {warning}\n"))
            }
        },
    );
}

// Once "jq is installed": nothing has to be.
#[test]
fn t01_needs_no_jq_nor_any_other_program() {
    check_run(&Project::valid(), Expected::allow(VALID), |project| {
        let mut command = project.command(["hook", "stop"]);
        command.env("PATH", "");
        feed(command, "{}")
    });
}

#[test]
fn t02_invalid_json() {
    for (input, why) in [
        ("invalid json", "it is not valid JSON: expected value at line 1 column 1"),
        ("", "it is not valid JSON: EOF while parsing a value at line 1 column 0"),
        ("\"invalid json\"", "a hook event is an object"),
    ] {
        let message = format!("taskie: Invalid JSON on stdin: {why}\n");
        let expected = Expected::refused(&message);
        check_run(&Project::valid(), expected, |project| project.hook_raw("stop", input));
    }
}

#[test]
fn t03_invalid_directory() {
    let expected = Expected::refused(
        "taskie: Cannot change to the session's directory \"/nonexistent\": No such file or directory (os error 2)\n",
    );
    check_run(&Project::valid(), expected, |project| {
        project.hook_raw("stop", r#"{"cwd": "/nonexistent"}"#)
    });
}

// The structure is still checked, but a flaw goes to the user and no longer blocks.
#[test]
fn t04_stop_hook_active() {
    let flawed = Project::with(&[("invalid-file.md", "")]);
    let flaws =
        "Plan 'test-plan': Missing required file: plan.md; Invalid filename: invalid-file.md";
    for (project, expected) in
        [(Project::valid(), Expected::silent()), (flawed, Expected::allow(flaws))]
    {
        check_run(&project, expected, |project| {
            project.hook_raw("stop", r#"{"stop_hook_active": true}"#)
        });
    }
}

#[test]
fn t05_no_taskie_directory() {
    let without_plans = Project::empty();
    std::fs::create_dir(without_plans.root.join(".taskie")).unwrap();
    for project in [Project::empty(), without_plans] {
        check(&project, Expected::silent());
        assert!(
            !project.root.join(".taskie/.locks").exists(),
            "a project without a plan is left alone"
        );
    }
}

rows! {
    t06_valid_plan => structure(&[PLAN_MD, ("tasks.md", TABLE)], "");
    t07_no_plan_and_an_invalid_name => structure(
        &[("invalid-file.md", "")], "Missing required file: plan.md; Invalid filename: invalid-file.md");
    t08_nested_directories => structure(&[PLAN_MD, ("nested/extra.md", "")], "Files found in nested directories");
    t09_review_without_its_base => structure(
        &[PLAN_MD, ("design-review-1.md", "")], "design-review-1.md requires design.md");
    t10_post_review_without_its_review => structure(
        &[PLAN_MD, ("plan-post-review-1.md", "")], "plan-post-review-1.md requires plan-review-1.md");
    t11_task_file_without_tasks_md => structure(
        &[PLAN_MD, ("task-1.md", "")], "Task files exist but tasks.md is missing");
    t12_prose_in_tasks_md => structure(
        &[PLAN_MD, ("tasks.md", "# Tasks\n\nFirst this, then that.\n")], "tasks.md contains non-table content");
    t13_empty_tasks_md => structure(&[PLAN_MD, ("tasks.md", "")], "tasks.md has no table rows");

    t14_state_json_is_no_invalid_name => structure(&[PLAN_MD, ("state.json", &whole_state())], "");
    t15_state_json_is_no_json => state_file("not valid json",
        ": it is not valid JSON: expected ident at line 1 column 2. No review of this plan runs and nothing is written until it is fixed.");
    t16_state_json_without_required_fields => state_file(r#"{"phase": "new-plan"}"#,
        " lacks `review_model`, `max_reviews`, `consecutive_clean`, `next_phase`, `tdd`: the defaults are used.");
    t17_valid_state_json => state_file(&whole_state(), "");
}

fn whole_state() -> String {
    state(json!({ "phase": "new-plan", "next_phase": null, "current_task": null })).to_string()
}
