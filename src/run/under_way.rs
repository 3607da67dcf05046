//! The review that is under way, as others see it, and what the journal keeps of it when it is over.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::clock;
use crate::engine::decision::{Effort, Invocation, Outcome};
use crate::engine::spent::PastReview;
use crate::hash;
use crate::project::seen::Seen;
use crate::run::place::Place;
use crate::store::facts::Running;
use crate::store::journal::{self, ReviewLine};
use crate::store::running;

/// How long a command waits for the end of a review that it has asked to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it looks.
const LOOK: Duration = Duration::from_millis(20);

/// Returns the review that is running.
pub(crate) fn current(place: &Place) -> Option<Running> {
    running::of(place.journal(), &place.dir())
}

/// Says that a review is running, since when, and how to end it; `None` if none is.
pub(crate) fn running(place: &Place) -> Option<String> {
    place.is_reviewed().then(|| said_of_running(place))
}

/// Ends the review that is running; returns whether it could be asked to end.
pub(crate) fn end(place: &Place) -> bool {
    running::cancel(place.journal(), &place.dir()).is_ok()
}

/// Waits until the review that was asked to end is over, for a short time.
pub(crate) fn await_end(place: &Place) {
    let until = Instant::now() + PATIENCE;
    while place.is_reviewed() && Instant::now() < until {
        sleep(LOOK);
    }
}

/// Says the same of a review that somebody else has begun a moment ago.
pub(super) fn said_of_running(place: &Place) -> String {
    let noun = place.chart.scope.noun();
    let name = &place.instance.name;
    let running = current(place).map(|running| format!(" ({})", running.in_words()));
    let running = running.unwrap_or_default();
    let option = place.option();
    let cancel = place.chart.cancels();
    let cancel = cancel.map(|command| {
        let call = place.chart.call(command);
        format!(" To end the review: `{call} {option}`.")
    });
    format!(
        "A review of {noun} `{name}` is already running{running}.{}",
        cancel.unwrap_or_default()
    )
}

/// Returns what others are shown about a review that starts now.
pub(super) fn announced(invocation: &Invocation) -> Running {
    Running {
        cycle: invocation.cycle.clone(),
        n: invocation.n,
        file: invocation.file.clone(),
        by: Some(invocation.by.clone()),
        started: clock::now(),
        timeout: invocation.timeout,
        is_started: false,
        gate: None,
    }
}

/// Returns the journal's line about a review that has ended.
pub(super) fn ended(
    place: &Place,
    announced: Running,
    seen: Seen,
    outcome: &Outcome,
    effort: &Effort,
) -> ReviewLine {
    let text = place.read(&announced.file);
    let (verdict, error) = outcome.verdict_and_error();
    ReviewLine {
        run: PastReview {
            at: journal::now(),
            instance: place.instance.name.clone(),
            cycle: announced.cycle,
            n: announced.n,
            file: announced.file,
            verdict: verdict.map(str::to_owned),
            error: error.map(str::to_owned),
            aside: None,
            seconds: effort.seconds,
            cost: effort.cost,
            not_started: effort.not_started,
            until: effort.until.map(clock::rfc3339),
            seen: seen.all,
            found: outcome.found(),
        },
        sha256: text.map(|text| hash::of(&text)),
        by: announced.by,
        subject: seen.subject,
        code: seen.code,
    }
}
