//! `check-chart`: finds everything that can be known about a chart before it runs.
//!
//! [`run`] goes step by step, and no further than it finds something: TOML syntax, keys and their types, names and types of
//! expressions, what is unused, then every state that the chart can reach ([`crate::check::conditions`]). Flaws that show while
//! a chart is loaded (an unknown name, for example) are found by the loader, in [`crate::chart`], and in
//! [`crate::engine::check`] and [`crate::expr`].

mod explored;
pub mod report;
mod unused_name;

use std::sync::Arc;

use crate::chart::extend::Extended;
use crate::chart::{load, structure};
use crate::check::conditions::report::Report;
use crate::check::conditions::{Limits, follow};
use crate::diagnostic::code::{Code, Stage};
use crate::diagnostic::flaw::Flaw;
use crate::engine::check;
use crate::expr::templates::Templates;

/// Everything that is known about a chart.
#[derive(Debug)]
pub struct Checked {
    /// Its path, or its id if it is compiled in.
    pub origin: String,
    pub text: String,
    /// What is wrong, in the order of the file.
    pub flaws: Vec<Flaw>,
    /// The result of exploring its states; `None` if flaws prevent it.
    pub explored: Option<Report>,
}

/// Returns everything that is wrong with the chart in `text`. `origin` names the chart; `templates` are those in the folders
/// that the chart names; `limits` say how far its states are explored: not at all if they are `None`.
pub fn run(
    origin: &str,
    text: &str,
    templates: impl FnOnce(&[String]) -> Templates,
    limits: Option<&Limits>,
) -> Checked {
    let extended = Extended::of(origin, text);
    let checked = |flaws, explored| Checked {
        origin: origin.to_owned(),
        text: text.to_owned(),
        flaws,
        explored,
    };
    if !extended.flaws.is_empty() {
        return checked(extended.flaws, None);
    }
    let document = extended.document();
    let (chart, mut flaws) = match structure::read(&document) {
        Ok(source) => {
            let templates = extended.over(templates(&source.templates));
            let (chart, flaws) = load::resolve_all(origin, source, &document, templates);
            (Some(Arc::new(chart)), flaws)
        }
        Err(flaw) => (None, vec![*flaw]),
    };
    let mut explored = None;
    if let Some(chart) = &chart {
        let inspection = check::inspect(chart, &document);
        flaws.extend(inspection.flaws);
        flaws.extend(unused_name::check(chart, &document, &inspection.uses));
        // Exploring would only report the same flaws again.
        if let Some(limits) = limits.filter(|_| flaws.iter().all(is_advice)) {
            let report = follow(chart, limits);
            flaws.extend(explored::flaws(&report, &document));
            explored = Some(report);
        }
    }
    // What is misspelled is not used, and what never happens says nothing.
    if !flaws.iter().all(is_advice) {
        flaws.retain(|flaw| !is_advice(flaw));
    }
    // The tables below a rule of an unknown event belong to an earlier rule.
    if flaws.iter().any(|flaw| flaw.code == Code::UnknownEvent) {
        flaws.retain(|flaw| flaw.code == Code::UnknownEvent);
    }
    let mut flaws = extended.written(flaws);
    // A chart need not use all that it extends.
    flaws.retain(|flaw| !is_advice(flaw) || !extended.is_of_base(flaw));
    flaws.sort_by_key(|flaw| {
        (flaw.file.is_some(), flaw.span.as_ref().map(|span| span.start), flaw.code)
    });
    checked(flaws, explored)
}

fn is_advice(flaw: &Flaw) -> bool {
    flaw.code.stage() == Stage::Advice
}
