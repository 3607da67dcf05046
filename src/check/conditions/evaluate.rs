//! Evaluates terms with three values: yes, no, and open. The smallest condition that is open is asked: both answers are
//! followed, one path after the other, and within one event an answer holds for everything that follows from it.

use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::facts::Facts;
use super::read::Program;
use super::term::{FALSE, NULL, Node, Order, SOME, TRUE, Term};
use crate::chart::field::LARGEST_INTEGER;
use crate::diagnostic::code::Code;
use crate::expr::types::Type;

/// How a review ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    /// It gave this verdict, or none.
    Ran(Option<Term>),
    Failed,
    /// A gate failed before it.
    Gate,
}

/// Why an event has no decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Failure {
    pub(super) code: Code,
    pub(super) message: String,
    /// Where in the chart.
    pub(super) place: String,
}

/// What an event does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Done {
    /// The fields that it assigns, and their values.
    pub(super) assigned: Vec<(usize, Term)>,
    /// The places of the rules that fire.
    pub(super) fired: Vec<usize>,
    pub(super) blocks: bool,
    /// Whether the agent was blocked before in this turn, if that was asked.
    pub(super) active: Option<bool>,
    /// The review that has run, how it ended, and its number.
    pub(super) review: Option<(usize, Outcome, i64)>,
    /// A gate has failed, and has not failed often.
    pub(super) is_early_gate: bool,
    /// What the settings must be.
    pub(super) settings: Facts,
    /// The cycles that start over.
    pub(super) starts: Vec<usize>,
    /// The cycle that ends, and the target that is taken.
    pub(super) advance: Option<(usize, usize)>,
    pub(super) failure: Option<Failure>,
}

/// How far a decision has come: the fields, and what has been chosen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Course {
    pub(super) fields: Rc<Vec<Term>>,
    /// The state is written.
    pub(super) started: bool,
    pub(super) facts: Facts,
    pub(super) done: Rc<Done>,
}

/// The answers of one path: which was taken, and out of how many.
#[derive(Debug, Default)]
pub(super) struct Answers {
    taken: Vec<(usize, usize)>,
}

impl Answers {
    /// Turns to the next path; false after the last one.
    pub(super) fn next(&mut self) -> bool {
        while let Some((taken, of)) = self.taken.pop() {
            if taken + 1 < of {
                self.taken.push((taken + 1, of));
                return true;
            }
        }
        false
    }
}

/// The bit of whether the state is written, in [`Path::looked`].
pub(super) const STARTED: u32 = 127;

/// The bit of all fields from this one on.
pub(super) const LAST_FIELD: usize = 126;

/// One path through a part of a decision.
pub(super) struct Path<'p> {
    pub(super) program: &'p mut Program,
    pub(super) course: Course,
    answers: &'p mut Answers,
    /// How many answers were used.
    used: usize,
    /// What was asked, and whether it is so.
    pub(super) asked: Vec<(Term, bool)>,
    /// A bit for each field that was looked at.
    pub(super) looked: u128,
    /// Why something has no value.
    pub(super) fault: Option<String>,
}

impl Course {
    pub(super) fn new(fields: &Rc<Vec<Term>>, started: bool) -> Self {
        Self { fields: Rc::clone(fields), started, facts: Facts::default(), done: Rc::default() }
    }
}

impl<'p> Path<'p> {
    pub(super) fn new(program: &'p mut Program, course: Course, answers: &'p mut Answers) -> Self {
        Self { program, course, answers, used: 0, asked: Vec::new(), looked: 0, fault: None }
    }

    /// Takes one of several ways; each other one is another path.
    pub(super) fn pick(&mut self, of: usize) -> usize {
        if self.used == self.answers.taken.len() {
            self.answers.taken.push((0, of));
        }
        self.used += 1;
        self.answers.taken[self.used - 1].0
    }

    fn ask(&mut self, what: Term) -> bool {
        let is_so = self.pick(2) == 0;
        self.asked.push((what, is_so));
        is_so
    }

    pub(super) fn field(&mut self, at: usize) -> Term {
        self.looked |= 1 << at.min(LAST_FIELD);
        self.course.fields[at]
    }

    /// Returns the value of a field; null if the chart has none of that name.
    pub(super) fn field_named(&mut self, name: &str) -> Term {
        let at = self.program.chart.context.get_index_of(name);
        at.map_or(NULL, |at| self.field(at))
    }

    /// Assigns a field. What was known of the old value is known no longer, nor what checks find that may look at it.
    pub(super) fn set(&mut self, at: usize, value: Term) {
        if value != SOME && self.course.fields[at] == value {
            return;
        }
        Rc::make_mut(&mut self.course.fields)[at] = value;
        let terms = &mut self.program.terms;
        self.course.facts.retain(|term| !terms.may_look_at(term, at));
    }

    /// Something has no value, so the decision fails.
    fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    /// Returns whether a condition is true; where nothing may be asked, none if that is open.
    pub(super) fn truth(&mut self, term: Term, ask: bool) -> Option<bool> {
        match &*self.program.terms.node(term) {
            Node::Not(inner) => self.truth(*inner, ask).map(|it| !it),
            Node::And(a, b) => self.either(*a, *b, false, ask),
            Node::Or(a, b) => self.either(*a, *b, true, ask),
            Node::Compare(order, a, b) => self.compare(*order, *a, *b, ask),
            Node::Test(name, on, args) => self.test(name, *on, args, ask),
            Node::Let(_, inner) => {
                let known = self.truth(*inner, false);
                if known.is_some() { known } else { self.is_true(term, ask) }
            }
            Node::Name(name) if name.starts_with("checks.") => self.finds(term, &name[7..], ask),
            _ => {
                let value = self.value(term, ask)?;
                match self.program.terms.value(value) {
                    Some(Json::Array(items)) => Some(!items.is_empty()),
                    Some(value) => Some(*value == json!(true)),
                    None => self.is_true(value, ask),
                }
            }
        }
    }

    /// Returns whether both are true, or either; `stop` is the value that decides alone.
    fn either(&mut self, a: Term, b: Term, stop: bool, ask: bool) -> Option<bool> {
        let first = self.truth(a, false);
        if first == Some(stop) {
            return first;
        }
        if first.is_some() {
            return self.truth(b, ask);
        }
        // What is known need not be asked.
        let second = self.truth(b, false);
        if second == Some(stop) || !ask {
            return second.filter(|it| *it == stop);
        }
        let decides = self.truth(a, true) == Some(stop) || self.truth(b, true) == Some(stop);
        Some(decides == stop)
    }

    /// Returns whether any of these is so.
    fn any<T>(
        &mut self,
        all: impl IntoIterator<Item = T>,
        mut is_so: impl FnMut(&mut Self, T) -> Option<bool>,
    ) -> Option<bool> {
        let mut is_open = false;
        for one in all {
            match is_so(self, one) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_open = true,
            }
        }
        (!is_open).then_some(false)
    }

    /// Returns whether a list of checks finds something: it is asked as a whole.
    fn finds(&mut self, checks: Term, name: &str, ask: bool) -> Option<bool> {
        let count = self.program.chart.checks.get(name).map_or(0, Vec::len);
        let known = self.any(0..count, |path, index| path.check(name, index, false));
        if known.is_some() { known } else { self.is_true(checks, ask) }
    }

    /// Returns whether one check finds something.
    pub(super) fn check(&mut self, name: &str, index: usize, ask: bool) -> Option<bool> {
        let check = self.program.chart.checks.get(name)?.get(index)?.clone();
        let guard = check.guard.map(|guard| self.program.expr(&guard.0, None));
        let Some(each) = check.each else {
            return guard.map_or(Some(true), |guard| self.truth(guard, ask));
        };
        let each = self.program.expr(&each.0, None);
        if !self.truth(each, ask)? {
            return Some(false);
        }
        // What of its guard does not turn on the item can be known.
        let known = guard.map_or(Some(true), |guard| self.truth(guard, false));
        if known.is_some() {
            return known;
        }
        let finds = self.program.terms.of(Node::Finds(name.to_owned(), index));
        self.is_true(finds, ask)
    }

    fn compare(&mut self, order: Order, a: Term, b: Term, ask: bool) -> Option<bool> {
        if order == Order::In
            && let Node::List(items) = &*self.program.terms.node(b)
        {
            let items = items.iter().copied();
            return self.any(items, |path, item| path.compare(Order::Equal, a, item, ask));
        }
        let (a, b) = (self.value(a, ask)?, self.value(b, ask)?);
        let terms = &mut self.program.terms;
        let less = i64::from(order == Order::Less);
        match (order, terms.value(a).cloned(), terms.value(b).cloned()) {
            (Order::Equal, Some(a), Some(b)) => Some(a == b),
            (Order::Less | Order::AtMost, Some(Json::Number(a)), Some(Json::Number(b)))
                if a.is_i64() && b.is_i64() =>
            {
                Some(a.as_i64() < b.as_i64() || less == 0 && a == b)
            }
            (_, Some(_), Some(_)) => {
                let both = terms.of(Node::Compare(order, a, b));
                Some(self.constant(both, ask)? == TRUE)
            }
            (Order::Equal, Some(_), None) => self.is(b, a, ask),
            (Order::Equal, None, Some(_)) => self.is(a, b, ask),
            (Order::In, None, Some(Json::Array(items))) => self.any(items, |path, item| {
                let item = path.program.terms.known(item);
                path.is(a, item, ask)
            }),
            (Order::Less | Order::AtMost, Some(Json::Number(number)), None) if number.is_i64() => {
                let number = number.as_i64().unwrap_or_default();
                self.at_least(b, number.saturating_add(less), ask)
            }
            (Order::Less | Order::AtMost, None, Some(Json::Number(number))) if number.is_i64() => {
                let number = number.as_i64().unwrap_or_default();
                self.at_least(a, number.saturating_add(1 - less), ask).map(|it| !it)
            }
            (Order::Equal | Order::AtMost, None, None) if a == b => Some(true),
            (Order::Less, None, None) if a == b => Some(false),
            _ => {
                let (a, b) = if order == Order::Equal && b < a { (b, a) } else { (a, b) };
                let both = terms.of(Node::Compare(order, a, b));
                self.is_true(both, ask)
            }
        }
    }

    fn test(&mut self, name: &str, on: Term, args: &[Term], ask: bool) -> Option<bool> {
        let on = self.value(on, ask)?;
        let args: Option<Vec<Term>> = args.iter().map(|arg| self.value(*arg, ask)).collect();
        let args = args?;
        match name {
            "none" if self.program.terms.is_known(on) => return Some(on == NULL),
            "none" => return self.is(on, NULL, ask),
            _ => {}
        }
        let is_known = self.are_known(on, &args);
        let term = self.program.terms.of(Node::Test(name.to_owned(), on, args));
        match is_known {
            true => Some(self.constant(term, ask)? == TRUE),
            false => self.is_true(term, ask),
        }
    }

    fn are_known(&self, on: Term, others: &[Term]) -> bool {
        let terms = &self.program.terms;
        terms.is_known(on) && others.iter().all(|term| terms.is_known(*term))
    }

    /// Returns the value of a term all of whose parts are known.
    fn constant(&mut self, term: Term, ask: bool) -> Option<Term> {
        let value = self.program.terms.constant(term);
        if value.is_none() && ask {
            let text = self.program.terms.text(term);
            self.fail(format!("`{text}` has no value"));
            return Some(NULL);
        }
        value
    }

    /// Returns a value, or its term if it is unknown; where nothing may be asked, none if it depends on something that is still
    /// open.
    pub(super) fn value(&mut self, term: Term, ask: bool) -> Option<Term> {
        let node = self.program.terms.node(term);
        match &*node {
            Node::Some | Node::Known(_) | Node::Other(_) => Some(term),
            Node::Held(..) | Node::OfCycle(..) | Node::Size(_) => Some(self.settled(term)),
            Node::Field(at) => {
                let value = self.field(*at);
                if value != SOME {
                    return Some(value);
                }
                let held = self.program.terms.of(Node::Held(*at));
                Some(self.settled(held))
            }
            Node::Name(name) => self.named(term, name, ask),
            Node::If(test, a, b) => match self.truth(*test, ask) {
                Some(true) => self.value(*a, ask),
                Some(false) => self.value(*b, ask),
                None => {
                    let first = self.value(*a, false)?;
                    (self.value(*b, false)? == first).then_some(first)
                }
            },
            Node::Let(_, inner) if *self.program.terms.kind(term) == Type::Integer => {
                let known = self.value(*inner, false);
                known.or_else(|| Some(self.settled(term)))
            }
            Node::Let(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Compare(..)
            | Node::Test(..)
            | Node::Finds(..) => {
                self.truth(term, ask).map(|is_so| if is_so { TRUE } else { FALSE })
            }
            Node::Math(sign, a, b) => {
                let (a, b) = (self.value(*a, ask)?, self.value(*b, ask)?);
                let terms = &mut self.program.terms;
                let numbers = terms.number(a).zip(terms.number(b));
                let sum = numbers.and_then(|(a, b)| match *sign {
                    "+" => a.checked_add(b),
                    "-" => a.checked_sub(b),
                    _ => None,
                });
                if let Some(sum) = sum {
                    return Some(terms.known(sum));
                }
                let term = terms.of(Node::Math(sign, a, b));
                match self.are_known(a, &[b]) {
                    true => self.constant(term, ask),
                    false => Some(self.settled(term)),
                }
            }
            Node::List(items) => {
                let items: Option<Vec<Term>> =
                    items.iter().map(|item| self.value(*item, ask)).collect();
                let items = items?;
                let terms = &mut self.program.terms;
                let known: Option<Vec<Json>> =
                    items.iter().map(|item| terms.value(*item).cloned()).collect();
                Some(match known {
                    Some(known) => terms.known(known),
                    None => terms.of(Node::List(items)),
                })
            }
            Node::Filter(name, on, args) => {
                let on = self.value(*on, ask)?;
                let values: Option<Vec<Term>> =
                    args.iter().map(|(_, arg)| self.value(*arg, ask)).collect();
                let values = values?;
                if name == "length" && !self.program.terms.is_known(on) {
                    let size = self.program.terms.size(on);
                    return Some(self.settled(size));
                }
                let is_known = self.are_known(on, &values);
                let names = args.iter().map(|(name, _)| name.clone());
                let args = names.zip(values).collect();
                let term = self.program.terms.of(Node::Filter(name.clone(), on, args));
                match is_known {
                    true => self.constant(term, ask),
                    false => Some(self.settled(term)),
                }
            }
            Node::Attribute(on, name) => {
                let on = self.value(*on, ask)?;
                let terms = &mut self.program.terms;
                if let Some(Json::Object(fields)) = terms.value(on) {
                    let field = fields.get(name).cloned();
                    return Some(terms.known(field.unwrap_or_default()));
                }
                let term = terms.of(Node::Attribute(on, name.clone()));
                Some(self.settled(term))
            }
            Node::Item(on, at) => self.item(*on, *at, ask),
        }
    }

    /// Returns an item of a list, which must have that many.
    fn item(&mut self, on: Term, at: Term, ask: bool) -> Option<Term> {
        let (on, at) = (self.value(on, ask)?, self.value(at, ask)?);
        let term = self.program.terms.of(Node::Item(on, at));
        if self.are_known(on, &[at]) {
            return self.constant(term, ask);
        }
        let is_list = matches!(*self.program.terms.kind(on), Type::List(_));
        if let (true, Some(number)) = (is_list, self.program.terms.number(at)) {
            let needed = if number < 0 { number.saturating_neg() } else { number + 1 };
            let size = self.program.terms.size(on);
            if !self.at_least(size, needed, ask)? {
                let text = self.program.terms.text(term);
                self.fail(format!("`{text}` has no value: there is no such item"));
                return Some(NULL);
            }
        }
        Some(self.settled(term))
    }

    /// Returns the value that has been chosen for a term, or the term.
    pub(super) fn settled(&self, term: Term) -> Term {
        match self.course.facts.get(term) {
            Some(fact) if fact.none == Some(true) => NULL,
            Some(fact) => fact.is.unwrap_or(term),
            None => term,
        }
    }

    /// Returns whether a boolean is true, or a list has items.
    pub(super) fn is_true(&mut self, term: Term, ask: bool) -> Option<bool> {
        let size = self.program.terms.size(term);
        self.at_least(size, 1, ask)
    }

    /// Returns whether an unknown number is at least this.
    pub(super) fn at_least(&mut self, term: Term, least: i64, ask: bool) -> Option<bool> {
        let known = self.bounded(term, least);
        if known.is_some() || !ask {
            return known;
        }
        let terms = &mut self.program.terms;
        let what = match &*terms.node(term) {
            Node::Size(of) if least == 1 => *of,
            _ => {
                let least = terms.known(least);
                terms.of(Node::Compare(Order::AtMost, least, term))
            }
        };
        let is_so = self.ask(what);
        self.course.facts.entry(term).bound(least, is_so);
        // What has a part has items.
        let mut part = term;
        while let (true, Node::Size(of)) = (is_so, &*self.program.terms.node(part))
            && let Some(above) = self.program.terms.above(*of)
        {
            part = self.program.terms.size(above);
            self.course.facts.entry(part).bound(1, true);
        }
        Some(is_so)
    }

    /// Returns whether it follows from what is known that a number is at least this.
    fn bounded(&mut self, term: Term, least: i64) -> Option<bool> {
        if let Some(fact) = self.course.facts.get(term) {
            if fact.least.is_some_and(|known| known >= least) {
                return Some(true);
            }
            if fact.most.is_some_and(|known| known < least) {
                return Some(false);
            }
        }
        let (minimum, maximum) = self.program.terms.limits(term);
        if minimum.is_some_and(|minimum| minimum >= least) {
            return Some(true);
        }
        if maximum.is_some_and(|maximum| maximum < least) || least > LARGEST_INTEGER {
            return Some(false);
        }
        match &*self.program.terms.node(term) {
            Node::Size(of) => self.sized(*of, least),
            // A number that the user sets is small: what happens with a larger one happens with one of these.
            Node::Name(name) if name.starts_with("config.") => {
                self.program.numbers.is_beyond(least).then_some(false)
            }
            _ => None,
        }
    }

    /// Returns whether the facts about other lists imply that one has this number of items.
    fn sized(&mut self, of: Term, least: i64) -> Option<bool> {
        if self.course.facts.get(of).is_some_and(|fact| fact.none == Some(true)) {
            return Some(false);
        }
        // A part of an empty list is empty.
        let mut next = self.program.terms.above(of);
        while let Some(above) = next {
            let size = self.program.terms.size(above);
            let fact = self.course.facts.get(size);
            if fact.is_some_and(|fact| fact.most.is_some_and(|most| most < least)) {
                return Some(false);
            }
            next = self.program.terms.above(above);
        }
        None
    }

    /// Returns whether an unknown value is this one.
    pub(super) fn is(&mut self, term: Term, value: Term, ask: bool) -> Option<bool> {
        let kind = self.program.terms.kind(term);
        if *kind.some() == Type::Boolean && value != NULL {
            return self.is_true(term, ask).map(|is_so| is_so == (value == TRUE));
        }
        let known = self.equals(term, value, &kind);
        if known.is_some() || !ask {
            return known;
        }
        let what = match value {
            NULL => Node::Test("none".to_owned(), term, Vec::new()),
            _ => Node::Compare(Order::Equal, term, value),
        };
        let what = self.program.terms.of(what);
        let is_so = self.ask(what);
        self.course.facts.entry(term).set(value, is_so);
        Some(is_so)
    }

    /// Returns whether it follows from what is known that a value is this one.
    pub(super) fn equals(&mut self, term: Term, value: Term, kind: &Type) -> Option<bool> {
        let may_be_none = self.program.terms.may_be_none(term);
        let fact = self.course.facts.get(term).cloned().unwrap_or_default();
        if let Some(known) = fact.is {
            return Some(known == value);
        }
        if value == NULL {
            let size = self.program.terms.size(term);
            let has_items = self.course.facts.get(size).is_some_and(|it| it.least >= Some(1));
            let is_number = fact.least.is_some() || fact.most.is_some();
            return fact.none.or((!may_be_none || is_number || has_items).then_some(false));
        }
        if fact.none == Some(true) || fact.is_not.contains(&value) {
            return Some(false);
        }
        match (kind.some(), self.program.terms.value(value)) {
            (Type::Word(words), Some(Json::String(word))) if !words.contains(word) => Some(false),
            (Type::Word(words), Some(Json::String(_))) => {
                let is_set = fact.none == Some(false) || !may_be_none;
                (is_set && fact.is_not.len() + 1 >= words.len()).then_some(true)
            }
            (Type::Integer, Some(Json::Number(number))) => {
                let number = number.as_i64()?;
                match (self.bounded(term, number), self.bounded(term, number.checked_add(1)?)) {
                    (Some(false), _) | (_, Some(true)) => Some(false),
                    (Some(true), Some(false)) => Some(true),
                    _ => None,
                }
            }
            // A field that minds has the empty text as a value of its own.
            (_, Some(Json::String(text))) if text.is_empty() => {
                let Node::Held(at) = *self.program.terms.node(term) else { return None };
                Program::minds_empty(&self.program.chart.context[at]).then_some(false)
            }
            _ => None,
        }
    }
}
