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
pub(super) struct Blame {
    /// In words.
    pub(super) why: String,
    /// The part of its guard that is true in no state.
    part: Option<String>,
}

impl Blame {
    /// Returns a reason that is no part of the guard.
    fn other(why: impl Into<String>) -> Self {
        let (why, part) = (why.into(), None);
        Self { why, part }
    }

    /// Returns whether only a phase is to blame, which is never reached: `phase == 'two'`.
    pub(super) fn is_of_phase(&self, chart: &Chart, phase: &str) -> bool {
        match self.part.as_deref().map(parse_expr) {
            Some(Ok(Expr::BinOp(op))) if matches!(op.op, BinOpKind::Eq) => {
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
                    true => blame(search, list, rule)
                        .unwrap_or_else(|| Blame::other("its guard is never true")),
                    false if index == 0 => Blame::other("its event never happens"),
                    false => Blame::other("an earlier rule always answers first"),
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
    if search.moves.tree.domain.looks_at_review(&guard) {
        return None;
    }
    let trigger = match list {
        "enter" | "run" => return None,
        event => Trigger::Hook(event.to_owned()),
    };
    let parts = conjuncts(&guard);
    for part in &parts {
        if !is_ever_true(search, part, &trigger)? {
            return Some(Blame {
                why: format!("its guard is never true, because `{part}` never is"),
                part: Some((*part).to_owned()),
            });
        }
    }
    for count in 2..=parts.len() {
        let together = parts[..count].join(" and ");
        if !is_ever_true(search, &together, &trigger)? {
            let (before, part) = (parts[..count - 1].join(" and "), parts[count - 1]);
            return Some(Blame::other(format!(
                "its guard is never true: where `{before}` is true, `{part}` is not"
            )));
        }
    }
    // Each part is true somewhere, and so are all of them.
    Some(Blame::other("where its guard is true, an earlier rule answers, or changes that"))
}

/// Returns whether a condition is true in some state; `None` if it has no value somewhere.
fn is_ever_true(search: &mut Search, condition: &str, trigger: &Trigger) -> Option<bool> {
    let tree = &mut search.moves.tree;
    let what = tree.condition(condition, trigger);
    let mut is_true = Some(false);
    everywhere(search, what, trigger, |_, _, outcomes| {
        let found = outcomes.into_iter().find(|it| it.result != Ok(false));
        is_true = found.map_or(is_true, |it| it.result.ok());
        (is_true == Some(false)).then_some(())
    });
    is_true
}
