//! No loop ends in silence: what nobody else would say is said at a stop, once.

use std::fs;

use serde_json::{Value, json};

use crate::expected::plan_in;
use crate::support::{PLAN, Project, Ran, Reviewer, silent};

/// Returns what a stop tells the user, which must be allowed.
fn told(ran: &Ran) -> String {
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(ran.json().get("decision"), None, "{}", ran.stdout);
    ran.message()
}

const DUE: &str = "Plan 'test-plan' waits for its code-review, but this session has not taken it up: /taskie:continue-plan";

#[test]
fn a_plan_that_no_session_drives() {
    let owed =
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 });
    let answer = "Plan 'test-plan' waits for the answer to its code-review, but this session has not taken it up: /taskie:continue-plan";
    for (state, message) in [
        (json!({}), DUE),
        (owed, answer),
        (json!({ "next_phase": "complete-task" }), ""),
        (json!({ "next_phase": null, "paused": "code-review" }), ""),
    ] {
        let project = plan_in(&state, &Reviewer::fail());
        project.write("task-1-review-1.md", "# Review\n");
        let before = project.files();
        assert_eq!(told(&project.stop_of("s1")), message, "{state}");
        // Once for each session and state.
        assert_eq!(project.stop_of("s1").stdout, silent(), "{state}");
        assert_eq!(told(&project.stop_of("s2")), message, "{state}");
        assert_eq!((project.files(), project.calls().len()), (before, 0));
    }
}

#[test]
fn it_is_said_again_when_the_state_has_changed() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    assert_eq!(told(&project.stop_of("s1")), DUE);
    project.set_state(json!({ "consecutive_clean": 1 }));
    assert_eq!(told(&project.stop_of("s1")), DUE);
    assert_eq!(project.stop_of("s1").stdout, silent());
    // Whoever takes it up gets the review, and the others are not told.
    assert_eq!(project.run(&["next", "--session", "s2"]).code, 0);
    project.set_state(json!({}));
    assert_eq!(project.stop_of("s1").stdout, silent());
    assert_eq!(project.stop_of("s2").json()["decision"], "block");
}

#[test]
fn nothing_is_said_of_a_plan_that_cannot_be_used() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    project.write("state.json", "{");
    assert_eq!(project.stop_of("s1").all(), (0, silent(), ""));
    assert_eq!(Project::empty().stop_of("s1").all(), (0, silent(), ""));
}

#[test]
fn a_review_without_an_answer() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    assert_eq!(project.run(&["next", "--session", "s1"]).code, 0);
    assert_eq!(project.stop_of("s1").json()["decision"], "block");
    let event = |active: bool| {
        let event = json!({
            "session_id": "s1", "cwd": project.root, "hook_event_name": "Stop", "stop_hook_active": active,
        });
        project.hook_raw("stop", event.to_string())
    };
    let unanswered = format!(
        ".taskie/plans/{PLAN}/task-1-review-1.md has not been answered: /taskie:continue-plan"
    );
    for active in [true, false] {
        assert_eq!(told(&event(active)), unanswered);
    }
    project.write("task-1-post-review-1.md", "# Answer\n");
    assert_eq!(event(false).json()["decision"], "block");
}

/// What leaves a cycle, and what the user is told at the next stop.
#[test]
fn a_cycle_that_is_left() {
    let left = "The code-review was left without having passed";
    let next = format!("{left}, and complete-task comes next");
    let mine = ["--session", "s1"];
    for (args, who, message) in [
        (vec!["run", "skip"], "`taskie run skip`", next.clone()),
        (
            vec!["run", "pause"],
            "`taskie run pause`",
            "The code-review was paused".to_owned(),
        ),
        (
            [&["run", "skip"][..], &mine].concat(),
            "`taskie run skip` in this session",
            next.clone(),
        ),
        (
            vec!["run", "skip", "--session", "other"],
            "`taskie run skip` in session other",
            next,
        ),
        (
            vec!["enter", "complete", "--force"],
            "`taskie enter complete --force`",
            left.to_owned(),
        ),
    ] {
        let project = plan_in(&json!({}), &Reviewer::fail());
        assert_eq!(project.run(&["next", "--session", "s1"]).code, 0);
        assert_eq!(project.run(&args).code, 0);
        // The other session has claimed the plan.
        let session = if args.contains(&"other") {
            "other"
        } else {
            "s1"
        };
        let expected = match session {
            "other" => format!("{message}: `taskie run skip` in this session."),
            _ => format!("{message}: {who}."),
        };
        let said = told(&project.stop_of(session));
        assert_eq!(said.lines().next(), Some(expected.as_str()), "{args:?}");
        assert!(
            !told(&project.stop_of(session)).contains(&message),
            "{args:?}"
        );
    }
}

#[test]
fn a_state_that_was_changed_by_hand() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    let mut state = project.state();
    state["next_phase"] = Value::Null;
    project.write("state.json", state.to_string());
    let message =
        "The code-review was left: state.json was changed, and not by taskie on this machine.";
    let said = told(&project.stop());
    assert_eq!(said.lines().next(), Some(message));
    assert!(!told(&project.stop()).contains(message));
}

#[test]
fn a_cycle_that_goes_on_was_not_left() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    for command in ["pause", "resume"] {
        assert_eq!(project.run(&["run", command]).code, 0);
    }
    let answer = project.stop().json();
    assert_eq!(answer["decision"], "block");
    assert!(
        !answer["systemMessage"].to_string().contains("was paused"),
        "{answer}"
    );
    // A cycle that ends by itself is not left either.
    let project = plan_in(&json!({ "consecutive_clean": 1 }), &Reviewer::pass());
    assert_eq!(project.run(&["next", "--session", "s1"]).code, 0);
    assert!(told(&project.stop_of("s1")).contains("Code review passed."));
    assert!(!told(&project.stop_of("s1")).contains("was left"));
}

#[test]
fn the_commands_agree_with_the_stop() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let status = |project: &Project| project.run(&["status", "--json"]).json();
    let nobodys = status(&project);
    assert_eq!(nobodys["stop"]["does"], "allow");
    assert_eq!(nobodys["waits_for"], "user");
    let text = nobodys["stop"]["text"].as_str().unwrap();
    assert!(
        text.starts_with(
            "it is allowed: no session drives the plan; once one has taken it up, code-review 1"
        ),
        "{text}"
    );
    let why = "Nothing is left to do before the next code-review, but no session is working on this plan: run /taskie:continue-plan in a session to start the review.";
    assert_eq!(nobodys["next"]["why"], why);
    let rendered = project.run(&["render", "--next"]);
    assert!(
        rendered.stderr.starts_with(
            "taskie: no session drives the plan, so a stop does nothing until one has taken it up\n"
        ),
        "{}",
        rendered.stderr
    );
    let doctor = project.run(&["doctor"]).stdout;
    assert!(
        doctor.replace("\n", " ").contains("no session drives"),
        "{doctor}"
    );
    // A terminal sees what the session that drives it gets.
    assert_eq!(project.run(&["next", "--session", "s1"]).code, 0);
    let driven = status(&project);
    assert_eq!(driven["stop"]["does"], "review");
    assert_eq!(driven["waits_for"], "stop");
    let why = driven["next"]["why"].as_str().unwrap().to_owned();
    assert_eq!(
        why,
        "Nothing is left to do before the next code-review: the session that drives this plan runs it at its next stop."
    );
    assert!(
        !project
            .run(&["render", "--next"])
            .stderr
            .contains("no session drives")
    );
    assert!(
        !project
            .run(&["doctor"])
            .stdout
            .contains("no session drives")
    );
}

#[test]
fn a_second_session_is_not_invited() {
    let project = Project::in_state(json!({}));
    assert_eq!(project.run(&["next", "--session", "s1"]).code, 0);
    let start = |session: &str| {
        let event = json!({ "session_id": session, "cwd": project.root, "source": "startup" });
        project
            .hook_raw("session-start", event.to_string())
            .message()
    };
    let waits = format!("Plan '{PLAN}' is waiting: code-review comes next.");
    assert_eq!(
        start("s1"),
        format!("{waits} /taskie:continue-plan continues it.")
    );
    assert_eq!(
        start("s2"),
        format!(
            "{waits} Session s1 drives it; if that one has ended, /taskie:continue-plan takes it over."
        )
    );
}

#[test]
fn one_file_that_cannot_be_read_hides_nothing_else() {
    let project = Project::in_state(json!({ "consecutive_clean": 1 }));
    fs::remove_file(project.plan().join("tasks.md")).unwrap();
    project.write("task-1-review-1.md", "# Review\n\nVerdict: FAIL\n");
    let ran = project.run(&["status", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.json()["phase"], "complete-task");
    assert_eq!(ran.json()["reviews"][0]["stated"], "FAIL");
    // A decision that needs it is refused, and says what to do.
    let ran = project.run(&["enter", "complete"]);
    assert_eq!(ran.code, 1);
    let project =
        Project::in_state(json!({ "phase": "code-review", "next_phase": "complete-task" }));
    fs::remove_file(project.plan().join("tasks.md")).unwrap();
    let ran = project.run(&["enter", "complete-task"]);
    assert_eq!(ran.code, 1);
    let why = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        why.contains("tasks.md is missing, and there is a task-1.md: restore it"),
        "{why}"
    );
    assert_eq!(
        project.run(&["enter", "complete-task", "--task", "2"]).code,
        1
    );
    assert_eq!(project.run(&["status"]).code, 0);
}

#[test]
fn an_answer_comes_before_its_phase() {
    let state =
        json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 });
    let project = Project::in_state(state.clone());
    project.write("task-1-review-1.md", "# Review\n");
    let ran = project.run(&["enter", "post-code-review"]);
    assert_eq!(ran.code, 1);
    let why = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!(
        "Write .taskie/plans/{PLAN}/task-1-post-review-1.md first: it is missing, or older than the review."
    );
    assert!(why.contains(&expected), "{why}");
    assert_eq!(project.state(), crate::support::state(state));
    project.write("task-1-post-review-1.md", "# Answer\n");
    assert_eq!(project.run(&["enter", "post-code-review"]).code, 0);
    assert_eq!(project.state()["next_phase"], "code-review");
}

#[test]
fn what_is_missing_is_said_in_the_users_words() {
    let state =
        json!({ "phase": "create-tasks", "next_phase": "tasks-review", "current_task": null });
    let project = plan_in(&state, &Reviewer::fail());
    project.write("tasks.md", "| Id | Status |\n|---|---|\n");
    let said = project.stop().message();
    assert!(
        said.starts_with("Review failed: tasks.md lists no tasks: /taskie:create-tasks. "),
        "{said}"
    );
}

#[test]
fn no_home_is_created_below_another() {
    let project = Project::empty();
    let home = project.bin.with_file_name("home");
    let (work, src) = (home.join("work"), home.join("work/src"));
    fs::create_dir_all(&src).unwrap();
    let enter = |dir: &std::path::Path, plan: &str| {
        let mut command = project.command(["enter", "new-plan", "--plan", plan]);
        Ran::of(command.current_dir(dir).output().unwrap())
    };
    assert_eq!(enter(&work, "p1").code, 0);
    assert_eq!(enter(&src, "p2").code, 0);
    assert!(work.join(".taskie/plans/p2").is_dir() && !src.join(".taskie").exists());
    // Nor in a repository below it, unless the user makes it.
    fs::create_dir_all(src.join(".git")).unwrap();
    let ran = enter(&src, "p3");
    let why = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, 1);
    assert!(
        why.contains("already has a .taskie, so none is created in"),
        "{why}"
    );
    assert!(!src.join(".taskie").exists());
    fs::create_dir_all(src.join(".taskie")).unwrap();
    assert_eq!(enter(&src, "p3").code, 0);
    assert!(src.join(".taskie/plans/p3").is_dir());
}
