//! Which review cycles of an instance were left without having passed, according to its record.

use super::{DecisionEntry, Entry};
use crate::chart::{Chart, Cycle};
use crate::engine::context::{self, Context};
use crate::engine::event::Trigger;

/// A review cycle that was left without having passed: by a command, by a change of the state, or because it has no reviews.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Unpassed {
    pub(crate) cycle: String,
    /// What it was about: the stem of the names of its reviews.
    pub(crate) base: String,
}

/// What is known of a record up to some entry.
pub(crate) struct Finder<'c> {
    chart: &'c Chart,
    /// The fields as the last decision has left them.
    state: Option<Context>,
    /// The cycle that is not over.
    current: Option<Unpassed>,
    left: Vec<Unpassed>,
}

impl Unpassed {
    /// Returns it in words, for a row or a list: what it was about is only named where that can differ.
    pub(crate) fn title(&self, chart: &Chart) -> String {
        title(chart, &self.cycle, &self.base)
    }
}

/// Returns a cycle, and what it is about if that can differ.
pub(crate) fn title(chart: &Chart, cycle: &str, base: &str) -> String {
    let known = chart.cycles.get(cycle);
    known.map_or_else(|| cycle.to_owned(), |known| known.title(base))
}

impl<'c> Finder<'c> {
    pub(crate) fn of(chart: &'c Chart) -> Self {
        Self { chart, state: None, current: None, left: Vec::new() }
    }

    /// Goes over the next entries.
    pub(crate) fn add<'e, W: 'e>(&mut self, entries: impl IntoIterator<Item = &'e Entry<W>>) {
        for entry in entries {
            if let Entry::Decision(decision) = entry {
                self.decision(decision);
            }
        }
    }

    fn decision<W>(&mut self, decision: &DecisionEntry<W>) {
        // Someone else may have changed the state before it.
        if let Some(before) = decision.state.as_ref().or(self.state.as_ref()) {
            let cycle = self.cycle(before);
            self.go_on(cycle, false);
        }
        let before = decision.state.as_ref().or(self.state.as_ref());
        let is_begun = before.is_some_and(|state| self.has_reviews(state));
        self.state = decision.after(self.state.take());
        let cycle = self.state.as_ref().and_then(|after| self.cycle(after));
        let advances = decision.fired.iter().any(|rule| self.chart.advances(rule));
        // A cycle that something else was put before, and that had no review yet, comes later. Whoever enters a phase puts
        // nothing before it.
        let is_entered = matches!(decision.event.trigger, Trigger::Enter { .. });
        let is_put_off = !advances && !is_begun && !is_entered;
        self.go_on(cycle, decision.is_reviewed && advances || is_put_off);
    }

    /// Compares the record with the fields as they are now: someone else may have changed them since. Returns the cycle that was
    /// left by that.
    pub(crate) fn compare(&mut self, now: &Context) -> Option<Unpassed> {
        let current = self.current.clone();
        self.go_on(self.cycle(now), false);
        current.filter(|current| self.left.contains(current))
    }

    /// Takes note of the cycle that is not over now; `is_in_order` says whether the one before was left as it should be.
    fn go_on(&mut self, now: Option<Unpassed>, is_in_order: bool) {
        if now == self.current {
            return;
        }
        let before = std::mem::replace(&mut self.current, now);
        self.left.extend(before.filter(|_| !is_in_order));
        // It has another chance.
        if let Some(now) = &self.current {
            self.left.retain(|left| left != now);
        }
    }

    /// Returns whether the cycle that is not over has had a review.
    fn has_reviews(&self, state: &Context) -> bool {
        let cycle =
            context::unfinished(self.chart, |name| state.get(name).cloned().unwrap_or_default());
        cycle.is_some_and(|cycle| {
            state.get(&cycle.count).and_then(serde_json::Value::as_u64) > Some(0)
        })
    }

    fn cycle(&self, state: &Context) -> Option<Unpassed> {
        let of_state = |cycle: &Cycle| {
            Some(Unpassed { cycle: cycle.id.clone(), base: context::base(cycle, state)? })
        };
        let value = |name: &str| state.get(name).cloned().unwrap_or_default();
        context::unfinished(self.chart, value).and_then(of_state)
    }

    /// Returns those cycles, in the order in which they were left. The one that goes on is not among them.
    pub(crate) fn into_left(self) -> Vec<Unpassed> {
        self.left
    }
}
