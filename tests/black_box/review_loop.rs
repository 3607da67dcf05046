//! The review loop over a whole turn as the host drives it, every phase through `taskie enter`, and the commands.

use std::fs;

use serde_json::{Value, json};

use crate::expected::{plan_in, review};
use crate::support::{
    PLAN, Project, Reviewer, allowed, blocked, cases, json_of, nobodys, set_modified, silent,
    state, validated,
};

/// One review cycle, among the phases.
struct Cycle {
    id: &'static str,
    /// The phase whose work is reviewed first.
    arming: &'static str,
    /// What comes next once it is clean.
    target: &'static str,
}

const CYCLES: [Cycle; 4] = [
    Cycle {
        id: "plan-review",
        arming: "new-plan",
        target: "create-tasks",
    },
    Cycle {
        id: "tasks-review",
        arming: "create-tasks",
        target: "complete-task",
    },
    Cycle {
        id: "code-review",
        arming: "complete-task",
        target: "complete-task",
    },
    Cycle {
        id: "all-code-review",
        arming: "code-review",
        target: "complete",
    },
];

impl Cycle {
    fn post(&self) -> String {
        format!("post-{}", self.id)
    }

    fn task(&self) -> Value {
        if self.id.ends_with("code-review") {
            json!("1")
        } else {
            Value::Null
        }
    }
}

/// The models in the calls of `claude`, in order.
fn models(project: &Project) -> Vec<String> {
    let model = |call: &Vec<String>| {
        call[1 + call.iter().position(|arg| arg == "--model").unwrap()].clone()
    };
    project.calls().iter().map(model).collect()
}

/// FAIL, FAIL, PASS, PASS within one turn: the first stop is the turn's first, the others are not.
fn turn(cycle: &Cycle, forgets: bool) {
    let project = Project::in_state(json!({
        "phase": cycle.arming, "next_phase": cycle.id, "current_task": cycle.task(), "extra": { "mine": [1, 2] },
    }));
    let expected = |changes: Value| {
        let mut expected = state(
            json!({ "phase": cycle.id, "current_task": cycle.task(), "extra": { "mine": [1, 2] } }),
        );
        expected
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        expected
    };
    for (index, verdict) in ["FAIL", "FAIL", "PASS", "PASS"].into_iter().enumerate() {
        let n = u32::try_from(index).unwrap() + 1;
        let review = match verdict {
            "PASS" => review(cycle.id, n).clean(),
            _ => review(cycle.id, n),
        };
        let next_model = if n % 2 == 0 { "opus" } else { "sonnet" };
        project.reviewer(&Reviewer::of(verdict));
        let ran = project.stop_active(n > 1);
        assert_eq!(ran.err(), (0, ""), "{} {n}", cycle.id);
        if n == 4 {
            assert_eq!(ran.json(), allowed(&review.passed(cycle.target)));
            break;
        }
        assert_eq!(ran.json(), blocked(&review.block()));
        let reviewed = json!({
            "phase_iteration": n, "review_model": next_model, "consecutive_clean": n / 3, "next_phase": cycle.post(),
        });
        assert_eq!(project.state(), expected(reviewed.clone()));
        project.write(&review.answer(), "# Answer\n");
        if forgets {
            continue;
        }
        let ran = project.run(&["enter", &cycle.post(), "--plan", PLAN]);
        assert_eq!(ran.err(), (0, ""));
        assert_eq!(
            ran.stdout,
            format!(
                "Entered {} in plan '{PLAN}'.\n{}\n",
                cycle.post(),
                nobodys(cycle.id)
            )
        );
        let mut answered = expected(reviewed);
        answered["phase"] = json!(cycle.post());
        answered["next_phase"] = json!(cycle.id);
        assert_eq!(project.state(), answered);
    }
    assert_eq!(models(&project), ["opus", "sonnet", "opus", "sonnet"]);
    let passed = json!({ "phase_iteration": 4, "review_model": "opus", "consecutive_clean": 2, "next_phase": cycle.target });
    assert_eq!(project.state(), expected(passed));
    let mut names: Vec<String> = (1..=4).map(|n| review(cycle.id, n).file()).collect();
    names.extend((1..=3).map(|n| review(cycle.id, n).answer()));
    names.extend(
        [
            "plan.md",
            "state.json",
            "task-1.md",
            "task-2.md",
            "tasks.md",
        ]
        .map(str::to_owned),
    );
    names.sort();
    assert_eq!(project.names(), names);
    // The plan is not touched now: the next turn's stop only checks its structure.
    project.reviewer(&Reviewer::fail());
    let before = project.files();
    assert_eq!(project.stop().json(), validated());
    assert_eq!((project.calls().len(), project.files()), (4, before));
}

#[test]
fn a_turn_of_four_reviews_ends_in_the_advance() {
    for cycle in &CYCLES {
        turn(cycle, false);
    }
}

#[test]
fn an_agent_that_forgets_the_transition_gets_its_next_review() {
    for cycle in &CYCLES {
        turn(cycle, true);
    }
}

#[test]
fn an_answer_older_than_the_review_does_not_count() {
    let project = Project::in_state(
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
    );
    project.write("task-1-post-review-1.md", "# Answer of an earlier cycle\n");
    project.write("task-1-review-1.md", "# Review\n");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    set_modified(project.plan().join("task-1-post-review-1.md"), old);
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json(), validated());
    assert!(project.calls().is_empty());
}

#[test]
fn a_stop_before_the_answer_is_written_is_allowed() {
    for active in [false, true] {
        let project = Project::in_state(
            json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
        );
        project.write("task-1-review-1.md", "# Review\n");
        project.reviewer(&Reviewer::fail());
        let before = project.files();
        let ran = project.stop_active(active);
        let expected = if active {
            json!({ "suppressOutput": true })
        } else {
            validated()
        };
        assert_eq!(
            (ran.code, ran.json(), project.calls().len()),
            (0, expected, 0)
        );
        assert_eq!(project.files(), before);
    }
}

#[test]
fn the_last_task_leads_to_the_review_of_all_code() {
    for (statuses, tdd, target) in [
        (["done", "pending"], false, "complete-task"),
        (["done", "pending"], true, "complete-task-tdd"),
        (["in-progress", "done"], true, "all-code-review"),
        (["pending", "**Cancelled**"], false, "all-code-review"),
        (["pending", "whatever"], false, "complete-task"),
    ] {
        let project = Project::valid();
        let rows = format!(
            "| Id | Status |\n|---|---|\n| 1 | {} |\n| 2 | {} |\n",
            statuses[0], statuses[1]
        );
        project.write("tasks.md", rows);
        project.set_state(json!({ "tdd": tdd, "consecutive_clean": 1, "phase_iteration": 3, "phase": "post-code-review" }));
        project.reviewer(&Reviewer::pass());
        let message = format!(
            "Code review passed. Run /taskie:continue-plan to proceed. (Next: {target}. Reviews in this cycle: 4.)"
        );
        assert_eq!(project.stop().json(), allowed(&message));
        let mut expected = state(json!({
            "tdd": tdd, "phase": "code-review", "next_phase": target, "phase_iteration": 4, "review_model": "sonnet", "consecutive_clean": 2,
        }));
        if target == "all-code-review" {
            // A cycle that starts over.
            expected["phase_iteration"] = json!(0);
            expected["review_model"] = json!("opus");
            expected["consecutive_clean"] = json!(0);
        }
        assert_eq!(project.state(), expected, "{statuses:?}");
    }
}

#[test]
fn a_whole_plan_with_taskie_and_the_hook_alone() {
    let project = Project::empty();
    let enter = |args: &[&str]| {
        let ran = project.run(&[&["enter"], args].concat());
        assert_eq!(ran.err(), (0, ""), "{args:?}");
    };
    // Two clean reviews, the answer to the first in between.
    let pass = |base: &str, post: &str, next: &str| {
        project.reviewer(&Reviewer::pass());
        assert_eq!(project.stop().json()["decision"], "block", "{base}");
        project.write(&format!("{base}-post-review-1.md"), "# Answer\n");
        enter(&[post, "--plan", PLAN]);
        assert_eq!(
            project.stop_active(true).json()["decision"],
            Value::Null,
            "{base}"
        );
        assert_eq!(project.state()["next_phase"], next);
    };
    enter(&["new-plan", "--plan", PLAN]);
    project.write("plan.md", "# Plan\n\n## Overview\n");
    pass("plan", "post-plan-review", "create-tasks");
    project.write(
        "tasks.md",
        "| Id | Status |\n|---|---|\n| a | pending |\n| b | pending |\n",
    );
    project.write("task-a.md", "# Task a\n");
    project.write("task-b.md", "# Task b\n");
    enter(&["create-tasks"]);
    pass("tasks", "post-tasks-review", "complete-task");
    // Without --task, it is the first remaining task.
    enter(&["complete-task-tdd"]);
    assert_eq!(project.state()["current_task"], "a");
    pass("task-a", "post-code-review", "complete-task-tdd");
    project.write(
        "tasks.md",
        "| Id | Status |\n|---|---|\n| a | done |\n| b | pending |\n",
    );
    enter(&["complete-task"]);
    assert_eq!(project.state()["current_task"], "b");
    project.write(
        "tasks.md",
        "| Id | Status |\n|---|---|\n| a | done |\n| b | done |\n",
    );
    pass("task-b", "post-code-review", "all-code-review");
    pass("all-code", "post-all-code-review", "complete");
    enter(&["complete"]);
    assert_eq!(
        project.state(),
        json!({
            "max_reviews": 8, "current_task": "b", "phase": "complete", "phase_iteration": 2, "next_phase": null,
            "review_model": "opus", "consecutive_clean": 2, "tdd": false, "paused": null,
        })
    );
    assert_eq!(project.calls().len(), 10);
    assert_eq!(project.stop().json(), validated());
}

/// What `taskie enter` writes: (phase, options, state before or none, changes to it).
#[test]
fn every_phase_can_be_entered_and_writes_what_the_plan_says() {
    let fresh = || json!({ "phase_iteration": 0, "review_model": "opus", "consecutive_clean": 0, "paused": null });
    let free = json!({ "phase": "code-review", "next_phase": null, "phase_iteration": 3, "review_model": "sonnet", "consecutive_clean": 2, "max_reviews": 5, "mine": "kept" });
    let running = |phase: &str, next: &str| json!({ "phase": phase, "next_phase": next, "phase_iteration": 2, "review_model": "sonnet", "consecutive_clean": 1 });
    let with = |base: Value, more: Value| {
        let mut all = base;
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    let by_hand = || json!({ "next_phase": null, "phase_iteration": null, "paused": null });
    let answered = |next: Value| json!({ "next_phase": next, "paused": null });
    let cases: Vec<(&str, &[&str], Value, Value)> = vec![
        (
            "new-plan",
            &[],
            json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null }),
            with(
                fresh(),
                json!({ "next_phase": "plan-review", "tdd": false, "current_task": null }),
            ),
        ),
        (
            "create-tasks",
            &[],
            free.clone(),
            with(
                fresh(),
                json!({ "next_phase": "tasks-review", "current_task": null }),
            ),
        ),
        (
            "next-task",
            &["--task", "2"],
            free.clone(),
            json!({ "current_task": "2", "next_phase": null, "phase_iteration": null, "paused": null }),
        ),
        (
            "next-task-tdd",
            &["--task", "2"],
            free.clone(),
            json!({ "current_task": "2", "next_phase": null, "phase_iteration": null, "paused": null }),
        ),
        (
            "complete-task",
            &["--task", "2"],
            with(free.clone(), json!({ "tdd": true })),
            with(
                fresh(),
                json!({ "current_task": "2", "next_phase": "code-review", "tdd": false }),
            ),
        ),
        (
            "complete-task-tdd",
            &["--task", "2"],
            free.clone(),
            with(
                fresh(),
                json!({ "current_task": "2", "next_phase": "code-review", "tdd": true }),
            ),
        ),
        ("continue-task", &[], json!({}), json!({})),
        ("continue-task", &[], free.clone(), json!({})),
        (
            "complete",
            &[],
            json!({ "phase": "all-code-review", "next_phase": "complete" }),
            json!({ "next_phase": null, "paused": null }),
        ),
        ("plan-review", &[], free.clone(), by_hand()),
        ("tasks-review", &[], free.clone(), by_hand()),
        ("code-review", &[], free.clone(), by_hand()),
        ("all-code-review", &[], free.clone(), by_hand()),
        (
            "post-plan-review",
            &[],
            running("plan-review", "post-plan-review"),
            answered(json!("plan-review")),
        ),
        (
            "post-tasks-review",
            &[],
            running("tasks-review", "post-tasks-review"),
            answered(json!("tasks-review")),
        ),
        (
            "post-code-review",
            &[],
            running("code-review", "post-code-review"),
            answered(json!("code-review")),
        ),
        (
            "post-all-code-review",
            &[],
            running("all-code-review", "post-all-code-review"),
            answered(json!("all-code-review")),
        ),
        // The second time, nothing changes.
        (
            "post-code-review",
            &[],
            running("post-code-review", "code-review"),
            answered(json!("code-review")),
        ),
        // The answer to a review by hand: nothing follows.
        (
            "post-code-review",
            &[],
            json!({ "phase": "code-review", "next_phase": null, "phase_iteration": null }),
            answered(Value::Null),
        ),
        // Whatever was paused no longer is.
        (
            "code-review",
            &[],
            with(free.clone(), json!({ "paused": "plan-review" })),
            by_hand(),
        ),
        (
            "post-code-review",
            &[],
            with(
                running("code-review", "post-code-review"),
                json!({ "paused": "plan-review" }),
            ),
            answered(json!("code-review")),
        ),
    ];
    for (phase, options, before, changes) in cases {
        let project = Project::in_state(before.clone());
        for (cycle, n) in CYCLES
            .iter()
            .flat_map(|cycle| (1..=8).map(move |n| (cycle, n)))
        {
            let review = review(cycle.id, n);
            project.write(&review.file(), "# Review\n");
            project.write(&review.answer(), "# Answer\n");
        }
        let ran = project.run(&[&["enter", phase], options].concat());
        assert_eq!(ran.err(), (0, ""), "{phase} from {before}");
        let had_paused = before.get("paused").is_some();
        let mut expected = state(before);
        expected
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        expected["phase"] = json!(phase);
        // A field that the state did not have isn't added to say that it is null.
        if !had_paused {
            expected.as_object_mut().unwrap().shift_remove("paused");
        }
        assert_eq!(project.state(), expected, "{phase}");
        let mut stdout = match phase {
            "complete" => format!(
                "The plan '{PLAN}' is complete: 0 of 2 tasks done, no reviews, nothing was put off.\n"
            ),
            _ => format!("Entered {phase} in plan '{PLAN}'.\n"),
        };
        if let Some(next) = expected["next_phase"]
            .as_str()
            .filter(|next| next.ends_with("-review") && !next.starts_with("post-"))
        {
            stdout.push_str(&format!("{}\n", nobodys(next)));
        }
        assert_eq!(ran.stdout, stdout, "{phase}");
    }
}

const PHASES: [&str; 16] = [
    "new-plan",
    "create-tasks",
    "next-task",
    "next-task-tdd",
    "complete-task",
    "complete-task-tdd",
    "continue-task",
    "complete",
    "plan-review",
    "tasks-review",
    "code-review",
    "all-code-review",
    "post-plan-review",
    "post-tasks-review",
    "post-code-review",
    "post-all-code-review",
];

/// While a cycle runs, only its post phase, `continue-task`, and, before the first review, its arming phase may be
/// entered. Each refusal says why, exits with 1 and leaves the state unchanged, byte for byte.
#[test]
fn a_running_cycle_keeps_other_phases_out() {
    for cycle in &CYCLES {
        let post = cycle.post();
        let arming = Some(cycle.arming).filter(|arming| *arming != "code-review");
        let stages = [
            (
                "before the first review",
                cycle.arming,
                cycle.id,
                0,
                vec![arming],
            ),
            (
                "a review is answered",
                cycle.id,
                &post,
                1,
                vec![Some(&*post)],
            ),
            (
                "the next review is due",
                &post,
                cycle.id,
                1,
                vec![Some(&*post)],
            ),
        ];
        for (stage, phase, next, n, open) in stages {
            let project = Project::valid();
            let changes = json!({ "phase": phase, "next_phase": next, "phase_iteration": n, "current_task": cycle.task() });
            if n > 0 {
                let review = review(cycle.id, 1);
                project.write(&review.file(), "# Review\n");
                project.write(&review.answer(), "# Answer\n");
            }
            for name in PHASES {
                project.set_state(changes.clone());
                let before = project.read("state.json");
                let mut args = vec!["enter", name];
                if name.starts_with("complete-task") || name.starts_with("next-task") {
                    args.extend(["--task", "1"]);
                }
                let ran = project.run(&args);
                let what = format!("{name}, {}: {stage}", cycle.id);
                if open.contains(&Some(name)) || name == "continue-task" && !cycle.task().is_null()
                {
                    assert_eq!(ran.err(), (0, ""), "{what}");
                    continue;
                }
                assert_eq!(ran.out(), (1, ""), "{what}");
                let why = match (name, name.strip_prefix("post-")) {
                    ("new-plan", _) => format!(
                        "Plan '{PLAN}' has already started (phase {phase}). Name a new one: --plan."
                    ),
                    ("continue-task", _) => "No task has been started yet.".to_owned(),
                    (_, Some(review)) => format!(
                        "No {review} waits for an answer: the phase is {phase}, and {next} comes next."
                    ),
                    _ => format!(
                        "The {} loop is running, and {next} comes next. Only the user can leave it: `! taskie pause` for now, `! taskie skip` for good.",
                        cycle.id
                    ),
                };
                assert_eq!(
                    ran.stderr,
                    format!("taskie: {why}\n  help: nothing was written\n"),
                    "{what}"
                );
                assert_eq!(project.read("state.json"), before, "{what}");
            }
        }
    }
}

#[test]
fn refusals_word_for_word() {
    for (args, changes, stderr) in
        cases::<(Vec<&str>, &str, &str)>("review_loop", "refusals_word_for_word")
    {
        let project = Project::in_state(json_of(changes));
        let before = project.files();
        let ran = project.run(&[&["enter"], &args[..]].concat());
        assert_eq!(ran.all(), (1, "", stderr), "{args:?}");
        assert_eq!(project.files(), before, "{args:?}");
    }
}

#[test]
fn force_passes_guards() {
    for name in PHASES {
        let project = Project::in_state(
            json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
        );
        let ran = project.run(&["enter", name, "--force"]);
        assert_eq!(ran.err(), (0, ""), "{name}");
        assert_eq!(project.state()["phase"], name);
    }
}

#[test]
fn force_never_passes_the_schema() {
    for (what, args, before, stderr) in
        cases::<(&str, Vec<&str>, &str, &str)>("review_loop", "force_never_passes_the_schema")
    {
        let project = Project::valid();
        project.write("state.json", before);
        let ran = project.run(&[&["enter", "--force"], &args[..]].concat());
        assert_eq!(ran.all(), (1, "", stderr), "{what}");
        assert_eq!(project.read("state.json"), before, "{what}");
    }
}

#[test]
fn commands() {
    type Case = (Vec<&'static str>, &'static str, &'static str, &'static str);
    for (args, before, changes, refusal) in cases::<Case>("review_loop", "commands") {
        let project = Project::in_state(json_of(before));
        let text = project.read("state.json");
        let ran = project.run(&[&["run"], &args[..]].concat());
        match refusal {
            said if !changes.is_empty() => {
                assert_eq!(ran.err(), (0, ""), "{args:?} from {before}");
                let mut expected = state(json_of(before));
                expected
                    .as_object_mut()
                    .unwrap()
                    .extend(json_of(changes).as_object().unwrap().clone());
                assert_eq!(project.state(), expected, "{args:?}");
                let mut stdout = format!("{said}\n");
                if let Some(next) = expected["next_phase"].as_str()
                    && CYCLES.iter().any(|cycle| cycle.id == next)
                {
                    stdout.push_str(&format!("{}\n", nobodys(next)));
                }
                assert_eq!(ran.stdout, stdout, "{args:?}");
            }
            why => {
                let stderr = format!("taskie: {why}\n  help: nothing was written\n");
                assert_eq!(
                    (ran.code, ran.stdout.as_str(), ran.stderr),
                    (1, "", stderr),
                    "{args:?} from {before}"
                );
                assert_eq!(project.read("state.json"), text, "{args:?}");
            }
        }
    }
}

#[test]
fn values_that_a_command_does_not_take() {
    let usage = "\n\nFor more information, try '--help'.\n";
    let cases = [
        (
            "-1",
            2,
            format!(
                "error: unexpected argument '-1' found\n\n  tip: to pass '-1' as a value, use '-- -1'\n\nUsage: taskie run limit [OPTIONS] <REVIEWS>{usage}"
            ),
        ),
        (
            "abc",
            2,
            format!(
                "error: invalid value 'abc' for '<REVIEWS>': invalid digit found in string{usage}"
            ),
        ),
        (
            "",
            2,
            format!(
                "error: invalid value '' for '<REVIEWS>': cannot parse integer from empty string{usage}"
            ),
        ),
        (
            "1.5",
            2,
            format!(
                "error: invalid value '1.5' for '<REVIEWS>': invalid digit found in string{usage}"
            ),
        ),
        (
            "99999999999999999999",
            2,
            format!(
                "error: invalid value '99999999999999999999' for '<REVIEWS>': number too large to fit in target type{usage}"
            ),
        ),
        // More than every JSON reader keeps exactly.
        (
            "9007199254740992",
            2,
            format!(
                "error: invalid value '9007199254740992' for '<REVIEWS>': 9007199254740992 is not in 0..=9007199254740991{usage}"
            ),
        ),
    ];
    let project = Project::in_state(json!({}));
    let before = project.files();
    for (value, code, stderr) in cases {
        let ran = project.run(&["run", "limit", value]);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr),
            (code, "", stderr),
            "{value}"
        );
        assert_eq!(project.files(), before, "{value}");
    }
}

#[test]
fn without_reviews_a_plan_moves_on() {
    let project = Project::valid();
    project.reviewer(&Reviewer::fail());
    project.write(
        "tasks.md",
        "| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | done |\n",
    );
    // No structure check in between: the flaw is reported at the end.
    project.write("notes.md", "");
    project.set_state(json!({ "max_reviews": 0, "phase_iteration": 3 }));
    for (cycle, next) in [
        ("code-review", "all-code-review"),
        ("all-code-review", "complete"),
    ] {
        let message = format!(
            "Reviews are off (max_reviews is 0). Run /taskie:continue-plan to proceed (next: {next})."
        );
        assert_eq!(project.stop().json(), allowed(&message));
        let expected = state(
            json!({ "max_reviews": 0, "phase": cycle, "next_phase": next, "phase_iteration": 0 }),
        );
        assert_eq!(project.state(), expected);
    }
    let flaw = blocked(&format!("Plan '{PLAN}': Invalid filename: notes.md"));
    assert_eq!((project.stop().json(), project.calls().len()), (flaw, 0));
}

/// An older state file: missing fields get their defaults, and the first write adds them.
#[test]
fn a_state_that_lacks_fields_is_reviewed_and_completed() {
    let project = Project::valid();
    project.write(
        "state.json",
        r#"{"next_phase": "code-review", "current_task": "2", "mine": 1}"#,
    );
    project.reviewer(&Reviewer::fail());
    let ran = project.stop();
    let warning = format!(
        ".taskie/plans/{PLAN}/state.json lacks `max_reviews`, `phase`, `review_model`, `consecutive_clean`, `tdd`: the defaults are used."
    );
    assert_eq!(
        (
            ran.json()["decision"].as_str(),
            ran.json()["systemMessage"].as_str()
        ),
        (Some("block"), Some(warning.as_str()))
    );
    assert_eq!(
        project.state(),
        json!({
            "next_phase": "post-code-review", "current_task": "2", "mine": 1, "max_reviews": 8, "phase": "code-review",
            "review_model": "sonnet", "consecutive_clean": 0, "tdd": false, "phase_iteration": 1,
        })
    );
    assert_eq!(project.stop().json(), validated());
}

#[test]
fn a_paused_loop_resumes_where_it_was_left() {
    let project = plan_in(
        &json!({ "phase": "post-code-review", "phase_iteration": 2, "consecutive_clean": 1, "review_model": "opus" }),
        &Reviewer::pass(),
    );
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    let valid = validated()["systemMessage"].as_str().unwrap().to_owned();
    let paused = format!("The code-review was paused: `taskie pause`.\n{valid}");
    assert_eq!(project.stop().json(), allowed(&paused));
    assert!(project.calls().is_empty());
    assert_eq!(project.run(&["run", "resume"]).code, 0);
    let message = "Code review passed. Run /taskie:continue-plan to proceed. (Next: complete-task. Reviews in this cycle: 3.)";
    assert_eq!(project.stop().json(), allowed(message));
}

/// Two sessions work on two plans at the same time: the stops and commands of each are about its own plan.
#[test]
fn each_session_drives_its_own_plan() {
    let project = Project::empty();
    let path = |plan: &str, name: &str| project.root.join(".taskie/plans").join(plan).join(name);
    let state = |plan: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(path(plan, "state.json")).unwrap()).unwrap()
    };
    let stop = |session: &str| project.stop_of(session);
    // Every file of the other plan becomes older than all files of this one.
    let touched_last = |plan: &str| {
        let ago = |seconds| std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
        for (name, time) in [("p", ago(200)), ("q", ago(200)), (plan, ago(100))] {
            for entry in fs::read_dir(path(name, "")).unwrap() {
                set_modified(entry.unwrap().path(), time);
            }
        }
    };
    let mut expected = json!({
        "max_reviews": 8, "phase": "new-plan", "next_phase": "plan-review", "review_model": "opus", "consecutive_clean": 0,
        "tdd": false, "current_task": null, "phase_iteration": 0, "paused": null,
    });
    for (plan, session) in [("p", "A"), ("q", "B")] {
        let ran = project.run(&["enter", "new-plan", "--plan", plan, "--session", session]);
        assert_eq!(ran.err(), (0, ""), "{plan}");
        fs::write(path(plan, "plan.md"), "# Plan\n\n## Overview\n").unwrap();
    }
    assert_eq!(
        (state("p"), state("q")),
        (expected.clone(), expected.clone())
    );
    project.reviewer(&Reviewer::fail());
    let fresh = expected.clone();
    expected["phase"] = json!("plan-review");
    expected["next_phase"] = json!("post-plan-review");
    expected["phase_iteration"] = json!(1);
    expected["review_model"] = json!("sonnet");

    touched_last("q");
    let before = project.files();
    let ran = stop("C");
    assert_eq!(ran.all(), (0, silent(), ""));
    assert_eq!((project.files(), project.calls().len()), (before, 0));

    // If a stop names its session, both the agent and the user get the verdict.
    let block = |plan: &str| {
        let (by, reported) = (
            "independent reviewer.",
            "independent reviewer. Its verdict is FAIL.",
        );
        let reason = review("plan-review", 1).block();
        json!({
            "decision": "block",
            "reason": reason.replace(PLAN, plan).replace(by, reported),
            "systemMessage": "plan-review 1/8: FAIL by opus (<$0.01), 0 of 2 clean",
        })
    };
    let ran = stop("A");
    assert_eq!(
        (ran.code, ran.json(), ran.stderr.as_str()),
        (0, block("p"), "")
    );
    assert_eq!(
        (state("p"), state("q"), project.calls().len()),
        (expected.clone(), fresh.clone(), 1)
    );

    touched_last("p");
    let ran = stop("B");
    assert_eq!(
        (ran.code, ran.json(), ran.stderr.as_str()),
        (0, block("q"), "")
    );
    assert_eq!(
        (state("p"), state("q"), project.calls().len()),
        (expected.clone(), expected.clone(), 2)
    );

    for last in ["p", "q"] {
        touched_last(last);
        let before = project.files();
        let ran = stop("C");
        assert_eq!(ran.all(), (0, silent(), ""), "{last}");
        assert_eq!(
            (project.files(), project.calls().len()),
            (before, 2),
            "{last}"
        );
    }

    let ran = project.run(&["run", "pause", "--session", "A"]);
    let stdout = "Paused: `taskie resume` returns to it.\nplan: p\n";
    assert_eq!(ran.all(), (0, stdout, ""));
    let mut paused = expected.clone();
    paused["next_phase"] = Value::Null;
    paused["paused"] = json!("post-plan-review");
    assert_eq!((state("p"), state("q")), (paused, expected.clone()));
}

#[test]
fn the_limit_names_the_ways_out_and_they_work() {
    let limit = "Max review limit (2) reached for code-review. Edit state.json to adjust max_reviews or set next_phase manually. (The cycle has not passed: 0 of 2 clean in a row. `! taskie limit N` allows more; `! taskie skip` moves on to complete-task.)";
    let project = Project::valid();
    project
        .set_state(json!({ "phase": "post-code-review", "phase_iteration": 2, "max_reviews": 2 }));
    project.reviewer(&Reviewer::fail());
    let before = project.files();
    assert_eq!(
        project.stop().json(),
        allowed(&format!(
            "{limit}\nPlan '{PLAN}' structure validated successfully"
        ))
    );
    assert_eq!(project.stop_active(true).json(), allowed(limit));
    assert_eq!((project.files(), project.calls().len()), (before, 0));
    assert_eq!(project.run(&["run", "limit", "3"]).code, 0);
    assert_eq!(project.stop_active(true).json()["decision"], "block");
    project.write("task-1-post-review-3.md", "# Answer\n");
    assert_eq!(
        project.stop_active(true).json(),
        allowed(&limit.replace("(2)", "(3)"))
    );
    assert_eq!(project.run(&["run", "skip"]).code, 0);
    assert_eq!(project.state()["next_phase"], "complete-task");
    let valid = validated()["systemMessage"].as_str().unwrap().to_owned();
    let left = "The code-review was left without having passed, and complete-task comes next: `taskie skip`.";
    assert_eq!(project.stop().json(), allowed(&format!("{left}\n{valid}")));
    assert_eq!(project.calls().len(), 1);
}

/// The user has left the cycle and paused what follows: an answer to its last review restarts nothing.
#[test]
fn an_answer_does_not_resume_a_paused_loop() {
    let project = Project::in_state(
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
    );
    assert_eq!(project.run(&["run", "skip"]).code, 0);
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    let before = project.files();
    let ran = project.run(&["enter", "post-code-review"]);
    let why = "taskie: No code-review waits for an answer: the phase is code-review, and the loop is paused (`taskie resume`).\n  help: nothing was written\n";
    assert_eq!(ran.all(), (1, "", why));
    assert_eq!(project.files(), before);
}
