//! Kills, races and faults: whatever happens, the state is the old one or the new one, no process is left running,
//! and the next command continues from there.
//!
//! `cargo test` runs a few rounds of each. `TASKIE_FORCE=2000 cargo test --test black_box force` runs 2000 rounds.

use std::fs;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};

use crate::bench::{is_running, wait_for, wait_until_gone};
use crate::expected::plan_in;
use crate::support::{
    Project, Ran, Reviewer, allowed, feed, finish, git, silent, start, state, validated,
};

/// Returns how many rounds to run: the number in the environment, or a few.
pub fn rounds(few: u64) -> u64 {
    let given = std::env::var("TASKIE_FORCE").ok();
    given.and_then(|given| given.parse().ok()).unwrap_or(few)
}

/// Pseudo-random numbers, the same in every run.
pub fn scattered(n: u64, below: u64) -> u64 {
    (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % below
}

/// How long a command takes, if it takes longer on a machine that has become busy.
fn adapted(time: Duration, was_over: bool) -> Duration {
    time * if was_over { 9 } else { 11 } / 10
}

/// The state after the first review, which found something.
fn reviewed() -> Value {
    state(json!({
        "phase": "code-review", "phase_iteration": 1, "next_phase": "post-code-review", "review_model": "sonnet",
    }))
}

#[test]
fn commands_killed_at_any_moment() {
    let project = Project::in_state(json!({}));
    let start = Instant::now();
    assert_eq!(project.run(&["run", "limit", "8"]).code, 0);
    let mut whole = start.elapsed();
    let mut limit = 8;
    let (mut too_early, mut too_late) = (0, 0);
    for round in 0..rounds(40) {
        let new = 1 + round % 7;
        let mut command = project.command(["run", "limit", &new.to_string()]);
        let mut child = command.spawn().unwrap();
        // At some point while it runs, or a little later.
        let part = u32::try_from(scattered(round, 1_500)).unwrap();
        std::thread::sleep(whole * part / 1_000);
        let _ = child.kill();
        child.wait().unwrap();
        let state = project.state();
        let found = state["max_reviews"].as_u64().unwrap();
        assert!(found == new || found == limit, "{round}: {state}");
        match found == new {
            true => too_late += 1,
            false => too_early += 1,
        }
        whole = adapted(whole, found == new);
        limit = found;
    }
    // Some kills came before the write, and some after it.
    assert!(too_early > 0 && too_late > 0, "{too_early}, {too_late}");
    let ran = project.run(&["run", "limit", "8"]);
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(project.state(), state(json!({})));
    assert!(!project.names().iter().any(|name| name.starts_with('.')));
}

/// After a power failure, a file that has its new name has its new contents: they are on the disk before it is renamed. Shown
/// by a library that is loaded before the system's own.
#[test]
#[cfg(target_os = "linux")]
fn a_state_is_on_the_disk_before_it_gets_its_name() {
    let project = Project::in_state(json!({}));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/black_box/fixtures/writes.c");
    let library = project.bin.join("writes.so");
    // What links Rust programs can also compile this.
    let mut compiler = std::process::Command::new("cc");
    let compiled = compiler.args(["-shared", "-fPIC", source, "-ldl", "-o"]).arg(&library).status();
    assert!(compiled.unwrap().success());
    let writes = project.bin.join("writes");
    let mut command = project.command(["run", "limit", "5"]);
    let ran = command.env("LD_PRELOAD", &library).env("WRITES", &writes).output().unwrap();
    assert_eq!(Ran::of(ran).err(), (0, ""));
    let writes = fs::read_to_string(writes).unwrap();
    assert!(writes.contains("sync .state.json.new\nrename to state.json\n"), "{writes}");
}

/// A hook is killed, alone or with its process group: the reviewer is gone, and a block that the agent never received
/// is repeated.
#[test]
fn hooks_killed_at_any_moment() {
    let project = Project::valid();
    let reviewer = "echo $$ > \"$here/pid\"";
    project.reviewer(&Reviewer::fail().first(reviewer));
    for round in 0..rounds(16) {
        project.set_state(json!({}));
        let _ = fs::remove_file(project.plan().join("task-1-review-1.md"));
        let _ = fs::remove_file(project.bin.join("pid"));
        let mut command = project.command(["hook", "stop"]);
        command.process_group(0);
        let mut hook = start(command, project.stop_event(false));
        std::thread::sleep(Duration::from_micros(scattered(round, 60_000)));
        let pid = Pid::from_child(&hook);
        let _ = match round % 2 {
            0 => kill_process(pid, Signal::KILL),
            _ => kill_process_group(pid, Signal::KILL),
        };
        let mut printed = String::new();
        hook.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        hook.wait().unwrap();
        if let Ok(reviewer) = fs::read_to_string(project.bin.join("pid"))
            && reviewer.ends_with('\n')
        {
            wait_until_gone(reviewer.trim());
        }
        let found = project.state();
        let before = project.calls().len();
        // Until the supervisor of the killed hook has gone, the review is still running.
        let answer = wait_for("an answer", || {
            let answer = project.stop().json();
            let message = answer["systemMessage"].as_str().unwrap_or_default();
            (!message.contains("already running")).then_some(answer)
        });
        if found == state(json!({})) {
            assert_eq!(answer["decision"], "block", "{round}");
            // The supervisor of the killed hook may just have started the first one.
            let calls = project.calls().len() - before;
            assert!((1..=2).contains(&calls), "{round}: {calls}");
        } else {
            assert_eq!(found, reviewed(), "{round}");
            match printed.ends_with('\n') {
                // It may have been printed, and the host may have it.
                true => assert!(answer["decision"] == "block" || answer == validated()),
                false => assert_eq!(answer["decision"], "block", "{round}"),
            }
            assert_eq!(project.calls().len(), before, "{round}");
        }
        assert_eq!(project.state(), reviewed(), "{round}");
        assert_eq!(project.stop().json(), validated(), "{round}");
    }
}

/// How many lines of the journal are whole, and how many are not.
fn journal(project: &Project) -> (usize, usize) {
    let path = project.lock_file("jsonl");
    let text = fs::read_to_string(path).unwrap();
    let is_whole = |line: &&str| serde_json::from_str::<Value>(line).is_ok();
    let (whole, torn): (Vec<&str>, Vec<&str>) = text.lines().skip(1).partition(is_whole);
    let decisions = whole.iter().filter(|line| line.starts_with("{\"line\":\"decision\""));
    (decisions.count(), torn.len())
}

/// Starts a command of which the journal gets a line.
fn start_limit(project: &Project, n: u64) -> Child {
    start(project.command(["run", "limit", &(10 + n).to_string()]), String::new())
}

/// The kernel can stop a write between two pages when it kills the process: what is left is a line of its own, which no
/// reader shows, and every other line stays whole.
#[test]
fn a_journal_whose_writers_are_killed() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let begin = Instant::now();
    project.run(&["run", "limit", "9"]);
    let mut time = begin.elapsed();
    let (mut before, mut killed) = (journal(&project), 0);
    for round in 0..rounds(30) {
        let mut hook = start_limit(&project, round);
        let part = u32::try_from(scattered(round, 1_500)).unwrap();
        std::thread::sleep(time * part / 1_000);
        let _ = hook.kill();
        hook.wait().unwrap();
        let now = journal(&project);
        let added = (now.0.wrapping_sub(before.0), now.1.wrapping_sub(before.1));
        let is_new_file = now.0 < 10;
        assert!(matches!(added, (0 | 1, 0 | 1)) || is_new_file, "{round}: {before:?}, {now:?}");
        killed += u64::from(added.0 == 0);
        time = adapted(time, added.0 > 0);
        before = now;
    }
    let log = project.run(&["log", "--json"]).stdout;
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    let is_short = rounds(30) <= 60;
    // What was never written, no reader shows.
    assert!(!is_short || log.lines().count() <= before.0, "{before:?}");
    assert!(killed > 0 && before.0 > 1, "{before:?}, {killed} killed");
}

/// Failures around a process: shell commands that run before it is started.
const FAULTS: &[&str] = &[
    "ulimit -f 0;",
    "ulimit -n 7;",
    "ulimit -n 12;",
    "exec 2>&-;",
    "exec 2>/dev/full;",
    "exec >&-;",
    "exec >/dev/full;",
    "TMPDIR=/nonexistent; export TMPDIR;",
    "PATH=/nonexistent;",
    "HOME=/nonexistent; export HOME;",
    "umask 777;",
    "unset HOME PATH;",
];

#[test]
fn faults_around_a_process() {
    for fault in FAULTS {
        for args in [&["hook", "stop"][..], &["run", "limit", "3"], &["next", "--session", "s"]] {
            let project = plan_in(&json!({}), &Reviewer::fail());
            // By its path, because one of the faults removes PATH.
            let program = env!("CARGO_BIN_EXE_taskie");
            let shell = project.shell(&format!("{fault} exec '{program}' {}", args.join(" ")));
            let ran = feed(shell, project.stop_event(false));
            // -1: a signal. None of these may kill it silently.
            assert!((0..=1).contains(&ran.code), "{fault} {args:?}: {ran:?}");
            assert!(!ran.stderr.contains("panicked"), "{fault} {args:?}: {ran:?}");
            let found = project.state();
            let limited = state(json!({ "max_reviews": 3 }));
            assert!(
                [state(json!({})), reviewed(), limited].contains(&found),
                "{fault} {args:?}: {found}"
            );
            // What was written is visible to the next command, and what was not is done then.
            let text = fs::metadata(project.plan().join("state.json")).unwrap();
            use std::os::unix::fs::PermissionsExt as _;
            if text.permissions().mode() & 0o400 != 0 {
                let answer = project.stop().json();
                // Without a stdout there is nobody to answer.
                let is_blocked = *fault == "exec >&-;"
                    || answer["decision"] == "block"
                    || ran.stdout.contains("\"decision\": \"block\"");
                assert!(is_blocked, "{fault} {args:?}: {answer}");
            }
        }
    }
}

/// A review whose result could not be written would be paid for again at each stop.
#[test]
fn nothing_is_reviewed_where_nothing_can_be_written() {
    let reviewer = Reviewer::fail().first("touch \"$here/began\"");
    let project = plan_in(&json!({}), &reviewer);
    // Its locks are there.
    assert_eq!(project.run(&["limit", "8"]).code, 0);
    let program = env!("CARGO_BIN_EXE_taskie");
    let shell = project.shell(&format!("ulimit -f 0; exec '{program}' hook stop"));
    let message = feed(shell, project.stop_event(false)).json()["systemMessage"].to_string();
    assert!(!project.bin.join("began").exists(), "{message}");
    let expected = "which counts reviews, could not be written: File too large";
    assert!(message.contains(expected), "{message}");
}

/// Whatever the reviewer removes, its review counts, its lock stays, and its session still drives the plan.
#[test]
fn a_reviewer_that_cleans_up() {
    let project = Project::in_state(json!({}));
    git(&project.root, &["init", "-q"]);
    git(&project.root, &["add", "."]);
    git(&project.root, &["commit", "-q", "-m", "all"]);
    let next = project.run(&["enter", "complete-task", "--task", "1", "--session", "mine"]);
    assert_eq!(next.code, 0, "{}", next.stderr);
    project.reviewer(&Reviewer::fail().first(
        "git clean -fdxq; echo $$ > \"$here/pid\"; while ! [ -e \"$here/go\" ]; do sleep 0.02; done",
    ));
    let hook = start(project.command(["hook", "stop"]), project.stop_event_of("mine"));
    let reviewer = crate::bench::wait_for_line(&project.bin.join("pid"));
    assert!(!project.root.join(".taskie/.locks").exists());
    // No second review at the same time.
    let answer = project.stop().json();
    let message = answer["systemMessage"].as_str().unwrap_or_default();
    assert!(message.contains("already running"), "{answer}");
    assert!(is_running(&reviewer));
    fs::write(project.bin.join("go"), "").unwrap();
    let ran = finish(hook);
    assert_eq!(ran.json()["decision"], "block", "{}", ran.stdout);
    assert_eq!(project.state()["phase_iteration"], 1);
    project.write("notes.md", "");
    let again = project.stop_of("mine");
    assert_eq!(again.json()["decision"], "block", "{}", again.stdout);
}

/// A project in git whose plan is committed, or ignored, and whose session `mine` has finished task 1.
fn driven(is_committed: bool) -> Project {
    let project = Project::in_state(json!({}));
    git(&project.root, &["init", "-q"]);
    fs::write(project.root.join("README.md"), "").unwrap();
    if !is_committed {
        fs::write(project.root.join(".gitignore"), ".taskie\n").unwrap();
    }
    git(&project.root, &["add", "."]);
    git(&project.root, &["commit", "-q", "-m", "all"]);
    let entered = project.run(&["enter", "complete-task", "--task", "1", "--session", "mine"]);
    assert_eq!(entered.code, 0, "{}", entered.stderr);
    project
}

/// A review that finds something and costs a dollar.
fn dear() -> Reviewer {
    let stdout = json!({
        "is_error": false, "total_cost_usd": 1, "structured_output": { "verdict": "FAIL" },
    });
    Reviewer::fail().prints(stdout.to_string())
}

/// Who drives the plan and what it cost is not lost with the files that git does not track.
#[test]
fn what_git_clean_removes() {
    for clean in ["git clean -fdxq", "rm -rf .taskie/.locks"] {
        let project = driven(true);
        project.set_for_all(&json!({ "max_cost_usd": 1 }));
        project.reviewer(&dear());
        let blocked = project.stop_of("mine");
        assert_eq!(blocked.json()["decision"], "block", "{}", blocked.stdout);
        project.set_state(json!({}));
        git(&project.root, &["add", "."]);
        git(&project.root, &["commit", "-q", "-m", "reviewed"]);
        assert!(project.shell(clean).status().unwrap().success());
        assert!(!project.root.join(".taskie/.locks").exists(), "{clean}");
        let message = project.stop_of("mine").message();
        assert!(message.contains("cost $1.00, and the budget is $1"), "{clean}: {message}");
        assert_eq!(project.calls().len(), 1, "{clean}");
        let log = project.run(&["log", "--json"]).stdout;
        assert!(log.contains(r#""line":"review""#), "{clean}: {log}");
        // Another session still drives nothing.
        assert_eq!(project.stop_of("other").stdout, silent(), "{clean}");
    }
}

#[test]
fn a_plan_that_is_gone() {
    let project = driven(false);
    let kept = project.bin.join("kept");
    for _ in 0..2 {
        fs::rename(project.root.join(".taskie"), &kept).unwrap();
        git(&project.root, &["clean", "-fdxq"]);
        let gone = "The plan `test-plan`, which this session drives, is gone: .taskie/plans/test-plan does not exist. No review of it runs until it exists again, or until the session takes up another plan.";
        assert_eq!(project.stop_of("mine").json(), allowed(gone));
        assert_eq!(project.stop_of("other").stdout, silent());
        assert!(!project.root.join(".taskie").exists());
        fs::rename(&kept, project.root.join(".taskie")).unwrap();
        project.set_state(json!({}));
        project.reviewer(&Reviewer::fail());
        assert_eq!(project.stop_of("mine").json()["decision"], "block");
    }
}

/// Each work tree has a git directory of its own, although they share one repository.
#[test]
fn work_trees_share_nothing() {
    let project = driven(true);
    git(&project.root, &["worktree", "add", "-q", "../tree"]);
    let tree = project.bin.parent().unwrap().join("tree");
    let stop = |session: &str| {
        let event = json!({ "session_id": session, "cwd": tree }).to_string();
        project.hook_raw("stop", event)
    };
    // The plan came with the checkout, and nobody has taken it up there.
    assert!(stop("mine").message().contains("has not taken it up"));
    assert_eq!(stop("mine").stdout, silent());
    let mut enter = project.command(["enter", "complete-task", "--task", "1", "--session", "its"]);
    enter.current_dir(&tree);
    assert_eq!(feed(enter, "").code, 0);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-q", "--allow-empty", "-m", "entered"]);
    git(&tree, &["clean", "-fdxq"]);
    project.reviewer(&Reviewer::fail());
    let blocked = stop("its");
    assert_eq!(blocked.json()["decision"], "block", "{}", blocked.stdout);
    assert_eq!(project.stop_of("its").stdout, silent());
    let names = |dir: &str| fs::read_dir(project.root.join(dir)).map_or(0, Iterator::count);
    assert_eq!((names(".git/taskie"), names(".git/worktrees/tree/taskie")), (1, 1));
}
