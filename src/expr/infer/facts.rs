//! What a condition says about names that can be none: where `x is not none` holds, `x` has a value.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{BinOpKind, CompareOpKind, Expr, UnaryOpKind};

use super::{Infer, Known, parsed};
use crate::diagnostic::code::Code;
use crate::expr::MAX_DEPTH;
use crate::expr::syntax::dotted;
use crate::expr::types::Type;

/// Dotted names that are not none.
type Names = BTreeSet<String>;

impl Infer<'_> {
    /// Returns the result of `walk` where a test holds, or where it does not.
    pub(super) fn given<T>(
        &mut self,
        test: &Expr<'_>,
        holds: bool,
        walk: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.facts.not_none.clone();
        let more = self.facts(test, holds);
        self.facts.not_none.extend(more);
        let result = walk(self);
        self.facts.not_none = before;
        result
    }

    /// Returns what is not none where the condition in `source` holds, or where it does not.
    pub(super) fn facts_of(&mut self, source: &str, holds: bool) -> Names {
        parsed(source).map_or_else(Names::new, |expr| self.facts(&expr, holds))
    }

    /// The same of an expression.
    fn facts(&mut self, expr: &Expr<'_>, holds: bool) -> Names {
        match expr {
            Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) => self.facts(&op.expr, !holds),
            Expr::BinOp(op) => {
                let (left, right) = (&op.left, &op.right);
                let op = match op.op {
                    BinOpKind::ScAnd | BinOpKind::ScOr => {
                        let is_and = matches!(op.op, BinOpKind::ScAnd);
                        let (one, other) = (self.facts(left, holds), self.facts(right, holds));
                        // Both sides of an `and` that holds are true, and one side of one that does not is false.
                        return match is_and == holds {
                            true => &one | &other,
                            false => &one & &other,
                        };
                    }
                    BinOpKind::Eq => CompareOpKind::Eq,
                    BinOpKind::Ne => CompareOpKind::Ne,
                    BinOpKind::In => CompareOpKind::In,
                    _ => return Names::new(),
                };
                self.compared(op, left, right, holds)
            }
            Expr::Compare(compare) => match compare.ops.as_slice() {
                [only] => self.compared(only.op, &compare.expr, &only.expr, holds),
                _ => Names::new(),
            },
            Expr::Test(test) => match (test.name, holds) {
                ("none", false) => self.follows(&test.expr, Known::NotNone),
                // What compares can find that both are none.
                (
                    "boolean" | "endingwith" | "even" | "integer" | "mapping" | "number" | "odd"
                    | "sequence" | "startingwith" | "string" | "true",
                    true,
                ) => self.follows(&test.expr, Known::NotNone),
                _ => Names::new(),
            },
            Expr::Var(var) if !self.locals.iter().any(|(local, _)| local == var.id) => {
                self.facts_of_name(var.id, holds)
            }
            Expr::GetAttr(_) if holds => self.follows(expr, Known::True),
            Expr::GetAttr(_) => self.follows(expr, Known::False),
            _ => Names::new(),
        }
    }

    /// Returns what follows from the expression that a name stands for. Names that use others twice would double the
    /// work at each step.
    fn facts_of_name(&mut self, name: &str, holds: bool) -> Names {
        let key = (name.to_owned(), holds);
        if let Some(known) = self.of_names.get(&key) {
            return known.clone();
        }
        // A name that refers to itself says nothing.
        self.of_names.insert(key.clone(), Names::new());
        let source = self.scope.meaning(name);
        let source = source.filter(|_| self.meanings < MAX_DEPTH);
        let Some(source) = source else {
            return Names::new();
        };
        self.meanings += 1;
        let facts = self.facts_of(&source, holds);
        self.meanings -= 1;
        self.of_names.insert(key, facts.clone());
        facts
    }

    /// Returns what a comparison says: what equals something that is not none is not none itself.
    fn compared(
        &mut self,
        op: CompareOpKind,
        left: &Expr<'_>,
        right: &Expr<'_>,
        holds: bool,
    ) -> Names {
        let (is_in, is_alike) = match op {
            CompareOpKind::Eq => (false, holds),
            CompareOpKind::Ne => (false, !holds),
            CompareOpKind::In => (true, holds),
            CompareOpKind::NotIn => (true, !holds),
            _ => return Names::new(),
        };
        let (of_left, of_right) = (self.plain(left), self.plain(right));
        let can_be_none = |kind: &Type| matches!(kind, Type::None | Type::Optional(_) | Type::Any);
        match (is_in, is_alike) {
            (true, true) => match &of_right {
                Type::List(item) if can_be_none(item) => Names::new(),
                _ => self.follows(left, Known::NotNone),
            },
            (true, false) => Names::new(),
            (false, true) if !can_be_none(&of_right) => self.follows(left, equal_to(right)),
            (false, true) if !can_be_none(&of_left) => self.follows(right, equal_to(left)),
            (false, false) if of_right == Type::None => self.follows(left, Known::NotNone),
            (false, false) if of_left == Type::None => self.follows(right, Known::NotNone),
            _ => Names::new(),
        }
    }

    /// Returns the type of a name, a constant or a list of them. To look into more would double the work at each level.
    fn plain(&mut self, expr: &Expr<'_>) -> Type {
        match expr {
            Expr::List(list) => {
                let items = list.items.iter().map(|item| self.plain(item));
                let joined = items.reduce(|all, kind| all.join(&kind));
                Type::list(joined.unwrap_or(Type::Any))
            }
            Expr::Const(_) => self.quietly(expr),
            _ if dotted(expr).is_some() => self.quietly(expr),
            _ => Type::Any,
        }
    }

    /// Returns what is not none where this is known of a name: most often the name itself, too.
    fn follows(&self, expr: &Expr<'_>, known: Known<'_>) -> Names {
        let Some(path) = dotted(expr) else {
            return Names::new();
        };
        let implied = self.scope.implied(&path, known).into_iter();
        let itself = (!matches!(known, Known::False)).then_some(path);
        implied.chain(itself).collect()
    }

    /// Returns whether it is known that a name has a value, or what it stands for.
    pub(super) fn is_not_none(&mut self, path: &str) -> bool {
        if self.facts.not_none.contains(path) {
            return true;
        }
        let source = self.scope.meaning(path);
        let Some(source) = source.filter(|_| self.meanings == 0) else {
            return false;
        };
        let locals = std::mem::take(&mut self.locals);
        self.meanings += 1;
        let kind = parsed(&source).map(|expr| self.quietly(&expr));
        self.meanings -= 1;
        self.locals = locals;
        kind.is_some_and(|kind| !matches!(kind, Type::None | Type::Optional(_)))
    }

    /// Reports what a text shows, or each item of it, if it can be none.
    pub(super) fn shown(&mut self, expr: &Expr<'_>, kind: &Type) {
        let can_be_none = |kind: &Type| matches!(kind, Type::None | Type::Optional(_));
        if self.is_again || !can_be_none(kind) {
            return;
        }
        let before = self.facts.not_none.clone();
        let may_be_shown = self.facts.may_be_shown.clone();
        self.facts.not_none.extend(may_be_shown);
        self.is_again = true;
        let kind = self.quietly(expr);
        self.is_again = false;
        self.facts.not_none = before;
        let is_reported = match &kind {
            Type::List(item) => can_be_none(item),
            kind => can_be_none(kind),
        };
        if is_reported {
            let shown = self.quoted(expr);
            let message = format!("`{shown}` can be none, and then the text says `none`");
            let help = format!("ask for it first: {{% if {shown} is not none %}}");
            self.problem(Code::PrintsNone, expr.span(), message, Some(help));
        }
    }
}

/// Returns what is known of something that equals this, which is not none.
fn equal_to<'e>(expr: &'e Expr<'_>) -> Known<'e> {
    match expr {
        Expr::Const(word) => word.value.as_str().map_or(Known::NotNone, Known::Is),
        _ => Known::NotNone,
    }
}
