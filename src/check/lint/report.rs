//! Writes findings: for people, for grep, for programs.
//!
//! The JSON keeps its promise (`docs/check-chart.md`): as long as `version` stays the same, fields may be added but
//! are never renamed or removed.

use std::io::IsTerminal as _;

use miette::{GraphicalReportHandler, GraphicalTheme};
use serde_json::{Value as Json, json};

use super::Checked;
use crate::check::conditions::report::Report;
use crate::diagnostic::code_host::pretty;
use crate::diagnostic::flaw::{ChartError, Flaw};
use crate::files::json::versioned;
use crate::page::{self, counted};
use crate::text::shown;

/// A format for findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Human,
    Concise,
    Json,
}

/// A finding, with the name of its file, and where it starts and ends there.
struct FlawInReport<'c> {
    flaw: &'c Flaw,
    file: &'c str,
    start: (usize, usize),
    end: (usize, usize),
}

impl<'c> FlawInReport<'c> {
    /// Returns the findings about a chart.
    fn all(chart: &'c Checked) -> impl Iterator<Item = Self> {
        chart.flaws.iter().map(|flaw| {
            let (file, text) = flaw.source(&chart.origin, &chart.text);
            let [start, end] = flaw.region(text);
            Self { flaw, file, start, end }
        })
    }
}

impl Format {
    /// Returns all findings in this format.
    pub fn render(self, charts: &[Checked]) -> String {
        match self {
            Self::Human => human(charts),
            Self::Concise => concise(charts),
            Self::Json => pretty(&as_json(charts)),
        }
    }
}

/// Returns a line for each finding, then one for each chart of which not everything was looked at.
fn concise(charts: &[Checked]) -> String {
    let mut text = String::new();
    for chart in charts {
        for FlawInReport { flaw, file, start: (line, column), .. } in FlawInReport::all(chart) {
            let message = shown(&flaw.message);
            text.push_str(&format!("{file}:{line}:{column}: {}: {message}\n", flaw.code));
        }
        if let Some(cut) = cut(chart) {
            text.push_str(&format!("{}: {cut}\n", chart.origin));
        }
    }
    text
}

/// Returns what of a chart was not looked at.
fn cut(chart: &Checked) -> Option<&str> {
    chart.explored.as_ref()?.cut.as_deref()
}

fn human(charts: &[Checked]) -> String {
    let is_coloured = std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let theme =
        if is_coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let width = page::columns().map_or(100, |columns| columns.max(40));
    let handler = GraphicalReportHandler::new_themed(theme).with_width(width);
    let mut text = String::new();
    for chart in charts {
        let error = ChartError::new(&chart.origin, &chart.text, chart.flaws.clone());
        for (report, flaw) in error.reports().zip(&error.flaws) {
            // Writing to a string cannot fail.
            let _ = handler.render_report(&mut text, report.as_ref());
            if let Some(note) = &flaw.note {
                text.push_str("  counterexample, if these conditions can meet:\n");
                note.lines().for_each(|line| text.push_str(&item(line, width)));
            }
            text.push('\n');
        }
        let count = match chart.flaws.len() {
            0 => "no finding".to_owned(),
            some => counted(some, "finding"),
        };
        text.push_str(&format!("{}: {count}\n{}", chart.origin, explored(chart)));
        if let Some(flaw) = chart.flaws.first() {
            text.push_str(&format!(
                "  `taskie check-chart --explain {}` explains this code.\n",
                flaw.code
            ));
        }
    }
    text
}

/// Returns how much was explored.
fn explored(chart: &Checked) -> String {
    let Some(report) = &chart.explored else {
        return "  Its states were not explored: fix the findings above first.\n".to_owned();
    };
    let Report { states, transitions, .. } = report;
    let extent = report.cut.as_deref().unwrap_or("all that its conditions allow");
    format!("  {states} states and {transitions} transitions explored, {extent}\n")
}

/// Returns a line of a counterexample, indented.
fn item(text: &str, width: usize) -> String {
    let options = textwrap::Options::new(width)
        .initial_indent("    ")
        .subsequent_indent("         ")
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options) + "\n"
}

fn as_json(charts: &[Checked]) -> Json {
    let findings: Vec<Json> = charts
        .iter()
        .flat_map(FlawInReport::all)
        .map(|FlawInReport { flaw, file, start, end }| {
            json!({
                "code": flaw.code.as_str(), "message": flaw.message, "help": flaw.help, "note": flaw.note, "file": file,
                "line": start.0, "column": start.1, "end_line": end.0, "end_column": end.1,
            })
        })
        .collect();
    let charts: Vec<Json> = charts
        .iter()
        .map(|chart| json!({ "file": chart.origin, "findings": chart.flaws.len(), "explored": chart.explored.as_ref().map(as_explored) }))
        .collect();
    versioned(json!({ "charts": charts, "findings": findings }))
}

fn as_explored(report: &Report) -> Json {
    json!({
        "states": report.states,
        "transitions": report.transitions,
        "complete": report.cut.is_none(),
        "cut": report.cut,
    })
}
