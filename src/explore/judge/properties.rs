//! The chart's own properties: what always holds, what never does, what stays within reach, what comes to hold.

use std::sync::Arc;

use super::judgment::Judge;
use crate::chart::Chart;
use crate::chart::model::Property;
use crate::diagnostic::code::Code;
use crate::engine::fault::Fault;
use crate::explore::report::PropertyResult;
use crate::explore::search::Search;
use crate::explore::state::Looks;
use rustc_hash::FxHashMap;

/// Judges each property of the chart.
pub(super) fn own_properties(search: &mut Search) -> Vec<PropertyResult> {
    let chart = Arc::clone(&search.moves.tree.chart);
    let properties = chart.properties.iter().enumerate();
    properties
        .filter_map(|(index, property)| own(search, &chart, index, property))
        .collect()
}

fn own(
    search: &mut Search,
    chart: &Chart,
    index: usize,
    property: &Property,
) -> Option<PropertyResult> {
    let name = &property.about;
    let (key, expr) = property.claims().next()?;
    let expr = &expr.0;
    let path = steps!["properties", index, key];
    let truth = Truth::of(search, expr);
    let judge = Judge::of(chart, search);
    if let Some((state, fault)) = truth.fault {
        let verdict = judge.at(fault.to_string(), state, path);
        return Some(PropertyResult::new(name, Code::NoDecision, verdict));
    }
    let detail = format!("{key} {expr}");
    let refuted = |state: Option<usize>, claim: String| match state {
        Some(state) => judge.at(claim, state, path.clone()),
        None => judge.holds(detail.clone()),
    };
    let verdict = match key {
        "always" => refuted(
            truth.always.iter().position(|holds| !holds),
            format!("`{expr}` does not hold here"),
        ),
        "never" => refuted(
            truth.sometimes.iter().position(|holds| *holds),
            format!("`{expr}` holds here"),
        ),
        "eventually" => judge.comes_to(&truth.always, expr, detail.clone(), &path),
        _ => {
            let claim =
                |_: usize, words: &str| format!("from here no path leads to `{expr}`{words}");
            judge.within_reach(&truth.sometimes, detail.clone(), claim, |_| path.clone())
        }
    };
    Some(PropertyResult::new(name, Code::PropertyRefuted, verdict))
}

/// Where a condition holds, per state.
#[derive(Default)]
struct Truth {
    /// Under all choices that it looks at.
    always: Vec<bool>,
    /// Under some.
    sometimes: Vec<bool>,
    /// The first state in which it has no value.
    fault: Option<(usize, Fault)>,
}

impl Truth {
    fn of(search: &mut Search, condition: &str) -> Self {
        let mut truth = Self::default();
        let mut known: FxHashMap<Box<[u32]>, (bool, bool)> = FxHashMap::default();
        let mut looks = Looks::default();
        let mut key = Vec::new();
        for state in 0..search.states.len() {
            looks.project(search.states.get(state), &[], &mut key);
            if let Some((always, sometimes)) = known.get(key.as_slice()) {
                truth.always.push(*always);
                truth.sometimes.push(*sometimes);
                continue;
            }
            let situation = search.states.get(state).to_situation();
            let (results, seen) = search.moves.holds(condition, situation.as_ref());
            if let Some(fault) = results.iter().find_map(|result| result.as_ref().err()) {
                truth.fault = Some((state, fault.clone()));
                break;
            }
            let always = results.iter().all(|result| *result == Ok(true));
            let sometimes = results.contains(&Ok(true));
            if looks.add_all(&seen) {
                known.clear();
            }
            looks.project(situation.as_ref(), &[], &mut key);
            known.insert(key.as_slice().into(), (always, sometimes));
            truth.always.push(always);
            truth.sometimes.push(sometimes);
        }
        truth
    }
}
