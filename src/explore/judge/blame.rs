//! Which part of a guard is to blame that it is never true.

use std::collections::HashMap;

use crate::chart::Chart;
use crate::chart::model::Rule;
use crate::engine::event::Trigger;
use crate::explore::search::Search;
use crate::explore::state::Memo;
use crate::expr::formula::conjuncts;

/// Why a guard is never true where it is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blame {
    /// This part of it is true in no state.
    Part(String),
    /// This part of it is not true where the parts before it are.
    Together { part: String, before: String },
    /// Each part is true somewhere, and so are all of them: an earlier rule answers there, or assigns what they look at.
    Earlier,
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
        }
    }

    /// Returns whether only a phase is to blame, which is never reached: `phase == 'two'`.
    pub(super) fn is_of_phase(&self, chart: &Chart, phase: &str) -> bool {
        let Self::Part(part) = self else {
            return false;
        };
        let wanted = format!("{}=='{phase}'", chart.state);
        let part: String = part.chars().filter(|sign| !sign.is_whitespace()).collect();
        part.replace('"', "'") == wanted
    }
}

/// Returns what is to blame for each rule that was tried and never fired, by its place.
pub(super) fn blames(search: &mut Search) -> HashMap<String, Blame> {
    let chart = search.moves.tree.chart.clone();
    let mut found = HashMap::new();
    for (list, rules) in &chart.on {
        for (index, rule) in rules.iter().enumerate() {
            if never_fires(search, list, index)
                && let Some(blame) = blame(search, list, rule)
            {
                found.insert(format!("on.{list}[{index}]"), blame);
            }
        }
    }
    found
}

/// Returns whether a rule was tried and has fired nowhere.
fn never_fires(search: &Search, list: &str, index: usize) -> bool {
    let moves = &search.moves;
    let place = moves
        .tree
        .places
        .get_index_of(&format!("on.{list}[{index}]"));
    let has_fired = place.is_some_and(|place| {
        let mut fired = moves.coverage.fired.iter();
        fired.any(|fired| *fired as usize == place)
    });
    let list = moves.tree.lists.get_index_of(list);
    !has_fired && list.is_some_and(|list| moves.coverage.tried.contains(&(list, index)))
}

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
    let mut known: Memo<()> = Memo::default();
    for state in 0..search.states.len() {
        if known.get(search.states.get(state), &[]).is_some() {
            continue;
        }
        let situation = search.states.get(state).to_situation();
        let (results, looks) = search.moves.holds(what, trigger, situation.as_ref());
        for (result, _) in results {
            if result.ok()? {
                return Some(true);
            }
        }
        known.put(situation.as_ref(), &[], &looks, ());
    }
    Some(false)
}
