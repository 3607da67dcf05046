//! Clean reviews that are stale: files that count have changed since.

use crate::page::counted;
use crate::project::change::Blobs;
use crate::project::find;
use crate::receipt::chain::Chain;
use crate::receipt::check::{self, CleanVersions};
use crate::receipt::{ReviewEntry, statement};
use crate::run::on_record::OnRecord;
use crate::run::place::Place;
use crate::text::shown;

/// A clean review whose work tree has changed.
#[derive(Debug)]
pub(crate) struct Stale {
    pub(crate) review: ReviewEntry,
    /// The files that it has not seen as they are now.
    pub(crate) files: Vec<String>,
}

/// Says which review it is, and which files.
impl std::fmt::Display for Stale {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let first = self.files.first().map_or("", String::as_str);
        let more = match self.files.len() {
            0 | 1 => String::new(),
            many => format!(" and {}", counted(many - 1, "more file")),
        };
        let review = &self.review.file;
        write!(
            out,
            "No clean review has seen {}{more} as it is now: changed since {review}.",
            shown(first)
        )
    }
}

/// Returns the last clean review, if it is about the work tree and there are files that no clean review has seen as they are
/// now. While another such cycle runs, its reviews will see what has changed. This asks git.
pub(crate) fn find(place: &Place) -> Option<Stale> {
    let OnRecord { chain, open, .. } = OnRecord::of(place);
    let entries = chain.statements().flat_map(|statement| &statement.predicate.entries);
    let counted = [check::counted(entries), check::counted(&open)].concat();
    // A review that failed, or that a gate prevented, has seen nothing.
    let has_seen =
        |(review, _): &&(&ReviewEntry, bool)| review.tree.is_some() && review.verdict.is_some();
    let (review, is_clean) = *counted.iter().rfind(has_seen)?;
    let snapshot = place.snapshot();
    let view = snapshot.view();
    let running = view.running().and_then(|cycle| view.skips(cycle).ok()?);
    if running.is_some() || !is_clean {
        return None;
    }
    let mut seen = CleanVersions::default();
    seen.add(&place.instance.name, &chain, &open, None);
    let base = &seen.works.last()?.base;
    let now = place.manifests().read(Some(base), None, &[])?.ok()?;
    let own = seen.works.len();
    let uncovered = |seen: &CleanVersions| -> Vec<String> {
        // Where git no longer has what both are compared with, nobody knows.
        let works = seen.works.iter().take(own);
        let works = works.filter(|work| work.base == now.base);
        let mut covered = Blobs::new();
        works.for_each(|work| check::join(&mut covered, seen.covered(work, &now, true)));
        let covered = covered.into_iter();
        let files = covered.filter_map(|(file, review)| review.is_none().then_some(file));
        files.collect()
    };
    let mut files = uncovered(&seen);
    if !files.is_empty() {
        // What a later instance has changed, its own reviews have seen.
        for (name, chain) in others(place) {
            seen.add(&name, &chain, &[], None);
        }
        files = uncovered(&seen);
    }
    let review = review.clone();
    (!files.is_empty()).then_some(Stale { review, files })
}

/// Returns the receipts of the other instances.
fn others(place: &Place) -> impl Iterator<Item = (String, Chain)> {
    let scope = &place.chart.scope;
    let names = find::names(&place.root, scope).unwrap_or_default();
    names.into_iter().filter_map(|name| {
        let instance = find::named(scope, &name).ok()?;
        let is_other = name != place.instance.name;
        let is_inside = !find::leads_outside(&place.root, &instance.dir);
        let text = (is_other && is_inside)
            .then(|| statement::read(&place.root.join(&instance.dir)).ok())
            .flatten()?;
        Some((name, Chain::read(&text)))
    })
}
