//! The answers that one event has followed for things without a value: each holds for the rest of the event.

use std::rc::Rc;

use super::term::{NULL, Node, Term, Terms};

/// What has been chosen for one term.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Fact {
    /// Whether it is none.
    pub(super) none: Option<bool>,
    pub(super) is: Option<Term>,
    pub(super) is_not: Vec<Term>,
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
}

/// What has been chosen, in the order of the terms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Facts(Rc<Vec<(Term, Fact)>>);

impl Fact {
    /// Returns whether both can be true of one value.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let differs = |a: Option<bool>, b: Option<bool>| a.zip(b).is_some_and(|(a, b)| a != b);
        let excludes = |a: &Self, b: &Self| {
            let is_other = |it: &Term| b.is_not.contains(it) || b.none == Some(true);
            let is_below = a.most.zip(b.least).is_some_and(|(most, least)| most < least);
            a.is.as_ref().is_some_and(is_other) || is_below
        };
        let is_another = self.is.zip(other.is).is_some_and(|(a, b)| a != b);
        !differs(self.none, other.none)
            && !is_another
            && !excludes(self, other)
            && !excludes(other, self)
    }

    /// Adds what is known beside.
    fn join(&mut self, other: &Self) {
        self.none = self.none.or(other.none);
        self.is = self.is.or(other.is);
        self.is_not.extend(&other.is_not);
        self.least = self.least.max(other.least);
        self.most = [self.most, other.most].into_iter().flatten().min();
    }

    /// Returns what is true where one of both is, if that can be said.
    fn either(&self, other: &Self) -> Option<Self> {
        let alone = |fact: &Self| Self { none: fact.none, ..Self::default() };
        if let (Some(value), true) = (self.is, *self == Self { is: self.is, ..alone(self) })
            && other.is_not.contains(&value)
        {
            let mut all = other.clone();
            all.is_not.retain(|it| *it != value);
            return Some(all);
        }
        let bounds = |fact: &Self| Self { least: None, most: None, ..fact.clone() };
        let is_next = self.most.is_some_and(|most| other.least == most.checked_add(1));
        if is_next && bounds(self) == bounds(other) {
            return Some(Self { least: self.least, most: other.most, ..self.clone() });
        }
        let is_none = self.none == Some(true) && other.none == Some(false);
        (is_none && alone(self) == *self && alone(other) == *other).then(Self::default)
    }

    /// Makes it a number of at least, or less than, this.
    pub(super) fn bound(&mut self, least: i64, is_so: bool) {
        match is_so {
            true => self.least = self.least.max(Some(least)),
            false => self.most = Some(self.most.map_or(least - 1, |most| most.min(least - 1))),
        }
    }

    /// Makes it this value, or another one.
    pub(super) fn set(&mut self, value: Term, is_so: bool) {
        match (value, is_so) {
            (NULL, _) => self.none = Some(is_so),
            (_, true) => {
                self.none = Some(false);
                self.is = Some(value);
                self.is_not.clear();
            }
            (_, false) => {
                self.is_not.push(value);
                self.is_not.sort_unstable();
            }
        }
    }

    /// Describes the facts about a term: "`config.limit` is 2".
    pub(super) fn in_words(&self, terms: &Terms, term: Term) -> String {
        let (name, is_size) = match &*terms.node(term) {
            Node::Size(of) => (terms.text(*of), true),
            _ => (terms.text(term), false),
        };
        match (self.is, self.least, self.most) {
            _ if self.none == Some(true) => format!("`{name}` is none"),
            (Some(value), ..) => format!("`{name}` is {}", terms.text(value)),
            (_, _, Some(0)) if is_size => format!("not `{name}`"),
            (_, Some(_), _) if is_size => format!("`{name}`"),
            (_, Some(least), Some(most)) if least == most => format!("`{name}` is {least}"),
            (_, Some(least), _) => format!("`{name}` is at least {least}"),
            (_, None, Some(most)) => format!("`{name}` is at most {most}"),
            _ if self.is_not.is_empty() => format!("`{name}` is not none"),
            _ => {
                let others: Vec<String> =
                    self.is_not.iter().map(|value| terms.text(*value)).collect();
                format!("`{name}` is not {}", others.join(" or "))
            }
        }
    }
}

impl Facts {
    pub(super) fn get(&self, term: Term) -> Option<&Fact> {
        Some(&self.0[self.find(term).ok()?].1)
    }

    fn find(&self, term: Term) -> Result<usize, usize> {
        self.0.binary_search_by_key(&term, |(known, _)| *known)
    }

    pub(super) fn entry(&mut self, term: Term) -> &mut Fact {
        let found = self.find(term);
        let facts = Rc::make_mut(&mut self.0);
        if let Err(at) = found {
            facts.insert(at, (term, Fact::default()));
        }
        &mut facts[found.unwrap_or_else(|at| at)].1
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(Term) -> bool) {
        if !self.0.iter().all(|(term, _)| keep(*term)) {
            Rc::make_mut(&mut self.0).retain(|(term, _)| keep(*term));
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(Term, Fact)> {
        self.0.iter()
    }

    /// Adds others, if all of them can be true beside these.
    pub(super) fn join(&mut self, others: &Self) -> bool {
        let fits = self.conflict(others).is_none();
        if fits {
            others.iter().for_each(|(term, fact)| self.entry(*term).join(fact));
        }
        fits
    }

    /// Returns these and one more, if both can be true.
    pub(super) fn with(&self, term: Term, fact: &Fact) -> Option<Self> {
        let mut with = self.clone();
        with.join(&Self(Rc::new(vec![(term, fact.clone())]))).then_some(with)
    }

    /// Removes the facts about these terms.
    pub(super) fn take(&mut self, mut is_taken: impl FnMut(Term) -> bool) -> Self {
        let mut taken = self.clone();
        taken.retain(&mut is_taken);
        self.retain(|term| !is_taken(term));
        taken
    }

    /// Returns what is true where one of both is, if that can be said, and the term that then makes no difference.
    pub(super) fn either(&self, other: &Self) -> Option<(Self, Option<Term>)> {
        let none = Fact::default();
        let of = |facts: &'_ Self, term: Term| facts.get(term).cloned().unwrap_or_default();
        let terms = self.iter().chain(other.iter()).map(|(term, _)| *term);
        let mut differing = terms.filter(|term| of(self, *term) != of(other, *term));
        let Some(term) = differing.next() else { return Some((self.clone(), None)) };
        if differing.any(|it| it != term) {
            return None;
        }
        let (a, b) = (of(self, term), of(other, term));
        let both = a.either(&b).or_else(|| b.either(&a))?;
        let mut all = self.clone();
        all.retain(|it| it != term);
        if both != none {
            *all.entry(term) = both;
        }
        Some((all, Some(term)))
    }

    /// Returns the term of which others say what cannot be true beside these.
    pub(super) fn conflict(&self, others: &Self) -> Option<Term> {
        let clash =
            others.iter().find(|(term, fact)| self.get(*term).is_some_and(|it| !it.fits(fact)));
        clash.map(|(term, _)| *term)
    }
}
