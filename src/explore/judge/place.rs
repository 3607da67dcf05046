//! Where in the chart something stands.

use crate::chart::Chart;
use crate::diagnostic::toml::Step;
use crate::engine::fault::Fault;

/// Returns the key of a phase: one made from a hole stands under the name with the hole.
pub(super) fn key_of_phase(chart: &Chart, phase: &str) -> String {
    match chart
        .phases
        .get(phase)
        .and_then(|entry| entry.cycle.as_ref())
    {
        Some(cycle) => phase.replace(cycle.as_str(), "{cycle}"),
        None => phase.to_owned(),
    }
}

pub(super) fn path_of_fault(chart: &Chart, fault: &Fault) -> Vec<Step> {
    match fault {
        Fault::Expression { place, .. } | Fault::NoCycle { place } => path_of(chart, place),
        Fault::Assignment { place, field, .. } => {
            let mut path = path_of(chart, place);
            path.push(Step::from(field));
            path
        }
        Fault::NowhereToAdvance { cycle } => steps!["cycles", cycle, "advance"],
        Fault::Argument { name, .. } => steps!["args", name],
        Fault::File(_) | Fault::World(_) => Vec::new(),
    }
}

/// Returns `on.Stop[2].guard` as a path.
pub(super) fn path_of(chart: &Chart, place: &str) -> Vec<Step> {
    let mut path = Vec::new();
    for part in place.split('.') {
        let (key, index) = match part.split_once('[') {
            Some((key, index)) => (key, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        let is_phase = path == [Step::from("phases")];
        path.push(if is_phase {
            Step::from(&key_of_phase(chart, key))
        } else {
            Step::from(key)
        });
        path.extend(index.map(Step::from));
    }
    path
}
