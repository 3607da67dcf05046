//! `unused-name`: a field, setting, let, file set, table, check, option or invocation that nothing uses.
//! `unused-template`: a file in the chart's own template folder that no text includes.

use std::collections::BTreeSet;

use crate::chart::Chart;
use crate::chart::model::Assign;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::toml::{Document, at};
use crate::engine::names::types::invoked;
use crate::files::pattern::Pattern;

/// Returns what is unused. `uses` are the names that expressions and texts use.
pub(super) fn check(chart: &Chart, document: &Document<'_>, uses: &BTreeSet<String>) -> Vec<Flaw> {
    let rules = chart.on.values().flatten().filter_map(|rule| rule.invoke.as_deref());
    // Where any reviewer can be meant, each one is used.
    let started: Vec<_> = rules.map(|invoke| invoked(chart, invoke)).collect();
    let touched = touched(chart);
    let tables: [(&str, &str, Vec<&String>); 8] = [
        ("context", "field", chart.context.keys().collect()),
        ("config", "setting", chart.config.keys().collect()),
        ("let", "let", chart.lets.keys().collect()),
        ("files", "file set", chart.files.keys().collect()),
        ("tables", "table", chart.tables.keys().collect()),
        ("checks", "check", chart.checks.keys().collect()),
        ("args", "option", chart.args.keys().collect()),
        ("reviewers", "reviewer", chart.reviewers.keys().collect()),
    ];
    let mut flaws = Vec::new();
    for (table, what, names) in tables {
        let is_used = |name: &String| match table {
            "context" => uses.contains(name) || touched.contains(&name.as_str()),
            "let" => uses.contains(name),
            "reviewers" => {
                started.iter().any(|names| names.as_ref().is_none_or(|names| names.contains(name)))
            }
            _ => uses.contains(&format!("{table}.{name}")),
        };
        let (used, unused): (Vec<&String>, Vec<&String>) =
            names.into_iter().partition(|name| is_used(name));
        for name in unused {
            let message = format!("{what} `{name}` is unused");
            // In an overlay, it may have been meant to change what is there.
            let meant = did_you_mean(name, used.iter().map(|name| name.as_str()));
            let help = meant.unwrap_or_else(|| "remove it".to_owned());
            let flaw = Flaw::new(Code::UnusedName, message).help(help);
            flaws.push(flaw.at(document.locate(at![table, name])));
        }
    }
    // Only the first folder is the chart's own; the others may contain files for other readers.
    for name in chart.templates.own_names() {
        if !uses.contains(&format!("template:{name}")) {
            let message = format!("template `{name}` is unused");
            let help = "include it, or remove the file".to_owned();
            let flaw = Flaw::new(Code::UnusedTemplate, message).help(help);
            flaws.push(flaw.at(document.locate(at!["templates"])));
        }
    }
    flaws
}

/// Returns the fields that the chart names outside expressions, even if only to assign them: something else may read
/// them.
fn touched(chart: &Chart) -> Vec<&str> {
    let mut fields: Vec<&str> = vec![&chart.state];
    fields.extend(chart.next.as_deref());
    let mut patterns: Vec<&Pattern> = chart.tables.values().map(|table| &*table.file).collect();
    for cycle in chart.cycles.values() {
        fields.extend([cycle.count.as_str(), cycle.limit.as_str()]);
        patterns.extend([&*cycle.base, &cycle.review, &cycle.answer]);
    }
    let holes = patterns.into_iter().flat_map(Pattern::holes);
    fields.extend(holes.map(|(hole, _)| hole));
    fields.extend(chart.assigns().flat_map(Assign::keys).map(String::as_str));
    fields
}
