//! `unused-name`: a field, setting, let, file set, table, check, option or invocation that nothing uses.
//! `unused-template`: a file in the chart's own template folder that no text includes.

use super::subject::Subject;
use crate::chart::model::Assign;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::at;
use crate::engine::names::types::invoked;
use crate::files::pattern::Pattern;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let chart = subject.chart;
    let rules = chart.on.values().flatten().filter_map(|rule| rule.invoke.as_deref());
    // Where any reviewer can be meant, each one is used.
    let started: Vec<_> = rules.map(|invoke| invoked(chart, invoke)).collect();
    let touched = touched(subject);
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
        for name in names {
            let is_used = match table {
                "context" => subject.uses.contains(name) || touched.contains(&name.as_str()),
                "let" => subject.uses.contains(name),
                "reviewers" => started
                    .iter()
                    .any(|names| names.as_ref().is_none_or(|names| names.contains(name))),
                _ => subject.uses.contains(&format!("{table}.{name}")),
            };
            if !is_used {
                let message = format!("{what} `{name}` is unused");
                flaws.push(subject.flaw(Code::UnusedName, at![table, name], message, "remove it"));
            }
        }
    }
    // Only the first folder is the chart's own; the others may contain files for other readers.
    for name in chart.templates.own_names() {
        if !subject.uses.contains(&format!("template:{name}")) {
            let message = format!("template `{name}` is unused");
            let help = "include it, or remove the file";
            flaws.push(subject.flaw(Code::UnusedTemplate, at!["templates"], message, help));
        }
    }
    flaws
}

/// Returns the fields that the chart names outside expressions, even if only to assign them: something else may read
/// them.
fn touched<'c>(subject: &'c Subject<'_>) -> Vec<&'c str> {
    let chart = subject.chart;
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
