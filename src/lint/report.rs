//! Writes findings: for people, for grep, for programs, for code hosts.
//!
//! The JSON keeps its promise (`docs/check-chart.md`): as long as `version` stays the same, fields may be added but
//! are never renamed or removed.

use std::io::IsTerminal as _;

use indexmap::IndexSet;
use miette::{GraphicalReportHandler, GraphicalTheme};
use serde_json::{Value as Json, json};

use super::Checked;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{ChartError, Flaw};
use crate::explore::report::{Report, Verdict};
use crate::files::json::versioned;
use crate::page::{self, counted};
use crate::text::shown;

/// A format for findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Human,
    Concise,
    Json,
    Sarif,
    Github,
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
    /// The formats with their names, which are the values of `--format`.
    pub const ALL: [(&'static str, Self); 5] = [
        ("human", Self::Human),
        ("concise", Self::Concise),
        ("json", Self::Json),
        ("sarif", Self::Sarif),
        ("github", Self::Github),
    ];

    /// Returns the format of that name.
    pub fn named(name: &str) -> Option<Self> {
        let format = Self::ALL.iter().find(|(own, _)| *own == name);
        format.map(|(_, format)| *format)
    }

    /// Returns all findings in this format; for people with every property and the values that were tried, or without.
    pub fn render(self, charts: &[Checked], with_domain: bool) -> String {
        match self {
            Self::Human => human(charts, with_domain),
            Self::Concise => lines(
                charts,
                |FlawInReport { flaw, file, start, .. }| {
                    let ((line, column), message) = (start, shown(&flaw.message));
                    format!("{file}:{line}:{column}: {}: {message}", flaw.code)
                },
                |file, code, why| format!("{file}: {code}: not decided: {why}"),
            ),
            Self::Github => lines(
                charts,
                |FlawInReport { flaw, file, start, end }| {
                    let help = flaw.help.iter();
                    let help: String = help.map(|help| format!("%0A{}", escaped(help))).collect();
                    format!(
                        "::error file={},line={},col={},endLine={},endColumn={},title={}::{}{help}",
                        property(file),
                        start.0,
                        start.1,
                        end.0,
                        end.1,
                        flaw.code,
                        escaped(&flaw.message)
                    )
                },
                |file, code, why| {
                    let (file, why) = (property(file), escaped(why));
                    format!("::notice file={file},title={code}::not decided: {why}")
                },
            ),
            Self::Json => pretty(&as_json(charts)),
            Self::Sarif => pretty(&as_sarif(charts)),
        }
    }
}

pub(crate) fn pretty(json: &Json) -> String {
    // Every JSON value can be written.
    serde_json::to_string_pretty(json).unwrap_or_default()
}

/// Returns the properties that are not decided, each once: their codes, names and reasons.
fn undecided(chart: &Checked) -> IndexSet<(Code, String)> {
    let results = chart.explored.iter().flat_map(|report| &report.results);
    let open = results.filter_map(|result| match &result.verdict {
        Verdict::Undecided(why) => Some((result.code, format!("{}: {why}", result.name))),
        Verdict::Proved(_) | Verdict::Refuted { .. } => None,
    });
    open.collect()
}

/// Returns a line for each finding, then one for each property of a chart that is not decided.
fn lines(
    charts: &[Checked],
    line: impl Fn(FlawInReport<'_>) -> String,
    open: impl Fn(&str, Code, &str) -> String,
) -> String {
    let mut text = String::new();
    for chart in charts {
        for finding in FlawInReport::all(chart) {
            text.push_str(&line(finding));
            text.push('\n');
        }
        for (code, why) in undecided(chart) {
            text.push_str(&open(&chart.origin, code, &why));
            text.push('\n');
        }
    }
    text
}

fn human(charts: &[Checked], with_domain: bool) -> String {
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
                text.push_str("  counterexample:\n");
                note.lines().for_each(|line| text.push_str(&item(line, 9, width)));
            }
            text.push('\n');
        }
        let open = chart.explored.as_ref().map_or(0, Report::undecided);
        let count = match (chart.flaws.len(), open) {
            (0, 0) => "no finding".to_owned(),
            (0, open) => format!("no finding, {open} not decided"),
            (some, _) => counted(some, "finding"),
        };
        text.push_str(&format!("{}: {count}\n", chart.origin));
        text.push_str(&explored(chart, width, with_domain));
        if let Some(flaw) = chart.flaws.first() {
            text.push_str(&format!(
                "  `taskie check-chart --explain {}` explains this code.\n",
                flaw.code
            ));
        }
    }
    text
}

/// Returns the result of exploring: how many properties are proved and what is not decided, or every property and what
/// was tried.
fn explored(chart: &Checked, width: usize, with_domain: bool) -> String {
    let Some(report) = &chart.explored else {
        return "  Its states were not explored: fix the findings above first.\n".to_owned();
    };
    let states = in_groups(report.states);
    let count = |is_wanted: fn(&Verdict) -> bool| {
        let results = report.results.iter();
        results.filter(|result| is_wanted(&result.verdict)).count()
    };
    let refuted = count(|verdict| matches!(verdict, Verdict::Refuted { .. }));
    let proved = count(|verdict| matches!(verdict, Verdict::Proved(_)));
    let mut text = if refuted > 0 {
        let open = match report.undecided() {
            0 => ".".to_owned(),
            open => format!(", {open} not decided:"),
        };
        format!("  {states} states explored: {proved} properties proved, {refuted} refuted{open}\n")
    } else {
        let extent = report.cut.as_deref().unwrap_or("all of them");
        let transitions = in_groups(report.transitions);
        let explored = format!("{states} states and {transitions} transitions explored, {extent}");
        match with_domain {
            true => format!("\n  {explored}:\n"),
            false => format!("  {explored}\n  {}\n", counted(proved, "claim") + " proved"),
        }
    };
    let mut reasons: Vec<&str> = Vec::new();
    let mut totals: Vec<String> = Vec::new();
    for result in &report.results {
        let (verdict, detail) = in_words(&result.verdict);
        let name = match &result.verdict {
            // One reason can stand in the way of several properties.
            Verdict::Undecided(why) if !reasons.contains(&why.as_str()) => {
                reasons.push(why);
                names_open_because(why, report)
            }
            Verdict::Proved(_) if refuted == 0 && with_domain => result.name.clone(),
            // What reviews cost at most is what people ask first.
            Verdict::Proved(_) if refuted == 0 && result.code == Code::CycleUnbounded => {
                totals.push(format!("{}: {detail}", result.name));
                continue;
            }
            _ => continue,
        };
        text.push_str(&item(&format!("{verdict:12} {name}: {detail}"), 17, width));
    }
    if refuted > 0 {
        return text;
    }
    if !with_domain {
        // The last of them is about all cycles together.
        if let Some(total) = totals.last() {
            text.push_str(&item(total, 4, width));
        }
        text.push_str(
            "  `taskie check-chart --domain` lists each claim, and the values that were tried.\n",
        );
        return text;
    }
    text.push_str("\n  over this domain:\n");
    for line in &report.domain {
        text.push_str(&item(line, 6, width));
    }
    text
}

/// Returns the names of the properties that this reason leaves open.
fn names_open_because(reason: &str, report: &Report) -> String {
    let mut names: Vec<&str> = Vec::new();
    for result in &report.results {
        if matches!(&result.verdict, Verdict::Undecided(why) if why == reason) {
            names.push(&result.name);
        }
    }
    names.dedup();
    names.join("; ")
}

/// Returns a verdict's name, and its details.
fn in_words(verdict: &Verdict) -> (&'static str, &str) {
    match verdict {
        Verdict::Proved(detail) => ("proved", detail),
        Verdict::Undecided(why) => ("not decided", why),
        Verdict::Refuted { trace, .. } => ("refuted", &trace.claim),
    }
}

/// Returns an item of a list, indented; the lines after the first start at column `hang`.
fn item(text: &str, hang: usize, width: usize) -> String {
    let indent = " ".repeat(hang);
    let options = textwrap::Options::new(width)
        .initial_indent("    ")
        .subsequent_indent(&indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options) + "\n"
}

/// Returns a number with separators: `12,345`.
fn in_groups(number: usize) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
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
    let properties: Vec<Json> = report
        .results
        .iter()
        .map(|result| {
            let (verdict, detail) = in_words(&result.verdict);
            json!({ "name": result.name, "code": result.code.as_str(), "verdict": verdict, "detail": detail })
        })
        .collect();
    json!({
        "states": report.states,
        "transitions": report.transitions,
        "complete": report.cut.is_none(),
        "domain": report.domain,
        "properties": properties,
    })
}

fn as_sarif(charts: &[Checked]) -> Json {
    let rules: Vec<Json> = Code::ALL
        .iter()
        .map(|code| {
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": code.summary() },
                "fullDescription": { "text": code.page() },
            })
        })
        .collect();
    let open = charts.iter().flat_map(|chart| {
        undecided(chart).into_iter().map(move |(code, why)| {
            json!({
                "ruleId": code.as_str(),
                "kind": "open",
                "level": "none",
                "message": { "text": format!("not decided: {why}") },
                "locations": [{
                    "physicalLocation": { "artifactLocation": { "uri": uri(&chart.origin) } },
                }],
            })
        })
    });
    let results: Vec<Json> = charts
        .iter()
        .flat_map(FlawInReport::all)
        .map(|FlawInReport { flaw, file, start, end }| {
            let more = [flaw.help.as_deref(), flaw.note.as_deref()];
            let message = std::iter::once(flaw.message.as_str()).chain(more.into_iter().flatten());
            json!({
                "ruleId": flaw.code.as_str(),
                "level": "error",
                "message": { "text": message.collect::<Vec<_>>().join("\n") },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": uri(file) },
                        "region": {
                            "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1,
                        },
                    },
                }],
            })
        })
        .chain(open)
        .collect();
    sarif(&json!(rules), &json!(results))
}

/// Returns a SARIF log with these results.
pub(crate) fn sarif(rules: &Json, results: &Json) -> Json {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "taskie", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Returns a path as a relative URI reference: characters that a URI cannot contain are percent-encoded.
pub(crate) fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// Escapes a message of a workflow command.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
pub(crate) fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
