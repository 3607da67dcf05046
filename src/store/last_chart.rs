//! The chart on which an instance last ran, and the shape that it had: its phases, the fields of a state, and which of them
//! say where it is.
//!
//! A plan outlives its chart: a project changes its own, or a new version of this program brings another. A state that fits
//! the new chart goes on; for one that does not, this record says why.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Store, record};
use crate::chart::Chart;
use crate::hash::IndexMap;

const KIND: &str = "chart";

/// A chart, as far as a state depends on it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shape {
    chart: String,
    phases: Vec<String>,
    /// Each field, with what it may have in words.
    fields: IndexMap<String, String>,
    /// The fields that say where a state is, and what comes next.
    #[serde(default)]
    state: String,
    #[serde(default)]
    next: Option<String>,
    /// The field that counts the reviews, by each phase of a cycle.
    #[serde(default)]
    counts: IndexMap<String, String>,
}

impl Shape {
    fn of(chart: &Chart) -> Self {
        let fields = chart.context.iter();
        let cycles = chart.cycles.values();
        let counts = cycles.flat_map(|cycle| {
            [&cycle.id, &cycle.post].map(|phase| (phase.clone(), cycle.count.clone()))
        });
        Self {
            chart: match chart.with_bases() {
                // One that is compiled in changes with the program.
                name if name == chart.id => format!("{name} {}", env!("CARGO_PKG_VERSION")),
                name => name,
            },
            phases: chart.phases.keys().cloned().collect(),
            fields: fields.map(|(name, field)| (name.clone(), field.describe())).collect(),
            state: chart.state.clone(),
            next: chart.next.clone(),
            counts: counts.collect(),
        }
    }

    /// Returns what of `old` the state still has, and this chart, whose shape this is, does not accept.
    fn misses(&self, old: &Self, chart: &Chart, state: &Map<String, Json>) -> Vec<String> {
        let is_gone = |name: &&String| {
            !self.phases.contains(*name) && state.values().any(|value| value == name.as_str())
        };
        let gone = old.phases.iter().filter(is_gone);
        let gone = gone.map(|name| format!("it has no phase `{name}` any more"));
        let fields = self.fields.iter().filter_map(|(name, kind)| {
            let before = old.fields.get(name).filter(|before| *before != kind)?;
            let misfit = chart.context[name].accepts(&chart.phases, state.get(name)?);
            misfit.err()?;
            Some(format!("`{name}` must be {kind}, and was {before}"))
        });
        gone.chain(fields).collect()
    }

    /// Returns the fields in which this chart, whose shape this is, does not find the running cycle of a state of `old`.
    fn renames(&self, old: &Self, state: &Map<String, Json>) -> Vec<String> {
        let value = |name: &str| state.get(name).filter(|value| !value.is_null());
        let next = old.next.as_deref().and_then(|next| value(next)?.as_str());
        let Some((phase, count)) = next.and_then(|next| old.counts.get_key_value(next)) else {
            return Vec::new();
        };
        let fields = [
            ("says where it is", Some(&old.state), Some(&self.state)),
            ("says what comes next", old.next.as_ref(), self.next.as_ref()),
            ("counts the reviews", Some(count), self.counts.get(phase)),
        ];
        let renamed = fields.into_iter().filter_map(|(what, before, now)| {
            let (before, now) = (before?, now?);
            let is_lost = before != now && value(before).is_some() && value(now).is_none();
            is_lost.then(|| format!("the field that {what} is `{now}`, and was `{before}`"))
        });
        renamed.collect()
    }
}

/// Records the chart on which an instance runs, unless that is known. The caller holds the write lock.
pub(crate) fn note(store: &Store, instance: &str, chart: &Chart) -> io::Result<()> {
    let shape = Shape::of(chart);
    match record::read::<Shape>(store, instance, KIND) {
        Some(known) if known == shape => Ok(()),
        _ => record::write(store, instance, KIND, shape),
    }
}

/// Returns why a state does not fit the chart if that has changed since the instance ran on it, in sentences, and what to do.
/// One that `is_sound` does not fit only if the chart looks for its running cycle in other fields.
pub(crate) fn misfit(
    store: &Store,
    instance: &str,
    chart: &Chart,
    state: &Map<String, Json>,
    is_sound: bool,
) -> Option<String> {
    let old = record::read::<Shape>(store, instance, KIND)?;
    let new = Shape::of(chart);
    let mut misses = new.renames(&old, state);
    if !is_sound {
        misses.extend(new.misses(&old, chart, state));
    }
    if misses.is_empty() {
        return None;
    }
    let noun = &chart.scope.noun;
    let charts = match old.chart == new.chart {
        true => new.chart,
        false => format!("{}, before {}", new.chart, old.chart),
    };
    Some(format!(
        "The chart has changed since this {noun} last ran ({charts}): {}. Bring the old chart back until the {noun} is where \
         both agree, or give the field in state.json a value that this chart allows",
        misses.join("; ")
    ))
}
