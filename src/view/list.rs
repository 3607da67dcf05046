//! All instances of a project: where each one is, and what its reviews cost.

use serde_json::{Value as Json, json};

use super::figures::Figures;
use super::progress::progress;
use crate::engine::context;
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::text::shown;

/// The columns of the table, after the name.
pub(crate) const HEAD: [&str; 4] = ["phase", "next", "done", "cost"];

/// Returns the row of an instance, and the same as JSON.
pub(crate) fn row(place: &Place) -> (Vec<String>, Json) {
    let chart = &place.chart;
    let snapshot = place.snapshot();
    let is_sound = matches!(snapshot.state, Reading::Sound { .. });
    let field = |name| context::text(snapshot.context(), name).filter(|_| is_sound);
    let (phase, next) = (field(Some(&chart.state)), field(chart.next.as_ref()));
    let progress = progress(chart, &snapshot.as_world());
    let figures = Figures::of(place.journal().runs().iter());
    let name = place.instance.name.as_str();
    let json = json!({
        chart.scope.noun(): name, "phase": phase, "due": next, "progress": progress, "reviews": figures,
    });
    let done = progress.values();
    let done: Vec<String> = done.map(|part| format!("{}/{}", part.done, part.all)).collect();
    let done = Some(done.join(" ")).filter(|done| !done.is_empty());
    let price = (figures.reviews > 0).then(|| figures.price());
    let cells = [Some(name), phase, next, done.as_deref(), price.as_deref()];
    let cells = cells.map(|text| shown(text.unwrap_or("-")).into_owned());
    (cells.to_vec(), json)
}
