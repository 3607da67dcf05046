//! Expressions, by their syntax.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{
    BinOpKind, CallArg, Compare, CompareOpKind, Expr, UnaryOp, UnaryOpKind,
};
use minijinja::value::ValueKind;
use serde_json::Value as Json;

use super::comparisons::integer;
use super::filters::with_all;
use super::reader::Reader;
use super::{Kind, Term, Val, root_of};
use crate::chart::model::FieldType;
use crate::expr::infer::total::{self, Typed};
use crate::expr::syntax::{parse_expr, parts, value_of_arg};

impl Reader<'_> {
    /// Reads an expression by its source.
    pub(super) fn source(&mut self, source: &str) -> Val {
        match parse_expr(source) {
            Ok(expr) => self.expr(&expr),
            Err(_) => Val::settled(),
        }
    }

    /// Returns the roots of all inputs that a value is one of, or computed of.
    pub(super) fn inputs(&self, value: &Val) -> BTreeSet<String> {
        let mut inputs = value.computed.clone();
        for term in &value.terms {
            match term {
                Term::Input { path, .. } => {
                    inputs.insert(root_of(path).to_owned());
                }
                Term::Field(field) if self.is_derived(field) => {
                    inputs.insert(format!("field.{field}"));
                }
                _ => {}
            }
        }
        inputs
    }

    /// Returns what is made of a value in a way that never fails.
    pub(super) fn made_of(&self, values: &[&Val]) -> Val {
        let inputs: BTreeSet<String> = values.iter().flat_map(|value| self.inputs(value)).collect();
        Val::computed(inputs)
    }

    /// Returns the same where it may fail.
    pub(super) fn may_fail(&mut self, values: &[&Val]) -> Val {
        let value = self.made_of(values);
        let inputs = value.computed.iter().chain(&self.under_open);
        self.own.fails.extend(inputs.cloned());
        value
    }

    /// Returns a value as a condition: lists by whether they have items.
    pub(super) fn truth(&mut self, value: Val) -> Val {
        let mut computed = value.computed;
        for term in &value.terms {
            let Term::Input { path, list } = term else {
                continue;
            };
            // There is some time, or none.
            let is_tried = *list
                || path == "postponed"
                || matches!(self.kind(path), Kind::Boolean | Kind::List);
            if !is_tried {
                computed.insert(root_of(path).to_owned());
            }
        }
        Val::computed(computed)
    }

    /// Reads an expression.
    pub(super) fn expr(&mut self, expr: &Expr<'_>) -> Val {
        match expr {
            Expr::Var(var) => self.name(var.id),
            Expr::Const(constant) => match serde_json::to_value(&constant.value) {
                Ok(Json::Array(items)) => {
                    Val { terms: items.into_iter().map(Term::Literal).collect(), ..Val::default() }
                }
                Ok(value) => Val::of(Term::Literal(value)),
                Err(_) => Val::settled(),
            },
            Expr::List(list) => self.all(&list.items),
            Expr::Tuple(tuple) => self.all(&tuple.items),
            Expr::GetAttr(get) => {
                let value = self.expr(&get.expr);
                self.attribute(&value, get.name)
            }
            Expr::GetItem(get) => self.item(&get.expr, &get.subscript_expr),
            Expr::Map(_) | Expr::Slice(_) => {
                let all = parts(expr).into_iter();
                let all: Vec<Val> = all.map(|part| self.expr(part)).collect();
                self.made_of(&all.iter().collect::<Vec<_>>())
            }
            Expr::UnaryOp(op) => self.unary(op),
            Expr::BinOp(op) => self.binary(op.op, &op.left, &op.right),
            Expr::Compare(compare) => self.compared(compare),
            Expr::IfExpr(choice) => {
                let test = self.condition(&choice.test_expr);
                let mut value = self.under(&test, |reader| {
                    let then = reader.expr(&choice.true_expr);
                    let other = choice.false_expr.as_ref().map(|expr| reader.expr(expr));
                    then.join(other.unwrap_or_default())
                });
                value.computed.extend(test.computed);
                value
            }
            Expr::Filter(filter) => {
                let input = filter.expr.as_ref().map(|expr| self.expr(expr));
                self.filter(filter.name, input.unwrap_or_default(), &filter.args)
            }
            Expr::Test(test) => {
                let value = self.expr(&test.expr);
                let args = self.args(&test.args);
                self.test(test.name, &value, args.first())
            }
            Expr::Call(call) => {
                let value = self.expr(&call.expr);
                let args = self.args(&call.args);
                self.may_fail(&with_all(&value, &args))
            }
        }
    }

    /// Reads an expression as a condition.
    pub(super) fn condition(&mut self, expr: &Expr<'_>) -> Val {
        let value = self.expr(expr);
        self.truth(value)
    }

    /// Reads what is evaluated or not, as a test says.
    pub(super) fn under(&mut self, test: &Val, read: impl FnOnce(&mut Self) -> Val) -> Val {
        let before = self.under_open.clone();
        self.under_open.extend(test.computed.iter().cloned());
        self.branches += 1;
        let value = read(self);
        self.branches -= 1;
        self.under_open = before;
        value
    }

    /// Returns what is known of an expression by its type.
    pub(super) fn typed(&self, expr: &Expr<'_>) -> Typed {
        let variables = self.scopes.iter();
        let variables = variables.map(|(name, _, kind)| (name.clone(), kind.clone()));
        total::in_place(expr, &self.types, variables.collect())
    }

    /// Reads an expression of a text that is evaluated or not: where that is open, no trial says whether it fails.
    pub(super) fn part(&mut self, expr: &Expr<'_>) -> Val {
        if !self.under_open.is_empty() && (self.hides_names || !self.typed(expr).is_total) {
            self.own.fails.extend(self.under_open.iter().cloned());
        }
        self.expr(expr)
    }

    /// Reads the arguments of a filter, a test or a call.
    pub(super) fn args(&mut self, args: &[CallArg<'_>]) -> Vec<Val> {
        args.iter().map(|arg| self.expr(value_of_arg(arg))).collect()
    }

    /// Reads an operation on one value.
    fn unary(&mut self, op: &UnaryOp<'_>) -> Val {
        let value = self.expr(&op.expr);
        let is_settled = self.inputs(&value).is_empty();
        match (&op.op, value.terms.as_slice()) {
            (UnaryOpKind::Not, _) => self.truth(value),
            (UnaryOpKind::Neg, [Term::Literal(Json::Number(number))]) => {
                let number = number.as_i64().and_then(i64::checked_neg);
                number.map_or_else(Val::settled, |number| Val::of(Term::Literal(number.into())))
            }
            _ if is_settled => Val::settled(),
            _ => self.may_fail(&[&value]),
        }
    }

    /// Reads a chain of comparisons.
    fn compared(&mut self, compare: &Compare<'_>) -> Val {
        let mut left = self.expr(&compare.expr);
        let mut all = Val::settled();
        for op in &compare.ops {
            // Behind a comparison that does not hold, nothing is evaluated.
            let right = self.under(&all, |reader| reader.expr(&op.expr));
            let holds = match op.op {
                CompareOpKind::Eq | CompareOpKind::Ne => self.equal(&left, &right),
                CompareOpKind::In | CompareOpKind::NotIn => self.within(&left, &right, &op.expr),
                _ => self.ordered(&left, &right),
            };
            all = all.join(holds);
            left = right;
        }
        Val::computed(all.computed)
    }

    /// Reads several expressions, of which the value is one.
    pub(super) fn all(&mut self, exprs: &[Expr<'_>]) -> Val {
        exprs.iter().fold(Val::default(), |value, expr| {
            let more = self.expr(expr);
            value.join(more)
        })
    }

    /// Reads an operation on two values.
    fn binary(&mut self, op: BinOpKind, left: &Expr<'_>, right: &Expr<'_>) -> Val {
        if matches!(op, BinOpKind::ScAnd | BinOpKind::ScOr) {
            let first = self.condition(left);
            let second = self.under(&first, |reader| reader.condition(right));
            return Val::computed(first.join(second).computed);
        }
        let (one, other) = (self.expr(left), self.expr(right));
        match op {
            BinOpKind::Eq | BinOpKind::Ne => {
                self.compares(left, right);
                self.equal(&one, &other)
            }
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {
                self.compares(left, right);
                self.ordered(&one, &other)
            }
            BinOpKind::In => self.within(&one, &other, right),
            BinOpKind::Concat => self.made_of(&[&one, &other]),
            _ => {
                let terms = || one.terms.iter().chain(&other.terms);
                if terms().any(|term| matches!(term, Term::Field(_))) {
                    let literals = terms().filter_map(|term| match term {
                        Term::Literal(number) => number.as_i64(),
                        _ => None,
                    });
                    self.found.numbers.extend(literals);
                }
                let whole = |value: &Val| {
                    value.terms.iter().all(|term| match term {
                        Term::Input { path, list } => !list && self.kind(path) == Kind::Integer,
                        Term::Literal(value) => value.is_i64(),
                        Term::Field(field) => self.chart.context.get(field).is_some_and(|field| {
                            field.kind == FieldType::Integer && !field.nullable
                        }),
                        Term::Settled => value.computed.is_empty(),
                    })
                };
                let is_divided = matches!(op, BinOpKind::Rem | BinOpKind::FloorDiv)
                    && integer(right).is_some_and(|by| by > 0);
                let is_total = (is_divided
                    || matches!(op, BinOpKind::Add | BinOpKind::Sub | BinOpKind::Mul))
                    && whole(&one)
                    && whole(&other);
                if is_total {
                    self.made_of(&[&one, &other])
                } else {
                    self.may_fail(&[&one, &other])
                }
            }
        }
    }

    /// Reads an item by its index or its name.
    pub(super) fn item(&mut self, of: &Expr<'_>, subscript: &Expr<'_>) -> Val {
        let value = self.expr(of);
        let key = subscript.as_const();
        match &key {
            Some(key) if key.kind() == ValueKind::String => {
                self.attribute(&value, &key.to_string())
            }
            Some(key) => match key.as_i64() {
                Some(0) => self.end(value, true),
                Some(-1) => self.end(value, false),
                _ => self.may_fail(&[&value]),
            },
            None => {
                let index = self.expr(subscript);
                self.may_fail(&[&value, &index])
            }
        }
    }
}
