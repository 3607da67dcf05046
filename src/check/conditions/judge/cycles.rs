//! Reviews end: no cycle has more of them than its limit.

use std::collections::BTreeSet;

use super::judgment::{Judge, absent};
use crate::chart::Cycle;
use crate::check::conditions::evaluate::Outcome;
use crate::check::conditions::facts::Facts;
use crate::check::conditions::report::Finding;
use crate::check::conditions::search::{Actor, Step};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;
use crate::engine::context::cycle_of;
use crate::page::counted;

/// A cycle, and the fields that bound it.
struct Bounded<'c> {
    at: usize,
    cycle: &'c Cycle,
    limit: usize,
    count: usize,
    /// The states in which it has had a review.
    have_begun: Vec<bool>,
}

impl Judge<'_> {
    /// Returns what is wrong with the first cycle that is wrong: several are so for one reason.
    pub(super) fn cycles(&self) -> Option<Finding> {
        self.chart.cycles.values().enumerate().find_map(|(at, cycle)| {
            let count = self.chart.context.get_index_of(&cycle.count)?;
            let limit = self.chart.context.get_index_of(&cycle.limit)?;
            self.cycle(&Bounded { at, cycle, limit, count, have_begun: self.begun(at, count) })
        })
    }

    /// Returns in which states a cycle has had a review.
    fn begun(&self, at: usize, count: usize) -> Vec<bool> {
        let search = self.search;
        let next = self.chart.next.as_ref().and_then(|it| self.chart.context.get_index_of(it));
        let has_begun = |state: usize| {
            let next = search.value(state, next).as_str();
            let running = next.and_then(|next| cycle_of(self.chart, next));
            let is_it = running.is_some_and(|it| it.id == self.chart.cycles[at].id);
            is_it && search.value(state, Some(count)).as_i64().is_some_and(|count| count > 0)
        };
        (0..search.states.len()).map(has_begun).collect()
    }

    /// Returns whether a review of the cycle runs that counts.
    fn is_review(&self, bounded: &Bounded<'_>, step: &Step) -> bool {
        let review = self.search.done(step).review.as_ref();
        review
            .is_some_and(|(at, outcome, _)| *at == bounded.at && matches!(outcome, Outcome::Ran(_)))
    }

    /// Returns for a step from one start of a cycle to the next whether it is a review; none for one that is beyond: the
    /// user starts the cycle over, or sets its limit or its count, or it starts for the first time.
    fn between_starts(&self, bounded: &Bounded<'_>, step: &Step) -> Option<bool> {
        let done = self.search.done(step);
        let starts = done.starts.contains(&bounded.at);
        let mut assigned = done.assigned.iter();
        let sets = assigned.any(|(field, _)| *field == bounded.limit || *field == bounded.count);
        let is_fresh = self.search.actor(step) == Actor::User && (starts || sets);
        let is_first = starts && !bounded.have_begun[step.from];
        (!is_fresh && !is_first).then(|| self.is_review(bounded, step))
    }

    /// Judges whether one cycle ends, and not before its limit.
    fn cycle(&self, bounded: &Bounded<'_>) -> Option<Finding> {
        let Cycle { id, limit, count, .. } = bounded.cycle;
        let (path, search) = (at!["cycles", id].to_vec(), self.search);
        let held = |state: usize| {
            let limit = search.value(state, Some(bounded.limit)).as_u64();
            limit.and_then(|limit| usize::try_from(limit).ok())
        };
        let weights: Vec<Option<bool>> =
            search.steps.iter().map(|step| self.between_starts(bounded, step)).collect();
        let reviews = |count: usize, limit: usize| {
            let is_first =
                |at: usize| weights[at] == Some(true) && held(search.steps[at].from) == Some(limit);
            self.graph.in_a_row(count, is_first, &weights)
        };
        let limits: BTreeSet<usize> = (0..search.looked_at).filter_map(held).collect();
        if let Some(way) = limits.iter().find_map(|limit| reviews(limit + 1, *limit)) {
            let message =
                format!("the cycle `{id}` can have more reviews than its limit, `{limit}`");
            return Some(self.found(Code::CycleUnbounded, message, path, &way));
        }
        let mut spent = search.steps.iter().filter(|step| {
            let counted = search.value(step.to, Some(bounded.count)).as_i64();
            search.done(step).starts.contains(&bounded.at) && counted > Some(0)
        });
        let way_to = |step: &Step| self.graph.way_to(step.from, &[*step], &Facts::default());
        if let Some(way) = spent.find_map(way_to) {
            let message = format!("the cycle `{id}` starts over, but `{count}` does not");
            return Some(self.found(Code::CycleFallsShort, message, path, &way));
        }
        // One that has none at all is not reached, or its rule does not fire: that is said there.
        let held = *limits.last().filter(|_| search.cut.is_none())?;
        let most = (1..=held).rev().find(|count| reviews(*count, held).is_some());
        let most = counted(most.filter(|most| *most < held)?, "review");
        let message = format!("the cycle `{id}` has {most} at most, {limit} being {held}");
        Some(absent(Code::CycleFallsShort, message, &path))
    }
}
