//! Puts what happened into a predicate: each answer once, and each state only where it is not what the decision before has left.
//! Joins such predicates, and finds the state that entries have left.

use std::collections::HashMap;

use serde_json::json;

use super::remarks::Remarks;
use super::statement::Predicate;
use super::{DecisionEntry, Entry, Open};
use crate::engine::context::Context;
use crate::engine::replayable::Known;

/// Adds what another predicate has to one.
pub(crate) fn join(predicate: &mut Predicate, part: &Predicate) {
    let start = predicate.world.len();
    predicate.world.extend(part.world.iter().cloned());
    for entry in &part.entries {
        let mut entry = entry.clone();
        if let Entry::Decision(decision) = &mut entry {
            decision.world.iter_mut().for_each(|at| *at += start);
        }
        predicate.entries.push(entry);
    }
    predicate.remarks.extend(part.remarks.iter().cloned());
}

/// Puts entries of this machine into a predicate, which has each answer once and each state only where it is not what follows.
/// `remarks` knows the lines from which it goes on, and `merged` are the states that those have left which it unites.
pub(crate) fn seal(
    predicate: &mut Predicate,
    entries: Vec<Open>,
    mut remarks: Remarks,
    merged: Vec<Context>,
) {
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, item) in predicate.world.iter().enumerate() {
        known.insert(json!(item).to_string(), at);
    }
    let mut place = |item: Known| {
        let next = predicate.world.len();
        let at = *known.entry(json!(item).to_string()).or_insert(next);
        if at == next {
            predicate.world.push(item);
        }
        at
    };
    let mut state: Option<Context> = None;
    let mut settings = None;
    let mut new = |own: Option<Context>| {
        let new = own.clone().filter(|_| own != settings);
        settings = own.or_else(|| settings.take());
        new
    };
    for entry in entries {
        let sealed = match entry {
            Entry::Review(mut review) => {
                review.settings = new(review.settings.take());
                Entry::Review(review)
            }
            Entry::Decision(decision) => {
                let after = decision.after(state.clone());
                // The first one of a line says from where it goes on.
                let is_new = decision.state != state;
                state = after;
                Entry::Decision(Box::new(DecisionEntry {
                    state: decision.state.filter(|_| is_new),
                    world: decision.world.into_iter().map(&mut place).collect(),
                    at: decision.at,
                    chart: decision.chart,
                    base: decision.base,
                    settings: new(decision.settings),
                    previous: None,
                    is_claim_lost: decision.is_claim_lost,
                    edited: decision.edited,
                    rulings: decision.rulings,
                    is_added_to: decision.is_added_to,
                    is_elsewhere: decision.is_elsewhere,
                    wrote: decision.wrote,
                    begins: decision.begins,
                    event: decision.event,
                    is_reviewed: decision.is_reviewed,
                    is_superseded: decision.is_superseded,
                    seen: decision.seen,
                    pause: decision.pause,
                    is_clean: decision.is_clean,
                    fired: decision.fired,
                    changed: decision.changed,
                    answer: decision.answer,
                }))
            }
        };
        predicate.entries.push(sealed);
    }
    let remarks = remarks.line(&predicate.entries, merged).into_iter();
    predicate.remarks = remarks.map(|remark| remark.to_string()).collect();
}

/// Returns the fields after the last decision of some entries: the first one has all of them.
pub(crate) fn state_after<'e, W: 'e>(
    entries: impl Iterator<Item = &'e Entry<W>>,
) -> Option<Context> {
    entries.fold(None, |state, entry| match entry {
        Entry::Review(_) => state,
        Entry::Decision(decision) => decision.after(state),
    })
}
