//! Nothing is there without effect: every phase is reached, every rule fires, every target is taken.

use std::collections::HashSet;
use std::sync::Arc;

use super::judgment::{absent, key_of_phase};
use crate::check::conditions::report::Finding;
use crate::check::conditions::search::Search;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;
use crate::expr::formula::conjuncts;

/// Returns what has no effect anywhere.
pub(super) fn absent_of(search: &mut Search) -> Vec<Finding> {
    let chart = Arc::clone(&search.chart);
    let places = &search.decider.places;
    let fired = search.ways.iter().flat_map(|(done, _)| &done.fired);
    let fired: HashSet<String> = fired.map(|place| places[*place].clone()).collect();
    let reached: HashSet<String> =
        (0..search.states.len()).map(|state| search.phase(state).to_owned()).collect();
    let mut findings = Vec::new();
    for (name, entry) in &chart.phases {
        let path = at!["phases", key_of_phase(&chart, name)];
        if !reached.contains(name) {
            let message = format!("the phase `{name}` cannot be reached");
            findings.push(absent(Code::PhaseUnreachable, message, path));
        } else if entry.phase.guard.is_some() && !fired.contains(&format!("phases.{name}")) {
            let message = format!("the guard of the phase `{name}` is never true");
            findings.push(absent(Code::PhaseNeverEntered, message, path));
        }
    }
    for (list, rules) in &chart.on {
        for (index, rule) in rules.iter().enumerate() {
            let place = format!("on.{list}[{index}]");
            if fired.contains(&place) {
                continue;
            }
            let guard = rule.guard.as_ref().map_or("", |guard| &guard.0);
            let blame = conjuncts(guard).into_iter().chain([guard]).find(|part| {
                let term = search.decider.program.expr(part, None);
                !part.is_empty() && !search.can_be(|path| path.truth(term, true))
            });
            // What waits for a phase that is never reached is a finding about the phase.
            let mut absent_phases = chart.phases.keys().filter(|name| !reached.contains(*name));
            let why = match blame {
                Some(part) if absent_phases.any(|name| part.contains(&format!("'{name}'"))) => {
                    continue;
                }
                Some(part) if part != guard => {
                    format!("`{part}` is never true")
                }
                Some(_) => "its guard is never true".to_owned(),
                None => {
                    "where its guard is true, an earlier rule answers, or changes that".to_owned()
                }
            };
            let message = format!("{place} never fires: {why}");
            findings.push(absent(Code::RuleNeverFires, message, at!["on", list, index]));
        }
    }
    for name in chart.commands.keys() {
        if !fired.contains(&format!("commands.{name}")) {
            let message = format!("the command `{name}` never applies");
            findings.push(absent(Code::CommandNeverApplies, message, at!["commands", name]));
        }
    }
    let taken: HashSet<(usize, usize)> =
        search.ways.iter().filter_map(|(done, _)| done.advance).collect();
    for (at, (id, cycle)) in chart.cycles.iter().enumerate() {
        for (index, advance) in cycle.advance.iter().enumerate() {
            let path = at!["cycles", id, "advance", index];
            if !taken.contains(&(at, index)) {
                let message = format!("`{id}` never leads to `{}` that way", advance.target);
                findings.push(absent(Code::TargetNeverTaken, message, path));
            }
        }
    }
    findings
}
