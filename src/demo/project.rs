//! The temporary project and the processes in it: the hook as the host runs it, commands as the agent runs them.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::reviewer;
use crate::chart::Chart;
use crate::chart::choice::{CHARTS, Embedded};
use crate::host::hosts::PLUGIN;
use crate::project::state_file;
use crate::scenario::failure::{Failure, at, io};
use crate::scenario::script::{Expected, ScenarioStep, Script, ScriptedChange};
use crate::scenario::stage::{ScriptedAnswer, Stage, State};
use crate::store::Store;
use crate::store::journal::{self, DecisionLine, Line};

/// A project, with the environment of a session of the host.
#[derive(Debug)]
pub(super) struct Project {
    _project: TempDir,
    root: PathBuf,
    /// Contains the stand-ins and the files through which player and reviewer communicate; always removed.
    _behind: TempDir,
    behind: PathBuf,
    exe: PathBuf,
    /// PATH, with the stand-ins first.
    path: OsString,
    chart: &'static Embedded,
    session: String,
    /// The instance's directory, from the root.
    dir: PathBuf,
    /// The number of turns so far.
    turn: usize,
    /// Whether a stop of this turn has already been answered.
    active: bool,
}

impl Project {
    /// Creates an empty project that contains the chart's home, so that no home above it is found.
    pub(super) fn new(
        embedded: &'static Embedded,
        chart: &Chart,
        scenario: &Script,
        keep: bool,
    ) -> Result<Self, Failure> {
        let temporary = |name: &str| {
            let made = tempfile::Builder::new().prefix(name).tempdir();
            made.map_err(io("a temporary directory cannot be made"))
        };
        let mut project = temporary("taskie-demo-")?;
        project.disable_cleanup(keep);
        let root = absolute(&project)?;
        let home = root.join(&chart.scope.home);
        fs::create_dir_all(&home).map_err(at(&home))?;
        let temporary_behind = temporary("taskie-behind-the-demo-")?;
        let behind = absolute(&temporary_behind)?;
        let bin = behind.join("bin");
        fs::create_dir(&bin).map_err(at(&bin))?;
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(bin.clone()).chain(std::env::split_paths(&inherited));
        let path =
            std::env::join_paths(folders).map_err(std::io::Error::other).map_err(at(&bin))?;
        let exe = std::env::current_exe().map_err(io("this program's own path is unknown"))?;
        for program in chart.reviewers.values().map(|reviewer| reviewer.program()) {
            if !bin.join(program).exists() {
                symlink(&exe, bin.join(program)).map_err(at(&bin))?;
            }
        }
        Ok(Self {
            _project: project,
            root,
            _behind: temporary_behind,
            behind,
            exe,
            path,
            chart: embedded,
            session: scenario.session.clone(),
            dir: PathBuf::from(&scenario.dir),
            turn: 0,
            active: false,
        })
    }

    /// Returns the project's root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns where a file of the scenario is: in the instance's directory, or with a `/` in the root.
    fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix('/') {
            Some(name) => self.root.join(name),
            None => self.root.join(&self.dir).join(name),
        }
    }

    /// Makes a change, and returns what the command printed that had it reviewed. A change that nobody reviews is committed.
    pub(super) fn change(&mut self, change: &ScriptedChange) -> Result<String, Failure> {
        for (name, text) in &change.write {
            self.write(&format!("/{name}"), text)?;
        }
        let Some(answer) = &change.answer else {
            let author = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"];
            self.git(&["init", "--quiet", "--initial-branch", "main"])?;
            self.git(&["add", "."])?;
            self.git(&[&author[..], &["commit", "--quiet", "--message", &change.about]].concat())?;
            return Ok(String::new());
        };
        reviewer::answers(&self.behind, answer, None).map_err(at(&self.behind))?;
        let mut command = self.command(&["review"]);
        let output = command.stdin(Stdio::null()).output().map_err(at(&self.exe))?;
        reviewer::called(&self.behind).map_err(at(&self.behind))?;
        match output.status.code() {
            Some(0 | 1) => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
            _ => Err(Failure::Unexpected {
                what: "`taskie review` failed".to_owned(),
                details: transcript("taskie review", &output),
            }),
        }
    }

    fn git(&self, words: &[&str]) -> Result<(), Failure> {
        let mut git = Command::new("git");
        // The user's own configuration may sign commits, or run hooks.
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("GIT_DIR");
        let git = git.args(words).current_dir(&self.root).stdin(Stdio::null());
        let output = git.output().map_err(io("git cannot be run"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(Failure::Unexpected {
                what: "git failed".to_owned(),
                details: transcript(&format!("git {}", words.join(" ")), &output),
            }),
        }
    }

    /// Returns the event that the host sends at a stop.
    fn event(&self, said: &str) -> Json {
        json!({
            "session_id": self.session,
            "transcript_path": self.behind.join("transcript.jsonl"),
            "cwd": self.root,
            "prompt_id": format!("5e551011-0000-4000-8000-{:012}", self.turn),
            "permission_mode": "default",
            "effort": { "level": "medium" },
            "hook_event_name": "Stop",
            "stop_hook_active": self.active,
            "last_assistant_message": said,
            "background_tasks": [],
            "session_crons": [],
        })
    }

    /// Returns this binary as a command in the project, with the environment that the host gives to hooks and tools,
    /// and without the session that the demo itself may run in.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.exe);
        for (name, _) in std::env::vars_os() {
            let text = name.as_encoded_bytes();
            if text.starts_with(b"CLAUDE") || text.starts_with(b"TASKIE") {
                command.env_remove(&name);
            }
        }
        command
            .args(words)
            .current_dir(&self.root)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", &self.session)
            .env("CLAUDE_PROJECT_DIR", &self.root)
            .env(PLUGIN, "1")
            .env("PATH", &self.path)
            .env("TMPDIR", &self.behind)
            // The user's own settings are about the user's own projects.
            .env("XDG_CONFIG_HOME", &self.behind)
            .env("XDG_STATE_HOME", &self.behind)
            .env(reviewer::FOLDER, &self.behind)
            .env_remove("CLICOLOR_FORCE")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Stage for Project {
    fn begin_turn(&mut self) {
        self.turn += 1;
        self.active = false;
    }

    fn arrange(&mut self, _step: &ScenarioStep) -> Result<(), Failure> {
        Ok(())
    }

    fn read(&self, name: &str) -> Result<String, Failure> {
        let path = self.path(name);
        fs::read_to_string(&path).map_err(at(&path))
    }

    fn write(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        fs::write(&path, text).map_err(at(&path))
    }

    fn remove(&mut self, name: &str) -> Result<(), Failure> {
        let path = self.path(name);
        fs::remove_file(&path).map_err(at(&path))
    }

    fn state(&self) -> State {
        let text = fs::read(self.path(state_file::FILE)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn run(&mut self, line: &str, _step: &ScenarioStep) -> Result<(), Failure> {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let output = self.command(&words).stdin(Stdio::null()).output().map_err(at(&self.exe))?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failure::Unexpected {
            what: format!("`{line}` failed"),
            details: transcript(line, &output),
        })
    }

    fn send(&mut self, _event: &str, step: &ScenarioStep) -> Result<ScriptedAnswer, Failure> {
        let behind = self.behind.clone();
        if let Some(review) = &step.review {
            reviewer::script(&behind, review).map_err(at(&behind))?;
        }
        let event = self.event(&step.agent).to_string();
        self.active = true;

        let mut words = vec!["hook", "stop"];
        if self.chart.id != CHARTS[0].id {
            words.extend(["--chart", self.chart.id]);
        }
        let mut child =
            self.command(&words).stdin(Stdio::piped()).spawn().map_err(at(&self.exe))?;
        if let Some(mut stdin) = child.stdin.take() {
            // A hook that does not read its event closes the pipe; its answer will show that.
            let _ = stdin.write_all(event.as_bytes());
        }
        let output = child.wait_with_output().map_err(at(&self.exe))?;

        let transcript = transcript(&format!("taskie {} <<< '{event}'", words.join(" ")), &output);
        let answer: Json = match output.stdout.trim_ascii() {
            b"" => json!({}),
            text => serde_json::from_slice(text).unwrap_or_default(),
        };
        if !output.status.success() || !answer.is_object() {
            return Err(Failure::Unexpected {
                what: "a stop was not answered in JSON with exit code 0".to_owned(),
                details: transcript,
            });
        }
        let text = |key: &str| answer.get(key).and_then(Json::as_str).map(str::to_owned);
        let call = reviewer::called(&behind).map_err(at(&behind))?;
        Ok(ScriptedAnswer {
            answer: match text("decision").as_deref() {
                Some("block") => Expected::Block,
                _ => Expected::Allow,
            },
            reason: text("reason"),
            message: text("systemMessage"),
            decision: self.decisions().pop(),
            call,
            transcript,
        })
    }

    fn decisions(&self) -> Vec<DecisionLine> {
        let lines = journal::read_all(&Store::of(&self.root, self.chart.home()));
        let last = lines.into_iter().rev().find_map(Line::into_decision);
        last.into_iter().collect()
    }
}

/// Returns the canonical path of a temporary directory.
fn absolute(directory: &TempDir) -> Result<PathBuf, Failure> {
    let path = directory.path();
    path.canonicalize().map_err(at(path))
}

/// Returns a command and its output, for an error message.
fn transcript(line: &str, output: &Output) -> String {
    let mut text = format!("$ {line}");
    for stream in [&output.stdout, &output.stderr] {
        let stream = String::from_utf8_lossy(stream);
        if !stream.trim().is_empty() {
            text.push('\n');
            text.push_str(stream.trim_end());
        }
    }
    text
}
