//! Follows the plugin's texts like an agent: runs the last step of each command, taken from its file, and compares
//! `state.json` as a whole; checks whether a review follows; and completes a whole plan with nothing but `next` and
//! those last steps.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::expected::plan_in;
use crate::support::{
    CYCLES, PLAN, Project, Ran, Reviewer, allowed, cases, json_of, nobodys, state, validated,
};

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

/// A plan in progress: three reviews done, one of the user's own fields, and a limit of its own.
fn free() -> Value {
    json!({
        "phase": "tasks-review", "next_phase": "complete-task", "phase_iteration": 3, "review_model": "sonnet",
        "consecutive_clean": 2, "max_reviews": 5, "current_task": null, "mine": "kept",
    })
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

/// No action refers the agent to another action's text; complete-task has its own instructions.
#[test]
fn an_action_stands_on_its_own() {
    for entry in fs::read_dir(Path::new(PLUGIN).join("actions")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        assert!(!read(&format!("actions/{file}")).contains("actions/"), "{file}");
    }
    for name in ["complete-task", "complete-task-tdd"] {
        let text = read(&format!("actions/{name}.md"));
        for part in ["## Which task", "## The subtasks", "## Before you finish"] {
            assert!(text.contains(part), "{name}: {part}");
        }
        assert!(!text.contains("next-task"), "{name}");
    }
}

/// The hook's reviewer gets the same text that the command attaches, with the ground rules; the command's state step
/// is not part of it.
#[test]
fn the_reviewer_reads_the_text_of_the_command() {
    for cycle in CYCLES {
        let project =
            plan_in(&json!({ "phase": "new-plan", "next_phase": cycle }), &Reviewer::fail());
        let rendered = project.run(&["render", "review.md"]);
        assert_eq!(rendered.err(), (0, ""), "{cycle}");
        let prompt = &rendered.stdout;
        let action = read(&format!("actions/{cycle}.md"));
        let command = read(&format!("commands/{cycle}.md"));
        assert!(
            command.contains(&format!("@\"${{CLAUDE_PLUGIN_ROOT}}/actions/{cycle}.md\"\n")),
            "{cycle}"
        );
        for text in [&action, &read("ground-rules.md")] {
            assert_eq!(prompt.matches(text.as_str()).count(), 1, "{cycle}");
        }
        for step in last_steps(cycle) {
            assert!(!prompt.contains(&step), "{cycle}: {step}");
        }
        // What is rendered is also what the hook sends.
        assert_eq!(project.stop().json()["decision"], "block", "{cycle}");
        let sent = project.calls().remove(0).pop().unwrap();
        assert_eq!(sent, prompt.trim_end_matches('\n').replace('\n', "\\n"), "{cycle}");
    }
}

// ── the automation boundary ─────────────────────────────────────────────────────────────

/// (command, the review that follows automatically)
#[test]
fn a_review_follows_these_commands_and_no_others() {
    let cases = [
        ("create-tasks", Some("tasks-review")),
        ("complete-task", Some("code-review")),
        ("complete-task-tdd", Some("code-review")),
        ("next-task", None),
        ("next-task-tdd", None),
        ("plan-review", None),
        ("tasks-review", None),
        ("code-review", None),
        ("all-code-review", None),
    ];
    for (command, review) in cases {
        let project = plan_in(&over(free(), &json!({ "current_task": "1" })), &Reviewer::fail());
        finish(&project, command, "1");
        assert_eq!(project.state()["next_phase"], json!(review), "{command}");
        let stop = project.stop().json();
        match review {
            Some(review) => {
                assert_eq!(stop["decision"], "block", "{command}");
                assert_eq!(project.state()["phase"], review, "{command}");
                assert_eq!(project.calls().len(), 1, "{command}");
            }
            None => {
                assert_eq!(stop, validated(), "{command}");
                assert!(project.calls().is_empty(), "{command}");
            }
        }
    }
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

/// A plan that starts over keeps its limit and unknown fields; a plan in progress starts over only if the user forces
/// it.
#[test]
fn new_plan_restarts_an_existing_state() {
    let restarted = json!({
        "current_task": null, "phase": "new-plan", "phase_iteration": 0, "next_phase": "plan-review",
        "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    let used = json!({ "max_reviews": 3, "mine": { "kept": [1] }, "tdd": true, "consecutive_clean": 1, "review_model": "sonnet", "phase_iteration": 2 });
    let project = Project::valid();
    let begun = over(
        used.clone(),
        &json!({ "phase": "new-plan", "next_phase": null, "current_task": null }),
    );
    project.set_state(begun.clone());
    finish(&project, "new-plan", "");
    assert_eq!(project.state(), over(state(begun), &restarted));

    let on_its_way =
        over(used, &json!({ "phase": "code-review", "next_phase": "post-code-review" }));
    project.set_state(on_its_way.clone());
    let ran = run(&project, &last_steps("new-plan")[0], "");
    assert_eq!(ran.code, 1);
    assert_eq!(project.state(), state(on_its_way.clone()));
    let ran = run(&project, &format!("{} --force", last_steps("new-plan")[0]), "");
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(project.state(), over(state(on_its_way), &restarted));
}

/// Rows 3, 4 and 5: (command, task, what it changes)
#[test]
fn what_the_work_commands_write() {
    let fresh = json!({ "phase_iteration": 0, "review_model": "opus", "consecutive_clean": 0 });
    let alone = json!({ "next_phase": null, "phase_iteration": null });
    let cases = [
        (
            "create-tasks",
            "",
            over(fresh.clone(), &json!({ "current_task": null, "next_phase": "tasks-review" })),
        ),
        ("next-task", "2", over(alone.clone(), &json!({ "current_task": "2" }))),
        ("next-task-tdd", "2", over(alone, &json!({ "current_task": "2" }))),
        (
            "complete-task",
            "2",
            over(
                fresh.clone(),
                &json!({ "current_task": "2", "next_phase": "code-review", "tdd": false }),
            ),
        ),
        (
            "complete-task-tdd",
            "2",
            over(fresh, &json!({ "current_task": "2", "next_phase": "code-review", "tdd": true })),
        ),
    ];
    // Before anything else, in the middle of a plan, test first, paused; and with only the last task left.
    let befores = [
        free(),
        over(free(), &json!({ "current_task": "1", "tdd": true })),
        over(free(), &json!({ "next_phase": null, "paused": "create-tasks" })),
        over(free(), &json!({ "phase": "code-review", "current_task": "2" })),
        over(free(), &json!({ "next_phase": "complete" })),
    ];
    for (command, task, changes) in &cases {
        for before in &befores {
            let project = Project::in_state(before.clone());
            finish(&project, command, task);
            let expected = over(state(before.clone()), changes);
            let mut expected = over(expected, &json!({ "phase": command }));
            expected.as_object_mut().unwrap().remove("paused");
            assert_eq!(project.state(), expected, "{command} from {before}");
        }
    }
}

/// Rows 6, 8, 9 and 11: a review by hand becomes the phase, and nothing follows; the hook's own review needs no step.
#[test]
fn a_review_by_hand_is_written_and_nothing_follows() {
    for cycle in CYCLES {
        let project = Project::valid();
        let before = over(free(), &json!({ "current_task": "1" }));
        project.set_state(before.clone());
        finish(&project, cycle, "");
        let by_hand = json!({ "phase": cycle, "next_phase": null, "phase_iteration": null });
        assert_eq!(project.state(), over(state(before), &by_hand), "{cycle}");
        // Its number is the next free one, whatever ran before.
        let text = read(&format!("actions/{cycle}.md"));
        let rule = "if you were given none, to `";
        assert!(text.contains(rule), "{cycle}");
        assert!(
            text.contains(
                "-review-N.md` in the plan directory, N being one above the highest there."
            ),
            "{cycle}"
        );
        assert!(
            read(&format!("commands/{cycle}.md")).contains(
                "You were given no path for the review file: it takes the next free number."
            ),
            "{cycle}"
        );
    }
}

/// Rows 7, 8, 9 and 11: an answer leads back to the review in a cycle, and never after a review by hand.
/// `phase_iteration` distinguishes them.
#[test]
fn an_answer_loops_back_in_a_cycle_only() {
    for cycle in CYCLES {
        let post = format!("post-{cycle}");
        for (iteration, clean, next) in [
            (json!(1), 0, json!(cycle)),
            (json!(1), 1, json!(cycle)),
            (json!(5), 0, json!(cycle)),
            (Value::Null, 0, Value::Null),
        ] {
            let due = if iteration.is_null() { Value::Null } else { json!(post) };
            let project = Project::valid();
            let before = json!({
                "phase": cycle, "next_phase": due, "phase_iteration": iteration, "consecutive_clean": clean,
                "review_model": "sonnet", "max_reviews": 5, "mine": "kept",
            });
            project.set_state(before.clone());
            if let Some(n) = iteration.as_i64() {
                let base = match cycle {
                    "code-review" => "task-1",
                    other => other.trim_end_matches("-review"),
                };
                project.write(&format!("{base}-review-{n}.md"), "# Review\n");
                project.write(&format!("{base}-post-review-{n}.md"), "# Answer\n");
            }
            let said = finish(&project, &post, "1");
            let answered = json!({ "phase": post, "next_phase": next });
            assert_eq!(project.state(), over(state(before), &answered), "{post} at {iteration}");
            let says = match iteration.as_i64() {
                Some(5) => said.contains("is due, but the limit of reviews is reached"),
                Some(_) => said.contains(&nobodys(cycle)),
                None => !said.contains("is due"),
            };
            assert!(says, "{post} at {iteration}: {said}");
            // Doing it twice changes nothing more.
            let after = project.state();
            finish(&project, &post, "1");
            assert_eq!(project.state(), after, "{post} at {iteration}");
        }
    }
}

/// Row 10: the due phase stays due, and nothing else changes.
#[test]
fn continue_task_keeps_what_is_due() {
    let phases = Project::empty().run(&["schema", "state"]).json();
    let phases = phases["properties"]["phase"]["enum"].as_array().unwrap();
    let [_, _, step] = last_steps("continue-task").try_into().unwrap();
    for next in phases.iter().chain([&Value::Null]) {
        let project = Project::valid();
        let before = json!({ "phase": "complete-task-tdd", "next_phase": next, "phase_iteration": 4, "consecutive_clean": 1, "tdd": true, "review_model": "sonnet", "mine": "kept" });
        project.set_state(before.clone());
        let ran = run(&project, &step, "");
        assert_eq!(ran.err(), (0, ""), "{next}");
        let expected = over(state(before), &json!({ "phase": "continue-task" }));
        assert_eq!(project.state(), expected, "{next}");
    }
}

/// Its other two last steps: a task that should be reviewed is reviewed, and one that shouldn't be isn't.
#[test]
fn an_interrupted_task_ends_as_it_began() {
    let [reviewed, alone, _] = last_steps("continue-task").try_into().unwrap();
    let project = Project::valid();
    // complete-task of task 2 was started but never entered.
    project.set_state(json!({ "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 2, "consecutive_clean": 2 }));
    assert_eq!(run(&project, &reviewed, "2").code, 0);
    let expected = state(json!({ "current_task": "2" }));
    assert_eq!(project.state(), expected);
    // next-task of task 2.
    project.set_state(json!({ "phase": "next-task", "next_phase": null, "phase_iteration": null }));
    assert_eq!(run(&project, &alone, "2").code, 0);
    let expected = state(
        json!({ "phase": "next-task", "current_task": "2", "next_phase": null, "phase_iteration": null }),
    );
    assert_eq!(project.state(), expected);
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

/// A task that is added before the final review is implemented and reviewed first; then the final review is due.
#[test]
fn a_new_task_comes_before_the_final_review() {
    let project = Project::valid();
    project.reviewer(&Reviewer::pass());
    let tasks = |two: &str| {
        project.write(
            "tasks.md",
            format!("| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | {two} |\n"),
        );
    };
    tasks("pending");
    project.set_state(
        json!({ "phase": "code-review", "phase_iteration": 0, "next_phase": "all-code-review" }),
    );
    finish(&project, "add-task", "2");
    // The turn ends without a review of code that does not exist.
    let left = "The all-code-review was left without having passed (`taskie add-task`).";
    let valid = format!("Plan '{PLAN}' structure validated successfully");
    assert_eq!(project.stop().json(), allowed(&format!("{left}\n{valid}")));
    let next = project.run(&["next", "--json"]).json();
    assert_eq!(next["action"], "complete-task");
    assert_eq!(
        next["why"],
        "code-review is over. If its last review lists issues that have no answer, answer them first. Next task: 2."
    );
    tasks("done");
    finish(&project, "complete-task", "2");
    assert_eq!(project.stop().json()["decision"], "block");
    project.write("task-2-post-review-1.md", "# Answer\n");
    finish(&project, "post-code-review", "2");
    assert_eq!(project.stop().json()["decision"], Value::Null);
    assert_eq!(project.state()["next_phase"], "all-code-review");
    assert_eq!(project.calls().len(), 2);
}

/// At the end of the plan, `next` names the tasks that are still open.
#[test]
fn the_end_names_what_is_still_open() {
    let project = Project::valid();
    let next = || project.run(&["next", "--json"]).json();
    project.set_state(json!({ "phase": "all-code-review", "next_phase": "complete" }));
    assert_eq!(
        (&next()["action"], &next()["why"]),
        (
            &json!("ask"),
            &json!(
                "The all-code-review was left without having passed. Still open: 1, 2. Ask the user what becomes of them: implement one (/taskie:complete-task), or give it the status `cancelled` in tasks.md."
            )
        )
    );
    project.set_state(json!({ "phase": "complete", "next_phase": null }));
    assert_eq!(
        (&next()["action"], &next()["why"]),
        (
            &json!("ask"),
            &json!(
                "Phase complete, task 1, nothing is due, and a task is open again: 1: ask the user what to do (`taskie add-task --plan test-plan --task 1` has it come next)."
            )
        )
    );
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

// ── --check ─────────────────────────────────────────────────────────────────────────────

/// (phase and options, state before)
#[test]
fn a_check_says_what_entering_would_say_and_writes_nothing() {
    let running =
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 });
    let cases: [(&[&str], Value); 9] = [
        (&["complete-task", "--task", "2"], json!({ "next_phase": null })),
        (&["complete-task", "--task", "2"], running.clone()),
        (&["post-code-review"], running.clone()),
        (&["post-plan-review"], running.clone()),
        (&["continue-task"], running.clone()),
        (&["complete"], json!({ "next_phase": null })),
        (&["complete", "--force"], running),
        (&["complete-task", "--task", "9"], json!({ "next_phase": null })),
        (&["audit"], json!({})),
    ];
    for (args, before) in cases {
        let project = Project::in_state(before);
        let files = project.files();
        let checked = project.run(&[&["enter", "--check"], args].concat());
        assert_eq!(project.files(), files, "{args:?}");
        let entered = project.run(&[&["enter"], args].concat());
        assert_eq!((checked.code, &checked.stderr), (entered.code, &entered.stderr), "{args:?}");
        let stdout = match entered.code {
            0 => format!("{} may be entered in plan '{PLAN}'; nothing was written.\n", args[0]),
            _ => String::new(),
        };
        assert_eq!(checked.stdout, stdout, "{args:?}");
    }
}

#[test]
fn a_check_creates_no_plan() {
    let project = Project::empty();
    let ran = project.run(&["enter", "new-plan", "--plan", "fresh", "--check"]);
    let stdout = "new-plan may be entered in plan 'fresh'; nothing was written.\n";
    assert_eq!(ran.all(), (0, stdout, ""));
    assert_eq!(fs::read_dir(&project.root).unwrap().count(), 0);
    // No other phase starts a plan.
    let ran = project.run(&["enter", "create-tasks", "--plan", "fresh", "--check"]);
    assert_eq!(ran.out(), (1, ""));
    // A state that cannot be read is reported, just as by the real command.
    let project = Project::valid();
    project.write("state.json", "{");
    let args = ["enter", "complete-task", "--task", "1"];
    let (entered, checked) = (project.run(&args), project.run(&[&args[..], &["--check"]].concat()));
    assert_eq!(
        (checked.code, checked.stdout, &checked.stderr),
        (1, String::new(), &entered.stderr)
    );
    assert!(entered.stderr.contains("is not valid JSON"));
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
    for (tdd, forgets_answers) in [(false, false), (true, false), (false, true)] {
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
