//! Operators: what they take, and comparisons that are never true.

use minijinja::machinery::ast::{self, BinOpKind, CompareOpKind, Expr};

use super::Infer;
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::suggest;
use crate::expr::types::Type;

impl Infer<'_> {
    pub(super) fn binary(&mut self, op: &ast::Spanned<ast::BinOp<'_>>) -> Type {
        let compared = match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let left = self.is_condition(&op.left);
                // Only where the left side does not settle it, the right one is looked at.
                let is_and = matches!(op.op, BinOpKind::ScAnd);
                let right = self.given(&op.left, is_and, |infer| infer.is_condition(&op.right));
                // A list or a boolean: a condition either way.
                return if left == right { left } else { Type::Boolean };
            }
            BinOpKind::Concat => {
                for side in [&op.left, &op.right] {
                    let kind = self.expr(side);
                    if matches!(kind.some(), Type::List(_) | Type::Record(_)) {
                        self.wrong(side.span(), format!("expected a string, but this is {kind}"));
                    }
                }
                return Type::Text;
            }
            BinOpKind::Eq => CompareOpKind::Eq,
            BinOpKind::Ne => CompareOpKind::Ne,
            BinOpKind::Lt => CompareOpKind::Lt,
            BinOpKind::Lte => CompareOpKind::Lte,
            BinOpKind::Gt => CompareOpKind::Gt,
            BinOpKind::Gte => CompareOpKind::Gte,
            BinOpKind::In => CompareOpKind::In,
            BinOpKind::Add
            | BinOpKind::Sub
            | BinOpKind::Mul
            | BinOpKind::Div
            | BinOpKind::FloorDiv
            | BinOpKind::Rem
            | BinOpKind::Pow => {
                self.integer(&op.left);
                return self.integer(&op.right);
            }
        };
        let (left, right) = (self.expr(&op.left), self.expr(&op.right));
        self.compare(compared, (&op.left, &left), (&op.right, &right));
        Type::Boolean
    }

    pub(super) fn compare(
        &mut self,
        op: CompareOpKind,
        left: (&Expr<'_>, &Type),
        right: (&Expr<'_>, &Type),
    ) {
        let ((left_expr, left), (right_expr, right)) = (left, right);
        match op {
            CompareOpKind::Eq | CompareOpKind::Ne => {
                if !left.can_equal(right) {
                    self.never_equal((left_expr, left), (right_expr, right));
                }
            }
            CompareOpKind::Lt | CompareOpKind::Lte | CompareOpKind::Gt | CompareOpKind::Gte => {
                for (expr, kind) in [(left_expr, left), (right_expr, right)] {
                    if !matches!(kind, Type::Integer | Type::Any) {
                        let message = format!("only integers can be ordered, but this is {kind}");
                        self.wrong(expr.span(), message);
                    }
                }
            }
            CompareOpKind::In | CompareOpKind::NotIn => match right {
                Type::List(item) => {
                    if let (Expr::List(list), Type::Word(_) | Type::Optional(_)) =
                        (right_expr, left)
                    {
                        for item in &list.items {
                            let kind = self.quietly(item);
                            if !left.can_equal(&kind) {
                                self.never_equal((left_expr, left), (item, &kind));
                            }
                        }
                    } else if !item.can_equal(left) {
                        let (list, what) = (self.quoted(right_expr), self.quoted(left_expr));
                        let message = format!(
                            "`{what}` is never in `{list}`: an item is {item}, but this is {left}"
                        );
                        let help = unlike_help(left, item);
                        self.problem(Code::UnlikeTypes, left_expr.span(), message, help);
                    }
                }
                kind if kind.is_text() => {
                    if !left.is_text() {
                        let message =
                            format!("only a string can be in a string, but this is {left}");
                        self.wrong(left_expr.span(), message);
                    }
                }
                other => {
                    let expected = match other.some().is_text() {
                        true => "a string",
                        false => "a list",
                    };
                    let what = self.quoted(right_expr);
                    let help = matches!(other, Type::Optional(_))
                        .then(|| format!("ask for it first: `{what} is not none and …`"));
                    let message = format!("expected {expected}, but this is {other}");
                    self.problem(Code::WrongOperand, right_expr.span(), message, help);
                }
            },
        }
    }

    /// Reports a comparison that is never true: "`next_phase` is never 'complet'".
    fn never_equal(&mut self, left: (&Expr<'_>, &Type), right: (&Expr<'_>, &Type)) {
        let ((name, kind), (literal, given)) =
            if left.0.as_const().is_some() { (right, left) } else { (left, right) };
        let (name, value) = (self.quoted(name), self.quoted(literal));
        let message = match literal.as_const() {
            Some(_) => format!("`{name}` is never {value}"),
            None => format!("`{name}` is never `{value}`"),
        };
        let help = unlike_help(kind, given).or_else(|| match literal.as_const() {
            Some(_) => Some(format!("`{name}` is {kind}")),
            None => Some(format!("`{name}` is {kind}, and `{value}` is {given}")),
        });
        self.problem(Code::UnlikeTypes, literal.span(), message, help);
    }
}

/// Returns a suggestion if a literal is compared with a known set of words.
fn unlike_help(a: &Type, b: &Type) -> Option<String> {
    let (Type::Word(a), Type::Word(b)) = (a.some(), b.some()) else {
        return None;
    };
    let (literal, words) = if b.len() == 1 { (b, a) } else { (a, b) };
    let literal = literal.iter().next()?;
    suggest(literal, words.iter().map(String::as_str)).map(|word| format!("did you mean '{word}'?"))
}
