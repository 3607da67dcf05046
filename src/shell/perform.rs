//! From an event to its answer: takes a snapshot, decides, runs what the decision invokes, decides again,
//! writes.
//!
//! State is written at most once, under the write lock, on a world read under that lock, and after all that the
//! decision does to files. Killed at any moment, this leaves the old state or the new one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::effects::{self, Failed};
use super::git::Git;
use super::lock::{ReviewLock, WriteLock};
use super::reviews::{self, Note, Running};
use super::snapshot::Snapshot;
use super::store::{self, Reading};
use crate::chart::Chart;
use crate::engine::decide::decide;
use crate::engine::decision::{Answer, Decision, Ended, Invocation, Outcome, Step};
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::engine::view::View;
use crate::engine::world::World;
use crate::host::events::REVIEWER;
use crate::invoke::process::End;
use crate::invoke::spec::Spec;
use crate::invoke::{log, outcome, supervisor};
use crate::shell::find::Instance;

/// An instance of a chart in a project.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) chart: Arc<Chart>,
    /// The project's root.
    pub(crate) root: PathBuf,
    pub(crate) instance: Instance,
}

/// A decision that was carried out, with what went wrong on the way that the user should know.
#[derive(Debug, Default)]
pub(crate) struct Performed {
    pub(crate) decision: Decision,
    /// What is wrong with the files that were read.
    pub(crate) warnings: Vec<String>,
    /// What may be wrong with them: not worth a word to the user at every stop.
    pub(crate) notes: Vec<String>,
    /// The context after the decision.
    pub(crate) context: IndexMap<String, Json>,
}

/// Why an event could not be carried out. Nothing was written.
#[derive(Debug)]
pub(crate) enum Stuck {
    /// No decision could be made.
    Fault(Fault),
    /// The file system is in the way.
    Io { what: String, error: std::io::Error },
    /// The state is unusable, and the decision would write it.
    Broken(String),
    /// This process was told to end while a run was going on; the run was ended.
    Interrupted { signal: i32 },
    /// The host has gone while a run was going on; the run was ended.
    Abandoned,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fault(fault) => write!(out, "{fault}"),
            Self::Io { what, error } => write!(out, "{what}: {error}"),
            Self::Broken(why) => write!(out, "{why}"),
            Self::Interrupted { signal } => write!(out, "ended by signal {signal}"),
            Self::Abandoned => write!(out, "nobody waits for the answer any more"),
        }
    }
}

impl std::error::Error for Stuck {}

impl From<Fault> for Stuck {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Stuck {
    let what = what.into();
    move |error| Stuck::Io { what, error }
}

/// Decides `event` at `place` and carries the decision out.
pub(super) fn carry_out(place: &Place, event: &Event) -> Result<Performed, Stuck> {
    let git = Arc::default();
    let snapshot = place.snapshot_with(&git);
    let step = decide(&place.chart, &snapshot.as_world(), event, None)?;
    match step {
        Step::Done(decision) if decision.writes_nothing() => Ok(done(snapshot, decision)),
        Step::Done(_) => place.write(event, None, &git),
        Step::Invoke(_) => place.review(event),
    }
}

/// What the chart would decide about `event` at `place` now. Nothing is run, locked or written.
pub(crate) fn peek(place: &Place, event: &Event) -> Result<(Step, Arc<Snapshot>), Stuck> {
    let snapshot = place.snapshot();
    let step = decide(&place.chart, &snapshot.as_world(), event, None)?;
    Ok((step, snapshot))
}

/// The same as [`peek`], except that a run whose subject is missing counts as failed, as it does in the hook.
pub(crate) fn foresee(place: &Place, event: &Event) -> Result<Foreseen, Stuck> {
    let (step, snapshot) = peek(place, event)?;
    let Step::Invoke(invocation) = step else {
        return Ok(Foreseen {
            step,
            obstacle: None,
        });
    };
    let Some(why) = place.obstacle(&invocation) else {
        return Ok(Foreseen {
            step: Step::Invoke(invocation),
            obstacle: None,
        });
    };
    let ended = Ended {
        invocation: *invocation,
        outcome: Outcome::Failed(why.clone()),
        superseded: false,
    };
    Ok(Foreseen {
        step: decide(&place.chart, &snapshot.as_world(), event, Some(ended))?,
        obstacle: Some(why),
    })
}

/// What a hook would do.
#[derive(Debug)]
pub(crate) struct Foreseen {
    pub(crate) step: Step,
    /// What keeps the run that is due from being started.
    pub(crate) obstacle: Option<String>,
}

/// What `event` would come to at `place` now, with the errors that carrying it out would have; the decision must
/// not ask for a run. Nothing is run, locked or written.
pub(crate) fn check(place: &Place, event: &Event) -> Result<Performed, Stuck> {
    let (step, snapshot) = peek(place, event)?;
    let decision = match step {
        Step::Done(decision) => decision,
        Step::Invoke(_) => Decision::default(),
    };
    if let (false, Reading::Broken(why)) = (decision.writes_nothing(), &snapshot.state) {
        return Err(place.broken(why));
    }
    Ok(done(snapshot, decision))
}

impl Place {
    /// What keeps an invocation from being started: a file of its subject that does not exist.
    pub(crate) fn obstacle(&self, invocation: &Invocation) -> Option<String> {
        let dir = self.dir();
        let missing = invocation
            .subject
            .iter()
            .find(|name| !dir.join(name).is_file())?;
        Some(format!(
            "{} does not exist",
            self.instance.dir.join(missing).display()
        ))
    }

    fn broken(&self, why: &str) -> Stuck {
        let file = self.instance.dir.join(store::FILE);
        Stuck::Broken(format!("{}: {why}", file.display()))
    }

    /// The chart's home in this project.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.join(&self.chart.scope.home)
    }

    /// The instance's directory.
    pub(crate) fn dir(&self) -> PathBuf {
        self.root.join(&self.instance.dir)
    }

    /// What is there now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot_with(&Arc::default())
    }

    fn snapshot_with(&self, git: &Arc<Git>) -> Arc<Snapshot> {
        let snapshot = Snapshot::take(&self.chart, &self.root, &self.instance);
        Arc::new(snapshot.with_git(git))
    }

    /// Where each session has its own instance, they share one lock: one of them may take over or remove what is
    /// another's, and no lock's file is left behind by a session that is gone.
    fn lock(&self) -> Result<WriteLock, Stuck> {
        let scope = &self.chart.scope;
        let shared = scope
            .is_per_session()
            .then(|| scope.folder.replace('/', "-"));
        let name = shared.as_deref().unwrap_or(&self.instance.name);
        WriteLock::acquire(&self.home(), name).map_err(io("the state cannot be locked"))
    }

    /// Decides anew under the write lock, and writes. What git has said holds on: no lock of ours would keep the
    /// working tree as it is.
    fn write(
        &self,
        event: &Event,
        ended: Option<(Ended, u64)>,
        git: &Arc<Git>,
    ) -> Result<Performed, Stuck> {
        let mut lock = self.lock()?;
        let ended = match ended {
            Some((mut ended, revision)) => {
                ended.superseded =
                    lock.revision().map_err(io("the revision cannot be read"))? != revision;
                Some(ended)
            }
            None => None,
        };
        let snapshot = self.snapshot_with(git);
        let step = decide(&self.chart, &snapshot.as_world(), event, ended)?;
        let Step::Done(decision) = step else {
            // Since the first look someone has made a review due. (A call with an outcome never asks for a run.)
            drop(lock);
            return self.review(event);
        };
        if let Reading::Broken(why) = &snapshot.state
            && !decision.writes_nothing()
        {
            return Err(self.broken(why));
        }
        effects::carry_out(&self.root, &self.chart.scope, &decision.effects)
            .map_err(|Failed { what, error }| Stuck::Io { what, error })?;
        if !decision.patch.is_empty() {
            // Counted first: a process that is killed between the two sets a review aside for nothing, and the
            // other way round a review would count that the new state does not ask for.
            if matches!(event.trigger, Trigger::Enter { .. } | Trigger::Command(_)) {
                lock.bump().map_err(io("the revision cannot be written"))?;
            }
            self.store(&snapshot, &decision.patch)?;
        }
        Ok(done(snapshot, decision))
    }

    fn store(&self, snapshot: &Snapshot, patch: &IndexMap<String, Json>) -> Result<(), Stuck> {
        let context = snapshot.context();
        let (old, absent) = match &snapshot.state {
            Reading::Sound {
                text,
                absent,
                digits,
                ..
            } => (Some(text.as_slice()), [absent.as_slice(), digits].concat()),
            Reading::Missing => (None, self.chart.context.keys().cloned().collect()),
            Reading::Broken(why) => return Err(self.broken(why)),
        };
        // A new state has the required fields and those assigned, in the chart's order.
        let is_written = |name: &String| {
            patch.contains_key(name) || old.is_some() || !self.chart.context[name].optional
        };
        let absent = absent
            .into_iter()
            .filter(is_written)
            .map(|name| (name.clone(), context[&name].clone()))
            .collect();
        let dir = self.dir();
        std::fs::create_dir_all(&dir)
            .and_then(|()| store::write(&dir, old, &absent, patch))
            .map_err(io(format!(
                "{} cannot be written",
                self.instance.dir.join(store::FILE).display()
            )))
    }

    /// Runs the review that is due, unless one is already running.
    fn review(&self, event: &Event) -> Result<Performed, Stuck> {
        let running = ReviewLock::try_acquire(&self.home(), &self.instance.name)
            .map_err(io("the review cannot be locked"))?;
        let Some(running) = running else {
            return Ok(Performed {
                decision: Decision {
                    messages: vec![format!(
                        "A review of {} `{}` is running already: this stop goes through.",
                        self.chart.scope.noun, self.instance.name
                    )],
                    answer: Answer::Allow,
                    ..Decision::default()
                },
                ..Performed::default()
            });
        };
        // Whoever held the lock a moment ago may have done what this decision asks for.
        let revision = self
            .lock()?
            .revision()
            .map_err(io("the revision cannot be read"))?;
        let git = Arc::default();
        let snapshot = self.snapshot_with(&git);
        let invocation = match decide(&self.chart, &snapshot.as_world(), event, None)? {
            Step::Invoke(invocation) => *invocation,
            Step::Done(decision) if decision.writes_nothing() => {
                return Ok(done(snapshot, decision));
            }
            Step::Done(_) => return self.write(event, None, &git),
        };
        let told = self.told(&snapshot, &invocation);
        // A file system that takes no note takes no state either, and that is told.
        let note = Note::leave(&self.home(), &self.instance.name, &told).ok();
        let outcome = self.run(&invocation, &running)?;
        drop(note);
        // Before the state: killed in between, the verdict is known of a review that is run again.
        if let Outcome::Ran { verdict } = &outcome {
            let ended = self.ended(told, verdict.clone());
            let _ = reviews::append(&self.home(), &self.instance.name, &ended);
        }
        self.write(
            event,
            Some((
                Ended {
                    invocation,
                    outcome,
                    superseded: false,
                },
                revision,
            )),
            &Arc::default(),
        )
    }

    /// What others are told of a review that begins now.
    fn told(&self, snapshot: &Arc<Snapshot>, invocation: &Invocation) -> Running {
        let view = View::new(&self.chart, &snapshot.as_world());
        let timeout = self.chart.invoke.get(&invocation.name);
        Running {
            cycle: invocation.cycle.clone(),
            n: invocation.n,
            file: invocation.file.clone(),
            // A chart whose text fails here is told of where it matters.
            by: view.by(&invocation.name).ok().flatten(),
            started: reviews::now(),
            timeout: timeout.map_or(0, |invoke| invoke.timeout),
        }
    }

    /// What is kept of a review that ran to its end.
    fn ended(&self, told: Running, verdict: Option<String>) -> reviews::Ended {
        let file = std::fs::metadata(self.dir().join(&told.file));
        reviews::Ended {
            bytes: file.map_or(0, |meta| meta.len()),
            verdict,
            seconds: told.elapsed().as_secs(),
            cycle: told.cycle,
            n: told.n,
            file: told.file,
            by: told.by,
            started: told.started,
        }
    }

    fn run(&self, invocation: &Invocation, running: &ReviewLock) -> Result<Outcome, Stuck> {
        let Some(invoke) = self.chart.invoke.get(&invocation.name) else {
            return Ok(Outcome::Failed(format!(
                "there is no invocation `{}`",
                invocation.name
            )));
        };
        let dir = self.dir();
        if let Some(obstacle) = self.obstacle(invocation) {
            return Ok(Outcome::Failed(obstacle));
        }
        let file = dir.join(&invocation.file);
        let before = Stamp::of(&file);
        let log_file = dir.join(&invocation.log);
        let spec = Spec {
            argv: &invocation.argv,
            cwd: &self.root,
            env: &[(REVIEWER.to_owned(), "1".to_owned())],
            log: &log_file,
            timeout: Duration::from_secs(invoke.timeout),
            owner: None,
        };
        let end = supervisor::run(&spec, running.file());
        let program = invocation.argv.first().map_or("", String::as_str);
        let failed = |why: String| {
            if remove_empty(&log_file) {
                return Ok(Outcome::Failed(why));
            }
            let last = log::last_line(&log_file)
                .map(|line| format!(" ({line})"))
                .unwrap_or_default();
            let shown = self.instance.dir.join(&invocation.log);
            Ok(Outcome::Failed(format!(
                "{why}{last}; its log is {}",
                shown.display()
            )))
        };
        let (code, signal, stdout) = match end {
            End::Interrupted { signal } => {
                remove_empty(&log_file);
                return Err(Stuck::Interrupted { signal });
            }
            End::Abandoned => {
                remove_empty(&log_file);
                return Err(Stuck::Abandoned);
            }
            End::TooMuchOutput => {
                return failed(format!(
                    "`{program}` was ended: it printed more than 64 MiB"
                ));
            }
            End::NotStarted(why) => {
                // Nothing was started, so there is nothing in it.
                let _ = std::fs::remove_file(&log_file);
                return Ok(Outcome::Failed(why));
            }
            End::TimedOut => {
                return failed(format!(
                    "`{program}` was ended after {}",
                    seconds(invoke.timeout)
                ));
            }
            End::Exited {
                code,
                signal,
                stdout,
            } => (code, signal, stdout),
        };
        let verdict = match (code, outcome::verdict(invoke, &stdout)) {
            (Some(0), Ok(verdict)) => verdict,
            (Some(0), Err(why)) => return failed(format!("`{program}` failed: {why}")),
            (Some(code), _) => {
                let why = outcome::reason_in(invoke, &stdout)
                    .map(|why| format!(": {why}"))
                    .unwrap_or_default();
                return failed(format!("`{program}` exited with code {code}{why}"));
            }
            (None, _) => {
                return failed(format!(
                    "`{program}` was ended by signal {}",
                    signal.unwrap_or_default()
                ));
            }
        };
        if Stamp::of(&file).is_none_or(|after| after.len == 0 || Some(after) == before) {
            let shown = self.instance.dir.join(&invocation.file);
            return failed(format!("`{program}` did not write {}", shown.display()));
        }
        // The log of a run that went well is of no use to anyone; if it stays, nothing is lost.
        let _ = std::fs::remove_file(&log_file);
        Ok(Outcome::Ran { verdict })
    }
}

/// The world that a decision looks at.
pub(crate) trait AsWorld {
    fn as_world(&self) -> Arc<dyn World>;
}

impl AsWorld for Arc<Snapshot> {
    fn as_world(&self) -> Arc<dyn World> {
        Self::clone(self)
    }
}

fn done(snapshot: Arc<Snapshot>, decision: Decision) -> Performed {
    let mut context = snapshot.context().clone();
    context.extend(decision.patch.clone());
    Performed {
        warnings: snapshot.warnings(),
        notes: snapshot.notes(),
        decision,
        context,
    }
}

/// Removes a log that has nothing in it; true where it is gone.
fn remove_empty(log: &Path) -> bool {
    let is_empty =
        std::fs::symlink_metadata(log).is_ok_and(|meta| meta.is_file() && meta.len() == 0);
    is_empty && std::fs::remove_file(log).is_ok()
}

fn seconds(count: u64) -> String {
    if count == 1 {
        "1 second".to_owned()
    } else {
        format!("{count} seconds")
    }
}

/// What tells one writing of a file from another.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(path)
            .ok()
            .filter(std::fs::Metadata::is_file)?;
        Some(Self {
            inode: meta.ino(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        })
    }
}
