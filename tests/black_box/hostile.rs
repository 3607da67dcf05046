//! An environment that is in the way: leftovers of killed processes, links that lead elsewhere.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::json;

use crate::support::{PLAN, Project, state};

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

/// However often a process is killed, the plan's directory does not fill up.
#[test]
fn killed_commands_leave_one_file_at_most() {
    let project = Project::valid();
    project.set_state(json!({}));
    for delay in 0..40 {
        let mut child = project.command(["run", "limit", "3"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay / 2));
        child.kill().unwrap();
        child.wait().unwrap();
        project.state();
    }
    let hidden: Vec<String> = project
        .names()
        .into_iter()
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(
        hidden.is_empty() || hidden == [".state.json.new"],
        "{hidden:?}"
    );
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
