//! `shadowed-rule`: a rule after one that always answers, or that answers under the same guard.

use super::{Code, Subject};
use crate::chart::error::{Flaw, Step};
use crate::chart::model::Rule;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (event, index, rule) in subject.rules() {
        let Some(rules) = subject.chart.on.get(event) else { continue };
        let shadow = rules[..index]
            .iter()
            .position(|earlier| answers(earlier) && (earlier.guard.is_none() || earlier.guard == rule.guard));
        if let Some(shadow) = shadow {
            let path = [Step::from("on"), Step::from(event), Step::from(index)];
            let message = format!("rule {} of {event} is never tried: rule {} answers before it", index + 1, shadow + 1);
            flaws.push(subject.flaw(Code::ShadowedRule, &path, message, "rules are tried in order: put this one first, or give the other a narrower guard"));
        }
    }
    flaws
}

fn answers(rule: &Rule) -> bool {
    rule.invoke.is_none() && (rule.allow || rule.block.is_some() || rule.action.is_some())
}
