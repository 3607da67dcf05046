//! Which expressions and texts always have a value, as far as their types show.

use minijinja::machinery::ast::Expr;

use super::{Infer, Scope, parsed};
use crate::expr::has_holes;
use crate::expr::types::Type;

/// What is known of an expression by its type.
#[derive(Debug, Clone)]
pub struct Typed {
    pub kind: Type,
    /// It has a value whatever its names hold. False where its types do not show that.
    pub is_total: bool,
}

impl Typed {
    fn new(infer: &Infer<'_>, kind: Type) -> Self {
        let is_total = infer.problems.is_empty() && !infer.may_fail && kind != Type::Any;
        Self { kind, is_total }
    }
}

/// Returns what is known of an expression or a text; `None` if it cannot be parsed. Of a text with a variable that has the name of something else nothing is known.
pub fn of_source(source: &str, scope: &dyn Scope) -> Option<Typed> {
    let mut infer = Infer::new(scope);
    let kind = match has_holes(source) {
        true => {
            infer.template(source);
            Type::Text
        }
        false => infer.expr(&parsed(source)?),
    };
    Some(Typed::new(&infer, kind))
}

/// Returns what is known of an expression of a text that stands beside these variables.
pub fn in_place(expr: &Expr<'_>, scope: &dyn Scope, variables: Vec<(String, Type)>) -> Typed {
    let mut infer = Infer { locals: variables, ..Infer::new(scope) };
    let kind = infer.expr(expr);
    Typed::new(&infer, kind)
}
