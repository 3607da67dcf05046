//! What the checks of a chart find, over all states.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::everywhere::{Example, everywhere};
use crate::engine::fault::Fault;
use crate::explore::decision_tree::What;
use crate::explore::domain::Choice;
use crate::explore::imagined_world::{Question, sources_of_check};
use crate::explore::moves::{Outcome, by_hand};
use crate::explore::search::Search;

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
            for source in sources_of_check(check) {
                if let Some(open) = domain.dependence.open.get(source) {
                    seen.open.extend(domain.open_inputs(open).cloned());
                    seen.fails.extend(open.fails.iter().cloned());
                }
            }
            let what = What::Check { list, index };
            everywhere(search, what, &by_hand(), |_, state, outcomes| {
                for Outcome { result, choices } in outcomes {
                    let example = Example {
                        state,
                        by: None,
                        choices,
                    };
                    match result {
                        Ok(true) if seen.found.len() < EXAMPLES => seen.found.push(example),
                        Err(fault) if seen.faults.len() < EXAMPLES => {
                            seen.faults.push((fault, example));
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
