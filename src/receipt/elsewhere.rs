//! Reviews that were run on other machines, as far as the record of an instance knows them.

use std::path::Path;

use super::chain::Chain;
use super::{Entry, Open, ReviewEntry, statement};
use crate::chart::Chart;
use crate::engine::spent::PastReview;
use crate::hash;
use crate::project::seen;
use crate::reviewer::finding::{Finding, Found};
use crate::store::{journal, open_record};
use crate::text::plain_line;

/// The most characters of a text of a finding.
const LENGTH: usize = 200;

/// Returns the reviews of an instance that its receipts and what has happened since have, as this machine's journal would have
/// them, except those whose file `is_own`: this machine's journal has them. They may have come with a clone: no budget and no
/// count depends on them.
pub(crate) fn reviews(
    chart: &Chart,
    dir: &Path,
    name: &str,
    is_own: impl Fn(&str) -> bool,
) -> Vec<journal::ReviewLine> {
    let chain = Chain::read(&statement::read(dir).unwrap_or_default());
    let open: Vec<Open> = chain.unsealed(open_record::in_folder(dir), Entry::at);
    let entries = (chain.statements()).flat_map(|statement| &statement.predicate.entries);
    let reviews = entries.filter_map(Entry::review);
    let reviews = reviews.chain(open.iter().filter_map(Entry::review)).cloned();
    let reviews = reviews.filter(|review| review.times.is_none() && !is_own(&review.file));
    let reviews = reviews.map(|review| in_journal(chart, review, dir, name));
    reviews.collect()
}

fn in_journal(chart: &Chart, review: ReviewEntry, dir: &Path, name: &str) -> journal::ReviewLine {
    let text = crate::disk::read_regular(&dir.join(&review.file));
    let own = text.ok().flatten();
    let own = own.filter(|text| Some(hash::of_text(text)) == review.review);
    let plain = |finding: Finding| Finding {
        severity: plain_line(&finding.severity, LENGTH),
        file: finding.file.map(|file| plain_line(&file, LENGTH)),
        title: plain_line(&finding.title, LENGTH),
        line: finding.line,
    };
    journal::ReviewLine {
        run: PastReview {
            at: review.at,
            instance: name.to_owned(),
            cycle: review.cycle,
            n: review.n,
            file: review.file,
            verdict: review.verdict,
            error: review.error,
            seconds: review.seconds,
            cost: review.cost,
            not_started: review.not_started,
            found: Found {
                findings: review.found.findings.into_iter().map(plain).collect(),
                ran: Vec::new(),
                ..review.found
            },
            ..PastReview::default()
        },
        // No file that was changed has this size.
        bytes: own.map_or(u64::MAX, |text| text.len() as u64),
        by: review.by,
        tokens: review.tokens,
        subject: seen::of_hashes(chart, dir, (&review.subject, &review.without_status)),
    }
}
