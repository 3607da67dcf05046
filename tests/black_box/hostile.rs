//! An environment that is in the way: leftovers of killed processes, links that lead elsewhere.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use crate::support::{Project, state};

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
        assert_eq!(project.names(), ["plan.md", "state.json", "task-1.md", "task-2.md", "tasks.md"]);
        assert_eq!(fs::metadata(&state_file).unwrap().permissions().mode() & 0o777, 0o664);
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
    let hidden: Vec<String> = project.names().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty() || hidden == [".state.json.new"], "{hidden:?}");
}
