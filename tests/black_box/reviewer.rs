//! The reviewer as a process: what it is given, what counts as its work, how it ends, and what may happen to the plan
//! in the meantime.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{
    is_running, signal, wait_for, wait_for_line, wait_until_gone, wait_until_it_can_be_run,
};
use crate::expected::{plan_in, review};
use crate::support::{
    PLAN, Project, Reviewer, allowed, feed, finish, set_mode, silent, start, state, timeless,
};

const VALIDATED: &str = "Plan 'test-plan' structure validated successfully";

/// The message about a failed review, and about a plan without a flaw.
fn failed(why: &str) -> Value {
    allowed(&format!(
        "Review failed: {why}. The next stop tries again: ask the agent to go on.\n{VALIDATED}"
    ))
}

/// The answer to a stop while another session's review is running.
fn is_running_already(answer: &Value) -> bool {
    let message = answer["systemMessage"].as_str().unwrap_or_default();
    let start = format!("A review of plan `{PLAN}` is already running");
    answer == &allowed(message)
        && message.starts_with(&start)
        && message.contains(". To end the review: `taskie cancel")
}

/// A reviewer that reports that it is running and then waits for `go` next to it, or for the end of a failed test.
fn waiting() -> Reviewer {
    Reviewer::fail().first(
        "echo $$ > \"$here/pid\"\nwhile [ -e \"$here/pid\" ] && ! [ -e \"$here/go\" ]; do sleep 0.02; done",
    )
}

// ── what it is given ────────────────────────────────────────────────────────────────────

#[test]
fn arguments_environment_directory_and_stdin() {
    let looks = "env > \"$here/env\"\npwd > \"$here/pwd\"\ncat > \"$here/stdin\"\n\
                 ls -l /proc/$$/fd > \"$here/fds\" 2>/dev/null";
    let project = plan_in(
        &json!({ "review_model": "haiku", "phase_iteration": 2 }),
        &Reviewer::fail().first(looks),
    );
    let below = project.root.join("src/deep");
    fs::create_dir_all(&below).unwrap();
    fs::create_dir(project.root.join(".git")).unwrap();
    let event = json!({ "cwd": below, "hook_event_name": "Stop", "stop_hook_active": false });
    assert_eq!(project.hook_raw("stop", event.to_string()).json()["decision"], "block");
    let call = review("code-review", 3).call("haiku").into_iter();
    let call: Vec<String> = call.map(|arg| arg.replace('\n', "\\n")).collect();
    assert_eq!(project.calls(), [call]);
    let read = |name: &str| fs::read_to_string(project.bin.join(name)).unwrap();
    assert!(read("env").lines().any(|line| line == "TASKIE_REVIEWER=1"));
    assert_eq!(read("pwd"), format!("{}\n", project.root.display()));
    assert_eq!(read("stdin"), "");
}

// ── what counts as its work ─────────────────────────────────────────────────────────────

#[test]
fn a_reviewer_that_cannot_be_started() {
    let project = Project::in_state(json!({}));
    let before = project.files();
    let stop = |path: &str| {
        let mut command = project.command(["hook", "stop"]);
        command.env("PATH", path);
        feed(command, project.stop_event(false))
    };
    let nowhere = project.bin.parent().unwrap().join("nowhere");
    let ran = stop(nowhere.to_str().unwrap());
    assert_eq!(ran.json(), failed("`claude` is not on PATH"));
    assert_eq!(project.files(), before);
    fs::write(project.bin.join("claude"), "#!/no/such/interpreter\n").unwrap();
    let execute = |mode| {
        set_mode(project.bin.join("claude"), mode);
    };
    execute(0o755);
    wait_until_it_can_be_run(&project.bin.join("claude"));
    let ran = stop(project.bin.to_str().unwrap());
    assert_eq!(
        ran.json(),
        failed("`claude` exists, but the interpreter or loader that it asks for does not")
    );
    execute(0o644);
    let ran = stop(project.bin.to_str().unwrap());
    assert_eq!(ran.json(), failed("`claude` is not on PATH"));
    assert_eq!(project.files(), before);
}

// ── how it ends ─────────────────────────────────────────────────────────────────────────

/// What a stubborn reviewer starts: a child in its group, one in a session of its own if there is `setsid`, and
/// itself, all of which ignore SIGTERM. Each one records its id.
const STUBBORN: &str = r#"
trap '' TERM
echo $$ > "$here/leader"
sleep 600 & echo $! > "$here/child"
if command -v setsid >/dev/null; then
  setsid sh -c 'trap "" TERM; echo $$ > "$0/session"; sleep 600 & echo $! > "$0/grandchild"; wait' "$here" &
  while ! [ -s "$here/grandchild" ]; do sleep 0.02; done
fi
echo 'waiting for the model' >&2
echo started > "$here/started"
while :; do sleep 600; done"#;

fn pids(project: &Project) -> Vec<String> {
    wait_for_line(&project.bin.join("started"));
    let names = ["leader", "child", "session", "grandchild"].map(|name| project.bin.join(name));
    assert!(
        names[2].exists() || !cfg!(target_os = "linux"),
        "`setsid` of util-linux is needed, to start a session"
    );
    names.iter().filter(|path| path.exists()).map(|path| wait_for_line(path)).collect()
}

#[test]
fn a_reviewer_over_its_deadline_is_killed_with_everything_it_started() {
    // On a busy machine, the first deadline may pass before the reviewer has started anything.
    for deadline in [1, 5, 30] {
        let project = Project::in_state(json!({}));
        let before = project.read("state.json");
        project.set(&json!({ "review_timeout": deadline }));
        project.reviewer(&Reviewer::pass().first(STUBBORN));
        let ran = project.stop();
        assert_eq!((ran.code, project.read("state.json")), (0, before));
        if !project.bin.join("started").exists() {
            continue;
        }
        let seconds =
            if deadline == 1 { "1 second".to_owned() } else { format!("{deadline} seconds") };
        let why = format!(
            "`claude` was killed after {seconds}, the limit of `review_timeout` (waiting for the model); its log is .taskie/.locks/{PLAN}.log"
        );
        assert_eq!(ran.json(), failed(&why));
        for pid in pids(&project) {
            wait_until_gone(&pid);
        }
        return;
    }
    panic!("the reviewer never got to start anything");
}

#[test]
fn processes_left_by_a_reviewer_are_killed() {
    let project = Project::in_state(json!({}));
    let leaves = STUBBORN.split("while :;").next().unwrap();
    project.reviewer(&Reviewer::pass().first(leaves));
    assert_eq!(project.stop().json()["decision"], "block");
    for pid in pids(&project) {
        wait_until_gone(&pid);
    }
}

#[test]
fn a_hook_that_is_asked_to_end_takes_the_reviewer_with_it() {
    for (name, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        let project = Project::in_state(json!({ "consecutive_clean": 1 }));
        let before = project.read("state.json");
        project.reviewer(&Reviewer::pass().first(STUBBORN));
        let hook = project.start_stop();
        let pids = pids(&project);
        assert!(pids.iter().all(|pid| is_running(pid)));
        signal(name, hook.id());
        let ran = finish(hook);
        let stderr = format!(
            "taskie: ended by signal {}; the program that it ran was killed too, and state.json is unchanged\n",
            code - 128
        );
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (code, "", stderr));
        for pid in pids {
            wait_until_gone(&pid);
        }
        assert_eq!(project.read("state.json"), before);
        let log = project.run(&["log"]).stdout;
        assert!(
            log.contains("code-review 1 of task-1: failed by opus")
                && log.contains("Stop is undecided: interrupted by"),
            "{log}"
        );
        assert!(!project.names().iter().any(|name| name.starts_with(".state.json")));
        // The lock was released with the process: the next stop reviews.
        project.reviewer(&Reviewer::pass());
        let message = "Code review passed. Run /taskie:continue-plan to proceed. (Next: complete-task. Reviews in this cycle: 1.)";
        assert_eq!(project.stop().json(), allowed(message));
    }
}

/// How long a reviewer may stay alive: one second, and another one on a busy machine.
const AFTERLIFE: std::time::Duration = std::time::Duration::from_secs(2);

/// Starts a review whose processes all ignore SIGTERM, has `kill` end the process that waits for it, and checks what
/// is left.
fn ends_with(
    project: &Project,
    hook: std::process::Command,
    kill: impl FnOnce(&mut std::process::Child),
) {
    project.set_state(json!({}));
    let before = project.read("state.json");
    project.reviewer(&Reviewer::fail().first(STUBBORN));
    let mut hook = start(hook, project.stop_event(false));
    let pids = pids(project);
    assert!(pids.iter().all(|pid| is_running(pid)));
    let start = std::time::Instant::now();
    kill(&mut hook);
    for pid in pids {
        wait_until_gone(&pid);
    }
    assert!(start.elapsed() < AFTERLIFE, "{:?}", start.elapsed());
    let _ = hook.kill();
    hook.wait().unwrap();
    assert_eq!(project.read("state.json"), before);
    // The lock is released too: the next stop reviews.
    project.reviewer(&Reviewer::fail());
    let answer = wait_for("a review", || {
        Some(project.stop().json()).filter(|answer| !is_running_already(answer))
    });
    assert_eq!(answer["decision"], "block");
}

#[test]
fn no_reviewer_outlives_its_hook() {
    use std::os::unix::process::CommandExt as _;

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};

    for kill in [kill_process, kill_process_group] {
        let project = Project::valid();
        let mut hook = project.command(["hook", "stop"]);
        hook.process_group(0);
        ends_with(&project, hook, |hook| {
            kill(Pid::from_child(hook), Signal::KILL).unwrap();
        });
    }
}

#[test]
fn no_reviewer_outlives_its_host() {
    // The host's end of the pipe is closed, as the system does if the host dies.
    let project = Project::valid();
    ends_with(&project, project.command(["hook", "stop"]), |hook| drop(hook.stdout.take()));
    // The process that started the hook is gone, and somebody else still holds the pipe.
    let project = Project::valid();
    let mut host = project.command(["hook", "stop"]);
    let binary = host.get_program().to_owned();
    host = in_a_shell(host, &binary);
    ends_with(&project, host, |host| host.kill().unwrap());
}

/// The same command as the child of a shell.
fn in_a_shell(command: std::process::Command, binary: &std::ffi::OsStr) -> std::process::Command {
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .args(["-c", "\"$0\" hook stop; exit"])
        .arg(binary)
        .current_dir(command.get_current_dir().unwrap())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// The process that watches over a review is killed: the hook itself kills everything that it had started.
#[test]
#[cfg(target_os = "linux")]
fn a_review_whose_supervisor_is_killed_has_failed() {
    let project = plan_in(&json!({}), &Reviewer::fail().first(STUBBORN));
    let hook = project.start_stop();
    let pids = pids(&project);
    signal("KILL", supervisor_of(&hook));
    let ran = finish(hook);
    assert_eq!(
        ran.json(),
        failed(
            "`claude` was killed with its supervisor (waiting for the model); its log is .taskie/.locks/test-plan.log"
        )
    );
    assert!(project.run(&["status"]).stdout.contains("cost unknown"));
    for pid in pids {
        wait_until_gone(&pid);
    }
}

/// A process that was stopped notices nothing: the hook doesn't wait for its supervisor without end.
#[test]
#[cfg(target_os = "linux")]
fn a_supervisor_that_is_stopped_is_not_waited_for_without_end() {
    let project = Project::in_state(json!({}));
    project.set(&json!({ "review_timeout": 1 }));
    let stop = STUBBORN.replace("while :;", "kill -STOP $PPID; while :;");
    project.reviewer(&Reviewer::pass().first(stop));
    let before = project.read("state.json");
    let ran = project.stop();
    let why = format!(
        "`claude` was killed after 1 second, the limit of `review_timeout` (waiting for the model); its log is .taskie/.locks/{PLAN}.log"
    );
    assert_eq!(ran.json(), failed(&why));
    assert_eq!((ran.code, project.read("state.json")), (0, before));
    for pid in pids(&project) {
        wait_until_gone(&pid);
    }
}

/// Returns the id of the process that watches over the review of this hook.
#[cfg(target_os = "linux")]
fn supervisor_of(hook: &std::process::Child) -> u32 {
    let children = format!("/proc/{0}/task/{0}/children", hook.id());
    fs::read_to_string(children).unwrap().trim().parse().unwrap()
}

/// Nobody reads the verdict of such a reviewer.
#[test]
#[cfg(target_os = "linux")]
fn a_review_whose_hook_and_supervisor_are_killed_is_due_again() {
    let waits = "echo $$ > \"$here/pid\"; exec sleep 600";
    let project = plan_in(&json!({}), &Reviewer::fail().first(waits));
    let mut hook = project.start_stop();
    let reviewer = wait_for_line(&project.bin.join("pid"));
    let supervisor = supervisor_of(&hook);
    // A stopped hook cannot do what a hook does when its supervisor is killed.
    signal("STOP", hook.id());
    signal("KILL", supervisor);
    hook.kill().unwrap();
    hook.wait().unwrap();
    signal("KILL", reviewer.parse().unwrap());
    wait_until_gone(&reviewer);
    project.reviewer(&Reviewer::fail());
    project.stop();
    assert_eq!(project.calls().len(), 2);
}

/// Nothing waits for the outcome anymore, so nobody pays for the rest of it.
#[test]
fn a_review_that_the_user_skips_is_ended() {
    let project = plan_in(&json!({}), &waiting());
    let hook = project.start_stop();
    let reviewer = wait_for_line(&project.bin.join("pid"));
    let skipped = project.run(&["run", "skip"]);
    let ended = "The review that was running is ended: nothing waits for it anymore.\n";
    assert!(skipped.stdout.ends_with(ended), "{}", skipped.stdout);
    let message = finish(hook).message();
    let why = "The code-review task-1 was left without having passed (`taskie skip`).\n\
               The code-review 1 failed: it was cancelled. The state has changed since it was due.";
    assert!(message.starts_with(why), "{message}");
    let left = json!({ "phase": "code-review", "next_phase": "complete-task" });
    let mut expected = state(json!({}));
    let fields = expected.as_object_mut().unwrap();
    fields.extend(left.as_object().unwrap().clone());
    assert_eq!(project.state(), expected);
    wait_until_gone(&reviewer);
}

/// `taskie cancel` in a terminal ends a review of any host's session; it is still due.
#[test]
fn a_review_that_the_user_cancels() {
    let project = plan_in(&json!({}), &waiting());
    let before = project.read("state.json");
    let none = project.run(&["run", "cancel"]);
    let why = format!(
        "taskie: the review of .taskie/plans/{PLAN} cannot be cancelled: no review is running\n"
    );
    assert_eq!(none.all(), (1, "", why.as_str()));

    let hook = project.start_stop();
    let reviewer = wait_for_line(&project.bin.join("pid"));
    let other = project.stop().message();
    let end = format!("To end the review: `taskie cancel --plan {PLAN}`.");
    assert!(other.ends_with(&end), "{other}");
    let cancelled = project.run(&["run", "cancel"]);
    assert_eq!(
        cancelled.all(),
        (
            0,
            "Cancelled: the reviewer is ended, and the review stays due.\n\
             The code-review is due, but no session is working on this plan: run /taskie:continue-plan in a session to \
             start the review.\n",
            ""
        )
    );
    assert_eq!(finish(hook).json(), failed("it was cancelled"));
    wait_until_gone(&reviewer);
    assert_eq!(project.read("state.json"), before);
    let log = timeless(&project.run(&["log"]).stdout);
    assert!(
        log.contains("code-review 1 of task-1: failed by opus") && log.contains("it was cancelled"),
        "{log}"
    );
    // What was asked of one review doesn't end the next one.
    fs::write(project.lock_file("cancel"), "").unwrap();
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    assert!(!project.lock_file("cancel").exists());
}

/// Some hosts kill a hook when the user presses Esc: it can leave no line in the log, so the next look at it does.
#[test]
fn a_review_that_is_killed_with_its_hook_is_in_the_log() {
    let project = plan_in(&json!({}), &waiting());
    let mut hook = project.start_stop();
    let reviewer = wait_for_line(&project.bin.join("pid"));
    hook.kill().unwrap();
    hook.wait().unwrap();
    wait_until_gone(&reviewer);
    let line = "code-review 1 of task-1: failed by opus in 0 s: what ran it was killed";
    let log = || {
        wait_for("a log", || {
            let log = project.run(&["log"]).stdout;
            log.contains(line).then_some(log)
        })
    };
    let first = log();
    assert_eq!(first.matches(line).count(), 1, "{first}");
    assert_eq!(log(), first);
}

// ── what may happen meanwhile ───────────────────────────────────────────────────────────

#[test]
fn sixteen_hooks_at_once_run_one_review() {
    let project = plan_in(&json!({}), &waiting());
    let hooks: Vec<_> = (0..16).map(|_| project.start_stop()).collect();
    wait_for_line(&project.bin.join("pid"));
    // The others answer while the review is still running.
    let mut hooks: Vec<_> = hooks.into_iter().map(Some).collect();
    let mut others = Vec::new();
    wait_for("fifteen answers", || {
        for slot in &mut hooks {
            if slot.as_mut().is_some_and(|hook| hook.try_wait().unwrap().is_some()) {
                others.push(finish(slot.take().unwrap()));
            }
        }
        (others.len() == 15).then_some(())
    });
    for ran in &others {
        assert_eq!(ran.err(), (0, ""));
        assert!(is_running_already(&ran.json()), "{}", ran.stdout);
    }
    // The message says how long the review has been running, unless it has only just started.
    let one = project.stop().json()["systemMessage"].to_string();
    assert!(one.contains("(code-review 1 by opus, since 2"), "{one}");
    fs::write(project.bin.join("go"), "").unwrap();
    let last = finish(hooks.into_iter().flatten().next().unwrap());
    assert_eq!(last.json()["decision"], "block");
    assert_eq!(project.calls().len(), 1);
    assert_eq!(
        project.state(),
        state(
            json!({ "phase": "code-review", "phase_iteration": 1, "next_phase": "post-code-review", "review_model": "sonnet" })
        )
    );
}

/// A command reads and writes the state under its lock: what somebody else writes until it has it is not lost.
#[test]
fn a_command_waits_for_the_lock_of_the_state() {
    let project = Project::in_state(json!({ "next_phase": null }));
    assert_eq!(project.run(&["run", "limit", "7"]).code, 0);
    let lock = fs::File::open(project.lock_file("state")).unwrap();
    lock.lock().unwrap();
    let commands = [&["run", "limit", "5"][..], &["enter", "continue-task"]];
    let mut commands = commands.map(|words| project.command(words).spawn().unwrap());
    std::thread::sleep(std::time::Duration::from_millis(500));
    for command in &mut commands {
        assert_eq!(command.try_wait().unwrap(), None);
    }
    project.set_state(json!({ "next_phase": null, "mine": true }));
    lock.unlock().unwrap();
    for command in commands {
        assert_eq!(finish(command).code, 0);
    }
    let expected = json!({
        "next_phase": null, "mine": true, "max_reviews": 5, "phase": "continue-task",
    });
    assert_eq!(project.state(), state(expected));
}

// ── its own hooks and commands ──────────────────────────────────────────────────────────

#[test]
fn in_a_reviewers_session_every_hook_allows_before_anything_else() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    project.write("notes.md", "a flaw");
    let before = project.files();
    let garbage: &[&[u8]] = &[b"", b"{\"cwd\": \"/no/such/dir\"}"];
    for event in [
        "stop",
        "subagent-stop",
        "user-prompt-submit",
        "pre-compact",
        "post-compact",
        "session-start",
        "session-end",
    ] {
        let expected = if event.ends_with("stop") { silent() } else { "" };
        for stdin in garbage.iter().copied().chain([project.stop_event(false).as_bytes()]) {
            for chart in [&[][..], &["--chart", "/no/such/chart.toml"]] {
                let mut command = project.command([&["hook", event][..], chart].concat());
                command.env("TASKIE_REVIEWER", "1");
                let ran = feed(command, stdin);
                assert_eq!(ran.all(), (0, expected, ""), "{event} {chart:?}");
            }
        }
    }
    assert_eq!((project.files(), project.calls().len()), (before, 0));
}

#[test]
fn in_a_reviewers_session_no_command_writes() {
    let commands: &[&[&str]] = &[
        &["enter", "complete", "--force"],
        &["enter", "post-code-review", "--plan", PLAN],
        &["enter", "no-such-phase"],
        &["enter", "new-plan", "--plan", "another"],
        &["run", "pause"],
        &["run", "resume"],
        &["run", "skip"],
        &["run", "limit", "1"],
        &["run", "add-task", "--task", "2"],
        &["next"],
        &["next", "--json", "--session", "another"],
    ];
    let project = Project::in_state(json!({}));
    let before = project.files();
    for args in commands {
        let mut command = project.command(*args);
        command.env("TASKIE_REVIEWER", "1").env("CLAUDE_CODE_SESSION_ID", "of-the-reviewer");
        let ran = crate::support::Ran::of(command.output().unwrap());
        assert_eq!(
            ran.all(),
            (
                0,
                "taskie: this is a reviewer's session, which changes no state: nothing was done.\n",
                ""
            ),
            "{args:?}"
        );
        assert_eq!(project.files(), before, "{args:?}");
    }
    assert!(!Path::new(&project.root).join(".taskie/.locks").exists());
}
