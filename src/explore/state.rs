//! A state as a short row of numbers, a table of many, and the part of one that a decision looks at.

use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A question, and an answer to it, or a set of answers that are left to it, by their numbers.
pub(crate) type Chosen = (u32, u32);

/// The numbers of the two answers whether something is so.
pub(crate) const FALSE: u32 = 0;
pub(crate) const TRUE: u32 = 1;

/// Where an instance stands: its context fields, and what is known of the answer to its last review.
///
/// One number says whether there is a state yet and what is known of an answer; one follows for each field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Situation(Vec<u32>);

/// Reads a state in a table, which is a [`Situation`] by its numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateRef<'s>(&'s [u32]);

impl<'s> StateRef<'s> {
    /// Returns the values of the context fields.
    pub(crate) fn fields(self) -> &'s [u32] {
        &self.0[1..]
    }

    /// Returns whether there is a state.
    pub(crate) fn is_started(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// Returns the question whether a review is answered, where that is known.
    pub(crate) fn answered(self) -> Option<Chosen> {
        let known = (self.0[0] >> 1).checked_sub(1)?;
        Some((known >> 1, known & 1))
    }

    /// Returns a copy that can be changed.
    pub(crate) fn to_situation(self) -> Situation {
        Situation(self.0.to_vec())
    }
}

impl Situation {
    /// Returns a state in which nothing is written yet and the fields hold these values.
    pub(crate) fn unstarted(fields: impl Iterator<Item = u32>) -> Self {
        Self(std::iter::once(0).chain(fields).collect())
    }

    /// Reads it.
    pub(crate) fn as_ref(&self) -> StateRef<'_> {
        StateRef(&self.0)
    }

    /// Gives a field a value.
    pub(crate) fn assign(&mut self, field: usize, value: u32) {
        self.0[field + 1] = value;
    }

    /// Says that there is a state.
    pub(crate) fn start(&mut self) {
        self.0[0] |= 1;
    }

    /// Says what is known of an answer.
    pub(crate) fn set_answered(&mut self, answered: Option<Chosen>) {
        let known = answered.map_or(0, |(question, value)| (question << 1 | value) + 1);
        self.0[0] = self.0[0] & 1 | known << 1;
    }

    /// Becomes `state`, in the memory that it has.
    pub(crate) fn become_state(&mut self, state: StateRef<'_>) {
        self.0.clear();
        self.0.extend_from_slice(state.0);
    }
}

/// States in the order in which they were found, each once.
#[derive(Debug, Default)]
pub(crate) struct States(IndexSet<Box<[u32]>, FxBuildHasher>);

impl States {
    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, index: usize) -> StateRef<'_> {
        StateRef(&self.0[index])
    }

    /// Returns all of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = StateRef<'_>> {
        self.0.iter().map(|state| StateRef(state))
    }

    /// Returns the place of a state, which is the last one where it is new.
    pub(crate) fn insert(&mut self, state: &Situation) -> usize {
        match self.0.get_index_of(state.0.as_slice()) {
            Some(known) => known,
            None => self.0.insert_full(state.0.as_slice().into()).0,
        }
    }
}

/// Indices are kept small; 32 bits number more than memory holds.
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What decisions look at: in a state, and of what was chosen before, or not yet, when it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look(u32);

impl Look {
    /// Whether there is a state yet.
    pub(crate) const STARTED: Self = Self(0);
    /// That, and what is known of an answer.
    pub(crate) const ANSWERED: Self = Self(1);

    /// Looks at a context field.
    pub(crate) fn field(field: usize) -> Self {
        Self(number(field) * 2 + 2)
    }

    /// Looks at what was chosen before.
    pub(crate) fn question(question: u32) -> Self {
        Self(question * 2 + 3)
    }

    /// Returns whether it is at a choice.
    fn is_at_a_question(self) -> bool {
        self.0 > 1 && self.0 % 2 == 1
    }

    /// Returns what it sees.
    fn at(self, state: StateRef<'_>, choices: &[Chosen]) -> u32 {
        match self.0 {
            0 => state.0[0] & 1,
            1 => state.0[0],
            field if !self.is_at_a_question() => state.fields()[field as usize / 2 - 1],
            question => {
                let question = (question - 3) / 2;
                let made = choices.iter().find(|(asked, _)| *asked == question);
                made.map_or(0, |(_, value)| value + 1)
            }
        }
    }
}

/// What was looked at, each once, in the order in which that happened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looks {
    order: Vec<Look>,
    /// The same, a bit for each.
    seen: Vec<u64>,
}

impl Looks {
    /// Adds one, where it is new.
    pub(crate) fn add(&mut self, look: Look) {
        if !self.has(look) {
            let word = look.0 as usize / 64;
            if self.seen.len() <= word {
                self.seen.resize(word + 1, 0);
            }
            self.seen[word] |= 1 << (look.0 % 64);
            self.order.push(look);
        }
    }

    /// Returns whether this was looked at.
    pub(crate) fn has(&self, look: Look) -> bool {
        let word = self.seen.get(look.0 as usize / 64);
        word.is_some_and(|word| word >> (look.0 % 64) & 1 == 1)
    }

    /// Returns those at the state, where nothing was chosen before.
    pub(crate) fn at_the_state(&self) -> Self {
        let mut own = Self::default();
        let looks = self.order.iter().filter(|look| !look.is_at_a_question());
        looks.for_each(|look| own.add(*look));
        own
    }

    /// Returns them in order.
    pub(crate) fn all(&self) -> &[Look] {
        &self.order
    }

    /// Adds those of a later part, but for what was `made` before it.
    pub(crate) fn add_behind(&mut self, later: &[Look], made: &[Look]) {
        for look in later {
            if !self.has(*look) && !made.contains(look) {
                self.add(*look);
            }
        }
    }
}

/// Results, by what of a state and of what was chosen they depend on: what is looked at first, then what is looked at
/// where that was seen, and so on.
#[derive(Debug, Clone)]
pub(crate) struct Memo<V> {
    nodes: Vec<Node<V>>,
}

#[derive(Debug, Clone)]
enum Node<V> {
    Unknown,
    /// Where it leads, by what is seen there, in order.
    Look(Look, Vec<(u32, u32)>),
    Known(Known<V>),
}

/// A result, and what was looked at to find it.
#[derive(Debug, Clone)]
pub(crate) struct Known<V> {
    pub(crate) value: V,
    pub(crate) looks: Rc<[Look]>,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self {
            nodes: vec![Node::Unknown],
        }
    }
}

impl<V> Memo<V> {
    /// Returns how many numbers it takes up, by estimate.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the result, where it is known and the same in every state.
    pub(crate) fn constant(&self) -> Option<&V> {
        match &self.nodes[0] {
            Node::Known(known) => Some(&known.value),
            _ => None,
        }
    }

    /// Returns the result, where it is known.
    pub(crate) fn get(&self, state: StateRef<'_>, choices: &[Chosen]) -> Option<&Known<V>> {
        let mut at = 0;
        loop {
            match &self.nodes[at as usize] {
                Node::Unknown => return None,
                Node::Look(look, next) => {
                    let seen = look.at(state, choices);
                    let found = next.binary_search_by_key(&seen, |(seen, _)| *seen).ok()?;
                    at = next[found].1;
                }
                Node::Known(known) => return Some(known),
            }
        }
    }

    /// Keeps a result that was found by looking at this, and returns that.
    pub(crate) fn put(
        &mut self,
        state: StateRef<'_>,
        choices: &[Chosen],
        looks: &Looks,
        value: V,
    ) -> Rc<[Look]> {
        let mut at = 0;
        let mut asked = Looks::default();
        // Where the same was seen, the same is looked at next. Otherwise, more states than necessary are distinguished.
        let mut rest = looks.order.iter();
        loop {
            let new = number(self.nodes.len());
            let node = &mut self.nodes[at as usize];
            if !matches!(node, Node::Look(..)) {
                let Some(look) = rest.find(|look| !asked.has(**look)) else {
                    break;
                };
                *node = Node::Look(*look, Vec::new());
            }
            let Node::Look(look, next) = node else { break };
            asked.add(*look);
            let seen = look.at(state, choices);
            at = match next.binary_search_by_key(&seen, |(seen, _)| *seen) {
                Ok(found) => next[found].1,
                Err(place) => {
                    next.insert(place, (seen, new));
                    self.nodes.push(Node::Unknown);
                    new
                }
            };
        }
        let looks: Rc<[Look]> = looks.order.as_slice().into();
        let known = Known {
            value,
            looks: Rc::clone(&looks),
        };
        self.nodes[at as usize] = Node::Known(known);
        looks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(states.insert(&make(number)), number as usize);
        }
        for number in 0..5_000 {
            assert_eq!(states.insert(&make(number)), number as usize);
            assert_eq!(states.len(), 5_000);
            let state = states.get(number as usize);
            assert_eq!(state.fields(), [number % 7, number / 7, 9]);
            assert_eq!(state.is_started(), number.is_multiple_of(5));
            assert_eq!(
                state.answered(),
                number.is_multiple_of(3).then_some((number, number % 2))
            );
        }
    }

    #[test]
    fn a_result_is_found_by_what_was_looked_at_and_nothing_else() {
        let mut memo = Memo::default();
        let mut looks = Looks::default();
        looks.add(Look::field(1));
        looks.add(Look::question(4));
        let a = Situation::unstarted([1, 2, 3].into_iter());
        let mut b = Situation::unstarted([8, 2, 9].into_iter());
        b.start();
        memo.put(a.as_ref(), &[(5, 1)], &looks, 'a');
        let found = |memo: &Memo<char>, state: &Situation, choices: &[Chosen]| {
            memo.get(state.as_ref(), choices).map(|known| known.value)
        };
        assert_eq!(found(&memo, &b, &[]), Some('a'));
        assert_eq!(found(&memo, &b, &[(4, 1)]), None);
        let c = Situation::unstarted([1, 3, 3].into_iter());
        assert_eq!(found(&memo, &c, &[]), None);
        // Where something else is seen, something else may be looked at.
        let mut more = Looks::default();
        more.add(Look::field(1));
        more.add(Look::STARTED);
        memo.put(c.as_ref(), &[], &more, 'c');
        assert_eq!(found(&memo, &c, &[(4, 1)]), Some('c'));
        b.assign(1, 3);
        assert_eq!(found(&memo, &b, &[]), None);
        let mut first = Looks::default();
        first.add_behind(&looks.order, &[Look::field(1)]);
        assert_eq!(first.order, [Look::question(4)]);
    }

    #[test]
    fn what_is_looked_at_in_another_order_is_told_apart() {
        let mut memo = Memo::default();
        let mut looks = Looks::default();
        looks.add(Look::field(0));
        memo.put(
            Situation::unstarted([0, 0].into_iter()).as_ref(),
            &[],
            &looks,
            0,
        );
        let mut other = Looks::default();
        other.add(Look::field(1));
        other.add(Look::field(0));
        for cells in [[1, 1], [1, 2], [2, 1]] {
            let state = Situation::unstarted(cells.into_iter());
            memo.put(state.as_ref(), &[], &other, cells[0] * 10 + cells[1]);
        }
        for (cells, value) in [([0, 5], 0), ([1, 1], 11), ([1, 2], 12), ([2, 1], 21)] {
            let state = Situation::unstarted(cells.into_iter());
            assert_eq!(
                memo.get(state.as_ref(), &[]).map(|found| found.value),
                Some(value)
            );
        }
    }
}
