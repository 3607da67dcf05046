//! `check-chart`: finds everything that can be known about a chart before it runs.
//!
//! [`run`] goes as far as it can in one run: TOML syntax and the structure according to the JSON Schema of charts, names
//! and types, then the lint rules in this folder, then every state that the chart can reach ([`crate::explore`]). A
//! lint rule that looks at a whole chart is one file with one function. Flaws that show while a chart is loaded (an
//! unknown name, for example) are found by the loader, in [`crate::chart`] and [`crate::expr`].

mod definitions;
mod explored;
mod ignore;
pub mod report;
mod subject;
mod words;

use std::ops::Range;
use std::sync::Arc;

use crate::chart::extend::Extended;
use crate::chart::{Chart, load, structure};
use crate::diagnostic::code::{Code, Stage};
use crate::diagnostic::flaw::{Flaw, in_order};
use crate::diagnostic::suggest::is_slip;
use crate::engine::check;
use crate::explore::budget::Caps;
use crate::explore::explore;
use crate::explore::report::Report;
use crate::expr::templates::Templates;
use subject::Subject;
use words::WordCounts;

/// Declares the lint rules that look at a whole chart: each is a module with a function `check`.
macro_rules! rules {
    ($($visibility:vis $module:ident,)*) => {
        $($visibility mod $module;)*

        const RULES: &[fn(&Subject<'_>) -> Vec<Flaw>] = &[$($module::check,)*];
    };
}

rules! {
    advance_runs_out,
    pub constant_guard,
    duplicate_entry,
    idle_rule,
    lookalike,
    message_too_long,
    misleading_text,
    missing_folder,
    no_final,
    shadowed_rule,
    shadowed_target,
    toml_1_1,
    unused_name,
    unused_template,
}

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

/// Returns everything that is wrong with the chart in `text`, and everything that is proved. `origin` names the
/// chart; `templates` are those in the folders that the chart names; `caps` limits the exploration, which is skipped
/// if it is `None`.
pub fn run(
    origin: &str,
    text: &str,
    templates: impl FnOnce(&[String]) -> Templates,
    caps: Option<&Caps>,
) -> Checked {
    let own = text;
    let extended = Extended::of(origin, own);
    if !extended.flaws.is_empty() {
        return Checked {
            origin: origin.to_owned(),
            text: own.to_owned(),
            flaws: extended.flaws,
            explored: None,
            chart: None,
        };
    }
    let text = extended.text();
    let mut flaws;
    let mut explored = None;
    let mut loaded = None;
    match structure::read(text) {
        Err(found) => flaws = found,
        Ok(source) => {
            let templates = extended.over(templates(&source.templates));
            let words = WordCounts::of(text, &templates);
            let (chart, found) = load::resolve_all(origin, source, text, templates);
            flaws = found;
            if let Some(chart) = chart {
                let inspection = check::inspect(&chart, text);
                flaws.extend(inspection.flaws);
                let chart = Arc::new(chart);
                loaded = Some(Arc::clone(&chart));
                let subject = Subject {
                    chart: &chart,
                    text,
                    uses: &inspection.uses,
                    words: &words,
                };
                let of_rules = in_order(RULES.iter().flat_map(|check| check(&subject)));
                // Exploring would only report the same flaws again.
                let found = flaws.iter().chain(&of_rules);
                let first = found.filter(|flaw| flaw.code.stage() != Stage::Advice);
                if let Some(caps) = caps
                    && ignore::ignores_all(text, first)
                {
                    let report = explore(&chart, caps);
                    flaws.extend(explored::flaws(&report, &chart, text));
                    explored = Some(report);
                }
                // The templates in a folder that does not exist are unknown, too.
                let is_folder = |flaw: &Flaw| flaw.code == Code::UnknownTemplate;
                if of_rules.iter().any(is_folder) {
                    flaws.retain(|flaw| flaw.code != Code::UnknownTemplate);
                }
                flaws.extend(of_rules);
            }
            flaws = definitions::blamed(without_consequences(flaws, text), text, &words);
        }
    }
    let is_explored = explored.as_ref().is_some_and(|report| report.complete);
    let mut flaws = extended.written(ignore::apply(text, flaws, is_explored));
    // A chart need not use all that it extends.
    flaws.retain(|flaw| flaw.code.stage() != Stage::Advice || !extended.is_of_base(flaw));
    flaws.sort_by_key(|flaw| {
        (
            flaw.file.is_some(),
            flaw.span.as_ref().map(|span| span.start),
            flaw.code,
        )
    });
    Checked {
        origin: origin.to_owned(),
        text: own.to_owned(),
        flaws,
        explored,
        chart: loaded,
    }
}

/// Returns the findings without those that only follow from others.
fn without_consequences(mut flaws: Vec<Flaw>, text: &str) -> Vec<Flaw> {
    for (cause, effects) in CONSEQUENCES {
        if flaws.iter().any(|flaw| flaw.code == *cause) {
            flaws.retain(|flaw| !effects.contains(&flaw.code));
        }
    }
    // A guard with a fault says nothing about what a text shows.
    if flaws.iter().any(|flaw| flaw.code.stage() != Stage::Advice) {
        flaws.retain(|flaw| flaw.code != Code::PrintsNone);
    }
    let misled = misled_tables(&flaws, text);
    flaws.retain(|flaw| {
        let span = flaw.span.as_ref().filter(|_| flaw.file.is_none());
        !span.is_some_and(|span| misled.iter().any(|table| table.contains(&span.start)))
    });
    // A word that another finding is about, or that was meant there, is no news.
    let (lookalikes, mut flaws): (Vec<Flaw>, Vec<Flaw>) = flaws
        .into_iter()
        .partition(|flaw| flaw.code == Code::Lookalike);
    let is_news = |flaw: &Flaw| {
        let word = flaw
            .span
            .clone()
            .and_then(|span| text.get(span))
            .unwrap_or_default();
        !flaws.iter().any(|other| {
            let is_there = other.file.is_none() && other.position(text).0 == flaw.position(text).0;
            let unknown = other.unknown.as_deref();
            is_there || unknown.is_some_and(|unknown| is_slip(word, unknown))
        })
    };
    let news: Vec<Flaw> = lookalikes.into_iter().filter(is_news).collect();
    flaws.extend(news);
    flaws
}

/// The places of tables such as `[on.Stop.assign]` below a rule whose event is misspelled: they are parts of that rule,
/// but TOML adds them to an earlier one.
fn misled_tables(flaws: &[Flaw], text: &str) -> Vec<Range<usize>> {
    let misspelled = flaws.iter().filter(|flaw| flaw.code == Code::UnknownEvent);
    let tables = misspelled.filter_map(|flaw| {
        let rule = flaw.span.as_ref()?.end;
        let mut headers = text[rule..]
            .match_indices("\n[")
            .map(|(at, _)| rule + at + 1);
        let start = headers.next()?;
        let is_part = |at: &usize| {
            let path = text[*at..].trim_start_matches('[').split(']').next();
            let path = path.unwrap_or_default();
            path.starts_with("on.") && path.matches('.').count() > 1
        };
        let mut others = std::iter::once(start)
            .chain(headers)
            .filter(|at| !is_part(at));
        Some(start..others.next().unwrap_or(text.len()))
    });
    tables.collect()
}

/// Codes, and those of what may follow from them.
const CONSEQUENCES: &[(Code, &[Code])] = &[
    (
        Code::UnknownEvent,
        &[Code::IdleRule, Code::ShadowedRule, Code::UnusedName],
    ),
    (
        Code::ExpressionSyntax,
        &[Code::UnusedName, Code::UnusedTemplate],
    ),
    (
        Code::UnknownTemplate,
        &[Code::UnusedName, Code::UnusedTemplate],
    ),
];
