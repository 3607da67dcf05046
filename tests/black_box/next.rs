//! `taskie next`: how a plan continues, row by row of the routing table.

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Reviewer, silent};

/// Case, changes of the state, files written before, the action, the start of the reason.
type Row<'a> = (&'a str, Value, &'a [(&'a str, &'a str)], &'a str, &'a str);

#[test]
fn the_routing_row_by_row() {
    let done = "# Task 1\n\n- **Status**: done\n";
    let half = "# Task 1\n\n- **Status**: done\n- **Status**: pending\n";
    let rows: &[Row<'_>] = &[
        (
            "a code review to answer",
            json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
            &[("task-1-review-1.md", "x")],
            "post-code-review",
            ".taskie/plans/test-plan/task-1-review-1.md has not been answered",
        ),
        (
            "a plan review to answer",
            json!({ "phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 2 }),
            &[("plan-review-2.md", "x")],
            "post-plan-review",
            ".taskie/plans/test-plan/plan-review-2.md has not been answered",
        ),
        (
            "a tasks review to answer",
            json!({ "phase": "tasks-review", "next_phase": "post-tasks-review", "phase_iteration": 1 }),
            &[("tasks-review-1.md", "x")],
            "post-tasks-review",
            ".taskie/plans/test-plan/tasks-review-1.md has not been answered",
        ),
        (
            "an all-code review to answer",
            json!({ "phase": "all-code-review", "next_phase": "post-all-code-review", "phase_iteration": 1 }),
            &[("all-code-review-1.md", "x")],
            "post-all-code-review",
            ".taskie/plans/test-plan/all-code-review-1.md has not been answered",
        ),
        (
            "the answer is written, the transition forgotten",
            json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
            &[
                ("task-1-review-1.md", "x"),
                ("task-1-post-review-1.md", "x"),
            ],
            "stop",
            "Nothing is left to do before the next code-review",
        ),
        (
            "answered, the next review is due",
            json!({ "phase": "post-code-review", "next_phase": "code-review", "phase_iteration": 1 }),
            &[("task-1.md", half)],
            "stop",
            "Nothing is left to do before the next code-review",
        ),
        (
            "the task is implemented",
            json!({}),
            &[("task-1.md", done)],
            "stop",
            "Nothing is left to do before the next code-review",
        ),
        (
            "a task file without subtasks counts as complete",
            json!({}),
            &[],
            "stop",
            "Nothing is left to do before the next code-review",
        ),
        (
            "the task is half done",
            json!({}),
            &[("task-1.md", half)],
            "continue-task",
            "The work for code-review is not finished",
        ),
        (
            "the plan is complete",
            json!({ "phase": "new-plan", "next_phase": "plan-review" }),
            &[],
            "stop",
            "Nothing is left to do before the next plan-review",
        ),
        (
            "the plan is half written",
            json!({ "phase": "new-plan", "next_phase": "plan-review" }),
            &[("plan.md", "# Plan\n")],
            "new-plan",
            "The work for plan-review is not finished",
        ),
        (
            "the plan is long enough",
            json!({ "phase": "new-plan", "next_phase": "plan-review" }),
            &[("plan.md", &"x\n".repeat(51))],
            "stop",
            "Nothing is left",
        ),
        (
            "the tasks are there",
            json!({ "phase": "create-tasks", "next_phase": "tasks-review" }),
            &[],
            "stop",
            "Nothing is left to do before the next tasks-review",
        ),
        (
            "no task has a row",
            json!({ "phase": "create-tasks", "next_phase": "tasks-review" }),
            &[("tasks.md", "| Id | Status |\n|---|---|\n")],
            "create-tasks",
            "The work for tasks-review is not finished",
        ),
        (
            "the next task",
            json!({ "phase": "code-review", "next_phase": "complete-task" }),
            &[],
            "complete-task",
            "code-review is done. If its last review lists issues that have no answer, answer them first. Next task: 2.",
        ),
        (
            "the next task, test first",
            json!({ "phase": "code-review", "next_phase": "complete-task-tdd", "tdd": true }),
            &[],
            "complete-task-tdd",
            "code-review is done. If its last review lists issues that have no answer, answer them first. Next task: 2.",
        ),
        (
            "the tasks are to be made",
            json!({ "phase": "plan-review", "next_phase": "create-tasks" }),
            &[],
            "create-tasks",
            "plan-review is done. If its last review lists issues that have no answer, answer them first.",
        ),
        (
            "all is done but the last step",
            json!({ "phase": "all-code-review", "next_phase": "complete" }),
            &[],
            "complete",
            "all-code-review is done. If its last review lists issues that have no answer, answer them first.",
        ),
        (
            "a task without reviews was interrupted",
            json!({ "phase": "next-task", "next_phase": null }),
            &[],
            "continue-task",
            "Task 1 was interrupted",
        ),
        (
            "complete",
            json!({ "phase": "complete", "next_phase": null }),
            &[("tasks.md", "| Id | Status |\n|---|---|\n| 1 | done |\n")],
            "stop",
            "All tasks are done",
        ),
        (
            "complete, and a task was added",
            json!({ "phase": "complete", "next_phase": null }),
            &[],
            "ask",
            "Phase complete, task 1, nothing is due",
        ),
        (
            "a review by hand was interrupted",
            json!({ "phase": "code-review", "next_phase": null }),
            &[],
            "ask",
            "Phase code-review, task 1, nothing is due",
        ),
        (
            "the limit is reached",
            json!({ "phase": "post-code-review", "phase_iteration": 8 }),
            &[],
            "ask",
            "The limit of 8 reviews is reached for code-review",
        ),
        (
            "paused",
            json!({ "next_phase": null, "paused": "code-review" }),
            &[],
            "ask",
            "The loop is paused before code-review",
        ),
    ];
    for (what, changes, files, action, why) in rows {
        let project = Project::valid();
        project.set_state(changes.clone());
        for (name, text) in *files {
            project.write(name, text);
        }
        let before = project.files();
        let ran = project.run(&["next", "--json"]);
        assert_eq!(ran.err(), (0, ""), "{what}");
        assert_eq!(ran.json()["version"], 1);
        assert_eq!(ran.json()["action"], *action, "{what}: {}", ran.stdout);
        assert!(
            ran.json()["why"].as_str().unwrap().starts_with(why),
            "{what}: {}",
            ran.stdout
        );
        assert_eq!(
            project.files(),
            before,
            "{what}: nothing is written where no session is known"
        );
        assert_eq!(
            project.run(&["status", "--json"]).json()["next"]["action"],
            *action,
            "{what}"
        );
    }
}

#[test]
fn without_a_state_the_user_is_asked_and_nothing_is_written() {
    let project = Project::valid();
    let before = project.files();
    let ran = project.run(&["next", "--session", "mine"]);
    let why = "There is no usable state.json: read the git history, tell the user where the plan stands, and let the user choose the action. Its last step writes a missing file; only the user fixes a broken one.";
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (
            0,
            format!("next: ask\nwhy:  {why}\nplan: {PLAN}\n"),
            String::new()
        )
    );
    assert_eq!(project.files(), before);
    for (broken, what) in [
        (
            "{",
            "it is not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            r#"{"phase": 5}"#,
            "`phase` is 5, but must be a phase of the chart",
        ),
    ] {
        project.write("state.json", broken);
        let before = project.files();
        let ran = project.run(&["next", "--session", "mine"]);
        let warning = format!(
            "taskie: .taskie/plans/{PLAN}/state.json: {what}. No review runs and nothing is written until it is fixed.\n"
        );
        assert_eq!(
            (ran.code, ran.stdout, ran.stderr),
            (
                0,
                format!("next: ask\nwhy:  {why}\nplan: {PLAN}\n"),
                warning
            )
        );
        assert_eq!(project.files(), before);
    }
}

#[test]
fn asking_claims_the_plan() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer::fail());
    let before = project.files();
    assert_eq!(project.run(&["next", "--session", "new"]).code, 0);
    assert_eq!(project.files(), before);
    let stop = |session: &str| {
        let event = json!({ "session_id": session, "cwd": project.root });
        project.hook_raw("stop", event.to_string())
    };
    assert_eq!(stop("old").stdout, silent());
    assert_eq!(stop("new").json()["decision"], "block");
}

#[test]
fn a_new_session_sees_what_waits() {
    let project = Project::valid();
    project.set_state(json!({}));
    let start = || {
        project.hook_raw(
            "session-start",
            json!({ "session_id": "new", "cwd": project.root, "source": "startup" }).to_string(),
        )
    };
    let waits = |what: &str| {
        let text = format!("Plan '{PLAN}' is waiting: {what}. /taskie:continue-plan continues it.");
        let context = format!("[taskie] {text}");
        format!(
            "{{\"systemMessage\": {}, \"hookSpecificOutput\": {{\"hookEventName\": \"SessionStart\", \"additionalContext\": {}}}}}\n",
            Value::from(text),
            Value::from(context)
        )
    };
    assert_eq!(
        (start().stdout, start().stderr),
        (waits("code-review comes next"), String::new())
    );
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    assert_eq!(start().stdout, waits("paused before code-review"));
    project.set_state(json!({ "phase": "complete", "next_phase": null }));
    assert_eq!(start().stdout, "");
}
