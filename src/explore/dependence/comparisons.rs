//! Comparisons: whether trying some values distinguishes two things, and which context fields do nothing but count, and
//! are compared with numbers that are known.

use minijinja::machinery::ast::{BinOpKind, Expr};
use minijinja::value::ValueKind;
use serde_json::Value as Json;

use super::reader::Reader;
use super::{Kind, Term, Uses, Val, root_of};
use crate::chart::Cycle;
use crate::chart::model::FieldType;
use crate::expr::syntax::dotted;

impl Reader<'_> {
    /// Returns whether it can be decided if one equals the other, for each pair of values that they can have.
    pub(super) fn equal(&mut self, left: &Val, right: &Val) -> Val {
        self.pairwise(left, right, Self::is_distinguished)
    }

    /// Returns what depends on whether some values are equal: on the inputs of each pair for which that is not known.
    fn pairwise(
        &mut self,
        left: &Val,
        right: &Val,
        is_distinguished: impl Fn(&mut Self, &Term, &Term) -> bool,
    ) -> Val {
        let mut computed = &left.computed | &right.computed;
        for one in &left.terms {
            for other in &right.terms {
                if !is_distinguished(self, one, other) {
                    for term in [one, other] {
                        computed.extend(self.inputs(&Val::of(term.clone())));
                    }
                }
            }
        }
        Val::computed(computed)
    }

    /// Returns whether the values that are tried distinguish two things, and notes what they are compared with.
    fn is_distinguished(&mut self, one: &Term, other: &Term) -> bool {
        match (one, other) {
            (Term::Input { path, list }, Term::Input { path: other, list: also }) => {
                if *list && *also {
                    return false;
                }
                let kinds = [self.kind(path), self.kind(other)];
                // The items of one list are not distinguished.
                let is_setting = [path, other].iter().any(|it| it.starts_with("config."));
                let is_one = is_setting || root_of(path) == root_of(other);
                if is_one || kinds != [Kind::Text, Kind::Text] {
                    return kinds == [Kind::Boolean, Kind::Boolean];
                }
                self.links.push((path.clone(), other.clone()));
                self.note(path).linked = true;
                self.note(other).linked = true;
                true
            }
            (Term::Input { path, .. }, term) | (term, Term::Input { path, .. }) => match term {
                Term::Literal(value) => self.against_literal(path, value),
                Term::Field(field) => self.against_field(path, field),
                _ => self.kind(path) == Kind::Boolean,
            },
            (Term::Field(field), Term::Literal(value))
            | (Term::Literal(value), Term::Field(field)) => {
                self.field_against(field, value);
                true
            }
            (Term::Field(one), Term::Field(other)) => {
                // A count reaches its limit, whatever that is: what goes into the limit need not follow the count.
                let is_bound = |cycle: &Cycle| {
                    let fields = [&cycle.count, &cycle.limit];
                    fields.contains(&one) && fields.contains(&other)
                };
                if self.chart.cycles.values().any(is_bound) {
                    return true;
                }
                for (one, other) in [(one, other), (other, one)] {
                    if self.is_derived(one) {
                        self.note(one).fields.insert(other.clone());
                    }
                }
                true
            }
            (Term::Settled, term) | (term, Term::Settled) => {
                if let Term::Literal(value) = term {
                    self.found.numbers.extend(value.as_i64());
                }
                !matches!(term, Term::Field(field) if self.is_derived(field))
            }
            _ => true,
        }
    }

    /// Returns whether a field takes the value of an input.
    pub(super) fn is_derived(&self, field: &str) -> bool {
        self.found.derived.contains(field)
    }

    /// Notes that a field is compared with a literal, so values that go into it are tried around it. A count goes up to
    /// its limit.
    fn field_against(&mut self, field: &str, value: &Json) {
        let chart = self.chart;
        if let Some(number) = value.as_i64() {
            self.found.numbers.insert(number);
        }
        let limits = chart.cycles.values().filter(|cycle| cycle.count == field);
        for name in limits.map(|cycle| cycle.limit.as_str()).chain([field]) {
            self.note(name).literals.insert(value.clone());
        }
    }

    /// Compares an input with a literal.
    fn against_literal(&mut self, path: &str, value: &Json) -> bool {
        let fits = match self.kind(path) {
            Kind::Untried | Kind::List => value.is_null(),
            Kind::Integer => !value.is_number() || value.is_i64(),
            Kind::Boolean | Kind::Text => true,
        };
        if fits {
            self.note(path).literals.insert(value.clone());
        }
        fits
    }

    /// Compares an input with a context field.
    fn against_field(&mut self, path: &str, field: &str) -> bool {
        match self.kind(path) {
            Kind::Boolean => true,
            Kind::Untried | Kind::List => false,
            // A setting is tried at small values and around each number: a counter reaches both sides of it.
            kind if path.starts_with("config.") => kind == Kind::Integer && !self.is_derived(field),
            Kind::Integer | Kind::Text => {
                self.note(path).fields.insert(field.to_owned());
                true
            }
        }
    }

    /// Returns which of two is greater.
    pub(super) fn ordered(&mut self, left: &Val, right: &Val) -> Val {
        let is_text = |reader: &Self, term: &Term| match term {
            Term::Input { path, list } => *list || reader.kind(path) != Kind::Integer,
            Term::Field(field) => {
                let declared = reader.chart.context.get(field);
                let is_integer = declared.is_some_and(|field| field.kind == FieldType::Integer);
                reader.is_derived(field) && !is_integer
            }
            _ => false,
        };
        let mut terms = left.terms.iter().chain(&right.terms);
        if terms.any(|term| is_text(self, term)) {
            return self.made_of(&[left, right]);
        }
        self.equal(left, right)
    }

    /// Compares as `left in right`: an item of a list, or a part of a text.
    pub(super) fn within(&mut self, left: &Val, right: &Val, source: &Expr<'_>) -> Val {
        let constant = source.as_const();
        if constant.is_some_and(|value| value.kind() == ValueKind::String) {
            return self.made_of(&[left]);
        }
        let is_list = matches!(source, Expr::List(_) | Expr::Tuple(_) | Expr::Const(_));
        self.pairwise(left, right, |reader, one, other| match other {
            _ if is_list => reader.is_distinguished(one, other),
            Term::Input { list: true, .. } => reader.is_distinguished(one, other),
            Term::Input { path, .. } if reader.kind(path) == Kind::Text => {
                reader.part_of(one, path)
            }
            Term::Input { .. } => false,
            Term::Field(field) if reader.is_derived(field) => match one {
                Term::Literal(Json::String(part)) => {
                    reader.note(field).parts.insert(part.clone());
                    true
                }
                _ => false,
            },
            // A field, a literal or anything settled: only what is looked for can vary.
            _ => reader.inputs(&Val::of(one.clone())).is_empty(),
        })
    }

    /// Looks for something in a text.
    fn part_of(&mut self, one: &Term, path: &str) -> bool {
        match one {
            Term::Literal(Json::String(part)) => {
                self.note(path).parts.insert(part.clone());
                true
            }
            Term::Input { path: setting, list: false }
                if setting.starts_with("config.") && !path.starts_with("config.") =>
            {
                self.note(path).part_fields.insert(setting.clone());
                true
            }
            Term::Field(field) if !self.is_derived(field) && !path.starts_with("config.") => {
                self.note(path).part_fields.insert(field.clone());
                true
            }
            _ => false,
        }
    }

    /// Returns how a context field is looked at, to add to it.
    pub(super) fn uses(&mut self, field: &str) -> &mut Uses {
        self.found.uses.entry(field.to_owned()).or_default()
    }

    /// Takes one look at a field for one of those that a counter allows, where an expression is nothing but its name.
    pub(super) fn allow(&mut self, expr: &Expr<'_>) -> Option<&mut Uses> {
        let Expr::Var(var) = expr else { return None };
        let is_field = self.chart.context.contains_key(var.id) && !self.is_bound(var.id);
        let uses = is_field.then(|| self.uses(var.id))?;
        uses.others = uses.others.saturating_sub(1);
        Some(uses)
    }

    /// Notes that a field is compared, where that is with a number or with what is tried at some.
    pub(super) fn compares(&mut self, left: &Expr<'_>, right: &Expr<'_>) {
        for (field, with) in [(left, right), (right, left)] {
            let is_free =
                |name: &String| name.split('.').next().is_some_and(|it| !self.is_bound(it));
            let name = dotted(with).filter(is_free);
            let number = integer(with);
            if (name.is_some() || number.is_some())
                && let Some(uses) = self.allow(field)
            {
                uses.most = uses.most.max(number);
                uses.beside.extend(name);
            }
        }
    }

    /// Notes that a field is assigned itself, or itself and some more.
    pub(super) fn counts_up(&mut self, field: &str, expr: &Expr<'_>) {
        let is_it = |expr: &Expr<'_>| matches!(expr, Expr::Var(var) if var.id == field);
        match expr {
            Expr::IfExpr(choice) => {
                self.counts_up(field, &choice.true_expr);
                if let Some(other) = &choice.false_expr {
                    self.counts_up(field, other);
                }
            }
            Expr::BinOp(op)
                if matches!(op.op, BinOpKind::Add)
                    && is_it(&op.left)
                    && integer(&op.right).is_some_and(|more| more >= 0) =>
            {
                self.allow(&op.left);
            }
            expr if is_it(expr) => drop(self.allow(expr)),
            _ => {}
        }
    }

    /// Returns whether a name is a variable of the text that is read, or an item.
    fn is_bound(&self, name: &str) -> bool {
        self.scopes.iter().any(|(bound, ..)| bound == name)
    }
}

/// Returns an integer that is written out.
pub(super) fn integer(expr: &Expr<'_>) -> Option<i64> {
    match expr {
        Expr::Const(number) => number.value.as_i64().filter(|_| number.value.is_integer()),
        _ => None,
    }
}
