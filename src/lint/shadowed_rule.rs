//! `shadowed-rule`: a rule after one that always answers, that answers under the same guard, or that is the same
//! rule.

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
        let path = [Step::from("on"), Step::from(event), Step::from(index)];
        if let Some(twin) = rules[..index].iter().position(|earlier| earlier == rule).filter(|_| shadow.is_none()) {
            let message = format!("rule {} of {event} is rule {} again", index + 1, twin + 1);
            flaws.push(subject.flaw(Code::ShadowedRule, &path, message, "take one of the two out"));
        }
        if let Some(shadow) = shadow {
            let message = format!("rule {} of {event} is never tried: rule {} answers before it", index + 1, shadow + 1);
            flaws.push(subject.flaw(Code::ShadowedRule, &path, message, "rules are tried in order: put this one first, or give the other a narrower guard"));
        }
    }
    flaws
}

fn answers(rule: &Rule) -> bool {
    rule.invoke.is_none() && (rule.allow || rule.block.is_some() || rule.action.is_some())
}
