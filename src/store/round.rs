//! A cycle of an instance that is not over, as notices remember it: which one it is, what it is about, and how many reviews it
//! has had.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::chart::Chart;
use crate::engine::context::{self, Context};

/// A cycle that runs or is paused, or did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Round {
    pub(super) cycle: String,
    /// What it is about: a cycle of the next task is another one.
    base: Option<String>,
    /// How many reviews it has had: whoever starts it over leaves it.
    pub(super) count: i64,
    /// The user can return to it.
    pub(super) is_paused: bool,
}

impl Round {
    /// Returns the one that is running.
    pub(super) fn running(chart: &Chart, context: &Context) -> Option<Self> {
        Self::unfinished(chart, context).filter(|round| !round.is_paused)
    }

    /// Returns the one that is not over.
    pub(super) fn unfinished(chart: &Chart, context: &Context) -> Option<Self> {
        let value = |name: &str| context.get(name).cloned().unwrap_or_default();
        let cycle = context::unfinished(chart, value)?;
        let count = context.get(&cycle.count).and_then(Json::as_i64);
        Some(Self {
            cycle: cycle.id.clone(),
            base: context::base(cycle, context),
            count: count.unwrap_or(0),
            is_paused: context::running_cycle(chart, context).is_none(),
        })
    }

    /// Returns whether `now` is the same one, perhaps started over.
    pub(super) fn is_same(&self, now: Option<&Self>) -> bool {
        now.is_some_and(|now| (&now.cycle, &now.base) == (&self.cycle, &self.base))
    }

    /// Returns whether `now` is the same one, and paused only if this one is.
    pub(super) fn is_in_place(&self, now: Option<&Self>) -> bool {
        self.is_same(now) && now.is_some_and(|now| now.is_paused == self.is_paused)
    }

    /// Returns whether `now` is the same one with all of its reviews. A change begins again whenever somebody asks for that.
    pub(super) fn goes_on(&self, chart: &Chart, now: Option<&Self>) -> bool {
        self.has_all(now) || chart.scope.since.is_some() && self.is_same(now)
    }

    /// Returns whether `now` is the same one with all of its reviews.
    pub(super) fn has_all(&self, now: Option<&Self>) -> bool {
        self.is_same(now) && now.is_some_and(|now| now.count >= self.count)
    }

    pub(super) fn title(&self, chart: &Chart) -> String {
        match (chart.cycles.get(&self.cycle), &self.base) {
            (Some(cycle), Some(base)) => cycle.title(base),
            _ => self.cycle.clone(),
        }
    }
}
