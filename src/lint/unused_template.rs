//! `unused-template`: a file in the chart's own template folder that no text includes.
//!
//! Only the first folder is the chart's own; the others may contain files for other readers.

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::Segment;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    subject
        .chart
        .templates
        .own_names()
        .into_iter()
        .filter(|name| !subject.uses.contains(&format!("template:{name}")))
        .map(|name| {
            let message = format!("template `{name}` is unused");
            subject.flaw(
                Code::UnusedTemplate,
                &[Segment::from("templates")],
                message,
                "include it, or remove the file",
            )
        })
        .collect()
}
