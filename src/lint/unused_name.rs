//! `unused-name`: a let, file set, table, check, option or invocation that nothing names.

use super::{Code, Subject};
use crate::chart::error::{Flaw, Step};

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let chart = subject.chart;
    let invoked: Vec<&String> = subject.rules().filter_map(|(_, _, rule)| rule.invoke.as_ref()).collect();
    let mut flaws = Vec::new();
    let mut add = |table: &str, name: &String, is_used: bool, what: &str| {
        if !is_used {
            let path = [Step::from(table), Step::from(name)];
            flaws.push(subject.flaw(Code::UnusedName, &path, format!("{what} `{name}` is used nowhere"), "take it out"));
        }
    };
    for name in chart.lets.keys() {
        add("let", name, subject.uses.contains(name), "let");
    }
    for name in chart.files.keys() {
        add("files", name, subject.uses.contains(&format!("files.{name}")), "file set");
    }
    for name in chart.tables.keys() {
        add("tables", name, subject.uses.contains(&format!("tables.{name}")), "table");
    }
    for name in chart.checks.keys() {
        add("checks", name, subject.uses.contains(&format!("checks.{name}")), "check");
    }
    for name in chart.args.keys() {
        add("args", name, subject.uses.contains(&format!("args.{name}")), "option");
    }
    for name in chart.invoke.keys() {
        add("invoke", name, invoked.contains(&name), "invocation");
    }
    flaws
}
