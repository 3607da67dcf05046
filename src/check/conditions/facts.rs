//! What an event has been told of the things that nobody knows: each answer holds for all that follows in it.

use super::term::{NULL, Term};

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
pub(super) struct Facts(Vec<(Term, Fact)>);

impl Fact {
    /// Returns what is known of a number or a value.
    pub(super) fn exactly(number: i64) -> Self {
        Self { none: Some(false), least: Some(number), most: Some(number), ..Self::default() }
    }

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
}

impl Facts {
    pub(super) fn get(&self, term: Term) -> Option<&Fact> {
        let at = self.0.binary_search_by_key(&term, |(known, _)| *known).ok()?;
        Some(&self.0[at].1)
    }

    pub(super) fn entry(&mut self, term: Term) -> &mut Fact {
        let at = match self.0.binary_search_by_key(&term, |(known, _)| *known) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (term, Fact::default()));
                at
            }
        };
        &mut self.0[at].1
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(Term) -> bool) {
        self.0.retain(|(term, _)| keep(*term));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(Term, Fact)> {
        self.0.iter()
    }

    /// Adds others, if all of them can be true beside these.
    pub(super) fn join(&mut self, others: &Self) -> bool {
        let fits = |(term, fact): &(Term, Fact)| self.get(*term).is_none_or(|it| it.fits(fact));
        let fits = others.iter().all(fits);
        if fits {
            others.iter().for_each(|(term, fact)| self.entry(*term).join(fact));
        }
        fits
    }

    /// Returns the term of which others say what cannot be true beside these.
    pub(super) fn conflict(&self, others: &Self) -> Option<Term> {
        let clash = others.iter().find(|(term, fact)| self.get(*term).is_some_and(|it| !it.fits(fact)));
        clash.map(|(term, _)| *term)
    }
}

impl Fact {
    /// Says what is known of a term: "`config.limit` is 2".
    pub(super) fn in_words(&self, terms: &super::term::Terms, term: Term) -> String {
        use super::term::Node;
        let name = match &*terms.node(term) {
            Node::Size(of) => terms.text(*of),
            _ => terms.text(term),
        };
        let is_size = matches!(&*terms.node(term), Node::Size(_));
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
