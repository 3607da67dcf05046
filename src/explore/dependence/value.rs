//! The value of an expression: the values of which it is one, and the inputs from which it is computed.

use std::collections::BTreeSet;

use serde_json::Value as Json;

/// One value that an expression can have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    Literal(Json),
    /// A context field.
    Field(String),
    /// An input; lists have the name of their items.
    Input {
        path: String,
        list: bool,
    },
    /// Anything that the state and what is tried determine.
    Settled,
}

/// The value of an expression.
#[derive(Debug, Clone, Default)]
pub(super) struct Val {
    pub(super) terms: Vec<Term>,
    /// The inputs of which it is computed.
    pub(super) computed: BTreeSet<String>,
    /// Of a list: items that are the same are one, in no order.
    pub(super) is_set: bool,
}

impl Val {
    /// Returns a value that the state and what is tried determine.
    pub(super) fn settled() -> Self {
        Self::of(Term::Settled)
    }

    /// Returns a value that is this.
    pub(super) fn of(term: Term) -> Self {
        Self {
            terms: vec![term],
            ..Self::default()
        }
    }

    /// Returns the value of an input.
    pub(super) fn input(path: impl Into<String>, list: bool) -> Self {
        Self::of(Term::Input {
            path: path.into(),
            list,
        })
    }

    /// Returns what is computed of inputs.
    pub(super) fn computed(inputs: BTreeSet<String>) -> Self {
        Self {
            terms: vec![Term::Settled],
            computed: inputs,
            ..Self::default()
        }
    }

    /// Returns a value that is one of both.
    pub(super) fn join(mut self, other: Self) -> Self {
        for term in other.terms {
            if !self.terms.contains(&term) {
                self.terms.push(term);
            }
        }
        self.computed.extend(other.computed);
        self.is_set |= other.is_set;
        self
    }
}

/// Returns an item of a list; or a list of items, where it `is_list`.
pub(super) fn as_list(mut value: Val, is_list: bool) -> Val {
    for term in &mut value.terms {
        if let Term::Input { list, .. } = term {
            *list = is_list;
        }
    }
    value
}

/// What an input can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Text,
    List,
    /// Nothing of it is tried.
    Untried,
}
