//! Which expressions and texts always have a value, as far as their types show.

use minijinja::machinery::ast::Expr;

use super::{Facts, Infer, Scope, parsed};
use crate::diagnostic::code::Code;
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
        let mut problems = infer.problems.iter();
        let is_sound = problems.all(|problem| problem.code == Code::PrintsNone);
        Self { is_total: is_sound && !infer.may_fail && kind != Type::Any, kind }
    }
}

/// Returns what is known of an expression or a text; `None` if it cannot be parsed. What a condition says of a name is not
/// used, and of a text with a variable that has the name of something else nothing is known.
pub fn of_source(source: &str, scope: &dyn Scope) -> Option<Typed> {
    let mut infer = Infer::strict(scope, Vec::new());
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
    let mut infer = Infer::strict(scope, variables);
    let kind = infer.expr(expr);
    Typed::new(&infer, kind)
}

impl<'s> Infer<'s> {
    /// Returns one that takes nothing for granted but declared types.
    fn strict(scope: &'s dyn Scope, locals: Vec<(String, Type)>) -> Self {
        Self { is_strict: true, locals, ..Self::new(scope, Facts::default()) }
    }
}
