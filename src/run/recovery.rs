//! What a process that was killed has left: a review without an end, or a verdict about which nothing is decided.

use crate::engine::decision::{Effort, Ended, Invocation, Outcome};
use crate::project::seen::Seen;
use crate::run::place::Place;
use crate::run::under_way::ended;
use crate::store::facts::Fact;
use crate::store::journal::{Line, ReviewLine};

/// Returns the line about a review whose hook was killed, as the next stop writes it.
pub(crate) fn lost(place: &Place) -> Option<ReviewLine> {
    (!place.is_reviewed()).then(|| left(place)).flatten()
}

/// Returns the line about a review that was begun and has not ended, as if its hook was killed.
fn left(place: &Place) -> Option<ReviewLine> {
    let facts = place.journal().facts();
    let running = facts.running.clone().filter(|running| running.is_started)?;
    let outcome = Outcome::Failed("what ran it was killed".to_owned());
    // How long it had been running is not known.
    Some(ended(place, running, Seen::default(), &outcome, &Effort::default()))
}

/// Writes to the journal what a hook that was killed could not write. The caller holds the review lock.
pub(super) fn record_left(place: &Place) {
    if let Some(left) = left(place) {
        // Without this line, no limit counts it.
        let _ = place.journal().add(&Line::Review(left));
    }
    if place.journal().facts().running.is_some() {
        // Whatever begins next replaces it.
        let _ = place.journal().note(Fact::Over);
    }
}

/// Returns the end of the review that is due if it has ended before, nothing was decided about it, and nothing has changed since.
pub(super) fn paid(place: &Place, due: &Invocation) -> Option<Ended> {
    let paid = place.journal().undecided()?;
    let (by, run) = (paid.by, paid.run);
    let is_due = (&run.cycle, run.n) == (&due.cycle, due.n);
    if !is_due || run.seen != place.seen(&due.subject).all {
        return None;
    }
    let effort = Effort { by, seconds: run.seconds, cost: run.cost, ..Effort::default() };
    let outcome = Outcome::Ran { verdict: run.verdict, found: run.found };
    Some(Ended { effort, ..Ended::new(due.clone(), outcome) })
}
