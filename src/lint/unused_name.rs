//! `unused-name`: a field, setting, let, file set, table, check, option or invocation that nothing names.

use super::subject::Subject;
use crate::chart::model::Assign;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::suggest;
use crate::diagnostic::toml::Step;
use crate::files::pattern::Pattern;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let chart = subject.chart;
    // A misspelt one is meant all the same.
    let known = || chart.invoke.keys().map(String::as_str);
    let meant = |name: &'_ str| {
        if chart.invoke.contains_key(name) {
            Some(name.to_owned())
        } else {
            suggest(name, known()).map(str::to_owned)
        }
    };
    let invoked: Vec<String> = subject
        .rules()
        .filter_map(|(_, _, rule)| meant(rule.invoke.as_deref()?))
        .collect();
    let mut flaws = Vec::new();
    let mut add = |table: &str, name: &String, is_used: bool, what: &str| {
        if !is_used {
            let path = [Step::from(table), Step::from(name)];
            flaws.push(subject.flaw(
                Code::UnusedName,
                &path,
                format!("{what} `{name}` is used nowhere"),
                "take it out",
            ));
        }
    };
    let touched = touched(subject);
    for name in chart.context.keys() {
        add(
            "context",
            name,
            subject.uses.contains(name) || touched.contains(&name.as_str()),
            "field",
        );
    }
    for name in chart.config.keys() {
        add(
            "config",
            name,
            subject.uses.contains(&format!("config.{name}"))
                || (chart.context.values()).any(|field| field.setting.as_ref() == Some(name)),
            "setting",
        );
    }
    for name in chart.lets.keys() {
        add("let", name, subject.uses.contains(name), "let");
    }
    for name in chart.files.keys() {
        add(
            "files",
            name,
            subject.uses.contains(&format!("files.{name}")),
            "file set",
        );
    }
    for name in chart.tables.keys() {
        add(
            "tables",
            name,
            subject.uses.contains(&format!("tables.{name}")),
            "table",
        );
    }
    for name in chart.checks.keys() {
        add(
            "checks",
            name,
            subject.uses.contains(&format!("checks.{name}")),
            "check",
        );
    }
    for name in chart.args.keys() {
        add(
            "args",
            name,
            subject.uses.contains(&format!("args.{name}")),
            "option",
        );
    }
    for name in chart.invoke.keys() {
        add("invoke", name, invoked.contains(name), "invocation");
    }
    flaws
}

/// The fields that the chart names outside of expressions, be it only to write them: others may read them.
fn touched<'c>(subject: &'c Subject<'_>) -> Vec<&'c str> {
    let chart = subject.chart;
    let mut fields: Vec<&str> = vec![&chart.state];
    fields.extend(chart.next.as_deref());
    let mut patterns: Vec<&Pattern> = chart.tables.values().map(|table| &table.file).collect();
    let mut assigned: Vec<&Assign> = Vec::new();
    for cycle in chart.cycles.values() {
        fields.extend([cycle.count.as_str(), cycle.limit.as_str()]);
        patterns.extend([&cycle.base, &cycle.review, &cycle.answer]);
        assigned.push(&cycle.entry);
    }
    assigned.extend(chart.phases.values().map(|entry| &entry.phase.entry));
    assigned.extend(chart.commands.values().map(|command| &command.rule.assign));
    assigned.extend(chart.on.values().flatten().map(|rule| &rule.assign));
    fields.extend(
        patterns
            .into_iter()
            .flat_map(Pattern::holes)
            .map(|(hole, _)| hole),
    );
    fields.extend(
        assigned
            .into_iter()
            .flat_map(|assign| assign.keys())
            .map(String::as_str),
    );
    fields
}
