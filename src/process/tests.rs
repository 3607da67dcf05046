//! Runs real programs: what they print, how they end, and what they leave behind.
use std::fs;
use std::time::Instant;

use rustix::process::{Pid, test_kill_process};
use tempfile::TempDir;

use super::*;
use crate::os::supervisor;
use crate::process::log::last_line;
use crate::process::program::locate_on;

/// Longer than any test takes, so that a process that ends earlier has been killed.
const LONG: Duration = Duration::from_secs(60);

struct Test {
    folder: TempDir,
    timeout: Duration,
    env: Vec<(String, String)>,
}

impl Test {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), timeout: LONG, env: Vec::new() }
    }

    fn timeout(mut self, milliseconds: u64) -> Self {
        self.timeout = Duration::from_millis(milliseconds);
        self
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    fn log(&self) -> std::path::PathBuf {
        self.folder.path().join("log")
    }

    fn spec(&self, argv: &[&str]) -> Spec {
        Spec {
            argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
            cwd: self.folder.path().into(),
            env: self.env.clone(),
            logs_stdout: false,
            log: self.log().into(),
            timeout: self.timeout,
            cancel: None,
        }
    }

    fn argv(&self, argv: &[&str]) -> End {
        run(&self.spec(argv), || false)
    }

    fn sh(&self, script: &str) -> End {
        self.argv(&["sh", "-c", script])
    }

    /// Asserts that processes are gone; the script has written the id of one to each file.
    fn gone(&self, files: &[&str]) {
        for file in files {
            let text = fs::read_to_string(self.folder.path().join(file)).unwrap();
            let pid = Pid::from_raw(text.trim().parse().unwrap()).unwrap();
            let start = Instant::now();
            // Init reaps it, at some point.
            while test_kill_process(pid).is_ok() {
                assert!(start.elapsed() < Duration::from_secs(2), "{file} is still there");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

fn exited(code: i32, stdout: &str) -> End {
    End::Exited { code: Some(code), signal: None, stdout: stdout.as_bytes().to_vec() }
}

fn not_started(why: &str) -> End {
    End::NotStarted(why.to_owned())
}

#[test]
fn stdout_code_and_log() {
    let test = Test::new().env("GREETING", "hello");
    fs::write(test.log(), "of an earlier run, and longer than what comes").unwrap();
    assert_eq!(
        test.sh("cat; echo $GREETING from $PWD >&2; echo \"$GREETING\"; exit 7"),
        exited(7, "hello\n")
    );
    let folder = test.folder.path().canonicalize().unwrap();
    let log = fs::read_to_string(test.log()).unwrap();
    assert!(
        [folder.as_path(), test.folder.path()]
            .iter()
            .any(|path| log == format!("hello from {}\n", path.display())),
        "{log}"
    );
}

#[test]
fn arguments_are_not_interpreted() {
    assert_eq!(
        Test::new().argv(&["printf", "%s|", "$HOME", "a b", "*", ""]),
        exited(0, "$HOME|a b|*||")
    );
}

#[test]
fn killed_by_a_signal() {
    let end = Test::new().sh("kill -9 $$");
    assert_eq!(end, End::Exited { code: None, signal: Some(9), stdout: Vec::new() });
}

#[test]
fn not_started_and_why() {
    let test = Test::new();
    fs::write(test.folder.path().join("text"), "").unwrap();
    assert_eq!(test.argv(&[]), not_started("no program is given"));
    assert_eq!(test.argv(&["no-such-program"]), not_started("`no-such-program` is not on PATH"));
    assert_eq!(
        test.argv(&["./no-such-program"]),
        not_started("`./no-such-program` does not exist")
    );
    assert_eq!(
        test.argv(&["./text"]),
        not_started("`./text` cannot be started: Permission denied (os error 13)")
    );
}

#[test]
fn missing_interpreter() {
    use std::os::unix::fs::PermissionsExt as _;

    let test = Test::new();
    let script = test.folder.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        test.argv(&["./script"]),
        not_started("`./script` exists, but the interpreter or loader that it asks for does not")
    );
}

#[test]
fn missing_working_directory() {
    let test = Test::new();
    let spec = Spec { cwd: "/no/such/folder".into(), ..test.spec(&["true"]) };
    let end = run(&spec, || false);
    assert_eq!(end, not_started("the working directory /no/such/folder does not exist"));
}

#[test]
fn log_that_cannot_be_written() {
    let test = Test::new();
    let elsewhere = test.folder.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, test.log()).unwrap();
    let log = test.log();
    assert_eq!(
        test.argv(&["true"]),
        not_started(&format!("the log {} cannot be written: it is a symbolic link", log.display()))
    );
    assert!(!elsewhere.exists());
    assert_eq!(last_line(&log), None);
}

#[test]
fn arguments_too_long_together() {
    let long = "x".repeat(100_000);
    let mut argv = vec!["true"];
    argv.extend(std::iter::repeat_n(long.as_str(), 100));
    assert_eq!(
        Test::new().argv(&argv),
        not_started("`true` cannot be started: Argument list too long (os error 7)")
    );
}

#[test]
fn timeout_ends_the_group() {
    let test = Test::new().timeout(500);
    let start = Instant::now();
    let end = test.sh("echo $$ >leader; sleep 1000 & echo $! >child; sleep 1000");
    assert_eq!(end, End::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    test.gone(&["leader", "child"]);
}

#[test]
fn timeout_gives_time_to_clean_up() {
    let test = Test::new().timeout(500);
    assert_eq!(test.sh("trap 'echo cleaned up >&2; exit' TERM; sleep 1000 & wait"), End::TimedOut);
    assert_eq!(last_line(&test.log()).as_deref(), Some("cleaned up"));
}

#[test]
fn timeout_of_a_program_that_ignores_sigterm() {
    let test = Test::new().timeout(500);
    let end = test.sh("trap '' TERM; echo $$ >leader; sleep 1000 & echo $! >child; \
         while :; do sleep 1000; done");
    assert_eq!(end, End::TimedOut);
    test.gone(&["leader", "child"]);
}

#[test]
fn processes_left_by_the_leader_are_killed() {
    let test = Test::new();
    assert_eq!(test.sh("sleep 1000 & echo $! >child; echo done"), exited(0, "done\n"));
    test.gone(&["child"]);
}

#[test]
fn a_run_without_an_owner_is_killed() {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let test = Test::new();
    let child = test.folder.path().join("child");
    let closed = std::thread::spawn(move || {
        while !fs::read_to_string(&child).is_ok_and(|text| text.ends_with('\n')) {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(theirs);
    });
    let argv = ["sh", "-c", "echo $$ >leader; sleep 1000 & echo $! >child; sleep 1000"];
    let end = run(&test.spec(&argv), || supervisor::is_gone(&ours));
    closed.join().unwrap();
    assert_eq!(end, End::Abandoned);
    test.gone(&["leader", "child"]);
}

#[test]
fn a_flood_of_output_is_killed() {
    for to in ["1", "2"] {
        let test = Test::new();
        assert_eq!(test.sh(&format!("echo $$ >leader; yes >&{to}")), End::TooMuchOutput);
        test.gone(&["leader"]);
        let log = test.folder.path().join("log").metadata().unwrap();
        assert_eq!(log.len(), if to == "2" { MAX_OUTPUT } else { 0 });
    }
}

#[test]
fn programs_of_the_project_are_not_looked_up() {
    use std::os::unix::fs::PermissionsExt as _;

    let test = Test::new();
    let project = test.folder.path();
    let script = project.join("tools/claude");
    fs::create_dir(project.join("tools")).unwrap();
    fs::write(&script, "#!/bin/sh\necho theirs\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let tools = project.join("tools");
    for (path, shown) in
        [(Path::new("tools"), Path::new("tools/claude")), (tools.as_path(), script.as_path())]
    {
        let shown = shown.display();
        assert_eq!(
            locate_on(path.as_os_str(), "claude", project),
            Err(format!(
                "`claude` is not on PATH; {shown} was not used, because it is part of the project or relative to it"
            ))
        );
    }
    // With an explicit path, it is intended.
    assert_eq!(test.argv(&["tools/claude"]), exited(0, "theirs\n"));
}
