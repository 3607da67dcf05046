//! Counters that nothing bounds: expressions treat all values above some number alike, so one of them stands for all.

use std::collections::HashMap;

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};
use serde_json::Value as Json;

use super::user_fields::Parameters;
use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::chart::fragments::{Fragment, Role};
use crate::chart::model::FieldType;
use crate::expr::single_expression;
use crate::expr::source::Literal;
use crate::expr::syntax::{expressions, parse_expr, parse_text, parts};

/// Returns, for each field that only counts, the number from which on all its values have the same effect.
///
/// Rules set such a field to literals, add literals to it, show it, and compare it with literals and with `parameters`,
/// of which these values are tried. Above the greatest of these numbers no comparison distinguishes two values. A field
/// that the engine itself reads, such as a cycle's count, is not among them.
pub(super) fn tops(chart: &Chart, parameters: &Parameters) -> HashMap<String, i64> {
    let mut fragments = chart.fragments();
    // A template is shown, unless it is a part of what is not.
    let is_part =
        |fragment: &Fragment<'_>| fragment.role != Role::Shown && fragment.text.contains("include");
    let role = match fragments.iter().any(is_part) {
        true => Role::Named,
        false => Role::Shown,
    };
    let templates = chart.templates.names().into_iter();
    let templates: Vec<String> = templates
        .filter_map(|name| chart.template(&name).ok())
        .collect();
    fragments.extend(templates.iter().map(|text| Fragment {
        role,
        text,
        each: None,
    }));
    let fields = chart.context.iter().filter(|(name, field)| {
        let is_free = field.maximum.is_none() && field.setting().is_none();
        let is_known = parameters.contains_key(*name) || is_read_by_the_engine(chart, name);
        field.kind == FieldType::Integer && is_free && !is_known
    });
    let tops = fields.filter_map(|(name, field)| {
        let assigned = chart.assigns().flat_map(|assign| assign.get(name));
        let literals = assigned.filter_map(|literal| match literal {
            Literal::Integer(number) => Some(*number),
            _ => None,
        });
        let most = default_of(chart, field)
            .as_i64()
            .into_iter()
            .chain(literals)
            .max();
        let mut counter = Counter {
            name,
            parameters,
            most: most.unwrap_or(0),
        };
        let is_plain = fragments.iter().all(|fragment| counter.is_plain(fragment));
        let top = counter.most.checked_add(1).filter(|_| is_plain)?;
        Some((name.clone(), top))
    });
    tops.collect()
}

/// Returns whether the engine itself reads a field: its value must be known.
pub(super) fn is_read_by_the_engine(chart: &Chart, field: &str) -> bool {
    let cycles = chart.cycles.values();
    let patterns = chart.tables.values().map(|table| &table.file);
    let names = cycles
        .clone()
        .flat_map(|cycle| [&cycle.base, &cycle.review, &cycle.answer]);
    let mut holes = names
        .chain(patterns)
        .flat_map(|pattern| pattern.holes())
        .map(|(hole, _)| hole);
    let mut counts = cycles.flat_map(|cycle| [&cycle.count, &cycle.limit]);
    counts.any(|name| name == field) || holes.any(|hole| hole == field)
}

/// A field that may be one, and the greatest number that it has been compared with so far.
struct Counter<'c> {
    name: &'c str,
    parameters: &'c Parameters,
    most: i64,
}

impl Counter<'_> {
    /// Returns true where an expression or a text does with it nothing but what is allowed.
    fn is_plain(&mut self, fragment: &Fragment<'_>) -> bool {
        if !fragment.text.contains(self.name) {
            return true;
        }
        let expr = match fragment.role {
            Role::Condition | Role::List | Role::Let | Role::Printed => Some(fragment.text),
            Role::Assigned(_) | Role::Default => single_expression(fragment.text),
            Role::Shown | Role::Named => None,
        };
        let Some(expr) = expr else {
            let Ok(text) = parse_text(fragment.text, "") else {
                return false;
            };
            let mut is_plain = true;
            let is_all = expressions(&text, &mut |expr, stmt| {
                let is_shown = fragment.role == Role::Shown && matches!(stmt, Stmt::EmitExpr(_));
                is_plain &= is_shown && self.is_it(expr) || self.only_compares(expr);
            });
            return is_all && is_plain;
        };
        let Ok(expr) = parse_expr(expr) else {
            return false;
        };
        match fragment.role {
            Role::Assigned(field) if field == self.name => self.counts_up(&expr),
            Role::Printed if self.is_it(&expr) => true,
            _ => self.only_compares(&expr),
        }
    }

    fn is_it(&self, expr: &Expr<'_>) -> bool {
        matches!(expr, Expr::Var(var) if var.id == self.name)
    }

    /// Returns true for what it can be assigned: a literal, itself, itself and some more.
    fn counts_up(&mut self, expr: &Expr<'_>) -> bool {
        match expr {
            Expr::Const(_) => {
                let number = integer(expr);
                self.most = number.map_or(self.most, |number| self.most.max(number));
                true
            }
            Expr::BinOp(op) => {
                let more = integer(&op.right).filter(|more| *more >= 0);
                matches!(op.op, BinOpKind::Add) && self.is_it(&op.left) && more.is_some()
            }
            Expr::IfExpr(choice) => {
                self.only_compares(&choice.test_expr)
                    && self.counts_up(&choice.true_expr)
                    && choice
                        .false_expr
                        .as_ref()
                        .is_some_and(|expr| self.counts_up(expr))
            }
            expr => self.is_it(expr),
        }
    }

    /// Returns true where an expression does nothing with it but compare it with numbers that are known.
    fn only_compares(&mut self, expr: &Expr<'_>) -> bool {
        let compared = match expr {
            Expr::BinOp(op) => matches!(
                op.op,
                BinOpKind::Eq
                    | BinOpKind::Ne
                    | BinOpKind::Lt
                    | BinOpKind::Lte
                    | BinOpKind::Gt
                    | BinOpKind::Gte
            )
            .then(|| parts(expr)),
            _ => None,
        };
        let is_compared = compared
            .as_ref()
            .is_some_and(|sides| sides.iter().any(|side| self.is_it(side)));
        if let Some(sides) = compared.filter(|_| is_compared) {
            return sides
                .into_iter()
                .all(|side| self.is_it(side) || self.is_known(side));
        }
        !self.is_it(expr) && parts(expr).into_iter().all(|part| self.only_compares(part))
    }

    /// Returns true for a number, or what is tried at some.
    fn is_known(&mut self, expr: &Expr<'_>) -> bool {
        let name = match expr {
            Expr::Var(var) => var.id.to_owned(),
            Expr::GetAttr(get) => match &get.expr {
                Expr::Var(var) => format!("{}.{}", var.id, get.name),
                _ => return false,
            },
            _ => String::new(),
        };
        let tried = self
            .parameters
            .get(&name)
            .into_iter()
            .flat_map(|values| values.iter());
        let tried: Option<Vec<i64>> = tried.map(Json::as_i64).collect();
        let known = match integer(expr) {
            Some(number) => Some(vec![number]),
            None => tried.filter(|tried| !tried.is_empty()),
        };
        let most = known.into_iter().flatten().max();
        self.most = most.map_or(self.most, |most| self.most.max(most));
        most.is_some()
    }
}

fn integer(expr: &Expr<'_>) -> Option<i64> {
    match expr {
        Expr::Const(number) => number.value.as_i64().filter(|_| number.value.is_integer()),
        _ => None,
    }
}
