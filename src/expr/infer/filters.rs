//! The types of filters: what each takes and returns.

use minijinja::machinery::Span;
use minijinja::machinery::ast::{self, CallArg};

use super::Infer;
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::hint;
use crate::expr::types::Type;
use crate::expr::vocabulary::{FILTERS, TESTS, names};

impl Infer<'_> {
    pub(super) fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> Type {
        self.args(&filter.args);
        self.named_test(filter);
        let Some(input) = &filter.expr else {
            return Type::Any;
        };
        let span = input.span();
        let input = &self.expr(input);
        let first = filter.args.iter().find_map(|arg| match arg {
            CallArg::Pos(expr) => expr.as_const().map(|value| value.to_string()),
            _ => None,
        });
        match filter.name {
            "length" => {
                if !matches!(input, Type::Any | Type::List(_)) && !input.is_text() {
                    self.wrong(span, format!("{input} has no length"));
                }
                Type::Integer
            }
            "join" | "brief" => {
                self.item_of(input, span);
                Type::Text
            }
            "list" | "set" | "sort" | "unique" | "select" | "reject" => {
                Type::list(self.item_of(input, span))
            }
            "selectattr" | "rejectattr" => {
                let item = self.item_of(input, span);
                if let Some(path) = first {
                    self.attribute(&item, &path, filter.span());
                }
                Type::list(item)
            }
            "map" => {
                let item = self.item_of(input, span);
                let attribute = filter.args.iter().find_map(|arg| match arg {
                    CallArg::Kwarg("attribute", expr) => {
                        expr.as_const().map(|value| value.to_string())
                    }
                    _ => None,
                });
                Type::list(
                    attribute.map_or(Type::Any, |path| self.attribute(&item, &path, filter.span())),
                )
            }
            "after" => {
                let list = filter.args.first().map_or(Type::Any, |arg| match arg {
                    CallArg::Pos(list) => self.expr(list),
                    _ => Type::Any,
                });
                self.item_of(&list, span)
            }
            "flatten" => {
                let list = self.item_of(input, span);
                Type::list(self.item_of(&list, span))
            }
            "first" | "last" => self.item_of(input, span),
            "trim" | "upper" | "lower" | "capitalize" | "replace" | "indent" => Type::Text,
            "split" => Type::list(Type::Text),
            unknown => {
                let message = format!("unknown filter `{unknown}`");
                let help = hint(unknown, names(FILTERS));
                self.problem(Code::UnknownFilter, filter.span(), message, help);
                Type::Any
            }
        }
    }

    /// Checks the test that a filter names.
    fn named_test(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) {
        let test = match filter.name {
            "select" | "reject" => filter.args.first(),
            "selectattr" | "rejectattr" => filter.args.get(1),
            _ => None,
        };
        if let Some(CallArg::Pos(test)) = test
            && let Some(name) = test.as_const()
            && names(TESTS).all(|known| name.as_str() != Some(known))
        {
            let message = format!("unknown test `{name}`");
            let help = hint(name.as_str().unwrap_or_default(), names(TESTS));
            self.problem(Code::UnknownTest, test.span(), message, help);
        }
    }

    /// Returns the type of what a filter looks up in each item of a list: `name`, or `context.state`.
    fn attribute(&mut self, item: &Type, path: &str, span: Span) -> Type {
        // The field of an item may also be a name of its own: files, or a context field.
        self.scope.used(path);
        if let Some((_, field)) = path.rsplit_once('.') {
            self.scope.used(field);
        }
        path.split('.').fold(item.clone(), |kind, name| self.field(&kind, name, span))
    }
}
