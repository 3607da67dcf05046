//! Ways in which a plan of the default workflow could get stuck or go wrong.

use std::io::{Read as _, Write as _};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::expected::plan_in;
use crate::support::{PLAN, Project, Reviewer, blocked};

/// Agents and the predecessor write the id of a task without quotes.
#[test]
fn an_integer_as_the_current_task_is_read_as_its_digits() {
    let project = plan_in(&json!({ "current_task": 1 }), &Reviewer::fail());
    let ran = project.stop();
    assert_eq!(ran.json()["decision"], "block", "{}", ran.stdout);
    let state = project.state();
    assert_eq!(
        (&state["current_task"], &state["phase"]),
        (&json!("1"), &json!("code-review"))
    );
    assert!(project.names().contains(&"task-1-review-1.md".to_owned()));

    project.set_state(json!({ "current_task": 1 }));
    let ran = project.run(&["validate"]);
    assert_eq!(
        (ran.code, ran.stdout),
        (0, format!("plan {PLAN}: no findings\n"))
    );
}

#[test]
fn an_option_that_the_phase_does_not_use_is_refused() {
    let project = Project::in_state(json!({ "next_phase": null, "phase_iteration": null }));
    let before = project.files();
    let ran = project.run(&["enter", "continue-task", "--task", "2"]);
    assert_eq!(
        ran.all(),
        (
            1,
            "",
            "taskie: phase `continue-task` takes no --task\n  help: remove it; the phases that take it: next-task, \
             next-task-tdd, complete-task, complete-task-tdd\n"
        )
    );
    assert_eq!(project.files(), before);
    // The option's default does not count as a given value.
    assert_eq!(project.run(&["enter", "continue-task"]).code, 0);
}

#[test]
fn status_and_render_say_what_the_hook_does_when_a_subject_is_missing() {
    for flaw in [false, true] {
        let project = Project::in_state(json!({ "current_task": "9" }));
        if flaw {
            project.write("notes.md", "");
        }
        project.reviewer(&Reviewer::pass());
        assert_eq!(project.run(&["next", "--session", "mine"]).code, 0);
        let status = project.run(&["status", "--json"]).json();
        let next = project.run(&["render", "--next"]);
        let stop = project.stop_of("mine");
        assert!(project.calls().is_empty());
        let hook = stop.json();
        let does = if flaw { "block" } else { "allow" };
        assert_eq!(hook["decision"] == "block", flaw);
        assert_eq!(status["stop"]["does"], does);
        let said = hook["reason"]
            .as_str()
            .or(hook["systemMessage"].as_str())
            .unwrap();
        let text = status["stop"]["text"].as_str().unwrap();
        assert!(text.ends_with(&said.replace('\n', " ")), "{text}");
        assert!(next.stdout.contains(said), "{}", next.stdout);
    }
}

#[test]
fn a_hook_on_a_terminal_says_what_it_waits_for() {
    let project = Project::valid();
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = std::fs::File::open(name.to_str().unwrap()).unwrap();
    let mut child = project
        .command(["hook", "stop"])
        .stdin(terminal)
        .spawn()
        .unwrap();
    std::fs::File::from(controller)
        .write_all(b"{}\n\x04")
        .unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    child.wait().unwrap();
    assert_eq!(
        said,
        "taskie: waiting for the Stop event as JSON on stdin; try: echo '{}' | taskie hook stop\n"
    );
}

/// The code review of task 1 ends; task 2 is left in a table that people give many different headings.
#[test]
fn open_tasks_are_found_whatever_the_heading() {
    for heading in [
        "Id", "ID", "Task", "Task ID", "Task #", "#", "**Id**", "__Task__", "`#`",
    ] {
        let project = Project::valid();
        project.write(
            "tasks.md",
            format!("| {heading} | Status |\n|---|---|\n| 1 | done |\n| 2 | pending |\n"),
        );
        project.set_state(json!({ "consecutive_clean": 1 }));
        project.reviewer(&Reviewer::pass());
        let ran = project.stop();
        assert_eq!(project.state()["next_phase"], "complete-task", "{heading}");
        assert_eq!(ran.stderr, "", "{heading}");
        let entered = project.run(&["enter", "complete-task"]);
        assert_eq!(entered.code, 0, "{heading}: {}", entered.stderr);
        assert_eq!(project.state()["current_task"], "2", "{heading}");
    }
}

#[test]
fn a_row_without_a_usable_id_counts_as_open() {
    for (rows, open, warning) in [
        (
            "| Id | Status |\n|---|---|\n| 1 | done |\n| 1.2 | pending |\n",
            "1.2",
            "line 4: `1.2` is not an id (letters, digits, _ and -); the row counts as open",
        ),
        (
            "| Id | Status |\n|---|---|\n| 1 | done |\n| | pending |\n",
            "line 4",
            "line 4: there is no id; the row counts as open",
        ),
    ] {
        let project = Project::valid();
        project.write("tasks.md", rows);
        project.set_state(json!({ "consecutive_clean": 1 }));
        project.reviewer(&Reviewer::pass());
        let ran = project.stop();
        assert_eq!(project.state()["next_phase"], "complete-task", "{rows}");
        assert_eq!(
            ran.stderr,
            format!("taskie: .taskie/plans/{PLAN}/tasks.md: {warning}.\n")
        );
        project.set_state(json!({ "next_phase": null, "phase_iteration": null }));
        let ran = project.run(&["enter", "complete"]);
        assert_eq!(
            (ran.code, ran.stderr.lines().nth(1)),
            (
                1,
                Some(format!("taskie: These tasks are still open: {open}.").as_str())
            ),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_table_without_ids_blocks_and_is_not_the_end() {
    let project = Project::valid();
    project.write(
        "tasks.md",
        "| Name | Status |\n|---|---|\n| One | done |\n| Two | pending |\n",
    );
    project.set_state(json!({ "consecutive_clean": 1 }));
    project.reviewer(&Reviewer::pass());
    project.stop();
    assert_eq!(project.state()["next_phase"], "complete-task");
    let flaw = "tasks.md has no column for the id of a task (Id, Task ID, Task #, # or Task)";
    assert_eq!(
        project.stop().json(),
        blocked(&format!("Plan '{PLAN}': {flaw}"))
    );
}

#[test]
fn a_plan_without_its_files_is_not_complete() {
    let tasks = ["tasks.md", "task-1.md", "task-2.md"];
    for (files, why) in [
        (&["plan.md"][..], "There is no plan.md."),
        (&tasks[..], "There are no tasks in tasks.md."),
    ] {
        let project =
            Project::in_state(json!({ "next_phase": "complete", "phase_iteration": null }));
        for file in files {
            std::fs::remove_file(project.plan().join(file)).unwrap();
        }
        let ran = project.run(&["enter", "complete"]);
        assert_eq!(
            (ran.code, ran.stderr),
            (1, format!("taskie: {why}\n  help: nothing was written\n"))
        );
    }
}

#[test]
fn a_second_pause_says_that_it_is_paused() {
    let project = Project::in_state(json!({}));
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    let ran = project.run(&["run", "pause"]);
    assert_eq!(
        ran.err(),
        (
            1,
            "taskie: The loop is already paused, before code-review: `taskie run resume` returns to it.\n  help: \
             nothing was written\n"
        )
    );
}
