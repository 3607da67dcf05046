//! `check-chart`: everything that can be said about a chart before it runs.
//!
//! [`run`] goes as far as it can in one go: TOML syntax, the structure by the charts' own JSON Schema, names
//! and types, then the rules of this folder, then every state that the chart can reach ([`crate::explore`]). A rule that looks at a whole chart is one file with one
//! function; what is found on the way to a chart (an unknown name, say) is found where that way is, in
//! [`crate::chart`] and [`crate::expr`].

mod advance_runs_out;
pub mod constant_guard;
mod duplicate_entry;
mod explored;
mod idle_rule;
mod ignore;
mod message_too_long;
mod missing_folder;
mod no_final;
pub mod report;
pub mod rules;
mod shadowed_rule;
mod shadowed_target;
mod structure;
mod subject;
mod toml_1_1;
mod unused_name;
mod unused_template;

use std::sync::Arc;

use crate::chart::{check, load};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::explore::{Caps, Report, explore};
use crate::expr::templates::Templates;
use subject::Subject;

/// The rules that look at a whole chart.
const RULES: &[fn(&Subject<'_>) -> Vec<Flaw>] = &[
    advance_runs_out::check,
    constant_guard::check,
    duplicate_entry::check,
    idle_rule::check,
    message_too_long::check,
    missing_folder::check,
    no_final::check,
    shadowed_rule::check,
    shadowed_target::check,
    toml_1_1::check,
    unused_name::check,
    unused_template::check,
];

/// What is known of a chart.
#[derive(Debug)]
pub struct Linted {
    /// What is wrong, in the order of the file.
    pub flaws: Vec<Flaw>,
    /// What exploring its states has come to; `None` where it has flaws that stand in the way.
    pub explored: Option<Report>,
}

/// Everything that is wrong with the chart in `text`, and what is proved of it. `origin` names it;
/// `templates` are those of the folders that the chart names; `caps` say how far to explore.
pub fn run(
    origin: &str,
    text: &str,
    templates: impl FnOnce(&[String]) -> Templates,
    caps: &Caps,
) -> Linted {
    let reading = structure::read(text);
    let mut flaws = reading.flaws;
    let mut explored = None;
    if let Some(source) = reading.source {
        let text = reading.text.as_str();
        let templates = templates(&source.templates);
        let (chart, mut more) = load::resolve_all(origin, source, text, templates);
        if let Some(chart) = chart {
            let inspection = check::inspect(&chart, text);
            more.extend(inspection.flaws);
            let chart = Arc::new(chart);
            let subject = Subject {
                chart: &chart,
                text,
                uses: &inspection.uses,
            };
            let of_rules: Vec<Flaw> = RULES.iter().flat_map(|check| check(&subject)).collect();
            // What does not evaluate, and what decides otherwise than it says, would be told of once more.
            let first = of_rules
                .iter()
                .filter(|flaw| Code::FIRST.contains(&flaw.code));
            if ignore::leaves_nothing(text, flaws.iter().chain(&more).chain(first)) {
                let report = explore(&chart, caps);
                more.extend(explored::flaws(&report, text));
                explored = Some(report);
            }
            more.extend(of_rules);
        }
        // What stands in for a missing or wrong value is not worth a word, nor what a broken line may hold.
        let filled: Vec<_> = flaws
            .iter()
            .filter(|flaw| FILLED.contains(&flaw.code))
            .map(|flaw| flaw.span.clone())
            .collect();
        more.retain(|flaw| {
            let is_absence = reading.is_partial && ABSENCES.contains(&flaw.code)
                || !filled.is_empty() && flaw.code == Code::NoFinal;
            !(filled.contains(&flaw.span) || is_absence)
        });
        flaws.extend(more);
    }
    let mut flaws = ignore::apply(text, flaws, explored.is_some());
    flaws.sort_by_key(|flaw| {
        (
            flaw.file.is_some(),
            flaw.span.as_ref().map(|span| span.start),
            flaw.code,
        )
    });
    Linted { flaws, explored }
}

/// The codes of places where another value stands in for what the chart has.
const FILLED: [Code; 2] = [Code::MissingKey, Code::WrongType];

/// The codes that say that something is not there.
const ABSENCES: [Code; 4] = [
    Code::MissingKey,
    Code::AdvanceRunsOut,
    Code::UnusedName,
    Code::UnusedTemplate,
];
