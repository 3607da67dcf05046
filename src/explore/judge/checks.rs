//! What the checks of a chart find, over all states.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::explore::decision_tree::{What, Witness};
use crate::explore::domain::Choice;
use crate::explore::imagined_world::Question;
use crate::explore::search::Search;
use crate::explore::state::Memo;

/// A state, and what was chosen there.
#[derive(Debug)]
pub(super) struct At {
    pub(super) state: usize,
    pub(super) choices: Witness,
}

/// The results of a check, over all states.
#[derive(Debug, Default)]
pub(super) struct CheckSeen {
    pub(super) list: String,
    pub(super) index: usize,
    /// States and choices with which it finds something.
    pub(super) found: Vec<At>,
    /// The same where it fails.
    pub(super) faults: Vec<(Fault, At)>,
    /// The inputs of which not every value that matters was tried.
    pub(super) open: BTreeSet<String>,
    /// The inputs on which it may fail.
    pub(super) fails: BTreeSet<String>,
}

/// Returns an event that brings nothing.
pub(super) fn by_hand() -> Trigger {
    Trigger::Command(String::new())
}

/// The number of examples of each that are kept.
const EXAMPLES: usize = 12;

/// Returns the results of the checks that decisions ask for.
pub(super) fn checks(search: &mut Search) -> Vec<CheckSeen> {
    let chart = Arc::clone(&search.moves.tree.chart);
    let mut all = Vec::new();
    for (list, (name, checks)) in chart.checks.iter().enumerate() {
        let asked = Question::Choice(Choice::Findings(name.clone()));
        if !search.moves.tree.questions.contains(&asked) {
            continue;
        }
        for (index, check) in checks.iter().enumerate() {
            let mut seen = CheckSeen {
                list: name.clone(),
                index,
                ..CheckSeen::default()
            };
            let domain = &search.moves.tree.ground.domain;
            let conditions = [&check.each, &check.guard].into_iter().flatten();
            for source in conditions
                .map(|expr| expr.0.as_str())
                .chain([check.say.0.as_str()])
            {
                if let Some(open) = domain.dependence.open.get(source) {
                    let untried = open.looks.intersection(&domain.untried).cloned();
                    seen.open.extend(open.inputs.iter().cloned().chain(untried));
                    seen.fails.extend(open.fails.iter().cloned());
                }
            }
            let mut known: Memo<()> = Memo::default();
            for state in 0..search.states.len() {
                if known.get(search.states.get(state), &[]).is_some() {
                    continue;
                }
                let situation = search.states.get(state).to_situation();
                let what = What::Check { list, index };
                let (results, looks) = search.moves.holds(what, &by_hand(), situation.as_ref());
                for (result, choices) in results {
                    let at = At { state, choices };
                    match result {
                        Ok(true) if seen.found.len() < EXAMPLES => seen.found.push(at),
                        Err(fault) if seen.faults.len() < EXAMPLES => seen.faults.push((fault, at)),
                        _ => {}
                    }
                }
                known.put(situation.as_ref(), &[], &looks, ());
            }
            all.push(seen);
        }
    }
    all
}
