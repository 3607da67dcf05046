//! The sentence that ends an instance: what is done, what its reviews cost, and what is left for later.

use super::figures::Figures;
use super::progress::{in_words, progress};
use crate::engine::context;
use crate::page::counted;
use crate::project::ledger::LedgerEntry;
use crate::receipt::render::unpassed;
use crate::reviewer::finding::{OPEN, PUT_OFF};
use crate::run::place::Place;
use crate::text::shown;

/// Returns the sentences for the instance at `place`, which is in a final phase.
pub(crate) fn finished(place: &Place) -> String {
    let chart = &place.chart;
    let snapshot = place.snapshot();
    let phase = context::text(snapshot.context(), Some(&chart.state)).unwrap_or_default();
    let done = in_words(&progress(chart, &snapshot.as_world())).into_iter();
    let past = place.journal().reviews();
    let figures = Figures::of(past.iter().map(|review| &review.run));
    let reviews = match figures.reviews {
        0 => "no review on record".to_owned(),
        many => format!("{} (cost: {})", counted(many, "review"), figures.price()),
    };
    let entries = snapshot.ledger();
    let left = [(OPEN, OPEN), (PUT_OFF, "left for later")];
    let left = left.into_iter().filter_map(|(state, words)| {
        let is_so = |entry: &&LedgerEntry| entry.state == state;
        let count = entries.iter().filter(is_so).count();
        (count > 0).then(|| format!("{} {words}", counted(count, "finding")))
    });
    let left: Vec<String> = left.collect();
    let left = match left.is_empty() {
        true => "nothing was left for later".to_owned(),
        false => left.join(", "),
    };
    let parts: Vec<String> = done.chain([reviews, left]).collect();
    let left = unpassed(chart, &place.instance.dir, &place.journal().read());
    let gaps = match left.is_empty() {
        true => String::new(),
        false => format!(" Not passed: {}.", shown(&left.join(", "))),
    };
    format!(
        "The {} '{}' is {phase}: {}.{gaps}",
        chart.scope.noun(),
        place.instance.name,
        parts.join(", ")
    )
}
