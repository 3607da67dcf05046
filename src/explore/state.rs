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
/// One number says whether there is a state yet, one what is known of an answer; one follows for each field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Situation(Vec<u32>);

impl Situation {
    /// Returns a state in which nothing is written yet and the fields hold these values.
    pub(crate) fn unstarted(fields: impl Iterator<Item = u32>) -> Self {
        Self([0, 0].into_iter().chain(fields).collect())
    }

    /// Returns the values of the context fields.
    pub(crate) fn fields(&self) -> &[u32] {
        &self.0[2..]
    }

    /// Returns whether there is a state.
    pub(crate) fn is_started(&self) -> bool {
        self.0[0] == 1
    }

    /// Returns the question whether a review is answered, where that is known.
    pub(crate) fn answered(&self) -> Option<Chosen> {
        let known = self.0[1].checked_sub(1)?;
        Some((known >> 1, known & 1))
    }

    /// Gives a field a value.
    pub(crate) fn assign(&mut self, field: usize, value: u32) {
        self.0[field + 2] = value;
    }

    /// Says that there is a state.
    pub(crate) fn start(&mut self) {
        self.0[0] = 1;
    }

    /// Says what is known of an answer.
    pub(crate) fn set_answered(&mut self, answered: Option<Chosen>) {
        self.0[1] = answered.map_or(0, |(question, value)| (question << 1 | value) + 1);
    }
}

/// States in the order in which they were found, each once.
pub(crate) type States = IndexSet<Situation, FxBuildHasher>;

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
    /// What is known of an answer.
    pub(crate) const ANSWERED: Self = Self(2);

    /// Looks at a context field.
    pub(crate) fn field(field: usize) -> Self {
        Self(number(field) * 2 + 4)
    }

    /// Looks at what was chosen before.
    pub(crate) fn question(question: u32) -> Self {
        Self(question * 2 + 1)
    }

    /// Returns what it sees.
    fn at(self, state: &Situation, choices: &[Chosen]) -> u32 {
        if self.0.is_multiple_of(2) {
            return state.0[self.0 as usize / 2];
        }
        let made = choices.iter().find(|(asked, _)| *asked == self.0 / 2);
        made.map_or(0, |(_, value)| value + 1)
    }
}

/// What was looked at, each once, in the order in which that happened. Hashing each look would take longer.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    order: Vec<Look>,
    /// The same, a bit for each.
    seen: Vec<u64>,
}

impl Looks {
    /// Adds one, where it is new.
    pub(crate) fn insert(&mut self, look: Look) {
        if !self.contains(look) {
            let word = look.0 as usize / 64;
            self.seen.resize(self.seen.len().max(word + 1), 0);
            self.seen[word] |= 1 << (look.0 % 64);
            self.order.push(look);
        }
    }

    /// Adds those that are new.
    pub(crate) fn extend(&mut self, looks: impl IntoIterator<Item = Look>) {
        looks.into_iter().for_each(|look| self.insert(look));
    }

    /// Returns whether this was looked at.
    pub(crate) fn contains(&self, look: Look) -> bool {
        let word = self.seen.get(look.0 as usize / 64);
        word.is_some_and(|word| word >> (look.0 % 64) & 1 == 1)
    }

    /// Returns them in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Look> {
        self.order.iter().copied()
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
        Self { nodes: vec![Node::Unknown] }
    }
}

impl<V> Memo<V> {
    /// Returns the result, where it is known.
    pub(crate) fn get(&self, state: &Situation, choices: &[Chosen]) -> Option<&Known<V>> {
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
        state: &Situation,
        choices: &[Chosen],
        looks: &Looks,
        value: V,
    ) -> Rc<[Look]> {
        let mut at = 0;
        let mut asked = Looks::default();
        // Where the same was seen, the same is looked at next. Otherwise, more states than necessary are distinguished.
        let mut rest = looks.iter();
        loop {
            let new = number(self.nodes.len());
            let node = &mut self.nodes[at as usize];
            if !matches!(node, Node::Look(..)) {
                let Some(look) = rest.find(|look| !asked.contains(*look)) else {
                    break;
                };
                *node = Node::Look(look, Vec::new());
            }
            let Node::Look(look, next) = node else { break };
            asked.insert(*look);
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
        let known = Known { value, looks: Rc::clone(&looks) };
        self.nodes[at as usize] = Node::Known(known);
        looks
    }
}
