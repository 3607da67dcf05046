//! An instance of a chart in a project: where it is, and what stands there.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use super::find::{self, Instance};
use super::git::Git;
use super::lock::WriteLock;
use super::snapshot::Snapshot;
use super::state_file;
use super::stuck::{Stuck, io};
use crate::chart::Chart;
use crate::engine::decision::Invocation;
use crate::engine::world::World;

/// An instance of a chart in a project.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) chart: Arc<Chart>,
    /// The project's root.
    pub(crate) root: PathBuf,
    pub(crate) instance: Instance,
}

impl Place {
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

    /// The same with what git was asked already.
    pub(super) fn snapshot_with(&self, git: &Arc<Git>) -> Arc<Snapshot> {
        let snapshot = Snapshot::take(&self.chart, &self.root, &self.instance);
        Arc::new(snapshot.with_git(git))
    }

    /// What keeps an invocation from being started: a file of its subject that does not exist or leads elsewhere.
    pub(crate) fn obstacle(&self, invocation: &Invocation) -> Option<String> {
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

    /// The right to write the instance's state. Where each session has its own instance, they share one lock: one of
    /// them may take over or remove what is another's.
    pub(super) fn lock(&self) -> Result<WriteLock, Stuck> {
        WriteLock::acquire(&self.home(), &self.shared_name())
            .map_err(io("the state cannot be locked"))
    }

    /// The name of the instance's lock and journal. Where each session has its own instance, they share one of each,
    /// so that no session leaves files behind.
    pub(super) fn shared_name(&self) -> Cow<'_, str> {
        let scope = &self.chart.scope;
        match scope.is_per_session() {
            true => scope.folder.replace('/', "-").into(),
            false => self.instance.name.as_str().into(),
        }
    }

    /// The error for a state that cannot be used.
    pub(super) fn broken(&self, why: &str) -> Stuck {
        let file = self.instance.dir.join(state_file::FILE);
        Stuck::Broken(format!("{}: {why}", file.display()))
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
