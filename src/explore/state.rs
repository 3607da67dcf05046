//! A state as a short row of numbers, a table of many, and the part of one that a decision looks at.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

/// Where an instance stands: its context fields, and what is known of the answer to its last review.
///
/// One number says whether there is a state yet and what is known of an answer; one follows for each field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Situation(Vec<u32>);

/// Reads a state in a table, which is a [`Situation`] by its numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateRef<'s>(&'s [u32]);

impl<'s> StateRef<'s> {
    /// The values of the context fields.
    pub(crate) fn fields(self) -> &'s [u32] {
        &self.0[1..]
    }

    /// There is a state.
    pub(crate) fn is_started(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// The question whether a review is answered, where the answer to it is known.
    pub(crate) fn answered(self) -> Option<(u32, bool)> {
        let known = (self.0[0] >> 1).checked_sub(1)?;
        Some((known >> 1, known & 1 == 1))
    }

    pub(crate) fn to_situation(self) -> Situation {
        Situation(self.0.to_vec())
    }
}

impl Situation {
    /// Nothing is written yet, and the fields hold these values.
    pub(crate) fn unstarted(fields: impl Iterator<Item = u32>) -> Self {
        Self(std::iter::once(0).chain(fields).collect())
    }

    pub(crate) fn as_ref(&self) -> StateRef<'_> {
        StateRef(&self.0)
    }

    pub(crate) fn assign(&mut self, field: usize, value: u32) {
        self.0[field + 1] = value;
    }

    pub(crate) fn start(&mut self) {
        self.0[0] |= 1;
    }

    pub(crate) fn set_answered(&mut self, answered: Option<(u32, bool)>) {
        let known = answered.map_or(0, |(question, is_there)| {
            (question << 1 | u32::from(is_there)) + 1
        });
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
pub(crate) struct States {
    /// How many numbers one state has.
    width: usize,
    cells: Vec<u32>,
    /// Open addressing: a state's place plus one, or 0. At most half full.
    slots: Vec<u32>,
}

impl States {
    pub(crate) fn len(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(0)
    }

    pub(crate) fn get(&self, index: usize) -> StateRef<'_> {
        StateRef(&self.cells[index * self.width..(index + 1) * self.width])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = StateRef<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The place of a state, and whether it is new.
    pub(crate) fn insert(&mut self, state: &Situation) -> (usize, bool) {
        self.width = state.0.len();
        if (self.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(&state.0);
        match self.slots[slot].checked_sub(1) {
            Some(known) => (known as usize, false),
            None => {
                let index = self.len();
                self.cells.extend_from_slice(&state.0);
                self.slots[slot] = number(index + 1);
                (index, true)
            }
        }
    }

    /// The slot of a state, or the free one where it belongs.
    fn slot(&self, cells: &[u32]) -> usize {
        let mut hash = FxHasher::default();
        cells.iter().for_each(|cell| hash.write_u32(*cell));
        let mask = self.slots.len() - 1;
        let mut slot = usize::try_from(hash.finish() & mask as u64).unwrap_or(0);
        loop {
            match self.slots[slot].checked_sub(1) {
                Some(known) if self.get(known as usize).0 != cells => slot = (slot + 1) & mask,
                _ => return slot,
            }
        }
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(1024)];
        for index in 0..self.len() {
            let slot = self.slot(self.get(index).0);
            self.slots[slot] = number(index + 1);
        }
    }
}

/// Indices are kept small; 32 bits number more than memory holds.
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What decisions look at in a state, beside what was chosen on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Looks {
    /// One bit for each context field; those beyond the last bit share it, which only makes the set larger.
    fields: u128,
    pub(crate) started: bool,
    pub(crate) answered: bool,
    /// What was chosen, or not yet, when it was asked: a bit for each question.
    questions: Vec<u64>,
}

impl Looks {
    fn bit(field: usize) -> u128 {
        1 << field.min(127)
    }

    pub(crate) fn add(&mut self, field: usize) {
        self.fields |= Self::bit(field);
    }

    pub(crate) fn add_question(&mut self, question: u32) {
        let word = question as usize / 64;
        if self.questions.len() <= word {
            self.questions.resize(word + 1, 0);
        }
        self.questions[word] |= 1 << (question % 64);
    }

    pub(crate) fn has_question(&self, question: u32) -> bool {
        let word = self.questions.get(question as usize / 64);
        word.is_some_and(|word| word >> (question % 64) & 1 == 1)
    }

    fn add_questions(&mut self, questions: impl ExactSizeIterator<Item = u64>) {
        if self.questions.len() < questions.len() {
            self.questions.resize(questions.len(), 0);
        }
        for (own, more) in self.questions.iter_mut().zip(questions) {
            *own |= more;
        }
    }

    /// Adds those of a later part, but for the fields that were assigned and the questions that were answered before it.
    pub(crate) fn add_behind(
        &mut self,
        later: &Self,
        assigned: impl Iterator<Item = usize>,
        answered: impl Iterator<Item = u32> + Clone,
    ) {
        // The last bit stands for other fields, too.
        let assigned = assigned.filter(|field| *field < 127);
        let own = assigned.fold(0, |bits, field| bits | Self::bit(field));
        self.fields |= later.fields & !own;
        self.started |= later.started;
        self.answered |= later.answered;
        let words = later.questions.iter().enumerate().map(|(index, word)| {
            let here = answered
                .clone()
                .filter(|question| *question as usize / 64 == index);
            word & !here.fold(0, |bits, question| bits | 1_u64 << (question % 64))
        });
        self.add_questions(words);
    }

    /// Adds another's; true where that made a difference.
    pub(crate) fn add_all(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.fields |= other.fields;
        self.started |= other.started;
        self.answered |= other.answered;
        self.add_questions(other.questions.iter().copied());
        *self != before
    }

    /// What was looked at, as it is in `state` and in what was chosen: where that is the same, the same comes
    /// of it.
    pub(crate) fn project(&self, state: StateRef<'_>, choices: &[(u32, u32)], key: &mut Vec<u32>) {
        key.clear();
        if self.answered {
            key.push(state.0[0]);
        } else if self.started {
            key.push(state.0[0] & 1);
        }
        let mut fields = self.fields;
        while fields != 0 {
            let field = fields.trailing_zeros() as usize;
            fields &= fields - 1;
            let shared = if field == 127 {
                state.fields().len()
            } else {
                field + 1
            };
            key.extend_from_slice(state.fields().get(field..shared).unwrap_or_default());
        }
        for (index, word) in self.questions.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                let question = number(index * 64) + word.trailing_zeros();
                word &= word - 1;
                let made = choices.iter().find(|(asked, _)| *asked == question);
                key.push(made.map_or(0, |(_, value)| value + 1));
            }
        }
    }
}

/// Results, by what of a state and of what was chosen they depend on.
#[derive(Debug, Clone)]
pub(crate) struct Memo<V> {
    pub(crate) looks: Looks,
    known: FxHashMap<Box<[u32]>, V>,
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self {
            looks: Looks::default(),
            known: FxHashMap::default(),
        }
    }
}

impl<V: Clone> Memo<V> {
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// The result, where it is known and the same in every state.
    pub(crate) fn constant(&self) -> Option<&V> {
        let is_constant = self.looks == Looks::default();
        self.known.get([].as_slice()).filter(|_| is_constant)
    }

    /// The result, where it is known; `key` is some memory to use.
    pub(crate) fn get(
        &self,
        state: StateRef<'_>,
        choices: &[(u32, u32)],
        key: &mut Vec<u32>,
    ) -> Option<V> {
        self.looks.project(state, choices, key);
        self.known.get(key.as_slice()).cloned()
    }

    /// Keeps a result that was found by looking at this.
    pub(crate) fn put(
        &mut self,
        state: StateRef<'_>,
        choices: &[(u32, u32)],
        looks: &Looks,
        value: V,
    ) {
        if self.looks.add_all(looks) {
            // The keys so far do not tell enough apart any more.
            self.known.clear();
        }
        let mut key = Vec::new();
        self.looks.project(state, choices, &mut key);
        self.known.insert(key.into(), value);
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
            state.set_answered(
                number
                    .is_multiple_of(3)
                    .then_some((number, number.is_multiple_of(2))),
            );
            if number.is_multiple_of(5) {
                state.start();
            }
            state
        };
        for number in 0..5_000 {
            assert_eq!(states.insert(&make(number)), (number as usize, true));
        }
        for number in 0..5_000 {
            assert_eq!(states.insert(&make(number)), (number as usize, false));
            let state = states.get(number as usize);
            assert_eq!(state.fields(), [number % 7, number / 7, 9]);
            assert_eq!(state.is_started(), number.is_multiple_of(5));
            assert_eq!(
                state.answered(),
                number
                    .is_multiple_of(3)
                    .then_some((number, number.is_multiple_of(2)))
            );
        }
    }

    #[test]
    fn a_projection_tells_apart_what_was_looked_at_and_nothing_else() {
        let key = |looks: &Looks, state: &Situation, choices: &[(u32, u32)]| {
            let mut key = Vec::new();
            looks.project(state.as_ref(), choices, &mut key);
            key
        };
        let mut looks = Looks::default();
        looks.add(1);
        looks.add_question(4);
        let a = Situation::unstarted([1, 2, 3].into_iter());
        let mut b = Situation::unstarted([8, 2, 9].into_iter());
        b.start();
        assert_eq!(key(&looks, &a, &[(5, 1)]), key(&looks, &b, &[]));
        assert_ne!(key(&looks, &a, &[(4, 1)]), key(&looks, &b, &[]));
        assert_ne!(
            key(&looks, &a, &[]),
            key(&looks, &Situation::unstarted([1, 3, 3].into_iter()), &[])
        );
        looks.started = true;
        assert_ne!(key(&looks, &a, &[]), key(&looks, &b, &[]));
        let mut first = Looks::default();
        first.add_behind(&looks, [1].into_iter(), [4].into_iter());
        assert_eq!(key(&first, &b, &[(4, 1)]), [1]);
    }

    #[test]
    fn more_fields_than_bits_are_all_in_the_projection() {
        let mut looks = Looks::default();
        looks.add(300);
        let mut key = Vec::new();
        let mut state = Situation::unstarted(0..400);
        looks.project(state.as_ref(), &[], &mut key);
        let before = key.clone();
        state.assign(399, 7);
        looks.project(state.as_ref(), &[], &mut key);
        assert_ne!(before, key);
    }
}
