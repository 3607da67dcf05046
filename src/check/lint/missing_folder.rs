//! `unknown-template` for a whole folder that the chart names and that does not exist.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::at;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let document = subject.document;
    let missing = subject.chart.templates.missing_folders();
    missing
        .into_iter()
        .filter_map(|index| {
            // The default folder may be missing.
            let place = document.locate_exactly(at!["templates", index])?;
            let name = document.text.get(place.clone()).unwrap_or_default();
            let message = format!("the folder {name} does not exist next to the chart");
            Some(Flaw::new(Code::UnknownTemplate, message).at(Some(place)))
        })
        .collect()
}
