//! A temporary project with a plan, a scripted reviewer, and the binary to run in it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, mpsc};
use std::thread;
use std::time::Duration;
use std::time::SystemTime;

use rustix::fs::StatVfsMountFlags;
use serde::Deserialize;
use serde_json::{Value, json};
use taskie::check::conditions::Limits;
use taskie::check::lint::report::Format;
use taskie::expr::templates::Templates;

/// The name of the plan in a new [`Project`].
pub const PLAN: &str = "test-plan";

/// The scripted reviewer. A link to it is put on PATH, not a copy: while a copy is written, another test may fork a
/// process that keeps it "busy" for a moment. Never write to it.
const CLAUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/black_box/claude.sh");

/// Where Linux has a file system in memory.
const IN_MEMORY: &str = "/dev/shm";

/// What a scripted reviewer does when it is called.
#[derive(Clone)]
pub struct Reviewer {
    pub verdict: &'static str,
    pub exit: i32,
    pub writes: bool,
    /// Shell commands run before anything is written.
    pub first: String,
    /// Printed instead of the real client's JSON.
    pub stdout: Option<String>,
    pub stderr: &'static str,
}

impl Default for Reviewer {
    fn default() -> Self {
        Self {
            verdict: "FAIL",
            exit: 0,
            writes: true,
            first: String::new(),
            stdout: None,
            stderr: "",
        }
    }
}

impl Reviewer {
    pub fn of(verdict: &'static str) -> Self {
        Self { verdict, ..Self::default() }
    }

    pub fn pass() -> Self {
        Self::of("PASS")
    }

    pub fn fail() -> Self {
        Self::default()
    }

    pub fn exits(self, exit: i32) -> Self {
        Self { exit, ..self }
    }

    pub fn prints(self, stdout: impl Into<String>) -> Self {
        Self { stdout: Some(stdout.into()), ..self }
    }

    pub fn warns(self, stderr: &'static str) -> Self {
        Self { stderr, ..self }
    }

    pub fn first(self, commands: impl Into<String>) -> Self {
        Self { first: commands.into(), ..self }
    }

    pub fn without_review(self) -> Self {
        Self { writes: false, ..self }
    }

    fn script(&self) -> String {
        let mut script = format!("{}\n", self.first);
        if self.writes {
            script.push_str("echo '# Review' > \"$file\"\n");
        }
        if !self.stderr.is_empty() {
            script.push_str(&format!("echo '{}' >&2\n", self.stderr));
        }
        let stdout = self.stdout.clone().unwrap_or_else(|| {
            json!({
                "type": "result", "subtype": "success", "is_error": false, "num_turns": 2,
                "result": format!("{{\"verdict\":\"{}\"}}", self.verdict),
                "total_cost_usd": 0.00075,
                "structured_output": {
                    "verdict": self.verdict,
                },
            })
            .to_string()
        });
        script.push_str(&format!("cat <<'TASKIE_END'\n{stdout}\nTASKIE_END\nexit {}\n", self.exit));
        script
    }
}

/// The result of a run of the binary.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns the exit code, stdout and stderr.
    pub fn all(&self) -> (i32, &str, &str) {
        (self.code, &self.stdout, &self.stderr)
    }

    /// Returns the exit code and stdout.
    pub fn out(&self) -> (i32, &str) {
        (self.code, &self.stdout)
    }

    /// Returns the exit code and stderr.
    pub fn err(&self) -> (i32, &str) {
        (self.code, &self.stderr)
    }

    /// Returns the message to the user; empty if there is none.
    pub fn message(&self) -> String {
        let message = &self.json()["systemMessage"];
        message.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the answer as JSON; null if nothing was printed.
    pub fn json(&self) -> Value {
        if self.stdout.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&self.stdout).unwrap()
        }
    }
}

/// The time limit of a test that starts processes: a lock that is never released must not hang the suite. When it is over,
/// the whole suite ends, because a thread that waits cannot be stopped.
struct TimeLimit {
    _test: mpsc::Sender<()>,
}

impl TimeLimit {
    /// Long runs (`TASKIE_FORCE`) take what they take.
    fn seconds() -> u64 {
        if std::env::var_os("TASKIE_FORCE").is_some() { 3600 } else { 60 }
    }

    fn start() -> Self {
        let (test, is_over) = mpsc::channel();
        let name = thread::current().name().unwrap_or_default().to_owned();
        thread::spawn(move || {
            let limit = Duration::from_secs(Self::seconds());
            if is_over.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Not what a test prints, which nobody sees anymore.
                let _ = writeln!(std::io::stderr(), "{name} still runs after {limit:?}");
                std::process::exit(101);
            }
        });
        Self { _test: test }
    }
}

/// A temporary directory, and how long the test may take that uses it.
pub struct Temporary {
    folder: tempfile::TempDir,
    _limit: TimeLimit,
}

impl Temporary {
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns a new temporary directory. It is in memory where programs can be run from there and a gigabyte is free, unless
/// TMPDIR says otherwise: writing many small files to a disk takes as long as everything else that a test does.
pub fn temporary() -> Temporary {
    static MEMORY: LazyLock<bool> = LazyLock::new(|| {
        std::env::var_os("TMPDIR").is_none()
            && rustix::fs::statvfs(IN_MEMORY).is_ok_and(|system| {
                !system.f_flag.contains(StatVfsMountFlags::NOEXEC)
                    && system.f_bavail.saturating_mul(system.f_frsize) > 1 << 30
            })
    });
    let in_memory = MEMORY.then(|| tempfile::tempdir_in(IN_MEMORY).ok());
    let folder = in_memory.flatten().unwrap_or_else(|| tempfile::tempdir().unwrap());
    Temporary { folder, _limit: TimeLimit::start() }
}

/// A temporary project. Its `bin`, which contains the scripted `claude`, is outside the project.
pub struct Project {
    _temp: Temporary,
    pub root: PathBuf,
    pub bin: PathBuf,
}

impl Project {
    /// An empty directory: no `.taskie`, no git.
    pub fn empty() -> Self {
        let temp = temporary();
        let base = temp.path().canonicalize().unwrap();
        let (root, bin) = (base.join("project"), base.join("bin"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&bin).unwrap();
        Self { _temp: temp, root, bin }
    }

    /// A project whose plan has these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let project = Self::empty();
        fs::create_dir_all(project.plan()).unwrap();
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    /// A project with a valid plan of two pending tasks.
    pub fn valid() -> Self {
        Self::with(&[
            ("plan.md", "# Plan\n\n## Overview\n\nDo it.\n"),
            (
                "tasks.md",
                "| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n| 1 | pending | high | One | x |\n| 2 | pending | low | Two | x |\n",
            ),
            ("task-1.md", "# Task 1\n"),
            ("task-2.md", "# Task 2\n"),
        ])
    }

    /// A project with a valid plan whose state is [`state`] with `changes` over it.
    pub fn in_state(changes: Value) -> Self {
        let project = Self::valid();
        project.set_state(changes);
        project
    }

    pub fn plan(&self) -> PathBuf {
        self.root.join(".taskie/plans").join(PLAN)
    }

    /// A file about the plan in the lock folder.
    pub fn lock_file(&self, kind: &str) -> PathBuf {
        self.root.join(format!(".taskie/.locks/{PLAN}.{kind}"))
    }

    /// Writes a file of the plan, and creates its folders.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.plan().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.plan().join(name)).unwrap()
    }

    /// Writes `state.json`: [`state`] with `changes` over it.
    pub fn set_state(&self, changes: Value) {
        self.write("state.json", serde_json::to_string_pretty(&state(changes)).unwrap());
    }

    pub fn state(&self) -> Value {
        serde_json::from_str(&self.read("state.json")).unwrap()
    }

    /// Writes the project's settings.
    pub fn set(&self, settings: &Value) {
        let file = self.root.join(".taskie/config.json");
        fs::write(file, settings.to_string()).unwrap();
    }

    /// Writes the user's own settings, which need no trust.
    pub fn set_for_all(&self, settings: &Value) {
        let folder = self.bin.with_file_name("home/.config/taskie");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("taskie.json"), settings.to_string()).unwrap();
    }

    /// Puts a scripted `claude` on PATH.
    pub fn reviewer(&self, reviewer: &Reviewer) {
        let path = self.bin.join("claude");
        if !path.exists() {
            std::os::unix::fs::symlink(CLAUDE, &path).unwrap();
        }
        fs::write(self.bin.join("behaviour"), reviewer.script()).unwrap();
    }

    /// The arguments of each call of `claude`, in order, newlines as `\n`.
    pub fn calls(&self) -> Vec<Vec<String>> {
        // A call that is killed may end within a character.
        let bytes = fs::read(self.bin.join("calls")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let arguments =
            |call: &str| call.split_terminator('\0').map(|arg| arg.replace('\n', "\\n")).collect();
        text.split('\u{1e}').skip(1).map(arguments).collect()
    }

    /// The command with a clean environment, in the project's root, the scripted `claude` first on PATH.
    pub fn command<I: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taskie"));
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            let of_a_host = [
                "CLAUDE", "TASKIE", "CODEX", "COPILOT", "GEMINI", "PLUGIN", "QWEN", "DROID",
                "FACTORY",
            ];
            if name_text == "CI" || of_a_host.iter().any(|start| name_text.starts_with(start)) {
                command.env_remove(&name);
            }
        }
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .args(args)
            .current_dir(&self.root)
            .env("PATH", format!("{}:{path}", self.bin.display()))
            .env("HOME", self.bin.parent().unwrap().join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A shell line, run as [`Self::command`] would run it. The built binary is the `taskie` on PATH.
    pub fn shell(&self, line: &str) -> Command {
        let built = Path::new(env!("CARGO_BIN_EXE_taskie")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{}:{path}", self.bin.display(), built.display());
        // With a path, no copy of this process is needed to look for it.
        let mut shell = Command::new("/bin/sh");
        for (name, value) in self.command([""]).get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell
            .args(["-c", line])
            .current_dir(&self.root)
            .env("PATH", path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        shell
    }

    /// Runs the binary.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// `taskie hook EVENT` with this text on stdin.
    pub fn hook_raw(&self, event: &str, stdin: impl AsRef<[u8]>) -> Ran {
        feed(self.command(["hook", event]), stdin)
    }

    /// A stop's event as the host sends it; `active` is `stop_hook_active`.
    pub fn stop_event(&self, active: bool) -> String {
        json!({ "cwd": self.root, "hook_event_name": "Stop", "stop_hook_active": active })
            .to_string()
    }

    /// The same, of a session.
    pub fn stop_event_of(&self, session: &str) -> String {
        json!({ "cwd": self.root, "hook_event_name": "Stop", "session_id": session }).to_string()
    }

    /// Runs `taskie hook stop` as the host calls it.
    pub fn stop_active(&self, active: bool) -> Ran {
        self.hook_raw("stop", self.stop_event(active))
    }

    /// The stop of a session.
    pub fn stop_of(&self, session: &str) -> Ran {
        self.hook_raw("stop", self.stop_event_of(session))
    }

    /// A stop that a chart other than the default one decides.
    pub fn stop_with(&self, chart: impl AsRef<OsStr>) -> Ran {
        let words = [OsStr::new("--chart"), chart.as_ref()];
        let hook = ["hook", "stop"].map(OsStr::new);
        feed(self.command([words, hook].concat()), self.stop_event(false))
    }

    /// A stop that is running.
    pub fn start_stop(&self) -> Child {
        start(self.command(["hook", "stop"]), self.stop_event(false))
    }

    /// A turn's first stop.
    pub fn stop(&self) -> Ran {
        self.stop_active(false)
    }

    /// Returns every file in the project with its text, without locks and git's own files: tests compare all of it.
    pub fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.root, &self.root, &mut files);
        files
    }

    /// The names of the files in the plan's directory.
    pub fn names(&self) -> Vec<String> {
        let prefix = format!(".taskie/plans/{PLAN}/");
        self.files()
            .into_keys()
            .filter_map(|name| name.strip_prefix(&prefix).map(str::to_owned))
            .collect()
    }
}

/// What `taskie enter` says about a review that is due, if it knows no session.
pub fn nobodys(cycle: &str) -> String {
    format!(
        "The {cycle} is due, but no session is working on this plan: run /taskie:continue-plan in a session to start the review."
    )
}

/// A whole state: a task's code review is due, with `changes` applied. A null removes nothing; the field is null.
pub fn state(changes: Value) -> Value {
    let mut state = json!({
        "max_reviews": 8, "current_task": "1", "phase": "complete-task", "phase_iteration": 0,
        "next_phase": "code-review", "review_model": "opus", "consecutive_clean": 0, "tdd": false,
    });
    for (name, value) in changes.as_object().unwrap() {
        state[name] = value.clone();
    }
    state
}

/// Starts a command with this text on stdin.
pub fn start(mut command: Command, stdin: impl AsRef<[u8]>) -> Child {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that does not read its stdin closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_ref());
    child
}

/// The result of a command that was started.
pub fn finish(child: Child) -> Ran {
    Ran::of(child.wait_with_output().unwrap())
}

/// Runs a command with this text on stdin.
pub fn feed(command: Command, stdin: impl AsRef<[u8]>) -> Ran {
    finish(start(command, stdin))
}

/// Sets the mode of a file or a folder.
pub fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes a file or a folder look as if it had been modified at this time.
pub fn set_modified(path: impl AsRef<Path>, time: SystemTime) {
    let file = fs::File::open(path).unwrap();
    file.set_modified(time).unwrap();
}

/// Writes a program: a shell script.
pub fn script(path: impl AsRef<Path>, lines: &str) {
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    set_mode(path, 0o755);
}

/// Runs git in a folder, with an identity and without the user's configuration, and returns what it prints.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.invalid"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the default chart as its files, as (path in the repository, text): its own, and those of the parts that it extends.
pub fn chart_files() -> Vec<(String, String)> {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let own = read("statechart.toml").unwrap();
    let chart: toml::Table = own.parse().unwrap();
    let parts = chart["extends"].as_array().unwrap().iter();
    let parts = parts.map(|part| format!("parts/{}/statechart.toml", part.as_str().unwrap()));
    let parts = parts.map(|path| (path.clone(), read(&path).unwrap()));
    [("statechart.toml".to_owned(), own)].into_iter().chain(parts.collect::<Vec<_>>()).collect()
}

/// Writes the default chart into a folder, with changed texts. What it extends is written too if it changes. Its own templates
/// are not. Returns the path and the text of each file, in the order of [`chart_files`]; an unchanged part has its name.
pub fn write_chart(folder: &Path, change: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let files = chart_files();
    let mut written = vec![(String::new(), change(&files[0].1))];
    for (path, text) in &files[1..] {
        let part = path.split('/').nth(1).unwrap().to_owned();
        let changed = change(text);
        if changed == *text {
            written.push((part, changed));
            continue;
        }
        let target = folder.join(path);
        let beside = target.parent().unwrap();
        fs::create_dir_all(beside).unwrap();
        fs::write(&target, &changed).unwrap();
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let templates = templates.with_file_name("templates");
        if templates.exists() && !beside.join("templates").exists() {
            std::os::unix::fs::symlink(templates, beside.join("templates")).unwrap();
        }
        written[0].1 = written[0].1.replacen(&format!("{part:?}"), &format!("{target:?}"), 1);
        written.push((target.to_str().unwrap().to_owned(), changed));
    }
    let own = folder.join("statechart.toml");
    fs::create_dir_all(folder).unwrap();
    fs::write(&own, &written[0].1).unwrap();
    written[0].0 = own.to_str().unwrap().to_owned();
    written
}

/// Returns the default chart with what it extends.
pub fn whole_chart() -> toml::Table {
    let chart = &taskie::chart::choice::CHARTS[0];
    let whole = taskie::chart::extend::Extended::of(chart.id, chart.text);
    whole.toml().parse().unwrap()
}

/// Returns what `taskie check-chart --format json` prints about a chart. Its template folders are in `beside`. Of what extends
/// a shipped chart, which has many states, only the first ones are explored.
pub fn report(origin: &str, chart: &str, beside: &Path) -> Value {
    let templates = |folders: &[String]| {
        Templates::folders(folders.iter().map(|folder| beside.join(folder)).collect())
    };
    // How long it takes depends on the machine.
    let states = if chart.contains("extends") { 500 } else { Limits::default().states };
    let limits = Limits { time: Duration::from_secs(600), states };
    let checked = taskie::check::lint::run(origin, chart, templates, Some(&limits));
    serde_json::from_str(&Format::Json.render(&[checked])).unwrap()
}

/// Returns the cases of a test: the list with its name in `tests/cases`, in the file of its module. They are never freed,
/// like constants.
pub fn cases<T: Deserialize<'static>>(module: &str, test: &str) -> Vec<T> {
    let file = format!("{}/tests/cases/{module}.toml", env!("CARGO_MANIFEST_DIR"));
    let all: Value = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let all: &'static Value = Box::leak(Box::new(all));
    Vec::deserialize(&all[test]).unwrap_or_else(|error| panic!("{file}: `{test}`: {error}"))
}

/// Returns the JSON of a case, which is written as text: TOML has no null.
pub fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns `text` with every review and every wait taking no time: how long one takes depends on the machine.
pub fn timeless(text: &str) -> String {
    let times = [(" in ", " s"), (" waited ", " s"), (", and ", " s"), ("\"seconds\":", "")];
    times.iter().fold(text.to_owned(), |text, (before, unit)| {
        let mut parts = text.split(before);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let digits = part.chars().take_while(char::is_ascii_digit).count();
            let rest = part[digits..].strip_prefix(unit).filter(|_| digits > 0);
            let part = rest.map_or_else(|| part.to_owned(), |rest| format!("0{unit}{rest}"));
            text + before + &part
        })
    })
}

/// The answer that allows a stop without a message.
pub fn silent() -> &'static str {
    "{\"suppressOutput\": true}\n"
}

/// The answer that allows a stop with a message to the user.
pub fn allowed(message: &str) -> Value {
    json!({ "systemMessage": message, "suppressOutput": true })
}

/// The answer that blocks a stop with a message to the agent.
pub fn blocked(reason: &str) -> Value {
    json!({ "decision": "block", "reason": reason })
}

/// A hook that allows its event with a warning to the user, which it also writes to the host's log.
#[track_caller]
pub fn expect_warning(ran: &Ran, warning: &str) {
    let log = format!("taskie: {warning}\n");
    assert_eq!((ran.code, ran.json(), &ran.stderr), (0, allowed(warning), &log));
}

/// The answer that allows a stop in a plan without a flaw.
pub fn validated() -> Value {
    allowed(&format!("Plan '{PLAN}' structure validated successfully"))
}

fn collect(top: &Path, dir: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(top).unwrap().to_string_lossy().into_owned();
        if name.ends_with("/.locks") || name == ".git" {
            continue;
        }
        if path.is_dir() {
            collect(top, &path, files);
        } else {
            files.insert(
                name,
                String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned(),
            );
        }
    }
}
