//! The sentence that ends an instance: what is done, what its reviews cost, and what is left for later.

use super::figures::Figures;
use super::progress::{in_words, progress};
use crate::engine::context;
use crate::page::counted;
use crate::project::ledger::{LedgerEntry, OPEN};
use crate::run::place::Place;
use crate::run::{receipts, stale};
use crate::text::shown;

/// Returns the sentences for the instance at `place`, which is in a final phase.
pub(crate) fn finished(place: &Place) -> String {
    let chart = &place.chart;
    let snapshot = place.snapshot();
    let phase = context::text(snapshot.context(), Some(&chart.state)).unwrap_or_default();
    let done = in_words(&progress(chart, &snapshot.as_world())).into_iter();
    let past = place.reviews();
    let figures = Figures::of(chart, past.iter().map(|review| &review.run));
    let reviews = match figures.reviews {
        0 => "no review on record".to_owned(),
        _ => format!("{} (cost: {})", figures.counted(), figures.price()),
    };
    let entries = snapshot.ledger();
    let left = [
        (Some(OPEN), OPEN),
        (chart.findings.put_off(), "left for later"),
    ];
    let left = left.into_iter().filter_map(|(state, words)| {
        let is_so = |entry: &&LedgerEntry| Some(&*entry.state) == state;
        let count = entries.iter().filter(is_so).count();
        (count > 0).then(|| format!("{} {words}", counted(count, "finding")))
    });
    let left: Vec<String> = left.collect();
    let left = match left.is_empty() {
        true => "nothing was left for later".to_owned(),
        false => left.join(", "),
    };
    let parts: Vec<String> = done.chain([reviews, left]).collect();
    let unpassed = receipts::unpassed(place);
    let is_begun = |cycle: &str| {
        past.iter().any(|review| review.run.cycle == cycle)
            || unpassed.iter().any(|left| left.cycle == cycle)
    };
    let cycles = chart.cycles.keys().map(String::as_str);
    let never: Vec<&str> = cycles.filter(|cycle| !is_begun(cycle)).collect();
    let never = (!past.is_empty() && !never.is_empty())
        .then(|| format!(" Never run by taskie: {}.", never.join(", ")));
    let unpassed = unpassed.iter().map(|left| left.title(chart));
    let unpassed: Vec<String> = unpassed.collect();
    let skipped =
        (!unpassed.is_empty()).then(|| format!(" Skipped: {}.", shown(&unpassed.join(", "))));
    let stale = stale::find(place).map(|stale| format!(" {stale}"));
    let edits = receipts::edits(place).map(|edits| format!(" {edits}"));
    let gaps: String = [skipped, never, stale, edits]
        .into_iter()
        .flatten()
        .collect();
    format!(
        "The {} '{}' is {phase}: {}.{gaps}",
        chart.scope.noun,
        place.instance.name,
        parts.join(", ")
    )
}
