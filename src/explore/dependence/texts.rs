//! Texts: what they show, and on what they may fail.

use minijinja::machinery::ast::{Expr, ForLoop, Stmt};

use super::reader::Reader;
use super::{Val, as_list, item_of};
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
        let depth = self.scopes.len();
        let value = body.iter().fold(Val::default(), |value, stmt| {
            let more = self.stmt(stmt);
            value.join(more)
        });
        self.scopes.truncate(depth);
        value
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
                let (test, open) = self.turn(|reader| {
                    let value = reader.part(&choice.expr);
                    reader.truth(value)
                });
                let value = self.under(open, |reader| {
                    let then = reader.body(&choice.true_body);
                    then.join(reader.body(&choice.false_body))
                });
                Val::computed(test.computed).join(value)
            }
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::Set(set) => {
                let value = self.part(&set.expr);
                let kind = self.kind_of(&set.expr).0;
                self.bind(&set.target, value, kind);
                Val::default()
            }
            Stmt::WithBlock(with) => {
                let depth = self.scopes.len();
                for (target, expr) in &with.assignments {
                    let value = self.part(expr);
                    let kind = self.kind_of(expr).0;
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
        }
    }

    /// Reads a loop.
    fn for_loop(&mut self, each: &ForLoop<'_>) -> Val {
        let (items, mut open) = self.turn(|reader| reader.part(&each.iter));
        let item = item_of(self.kind_of(&each.iter).0);
        let shown = self.inputs(&items);
        let depth = self.scopes.len();
        if let Expr::Var(_) = &each.target {
            self.bind(&each.target, as_list(items, false), item);
            let of_it = Val::computed(shown.clone());
            self.scopes.push(("loop".to_owned(), of_it, of_loop()));
        } else {
            self.own.fails.extend(shown.iter().cloned());
        }
        let filter = each.filter_expr.as_ref();
        let filter = filter.map(|expr| self.turn(|reader| reader.condition(expr)));
        let (filter, of_filter) = filter.unwrap_or_default();
        open.extend(of_filter);
        let body = self.under(open, |reader| {
            let body = reader.body(&each.body);
            body.join(reader.body(&each.else_body))
        });
        self.scopes.truncate(depth);
        Val::computed(shown).join(filter).join(body)
    }

    /// Returns what a template depends on, or all templates where its name is not known.
    fn included(&mut self, name: &Expr<'_>) -> Val {
        let constant = name.as_const().map(|name| name.to_string());
        let names = match constant {
            Some(name) => vec![name],
            None => {
                let value = self.part(name);
                let inputs = self.inputs(&value);
                self.own.fails.extend(inputs);
                infer::included(name, &self.types)
            }
        };
        let mut value = Val::default();
        for name in names {
            let is_open = !self.under_open.is_empty();
            if self.templates.insert((name.clone(), is_open))
                && let Ok(Some(text)) = self.chart.templates.get(&name)
            {
                let text = text.into_owned();
                value = value.join(self.template(&text));
            }
        }
        value
    }
}
