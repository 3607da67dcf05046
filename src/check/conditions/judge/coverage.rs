//! Nothing is there without effect: every phase is reached, every rule fires, every target is taken, every check finds
//! something.

use std::collections::HashSet;
use std::sync::Arc;

use super::judgment::{absent, key_of_phase};
use crate::chart::{Chart, Cycle};
use crate::check::conditions::report::Finding;
use crate::check::conditions::search::{Actor, Search};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;
use crate::expr::Expressions;
use crate::expr::formula::conjuncts;
use crate::expr::source::Expr;

/// Returns what has no effect anywhere.
pub(super) fn absent_of(search: &mut Search) -> Vec<Finding> {
    let chart = Arc::clone(&search.chart);
    let fired: HashSet<u32> =
        search.ways.iter().flat_map(|(done, _)| done.fired.iter().copied()).collect();
    let places = &search.decider.places;
    let fired: HashSet<String> =
        fired.iter().filter_map(|place| places.get_index(*place as usize)).cloned().collect();
    let reached: HashSet<String> =
        (0..search.states.len()).map(|state| search.phase(state).to_owned()).collect();
    let mut findings = Vec::new();
    for (name, entry) in &chart.phases {
        let path = at!["phases", key_of_phase(&chart, name)].to_vec();
        if !reached.contains(name) {
            let message = format!("the phase `{name}` cannot be reached");
            findings.push(absent(Code::PhaseUnreachable, message, &path));
        } else if entry.phase.guard.is_some() && !fired.contains(&format!("phases.{name}")) {
            let message = format!(
                "the guard of the phase `{name}` is never true: it is reached, but never entered"
            );
            findings.push(absent(Code::PhaseNeverEntered, message, &path));
        }
    }
    for (list, rules) in &chart.on {
        for (index, rule) in rules.iter().enumerate() {
            let place = format!("on.{list}[{index}]");
            if fired.contains(&place) {
                continue;
            }
            let blame = rule.guard.as_ref().and_then(|guard| blame(search, guard));
            // What waits for a phase that is never reached is a finding about the phase.
            let is_of_phase = blame.as_ref().is_some_and(|part| waits_for(&chart, part, &reached));
            if !is_of_phase {
                let why = match blame {
                    Some(part) if rule.guard.as_ref().is_some_and(|guard| guard.0 != part) => {
                        format!("its guard is never true, because `{part}` never is")
                    }
                    Some(_) => "its guard is never true".to_owned(),
                    None if index == 0 => "its guard is never true at this event".to_owned(),
                    None => "where its guard is true, an earlier rule answers, or changes that"
                        .to_owned(),
                };
                let message = format!("{place} never fires: {why}");
                findings.push(absent(Code::RuleNeverFires, message, at!["on", list, index]));
            }
        }
    }
    for name in chart.commands.keys() {
        if !fired.contains(&format!("commands.{name}")) {
            let message = format!("the command `{name}` never applies");
            findings.push(absent(Code::CommandNeverApplies, message, at!["commands", name]));
        }
    }
    for (at, (id, cycle)) in chart.cycles.iter().enumerate() {
        targets(search, at, id, cycle, &mut findings);
    }
    for (name, checks) in &chart.checks {
        for index in 0..checks.len() {
            if !search.can_be(true, |path| path.check(name, index, true) == Some(true)) {
                let message = format!("checks.{name}[{index}] never finds anything");
                findings.push(absent(Code::CheckNeverFinds, message, at!["checks", name, index]));
            }
        }
    }
    findings
}

/// Looks for targets of a cycle that are never taken, or only by the user.
fn targets(search: &Search, at: usize, id: &str, cycle: &Cycle, findings: &mut Vec<Finding>) {
    let chart = &search.chart;
    let taken: HashSet<usize> = search
        .ways
        .iter()
        .filter_map(|(done, _)| done.advance)
        .filter(|(cycle, _)| *cycle == at)
        .map(|(_, target)| target)
        .collect();
    for (index, advance) in cycle.advance.iter().enumerate() {
        if !taken.contains(&index) {
            let message = format!(
                "cycles.{id}.advance[{index}] is never taken: `{id}` never leads to `{}` that way",
                advance.target
            );
            let path = at!["cycles", id, "advance", index];
            findings.push(absent(Code::TargetNeverTaken, message, path));
        }
    }
    let by_others = search.steps.iter().any(|step| {
        let advance = search.done(step).advance;
        search.actor(step) != Actor::User && advance.is_some_and(|(cycle, _)| cycle == at)
    });
    let has_rule = chart.on.values().flatten().any(|rule| rule.advance);
    if !taken.is_empty() && !by_others && !has_rule && !is_ended_by_the_user(chart, cycle) {
        let message = format!(
            "cycles.{id}.advance is never taken without the user: only commands end `{id}`"
        );
        let path = at!["cycles", id, "advance"];
        findings.push(absent(Code::TargetNeverTaken, message, path));
    }
}

/// Returns true for a cycle that ends when the user says so: its exit looks at what a command assigns.
fn is_ended_by_the_user(chart: &Chart, cycle: &Cycle) -> bool {
    let expressions = Expressions::new(chart.templates.clone());
    let names = chart.names_in(&expressions, [cycle.exit.0.as_str()]);
    let mut assigned = chart.commands.values().flat_map(|command| command.rule.assign.keys());
    assigned.any(|field| names.contains(field))
}

/// Returns the part of a guard, or the parts up to one, that can be true nowhere.
fn blame(search: &mut Search, guard: &Expr) -> Option<String> {
    let parts = conjuncts(&guard.0);
    let singles = parts.iter().map(|part| (*part).to_owned());
    let together = (2..=parts.len()).map(|count| parts[..count].join(" and "));
    singles.chain(together).find(|part| {
        let term = search.decider.program.expr(part, None);
        !search.can_be(true, |path| path.truth(term, true) == Some(true))
    })
}

/// Returns whether a condition is that a phase which is never reached is the current one.
fn waits_for(chart: &Chart, part: &str, reached: &HashSet<String>) -> bool {
    let phase = part.strip_prefix(chart.state.as_str()).map(str::trim_start);
    let phase = phase.and_then(|part| part.strip_prefix("==")).map(str::trim);
    let phase = phase.map(|phase| phase.trim_matches(['\'', '"']));
    phase.is_some_and(|phase| chart.phases.contains_key(phase) && !reached.contains(phase))
}
