//! The sentence that ends an instance: what is done, what its reviews cost, and what is left for later.

use std::path::Path;
use std::sync::Arc;

use super::figures::Figures;
use super::progress::{in_words, progress};
use crate::chart::Chart;
use crate::engine::context;
use crate::engine::inspect;
use crate::engine::world::{Source, World};
use crate::hash::IndexMap;
use crate::page::counted;
use crate::project::ledger::LedgerEntry;
use crate::reviewer::finding::{OPEN, PUT_OFF};
use crate::run::place::Place;
use crate::store::journal::Line;
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
        _ => format!("{} (cost: {})", figures.counted(), figures.price()),
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
    let files = inspect::reviews(chart, past.iter().map(|review| review.run.file.as_str()));
    let begun: Vec<_> = files.iter().map(|file| (&file.cycle, &file.base)).collect();
    let rows = done_rows(chart, &snapshot.as_world());
    let never = chart.cycles.values().flat_map(|cycle| {
        let is_never =
            |row: &&String| cycle.base.matches(row).is_some() && !begun.contains(&(&cycle.id, row));
        match begun.iter().any(|(id, _)| *id == &cycle.id) {
            true => (rows.iter().filter(is_never)).map(|row| cycle.title(row)).collect(),
            false => vec![cycle.id.clone()],
        }
    });
    let never: Vec<String> = never.collect();
    let never = (!past.is_empty() && !never.is_empty())
        .then(|| format!(" Never run by taskie: {}.", never.join(", ")));
    // How the last decision about a review of each thing went.
    let (mut last, mut passed) = (None, IndexMap::default());
    for line in place.journal().read() {
        match line {
            Line::Review(review) => last = files.iter().find(|file| file.name == review.run.file),
            Line::Decision(decided) if decided.review.is_some() => {
                let has_passed = decided.fired().any(|rule| chart.advances(&rule.rule));
                passed.extend(last.take().map(|file| ((&file.cycle, &file.base), has_passed)));
            }
            Line::Decision(_) | Line::Gate(_) => {}
        }
    }
    let unpassed = passed.into_iter().filter(|(_, has_passed)| !has_passed);
    let unpassed = unpassed.filter_map(|((id, base), _)| Some(chart.cycles.get(id)?.title(base)));
    let unpassed: Vec<String> = unpassed.collect();
    let left =
        (!unpassed.is_empty()).then(|| format!(" Not passed: {}.", shown(&unpassed.join(", "))));
    let gaps: String = [left, never].into_iter().flatten().collect();
    format!(
        "The {} '{}' is {phase}: {}.{gaps}",
        chart.scope.noun(),
        place.instance.name,
        parts.join(", ")
    )
}

/// Returns the rows that are finished and have a file, as cycles name what they are about: by the file's name without what
/// comes after its last dot.
fn done_rows(chart: &Chart, world: &Arc<dyn World>) -> Vec<String> {
    let tables = chart.tables.iter().filter(|(_, table)| table.has_status());
    let rows = tables.filter_map(|(name, _)| {
        let table = world.look(&Source::Table(name.clone())).ok()?;
        let rows = table.get_attr("rows").ok()?.try_iter().ok()?;
        let done = rows.filter(|row| row.get_attr("done").is_ok_and(|done| done.is_true()));
        let files = done.filter_map(|row| row.get_attr("path").ok()?.as_str().map(str::to_owned));
        Some(files.filter_map(|file| Some(Path::new(&file).file_stem()?.to_str()?.to_owned())))
    });
    rows.flatten().collect()
}
