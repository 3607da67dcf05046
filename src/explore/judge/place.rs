//! Where in the chart something stands.

use crate::chart::Chart;
use crate::diagnostic::toml::Segment;
use crate::engine::fault::Fault;

/// Returns the key of a phase: one made from a hole stands under the name with the hole.
pub(super) fn key_of_phase(chart: &Chart, phase: &str) -> String {
    let entry = chart.phases.get(phase);
    match entry.and_then(|entry| entry.cycle.as_ref()) {
        Some(cycle) => phase.replace(cycle.as_str(), "{cycle}"),
        None => phase.to_owned(),
    }
}

/// Returns where in the chart a fault is.
pub(super) fn path_of_fault(chart: &Chart, fault: &Fault) -> Vec<Segment> {
    let mut path = match fault.place() {
        Some(place) => path_of(chart, &place),
        None => Vec::new(),
    };
    if let Fault::Assignment { field, .. } = fault {
        path.push(Segment::from(field));
    }
    path
}

/// Returns `on.Stop[2].guard` as a path.
pub(super) fn path_of(chart: &Chart, place: &str) -> Vec<Segment> {
    let mut path = Vec::new();
    for part in place.split('.') {
        let (key, index) = match part.split_once('[') {
            Some((key, index)) => (key, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        let is_phase = path == [Segment::from("phases")];
        path.push(if is_phase {
            Segment::from(&key_of_phase(chart, key))
        } else {
            Segment::from(key)
        });
        path.extend(index.map(Segment::from));
    }
    path
}
