//! What each expression of a chart asks of the inputs, and whether trying some values determines its value.
//!
//! An input (a file, an option, a field of the event) has too many values to try them all. It is tried at the values
//! that the chart compares it with, and one that is none of them: that is enough as long as expressions only compare.
//! Where one does anything else with an input, its value is left open, and both outcomes are explored. Only
//! what is known here is settled; everything else is open.

use std::collections::BTreeSet;

use crate::engine::names::sources::stands_alone;
use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

mod comparisons;
mod expressions;
mod filters;
mod names;
mod reader;
mod texts;

/// The length of a list, as the last part of a dotted name.
pub const LENGTH: &str = "length";

/// What an input, or a field that an input's value has gone into, is compared with.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Compared {
    pub literals: IndexSet<Json>,
    /// Context fields and settings, by what they hold at the time.
    pub fields: IndexSet<String>,
    /// Literals that are looked for in it.
    pub parts: IndexSet<String>,
    /// Fields and settings whose texts are looked for in it.
    pub part_fields: IndexSet<String>,
    /// It is compared without the blanks around it.
    pub trimmed: bool,
    /// It goes into a field that takes nothing but a slug.
    pub slug: bool,
    /// It is compared with other inputs.
    pub linked: bool,
    /// Of a list: its first item matters.
    pub first: bool,
    /// Of a list: its last item matters.
    pub last: bool,
    /// Of a list: its items are looked into.
    pub items: bool,
}

impl Compared {
    /// Takes over what another one is compared with; returns true if that is new.
    fn absorb(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.literals.extend(other.literals.iter().cloned());
        self.fields.extend(other.fields.iter().cloned());
        self.parts.extend(other.parts.iter().cloned());
        self.part_fields.extend(other.part_fields.iter().cloned());
        self.trimmed |= other.trimmed;
        self.slug |= other.slug;
        *self != before
    }
}

/// What is open about an expression.
#[derive(Debug, Default, Clone)]
pub struct Openness {
    /// The inputs on which its outcome depends in ways that no trial settles: `files.a`, `event.prompt`, `field.n`.
    pub inputs: BTreeSet<String>,
    /// It may fail for some values of these inputs.
    pub fails: BTreeSet<String>,
    /// The inputs that it looks at.
    pub looks: BTreeSet<String>,
}

impl Openness {
    /// Adds what is open about the same expression in another place.
    fn merge(&mut self, other: &Self) {
        self.inputs.extend(other.inputs.iter().cloned());
        self.fails.extend(other.fails.iter().cloned());
        self.looks.extend(other.looks.iter().cloned());
    }
}

/// How expressions look at a context field.
#[derive(Debug, Default)]
pub struct Uses {
    /// The fields and settings that it is compared with.
    pub beside: BTreeSet<String>,
    /// The greatest integer that it is compared with.
    pub most: Option<i64>,
    /// How often it is looked at in another way than to compare it with these, to show it, or to add to it.
    pub others: usize,
}

/// What all expressions of a chart ask.
#[derive(Debug, Default)]
pub struct Dependence {
    pub uses: FxHashMap<String, Uses>,
    /// There are blocks in texts that are not looked into.
    pub is_opaque: bool,
    pub compared: FxHashMap<String, Compared>,
    /// By the source of a condition, a text or an assigned value.
    pub open: FxHashMap<String, Openness>,
    /// Fields that may take a value that is not known.
    pub clouded: BTreeSet<String>,
    /// Fields that take the value of an input.
    pub derived: BTreeSet<String>,
    /// Integers that stand beside a number of the state, wherever that is.
    pub numbers: BTreeSet<i64>,
}

/// Returns the root of an input, by which a world says that it was looked at: `files.a.name` → `files.a`.
pub fn root_of(path: &str) -> &str {
    let mut dots = path.match_indices('.').map(|(at, _)| at);
    let first = dots.next().unwrap_or(path.len());
    match stands_alone(&path[..first]) {
        true => &path[..first],
        false => &path[..dots.next().unwrap_or(path.len())],
    }
}

/// Says that something depends on inputs that are not tried at every value.
pub fn depends(inputs: &BTreeSet<String>) -> String {
    let names = inputs.iter();
    let names = names.map(|input| input.strip_prefix("field.").unwrap_or(input));
    let names: IndexSet<&str> = names.collect();
    let names = Vec::from_iter(names).join(", ");
    format!("depends on {names}, of which not every value that matters is tried")
}

/// One value that an expression can have.
#[derive(Debug, Clone, PartialEq)]
enum Term {
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
struct Val {
    terms: Vec<Term>,
    /// The inputs of which it is computed.
    computed: BTreeSet<String>,
    /// Of a list: items that are the same are one, in no order.
    is_set: bool,
}

impl Val {
    /// Returns a value that the state and what is tried determine.
    fn settled() -> Self {
        Self::of(Term::Settled)
    }

    /// Returns a value that is this.
    fn of(term: Term) -> Self {
        Self { terms: vec![term], ..Self::default() }
    }

    /// Returns the value of an input.
    fn input(path: impl Into<String>, list: bool) -> Self {
        Self::of(Term::Input { path: path.into(), list })
    }

    /// Returns a list of which only the empty one is tried.
    fn unknown_list(path: &str) -> Self {
        Self { computed: BTreeSet::from([path.to_owned()]), ..Self::input(path, true) }
    }

    /// Returns what is computed of inputs.
    fn computed(inputs: BTreeSet<String>) -> Self {
        Self { terms: vec![Term::Settled], computed: inputs, ..Self::default() }
    }

    /// Returns a value that is one of both.
    fn join(mut self, other: Self) -> Self {
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
fn as_list(mut value: Val, is_list: bool) -> Val {
    for term in &mut value.terms {
        if let Term::Input { list, .. } = term {
            *list = is_list;
        }
    }
    value
}

/// What an input can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    Text,
    List,
    /// Nothing of it is tried.
    Untried,
}
