//! Runs one external program until it ends, a deadline passes or this process is told to end, and
//! leaves none of its processes behind. What to run, what the output means and what to write
//! afterwards is the caller's business: nothing here knows of charts or reviews.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use crate::files::regular::open_regular;

/// How long a group may take to end by itself after SIGTERM.
///
/// Claude Code kills a hook for good about 1.5 s after its SIGTERM: this and twice [`REAP_LIMIT`]
/// (the leader, then orphans) have to stay below.
const GRACE: Duration = Duration::from_millis(500);

/// How long to wait for what got SIGKILL. Only a process stuck in the kernel, or another user's,
/// uses it up.
const REAP_LIMIT: Duration = Duration::from_millis(400);

/// A parent that blocks SIGCHLD hands that down, and then the end of a child wakes nobody: look at
/// least this often.
const SAFETY_NET: Duration = Duration::from_secs(1);

/// More of a program's stdout is not read.
const MAX_STDOUT: u64 = 64 * 1024 * 1024;

/// The bytes that Linux takes in one argument, whatever `ulimit` says: 32 pages less a closing NUL.
const MAX_ARGUMENT: usize = 131_071;

/// How much of a log's end [`last_line`] reads, in bytes.
const LOG_TAIL: u64 = 64 * 1024;

/// The longest line that [`last_line`] gives, in characters.
const MAX_LINE: usize = 300;

/// What to run, and with what around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec<'a> {
    /// The program and its arguments, handed over as they are: there is no shell. A program without
    /// a slash is looked up on PATH (that of `env`, if it sets one).
    pub(crate) argv: &'a [String],
    /// The working directory.
    pub(crate) cwd: &'a Path,
    /// Variables added to the inherited environment.
    pub(crate) env: &'a [(String, String)],
    /// The file that takes stderr: created, or emptied. A symbolic link in its place is refused.
    pub(crate) log: &'a Path,
    /// Counted from the start of the program.
    pub(crate) timeout: Duration,
    /// Its stdin: an empty file, which the program keeps open as long as it lives. Without one /dev/null.
    pub(crate) stdin: Option<&'a File>,
}

/// How a run came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The program ended by itself, or somebody else ended it.
    Exited {
        /// The exit code; `None` if a signal killed it.
        code: Option<i32>,
        /// The number of the signal that killed it.
        signal: Option<i32>,
        /// All it printed, up to 64 MiB. Empty, too, if it cannot be read back.
        stdout: Vec<u8>,
    },
    /// The deadline passed, and the program was ended.
    TimedOut,
    /// This process got SIGTERM, SIGINT or SIGHUP, and the program was ended (or not even started).
    ///
    /// The caller is to exit at once and change nothing; a further `run` gives the same answer and
    /// starts nothing.
    Interrupted {
        /// The number of the signal.
        signal: i32,
    },
    /// The program did not run; this says why in a sentence for the user, without a full stop.
    NotStarted(String),
}

/// Runs a program to its end, with an empty stdin, stdout captured and stderr in the log.
///
/// However it ends, all of its process group is gone on return; on Linux so is every other process
/// that it left, whatever its group or session. There is one run at a time: a second thread waits
/// for the first one's to end. Before and after a run SIGTERM, SIGINT and SIGHUP have their default
/// effect, also if this process was started with one of them ignored.
pub(crate) fn run(spec: &Spec<'_>) -> Ended {
    let mut wakeups = WAKEUPS.lock().unwrap_or_else(PoisonError::into_inner);
    DEFAULT_APPLIES.store(false, Ordering::SeqCst);
    let ended = Wakeups::installed(&mut wakeups)
        .map_err(|error| format!("signals cannot be handled: {error}"))
        .and_then(|wakeups| supervise(spec, wakeups))
        .unwrap_or_else(Ended::NotStarted);
    DEFAULT_APPLIES.store(true, Ordering::SeqCst);
    // After the store: a signal is seen here, or its handler has seen the store and ends us.
    match caught() {
        Some(signal) => Ended::Interrupted { signal },
        None => ended,
    }
}

/// The last line of a log that has anything on it, without escape sequences and control characters,
/// cut at 300 characters.
///
/// Reads the file's last 64 KiB only. `None` if there is no such line, if the file cannot be read,
/// or if it is a symbolic link.
pub(crate) fn last_line(log: &Path) -> Option<String> {
    let mut file = open_regular(OpenOptions::new().read(true), log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)))
        .ok()?;
    let mut tail = Vec::new();
    file.take(LOG_TAIL).read_to_end(&mut tail).ok()?;
    String::from_utf8_lossy(&tail)
        .rsplit(['\n', '\r'])
        .map(plain)
        .find(|line| !line.is_empty())
        .map(|line| line.chars().take(MAX_LINE).collect())
}

/// The run itself, while signals are recorded. The error says why the program was not started.
fn supervise(spec: &Spec<'_>, wakeups: &Wakeups) -> Result<Ended, String> {
    if let Some(signal) = caught() {
        return Ok(Ended::Interrupted { signal });
    }
    // A file, not a pipe: a process that cannot be ended and keeps it open must not hold us up.
    let stdout = tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        format!(
            "no temporary file can be made in {}: {error}",
            folder.display()
        )
    })?;
    let adoption = Adoption::begin();
    let mut child = start(spec, &stdout)?;
    let leader = Pid::from_child(&child);
    let stop = wakeups.until(spec.timeout, || match caught() {
        Some(signal) => Some(Stop::Signal(signal)),
        None => has_exited(leader).then_some(Stop::Exit),
    });
    if stop != Some(Stop::Exit) {
        signal_group(leader, Signal::TERM);
        wakeups.until(GRACE, || has_exited(leader).then_some(()));
    }
    // The leader is not reaped yet, so its number still names this group and no other.
    signal_group(leader, Signal::KILL);
    let reaped = wakeups.until(REAP_LIMIT, || has_exited(leader).then(|| child.wait()));
    adoption.end_orphans(wakeups);

    Ok(match stop {
        None => Ended::TimedOut,
        Some(Stop::Signal(signal)) => Ended::Interrupted { signal },
        Some(Stop::Exit) => {
            // Without a status somebody else has reaped it, and nobody can say how it ended.
            let status = reaped.and_then(Result::ok);
            Ended::Exited {
                code: status.and_then(|status| status.code()),
                signal: status.and_then(|status| status.signal()),
                stdout: contents(&stdout),
            }
        }
    })
}

/// Starts the program as the leader of a process group of its own. The error says why it could not.
fn start(spec: &Spec<'_>, stdout: &File) -> Result<Child, String> {
    let (program, arguments) = spec.argv.split_first().ok_or("no program is given")?;
    // Asked first, because a failed spawn does not tell a missing directory from a missing program.
    if !spec.cwd.is_dir() {
        let cwd = spec.cwd.display();
        return Err(format!("the working directory {cwd} does not exist"));
    }
    let stdout = stdout
        .try_clone()
        .map_err(|error| format!("its output cannot be captured: {error}"))?;
    let stdin = match spec.stdin.map(File::try_clone) {
        Some(Ok(file)) => Stdio::from(file),
        Some(Err(_)) | None => Stdio::null(),
    };
    let log = open_regular(
        OpenOptions::new().write(true).create(true).truncate(true),
        spec.log,
    )
    .map_err(|error| format!("the log {} cannot be written: {error}", spec.log.display()))?;
    Command::new(program)
        .args(arguments)
        .current_dir(spec.cwd)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .stdout(stdout)
        .stderr(log)
        .process_group(0)
        .spawn()
        .map_err(|error| why_not_started(spec, program, &error))
}

/// Why the wait for a program was over before its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Exit,
    Signal(i32),
}

/// Whether a child has ended. It stays unreaped: its number is not given to another process yet.
fn has_exited(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        waitid(WaitId::Pid(child), options),
        Ok(None) | Err(Errno::INTR)
    )
}

/// Errors are of no interest: they say that the group is gone, or (macOS) that only its dead leader
/// is left.
fn signal_group(leader: Pid, signal: Signal) {
    let _ = kill_process_group(leader, signal);
}

/// What a file holds, read without moving the offset that a surviving writer would share.
fn contents(file: &File) -> Vec<u8> {
    let length = file
        .metadata()
        .map_or(0, |metadata| metadata.len().min(MAX_STDOUT));
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// Turns the error of a failed spawn into what a user can act on.
fn why_not_started(spec: &Spec<'_>, program: &str, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound if is_there(spec, program) => {
            format!("`{program}` is there, but the interpreter or loader that it asks for is not")
        }
        ErrorKind::NotFound if program.contains('/') => format!("`{program}` does not exist"),
        ErrorKind::NotFound => format!("`{program}` is not on PATH"),
        ErrorKind::PermissionDenied => format!("`{program}` may not be executed: {error}"),
        ErrorKind::ArgumentListTooLong => {
            let longest = spec.argv.iter().map(String::len).max().unwrap_or(0);
            if cfg!(target_os = "linux") && longest > MAX_ARGUMENT {
                format!(
                    "one of the arguments of `{program}` is {longest} bytes long, \
                     and Linux takes at most {MAX_ARGUMENT} in one"
                )
            } else {
                let total: usize = spec.argv.iter().map(String::len).sum();
                format!(
                    "the arguments of `{program}` ({total} bytes) and the environment \
                     are together more than this system takes"
                )
            }
        }
        _ => format!("`{program}` cannot be started: {error}"),
    }
}

/// Whether the program that was not found is a file after all, looked up as `Command` does it.
fn is_there(spec: &Spec<'_>, program: &str) -> bool {
    if program.contains('/') {
        return spec.cwd.join(program).is_file();
    }
    let given = spec
        .env
        .iter()
        .rev()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.into());
    let path = given
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_default();
    std::env::split_paths(&path).any(|folder| spec.cwd.join(folder).join(program).is_file())
}

/// A line without escape sequences, control characters and outer blanks; a tab becomes a space.
pub(crate) fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(char) = rest.next() {
        match char {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\t' => text.push(' '),
            _ if char.is_control() => {}
            _ => text.push(char),
        }
    }
    text.trim().to_owned()
}

/// Skips what follows an ESC (ECMA-48): a control sequence, a string such as a window title, or a
/// short code.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        Some('[') => skip_control_sequence(rest),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(char) = rest.next() {
                match char {
                    '\u{7}' | '\u{9c}' => return,
                    '\u{1b}' => {
                        rest.next();
                        return;
                    }
                    _ => {}
                }
            }
        }
        Some(' '..='/') => {
            rest.find(|char| !(' '..='/').contains(char));
        }
        _ => {}
    }
}

fn skip_control_sequence(rest: &mut std::str::Chars<'_>) {
    rest.find(|char| ('@'..='~').contains(char));
}

/// What the signal handlers wake. Held for the whole of a run, so that there is one at a time.
static WAKEUPS: Mutex<Option<Wakeups>> = Mutex::new(None);

/// The signal that asked this process to end, or 0. Never taken back: who was told to end has to.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);

/// Set while there is no run: SIGTERM, SIGINT and SIGHUP then act as if they had no handler.
///
/// signal-hook cannot remove a handler, only empty it, and an empty one would swallow the signal.
/// So ours stay for good, with the default effect as their last action.
static DEFAULT_APPLIES: AtomicBool = AtomicBool::new(false);

fn caught() -> Option<i32> {
    i32::try_from(CAUGHT.load(Ordering::SeqCst))
        .ok()
        .filter(|signal| *signal != 0)
}

/// The receiving end of the signal handlers: a wait that a signal or the end of a child cuts short.
#[derive(Debug)]
struct Wakeups(UnixStream);

impl Wakeups {
    /// Installs the handlers the first time.
    fn installed(slot: &mut Option<Self>) -> io::Result<&Self> {
        match slot {
            Some(wakeups) => Ok(wakeups),
            None => Ok(slot.insert(Self::install()?)),
        }
    }

    fn install() -> io::Result<Self> {
        let (receiver, sender) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            // Actions run in the order of registration. Recording comes first, so that no signal is
            // lost between two of these lines; the default comes last, because it does not return.
            signal_hook::flag::register_usize(
                signal,
                &CAUGHT,
                usize::try_from(signal).unwrap_or(0),
            )?;
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
            signal_hook::flag::register_conditional_default(signal, &DEFAULT_APPLIES)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, sender)?;
        Ok(Self(receiver))
    }

    /// Waits until `check` gives something or the limit is over. Looks at once, and again after each
    /// wake-up.
    fn until<T>(&self, limit: Duration, mut check: impl FnMut() -> Option<T>) -> Option<T> {
        let start = Instant::now();
        loop {
            if let Some(found) = check() {
                return Some(found);
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return None;
            }
            self.wait(left.min(SAFETY_NET));
        }
    }

    /// Returns after a signal, after the limit, or for no reason at all; at once if a signal came
    /// since the last call.
    fn wait(&self, limit: Duration) {
        let read = self
            .0
            .set_read_timeout(Some(limit))
            .and_then(|()| (&self.0).read(&mut [0; 64]));
        match read.map_err(|error| error.kind()) {
            Ok(1..) | Err(ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {
            }
            // Cannot happen; but if it does, `until` must not turn into a busy loop.
            Ok(0) | Err(_) => std::thread::sleep(limit.min(Duration::from_millis(20))),
        }
    }
}

/// The time in which orphaned descendants become children of this process, so that they are found.
///
/// The process group alone is not enough: Claude Code starts each shell command in a session of its
/// own. Other systems offer nothing of the kind, and only the group is ended there.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Adoption {
    /// What the process attribute was, for the end.
    before: Option<Pid>,
    /// Children that were there first, e.g. those of a shell that has exec'd this program.
    spared: Vec<Pid>,
}

#[cfg(target_os = "linux")]
impl Adoption {
    fn begin() -> Self {
        let before = rustix::process::child_subreaper().unwrap_or(None);
        let spared = children();
        // Where this is forbidden, the group is all that can be ended.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Self { before, spared }
    }

    /// Kills and reaps what was left to this process, and again what those leave to it in turn.
    fn end_orphans(&self, wakeups: &Wakeups) {
        use rustix::process::{WaitOptions, kill_process, waitpid};

        let start = Instant::now();
        loop {
            let mut orphans = self.orphans();
            for orphan in &orphans {
                // An unreaped child: its number cannot have gone to another process.
                let _ = kill_process(*orphan, Signal::KILL);
            }
            let left = REAP_LIMIT.saturating_sub(start.elapsed());
            if orphans.is_empty() || left.is_zero() {
                return;
            }
            // Not all that is left: one that cannot be killed must not shield the others' children.
            wakeups.until(left.min(REAP_LIMIT / 5), || {
                orphans.retain(|orphan| {
                    matches!(waitpid(Some(*orphan), WaitOptions::NOHANG), Ok(None))
                });
                orphans.is_empty().then_some(())
            });
        }
    }

    /// Our children, but for those that were there first and those in our own process group: what
    /// another thread starts is in it, and the program's descendants are not.
    fn orphans(&self) -> Vec<Pid> {
        use rustix::process::{getpgid, getpgrp};

        let ours = getpgrp();
        let mut orphans = children();
        orphans.retain(|child| !self.spared.contains(child) && getpgid(Some(*child)) != Ok(ours));
        orphans
    }
}

#[cfg(target_os = "linux")]
impl Drop for Adoption {
    fn drop(&mut self) {
        let _ = rustix::process::set_child_subreaper(self.before);
    }
}

/// The children of this process, dead ones among them that nobody has reaped.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let exists = |id: WaitId<'_>| !matches!(waitid(id, options), Err(Errno::CHILD));
    // By far the most frequent case, and it needs no look at /proc.
    if !exists(WaitId::All) {
        return Vec::new();
    }
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|process| {
            process
                .ok()?
                .file_name()
                .to_str()?
                .parse()
                .ok()
                .and_then(Pid::from_raw)
        })
        // Asking the kernel stays right where /proc belongs to another pid namespace.
        .filter(|pid| exists(WaitId::Pid(*pid)))
        .collect()
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Adoption;

#[cfg(not(target_os = "linux"))]
impl Adoption {
    fn begin() -> Self {
        Self
    }

    fn end_orphans(&self, _: &Wakeups) {}
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::fs;

    use rustix::process::test_kill_process;
    use tempfile::TempDir;

    use super::*;

    /// Longer than any test takes, so that only being killed ends a process early.
    const LONG: Duration = Duration::from_secs(60);

    struct Test {
        folder: TempDir,
        timeout: Duration,
        env: Vec<(String, String)>,
    }

    impl Test {
        fn new() -> Self {
            Self {
                folder: tempfile::tempdir().unwrap(),
                timeout: LONG,
                env: Vec::new(),
            }
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

        fn argv(&self, argv: &[&str]) -> Ended {
            let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
            run(&Spec {
                argv: &argv,
                cwd: self.folder.path(),
                env: &self.env,
                log: &self.log(),
                timeout: self.timeout,
                stdin: None,
            })
        }

        fn sh(&self, script: &str) -> Ended {
            self.argv(&["sh", "-c", script])
        }

        /// Asserts that processes are gone; each file holds the id of one, written by the script.
        fn gone(&self, files: &[&str]) {
            for file in files {
                let text = fs::read_to_string(self.folder.path().join(file)).unwrap();
                let pid = Pid::from_raw(text.trim().parse().unwrap()).unwrap();
                let start = Instant::now();
                // On Linux we have reaped it ourselves; elsewhere init does, in its own time.
                while test_kill_process(pid).is_ok() {
                    let patience = if cfg!(target_os = "linux") { 0 } else { 2 };
                    assert!(
                        start.elapsed() < Duration::from_secs(patience),
                        "{file} is still there"
                    );
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }

    fn exited(code: i32, stdout: &str) -> Ended {
        Ended::Exited {
            code: Some(code),
            signal: None,
            stdout: stdout.as_bytes().to_vec(),
        }
    }

    fn not_started(why: &str) -> Ended {
        Ended::NotStarted(why.to_owned())
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
        let ended = Test::new().sh("kill -9 $$");
        assert_eq!(
            ended,
            Ended::Exited {
                code: None,
                signal: Some(9),
                stdout: Vec::new()
            }
        );
    }

    #[test]
    fn not_started_and_why() {
        let test = Test::new();
        fs::write(test.folder.path().join("text"), "").unwrap();
        assert_eq!(test.argv(&[]), not_started("no program is given"));
        assert_eq!(
            test.argv(&["no-such-program"]),
            not_started("`no-such-program` is not on PATH")
        );
        assert_eq!(
            test.argv(&["./no-such-program"]),
            not_started("`./no-such-program` does not exist")
        );
        assert_eq!(
            test.argv(&["./text"]),
            not_started("`./text` may not be executed: Permission denied (os error 13)")
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
            not_started(
                "`./script` is there, but the interpreter or loader that it asks for is not"
            )
        );
        let on_path = test.folder.path().to_str().unwrap().to_owned();
        assert_eq!(
            Test::new().env("PATH", &on_path).argv(&["script"]),
            not_started("`script` is there, but the interpreter or loader that it asks for is not")
        );
    }

    #[test]
    fn missing_working_directory() {
        let test = Test::new();
        let cwd = Path::new("/no/such/folder");
        let ended = run(&Spec {
            argv: &["true".to_owned()],
            cwd,
            env: &[],
            log: &test.log(),
            timeout: LONG,
            stdin: None,
        });
        assert_eq!(
            ended,
            not_started("the working directory /no/such/folder does not exist")
        );
    }

    #[test]
    fn log_that_cannot_be_written() {
        let test = Test::new();
        let elsewhere = test.folder.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, test.log()).unwrap();
        let log = test.log();
        assert_eq!(
            test.argv(&["true"]),
            not_started(&format!(
                "the log {} cannot be written: it is a symbolic link",
                log.display()
            ))
        );
        assert!(!elsewhere.exists());
        assert_eq!(last_line(&log), None);
    }

    #[test]
    fn argument_too_long() {
        let long = "x".repeat(MAX_ARGUMENT + 1);
        let ended = Test::new().argv(&["true", &long]);
        if cfg!(target_os = "linux") {
            assert_eq!(
                ended,
                not_started(
                    "one of the arguments of `true` is 131072 bytes long, \
                     and Linux takes at most 131071 in one"
                )
            );
            assert_eq!(Test::new().argv(&["true", &long[1..]]), exited(0, ""));
        } else {
            assert_eq!(ended, exited(0, ""));
        }
    }

    #[test]
    fn arguments_too_long_together() {
        let long = "x".repeat(100_000);
        let mut argv = vec!["true"];
        argv.extend(std::iter::repeat_n(long.as_str(), 100));
        assert_eq!(
            Test::new().argv(&argv),
            not_started(
                "the arguments of `true` (10000004 bytes) and the environment \
                 are together more than this system takes"
            )
        );
    }

    #[test]
    fn timeout_ends_the_group() {
        let test = Test::new().timeout(500);
        let start = Instant::now();
        let ended = test.sh("echo $$ >leader; sleep 1000 & echo $! >child; sleep 1000");
        assert_eq!(ended, Ended::TimedOut);
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
        test.gone(&["leader", "child"]);
    }

    #[test]
    fn timeout_gives_time_to_clean_up() {
        let test = Test::new().timeout(500);
        assert_eq!(
            test.sh("trap 'echo cleaned up >&2; exit' TERM; sleep 1000 & wait"),
            Ended::TimedOut
        );
        assert_eq!(last_line(&test.log()).as_deref(), Some("cleaned up"));
    }

    #[test]
    fn timeout_of_a_program_that_ignores_sigterm() {
        let test = Test::new().timeout(500);
        let ended = test.sh(
            "trap '' TERM; echo $$ >leader; sleep 1000 & echo $! >child; \
             while :; do sleep 1000; done",
        );
        assert_eq!(ended, Ended::TimedOut);
        test.gone(&["leader", "child"]);
    }

    #[test]
    fn what_the_leader_leaves_is_ended() {
        let test = Test::new();
        assert_eq!(
            test.sh("sleep 1000 & echo $! >child; echo done"),
            exited(0, "done\n")
        );
        test.gone(&["child"]);
    }

    /// The background process has our stdout and stderr, and would keep a pipe open.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_leaves_the_group_is_ended() {
        let test = Test::new();
        let start = Instant::now();
        let ended = test.sh("setsid sh -c 'echo $$ >child; exec sleep 1000' & \
             while ! [ -s child ]; do sleep 0.01; done; echo done");
        assert_eq!(ended, exited(0, "done\n"));
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
        test.gone(&["child"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_tree_of_sessions_is_ended() {
        let test = Test::new();
        let nest = "echo $$ >$1; shift; [ $# = 0 ] || (setsid sh nest $* &); sleep 1000";
        fs::write(test.folder.path().join("nest"), nest).unwrap();
        let ended = test.sh("(setsid sh nest a b c &); while ! [ -s c ]; do sleep 0.01; done");
        assert_eq!(ended, exited(0, ""));
        test.gone(&["a", "b", "c"]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn children_of_others_are_spared() {
        let mut slot = WAKEUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let wakeups = Wakeups::installed(&mut slot).unwrap();
        let mut earlier = Command::new("sleep")
            .arg("1000")
            .process_group(0)
            .spawn()
            .unwrap();
        let adoption = Adoption::begin();
        let mut of_another_thread = Command::new("sleep").arg("1000").spawn().unwrap();
        adoption.end_orphans(wakeups);
        for child in [&mut earlier, &mut of_another_thread] {
            assert_eq!(child.try_wait().unwrap(), None);
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn last_line_of_a_log() {
        let test = Test::new();
        let last = |log: &[u8]| {
            fs::write(test.log(), log).unwrap();
            last_line(&test.log())
        };
        assert_eq!(last_line(&test.folder.path().join("missing")), None);
        assert_eq!(last_line(test.folder.path()), None);
        assert_eq!(last(b""), None);
        assert_eq!(last(b"\n \x1b[0m\n"), None);
        assert_eq!(last(b"first\nsecond\n\n  \n").as_deref(), Some("second"));
        assert_eq!(last(b"10%\r50%\r100%\r\n").as_deref(), Some("100%"));
        assert_eq!(
            last(b"\x1b[1;31merror\x1b[0m:\tno\x07 \x1b]0;title\x07net\x1b(B\x1b]8;;x\x1b\\!\n")
                .as_deref(),
            Some("error: no net!")
        );
        assert_eq!(
            last(b"whole\nhalf an escape \x1b[").as_deref(),
            Some("half an escape")
        );
        assert_eq!(
            last(b"title \x1b]0;never closed\n\xff\n").as_deref(),
            Some("\u{fffd}")
        );
        let long = "\u{e4}".repeat(100_000);
        assert_eq!(last(long.as_bytes()), Some("\u{e4}".repeat(300)));
    }
}
