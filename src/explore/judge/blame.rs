//! Which part of a guard is to blame that it is never true.

use std::collections::HashMap;

use super::checks::everywhere;
use crate::chart::Chart;
use crate::chart::model::Rule;
use crate::engine::event::Trigger;
use crate::explore::search::Search;
use crate::expr::formula::conjuncts;
use crate::expr::syntax::parse_expr;
use minijinja::machinery::ast::{BinOpKind, Expr};

/// Why a rule never fires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blame {
    /// This part of its guard is true in no state.
    Part(String),
    /// This part of it is not true where the parts before it are.
    Together { part: String, before: String },
    /// Each part is true somewhere, and so are all of them: an earlier rule answers there, or assigns what they look at.
    Earlier,
    /// Its guard is never true; which part is to blame is not known.
    Guard,
    /// It is never tried: an earlier rule answers.
    Untried,
    /// It is the first one, and never tried.
    Event,
}

impl Blame {
    /// Returns the reason in words.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Part(part) => format!("its guard is never true, because `{part}` never is"),
            Self::Together { part, before } => {
                format!("its guard is never true: where `{before}` is true, `{part}` is not")
            }
            Self::Earlier => {
                "where its guard is true, an earlier rule answers, or changes that".to_owned()
            }
            Self::Guard => "its guard is never true".to_owned(),
            Self::Untried => "an earlier rule always answers first".to_owned(),
            Self::Event => "its event never happens".to_owned(),
        }
    }

    /// Returns whether only a phase is to blame, which is never reached: `phase == 'two'`.
    pub(super) fn is_of_phase(&self, chart: &Chart, phase: &str) -> bool {
        let Self::Part(part) = self else {
            return false;
        };
        match parse_expr(part) {
            Ok(Expr::BinOp(op)) if matches!(op.op, BinOpKind::Eq) => {
                let is_state = matches!(&op.left, Expr::Var(var) if var.id == chart.state);
                is_state && op.right.as_const() == Some(phase.into())
            }
            _ => false,
        }
    }
}

/// Returns what is to blame for each rule that never fires, by its place.
pub(super) fn blames(search: &mut Search) -> HashMap<String, Blame> {
    let chart = search.moves.tree.chart.clone();
    let mut found = HashMap::new();
    for (at, (list, rules)) in chart.on.iter().enumerate() {
        for (index, rule) in rules.iter().enumerate() {
            let place = format!("on.{list}[{index}]");
            if search.steps_to(&place).is_empty() {
                let blame = match search.moves.tree.has_tried(at, index) {
                    true => blame(search, list, rule).unwrap_or(Blame::Guard),
                    false if index == 0 => Blame::Event,
                    false => Blame::Untried,
                };
                found.insert(place, blame);
            }
        }
    }
    found
}

/// Returns what of its guard is to blame that a rule never fires.
fn blame(search: &mut Search, list: &str, rule: &Rule) -> Option<Blame> {
    let guard = rule.guard.as_ref()?.0.clone();
    // What a run has left behind is not there where a condition is evaluated by itself.
    if search.moves.tree.ground.looks_at_review(&guard) {
        return None;
    }
    let trigger = match list {
        "enter" | "run" => return None,
        event => Trigger::Hook(event.to_owned()),
    };
    let parts = conjuncts(&guard);
    for part in &parts {
        if !is_ever_true(search, part, &trigger)? {
            return Some(Blame::Part(part.trim().to_owned()));
        }
    }
    for count in 2..=parts.len() {
        let together = parts[..count].join(" and ");
        if !is_ever_true(search, &together, &trigger)? {
            let part = parts[count - 1].trim().to_owned();
            let before = parts[..count - 1].iter().map(|part| part.trim());
            let before = before.collect::<Vec<_>>().join(" and ");
            return Some(Blame::Together { part, before });
        }
    }
    Some(Blame::Earlier)
}

/// Returns whether a condition is true in some state; `None` if it has no value somewhere.
fn is_ever_true(search: &mut Search, condition: &str, trigger: &Trigger) -> Option<bool> {
    let what = search.moves.condition(condition, trigger);
    let mut is_true = Some(false);
    everywhere(search, what, trigger, |_, _, outcomes| {
        let found = outcomes.into_iter().find(|it| it.result != Ok(false));
        is_true = found.map_or(is_true, |it| it.result.ok());
        (is_true == Some(false)).then_some(())
    });
    is_true
}
