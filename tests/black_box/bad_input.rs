//! Files that may not be read or written. The other kinds of bad input are in `tests/transcripts/bad_input.md`.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::json;

use crate::bench::wait_until_it_can_be_run;
use crate::expected::plan_in;
use crate::support::{PLAN, Project, Ran, Reviewer, allowed, expect_warning, feed, set_mode};

/// A stop by a user who is bound by file modes: root becomes nobody, in a project that nobody owns.
fn stop_as_someone(project: &Project) -> Ran {
    let mut command = project.command(["hook", "stop"]);
    if rustix::process::geteuid().is_root() {
        let binary = project.bin.join("taskie");
        fs::copy(env!("CARGO_BIN_EXE_taskie"), &binary).unwrap();
        wait_until_it_can_be_run(&binary);
        set_mode(project.bin.parent().unwrap(), 0o755);
        let whole = std::mem::replace(&mut command, Command::new(binary));
        command.args(whole.get_args()).current_dir(&project.root).uid(65_534).gid(65_534);
        command.envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let chown = Command::new("chown").args(["-R", "65534:65534"]).arg(&project.root).status();
        assert!(chown.unwrap().success());
        let may = Command::new("true").uid(65_534).status();
        assert!(
            may.is_ok_and(|status| status.success()),
            "run the tests as a user who is bound by file modes, or as a root who can become one"
        );
    }
    feed(command, project.stop_event(false))
}

#[test]
fn a_state_that_may_not_be_read() {
    let project = Project::in_state(json!({}));
    set_mode(project.plan().join("state.json"), 0o000);
    let ran = stop_as_someone(&project);
    let why = "it cannot be read: Permission denied (os error 13)";
    let rest = "No review of this plan runs and nothing is written until it is fixed.";
    let line = format!(".taskie/plans/{PLAN}/state.json: {why}. {rest}");
    let message = format!("{line}\nPlan '{PLAN}' structure validated successfully");
    let stderr = format!("taskie: {line}\n");
    assert_eq!((ran.code, ran.json(), ran.stderr), (0, allowed(&message), stderr));
}

#[test]
fn a_plan_that_may_not_be_written() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let before = project.files();
    let folders = [project.root.join(".taskie"), project.plan()];
    let mode = |mode| folders.iter().for_each(|path| set_mode(path, mode));
    mode(0o555);
    let ran = stop_as_someone(&project);
    mode(0o755);
    let why = format!(
        "No decision could be made about this Stop, so it is allowed: the state cannot be locked: {}: Permission denied (os error 13)",
        project.lock_file("state").display()
    );
    expect_warning(&ran, &why);
    assert_eq!((project.files(), project.calls().len()), (before, 0));
}
