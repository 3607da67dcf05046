//! A review that is due is tried: what is in its way, its gates, then the reviewer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::chart::Cycle;
use crate::clock;
use crate::engine::decision::{Effort, Invocation, Outcome, Step};
use crate::engine::event::Event;
use crate::engine::inspect::Inspector;
use crate::host::hosts::{HOSTS, RESERVE};
use crate::process::program;
use crate::project::change::{self, Base, head};
use crate::project::seen::{self, Seen};
use crate::project::state_file;
use crate::receipt::statement::entries;
use crate::run::change::again;
use crate::run::gates;
use crate::run::meanwhile::{ChangedFiles, FilesBefore};
use crate::run::place::Place;
use crate::run::reviewer;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::Stuck;
use crate::run::under_way::record_lost;
use crate::store::facts::Running;
use crate::store::journal::Code;
use crate::store::lock::ReviewLock;
use crate::store::running::Begun;

/// A review that is due, and what it holds.
pub(super) struct Due<'r> {
    pub(super) snapshot: &'r Arc<Snapshot>,
    pub(super) revision: u64,
    /// How many seconds the host leaves for it.
    pub(super) hook: u64,
    pub(super) lock: &'r ReviewLock,
    pub(super) begun: &'r Begun<'r>,
}

/// How far a review came.
pub(super) struct Attempt {
    pub(super) announced: Running,
    pub(super) outcome: Outcome,
    pub(super) effort: Effort,
    /// The files that have changed since it began; `None` if no reviewer was started.
    pub(super) changed: Option<ChangedFiles>,
    /// What the reviewer saw.
    pub(super) seen: Seen,
    /// The stop that it is about, and what that asks for: gates may have made the change another one.
    pub(super) event: Event,
    pub(super) invocation: Invocation,
}

/// Adds who has been at it for how long.
fn effort(announced: &Running, effort: Effort) -> Effort {
    Effort { seconds: announced.elapsed().as_secs(), by: announced.by.clone(), ..effort }
}

impl Due<'_> {
    /// Runs the gates, then the reviewer; `None` if the review is no longer due after the gates.
    pub(super) fn attempt(
        &self,
        place: &Place,
        mut event: Event,
        mut invocation: Invocation,
        mut announced: Running,
    ) -> Result<Option<Attempt>, Stuck> {
        // Don't pay for a review that cannot count.
        if let Some(obstacle) = place.obstacle(&self.snapshot.as_world(), &event, &invocation) {
            return Ok(Some(unstarted(place, announced, event, invocation, obstacle)));
        }
        let hook = self.hook;
        let gates = gates::run(place, &invocation, hook / 2, self.lock, self.begun, &announced)?;
        if let Some((outcome, is_cancelled)) = gates {
            let mut attempt = unstarted(place, announced, event, invocation, String::new());
            (attempt.outcome, attempt.effort.is_cancelled) = (outcome, is_cancelled);
            return Ok(Some(attempt));
        }
        if !invocation.gates.commands.is_empty() {
            place.trees().forget();
            // Gates take their time, and meanwhile the user may have decided otherwise.
            if place.journal().facts().revision != self.revision {
                return Ok(None);
            }
            match asked_again(place, &event, self.snapshot, &invocation) {
                Ok(asked) => (event, invocation) = asked,
                Err(why) => return Ok(Some(unstarted(place, announced, event, invocation, why))),
            }
            announced.timeout = time_left(hook, invocation.timeout, announced.elapsed());
        }
        let view = Inspector::of_event(&place.chart, &self.snapshot.as_world(), &event);
        let is_of_code = view.running().is_some_and(Cycle::is_of_code);
        let code = is_of_code.then(|| code(place, &event)).flatten();
        let seen = Seen { code, ..seen(place, &invocation) };
        let files = FilesBefore::read(place);
        announced.started = clock::now();
        announced.is_started = true;
        let _ = self.begun.then(&announced);
        let run = reviewer::run(place, &invocation, announced.timeout, self.lock);
        let (outcome, spent) = run.inspect_err(|stuck| {
            let spent = effort(&announced, Effort::default());
            record_lost(place, announced.clone(), stuck.to_string(), &spent);
        })?;
        Ok(Some(Attempt {
            changed: Some(files.changed(place)),
            seen,
            outcome: or_another(place, &event, &invocation, outcome),
            effort: effort(&announced, spent),
            announced,
            event,
            invocation,
        }))
    }
}

fn seen(place: &Place, of: &Invocation) -> Seen {
    seen::seen(&place.chart, (&place.root, place.trees()), &place.dir(), &of.subject)
}

/// Returns the attempt of a review for which no reviewer was started.
fn unstarted(
    place: &Place,
    announced: Running,
    event: Event,
    invocation: Invocation,
    why: String,
) -> Attempt {
    Attempt {
        effort: effort(&announced, reviewer::free()),
        announced,
        outcome: Outcome::Failed(why),
        changed: None,
        seen: seen(place, &invocation),
        event,
        invocation,
    }
}

/// Returns the code that a review at `event` sees, compared with what the change is compared with, or with what the last review saw
/// that passed.
fn code(place: &Place, event: &Event) -> Option<Code> {
    let base = event.fields["base"].as_str().map(str::to_owned);
    let base = base.or_else(|| place.journal().base(&place.chart));
    let base = base.as_deref().map_or(Base::AtHand, Base::Known);
    let change = change::read(place.trees(), base).ok()?;
    let files = entries(&change.files);
    Some(Code { head: head(&place.root), base: change.base, tree: change.after, files })
}

/// Returns how many of its `limit` seconds a reviewer has left after its gates have taken so long: the host must not end
/// the hook before it.
fn time_left(hook: u64, limit: u64, gates: Duration) -> u64 {
    limit.min(hook.saturating_sub(RESERVE + gates.as_secs()).max(1))
}

/// Returns the outcome, with the setting that chooses the host's own program if the reviewer is missing and that is not.
fn or_another(place: &Place, event: &Event, invocation: &Invocation, outcome: Outcome) -> Outcome {
    let Outcome::Failed(why) = outcome else {
        return outcome;
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |program: &str| program::locate(program, &path, &place.root).is_ok();
    let program = invocation.argv.first().map_or("", String::as_str);
    let host = event.fields.get("host").and_then(Json::as_str);
    let own = host.and_then(|name| HOSTS.iter().find(|host| host.name == name));
    let own = own.filter(|own| !is_here(program) && own.id != program && is_here(own.id));
    let own = own.filter(|own| place.chart.reviewers.contains_key(own.id));
    let choice = own.and_then(|own| Some((own, place.chart.models()?)));
    Outcome::Failed(match choice {
        None => why,
        Some((own, setting)) => format!(
            "{why}; {} can review itself: add \"{setting}\": [\"{}\"] to your settings (`{} config` names the file)",
            own.name,
            own.id,
            env!("CARGO_PKG_NAME"),
        ),
    })
}

/// Returns the stop and its review for what the gates have left: a gate may format the code. The error says what has changed if
/// that review would not be the one that was asked for: one that does not count is not paid.
fn asked_again(
    place: &Place,
    event: &Event,
    before: &Snapshot,
    invocation: &Invocation,
) -> Result<(Event, Invocation), String> {
    let now = place.snapshot();
    if now.state.text() != before.state.text() {
        let file = place.instance.dir.join(state_file::FILE);
        return Err(format!("{} was changed while the gates ran", file.display()));
    }
    if let Some(obstacle) = place.obstacle(&now.as_world(), event, invocation) {
        return Err(obstacle);
    }
    let event = again(place, event)?;
    match now.decide(&event, None) {
        Ok(Step::Invoke(asked)) if asked.is_same_request(invocation) => Ok((event, *asked)),
        _ => Err("what is reviewed was changed while the gates ran".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reviewer_gets_what_its_gates_leave() {
        let left = |limit, gates| time_left(600, limit, Duration::from_secs(gates));
        let cases = [
            (570, 0, 570),
            (570, 20, 570),
            (570, 21, 569),
            (570, 270, 320),
            (60, 270, 60),
            (570, 9_999, 1),
        ];
        for (limit, gates, expected) in cases {
            assert_eq!(left(limit, gates), expected, "{limit} {gates}");
        }
    }
}
