//! A hostile environment: leftovers of killed processes, links that lead out of the project.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::json;

use crate::bench::stop_event;
use crate::support::{PLAN, Project, Ran, Reviewer, feed, state, validated};

/// What a process that was killed while it wrote has left is neither kept nor followed.
#[test]
fn a_state_half_written_is_no_obstacle() {
    for is_link in [false, true] {
        let project = Project::valid();
        project.set_state(json!({}));
        let state_file = project.plan().join("state.json");
        fs::set_permissions(&state_file, fs::Permissions::from_mode(0o664)).unwrap();
        let elsewhere = project.bin.join("elsewhere");
        fs::write(&elsewhere, "mine").unwrap();
        let left = project.plan().join(".state.json.new");
        if is_link {
            symlink(&elsewhere, &left).unwrap();
        } else {
            fs::write(&left, "{ \"max_rev").unwrap();
        }
        let ran = project.run(&["run", "limit", "3"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert_eq!(project.state(), state(json!({ "max_reviews": 3 })));
        assert_eq!(
            project.names(),
            [
                "plan.md",
                "state.json",
                "task-1.md",
                "task-2.md",
                "tasks.md"
            ]
        );
        assert_eq!(
            fs::metadata(&state_file).unwrap().permissions().mode() & 0o777,
            0o664
        );
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
    }
}

/// A file that may not grow: the old state stays, nothing is left beside it, and the reason is reported.
#[test]
fn a_write_that_does_not_fit_leaves_the_old_state() {
    let project = Project::valid();
    // Longer than the one block that the process may write.
    project.set_state(json!({ "note": "x".repeat(5_000) }));
    let before = project.files();
    let line = "ulimit -f 1 && exec taskie run limit 3";
    let ran = Ran::of(project.shell(line).output().unwrap());
    let why = format!(
        "taskie: .taskie/plans/{PLAN}/state.json cannot be written: File too large (os error 27)\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (1, "", why));
    assert_eq!(project.files(), before);
    let ran = project.run(&["run", "limit", "3"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(project.state()["max_reviews"], 3);
}

/// Wherever on the way to a plan a link leads out of the project: nothing is read or written there.
#[test]
fn plans_outside_the_project_are_not_followed() {
    for link in [".taskie", ".taskie/plans", ".taskie/plans/p"] {
        let project = Project::empty();
        let elsewhere = project.bin.join("elsewhere");
        let plan = elsewhere.join(Path::new(".taskie/plans/p").strip_prefix(link).unwrap());
        fs::create_dir_all(&plan).unwrap();
        fs::write(plan.join("plan.md"), "# Theirs\n").unwrap();
        let link = project.root.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&elsewhere, &link).unwrap();

        let message = project.stop().json()["systemMessage"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            message.ends_with("outside the project: it is not followed.")
                || message.ends_with("through a symbolic link: it is not followed."),
            "{message}"
        );
        for name in ["p", "new"] {
            if name == "new" && link.ends_with("p") {
                continue;
            }
            let ran = project.run(&["enter", "new-plan", "--plan", name]);
            assert_eq!(
                ran.stderr,
                format!(
                    "taskie: plan `{name}` leads outside the project through a symbolic link\n"
                )
            );
            assert_eq!(ran.code, 1);
        }
        assert_eq!(fs::read_dir(&plan).unwrap().count(), 1);
        assert!(
            !elsewhere.join("new").exists()
                && !elsewhere.join("plans/new").exists()
                && !elsewhere.join(".locks").exists()
        );
    }
}

/// A link that stays in the project is as good as a directory.
#[test]
fn plans_linked_within_the_project_are_followed() {
    let project = Project::valid();
    fs::rename(
        project.root.join(".taskie/plans"),
        project.root.join("kept"),
    )
    .unwrap();
    symlink("../kept", project.root.join(".taskie/plans")).unwrap();
    assert_eq!(project.run(&["enter", "new-plan"]).code, 0);
    assert!(
        project
            .root
            .join("kept")
            .join(PLAN)
            .join("state.json")
            .exists()
    );
}

#[test]
fn names_that_no_plan_can_have() {
    let project = Project::valid();
    let rule = "a name has letters, digits, `_`, `-` and single dots only, and does not start with `-` or `.`";
    for (name, shown) in [
        ("../x", "../x"),
        ("", ""),
        ("a\nb", "a\\nb"),
        ("x/..", "x/.."),
    ] {
        let ran = project.run(&["enter", "new-plan", "--plan", name]);
        assert_eq!(
            ran.stderr,
            format!("taskie: `{shown}` cannot be the name of a plan: {rule}\n")
        );
        assert_eq!(ran.code, 1);
    }
}

#[test]
fn the_bare_program_is_wrong_usage() {
    let ran = Project::empty().run(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr
            .starts_with("A workflow engine for coding agents")
    );
}

/// A block that could not be printed is given once more, and no reviewer is asked for it again.
#[test]
fn a_block_that_nobody_got_is_given_once_more() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer::fail());
    let mut command = project.command(["hook", "stop"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    command.stdout(full);
    let ran = feed(command, stop_event(&project, false));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(project.state()["next_phase"], "post-code-review");
    let answer = project.stop_active(true).json();
    assert_eq!(answer["decision"], "block");
    assert!(
        answer["reason"]
            .as_str()
            .unwrap()
            .contains("task-1-review-1.md")
    );
    assert_eq!(project.stop().json(), validated());
    assert_eq!(project.calls().len(), 1);
}

/// One that the state has moved on from is not.
#[test]
fn a_block_of_an_earlier_state_is_forgotten() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer::fail());
    let mut command = project.command(["hook", "stop"]);
    command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
    feed(command, stop_event(&project, false));
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    assert_eq!(project.stop().json(), validated());
    assert_eq!(project.run(&["run", "resume"]).code, 0);
    assert_eq!(project.stop().json(), validated());
}

/// A host that does not take our warnings gets the answer all the same.
#[test]
fn warnings_that_cannot_be_written() {
    let project = Project::valid();
    project.set_state(json!({ "phase": "no-such" }));
    let mut command = project.command(["hook", "stop"]);
    command.stderr(fs::File::options().write(true).open("/dev/full").unwrap());
    let ran = feed(command, stop_event(&project, false));
    assert_eq!(ran.code, 0);
    assert!(
        ran.json()["systemMessage"]
            .as_str()
            .unwrap()
            .contains("no-such")
    );
}

/// A state of another's that would be run as that other one: the new file takes no more than permission bits.
#[test]
fn no_mode_is_taken_over_but_permissions() {
    let project = Project::valid();
    project.set_state(json!({}));
    let file = project.plan().join("state.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o6755)).unwrap();
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o7777,
        0o755
    );
}

/// A review that would be written through a link would overwrite what the link leads to.
#[test]
fn a_review_file_that_is_a_link() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer::fail());
    let precious = project.bin.join("precious");
    fs::write(&precious, "precious").unwrap();
    symlink(&precious, project.plan().join("task-1-review-1.md")).unwrap();
    let answer = project.stop().json();
    let why = format!("Review failed: .taskie/plans/{PLAN}/task-1-review-1.md is a symbolic link.");
    assert!(
        answer["systemMessage"].as_str().unwrap().starts_with(&why),
        "{answer}"
    );
    assert_eq!(
        (project.calls().len(), fs::read_to_string(precious).unwrap()),
        (0, "precious".to_owned())
    );
}

/// Nobody knows which tasks are left: no review is paid for, and nothing is decided.
#[test]
fn task_files_without_their_table() {
    let project = Project::valid();
    project.set_state(json!({ "consecutive_clean": 1 }));
    project.reviewer(&Reviewer::pass());
    fs::remove_file(project.plan().join("tasks.md")).unwrap();
    let before = project.files();
    let answer = project.stop().json();
    let why = format!(
        "Review failed: .taskie/plans/{PLAN}/tasks.md is missing, and there is a task-1.md."
    );
    assert!(
        answer["systemMessage"].as_str().unwrap().starts_with(&why),
        "{answer}"
    );
    let flaw = format!("Plan '{PLAN}': Task files exist but tasks.md is missing");
    assert_eq!(answer["reason"], flaw);
    assert_eq!((project.files(), project.calls().len()), (before, 0));
    let ran = project.run(&["enter", "complete"]);
    assert_eq!(ran.code, 1);
}

#[test]
fn events_that_are_too_large() {
    let project = Project::valid();
    project.set_state(json!({}));
    let event = format!("{{\"x\": \"{}\"}}", "x".repeat(17 * 1024 * 1024));
    let ran = project.hook_raw("stop", event);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (1, "", "taskie: the event on stdin is larger than 16 MiB\n")
    );
}

/// (file, why it is not read)
#[test]
fn files_that_would_be_read_for_ever() {
    for (target, why) in [
        (
            "/proc/self/pagemap",
            "it is a symbolic link out of the project",
        ),
        ("/dev/zero", "it is a symbolic link out of the project"),
        ("big", "it is larger than 16 MiB"),
    ] {
        let project = Project::valid();
        project.set_state(json!({}));
        let table = project.plan().join("tasks.md");
        fs::remove_file(&table).unwrap();
        if target == "big" {
            fs::File::create(&table)
                .unwrap()
                .set_len(17 * 1024 * 1024)
                .unwrap();
        } else {
            symlink(target, &table).unwrap();
        }
        let answer = project.stop().json();
        let said = answer["systemMessage"].as_str().unwrap();
        assert!(
            said.contains(&format!("tasks.md cannot be read: {why}")),
            "{answer}"
        );
    }
}
