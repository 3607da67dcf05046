//! What the entry of the hook does that runs reviews beside the turn. While no reviewer can run, it waits until the usage limit
//! resets, if the host lets it live that long.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::clock::{self, Moment};
use crate::engine::decision::Step;
use crate::engine::event::Event;
use crate::os::signals::caught;
use crate::os::supervisor::is_host_gone;
use crate::run::beside;
use crate::run::perform::{self, peek};
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::stuck::{Stuck, io};
use crate::store::beside::Does;
use crate::store::{self, lock, postponed, running};

/// How often something is looked at that is waited for.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs the review that is due, and the wait before it; `None` if there is none to run.
pub(crate) fn perform(place: &Place, event: &mut Event) -> Result<Option<Performed>, Stuck> {
    let start = Instant::now();
    let life = event.fields["longest_review"].as_u64().unwrap_or_default();
    let (store, name) = (&place.store, &place.instance.name);
    let mut last = None;
    let mut waiting = None;
    loop {
        // Nobody else reports why what has been waited for does not run.
        let waits = || "The review that waited for the limit was not run.".to_owned();
        let waits = waiting.as_ref().map(|_| waits());
        let (step, _) = peek(place, event).map_err(|stuck| stuck.losing(waits))?;
        if let Step::Invoke(due) = step {
            // Whoever has waited for it runs it, whatever the settings say by now.
            if waiting.is_none() && !beside::is_beside(place, &due.name) {
                return Ok(None);
            }
            // Without it, the other entry holds the turn until it sees that the review runs.
            let _ = store::beside::say(store, name, Does::TakesOver);
            let performed = perform::perform(place, event)?;
            if performed.decision.ended.is_none() {
                // Another process runs it.
                return Ok(None);
            }
            if performed.decision.failure().is_none() {
                return Ok(Some(performed));
            }
            last = Some(performed);
        } else if waiting.is_some() {
            // While it waited, the review was skipped, paused, or run by somebody else.
            return Ok(None);
        }
        let review = beside::longest_review(&place.chart, &place.root).unwrap_or(life);
        let left = life.saturating_sub(start.elapsed().as_secs() + review);
        let until = postponed::read(store);
        let is_soon = |until: &Moment| until.at < clock::now() + left;
        if !until.as_ref().is_some_and(is_soon) || !place.is_in_cycle() {
            if until.is_some() && last.is_none() {
                // Without it, the other entry looks for some seconds whether this one waits.
                let _ = store::beside::say(store, name, Does::Leaves);
            }
            return Ok(last);
        }
        let cancel = running::cancel_file(store, name).0;
        if waiting.is_none() {
            waiting = lock::try_to_wait(store, name).map_err(io("nobody can wait for it"))?;
            if waiting.is_none() {
                // One process waits already, whatever stops there are in between.
                return Ok(last);
            }
            // What was asked of an earlier one.
            let _ = fs::remove_file(&cancel);
        }
        while postponed::read(store).is_some() {
            sleep(PAUSE);
            if cancel.exists() {
                let _ = fs::remove_file(&cancel);
                return Ok(None);
            }
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
