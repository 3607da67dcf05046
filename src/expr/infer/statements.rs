//! Statements of a text: blocks, loops and variables, and the templates that it includes.

use minijinja::machinery::Span;
use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};

use super::Infer;
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::{hint, suggest};
use crate::expr::syntax::{MAX_LENGTH, longest_hole, parse_text};
use crate::expr::types::Type;

/// How deeply templates may include others.
const MAX_INCLUDES: usize = 10;

/// How many templates a text may include in total, counting repetitions: ten levels of a few each would be billions.
const MAX_INCLUDED: usize = 500;

impl Infer<'_> {
    pub(super) fn template(&mut self, source: &str) {
        if let Some(span) = longest_hole(source).filter(|span| span.len() > MAX_LENGTH) {
            return self.too_long(span);
        }
        let name = self.files.last().cloned().unwrap_or_default();
        match parse_text(source, &name) {
            Ok(template) => {
                self.sources.push(source.to_owned());
                self.stmt(&template);
                self.sources.pop();
            }
            Err(error) => self.syntax(source, &error),
        }
    }

    fn body(&mut self, body: &[Stmt<'_>]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        match stmt {
            Stmt::Template(template) => self.body(&template.children),
            Stmt::EmitRaw(_) => {}
            Stmt::EmitExpr(emit) => _ = self.expr(&emit.expr),
            Stmt::ForLoop(each) => {
                let items = self.expr(&each.iter);
                let item = self.item_of(&items, each.iter.span());
                let mark = self.locals.len();
                self.bind(&each.target, item);
                if let Some(filter) = &each.filter_expr {
                    // There is no `loop` before the items are chosen.
                    self.locals.push(("loop".to_owned(), Type::Any));
                    self.is_condition(filter);
                    self.locals.pop();
                }
                self.locals.push(("loop".to_owned(), of_loop()));
                self.body(&each.body);
                self.locals.truncate(mark);
                self.body(&each.else_body);
            }
            Stmt::IfCond(branch) => {
                self.is_condition(&branch.expr);
                let mark = self.locals.len();
                self.given(&branch.expr, true, |infer| infer.body(&branch.true_body));
                let set = self.locals.split_off(mark);
                self.given(&branch.expr, false, |infer| infer.body(&branch.false_body));
                self.locals.extend(set);
                self.merge(mark);
            }
            Stmt::Set(set) => {
                let kind = self.expr(&set.expr);
                self.bind(&set.target, kind);
            }
            Stmt::SetBlock(set) => {
                self.body(&set.body);
                self.bind(&set.target, Type::Text);
            }
            Stmt::Include(include) => self.include(&include.name),
            other => {
                let span = match other {
                    Stmt::AutoEscape(stmt) => stmt.span(),
                    Stmt::FilterBlock(stmt) => stmt.span(),
                    Stmt::Block(stmt) => stmt.span(),
                    Stmt::Import(stmt) => stmt.span(),
                    Stmt::FromImport(stmt) => stmt.span(),
                    Stmt::Extends(stmt) => stmt.span(),
                    Stmt::Do(stmt) => stmt.span(),
                    Stmt::WithBlock(stmt) => stmt.span(),
                    _ => Span::default(),
                };
                let help = "templates support if, for, set and include";
                self.syntax_problem(span, "this kind of block is not supported", help);
            }
        }
    }

    /// Checks every template that an include can mean: `'a.md'`, or `'actions/' ~ x ~ '.md'`.
    fn include(&mut self, name: &Expr<'_>) {
        if let Some(value) = name.as_const() {
            let name_text = value.to_string();
            return match self.scope.template(&name_text) {
                Some(text) => self.file(&name_text, &text),
                None => {
                    let known = self.scope.templates_like("", "");
                    let known = || known.iter().map(String::as_str);
                    if let Some(meant) = suggest(&name_text, known()) {
                        self.scope.used(&format!("template:{meant}"));
                    }
                    let message = format!("unknown template `{name_text}`");
                    let help = hint(&name_text, known());
                    self.problem(Code::UnknownTemplate, name.span(), message, help);
                }
            };
        }
        self.expr(name);
        let names = self.templates(name);
        let mut missing = Vec::new();
        for template in names {
            match self.scope.template(&template) {
                Some(text) => self.file(&template, &text),
                None => missing.push(format!("`{template}`")),
            }
        }
        if !missing.is_empty() {
            let message = format!("there is no template {}", missing.join(" and no "));
            self.problem(Code::UnknownTemplate, name.span(), message, None);
        }
    }

    /// Returns the templates that a name can mean: those with known words in the middle, otherwise any there.
    pub(super) fn templates(&mut self, name: &Expr<'_>) -> Vec<String> {
        let (start, words, end) = ends(name);
        let middle = words.map(|expr| self.quietly(expr));
        let words = match middle.as_ref().map(Type::some) {
            Some(Type::Word(words)) => words.iter(),
            _ => return self.scope.templates_like(&start, &end),
        };
        words.map(|word| format!("{start}{word}{end}")).collect()
    }

    fn file(&mut self, name: &str, text: &str) {
        let wrong = if self.files.iter().any(|file| file == name) {
            Some(format!("template `{name}` includes itself"))
        } else if self.files.len() >= MAX_INCLUDES {
            Some(format!("templates include each other more than {MAX_INCLUDES} deep"))
        } else {
            self.included += 1;
            (self.included == MAX_INCLUDED + 1)
                .then(|| format!("more than {MAX_INCLUDED} templates are included in all"))
        };
        if let Some(message) = wrong {
            return self.problem(Code::SelfReference, Span::default(), message, None);
        }
        if self.included > MAX_INCLUDED {
            return;
        }
        self.scope.used(&format!("template:{name}"));
        self.files.push(name.to_owned());
        self.template(text);
        self.files.pop();
    }

    /// Merges the variables that branches have set with those before: they are visible behind the branches.
    fn merge(&mut self, mark: usize) {
        for (name, kind) in self.locals.split_off(mark) {
            let mut known = self.locals.iter_mut().rev();
            match known.find(|(known, _)| *known == name) {
                Some((_, before)) => *before = before.join(&kind),
                None => self.locals.push((name, kind)),
            }
        }
    }

    fn bind(&mut self, target: &Expr<'_>, kind: Type) {
        match target {
            Expr::Var(var) => {
                self.not_none.retain(|path| path.split('.').next() != Some(var.id));
                self.locals.push((var.id.to_owned(), kind));
            }
            Expr::List(list) => self.bind_all(&list.items),
            Expr::Tuple(tuple) => self.bind_all(&tuple.items),
            _ => {}
        }
    }

    fn bind_all(&mut self, targets: &[Expr<'_>]) {
        for target in targets {
            self.bind(target, Type::Any);
        }
    }
}

/// Returns the type of `loop`. Of what is not named here, nothing is known.
fn of_loop() -> Type {
    let any = |name| (name, Type::Any);
    let others = ["length", "revindex", "revindex0", "previtem", "nextitem"];
    let flags = ["first", "last"].map(|name| (name, Type::Boolean));
    let numbers = ["index", "index0", "depth", "depth0"].map(|name| (name, Type::Integer));
    Type::record(others.map(any).into_iter().chain(flags).chain(numbers))
}

/// Returns the literal start, the expression in the middle, and the literal end of `'a' ~ x ~ 'b'`.
fn ends<'e, 'a>(expr: &'e Expr<'a>) -> (String, Option<&'e Expr<'a>>, String) {
    let literal = |expr: &Expr<'_>| expr.as_const().map(|value| value.to_string());
    if let Expr::BinOp(op) = expr
        && matches!(op.op, BinOpKind::Concat)
    {
        if let Some(end) = literal(&op.right) {
            let (start, middle, rest) = ends(&op.left);
            return (start, middle, format!("{rest}{end}"));
        }
        if let Some(start) = literal(&op.left) {
            let (rest, middle, end) = ends(&op.right);
            return (format!("{start}{rest}"), middle, end);
        }
    }
    (String::new(), Some(expr), String::new())
}
