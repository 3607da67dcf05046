//! Which expressions and texts always have a value, as far as their types show.

use minijinja::machinery::ast::Expr;

use super::{Facts, Infer, Scope, parsed};
use crate::diagnostic::code::Code;
use crate::expr::has_holes;
use crate::expr::types::Type;

/// Returns the type of an expression or a text that has a value whatever its names hold; `None` where it may fail, or
/// where its types do not show that. What a condition says of a name is not used.
/// A variable that shadows another name is refused, because a `set` is visible further than is followed here.
pub fn of_source(source: &str, scope: &dyn Scope) -> Option<Type> {
    let mut infer = Infer::new(scope, Facts::default());
    infer.is_strict = true;
    let kind = match has_holes(source) {
        true => {
            infer.template(source);
            Type::Text
        }
        false => infer.expr(&parsed(source)?),
    };
    let mut problems = infer.problems.iter();
    let is_sound = problems.all(|problem| problem.code == Code::PrintsNone);
    (is_sound && !infer.may_fail && kind != Type::Any).then_some(kind)
}

/// Returns the type of an expression beside these variables, and whether it always has a value, as [`of_source`] says.
pub fn in_place(expr: &Expr<'_>, scope: &dyn Scope, locals: Vec<(String, Type)>) -> (Type, bool) {
    let mut infer = Infer::new(scope, Facts::default());
    infer.is_strict = true;
    infer.locals = locals;
    let kind = infer.expr(expr);
    let is_total = infer.problems.is_empty() && !infer.may_fail && kind != Type::Any;
    (kind, is_total)
}
