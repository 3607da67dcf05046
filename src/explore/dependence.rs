//! What each expression of a chart asks of the inputs, and whether trying some values settles what it comes to.
//!
//! An input (a file, an option, a field of the event) has too many values to try them all. It is tried at the values
//! that the chart holds it against, and one that is none of them: that is enough as long as expressions only compare.
//! Where one does anything else with an input, what it comes to is left open, and both outcomes are explored. Only
//! what is known here is settled; everything else is open.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use minijinja::machinery::ast::{BinOpKind, CallArg, CompareOpKind, Expr, Stmt};
use minijinja::machinery::{parse, parse_expr};
use minijinja::value::ValueKind;
use serde_json::Value as Json;

use super::user_fields::fields_of_the_user;
use crate::chart::field::default_of;
use crate::chart::fragments::Role;
use crate::chart::model::{Field, FieldType};
use crate::chart::{Chart, RowShape};
use crate::expr::source::Literal;
use crate::expr::syntax::value_of_arg;
use crate::expr::{has_holes, single_expression};
use crate::files::pattern::HoleKind;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};

/// The length of a list, as the last part of a dotted name.
pub const LENGTH: &str = "length";

/// What an input, or a field that an input's value has gone into, is held against.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Compared {
    pub literals: IndexSet<Json>,
    /// Context fields and settings, by what they hold at the time.
    pub fields: IndexSet<String>,
    /// Literals that are looked for in it.
    pub parts: IndexSet<String>,
    /// Fields and settings whose texts are looked for in it.
    pub part_fields: IndexSet<String>,
    /// It is compared without the blanks around it.
    pub trimmed: bool,
    /// It goes into a field that takes nothing but a slug.
    pub slug: bool,
    /// It is compared with other inputs.
    pub linked: bool,
    /// Of a list: its first item matters, of a part that is filtered by these attributes.
    pub first: Vec<BTreeSet<String>>,
    /// Of a list: its last item matters.
    pub last: bool,
    /// Of a list: its items are looked into.
    pub items: bool,
}

impl Compared {
    /// Takes over what another is held against; true where that is new.
    fn absorb(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.literals.extend(other.literals.iter().cloned());
        self.fields.extend(other.fields.iter().cloned());
        self.parts.extend(other.parts.iter().cloned());
        self.part_fields.extend(other.part_fields.iter().cloned());
        self.trimmed |= other.trimmed;
        self.slug |= other.slug;
        *self != before
    }
}

/// The default words of a setting that is a list.
fn words_of_setting(chart: &Chart, path: &str) -> Vec<Json> {
    let setting = path
        .strip_prefix("config.")
        .and_then(|name| chart.config.get(name));
    match setting.map(|field| default_of(chart, field)) {
        Some(Json::Array(words)) => words,
        _ => Vec::new(),
    }
}

/// What is open about an expression.
#[derive(Debug, Default, Clone)]
pub struct Openness {
    /// The inputs on which its outcome depends in ways that no trial settles: `files.a`, `event.prompt`, `field.n`.
    pub inputs: BTreeSet<String>,
    /// It may fail for some values of these inputs.
    pub fails: BTreeSet<String>,
    /// The inputs that it looks at.
    pub looks: BTreeSet<String>,
}

impl Openness {
    fn merge(&mut self, other: Self) {
        self.inputs.extend(other.inputs);
        self.fails.extend(other.fails);
        self.looks.extend(other.looks);
    }
}

/// What all expressions of a chart ask.
#[derive(Debug, Default)]
pub struct Dependence {
    pub compared: HashMap<String, Compared>,
    /// By the source of a condition, a text or an assigned value.
    pub open: HashMap<String, Openness>,
    /// Fields that may take a value that is not known.
    pub clouded: BTreeSet<String>,
    /// Fields that take the value of an input.
    pub derived: BTreeSet<String>,
    /// Integers that stand beside a number of the state, wherever that is.
    pub numbers: BTreeSet<i64>,
}

/// One value that an expression can have.
#[derive(Debug, Clone, PartialEq)]
enum Term {
    Literal(Json),
    /// A context field.
    Field(String),
    /// An input; lists have the name of their items.
    Input {
        path: String,
        list: bool,
    },
    /// Anything that the state and what is tried determine.
    Settled,
}

/// What an expression can come to.
#[derive(Debug, Clone, Default)]
struct Val {
    terms: Vec<Term>,
    /// The inputs of which it is computed.
    computed: BTreeSet<String>,
    /// Of a list: the attributes that each item of it has, or has not.
    pinned: BTreeSet<String>,
    /// Of a list: items that are the same are one, in no order.
    is_set: bool,
}

impl Val {
    fn settled() -> Self {
        Self::of(Term::Settled)
    }

    fn of(term: Term) -> Self {
        Self {
            terms: vec![term],
            ..Self::default()
        }
    }

    fn input(path: impl Into<String>, list: bool) -> Self {
        Self::of(Term::Input {
            path: path.into(),
            list,
        })
    }

    fn computed(inputs: BTreeSet<String>) -> Self {
        Self {
            terms: vec![Term::Settled],
            computed: inputs,
            ..Self::default()
        }
    }

    fn join(mut self, other: Self) -> Self {
        for term in other.terms {
            if !self.terms.contains(&term) {
                self.terms.push(term);
            }
        }
        self.computed.extend(other.computed);
        self.pinned.clear();
        self.is_set |= other.is_set;
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    Text,
    List,
    /// Nothing of it is tried.
    Untried,
}

/// The root of an input, by which a world says that it was looked at: `files.a.name` → `files.a`.
pub fn root_of(path: &str) -> &str {
    let mut dots = path.match_indices('.').map(|(at, _)| at);
    let first = dots.next();
    match path.split('.').next().unwrap_or_default() {
        "session" | "siblings" | "now" | "touched" | "postponed" | "findings" | "rulings" => {
            &path[..first.unwrap_or(path.len())]
        }
        _ => &path[..dots.next().unwrap_or(path.len())],
    }
}

type LetUse = (String, bool, BTreeSet<String>);
type LetValue = (Val, BTreeSet<String>, BTreeSet<String>);

struct Reader<'c> {
    chart: &'c Chart,
    untried: &'c BTreeSet<String>,
    found: Dependence,
    /// What `it` and the variables of a text stand for.
    scopes: Vec<(String, Val)>,
    lets: Vec<String>,
    /// What lets stand for, with what they fail on and look at: by their names, and how they are read.
    known_lets: HashMap<LetUse, LetValue>,
    /// What the expression that is being read may fail on.
    fails: BTreeSet<String>,
    looks: BTreeSet<String>,
    /// Where what is read is only evaluated under a condition that is open.
    under_open: BTreeSet<String>,
    /// A text is read, of which only matters whether it can be made.
    in_text: bool,
    flows: Vec<(String, String)>,
    links: Vec<(String, String)>,
    /// The fields that the pass before found to be clouded, or derived.
    clouded: BTreeSet<String>,
    derived: BTreeSet<String>,
    templates: HashSet<String>,
}

impl Dependence {
    /// Reads all expressions and texts of `chart`. The `untried` inputs have too many values to try them all.
    pub fn of(chart: &Chart, untried: &BTreeSet<String>) -> Self {
        let mut clouded = BTreeSet::new();
        let mut derived = BTreeSet::new();
        loop {
            let mut reader = Reader {
                chart,
                untried,
                found: Self::default(),
                scopes: Vec::new(),
                lets: Vec::new(),
                known_lets: HashMap::new(),
                fails: BTreeSet::new(),
                looks: BTreeSet::new(),
                under_open: BTreeSet::new(),
                in_text: false,
                flows: Vec::new(),
                links: Vec::new(),
                clouded: clouded.clone(),
                derived: derived.clone(),
                templates: HashSet::new(),
            };
            reader.chart();
            reader.spread();
            let found = reader.found;
            if found.clouded == clouded && found.derived == derived {
                return found;
            }
            clouded.extend(found.clouded);
            derived.extend(found.derived);
        }
    }
}

impl Reader<'_> {
    // ── the chart, place by place ──

    fn chart(&mut self) {
        let chart = self.chart;
        for (name, field) in &chart.context {
            // A field can begin with what a setting says.
            if let Some(setting) = field.setting() {
                let is_free = fields_of_the_user(chart).contains(name.as_str());
                if field.kind != FieldType::Boolean && !is_free {
                    self.found.derived.insert(name.clone());
                }
                self.flows.push((format!("config.{setting}"), name.clone()));
            }
        }
        for fragment in chart.fragments() {
            let items = fragment.each.map(|each| self.list(each));
            if let Some(items) = items.clone() {
                self.scopes.push(("it".to_owned(), item_of(items)));
            }
            match fragment.role {
                Role::Condition => self.condition(fragment.text),
                Role::List => drop(self.list(fragment.text)),
                Role::Assigned(field) => self.assign(field, fragment.text),
                Role::Shown | Role::Named => self.text(fragment.text),
                Role::Printed => self.text(&format!("{{{{ {} }}}}", fragment.text)),
                Role::Default | Role::Let => {}
            }
            if items.is_some() {
                self.scopes.pop();
            }
        }
    }

    /// Reads something by itself, and keeps what is open about it.
    fn alone(&mut self, source: &str, read: impl FnOnce(&mut Self) -> Val) -> Val {
        self.fails.clear();
        self.looks.clear();
        self.under_open.clear();
        let value = read(self);
        let found = Openness {
            inputs: value.computed.clone(),
            fails: std::mem::take(&mut self.fails),
            looks: std::mem::take(&mut self.looks),
        };
        self.found
            .open
            .entry(source.to_owned())
            .or_default()
            .merge(found);
        value
    }

    fn condition(&mut self, source: &str) {
        self.alone(source, |reader| {
            let value = reader.source(source);
            reader.truth(value)
        });
    }

    fn list(&mut self, source: &str) -> Val {
        self.alone(source, |reader| reader.source(source))
    }

    fn text(&mut self, text: &str) {
        if !has_holes(text) {
            return;
        }
        self.alone(text, |reader| {
            reader.in_text = true;
            let value = reader.template(text);
            reader.in_text = false;
            reader.templates.clear();
            value
        });
    }

    fn assign(&mut self, field: &str, text: &str) {
        let value = match single_expression(text) {
            Some(expr) => self.alone(text, |reader| reader.source(expr)),
            None if !has_holes(text) => return,
            None => self.alone(text, |reader| {
                let mut value = reader.template(text);
                reader.templates.clear();
                value.computed.extend(reader.fails.iter().cloned());
                value.terms = vec![Term::Settled];
                value
            }),
        };
        self.goes_into(field, value, text);
    }

    /// Notes where the value of a field comes from.
    fn goes_into(&mut self, field: &str, value: Val, source: &str) {
        let mut computed = value.computed;
        let takes_slugs = self
            .chart
            .context
            .get(field)
            .is_some_and(|field| field.pattern.is_some());
        for term in value.terms {
            match term {
                Term::Input { path, list } => {
                    let kind = self.kind(&path);
                    if list || matches!(kind, Kind::Untried | Kind::List) {
                        computed.insert(root_of(&path).to_owned());
                        continue;
                    }
                    // What only the user sets is tried at numbers of its own, whatever is made of them.
                    let is_number =
                        kind == Kind::Integer && fields_of_the_user(self.chart).contains(field);
                    if kind != Kind::Boolean && !is_number {
                        self.found.derived.insert(field.to_owned());
                    }
                    self.note(&path).slug |= takes_slugs;
                    self.flows.push((path, field.to_owned()));
                }
                Term::Field(other) if other != field => {
                    self.note(&other).slug |= takes_slugs;
                    if self.derived.contains(&other) {
                        self.found.derived.insert(field.to_owned());
                    }
                    self.flows.push((other, field.to_owned()));
                }
                _ => {}
            }
        }
        let open = self.found.open.get(source);
        if open.is_some_and(|open| !open.looks.is_disjoint(self.untried)) {
            self.found.clouded.insert(field.to_owned());
        }
        if !computed.is_empty() {
            self.found.clouded.insert(field.to_owned());
            let open = self.found.open.entry(source.to_owned()).or_default();
            open.inputs.extend(computed);
        }
    }

    /// What goes into a field is held against all that the field is held against.
    fn spread(&mut self) {
        let mut grows = true;
        while grows {
            grows = false;
            for (from, to) in &self.flows {
                let other = self.found.compared.get(to).cloned().unwrap_or_default();
                grows |= self
                    .found
                    .compared
                    .entry(from.clone())
                    .or_default()
                    .absorb(&other);
            }
            for (one, other) in &self.links {
                for (one, other) in [(one, other), (other, one)] {
                    let known = self.found.compared.get(other).cloned().unwrap_or_default();
                    grows |= self
                        .found
                        .compared
                        .entry(one.clone())
                        .or_default()
                        .absorb(&known);
                }
            }
        }
    }

    fn note(&mut self, path: &str) -> &mut Compared {
        self.found.compared.entry(path.to_owned()).or_default()
    }

    // ── texts ──

    fn template(&mut self, source: &str) -> Val {
        match parse(source, "text", Default::default()) {
            Ok(Stmt::Template(template)) => self.body(&template.children),
            _ => Val::settled(),
        }
    }

    fn body(&mut self, body: &[Stmt<'_>]) -> Val {
        let depth = self.scopes.len();
        let value = body.iter().fold(Val::default(), |value, stmt| {
            let more = self.stmt(stmt);
            value.join(more)
        });
        self.scopes.truncate(depth);
        value
    }

    /// What a part of a text depends on: every input that it shows, as something computed.
    fn stmt(&mut self, stmt: &Stmt<'_>) -> Val {
        match stmt {
            Stmt::EmitExpr(emit) => {
                let value = self.expr(&emit.expr);
                Val::computed(self.inputs(&value))
            }
            Stmt::EmitRaw(_) => Val::default(),
            Stmt::IfCond(choice) => {
                let test = self.expr(&choice.expr);
                let test = self.truth(test);
                let open = self.open(&test);
                let then = self.body(&choice.true_body);
                let other = self.body(&choice.false_body);
                self.close(&open);
                Val::computed(test.computed).join(then).join(other)
            }
            Stmt::ForLoop(each) => {
                let items = self.expr(&each.iter);
                let shown = self.inputs(&items);
                if let Expr::Var(var) = &each.target {
                    self.scopes.push((var.id.to_owned(), item_of(items)));
                    self.scopes
                        .push(("loop".to_owned(), Val::computed(shown.clone())));
                } else {
                    self.fails.extend(shown.iter().cloned());
                }
                let filter = each.filter_expr.as_ref().map(|expr| {
                    let value = self.expr(expr);
                    self.truth(value)
                });
                let body = self.body(&each.body);
                let other = self.body(&each.else_body);
                if matches!(each.target, Expr::Var(_)) {
                    self.scopes.truncate(self.scopes.len() - 2);
                }
                Val::computed(shown)
                    .join(filter.unwrap_or_default())
                    .join(body)
                    .join(other)
            }
            Stmt::Set(set) => {
                let value = self.expr(&set.expr);
                if let Expr::Var(var) = &set.target {
                    self.scopes.push((var.id.to_owned(), value));
                }
                Val::default()
            }
            Stmt::WithBlock(with) => {
                let depth = self.scopes.len();
                for (target, expr) in &with.assignments {
                    let value = self.expr(expr);
                    if let Expr::Var(var) = target {
                        self.scopes.push((var.id.to_owned(), value));
                    }
                }
                let value = self.body(&with.body);
                self.scopes.truncate(depth);
                value
            }
            Stmt::Include(include) => {
                let constant = include.name.as_const().map(|name| name.to_string());
                let names = match constant {
                    Some(name) => vec![name],
                    None => {
                        let value = self.expr(&include.name);
                        let inputs = self.inputs(&value);
                        self.fails.extend(inputs);
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
            Stmt::SetBlock(set) if set.filter.is_none() => {
                let value = self.body(&set.body);
                let value = Val::computed(self.inputs(&value));
                if let Expr::Var(var) = &set.target {
                    self.scopes.push((var.id.to_owned(), value));
                }
                Val::default()
            }
            // Blocks, filters over blocks, macros: whatever they look at may make them fail.
            _ => {
                self.fails.insert("a block of a text".to_owned());
                self.looks.insert("a block of a text".to_owned());
                Val::default()
            }
        }
    }

    /// From here on what is read may be evaluated or not.
    fn open(&mut self, test: &Val) -> BTreeSet<String> {
        let before = self.under_open.clone();
        self.under_open.extend(test.computed.iter().cloned());
        before
    }

    fn close(&mut self, before: &BTreeSet<String>) {
        self.under_open.clone_from(before);
    }

    // ── expressions ──

    fn source(&mut self, source: &str) -> Val {
        match parse_expr(source) {
            Ok(expr) => self.expr(&expr),
            Err(_) => Val::settled(),
        }
    }

    /// The roots of all inputs that a value is one of, or computed of.
    fn inputs(&self, value: &Val) -> BTreeSet<String> {
        let mut inputs = value.computed.clone();
        for term in &value.terms {
            match term {
                Term::Input { path, .. } => {
                    inputs.insert(root_of(path).to_owned());
                }
                Term::Field(field) if self.derived.contains(field) => {
                    inputs.insert(format!("field.{field}"));
                }
                _ => {}
            }
        }
        inputs
    }

    /// What is made of a value in a way that never fails.
    fn made_of(&self, values: &[&Val]) -> Val {
        let inputs: BTreeSet<String> = values.iter().flat_map(|value| self.inputs(value)).collect();
        Val::computed(inputs)
    }

    /// The same where it may fail.
    fn may_fail(&mut self, values: &[&Val]) -> Val {
        let value = self.made_of(values);
        self.fails.extend(value.computed.iter().cloned());
        if value.computed.is_empty() {
            let open = self.under_open.clone();
            self.fails.extend(open);
        }
        value
    }

    /// A value as a condition: lists by whether they have items.
    fn truth(&mut self, value: Val) -> Val {
        let mut computed = value.computed;
        for term in &value.terms {
            let Term::Input { path, list } = term else {
                continue;
            };
            // There is some time, or none.
            let is_tried = *list
                || path == "postponed"
                || matches!(self.kind(path), Kind::Boolean | Kind::List);
            if !is_tried {
                computed.insert(root_of(path).to_owned());
            }
        }
        Val::computed(computed)
    }

    fn expr(&mut self, expr: &Expr<'_>) -> Val {
        match expr {
            Expr::Var(var) => self.name(var.id),
            Expr::Const(constant) => match serde_json::to_value(&constant.value) {
                Ok(Json::Array(items)) => Val {
                    terms: items.into_iter().map(Term::Literal).collect(),
                    ..Val::default()
                },
                Ok(value) => Val::of(Term::Literal(value)),
                Err(_) => Val::settled(),
            },
            Expr::List(list) => self.all(&list.items),
            Expr::Tuple(tuple) => self.all(&tuple.items),
            Expr::Map(map) => {
                let values = self.all(&map.values);
                self.made_of(&[&values])
            }
            Expr::GetAttr(get) => {
                let value = self.expr(&get.expr);
                self.attribute(&value, get.name)
            }
            Expr::GetItem(get) => self.item(&get.expr, &get.subscript_expr),
            Expr::Slice(slice) => {
                let value = self.expr(&slice.expr);
                self.made_of(&[&value])
            }
            Expr::UnaryOp(op) => {
                let value = self.expr(&op.expr);
                let is_settled = self.inputs(&value).is_empty();
                match op.op {
                    minijinja::machinery::ast::UnaryOpKind::Not => self.truth(value),
                    _ if is_settled => Val::settled(),
                    _ => self.may_fail(&[&value]),
                }
            }
            Expr::BinOp(op) => self.binary(op.op, &op.left, &op.right),
            Expr::Compare(compare) => {
                let mut left = self.expr(&compare.expr);
                let mut all = Val::settled();
                for op in &compare.ops {
                    let right = self.expr(&op.expr);
                    let holds = match op.op {
                        CompareOpKind::Eq | CompareOpKind::Ne => self.equal(&left, &right),
                        CompareOpKind::In | CompareOpKind::NotIn => {
                            self.within(&left, &right, &op.expr)
                        }
                        _ => self.ordered(&left, &right),
                    };
                    all = all.join(holds);
                    left = right;
                }
                Val::computed(all.computed)
            }
            Expr::IfExpr(choice) => {
                let test = self.expr(&choice.test_expr);
                let test = self.truth(test);
                let before = self.open(&test);
                let then = self.expr(&choice.true_expr);
                let other = choice.false_expr.as_ref().map(|expr| self.expr(expr));
                self.close(&before);
                let mut value = then.join(other.unwrap_or_default());
                value.computed.extend(test.computed);
                value
            }
            Expr::Filter(filter) => {
                let input = filter
                    .expr
                    .as_ref()
                    .map(|expr| self.expr(expr))
                    .unwrap_or_default();
                self.filter(filter.name, input, &filter.args)
            }
            Expr::Test(test) => {
                let value = self.expr(&test.expr);
                let args: Vec<Val> = test
                    .args
                    .iter()
                    .map(|arg| self.expr(value_of_arg(arg)))
                    .collect();
                self.test(test.name, &value, args.first())
            }
            Expr::Call(call) => {
                let value = self.expr(&call.expr);
                let args: Vec<Val> = call
                    .args
                    .iter()
                    .map(|arg| self.expr(value_of_arg(arg)))
                    .collect();
                let all: Vec<&Val> = std::iter::once(&value).chain(&args).collect();
                self.may_fail(&all)
            }
        }
    }

    fn all(&mut self, exprs: &[Expr<'_>]) -> Val {
        exprs.iter().fold(Val::default(), |value, expr| {
            let more = self.expr(expr);
            value.join(more)
        })
    }

    fn binary(&mut self, op: BinOpKind, left: &Expr<'_>, right: &Expr<'_>) -> Val {
        if matches!(op, BinOpKind::ScAnd | BinOpKind::ScOr) {
            let first = self.expr(left);
            let first = self.truth(first);
            let before = self.open(&first);
            let second = self.expr(right);
            let second = self.truth(second);
            self.close(&before);
            return Val::computed(first.join(second).computed);
        }
        let (one, other) = (self.expr(left), self.expr(right));
        match op {
            BinOpKind::Eq | BinOpKind::Ne => self.equal(&one, &other),
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {
                self.ordered(&one, &other)
            }
            BinOpKind::In => self.within(&one, &other, right),
            BinOpKind::Concat => self.made_of(&[&one, &other]),
            _ => {
                let is_held = |value: &Val| {
                    value
                        .terms
                        .iter()
                        .any(|term| matches!(term, Term::Field(_)))
                };
                for value in [&one, &other] {
                    if !is_held(&one) && !is_held(&other) {
                        break;
                    }
                    let literals = value.terms.iter().filter_map(|term| match term {
                        Term::Literal(number) => number.as_i64(),
                        _ => None,
                    });
                    self.found.numbers.extend(literals);
                }
                let whole = |value: &Val| {
                    value.terms.iter().all(|term| match term {
                        Term::Input { path, list } => !list && self.kind(path) == Kind::Integer,
                        Term::Literal(value) => value.is_i64(),
                        Term::Field(field) => self.chart.context.get(field).is_some_and(|field| {
                            field.kind == FieldType::Integer && !field.nullable
                        }),
                        Term::Settled => value.computed.is_empty(),
                    })
                };
                let is_total = matches!(op, BinOpKind::Add | BinOpKind::Sub | BinOpKind::Mul)
                    && whole(&one)
                    && whole(&other);
                if is_total {
                    self.made_of(&[&one, &other])
                } else {
                    self.may_fail(&[&one, &other])
                }
            }
        }
    }

    fn name(&mut self, name: &str) -> Val {
        if let Some((_, value)) = self.scopes.iter().rev().find(|(known, _)| known == name) {
            return value.clone();
        }
        let chart = self.chart;
        if chart.context.contains_key(name) {
            let mut value = Val::of(Term::Field(name.to_owned()));
            if self.clouded.contains(name) {
                value.computed.insert(format!("field.{name}"));
            }
            return value;
        }
        if let Some(source) = chart.lets.get(name) {
            if self.lets.iter().any(|open| open == name) {
                return Val::settled();
            }
            // Lets that use others twice would double the work at each step.
            let key = (name.to_owned(), self.in_text, self.under_open.clone());
            if let Some((value, fails, looks)) = self.known_lets.get(&key) {
                self.fails.extend(fails.iter().cloned());
                self.looks.extend(looks.iter().cloned());
                return value.clone();
            }
            self.lets.push(name.to_owned());
            // A let sees the chart's names, not those of the place that uses it.
            let scopes = std::mem::take(&mut self.scopes);
            let fails = std::mem::take(&mut self.fails);
            let looks = std::mem::take(&mut self.looks);
            let value = self.source(&source.0);
            let own = (value.clone(), self.fails.clone(), self.looks.clone());
            self.known_lets.insert(key, own);
            self.fails.extend(fails);
            self.looks.extend(looks);
            self.scopes = scopes;
            self.lets.pop();
            return value;
        }
        match name {
            "it" | "invoke" => Val::settled(),
            // Nobody, this session, another one: each is tried.
            "driver" => {
                self.looks.insert(name.to_owned());
                Val::settled()
            }
            "session" | "now" | "postponed" => {
                self.looks.insert(name.to_owned());
                Val::input(name, false)
            }
            "siblings" | "touched" | "rulings" | "findings" => {
                self.looks.insert(name.to_owned());
                Val::input(name, true)
            }
            _ => Val::input(name, false),
        }
    }

    fn attribute(&mut self, value: &Val, name: &str) -> Val {
        let mut result = Val {
            computed: value.computed.clone(),
            ..Val::default()
        };
        for term in &value.terms {
            let more = match term {
                Term::Input { path, .. } => self.below(&path.clone(), name),
                _ => Val::settled(),
            };
            result = result.join(more);
        }
        result
    }

    /// An attribute of an input.
    fn below(&mut self, path: &str, name: &str) -> Val {
        let chart = self.chart;
        let whole = format!("{path}.{name}");
        let cycles = |field: &dyn Fn(&crate::chart::Cycle) -> String| Val {
            terms: chart
                .cycles
                .values()
                .map(|cycle| Term::Field(field(cycle)))
                .collect(),
            ..Val::default()
        };
        let root = path.split('.').next().unwrap_or_default();
        if !matches!(root, "cycle" | "review" | "scope") {
            self.looks.insert(root_of(&whole).to_owned());
        }
        match (path, name) {
            ("cycle", "n") | ("review", "n") => cycles(&|cycle| cycle.count.clone()),
            ("cycle", "limit") => cycles(&|cycle| cycle.limit.clone()),
            ("cycle", "subject") => Val::input(whole, true),
            ("cycle", "findings") => {
                self.looks.insert(whole.clone());
                Val::input(whole, true)
            }
            ("cycle", "review" | "last" | "text") | ("review", "error" | "file" | "answer") => {
                Val::input(whole, false)
            }
            ("cycle", "exit" | "ready" | "answered" | "due" | "owed" | "next" | "stalled") => {
                self.looks.insert(whole);
                Val::settled()
            }
            // Each of its values is tried.
            ("spent", "over") => Val::settled(),
            ("spent", _) => Val::computed(BTreeSet::from([whole])),
            ("review", "ok" | "verdict") | ("gate", "failed") => Val::settled(),
            ("review", "worst") => {
                if !self.in_text {
                    self.note(&whole);
                }
                Val::input(whole, false)
            }
            // What a review costs, says or takes is not tried, and neither is what a gate says.
            ("review", "cost" | "until" | "found" | "findings")
            | ("gate", "command" | "why" | "output") => Val::computed(BTreeSet::from([whole])),
            ("review", _) | ("gate", "times") => Val::input(whole, false),
            ("cycle", _) | ("scope", "started" | "home") => Val::settled(),
            ("args", _) => {
                let Some(arg) = chart.args.get(name) else {
                    return Val::settled();
                };
                let mut value = Val::input(whole.clone(), false);
                if let Some(Literal::Text(text)) = &arg.default
                    && !self.lets.contains(&whole)
                {
                    self.lets.push(whole.clone());
                    let scopes = std::mem::take(&mut self.scopes);
                    let default = match single_expression(&text.0) {
                        Some(expr) => self.source(expr),
                        None => Val::of(Term::Literal(text.0.clone().into())),
                    };
                    self.scopes = scopes;
                    self.lets.pop();
                    value = value.join(default);
                }
                if let Some(one_of) = &arg.one_of
                    && !self.lets.contains(&whole)
                {
                    self.lets.push(whole.clone());
                    let allowed = self.source(&one_of.0);
                    self.lets.pop();
                    for term in &allowed.terms {
                        match term {
                            Term::Input { path, .. } => {
                                self.links.push((whole.clone(), path.clone()));
                                let words = words_of_setting(self.chart, path);
                                self.note(&whole).literals.extend(words);
                            }
                            Term::Literal(word) => {
                                self.note(&whole).literals.insert(word.clone());
                            }
                            _ => {}
                        }
                    }
                    value.computed.extend(allowed.computed);
                }
                value
            }
            ("files", _) => Val::input(whole, true),
            ("tables", _) => Val::input(whole, false),
            ("checks", _) => Val::input(whole, true),
            ("git", "dirty") => Val::settled(),
            // It shows them all.
            ("prompts", _) => {
                let vars = chart.prompts.vars.values();
                vars.for_each(|var| drop(self.source(&var.0)));
                Val::input(whole, false)
            }
            ("config" | "event" | "scope", _) => {
                let is_list = self.kind(&whole) == Kind::List;
                Val::input(whole, is_list)
            }
            _ if root == "tables" && path.matches('.').count() == 1 => match name {
                "rows" => Val::input(format!("{path}.rows"), true),
                "open" => Val {
                    pinned: BTreeSet::from(["status".to_owned()]),
                    ..Val::input(format!("{path}.rows"), true)
                },
                "lines" => Val::input(whole, false),
                _ => Val::settled(),
            },
            _ if path == "siblings.files" => {
                self.note(&whole);
                Val::input(whole, true)
            }
            _ => {
                let is_settled = name == "done" || root == "siblings" && name == "unreadable";
                let is_list = name == "lines" || self.kind(&whole) == Kind::List;
                // Items of which nothing but their number matters need be of one kind only.
                let list = if root == "siblings" {
                    "siblings".to_owned()
                } else {
                    path.to_owned()
                };
                self.note(&list).items = true;
                if is_settled {
                    return Val::settled();
                }
                Val::input(whole, is_list)
            }
        }
    }

    fn kind(&self, path: &str) -> Kind {
        let chart = self.chart;
        let parts: Vec<&str> = path.split('.').collect();
        let of_field = |field: Option<&Field>| match field.map(|field| field.kind) {
            Some(FieldType::Boolean) => Kind::Boolean,
            Some(FieldType::Integer) => Kind::Integer,
            Some(FieldType::String | FieldType::Phase) => Kind::Text,
            Some(FieldType::List) | None => Kind::Untried,
        };
        match parts.as_slice() {
            [.., LENGTH] => Kind::Integer,
            ["gate", "times"] => Kind::Integer,
            ["session"] | ["review", "worst"] => Kind::Text,
            ["event", name] => match EVENT_DEFAULTS.iter().find(|(known, _)| known == name) {
                Some((_, FieldDefault::False)) => Kind::Boolean,
                Some((_, FieldDefault::Text)) => Kind::Text,
                Some((_, FieldDefault::List)) => Kind::List,
                None => Kind::Untried,
            },
            ["event", _, _] => Kind::Text,
            ["config", name] => of_field(chart.config.get(*name)),
            ["args", name] => match chart.args.get(*name).map(|arg| arg.kind) {
                Some(FieldType::Boolean) => Kind::Boolean,
                Some(FieldType::Integer) => Kind::Integer,
                Some(_) => Kind::Text,
                None => Kind::Untried,
            },
            ["files", _]
            | ["tables", _, "rows"]
            | ["siblings"]
            | ["checks", _]
            | ["files", _, "lines"] => Kind::List,
            ["siblings", "files", _] => Kind::List,
            ["files", _, "name"] => Kind::Text,
            ["files", _, "path"] | ["tables", _, "rows", "path"] | ["siblings", "path"] => {
                Kind::Untried
            }
            ["files", set, hole] => {
                let kinds = chart.files.get(*set).into_iter().flat_map(|set| &set.with);
                let mut kinds = kinds
                    .flat_map(|pattern| pattern.holes())
                    .filter(|(name, _)| name == hole);
                match kinds.next() {
                    Some((_, HoleKind::Integer)) => Kind::Integer,
                    Some(_) => Kind::Text,
                    None => Kind::Untried,
                }
            }
            ["files", _, "lines", _] => Kind::Text,
            ["tables", _, "lines"] => Kind::Integer,
            ["tables", name, "rows", column] => {
                let is_known = chart
                    .tables
                    .get(*name)
                    .is_some_and(|table| match &table.rows {
                        RowShape::Columns(columns) => columns.contains_key(*column),
                        RowShape::Line(line) => line.holes().any(|(hole, _)| hole == *column),
                    });
                if is_known { Kind::Text } else { Kind::Untried }
            }
            ["siblings", "name"] => Kind::Text,
            ["siblings", "idle_hours"] => Kind::Integer,
            ["siblings", "context", field] => of_field(chart.context.get(*field)),
            _ => Kind::Untried,
        }
    }

    fn item(&mut self, of: &Expr<'_>, subscript: &Expr<'_>) -> Val {
        let value = self.expr(of);
        let key = subscript.as_const();
        match &key {
            Some(key) if key.kind() == ValueKind::String => {
                self.attribute(&value, &key.to_string())
            }
            Some(key) => match key.as_i64() {
                Some(0) => self.end(value, true),
                Some(-1) => self.end(value, false),
                _ => self.may_fail(&[&value]),
            },
            None => {
                let index = self.expr(subscript);
                self.may_fail(&[&value, &index])
            }
        }
    }

    /// The first or the last item of a list.
    fn end(&mut self, value: Val, is_first: bool) -> Val {
        if !value.computed.is_empty() || value.is_set {
            return self.may_fail(&[&value]);
        }
        let open = self.under_open.clone();
        let chart = self.chart;
        let may_be_empty = |input: &String| {
            let setting = input.strip_prefix("config.");
            let field = setting.and_then(|name| chart.config.get(name));
            field.is_none_or(|field| field.minimum < Some(1))
        };
        if !open.is_empty() && self.inputs(&value).iter().any(may_be_empty) {
            self.fails.extend(open);
        }
        for term in &value.terms {
            let Term::Input { path, .. } = term else {
                continue;
            };
            // A text can be made of one item as well as of another.
            if !self.in_text {
                let noted = self.note(path);
                if is_first && !noted.first.contains(&value.pinned) {
                    noted.first.push(value.pinned.clone());
                }
                noted.last |= !is_first;
            }
        }
        item_of(value)
    }

    fn test(&mut self, name: &str, value: &Val, arg: Option<&Val>) -> Val {
        match (name, arg) {
            ("eq" | "equalto" | "==" | "ne" | "!=" | "sameas", Some(arg)) => self.equal(value, arg),
            (
                "lt" | "lessthan" | "<" | "le" | "<=" | "gt" | "greaterthan" | ">" | "ge" | ">=",
                Some(arg),
            ) => self.ordered(value, arg),
            ("in", Some(arg)) => {
                let is_list = arg
                    .terms
                    .iter()
                    .all(|term| !matches!(term, Term::Input { list: false, .. }));
                if is_list {
                    self.equal(value, arg)
                } else {
                    self.made_of(&[value, arg])
                }
            }
            (
                "none" | "defined" | "undefined" | "string" | "number" | "integer" | "boolean"
                | "sequence" | "mapping" | "iterable" | "true" | "false",
                None,
            ) => Val::computed(value.computed.clone()),
            (_, None) => self.made_of(&[value]),
            ("startingwith" | "endingwith", Some(arg)) => self.made_of(&[value, arg]),
            (_, Some(arg)) => self.may_fail(&[value, arg]),
        }
    }

    /// Whether it can be decided if one equals the other, for each pair of values that they can have.
    fn equal(&mut self, left: &Val, right: &Val) -> Val {
        let mut computed: BTreeSet<String> =
            left.computed.union(&right.computed).cloned().collect();
        for one in &left.terms {
            for other in &right.terms {
                if !self.is_told_apart(one, other) {
                    for term in [one, other] {
                        computed.extend(self.inputs(&Val::of(term.clone())));
                    }
                }
            }
        }
        Val::computed(computed)
    }

    fn is_told_apart(&mut self, one: &Term, other: &Term) -> bool {
        let is_derived = |reader: &Self, term: &Term| matches!(term, Term::Field(field) if reader.derived.contains(field));
        match (one, other) {
            (Term::Input { path, .. }, Term::Literal(value))
            | (Term::Literal(value), Term::Input { path, .. }) => self.against_literal(path, value),
            (Term::Input { path, .. }, Term::Field(field))
            | (Term::Field(field), Term::Input { path, .. }) => self.against_field(path, field),
            (
                Term::Input { path, list },
                Term::Input {
                    path: other,
                    list: also,
                },
            ) => {
                let kinds = [self.kind(path), self.kind(other)];
                if kinds.contains(&Kind::Untried) || (*list && *also) {
                    return false;
                }
                if kinds == [Kind::Boolean, Kind::Boolean] {
                    return true;
                }
                // The items of one list are not distinguished.
                let is_setting = |path: &str| path.starts_with("config.");
                if is_setting(path) || is_setting(other) || root_of(path) == root_of(other) {
                    return false;
                }
                if kinds != [Kind::Text, Kind::Text] {
                    return false;
                }
                self.links.push((path.clone(), other.clone()));
                self.note(path).linked = true;
                self.note(other).linked = true;
                true
            }
            (Term::Input { path, .. }, Term::Settled)
            | (Term::Settled, Term::Input { path, .. }) => self.kind(path) == Kind::Boolean,
            (Term::Field(field), Term::Literal(value))
            | (Term::Literal(value), Term::Field(field)) => {
                self.field_against(field, value);
                true
            }
            (Term::Field(one), Term::Field(other)) => {
                // A count comes to its limit, whatever that is: what goes into the limit need not follow the count.
                let is_bound = |cycle: &crate::chart::Cycle| {
                    let fields = [&cycle.count, &cycle.limit];
                    fields.contains(&one) && fields.contains(&other)
                };
                if self.chart.cycles.values().any(is_bound) {
                    return true;
                }
                for (one, other) in [(one, other), (other, one)] {
                    if self.derived.contains(one) {
                        self.note(one).fields.insert(other.clone());
                    }
                }
                true
            }
            (Term::Settled, term) | (term, Term::Settled) => {
                if let Term::Literal(value) = term {
                    self.found.numbers.extend(value.as_i64());
                }
                !is_derived(self, term)
            }
            _ => true,
        }
    }

    /// A field is held against a literal: what goes into it is tried there. What counts comes as far as its limit.
    fn field_against(&mut self, field: &str, value: &Json) {
        let chart = self.chart;
        if let Some(number) = value.as_i64() {
            self.found.numbers.insert(number);
        }
        let limits = chart.cycles.values().filter(|cycle| cycle.count == field);
        let limits: Vec<String> = limits.map(|cycle| cycle.limit.clone()).collect();
        for name in limits.into_iter().chain([field.to_owned()]) {
            self.note(&name).literals.insert(value.clone());
        }
    }

    fn against_literal(&mut self, path: &str, value: &Json) -> bool {
        let fits = match (self.kind(path), value) {
            (Kind::Untried | Kind::List, Json::Null) => true,
            (Kind::Untried | Kind::List, _) => false,
            (Kind::Integer, Json::Number(number)) => number.is_i64(),
            (Kind::Integer, Json::Null) | (Kind::Boolean | Kind::Text, _) => true,
            (Kind::Integer, _) => true,
        };
        if fits {
            if path.starts_with("config.")
                && let Some(number) = value.as_i64()
            {
                self.found.numbers.insert(number);
            }
            self.note(path).literals.insert(value.clone());
        }
        fits
    }

    fn against_field(&mut self, path: &str, field: &str) -> bool {
        let kind = self.kind(path);
        if kind == Kind::Boolean {
            return true;
        }
        if matches!(kind, Kind::Untried | Kind::List) {
            return false;
        }
        if path.starts_with("config.") {
            // A setting is tried at small values and around each number: a counter comes to both sides of it.
            let is_derived = self.derived.contains(field);
            return kind == Kind::Integer && !is_derived;
        }
        self.note(path).fields.insert(field.to_owned());
        true
    }

    /// Which of two is greater.
    fn ordered(&mut self, left: &Val, right: &Val) -> Val {
        let is_text = |reader: &Self, term: &Term| match term {
            Term::Input { path, list } => *list || reader.kind(path) != Kind::Integer,
            Term::Field(field) => {
                reader.derived.contains(field)
                    && reader
                        .chart
                        .context
                        .get(field)
                        .is_none_or(|field| field.kind != FieldType::Integer)
            }
            _ => false,
        };
        let texts = left
            .terms
            .iter()
            .chain(&right.terms)
            .any(|term| is_text(self, term));
        if texts {
            return self.made_of(&[left, right]);
        }
        self.equal(left, right)
    }

    /// `left in right`: an item of a list, or a part of a text.
    fn within(&mut self, left: &Val, right: &Val, source: &Expr<'_>) -> Val {
        let is_constant_text = source
            .as_const()
            .is_some_and(|value| value.kind() == ValueKind::String);
        if is_constant_text {
            return self.made_of(&[left]);
        }
        let is_list = matches!(source, Expr::List(_) | Expr::Tuple(_) | Expr::Const(_));
        let mut computed: BTreeSet<String> =
            left.computed.union(&right.computed).cloned().collect();
        for other in &right.terms {
            for one in &left.terms {
                let compared = match other {
                    _ if is_list => self.is_told_apart(one, other),
                    Term::Input { list: true, .. } => self.is_told_apart(one, other),
                    Term::Input { path, .. } if self.kind(path) == Kind::Text => {
                        self.part_of(one, path)
                    }
                    Term::Input { .. } => false,
                    Term::Field(field) if self.derived.contains(field) => match one {
                        Term::Literal(Json::String(part)) => {
                            self.note(field).parts.insert(part.clone());
                            true
                        }
                        _ => false,
                    },
                    // A field, a literal or anything settled: only what is looked for can vary.
                    _ => self.inputs(&Val::of(one.clone())).is_empty(),
                };
                if !compared {
                    for term in [one, other] {
                        computed.extend(self.inputs(&Val::of(term.clone())));
                    }
                }
            }
        }
        Val::computed(computed)
    }

    fn part_of(&mut self, one: &Term, path: &str) -> bool {
        match one {
            Term::Literal(Json::String(part)) => {
                self.note(path).parts.insert(part.clone());
                true
            }
            Term::Input {
                path: setting,
                list: false,
            } if setting.starts_with("config.") && !path.starts_with("config.") => {
                self.note(path).part_fields.insert(setting.clone());
                true
            }
            Term::Field(field) if !self.derived.contains(field) && !path.starts_with("config.") => {
                self.note(path).part_fields.insert(field.clone());
                true
            }
            _ => false,
        }
    }

    fn filter(&mut self, name: &str, input: Val, args: &[CallArg<'_>]) -> Val {
        let given: Vec<Val> = args
            .iter()
            .map(|arg| self.expr(value_of_arg(arg)))
            .collect();
        let word = |index: usize| match given.get(index).map(|value| value.terms.as_slice()) {
            Some([Term::Literal(Json::String(word))]) => Some(word.clone()),
            _ => None,
        };
        let all: Vec<&Val> = std::iter::once(&input).chain(&given).collect();
        match name {
            "list" | "string" if self.is_text_or_list(&input) => input,
            "reverse" | "sort" | "unique" => self.made_of(&all),
            "trim" if given.is_empty() => {
                for term in &input.terms {
                    match term {
                        Term::Input { path, .. } => self.note(&path.clone()).trimmed = true,
                        Term::Field(field) => self.note(&field.clone()).trimmed = true,
                        _ => {}
                    }
                }
                input
            }
            "first" => self.end(input, true),
            "last" => self.end(input, false),
            "length" | "count" => self.length(&input),
            "selectattr" | "rejectattr" => {
                let Some(attribute) = word(0) else {
                    return self.may_fail(&all);
                };
                let value = attribute
                    .split('.')
                    .fold(item_of(input.clone()), |value, part| {
                        self.attribute(&value, part)
                    });
                let compared = match (word(1), given.get(2)) {
                    (Some(test), arg) => self.test(&test, &value, arg),
                    (None, _) if given.len() > 1 => self.may_fail(&all),
                    (None, _) => self.truth(value),
                };
                let mut result = input;
                if matches!(
                    word(1).as_deref(),
                    Some("eq" | "equalto" | "==" | "ne" | "!=")
                ) {
                    result.pinned.insert(attribute);
                } else if word(1).is_none() && attribute == "done" {
                    // A row is done by its status.
                    result.pinned.insert("status".to_owned());
                }
                result.computed.extend(compared.computed);
                result
            }
            "select" | "reject" => {
                let value = item_of(input.clone());
                let compared = match (word(0), given.get(1)) {
                    (Some(test), arg) => self.test(&test, &value, arg),
                    (None, _) if !given.is_empty() => self.may_fail(&all),
                    (None, _) => self.truth(value),
                };
                let mut result = input;
                result.computed.extend(compared.computed);
                result
            }
            "map" => {
                let attribute = args.iter().enumerate().find_map(|(index, arg)| match arg {
                    CallArg::Kwarg("attribute", _) => word(index),
                    _ => None,
                });
                match attribute {
                    Some(attribute) if args.len() == 1 => {
                        let value = attribute
                            .split('.')
                            .fold(item_of(input), |value, part| self.attribute(&value, part));
                        list_of(value)
                    }
                    _ => self.may_fail(&all),
                }
            }
            "flatten" => input,
            "set" if self.is_text_or_list(&input) => Val {
                is_set: true,
                ..input
            },
            "default" | "d" => given.into_iter().fold(input, Val::join),
            // What never fails on what it can be given, which types have been checked for.
            "after" | "brief" | "join" | "surround" | "lower" | "upper" | "title"
            | "capitalize" | "replace" | "string" | "list" | "trim" | "indent" | "lines"
            | "split" | "safe" | "escape" | "e" | "tojson" => self.made_of(&all),
            _ => self.may_fail(&all),
        }
    }

    fn is_text_or_list(&self, value: &Val) -> bool {
        value.terms.iter().all(|term| match term {
            Term::Input { path, list } => {
                *list || matches!(self.kind(path), Kind::Text | Kind::List)
            }
            _ => true,
        })
    }

    /// How many items there are, where that is not of a part of them only.
    fn length(&mut self, input: &Val) -> Val {
        if !input.computed.is_empty() || input.is_set {
            return self.made_of(&[input]);
        }
        let mut result = Val::default();
        for term in &input.terms {
            let more = match term {
                Term::Input { path, list: true } => Val::input(format!("{path}.{LENGTH}"), false),
                Term::Input { .. } => self.made_of(&[input]),
                Term::Field(field) if self.derived.contains(field) => self.made_of(&[input]),
                _ => Val::settled(),
            };
            result = result.join(more);
        }
        result
    }
}

fn item_of(mut value: Val) -> Val {
    for term in &mut value.terms {
        if let Term::Input { list, .. } = term {
            *list = false;
        }
    }
    value
}

fn list_of(mut value: Val) -> Val {
    for term in &mut value.terms {
        if let Term::Input { list, .. } = term {
            *list = true;
        }
    }
    value
}

/// The inputs that a chart's own text of a condition names in messages.
pub fn in_words(inputs: &BTreeSet<String>) -> String {
    let names: IndexMap<&str, ()> = inputs
        .iter()
        .map(|input| (input.strip_prefix("field.").unwrap_or(input), ()))
        .collect();
    names.keys().copied().collect::<Vec<_>>().join(", ")
}
