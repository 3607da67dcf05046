//! Context fields that do nothing but count, and are compared with numbers that are known.

use minijinja::machinery::ast::{BinOpKind, Expr};

use super::Uses;
use super::reader::Reader;
use crate::expr::syntax::dotted;

impl Reader<'_> {
    /// Returns how a context field is looked at, to add to it.
    pub(super) fn uses(&mut self, field: &str) -> &mut Uses {
        self.found.uses.entry(field.to_owned()).or_default()
    }

    /// Takes one look at a field for one of those that a counter allows, where an expression is nothing but its name.
    pub(super) fn allow(&mut self, expr: &Expr<'_>) -> Option<&mut Uses> {
        let Expr::Var(var) = expr else { return None };
        let is_field = self.chart.context.contains_key(var.id) && !self.is_bound(var.id);
        let uses = is_field.then(|| self.uses(var.id))?;
        uses.others = uses.others.saturating_sub(1);
        Some(uses)
    }

    /// Notes that a field is compared, where that is with a number or with what is tried at some.
    pub(super) fn compares(&mut self, field: &Expr<'_>, with: &Expr<'_>) {
        let is_free = |name: &String| name.split('.').next().is_some_and(|it| !self.is_bound(it));
        let name = dotted(with).filter(is_free);
        let number = integer(with);
        if (name.is_some() || number.is_some())
            && let Some(uses) = self.allow(field)
        {
            uses.most = uses.most.max(number);
            uses.beside.extend(name);
        }
    }

    /// Notes that a field is assigned itself, or itself and some more.
    pub(super) fn counts_up(&mut self, field: &str, expr: &Expr<'_>) {
        let is_it = |expr: &Expr<'_>| matches!(expr, Expr::Var(var) if var.id == field);
        match expr {
            Expr::IfExpr(choice) => {
                self.counts_up(field, &choice.true_expr);
                if let Some(other) = &choice.false_expr {
                    self.counts_up(field, other);
                }
            }
            Expr::BinOp(op)
                if matches!(op.op, BinOpKind::Add)
                    && is_it(&op.left)
                    && integer(&op.right).is_some_and(|more| more >= 0) =>
            {
                self.allow(&op.left);
            }
            expr if is_it(expr) => drop(self.allow(expr)),
            _ => {}
        }
    }

    /// Returns whether a name is a variable of the text that is read, or an item.
    fn is_bound(&self, name: &str) -> bool {
        self.scopes.iter().any(|(bound, _)| bound == name)
    }
}

/// Returns an integer that is written out.
pub(super) fn integer(expr: &Expr<'_>) -> Option<i64> {
    match expr {
        Expr::Const(number) => number.value.as_i64().filter(|_| number.value.is_integer()),
        _ => None,
    }
}
