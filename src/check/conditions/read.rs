//! Reads the expressions of a chart as terms, with the meaning of each name of `[let]` in its place.

use std::sync::Arc;

use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, UnaryOpKind};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

use super::numbers::Numbers;
use super::term::{NULL, Node, Order, Term, Terms, root};
use crate::chart::fragments::{Fragment, Role};
use crate::chart::model::{Field, FieldType};
use crate::chart::{Chart, Cycle};
use crate::engine::context::to_json;
use crate::expr::source::{Expr as Source, Literal, Text};
use crate::expr::syntax::parse_expr;
use crate::expr::types::Type;
use crate::expr::{has_holes, single_expression};

/// What a name stands for is not looked into if it has more parts: names that refer to names can double at each level.
const LARGEST: usize = 4_000;

/// What a chart says, read.
pub(super) struct Program {
    pub(super) chart: Arc<Chart>,
    pub(super) terms: Terms,
    lets: FxHashMap<String, Term>,
    /// Expressions by their source, for each phase that is `it` in them.
    read: FxHashMap<String, FxHashMap<String, Term>>,
    pub(super) numbers: Numbers,
    /// The fields at which something looks besides their own assignments.
    looked_at: FxHashSet<u32>,
    /// The field that says what comes next, and the cycle of each of its values.
    pub(super) next: Option<usize>,
    pub(super) cycles: FxHashMap<Term, usize>,
}

impl Program {
    pub(super) fn of(chart: &Arc<Chart>) -> Self {
        let mut program = Self {
            chart: Arc::clone(chart),
            terms: Terms::new(chart),
            lets: FxHashMap::default(),
            read: FxHashMap::default(),
            numbers: Numbers::default(),
            looked_at: FxHashSet::default(),
            next: chart.next.as_ref().and_then(|next| chart.context.get_index_of(next)),
            cycles: FxHashMap::default(),
        };
        for (at, cycle) in chart.cycles.values().enumerate() {
            for phase in [&cycle.id, &cycle.post] {
                let phase = program.terms.known(phase.as_str());
                program.cycles.entry(phase).or_insert(at);
            }
        }
        program.numbers = program.find_numbers();
        for (own, term) in program.exprs() {
            let own = own.map(|field| program.terms.name(&field));
            let names = program.terms.names(term);
            program.looked_at.extend(names.iter().filter(|name| Some(**name) != own));
        }
        for cycle in chart.cycles.values() {
            for field in [&cycle.count, &cycle.limit] {
                let name = program.terms.name(field);
                program.looked_at.insert(name);
            }
        }
        program
    }

    /// Returns whether nothing but its own assignments looks at a field.
    pub(super) fn only_counts(&mut self, at: usize) -> bool {
        let name = self.chart.context.get_index(at).map(|(name, _)| self.terms.name(name));
        name.is_none_or(|name| !self.looked_at.contains(&name))
    }

    /// Returns a value as a field holds it: numbers beyond all that are named are one, and so are those of a field that only
    /// counts.
    pub(super) fn held(&mut self, at: usize, value: Term) -> Term {
        let Some(number) = self.terms.number(value) else { return value };
        let held = match self.only_counts(at) {
            true => self.chart.context[at].minimum.unwrap_or_default(),
            false => self.numbers.held(&self.chart.context[at], number),
        };
        self.terms.known(held)
    }

    /// Finds the numbers that the chart names beside a field, a cycle or a setting.
    fn find_numbers(&mut self) -> Numbers {
        let program = self;
        let mut named = Vec::new();
        for term in program.everything() {
            let (Node::Compare(_, a, b) | Node::Math(_, a, b) | Node::If(_, a, b)) =
                *program.terms.node(term)
            else {
                continue;
            };
            let names = program.terms.names(term);
            let is_counted = |name: &u32| {
                let name = program.terms.name_text(*name);
                matches!(root(name), "cycle" | "review" | "config")
                    || program.chart.context.contains_key(name)
            };
            if !names.iter().any(is_counted) {
                continue;
            }
            for number in [a, b].into_iter().filter_map(|side| program.terms.number(side)) {
                named.extend((-1..=1).filter_map(|by| number.checked_add(by)));
            }
        }
        let chart = &program.chart;
        for field in chart.context.values().chain(chart.config.values()) {
            named.extend(field.minimum.into_iter().flat_map(|it| [it, it.saturating_add(1)]));
            named.extend(field.maximum);
        }
        let assigned = chart.assigns().flat_map(|assign| assign.values());
        let defaults = chart.context.values().filter_map(|field| field.default.as_ref());
        named.extend(assigned.chain(defaults).filter_map(|it| it.json().as_i64()));
        Numbers::of(named)
    }

    /// Returns a condition or another expression; `it` is the phase that is entered.
    pub(super) fn expr(&mut self, source: &str, it: Option<&str>) -> Term {
        let phase = it.unwrap_or_default();
        if let Some(known) = self.read.get(phase).and_then(|read| read.get(source)) {
            return *known;
        }
        let term = match parse_expr(source) {
            Ok(expr) => self.build(&expr, it),
            Err(_) => self.terms.of(Node::Other(source.to_owned())),
        };
        self.read.entry(phase.to_owned()).or_default().insert(source.to_owned(), term);
        term
    }

    /// Returns the value of an assignment.
    pub(super) fn literal(&mut self, literal: &Literal, it: Option<&str>) -> Term {
        match literal.text() {
            Some(text) => self.text(text, it),
            None => self.terms.known(literal.json()),
        }
    }

    pub(super) fn text(&mut self, text: &Text, it: Option<&str>) -> Term {
        match single_expression(&text.0) {
            Some(expr) => self.expr(expr, it),
            None if has_holes(&text.0) => self.terms.of(Node::Other(text.0.clone())),
            None => self.terms.known(text.0.clone()),
        }
    }

    /// Returns the expressions on which `cycle.KEY` turns in one cycle.
    pub(super) fn behind(&mut self, cycle: &Cycle, key: &str) -> Vec<Term> {
        let exprs: Vec<&Source> = match key {
            "exit" => vec![&cycle.exit],
            "ready" => cycle.ready.iter().collect(),
            "next" => cycle.advance.iter().filter_map(|target| target.guard.as_ref()).collect(),
            key => {
                let text = key.strip_prefix("text.").and_then(|name| cycle.text.get(name));
                return text.map(|text| self.text(text, None)).into_iter().collect();
            }
        };
        exprs.into_iter().map(|expr| self.expr(&expr.0, None)).collect()
    }

    /// Adds the names at which a term looks, also behind `cycle`.
    pub(super) fn add_names(&mut self, term: Term, into: &mut FxHashSet<u32>) {
        let chart = Arc::clone(&self.chart);
        for name in self.terms.names(term).iter() {
            if !into.insert(*name) {
                continue;
            }
            let text = self.terms.name_text(*name).to_owned();
            let Some(key) = text.strip_prefix("cycle.") else { continue };
            if matches!(key, "due" | "owed") {
                into.insert(self.terms.name("cycle.answered"));
            }
            for cycle in chart.cycles.values() {
                let behind = self.behind(cycle, key);
                behind.into_iter().for_each(|term| self.add_names(term, into));
            }
        }
    }

    fn build(&mut self, expr: &Expr<'_>, it: Option<&str>) -> Term {
        if let Some(value) = expr.as_const() {
            return self.terms.known(to_json(&value).unwrap_or_default());
        }
        let node = match expr {
            Expr::Var(var) => return self.name(var.id),
            Expr::UnaryOp(op) => {
                let inner = self.build(&op.expr, it);
                match op.op {
                    UnaryOpKind::Not => Node::Not(inner),
                    UnaryOpKind::Neg => Node::Math("-", self.terms.known(0), inner),
                }
            }
            Expr::BinOp(op) => {
                let (a, b) = (self.build(&op.left, it), self.build(&op.right, it));
                let order = match op.op {
                    BinOpKind::Eq => CompareOpKind::Eq,
                    BinOpKind::Ne => CompareOpKind::Ne,
                    BinOpKind::Lt => CompareOpKind::Lt,
                    BinOpKind::Lte => CompareOpKind::Lte,
                    BinOpKind::Gt => CompareOpKind::Gt,
                    BinOpKind::Gte => CompareOpKind::Gte,
                    BinOpKind::In => CompareOpKind::In,
                    BinOpKind::ScAnd => return self.terms.of(Node::And(a, b)),
                    BinOpKind::ScOr => return self.terms.of(Node::Or(a, b)),
                    sign => return self.terms.of(Node::Math(sign_of(sign), a, b)),
                };
                return self.compare(order, a, b);
            }
            Expr::Compare(chain) => {
                let mut left = self.build(&chain.expr, it);
                let mut all = None;
                for op in &chain.ops {
                    let right = self.build(&op.expr, it);
                    let one = self.compare(op.op, left, right);
                    all = Some(all.map_or(one, |all| self.terms.of(Node::And(all, one))));
                    left = right;
                }
                return all.unwrap_or(left);
            }
            Expr::IfExpr(choice) => {
                let test = self.build(&choice.test_expr, it);
                let one = self.build(&choice.true_expr, it);
                let other = choice.false_expr.as_ref().map(|other| self.build(other, it));
                Node::If(test, one, other.unwrap_or(NULL))
            }
            Expr::Filter(filter) => {
                let on = filter.expr.as_ref().map_or(NULL, |on| self.build(on, it));
                Node::Filter(filter.name.to_owned(), on, self.args(&filter.args, it))
            }
            Expr::Test(test) => {
                let on = self.build(&test.expr, it);
                let args = self.args(&test.args, it).into_iter().map(|(_, arg)| arg);
                Node::Test(test.name.to_owned(), on, args.collect())
            }
            Expr::GetAttr(get) => match (&get.expr, it) {
                (Expr::Var(var), Some(phase)) if var.id == "it" => {
                    let entry = self.chart.phases.get(phase);
                    Node::Known(match get.name {
                        "id" => json!(phase),
                        _ => json!(entry.and_then(|entry| entry.cycle.clone())),
                    })
                }
                (inner, _) => {
                    let on = self.build(inner, it);
                    return self.attribute(on, get.name);
                }
            },
            Expr::GetItem(get) => {
                let (on, at) = (self.build(&get.expr, it), self.build(&get.subscript_expr, it));
                match self.terms.value(at).cloned() {
                    Some(Json::String(name)) => return self.attribute(on, &name),
                    _ => Node::Item(on, at),
                }
            }
            Expr::List(list) => {
                Node::List(list.items.iter().map(|item| self.build(item, it)).collect())
            }
            Expr::Slice(slice) => {
                let on = self.build(&slice.expr, it);
                let ends = [&slice.start, &slice.stop].map(|end| match end {
                    Some(end) => self.build(end, it),
                    None => self.terms.of(Node::Other(String::new())),
                });
                Node::Filter("slice".to_owned(), on, ends.map(|end| (String::new(), end)).to_vec())
            }
            _ => Node::Other("…".to_owned()),
        };
        self.terms.of(node)
    }

    fn compare(&mut self, sign: CompareOpKind, a: Term, b: Term) -> Term {
        let (order, a, b, is_not) = match sign {
            CompareOpKind::Eq => (Order::Equal, a, b, false),
            CompareOpKind::Ne => (Order::Equal, a, b, true),
            CompareOpKind::Lt => (Order::Less, a, b, false),
            CompareOpKind::Lte => (Order::AtMost, a, b, false),
            CompareOpKind::Gt => (Order::Less, b, a, false),
            CompareOpKind::Gte => (Order::AtMost, b, a, false),
            CompareOpKind::In => (Order::In, a, b, false),
            CompareOpKind::NotIn => (Order::In, a, b, true),
        };
        let term = self.terms.of(Node::Compare(order, a, b));
        if is_not { self.terms.of(Node::Not(term)) } else { term }
    }

    fn args(&mut self, args: &[CallArg<'_>], it: Option<&str>) -> Vec<(String, Term)> {
        let args = args.iter().filter_map(|arg| match arg {
            CallArg::Pos(expr) => Some((String::new(), self.build(expr, it))),
            CallArg::Kwarg(name, expr) => Some(((*name).to_owned(), self.build(expr, it))),
            CallArg::PosSplat(_) | CallArg::KwargSplat(_) => None,
        });
        args.collect()
    }

    fn attribute(&mut self, on: Term, name: &str) -> Term {
        let node = match &*self.terms.node(on) {
            Node::Name(path) => Node::Name(format!("{path}.{name}")),
            _ => Node::Attribute(on, name.to_owned()),
        };
        self.terms.of(node)
    }

    fn name(&mut self, name: &str) -> Term {
        if let Some(at) = self.chart.context.get_index_of(name) {
            return self.terms.of(Node::Field(at));
        }
        if let Some(known) = self.lets.get(name) {
            return *known;
        }
        let Some(expr) = self.chart.lets.get(name).cloned() else {
            return self.terms.of(Node::Name(name.to_owned()));
        };
        // That a name refers to itself is found elsewhere.
        let open = self.terms.of(Node::Name(name.to_owned()));
        self.lets.insert(name.to_owned(), open);
        let mut term = self.expr(&expr.0, None);
        if self.is_too_large(term) {
            return open;
        }
        let is_asked = matches!(*self.terms.kind(open), Type::Boolean | Type::Integer);
        if is_asked && self.is_asked_as_a_whole(term) {
            term = self.terms.of(Node::Let(name.to_owned(), term));
        }
        self.lets.insert(name.to_owned(), term);
        term
    }

    /// Returns whether a term is larger, written out, than what is looked into.
    fn is_too_large(&self, term: Term) -> bool {
        let (mut open, mut seen) = (vec![term], 0);
        while let Some(term) = open.pop() {
            seen += 1;
            if seen > LARGEST {
                return true;
            }
            open.extend(self.terms.parts(term));
        }
        false
    }

    /// Returns whether a term looks at several names of which nothing is known.
    fn is_asked_as_a_whole(&mut self, term: Term) -> bool {
        let names = self.terms.names(term);
        let is_unknown = |name: &&u32| {
            let name = self.terms.name_text(**name);
            !matches!(root(name), "cycle" | "checks" | "scope")
                && !self.chart.context.contains_key(name)
        };
        names.iter().filter(is_unknown).count() > 1
    }

    /// Returns whether it matters that the text of a field is empty: it begins like that.
    pub(super) fn minds_empty(field: &Field) -> bool {
        let default = field.default.as_ref();
        field.kind == FieldType::String && default.is_some_and(|it| it.json() == json!(""))
    }

    /// Returns the chart's conditions and assignments, with the field that one is assigned to.
    fn exprs(&mut self) -> Vec<(Option<String>, Term)> {
        let chart = Arc::clone(&self.chart);
        let fragments = chart.fragments().into_iter();
        let exprs = fragments.filter_map(|Fragment { role, text, .. }| match role {
            Role::Condition | Role::List => Some((None, self.expr(text, None))),
            Role::Assigned(field) => {
                Some((Some(field.to_owned()), self.expr(single_expression(text)?, None)))
            }
            _ => None,
        });
        exprs.collect()
    }

    /// Returns every term of the chart's conditions and assignments, and every part of one.
    fn everything(&mut self) -> Vec<Term> {
        let mut open: Vec<Term> = self.exprs().into_iter().map(|(_, term)| term).collect();
        let mut seen = FxHashSet::default();
        let mut all = Vec::new();
        while let Some(term) = open.pop() {
            if seen.insert(term) {
                all.push(term);
                open.extend(self.terms.parts(term));
            }
        }
        all
    }
}

/// Returns how an operator that computes is written.
fn sign_of(operator: BinOpKind) -> &'static str {
    match operator {
        BinOpKind::Add => "+",
        BinOpKind::Sub => "-",
        BinOpKind::Mul => "*",
        BinOpKind::Div => "/",
        BinOpKind::FloorDiv => "//",
        BinOpKind::Rem => "%",
        BinOpKind::Pow => "**",
        _ => "~",
    }
}
