//! Reviews beside the turn: another entry of the hook runs them, and its end wakes the agent. The entry that holds the turn does
//! everything else, and leaves reviews to it, so only one of the two acts.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value as Json;

use crate::chart::Chart;
use crate::clock;
use crate::engine::event::Event;
use crate::engine::inspect::Inspector;
use crate::project::settings;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::store::beside::{self, Does};
use crate::store::lock::{self, ReviewLock};
use crate::store::postponed;

/// Both entries begin at the same stop. After this many seconds, one has waited long enough for the other.
const PATIENCE: u64 = 5;

/// The number of seconds by which the other one may have begun earlier.
const HEAD_START: u64 = 2;

/// After this many failures in a row the agent is not woken again: each time, its stop has started another review.
const FAILURES: usize = 8;

/// How often something is looked at that is waited for.
const PAUSE: Duration = Duration::from_millis(100);

/// What the user reads when the other entry has taken a review over.
pub(super) const LEFT: &str = "The review runs beside your turn: its outcome wakes the agent.";

/// What the user reads when it has not.
pub(super) const MISSED: &str = "The review has held the turn, because no other entry of the hook \
    has taken it over: `taskie doctor` prints what is missing.";

/// Returns whether the other entry has taken over a review that is due; `None` if it is for this entry to run.
pub(super) fn left_to(place: &Place, event: &Event, invoke: &str) -> Option<bool> {
    let can_wake = event.fields.get("can_wake") == Some(&Json::Bool(true));
    if !can_wake || !is_beside(place, invoke) {
        return None;
    }
    let (store, name, dir) = (&place.store, &place.instance.name, place.dir());
    let is_running = || ReviewLock::is_held(store, name, &dir);
    Some(has_begun(place, is_running, |said| said == Does::TakesOver))
}

/// Returns whether a hook waits until a review can run, which has been postponed, and runs it then.
pub(crate) fn is_awaited(place: &Place, fields: &Json) -> bool {
    let (store, name) = (&place.store, &place.instance.name);
    let is_waited_for = || lock::is_waited_for(store, name);
    let can_wake = fields.get("can_wake") == Some(&Json::Bool(true));
    postponed::read(store).is_some()
        && match can_wake && place.is_in_cycle() && is_wanted(place) {
            // At this stop, the other entry may be about to wait.
            true => has_begun(place, is_waited_for, |said| said == Does::Leaves),
            false => is_waited_for(),
        }
}

/// Returns whether the other entry has taken over what this stop asks for, or `is_there` shows that. Waits for what it says,
/// if that `counts`.
fn has_begun(place: &Place, is_there: impl Fn() -> bool, counts: impl Fn(Does) -> bool) -> bool {
    let start = clock::now();
    let since = start.saturating_sub(HEAD_START);
    loop {
        let said = beside::take(&place.store, &place.instance.name, since);
        let said = said.filter(|said| counts(*said));
        if is_there() || said.is_some() || clock::now() > start + PATIENCE {
            return is_there() || said == Some(Does::TakesOver);
        }
        sleep(PAUSE);
    }
}

/// Returns whether the settings at `place` want reviews beside the turn.
pub(crate) fn is_wanted(place: &Place) -> bool {
    let mut invokes = place.chart.invoke.keys();
    invokes.any(|invoke| is_beside(place, invoke))
}

/// Returns whether reviews run beside the turn. A setting that cannot be read is reported by the decision.
pub(super) fn is_beside(place: &Place, invoke: &str) -> bool {
    let world = place.snapshot().as_world();
    let view = Inspector::new(&place.chart, &world);
    view.is_beside(invoke).unwrap_or(false)
}

/// Returns whether an outcome that asks the agent for nothing is worth waking it. Its next stop starts another review, so it is
/// not where a gate keeps failing, or where the user has cancelled the review.
pub(crate) fn is_worth_waking(place: &Place, performed: &Performed) -> bool {
    let ended = performed.decision.ended.as_ref();
    if ended.is_some_and(|it| it.outcome.failed_gate().is_some() || it.effort.is_cancelled) {
        return false;
    }
    let reviews = place.journal().reviews();
    let failed = reviews.iter().rev().take_while(|review| review.run.error.is_some());
    performed.decision.failure().is_none() || failed.count() < FAILURES
}

/// Returns how long a review may take by the settings of a project, in seconds; `None` if they cannot be read.
pub(crate) fn longest_review(chart: &Chart, root: &Path) -> Option<u64> {
    let config = settings::read(chart, root).ok()?.values();
    let timeouts = chart.invoke.values();
    let timeouts = timeouts.filter_map(|invoke| invoke.timeout.now(&config));
    timeouts.max()
}
