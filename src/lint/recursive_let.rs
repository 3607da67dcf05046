//! `recursive-let`: a let that, by itself or through others, needs its own value.

use std::collections::{BTreeMap, BTreeSet};

use super::{Code, Subject};
use crate::chart::error::{Flaw, Step};
use crate::chart::names::{ChartNames, Uses};
use crate::expr::infer;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let chart = subject.chart;
    // Names are also read through the lets that use them, so that one look at each gives the whole way.
    let uses = |sources: &[&str]| {
        let uses = Uses::default();
        for source in sources {
            infer::expression(source, &ChartNames::new(chart, &uses));
        }
        uses.take()
    };
    let lets = chart.lets.iter().map(|(name, expr)| (name.clone(), uses(&[expr.0.as_str()])));
    let checks = chart.checks.iter().map(|(name, checks)| {
        let sources: Vec<&str> =
            checks.iter().flat_map(|check| [&check.each, &check.guard]).flatten().map(|expr| expr.0.as_str()).collect();
        (format!("checks.{name}"), uses(&sources))
    });
    let mut needs: BTreeMap<String, BTreeSet<String>> = lets.chain(checks).collect();
    let nodes: Vec<String> = needs.keys().cloned().collect();
    // What a check needs, those need that name it.
    for through in &nodes {
        let further = needs[through].clone();
        for node in &nodes {
            if let Some(names) = needs.get_mut(node).filter(|names| names.contains(through)) {
                names.extend(further.iter().cloned());
            }
        }
    }
    let recursive = chart.lets.keys().filter(|name| needs.get(*name).is_some_and(|needs| needs.contains(*name)));
    recursive
        .map(|name| {
            let path = [Step::from("let"), Step::from(name)];
            let help = "a let is replaced by its expression; one that needs itself never has a value";
            subject.flaw(Code::RecursiveLet, &path, format!("let `{name}` refers to itself"), help)
        })
        .collect()
}
