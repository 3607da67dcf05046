//! Terms: the expressions of a chart, and the rest of them where something is unknown. Each is a number, so two that
//! read the same are one, and the facts about it are found by that number.

use std::rc::Rc;

use indexmap::IndexSet;
use minijinja::Value;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::{Value as Json, json};

use crate::chart::Chart;
use crate::chart::model::Field;
use crate::engine::context::{to_json, to_value};
use crate::engine::names::types::{ChartNames, Uses};
use crate::expr::Expressions;
use crate::expr::infer;
use crate::expr::types::Type;

/// The number of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term(u32);

/// The value of a field that has some text or list: which one is unknown.
pub(super) const SOME: Term = Term(0);
pub(super) const NULL: Term = Term(1);
pub(super) const FALSE: Term = Term(2);
pub(super) const TRUE: Term = Term(3);

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Order {
    Equal,
    Less,
    AtMost,
    In,
}

/// What a term is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Some,
    Known(Json),
    /// A field of the context, whatever it holds.
    Field(usize),
    /// What a field holds if that is [`SOME`].
    Held(usize),
    /// A name with its dots whose value is unknown: `files.notes`, `config.clean`.
    Name(String),
    /// A name that depends on the running cycle, of one cycle and one number of a review, where its value is unknown.
    OfCycle(String, usize, i64),
    /// A name of the chart for a condition that depends only on unknown things: it is asked as a whole.
    Let(String, Term),
    Not(Term),
    And(Term, Term),
    Or(Term, Term),
    If(Term, Term, Term),
    Compare(Order, Term, Term),
    Math(&'static str, Term, Term),
    Test(String, Term, Vec<Term>),
    Filter(String, Term, Vec<(String, Term)>),
    List(Vec<Term>),
    Attribute(Term, String),
    Item(Term, Term),
    /// How many items a list has; 1 for what is true, 0 for what is false.
    Size(Term),
    /// The check of this number in the list `checks.NAME` finds something.
    Finds(String, usize),
    /// A text with holes, or what is not followed.
    Other(String),
}

/// The filters that change no number of items.
const SAME_NUMBER: &[&str] = &["list", "sort", "map"];

/// The filters after which a list can be shorter.
const FEWER: &[&str] = &["select", "reject", "selectattr", "rejectattr", "slice", "unique", "set"];

/// All terms of a chart, and the facts about each.
pub(super) struct Terms {
    pub(super) chart: std::sync::Arc<Chart>,
    expressions: Expressions,
    nodes: IndexSet<Rc<Node>, FxBuildHasher>,
    kinds: FxHashMap<Term, Rc<Type>>,
    constants: FxHashMap<Term, Option<Term>>,
    names: FxHashMap<Term, Rc<Vec<u32>>>,
    settings: FxHashMap<Term, bool>,
    fields: FxHashMap<(Term, usize), bool>,
    limits: FxHashMap<Term, (Option<i64>, Option<i64>)>,
    /// The names that terms look at, by their numbers.
    all_names: IndexSet<String, FxBuildHasher>,
}

impl Terms {
    pub(super) fn new(chart: &std::sync::Arc<Chart>) -> Self {
        let mut terms = Self {
            chart: std::sync::Arc::clone(chart),
            expressions: Expressions::new(chart.templates.clone()),
            nodes: IndexSet::default(),
            kinds: FxHashMap::default(),
            constants: FxHashMap::default(),
            names: FxHashMap::default(),
            settings: FxHashMap::default(),
            fields: FxHashMap::default(),
            limits: FxHashMap::default(),
            all_names: IndexSet::default(),
        };
        terms.of(Node::Some);
        for value in [Json::Null, json!(false), json!(true)] {
            terms.of(Node::Known(value));
        }
        terms
    }

    /// Returns the term that is made of this.
    pub(super) fn of(&mut self, node: Node) -> Term {
        let known = self.nodes.get_index_of(&node);
        let at = known.unwrap_or_else(|| self.nodes.insert_full(Rc::new(node)).0);
        Term(u32::try_from(at).unwrap_or(u32::MAX))
    }

    pub(super) fn known(&mut self, value: impl Into<Json>) -> Term {
        self.of(Node::Known(value.into()))
    }

    pub(super) fn node(&self, term: Term) -> Rc<Node> {
        Rc::clone(&self.nodes[term.0 as usize])
    }

    /// Returns the value of a term that has one.
    pub(super) fn value(&self, term: Term) -> Option<&Json> {
        match &*self.nodes[term.0 as usize] {
            Node::Known(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn is_known(&self, term: Term) -> bool {
        self.value(term).is_some()
    }

    pub(super) fn number(&self, term: Term) -> Option<i64> {
        self.value(term)?.as_i64()
    }

    /// Returns the type of a term whose value is unknown.
    pub(super) fn kind(&mut self, term: Term) -> Rc<Type> {
        if let Some(known) = self.kinds.get(&term) {
            return Rc::clone(known);
        }
        let kind = match &*self.node(term) {
            Node::Size(_) => Type::Integer,
            Node::Finds(..) => Type::Boolean,
            _ => {
                let names = ChartNames::new(&self.chart, &Uses::default());
                infer::expression(&self.text(term), &names).0
            }
        };
        let kind = Rc::new(kind);
        self.kinds.insert(term, Rc::clone(&kind));
        kind
    }

    /// Returns whether a term can be none, as far as its type says.
    pub(super) fn may_be_none(&mut self, term: Term) -> bool {
        matches!(*self.kind(term), Type::Optional(_) | Type::None | Type::Any)
            && !matches!(*self.node(term), Node::Math(..) | Node::Held(..) | Node::Other(_))
    }

    /// Returns the value of a term all of whose parts have one; `None` where evaluating it fails.
    pub(super) fn constant(&mut self, term: Term) -> Option<Term> {
        if let Some(known) = self.constants.get(&term) {
            return *known;
        }
        let value = self.expressions.value(&self.text(term), &Value::from_pairs([("", ())]));
        let value = value.ok().and_then(|value| to_json(&value)).map(|value| self.known(value));
        self.constants.insert(term, value);
        value
    }

    /// Returns whether a list or a boolean is unknown as a whole: what is asked of it is its size.
    pub(super) fn size(&mut self, of: Term) -> Term {
        let mut list = of;
        while let Node::Filter(name, on, _) = &*self.node(list)
            && SAME_NUMBER.contains(&name.as_str())
        {
            list = *on;
        }
        self.of(Node::Size(list))
    }

    /// Returns the list or condition that has items, or is true, if this one has or is.
    pub(super) fn above(&mut self, of: Term) -> Option<Term> {
        match &*self.node(of) {
            Node::Filter(name, on, _) if FEWER.contains(&name.as_str()) => Some(*on),
            Node::Compare(Order::In, _, list) if !self.is_known(*list) => Some(*list),
            Node::Name(name) => {
                let (table, part) = name.strip_prefix("tables.")?.split_once('.')?;
                let above = match part {
                    "exists" => return None,
                    "open" => "rows",
                    _ => "exists",
                };
                Some(self.of(Node::Name(format!("tables.{table}.{above}"))))
            }
            _ => None,
        }
    }

    /// Returns whether a term depends on settings alone.
    pub(super) fn is_setting(&mut self, term: Term) -> bool {
        if let Some(known) = self.settings.get(&term) {
            return *known;
        }
        let names = self.names(term);
        let mut texts = names.iter().map(|name| self.name_text(*name));
        let is_setting = !names.is_empty() && texts.all(|name| name.starts_with("config."));
        self.settings.insert(term, is_setting);
        is_setting
    }

    /// Returns whether a term depends on a field, or perhaps does: what checks look at is not followed.
    pub(super) fn may_look_at(&mut self, term: Term, field: usize) -> bool {
        if let Some(known) = self.fields.get(&(term, field)) {
            return *known;
        }
        let own = self.of(Node::Field(field));
        let (own, names) = (self.names(own), self.names(term));
        let is_check = |name: &u32| self.name_text(*name).starts_with("checks.");
        let may = names.iter().any(|name| own.contains(name) || is_check(name));
        self.fields.insert((term, field), may);
        may
    }

    /// Returns the least and the greatest number that a term can be, where its name says so.
    pub(super) fn limits(&mut self, term: Term) -> (Option<i64>, Option<i64>) {
        if let Some(known) = self.limits.get(&term) {
            return *known;
        }
        let limits =
            |field: Option<&Field>| field.map_or((None, None), |it| (it.minimum, it.maximum));
        let found = match &*self.node(term) {
            Node::Size(of) => (self.limits(*of).0.max(Some(0)), None),
            Node::Name(name) => match name.split_once('.') {
                Some(("config", name)) => limits(self.chart.config.get(name)),
                Some(("args", name)) => {
                    let arg = self.chart.args.get(name);
                    arg.map_or((None, None), |it| (it.of.minimum, it.of.maximum))
                }
                Some(("gate", "times")) => (Some(1), None),
                Some(_) => (None, None),
                None => limits(self.chart.context.get(name)),
            },
            _ => (None, None),
        };
        self.limits.insert(term, found);
        found
    }

    /// Returns a term as a person would write it.
    pub(super) fn text(&self, term: Term) -> String {
        let part = |term: &Term| self.part(*term);
        let all = |terms: &[Term]| {
            let texts: Vec<String> = terms.iter().map(|term| self.text(*term)).collect();
            texts.join(", ")
        };
        match &*self.nodes[term.0 as usize] {
            Node::Some => "some text".to_owned(),
            Node::Known(value) => written(value),
            Node::Field(at) | Node::Held(at) => {
                self.chart.context.get_index(*at).map_or_else(String::new, |(name, _)| name.clone())
            }
            Node::Name(name) | Node::OfCycle(name, ..) | Node::Let(name, _) => name.clone(),
            Node::Not(inner) => self.negated(*inner),
            Node::And(a, b) => format!("{} and {}", part(a), part(b)),
            Node::Or(a, b) => format!("{} or {}", part(a), part(b)),
            Node::If(test, a, b) => format!("{} if {} else {}", part(a), part(test), part(b)),
            Node::Compare(order, a, b) => {
                // `2 <= x` reads better the other way round.
                let (order, a, b) = match (order, self.is_known(*a)) {
                    (Order::Less, true) => (">", b, a),
                    (Order::AtMost, true) => (">=", b, a),
                    (Order::Equal, _) => ("==", a, b),
                    (Order::Less, _) => ("<", a, b),
                    (Order::AtMost, _) => ("<=", a, b),
                    (Order::In, _) => ("in", a, b),
                };
                format!("{} {order} {}", part(a), part(b))
            }
            Node::Math(sign, a, b) => format!("{} {sign} {}", part(a), part(b)),
            Node::Test(name, on, args) if args.is_empty() => format!("{} is {name}", part(on)),
            Node::Test(name, on, args) => format!("{} is {name}({})", part(on), all(args)),
            Node::Filter(name, on, args) => {
                let arg = |(name, arg): &(String, Term)| match name.as_str() {
                    "" => self.text(*arg),
                    name => format!("{name}={}", self.text(*arg)),
                };
                let args: Vec<String> = args.iter().map(arg).collect();
                match (name.as_str(), args.as_slice()) {
                    ("slice", [start, end]) => format!("{}[{start}:{end}]", part(on)),
                    (name, []) => format!("{} | {name}", part(on)),
                    (name, args) => format!("{} | {name}({})", part(on), args.join(", ")),
                }
            }
            Node::List(items) => format!("[{}]", all(items)),
            Node::Attribute(on, name) => format!("{}.{name}", part(on)),
            Node::Item(on, at) => format!("{}[{}]", part(on), self.text(*at)),
            Node::Size(of) => format!("{} | length", part(of)),
            Node::Finds(name, index) => format!("checks.{name}[{index}] finds something"),
            Node::Other(text) => text.clone(),
        }
    }

    /// Returns, as a person would write it, that a term is not so.
    pub(super) fn negated(&self, term: Term) -> String {
        let part = |term: &Term| self.part(*term);
        match &*self.nodes[term.0 as usize] {
            Node::Compare(Order::Equal, a, b) => format!("{} != {}", part(a), part(b)),
            Node::Compare(Order::In, a, b) => format!("{} not in {}", part(a), part(b)),
            Node::Compare(Order::AtMost, a, b) if self.is_known(*a) => {
                format!("{} < {}", part(b), part(a))
            }
            Node::Test(name, on, args) if args.is_empty() => format!("{} is not {name}", part(on)),
            _ => format!("not {}", self.part(term)),
        }
    }

    /// Returns a term as a part of another one.
    fn part(&self, term: Term) -> String {
        let text = self.text(term);
        match &*self.nodes[term.0 as usize] {
            Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::If(..)
            | Node::Compare(..)
            | Node::Math(..)
            | Node::Test(..)
            | Node::Size(_)
            | Node::Filter(..) => format!("({text})"),
            _ => text,
        }
    }

    /// Returns the number of a name.
    pub(super) fn name(&mut self, name: &str) -> u32 {
        let known = self.all_names.get_index_of(name);
        let at = known.unwrap_or_else(|| self.all_names.insert_full(name.to_owned()).0);
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    pub(super) fn name_text(&self, name: u32) -> &str {
        self.all_names.get_index(name as usize).map_or("", String::as_str)
    }

    /// Returns the terms of which a term directly consists.
    pub(super) fn parts(&self, term: Term) -> Vec<Term> {
        match &*self.nodes[term.0 as usize] {
            Node::Let(_, a) | Node::Not(a) | Node::Attribute(a, _) | Node::Size(a) => vec![*a],
            Node::And(a, b)
            | Node::Or(a, b)
            | Node::Compare(_, a, b)
            | Node::Math(_, a, b)
            | Node::Item(a, b) => vec![*a, *b],
            Node::If(a, b, c) => vec![*a, *b, *c],
            Node::Test(_, on, args) => [&[*on], args.as_slice()].concat(),
            Node::Filter(_, on, args) => {
                std::iter::once(*on).chain(args.iter().map(|(_, arg)| *arg)).collect()
            }
            Node::List(items) => items.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the numbers of the names that a term looks at, those behind `checks` and `cycle` aside.
    pub(super) fn names(&mut self, term: Term) -> Rc<Vec<u32>> {
        if let Some(known) = self.names.get(&term) {
            return Rc::clone(known);
        }
        let own = match &*self.node(term) {
            Node::Field(at) | Node::Held(at) => {
                self.chart.context.get_index(*at).map(|(name, _)| name.clone())
            }
            Node::Name(name) => Some(source_of(name)),
            Node::OfCycle(name, ..) | Node::Let(name, _) => Some(name.clone()),
            Node::Finds(name, _) => Some(format!("checks.{name}")),
            _ => None,
        };
        let mut all: Vec<u32> = own.map(|name| self.name(&name)).into_iter().collect();
        for part in self.parts(term) {
            all.extend(&*self.names(part));
        }
        all.sort_unstable();
        all.dedup();
        let all = Rc::new(all);
        self.names.insert(term, Rc::clone(&all));
        all
    }
}

/// Returns what a name begins with: `cycle` of `cycle.due`.
pub(super) fn root(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Returns the name under which the facts about a name are kept: that of a table stands for all of its parts.
fn source_of(name: &str) -> String {
    match name.strip_prefix("tables.").and_then(|name| name.split_once('.')) {
        Some((table, _)) => format!("tables.{table}"),
        None => name.to_owned(),
    }
}

/// Returns a value as an expression.
pub(super) fn written(value: &Json) -> String {
    match value {
        Json::Null => "none".to_owned(),
        Json::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", "))
        }
        Json::Object(_) => to_value(value).to_string(),
        other => other.to_string(),
    }
}
