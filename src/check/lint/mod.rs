//! `check-chart`: finds everything that can be known about a chart before it runs.
//!
//! [`run`] goes step by step, and no further than it finds something: TOML syntax, the structure according to the JSON
//! Schema of charts, names and types, then the lint rules in this folder, then every state that the chart can reach
//! ([`crate::check::conditions`]). A lint rule that looks at a whole chart is one file with one function. Flaws that show while a chart
//! is loaded (an unknown name, for example) are found by the loader, in [`crate::chart`], and in [`crate::engine::check`] and
//! [`crate::expr`].

mod explored;
mod ignore;
mod missing_folder;
pub mod report;
mod subject;
mod unused_name;

use std::sync::Arc;

use crate::chart::extend::Extended;
use crate::chart::{Chart, load, structure};
use crate::check::conditions::report::Report;
use crate::check::conditions::{Limits, follow};
use crate::diagnostic::code::{Code, Stage};
use crate::diagnostic::flaw::{Flaw, in_order};
use crate::engine::check;
use crate::expr::templates::Templates;
use subject::Subject;

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
    /// The chart, if it could be loaded.
    pub chart: Option<Arc<Chart>>,
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
    let checked = |flaws, explored, chart| Checked {
        origin: origin.to_owned(),
        text: text.to_owned(),
        flaws,
        explored,
        chart,
    };
    if !extended.flaws.is_empty() {
        return checked(extended.flaws, None, None);
    }
    let document = extended.document();
    let (chart, mut flaws) = match structure::read(&document) {
        Ok(source) => {
            let templates = extended.over(templates(&source.templates));
            load::resolve_all(origin, source, &document, templates)
        }
        Err(flaws) => (None, flaws),
    };
    let chart = chart.map(Arc::new);
    let mut explored = None;
    if let Some(chart) = &chart {
        let inspection = check::inspect(chart, &document);
        flaws.extend(inspection.flaws);
        let subject = Subject { chart, document: &document, uses: &inspection.uses };
        let rules = [missing_folder::check, unused_name::check];
        let of_rules = in_order(rules.iter().flat_map(|check| check(&subject)));
        // The templates in a folder that does not exist are unknown, too.
        let is_folder = |flaw: &Flaw| flaw.code == Code::UnknownTemplate;
        if of_rules.iter().any(is_folder) {
            flaws.retain(|flaw| flaw.code != Code::UnknownTemplate);
        }
        flaws.extend(of_rules);
        // Exploring would only report the same flaws again.
        let is_sound = ignore::ignores_all(&document, &flaws);
        if let Some(limits) = limits.filter(|_| is_sound) {
            let report = follow(chart, limits);
            flaws.extend(explored::flaws(&report, &document));
            explored = Some(report);
        }
    }
    // What is misspelled is not used, and what never happens says nothing.
    let is_advised = ignore::ignores_all(&document, &flaws);
    flaws.retain(|flaw| is_advised || flaw.code.stage() != Stage::Advice);
    // The tables below a rule of an unknown event belong to an earlier rule.
    if flaws.iter().any(|flaw| flaw.code == Code::UnknownEvent) {
        flaws.retain(|flaw| flaw.code == Code::UnknownEvent);
    }
    let is_explored = explored.as_ref().is_some_and(|report| report.cut.is_none());
    let mut flaws = extended.written(ignore::apply(&document, flaws, |stage| match stage {
        Stage::Explore => is_explored,
        Stage::Advice => is_advised,
        Stage::Load | Stage::Rule => chart.is_some(),
    }));
    // A chart need not use all that it extends.
    flaws.retain(|flaw| flaw.code.stage() != Stage::Advice || !extended.is_of_base(flaw));
    flaws.sort_by_key(|flaw| {
        (flaw.file.is_some(), flaw.span.as_ref().map(|span| span.start), flaw.code)
    });
    checked(flaws, explored, chart)
}
