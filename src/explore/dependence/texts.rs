//! Texts: what they show, and on what they may fail.

use minijinja::machinery::ast::{Expr, ForLoop, Stmt};

use super::reader::Reader;
use super::{Val, as_list};
use crate::expr::infer::statements::of_loop;
use crate::expr::infer::{self, Scope as _};
use crate::expr::syntax::parse_text;
use crate::expr::types::Type;

impl Reader<'_> {
    /// Reads a text or a template.
    pub(super) fn template(&mut self, source: &str) -> Val {
        match parse_text(source, "text") {
            Ok(Stmt::Template(template)) => self.body(&template.children),
            _ => Val::settled(),
        }
    }

    /// Reads what stands inside a block.
    fn body(&mut self, body: &[Stmt<'_>]) -> Val {
        body.iter().fold(Val::default(), |value, stmt| {
            let more = self.stmt(stmt);
            value.join(more)
        })
    }

    /// Returns what a part of a text depends on: every input that it shows, as something computed.
    fn stmt(&mut self, stmt: &Stmt<'_>) -> Val {
        match stmt {
            Stmt::EmitExpr(emit) => {
                let value = self.part(&emit.expr);
                if self.is_shown {
                    self.allow(&emit.expr);
                }
                Val::computed(self.inputs(&value))
            }
            Stmt::EmitRaw(_) => Val::default(),
            Stmt::IfCond(choice) => {
                let test = self.part(&choice.expr);
                let test = self.truth(test);
                let depth = self.scopes.len();
                let value = self.under(&test, |reader| {
                    let then = reader.body(&choice.true_body);
                    let set = reader.scopes.split_off(depth);
                    let value = then.join(reader.body(&choice.false_body));
                    reader.scopes.extend(set);
                    value
                });
                self.merge(depth, &test);
                Val::computed(test.computed).join(value)
            }
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::Set(set) => {
                let value = self.part(&set.expr);
                let kind = self.typed(&set.expr).kind;
                self.bind(&set.target, value, kind);
                Val::default()
            }
            Stmt::WithBlock(with) => {
                let depth = self.scopes.len();
                for (target, expr) in &with.assignments {
                    let value = self.part(expr);
                    let kind = self.typed(expr).kind;
                    self.bind(target, value, kind);
                }
                let value = self.body(&with.body);
                self.scopes.truncate(depth);
                value
            }
            Stmt::Include(include) => self.included(&include.name),
            Stmt::SetBlock(set) if set.filter.is_none() => {
                // What it holds can be compared.
                let is_shown = std::mem::take(&mut self.is_shown);
                let value = self.body(&set.body);
                self.is_shown = is_shown;
                let value = Val::computed(self.inputs(&value));
                self.bind(&set.target, value, Type::Text);
                Val::default()
            }
            // Blocks, filters over blocks, macros: whatever they look at may make them fail.
            _ => {
                self.own.fails.insert("a block of a text".to_owned());
                self.own.looks.insert("a block of a text".to_owned());
                self.found.is_opaque = true;
                Val::default()
            }
        }
    }

    /// Gives a variable of a text a value.
    fn bind(&mut self, target: &Expr<'_>, value: Val, kind: Type) {
        if let Expr::Var(var) = target {
            self.hides_names |= self.types.name(var.id).is_some();
            self.scopes.push((var.id.to_owned(), value, kind));
        } else {
            self.own.fails.extend(self.under_open.iter().cloned());
        }
    }

    /// Merges the variables that are set behind a test with those before: they are visible behind its end.
    fn merge(&mut self, depth: usize, test: &Val) {
        for (name, mut value, kind) in self.scopes.split_off(depth) {
            value.computed.extend(test.computed.iter().cloned());
            let mut known = self.scopes.iter_mut().rev();
            match known.find(|(known, ..)| *known == name) {
                Some((_, before, of_before)) => {
                    *before = std::mem::take(before).join(value);
                    *of_before = of_before.join(&kind);
                }
                None => self.scopes.push((name, value, kind)),
            }
        }
    }

    /// Reads a loop.
    fn for_loop(&mut self, each: &ForLoop<'_>) -> Val {
        let items = self.part(&each.iter);
        let item = self.typed(&each.iter).kind.item();
        let shown = self.inputs(&items);
        let test = Val::computed(items.computed.clone());
        let depth = self.scopes.len();
        if let Expr::Var(_) = &each.target {
            self.bind(&each.target, as_list(items, false), item);
            let of_it = Val::computed(shown.clone());
            self.scopes.push(("loop".to_owned(), of_it, of_loop()));
        } else {
            self.own.fails.extend(shown.iter().cloned());
        }
        let value = self.under(&test, |reader| {
            let filter = each.filter_expr.as_ref().map(|expr| reader.part(expr));
            let filter = reader.truth(filter.unwrap_or_default());
            let value = reader.under(&filter, |reader| {
                let body = reader.body(&each.body);
                body.join(reader.body(&each.else_body))
            });
            filter.join(value)
        });
        self.scopes.truncate(depth);
        Val::computed(shown).join(value)
    }

    /// Returns what the templates depend on that a name can mean.
    fn included(&mut self, name: &Expr<'_>) -> Val {
        let named = self.part(name);
        let inputs = self.inputs(&named);
        self.own.fails.extend(inputs);
        let mut value = Val::default();
        for name in infer::included(name, &self.types) {
            if self.templates.insert(name.clone())
                && let Ok(text) = self.chart.template(&name)
            {
                value = value.join(self.template(&text));
                self.templates.remove(&name);
            }
        }
        value
    }
}
