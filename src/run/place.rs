//! An instance of a chart in a project: where it is, and what is there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::chart::Chart;
use crate::disk;
use crate::engine::context::running_cycle;
use crate::engine::decision::Invocation;
use crate::engine::inspect::Inspector;
use crate::engine::world::World;
use crate::project::change::Trees;
use crate::project::find::{self, Instance};
use crate::project::seen::{self, Seen};
use crate::project::settings::{self, Before, Settings};
use crate::project::state_file::{self, Reading};
use crate::run::stuck::{Stuck, io};
use crate::store::journal::Journal;
use crate::store::lock::{ReviewLock, WriteLock};
use crate::store::{Store, driver};

/// An instance of a chart in a project.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) chart: Arc<Chart>,
    /// The project's root.
    pub(crate) root: PathBuf,
    pub(crate) instance: Instance,
    /// What this machine keeps about the project's instances.
    pub(crate) store: Store,
    /// What counts instead of the project's file of settings.
    pub(crate) settings_before: Option<Before>,
    trees: Arc<OnceLock<Trees>>,
    journal: Arc<Journal>,
}

impl Place {
    /// Returns the place of an instance in the project at `root`.
    pub(crate) fn new(chart: Arc<Chart>, root: PathBuf, instance: Instance) -> Self {
        let store = Store::of(&root, &chart.scope.home);
        let journal = Arc::new(Journal::of(&store, &instance.name));
        let trees = Arc::default();
        Self { chart, root, instance, store, settings_before: None, trees, journal }
    }

    /// Returns the place of an instance that does not exist, in which everything has its initial value.
    pub(crate) fn of_none(chart: &Arc<Chart>, root: &Path) -> Self {
        let instance = Instance { name: String::new(), dir: find::folder(&chart.scope).join("") };
        Self::new(Arc::clone(chart), root.to_owned(), instance)
    }

    /// Returns whether one of the chart's cycles is running.
    pub(crate) fn is_in_cycle(&self) -> bool {
        running_cycle(&self.chart, self.snapshot().context()).is_some()
    }

    /// Returns the option with which a command is about this instance.
    pub(crate) fn option(&self) -> String {
        let scope = &self.chart.scope;
        let of = match scope.is_per_session() {
            true => "session",
            false => scope.noun(),
        };
        format!("--{of} {}", self.instance.name)
    }

    /// Returns the instance's directory.
    pub(crate) fn dir(&self) -> PathBuf {
        self.root.join(&self.instance.dir)
    }

    /// Returns whether it is the change of a session alone: nobody has asked for its review.
    pub(crate) fn is_own(&self) -> bool {
        driver::is_own_name(&self.instance.name)
    }

    /// Returns what reads the tree of the work tree.
    pub(crate) fn trees(&self) -> &Trees {
        let prompt = || self.journal.facts().prompt.clone();
        self.trees.get_or_init(|| Trees::of(&self.root, &self.chart.scope, prompt()))
    }

    /// Returns what a review of the files in `names` sees.
    pub(crate) fn seen(&self, names: &[String]) -> Seen {
        seen::seen(&self.chart, (&self.root, self.trees()), &self.dir(), names)
    }

    /// Returns the contents of a file in the instance's directory; `None` if it cannot be read.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        disk::read(&self.root, &self.dir().join(name)).ok()?
    }

    /// Reads the settings.
    pub(crate) fn settings(&self) -> Result<Settings, String> {
        settings::read(&self.chart, &self.root, self.settings_before.as_ref())
    }

    /// Reads the state.
    pub(crate) fn state(&self) -> Reading {
        state_file::read(&self.chart, &self.dir())
    }

    /// Returns what prevents an invocation that is due in `world` from being started: its outcome could not be used, a file
    /// of its subject does not exist or is outside the project, or its review cannot be written.
    pub(crate) fn obstacle(
        &self,
        world: &Arc<dyn World>,
        invocation: &Invocation,
    ) -> Option<String> {
        let unusable = Inspector::new(&self.chart, world).can_advance().err();
        let unusable = unusable.map(|fault| fault.to_string());
        unusable
            .or_else(|| self.flaw_of_subject(invocation))
            .or_else(|| self.flaw_of_review(invocation))
    }

    fn flaw_of_review(&self, invocation: &Invocation) -> Option<String> {
        let shown = self.instance.dir.join(&invocation.file);
        // Writing through a link would write to someone else's file, and writing to a FIFO would wait for a reader.
        let kind = self.root.join(&shown).symlink_metadata().ok()?.file_type();
        let flaw = match () {
            () if kind.is_symlink() => "is a symbolic link",
            () if !kind.is_file() => "is not a file",
            () => return None,
        };
        Some(format!("{} {flaw}", shown.display()))
    }

    fn flaw_of_subject(&self, invocation: &Invocation) -> Option<String> {
        let dir = self.dir();
        invocation.subject.iter().find_map(|name| {
            let shown = self.instance.dir.join(name);
            if !dir.join(name).is_file() {
                Some(format!("{} does not exist", shown.display()))
            } else if find::leads_outside(&self.root, &shown) {
                let shown = shown.display();
                Some(format!("{shown} is a symbolic link out of the project"))
            } else {
                None
            }
        })
    }

    /// Takes the right to write the instance's state. If each session has its own instance, they share one lock,
    /// because one of them may take over or remove another's files.
    pub(crate) fn lock(&self) -> Result<WriteLock, Stuck> {
        let lock = WriteLock::acquire(&self.store, &self.instance.lock_name(&self.chart.scope))
            .map_err(io("the state cannot be locked"))?;
        self.journal.look_again();
        Ok(lock)
    }

    /// Takes the right to run a review of the instance; `None` while somebody else has it.
    pub(crate) fn review_lock(&self) -> std::io::Result<Option<ReviewLock>> {
        let lock = ReviewLock::try_acquire(&self.store, &self.instance.name, &self.dir())?;
        self.journal.look_again();
        Ok(lock)
    }

    /// Returns whether somebody has it.
    pub(crate) fn is_reviewed(&self) -> bool {
        let is_held = ReviewLock::is_held(&self.store, &self.instance.name, &self.dir());
        self.journal.look_again();
        is_held
    }

    /// Returns the instance's journal.
    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Returns the error for a state that cannot be used.
    pub(crate) fn broken(&self, why: &str) -> Stuck {
        let file = self.instance.dir.join(state_file::FILE);
        Stuck::Broken(format!("{}: {why}", file.display()))
    }
}
