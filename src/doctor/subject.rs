//! What is checked: this machine, the project around the working directory, and one chart with one instance.

use std::path::PathBuf;
use std::sync::Arc;

use crate::chart::Chart;
use crate::chart::choice::{Choice, of_changes};
use crate::chart::known::EVERY_STOP;
use crate::engine::context::Context;
use crate::project::{home, settings};
use crate::run::change;
use crate::run::place::Place;

/// What is checked.
pub(crate) struct Subject<'s> {
    pub(super) choice: &'s Choice<'s>,
    pub(super) chart: &'s Arc<Chart>,
    pub(super) place: Option<&'s Place>,
    /// Why no chart decides in this project.
    pub(super) refused: Option<&'s str>,
    pub(super) root: Option<PathBuf>,
    /// The root, or what would become it.
    pub(super) here: PathBuf,
    /// The folders in which a host may find settings.
    pub(super) dirs: Vec<PathBuf>,
    /// The settings of the project. What they choose is unknown as long as they have a flaw.
    pub(super) config: Result<Context, String>,
}

impl<'s> Subject<'s> {
    /// Returns what is here for this chart and, if there is one, this instance. If the
    /// project's own chart is `refused`, for this reason, no chart decides, and this one is not checked.
    pub(crate) fn new(
        choice: &'s Choice<'s>,
        chart: &'s Arc<Chart>,
        place: Option<&'s Place>,
        refused: Option<&'s str>,
    ) -> Self {
        let cwd = std::env::current_dir().unwrap_or_default();
        let root = match place {
            Some(place) => Some(place.root.clone()),
            None => home::project_root(&cwd, &chart.scope.home),
        };
        let above = root.clone().or_else(|| home::new_root(&cwd));
        let here = above.clone().unwrap_or_else(|| cwd.clone());
        // The one where the host was started counts too, if it is known.
        let dirs = above.into_iter().chain(home::host_project()).chain([cwd]).collect();
        let config = settings::read(chart, &here, None).map(|read| read.values());
        Self { choice, chart, place, refused, root, here, dirs, config }
    }

    /// Returns the setting that has the change of every session reviewed, if it is on.
    pub(super) fn of_sessions(&self) -> Option<&'static str> {
        let place = Place::of_none(&of_changes()?.load().ok()?, &self.here);
        (change::is_on(&place) == Ok(true)).then_some(EVERY_STOP)
    }
}
