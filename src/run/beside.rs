//! Reviews beside the turn: another entry of the hook runs them, and its end wakes the agent. The entry that holds the turn does
//! everything else, and leaves reviews to it, so only one of the two acts.
//!
//! While no reviewer can run, the other entry waits until the usage limit resets, if the host lets it live that long.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::chart::Chart;
use crate::clock;
use crate::engine::decision::Step;
use crate::engine::event::Event;
use crate::engine::inspect::Inspector;
use crate::os::signals::caught;
use crate::os::supervisor::is_host_gone;
use crate::project::settings;
use crate::run::perform::{self, peek};
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::stuck::{Stuck, io};
use crate::store::lock::{self, ReviewLock};
use crate::store::{beside, postponed};

/// Both entries begin at the same stop. After this many seconds, one has waited long enough for the other.
const PATIENCE: u64 = 5;

/// So many seconds earlier, the other one may have begun.
const HEAD_START: u64 = 2;

/// How often something is looked at that is waited for.
const PAUSE: Duration = Duration::from_millis(100);

/// After this many failures in a row the agent is not woken again: each time, its stop has started another review.
const FAILURES: usize = 8;

/// Returns whether the outcome is worth waking the agent.
pub(crate) fn is_worth_waking(place: &Place, performed: &Performed) -> bool {
    let reviews = place.journal().reviews();
    let failed = reviews
        .iter()
        .rev()
        .take_while(|review| review.error.is_some());
    performed.decision.failure().is_none() || failed.count() < FAILURES
}

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
    let name = &place.instance.name;
    let start = clock::now();
    let is_taken = || {
        beside::is_taken_over(&place.store, name, start.saturating_sub(HEAD_START))
            || ReviewLock::is_held(&place.store, name, &place.dir())
    };
    while !is_taken() {
        if clock::now() > start + PATIENCE {
            return Some(false);
        }
        sleep(PAUSE);
    }
    Some(true)
}

/// Returns whether the settings at `place` want reviews beside the turn.
pub(crate) fn is_wanted(place: &Place) -> bool {
    let mut invokes = place.chart.invoke.keys();
    invokes.any(|invoke| is_beside(place, invoke))
}

/// Returns whether reviews run beside the turn. A setting that cannot be read is reported by the decision.
fn is_beside(place: &Place, invoke: &str) -> bool {
    let world = place.snapshot().as_world();
    let view = Inspector::new(&place.chart, &world);
    view.is_beside(invoke).unwrap_or(false)
}

/// Returns how long a review may take by the settings of a project, in seconds; `None` if they cannot be read.
pub(crate) fn longest_review(chart: &Chart, root: &Path) -> Option<u64> {
    let config = settings::read(chart, root).ok()?.values();
    let timeouts = chart.invoke.values();
    let timeouts = timeouts.filter_map(|invoke| invoke.timeout.now(&config));
    timeouts.max()
}

/// Runs the review that is due, and the wait before it; `None` if there is none to run.
pub(crate) fn perform(place: &Place, event: &mut Event) -> Result<Option<Performed>, Stuck> {
    let start = Instant::now();
    let life = event.fields["longest_review"].as_u64().unwrap_or_default();
    let (store, name) = (&place.store, &place.instance.name);
    let mut last = None;
    let mut waiting = None;
    loop {
        if let Step::Invoke(due) = peek(place, event)?.0 {
            if !is_beside(place, &due.name) {
                return Ok(None);
            }
            // Without it, the other entry holds the turn until it sees that the review runs.
            let _ = beside::take_over(store, name);
            let performed = perform::perform(place, event)?;
            if performed.decision.ended.is_none() {
                // Another process runs it.
                return Ok(None);
            }
            if performed.decision.failure().is_none() {
                return Ok(Some(performed));
            }
            last = Some(performed);
        }
        let review = longest_review(&place.chart, &place.root).unwrap_or(life);
        let left = life.saturating_sub(start.elapsed().as_secs() + review);
        let until = postponed::read(store).filter(|until| until.at < clock::now() + left);
        if until.is_none() || !place.is_in_cycle() {
            return Ok(last);
        }
        if waiting.is_none() {
            waiting = lock::try_to_wait(store, name).map_err(io("nobody can wait for it"))?;
        }
        if waiting.is_none() {
            // One process waits already, whatever stops there are in between.
            return Ok(last);
        }
        while postponed::read(store).is_some() {
            sleep(PAUSE);
            if let Some(signal) = caught() {
                return Err(Stuck::Interrupted { signal });
            }
            if is_host_gone() {
                return Err(Stuck::Abandoned);
            }
        }
        event.fields["longest_review"] = life.saturating_sub(start.elapsed().as_secs()).into();
    }
}
