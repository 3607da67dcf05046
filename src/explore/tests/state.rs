//! States among many, and results by what was looked at.

use super::super::state::*;

#[test]
fn a_state_is_found_again_among_many() {
    let mut states = States::default();
    let make = |number: u32| {
        let mut state = Situation::unstarted([number % 7, number / 7, 9].into_iter());
        state.set_answered(number.is_multiple_of(3).then_some((number, number % 2)));
        if number.is_multiple_of(5) {
            state.start();
        }
        state
    };
    for number in 0..5_000 {
        assert_eq!(states.insert_full(make(number)).0, number as usize);
    }
    for number in 0..5_000 {
        assert_eq!(states.insert_full(make(number)).0, number as usize);
        assert_eq!(states.len(), 5_000);
        let state = &states[number as usize];
        assert_eq!(state.fields(), [number % 7, number / 7, 9]);
        assert_eq!(state.is_started(), number.is_multiple_of(5));
        assert_eq!(state.answered(), number.is_multiple_of(3).then_some((number, number % 2)));
    }
}

#[test]
fn a_result_is_found_by_what_was_looked_at_and_nothing_else() {
    let mut memo = Memo::default();
    let mut looks = Looks::default();
    looks.insert(Look::field(1));
    looks.insert(Look::question(4));
    let a = Situation::unstarted([1, 2, 3].into_iter());
    let mut b = Situation::unstarted([8, 2, 9].into_iter());
    b.start();
    memo.put(&a, &[(5, 1)], &looks, 'a');
    let found = |memo: &Memo<char>, state: &Situation, choices: &[Chosen]| {
        memo.get(state, choices).map(|known| known.value)
    };
    assert_eq!(found(&memo, &b, &[]), Some('a'));
    assert_eq!(found(&memo, &b, &[(4, 1)]), None);
    let c = Situation::unstarted([1, 3, 3].into_iter());
    assert_eq!(found(&memo, &c, &[]), None);
    // Where something else is seen, something else may be looked at.
    let mut more = Looks::default();
    more.insert(Look::field(1));
    more.insert(Look::STARTED);
    memo.put(&c, &[], &more, 'c');
    assert_eq!(found(&memo, &c, &[(4, 1)]), Some('c'));
    b.assign(1, 3);
    assert_eq!(found(&memo, &b, &[]), None);
}

#[test]
fn what_is_looked_at_in_another_order_is_another_result() {
    let mut memo = Memo::default();
    let mut looks = Looks::default();
    looks.insert(Look::field(0));
    let first = Situation::unstarted([0, 0].into_iter());
    memo.put(&first, &[], &looks, 0);
    let mut other = Looks::default();
    other.insert(Look::field(1));
    other.insert(Look::field(0));
    for cells in [[1, 1], [1, 2], [2, 1]] {
        let state = Situation::unstarted(cells.into_iter());
        memo.put(&state, &[], &other, cells[0] * 10 + cells[1]);
    }
    for (cells, value) in [([0, 5], 0), ([1, 1], 11), ([1, 2], 12), ([2, 1], 21)] {
        let state = Situation::unstarted(cells.into_iter());
        assert_eq!(memo.get(&state, &[]).map(|found| found.value), Some(value));
    }
}
