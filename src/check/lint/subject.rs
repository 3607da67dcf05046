//! What the lint rules in this folder look at.

use std::collections::BTreeSet;

use crate::chart::Chart;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::{Document, Segment};

/// What a lint rule looks at.
pub(super) struct Subject<'c> {
    pub(super) chart: &'c Chart,
    pub(super) document: &'c Document<'c>,
    /// The names that expressions and texts use.
    pub(super) uses: &'c BTreeSet<String>,
}

impl Subject<'_> {
    /// Returns a flaw at a place in the chart.
    pub(super) fn flaw(&self, code: Code, path: &[Segment], message: String, help: &str) -> Flaw {
        Flaw::new(code, message).help(Some(help.to_owned())).at(self.document.locate(path))
    }
}
