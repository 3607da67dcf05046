//! What lets a list of checks find this many things.

use crate::explore::decision_tree::{Choices, Leaf, Segment, What, Witness, over};
use crate::explore::moves::by_hand;
use crate::explore::search::Search;
use crate::explore::state::Looks;
use std::sync::Arc;

/// The most ways through the checks that are looked at to find one in which they find as much as they should.
const PATHS: usize = 2_000;

/// Returns choices under which the checks of a list find this many things, or more, in the first state.
pub(super) fn finding(
    search: &mut Search,
    name: &str,
    wanted: usize,
    or_more: bool,
) -> Option<Witness> {
    let chart = Arc::clone(&search.moves.tree.chart);
    let (list, _, checks) = chart.checks.get_full(name)?;
    let state = search.states[0].clone();
    let trigger = by_hand();
    let mut open = vec![(0, wanted, Choices::new())];
    for _ in 0..PATHS {
        let (index, wanted, chosen) = open.pop()?;
        if index == checks.len() {
            match wanted {
                0 => return search.moves.tree.witnesses(&chosen).into_iter().next(),
                _ => continue,
            }
        }
        let segment = Segment {
            what: What::Check { list, index },
            review: None,
        };
        let tree = &mut search.moves.tree;
        let looks = &mut Looks::default();
        let ends = tree.walk(segment, &trigger, &state, &chosen, looks);
        let found = |leaf: &Leaf| match leaf {
            Leaf::Value(value) => usize::try_from(tree.value(*value).as_u64()?).ok(),
            Leaf::Part(_) | Leaf::Fault(_) => None,
        };
        let ends = ends.iter().filter_map(|end| {
            let found = found(&tree.leaves[end.leaf as usize])?;
            let left = match or_more {
                true => Some(wanted.saturating_sub(found)),
                false => wanted.checked_sub(found),
            }?;
            Some((found, (index + 1, left, over(&chosen, &end.choices()))))
        });
        let mut ends: Vec<_> = ends.collect();
        // What finds most is tried first: the last of them.
        ends.sort_by_key(|(found, _)| *found);
        open.extend(ends.into_iter().map(|(_, end)| end));
    }
    None
}
