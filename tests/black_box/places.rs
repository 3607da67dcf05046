//! The places where people run it: paths with spaces, without git, without a remote. Each test is one review loop from `new-plan` to its end, with the hook and `taskie enter` as the
//! agent runs them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Project, Ran, Reviewer, allowed, feed, git};

/// What the prompts say about the push.
const NO_REMOTE: &str = "If there is no remote, skip the push and say so.";

/// A shell line that runs in `dir`.
fn shell(project: &Project, dir: &Path, line: &str) -> Ran {
    Ran::of(project.shell(line).current_dir(dir).output().unwrap())
}

/// The hook as the host starts it: in the session's directory, which `cwd` names.
fn stop(project: &Project, session: &Path, active: bool) -> Ran {
    let mut command = project.command(["hook", "stop"]);
    command.current_dir(session);
    let event = json!({ "cwd": session, "hook_event_name": "Stop", "stop_hook_active": active });
    feed(command, event.to_string())
}

/// A whole plan review, the session being in `session` and the project's root being `root`.
fn review_loop(project: &Project, session: &Path, root: &Path) {
    project.reviewer(&Reviewer::pass().first("pwd > \"$here/pwd\""));
    let plan = root.join(".taskie/plans/p");
    let state = || -> Value {
        serde_json::from_str(&fs::read_to_string(plan.join("state.json")).unwrap()).unwrap()
    };
    let taskie = |line: &str| {
        let ran = shell(project, session, line);
        assert_eq!(ran.err(), (0, ""), "{line}");
    };
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), "# Plan\n\n## Overview\n").unwrap();
    taskie("taskie enter new-plan --plan p");
    let ran = stop(project, session, false);
    let reason = ran.json()["reason"].as_str().unwrap().to_owned();
    assert_eq!(ran.err(), (0, ""));
    assert!(reason.contains("has been written to .taskie/plans/p/plan-review-1.md by"), "{reason}");
    assert!(reason.contains(NO_REMOTE), "{reason}");
    assert!(plan.join("plan-review-1.md").is_file());
    assert_eq!(
        fs::read_to_string(project.bin.join("pwd")).unwrap(),
        format!("{}\n", root.display())
    );
    // The command that the message asks for, exactly as written.
    let (_, rest) = reason.split_once("run `taskie enter").unwrap();
    let step = format!("taskie enter{}", rest.split_once('`').unwrap().0);
    fs::write(plan.join("plan-post-review-1.md"), "# Answer\n").unwrap();
    taskie(&step);
    assert_eq!(
        stop(project, session, true).json(),
        allowed(
            "Plan review passed. Run /taskie:continue-plan to proceed. (Next: create-tasks. Reviews in this cycle: 2.)"
        )
    );
    assert_eq!(
        state(),
        json!({
            "max_reviews": 8, "phase": "plan-review", "next_phase": "create-tasks", "review_model": "opus",
            "consecutive_clean": 2, "tdd": false, "current_task": null, "phase_iteration": 2,
        })
    );
    let mut names: Vec<String> = fs::read_dir(&plan)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["plan-post-review-1.md", "plan-review-1.md", "plan-review-2.md", "plan.md", "state.json"]
    );
}

fn made(path: PathBuf) -> PathBuf {
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn a_path_that_a_shell_would_split() {
    for name in ["it's \"here\"", "$HOME `x` ;* 项目"] {
        let project = Project::empty();
        let root = made(project.root.join(name));
        git(&root, &["init", "--quiet"]);
        review_loop(&project, &root, &root);
    }
}

/// Nothing here calls git: a call would leave its name.
#[test]
fn without_git() {
    let project = Project::empty();
    let trap = project.bin.join("git");
    crate::support::script(trap, "echo \"$@\" >> \"$0-called\"\nexit 1");
    review_loop(&project, &project.root, &project.root);
    assert!(!project.bin.join("git-called").exists());
}
