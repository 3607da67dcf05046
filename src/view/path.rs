//! The path of an instance through its chart.

use serde_json::Value as Json;

use crate::diagram::picture::Picture;
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::store::journal::Line;

/// Returns the chart with the path of an instance.
pub(crate) fn of_instance(place: &Place) -> Picture {
    let chart = &place.chart;
    let mut picture = Picture::of(chart);
    let path = path(place);
    picture.follow(&path);
    picture.title = match path.last() {
        Some(phase) => format!("{} {}: {phase}", chart.scope.noun, place.instance.name),
        None => format!("{} {}: not started", chart.scope.noun, place.instance.name),
    };
    picture
}

/// Returns the phases that an instance has been in, according to the journal, and the current one.
fn path(place: &Place) -> Vec<String> {
    let phase = &place.chart.state;
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let mut path: Vec<String> = Vec::new();
    let lines = place.journal().read().into_iter();
    for decided in lines.filter_map(Line::into_decision) {
        if let Some([old, new]) = decided.changed.get(phase) {
            if path.is_empty() {
                path.extend(text(old));
            }
            path.extend(text(new));
        }
    }
    let snapshot = place.snapshot();
    if let Reading::Sound { context, .. } = &snapshot.state {
        let current = context.get(phase).and_then(text);
        path.extend(current.filter(|current| path.last() != Some(current)));
    }
    path
}
