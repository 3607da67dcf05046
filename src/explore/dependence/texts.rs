//! Texts: what they show, and on what they may fail.

use minijinja::machinery::ast::{Expr, ForLoop, Stmt};

use super::reader::Reader;
use super::{Val, as_list};
use crate::expr::syntax::parse_text;

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
                let value = self.expr(&emit.expr);
                if self.is_shown {
                    self.allow(&emit.expr);
                }
                Val::computed(self.inputs(&value))
            }
            Stmt::EmitRaw(_) => Val::default(),
            Stmt::IfCond(choice) => {
                let test = self.condition(&choice.expr);
                let value = self.under(&test, |reader| {
                    let then = reader.body(&choice.true_body);
                    then.join(reader.body(&choice.false_body))
                });
                Val::computed(test.computed).join(value)
            }
            Stmt::ForLoop(each) => self.for_loop(each),
            Stmt::Set(set) => {
                let value = self.expr(&set.expr);
                self.bind(&set.target, value);
                Val::default()
            }
            Stmt::WithBlock(with) => {
                let depth = self.scopes.len();
                for (target, expr) in &with.assignments {
                    let value = self.expr(expr);
                    self.bind(target, value);
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
                self.bind(&set.target, value);
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
    fn bind(&mut self, target: &Expr<'_>, value: Val) {
        if let Expr::Var(var) = target {
            self.scopes.push((var.id.to_owned(), value));
        }
    }

    /// Reads a loop.
    fn for_loop(&mut self, each: &ForLoop<'_>) -> Val {
        let items = self.expr(&each.iter);
        let shown = self.inputs(&items);
        let depth = self.scopes.len();
        if let Expr::Var(_) = &each.target {
            self.bind(&each.target, as_list(items, false));
            let of_loop = Val::computed(shown.clone());
            self.scopes.push(("loop".to_owned(), of_loop));
        } else {
            self.own.fails.extend(shown.iter().cloned());
        }
        let filter = each.filter_expr.as_ref().map(|expr| self.condition(expr));
        let body = self.body(&each.body);
        let other = self.body(&each.else_body);
        self.scopes.truncate(depth);
        Val::computed(shown)
            .join(filter.unwrap_or_default())
            .join(body)
            .join(other)
    }

    /// Returns what a template depends on, or all templates where its name is not known.
    fn included(&mut self, name: &Expr<'_>) -> Val {
        let constant = name.as_const().map(|name| name.to_string());
        let names = match constant {
            Some(name) => vec![name],
            None => {
                let value = self.expr(name);
                let inputs = self.inputs(&value);
                self.own.fails.extend(inputs);
                self.chart.templates.names().into_iter().collect()
            }
        };
        let mut value = Val::default();
        for name in names {
            if self.templates.insert(name.clone())
                && let Ok(Some(text)) = self.chart.templates.get(&name)
            {
                let text = text.into_owned();
                value = value.join(self.template(&text));
            }
        }
        value
    }

    /// Reads what may be evaluated or not, as a test says.
    pub(super) fn under(&mut self, test: &Val, read: impl FnOnce(&mut Self) -> Val) -> Val {
        let before = self.under_open.clone();
        self.under_open.extend(test.computed.iter().cloned());
        let value = read(self);
        self.under_open = before;
        value
    }
}
