//! What the checks of a chart find, or a condition comes out as, over all states.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::explore::decision_tree::{Progress, What, Witness};
use crate::explore::domain::reach::sources_of_check;
use crate::explore::moves::{Outcome, by_hand};
use crate::explore::search::{Search, Transition};
use crate::explore::state::{Looks, Memo};

/// The results of a check, over all states.
#[derive(Debug, Default)]
pub(super) struct CheckSeen {
    pub(super) list: String,
    pub(super) index: usize,
    /// States and choices with which it finds something.
    pub(super) found: Vec<Example>,
    /// The same where it fails.
    pub(super) faults: Vec<(Fault, Example)>,
    /// The inputs of which not every value that matters was tried.
    pub(super) open: BTreeSet<String>,
    /// The inputs on which it may fail.
    pub(super) fails: BTreeSet<String>,
}

/// The number of examples of each that are kept.
const EXAMPLES: usize = 12;

/// Returns the results of the checks of which decisions only choose how many things they find.
pub(super) fn checks(search: &mut Search) -> Vec<CheckSeen> {
    let chart = Arc::clone(&search.moves.tree.chart);
    let mut all = Vec::new();
    for (list, (name, checks)) in chart.checks.iter().enumerate() {
        // Others are evaluated where they are asked for.
        if search.moves.tree.domain.is_settled(checks) {
            continue;
        }
        for (index, check) in checks.iter().enumerate() {
            let mut seen = CheckSeen { list: name.clone(), index, ..CheckSeen::default() };
            let domain = &search.moves.tree.domain;
            for source in sources_of_check(check) {
                if let Some(open) = domain.open(source) {
                    seen.open.extend(domain.open_inputs(open).cloned());
                    seen.fails.extend(open.fails.iter().cloned());
                }
            }
            let what = What::Check { list, index };
            everywhere(search, what, &by_hand(), |_, state, outcomes| {
                for Outcome { result, choices } in outcomes {
                    let example = Example { state, by: None, choices };
                    match result {
                        Ok(true) if seen.found.len() < EXAMPLES => seen.found.push(example),
                        Err(error) if seen.faults.len() < EXAMPLES => {
                            let place = format!("checks.{name}[{index}]");
                            seen.faults.push((Fault::at(place)(error), example));
                        }
                        _ => {}
                    }
                }
                Some(())
            });
            all.push(seen);
        }
    }
    all
}

/// A state in which something comes out in some way.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) state: usize,
    /// The step behind which it does so, of a claim about steps.
    pub(super) by: Option<Transition>,
    /// What was chosen there.
    pub(super) choices: Witness,
}

/// Evaluates something in every state, once for all that do not differ in what it turns on. Returns what `read` makes of
/// its outcomes, by state, up to the first of which that is nothing.
pub(super) fn everywhere<V: Copy>(
    search: &mut Search,
    what: What,
    trigger: &Trigger,
    mut read: impl FnMut(&Search, usize, Vec<Outcome>) -> Option<V>,
) -> Vec<V> {
    let mut known: Memo<V> = Memo::default();
    let mut all = Vec::new();
    for state in 0..search.states.len() {
        if let Some(found) = known.get(&search.states[state], &[]) {
            all.push(found.value);
            continue;
        }
        let mut looks = Looks::default();
        let at = Progress::of(what, trigger, &search.states[state]);
        let outcomes = search.moves.outcomes(&at, &mut looks);
        let Some(found) = read(search, state, outcomes) else {
            break;
        };
        known.put(&search.states[state], &[], &looks, found);
        all.push(found);
    }
    all
}
