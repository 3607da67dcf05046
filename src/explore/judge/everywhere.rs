//! What a condition or a check comes out as, in every state.

use crate::engine::event::Trigger;
use crate::explore::decision_tree::{What, Witness};
use crate::explore::moves::Outcome;
use crate::explore::search::{Search, Transition};
use crate::explore::state::{Looks, Memo};

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
        let situation = &search.states[state];
        let outcomes = search.moves.outcomes(what, trigger, situation, &mut looks);
        let Some(found) = read(search, state, outcomes) else {
            break;
        };
        known.put(&search.states[state], &[], &looks, found);
        all.push(found);
    }
    all
}
