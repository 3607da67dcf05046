//! `shadowed-rule`: a rule after one that always answers, after one that answers under the same guard, or after an
//! identical rule.

use super::subject::Subject;
use crate::chart::model::Rule;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::at;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (event, rules) in &subject.chart.on {
        let mut report = |index: usize, message: String, help: &str| {
            let path = at!["on", event, index];
            flaws.push(subject.flaw(Code::ShadowedRule, path, message, help));
        };
        let end = rules
            .iter()
            .position(|rule| answers(rule) && rule.guard.is_none())
            .map_or(rules.len(), |index| index + 1);
        for (index, rule) in rules.iter().enumerate().take(end) {
            // Behind a rule that changes something, the same guard can be true.
            let start = rules[..index].iter().rposition(changes).unwrap_or(0);
            let first = |is_it: &dyn Fn(&Rule) -> bool| {
                let found = rules[start..index].iter().position(is_it);
                found.map(|at| start + at)
            };
            if let Some(shadow) = first(&|earlier| answers(earlier) && earlier.guard == rule.guard)
            {
                let message = format!(
                    "rule {} of {event} is never tried: rule {} answers before it",
                    index + 1,
                    shadow + 1
                );
                report(
                    index,
                    message,
                    "rules are tried in order: put this one first, or give the other a narrower guard",
                );
            } else if let Some(twin) = first(&|earlier| earlier == rule) {
                report(
                    index,
                    format!("rule {} of {event} repeats rule {}", index + 1, twin + 1),
                    "remove one of the two",
                );
            }
        }
        if end < rules.len() {
            let what = match rules.len() - end {
                1 => format!("rule {} of {event} is", end + 1),
                _ => format!("rules {} to {} of {event} are", end + 1, rules.len()),
            };
            let message = format!("{what} never tried: rule {end} has no guard and always answers");
            report(
                end,
                message,
                "rules are tried in order: put this one first, or give the other a guard",
            );
        }
    }
    flaws
}

fn answers(rule: &Rule) -> bool {
    rule.invoke.is_none() && !rule.answers().is_empty()
}

/// Whether the rules that follow can see something else than it did. What answers is followed by none.
fn changes(rule: &Rule) -> bool {
    let assigns = !rule.assign.is_empty() || rule.target.is_some() || rule.advance;
    !answers(rule) && (assigns || rule.invoke.is_some())
}
