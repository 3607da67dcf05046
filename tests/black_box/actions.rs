//! Follows the plugin's texts like an agent: runs the last step of each command, taken from its file, and compares
//! `state.json` as a whole; checks whether a review follows; and completes a whole plan with nothing but `next` and
//! those last steps.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Ran, Reviewer, cases, json_of, nobodys, state};

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin/taskie");

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(PLUGIN).join(name)).unwrap()
}

/// Returns the last steps in the text of a command: its indented lines.
pub fn last_steps(command: &str) -> Vec<String> {
    read(&format!("commands/{command}.md"))
        .lines()
        .map(|line| (line, line.trim_start()))
        .filter(|(line, code)| line.len() - code.len() >= 4 && code.starts_with("taskie "))
        .map(|(_, code)| code.to_owned())
        .collect()
}

/// Runs a last step as the agent does, with the ids filled in.
fn run(project: &Project, step: &str, task: &str) -> Ran {
    let step = step.replace("PLAN", PLAN).replace("ID", task);
    let words: Vec<&str> = step.split(' ').skip(1).collect();
    project.run(&words)
}

/// Runs the only last step of a command and returns what it prints.
fn finish(project: &Project, command: &str, task: &str) -> String {
    let steps = last_steps(command);
    assert_eq!(steps.len(), 1, "{command}: {steps:?}");
    let ran = run(project, &steps[0], task);
    assert_eq!(ran.err(), (0, ""), "{command}");
    ran.stdout
}

fn over(base: Value, changes: &Value) -> Value {
    let mut all = base;
    all.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    all
}

// ── where the state step stands ─────────────────────────────────────────────────────────

/// An action says what to do, for the agent and the reviewer alike; only the command changes the state.
#[test]
fn the_state_step_is_in_the_command_and_not_in_the_action() {
    let mut steps = BTreeMap::new();
    for folder in ["actions", "commands"] {
        for entry in fs::read_dir(Path::new(PLUGIN).join(folder)).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let text = read(&format!("{folder}/{file}"));
            let name = file.strip_suffix(".md").unwrap();
            if folder == "actions" {
                assert!(!text.contains("taskie enter"), "{file}");
                assert!(!text.contains("taskie pause"), "{file}");
                assert!(!text.contains("taskie skip"), "{file}");
                assert!(!text.contains("state step"), "{file}");
            } else {
                steps.insert(name.to_owned(), last_steps(name));
            }
        }
    }
    for (command, steps) in &steps {
        let expected = match command.as_str() {
            "continue-plan" => vec!["taskie next".to_owned()],
            "status" => vec!["taskie status".to_owned()],
            "review" => ["--at-stop", "--wait 600"]
                .map(|how| format!("taskie review {how} --session \"${{CLAUDE_SESSION_ID}}\""))
                .to_vec(),
            "add-task" => vec!["taskie add-task --plan PLAN --task ID".to_owned()],
            // Which one depends on the interrupted action.
            "continue-task" => vec![
                "taskie enter complete-task --plan PLAN --task ID".to_owned(),
                "taskie enter next-task --plan PLAN --task ID".to_owned(),
                "taskie enter continue-task --plan PLAN".to_owned(),
            ],
            "next-task" | "next-task-tdd" | "complete-task" | "complete-task-tdd" => {
                vec![format!("taskie enter {command} --plan PLAN --task ID")]
            }
            _ => vec![format!("taskie enter {command} --plan PLAN")],
        };
        assert_eq!(steps, &expected, "{command}");
    }
    assert_eq!(steps.len(), 19);
}

// ── what each last step writes ──────────────────────────────────────────────────────────

/// Row 2: all fields, from nothing.
#[test]
fn new_plan_makes_the_state() {
    let project = Project::with(&[("plan.md", "# Plan\n\n## Overview\n")]);
    let fields = json!({
        "max_reviews": 8, "current_task": null, "phase": "new-plan", "phase_iteration": 0, "next_phase": "plan-review",
        "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    let said = finish(&project, "new-plan", "");
    assert_eq!(project.state(), fields);
    assert!(said.ends_with(&format!("{}\n", nobodys("plan-review"))));
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    // A directory that does not exist yet is created.
    let project = Project::empty();
    finish(&project, "new-plan", "");
    assert_eq!(project.state(), fields);
}

/// Row 12: (case, state before, statuses of tasks 1 and 2, the new task, what changes)
#[test]
fn a_new_task_becomes_current_if_there_is_none() {
    type Case = (&'static str, &'static str, [&'static str; 2], &'static str);
    for (what, before, [one, two], changes) in
        cases::<Case>("actions", "a_new_task_becomes_current_if_there_is_none")
    {
        let (before, changes) = (json_of(before), json_of(changes));
        let project = Project::in_state(before.clone());
        project.write(
            "tasks.md",
            format!("| Id | Status |\n|---|---|\n| 1 | {one} |\n| 2 | {two} |\n"),
        );
        finish(&project, "add-task", "2");
        assert_eq!(project.state(), over(state(before), &changes), "{what}");
    }
}

/// Without a `state.json`, the user chooses an action, and its last step writes the whole file.
#[test]
fn a_last_step_writes_a_missing_state() {
    let new =
        json!({ "max_reviews": 8, "review_model": "opus", "consecutive_clean": 0, "tdd": false });
    let due = |next: &str, task: Value| json!({ "next_phase": next, "current_task": task, "phase_iteration": 0 });
    let alone = json!({ "next_phase": null, "phase_iteration": null });
    let cases = [
        ("create-tasks", due("tasks-review", Value::Null)),
        ("complete-task", due("code-review", json!("1"))),
        ("complete-task-tdd", over(due("code-review", json!("1")), &json!({ "tdd": true }))),
        ("next-task", over(alone.clone(), &json!({ "current_task": "1" }))),
        ("plan-review", alone),
    ];
    for (command, changes) in cases {
        let project = Project::valid();
        let next = project.run(&["next", "--json"]).json();
        assert_eq!(next["action"], "ask");
        assert!(next["why"].as_str().unwrap().contains("git history"));
        finish(&project, command, "1");
        let expected = over(over(new.clone(), &changes), &json!({ "phase": command }));
        assert_eq!(project.state(), expected, "{command}");
    }
    // A review on disk is entered first, and then its answer.
    let project = Project::valid();
    project.write("plan-review-3.md", "# Review\n");
    for command in ["plan-review", "post-plan-review"] {
        finish(&project, command, "");
    }
    assert_eq!(project.state()["next_phase"], Value::Null);
}

// ── what the texts must say ─────────────────────────────────────────────────────────────

#[test]
fn the_texts_say_what_the_plan_asks_for() {
    for (files, says) in
        cases::<(Vec<&str>, &str)>("actions", "the_texts_say_what_the_plan_asks_for")
    {
        for file in files {
            let text = read(file).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(says), "{file} does not say: {says}");
        }
    }
}

// ── a whole plan, by `next` and the last steps alone ────────────────────────────────────

/// Writes what an action leaves on disk.
pub fn work(project: &Project, action: &str, state: &Value) {
    let row = |id: &str, status: &str| format!("| {id} | {status} | high | x | x |\n");
    let head = "| Id | Status | Priority | Description | Test strategy |\n| --- | --- | --- | --- | --- |\n";
    match action {
        "new-plan" => project.write("plan.md", "# Plan\n\n## Overview\n"),
        "create-tasks" => {
            project.write("tasks.md", [head, &row("1", "pending"), &row("2", "pending")].concat());
            for id in ["1", "2"] {
                project.write(&format!("task-{id}.md"), "- **Status**: pending\n");
            }
        }
        "complete-task" | "complete-task-tdd" => {
            let id = first_open(project);
            let table = project.read("tasks.md").replace(&row(&id, "pending"), &row(&id, "done"));
            project.write("tasks.md", table);
            project.write(&format!("task-{id}.md"), "- **Status**: done\n");
        }
        post => {
            let base = match post {
                "post-plan-review" => "plan".to_owned(),
                "post-tasks-review" => "tasks".to_owned(),
                "post-all-code-review" => "all-code".to_owned(),
                "post-code-review" => format!("task-{}", state["current_task"].as_str().unwrap()),
                other => panic!("no one does {other}"),
            };
            let n = &state["phase_iteration"];
            project.write(&format!("{base}-post-review-{n}.md"), "# Answer\n");
        }
    }
}

pub fn first_open(project: &Project) -> String {
    let tasks = project.read("tasks.md");
    let row = tasks.lines().find(|line| line.contains("| pending |"));
    row.unwrap().split('|').nth(1).unwrap().trim().to_owned()
}

/// Each step is done by a new session that knows only what `taskie next` says, as if the previous session had been
/// interrupted. Each action is also done once by someone who leaves before its last step.
#[test]
fn a_plan_gets_done_however_often_it_is_interrupted() {
    for (tdd, forgets_answers) in [(true, false), (false, true)] {
        let project = Project::empty();
        project.reviewer(&Reviewer::pass());
        work(&project, "new-plan", &Value::Null);
        finish(&project, "new-plan", "");
        let mut steps = vec!["new-plan".to_owned()];
        while project.state()["phase"] != "complete" {
            assert!(steps.len() < 60, "{steps:?}");
            let next = project.run(&["next", "--json"]).json();
            let action = next["action"].as_str().unwrap();
            let before = project.state();
            match action {
                "stop" => {
                    let ran = project.stop();
                    assert_eq!(ran.code, 0);
                }
                "complete" => {
                    let ran = project.run(&["enter", "complete", "--plan", PLAN]);
                    assert_eq!(ran.err(), (0, ""), "{steps:?}");
                }
                _ => {
                    // The first task decides for all: if it is test first, so are the others.
                    let action = if tdd && action == "complete-task" && first_open(&project) == "1"
                    {
                        "complete-task-tdd"
                    } else {
                        action
                    };
                    let task = if action.starts_with("complete-task") {
                        first_open(&project)
                    } else {
                        String::new()
                    };
                    work(&project, action, &before);
                    // Between the work and the last step, `next` sends the next session to the same action, except if
                    // an answer is already on disk: it counts.
                    let again = project.run(&["next", "--json"]).json();
                    let is_answer = action.starts_with("post-");
                    let expected =
                        if is_answer { "stop" } else { next["action"].as_str().unwrap() };
                    assert_eq!(again["action"], expected, "{action}");
                    if !(is_answer && forgets_answers) {
                        finish(&project, action, &task);
                    }
                    steps.push(action.to_owned());
                    continue;
                }
            }
            steps.push(action.to_owned());
        }
        let task = if tdd { "complete-task-tdd" } else { "complete-task" };
        let cycle = |post: &'static str| ["stop", post, "stop"];
        let mut expected = vec!["new-plan"];
        expected.extend(cycle("post-plan-review"));
        expected.push("create-tasks");
        expected.extend(cycle("post-tasks-review"));
        for _ in 0..2 {
            expected.push(task);
            expected.extend(cycle("post-code-review"));
        }
        expected.extend(cycle("post-all-code-review"));
        expected.push("complete");
        assert_eq!(steps, expected);
        assert_eq!(project.calls().len(), 10);
        let end = json!({
            "max_reviews": 8, "current_task": "2", "phase": "complete", "phase_iteration": 2, "next_phase": null,
            "review_model": "opus", "consecutive_clean": 2, "tdd": tdd,
        });
        assert_eq!(project.state(), end);
        let next = project.run(&["next", "--json"]).json();
        assert_eq!(next["why"], "All tasks are done: tell the user.");
    }
}
