//! Finds what an expression compares: the values on which its outcome depends.
//!
//! The model checker tries the inputs of a decision on both sides of each comparison that is found here. Nothing is
//! evaluated.

use std::collections::HashMap;

use indexmap::IndexSet;
use minijinja::machinery::ast::{BinOpKind, CallArg, Expr};
use minijinja::machinery::parse_expr;
use minijinja::value::ValueKind;
use serde_json::Value as Json;

/// The length of a list, as the last part of a dotted name.
pub const LENGTH: &str = "length";

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term {
    /// A dotted name; a list is named like its items: `tables.tasks.rows.id`.
    Path(String),
    /// A literal of the expression.
    Literal(Json),
}

/// The comparisons of one chart's expressions found so far.
pub struct Comparisons<'c> {
    /// Returns the expression that a name stands for, if it is a let.
    lets: &'c dyn Fn(&str) -> Option<String>,
    /// The possible values of the names that were resolved, each read once. A name that refers to itself has none.
    known: HashMap<String, Vec<Term>>,
    /// The two sides of each comparison.
    pub pairs: IndexSet<(Term, Term)>,
    /// The names that are used in computations, so that the outcome depends on more than the comparisons.
    pub computed: IndexSet<String>,
}

impl<'c> Comparisons<'c> {
    /// Returns an empty list; `lets` resolves a name to the expression that it stands for.
    pub fn new(lets: &'c dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            lets,
            known: HashMap::new(),
            pairs: IndexSet::new(),
            computed: IndexSet::new(),
        }
    }

    /// Records the comparisons of `source` and returns what its value can be. `it` is what the name `it` stands for.
    pub fn read(&mut self, source: &str, it: &[Term]) -> Vec<Term> {
        match parse_expr(source) {
            Ok(expr) => self.expr(&expr, it),
            Err(_) => Vec::new(),
        }
    }

    fn pair(&mut self, left: &[Term], right: &[Term]) {
        for a in left {
            for b in right {
                self.pairs.insert((a.clone(), b.clone()));
            }
        }
    }

    /// Records a comparison. A comparison with something computed depends on more than its terms.
    fn compare(&mut self, left: (&Expr<'_>, &[Term]), right: (&Expr<'_>, &[Term])) {
        self.pair(left.1, right.1);
        for ((expr, terms), other) in [(left, right.1), (right, left.1)] {
            if terms.is_empty() && matches!(expr, Expr::BinOp(_) | Expr::Filter(_) | Expr::Call(_))
            {
                self.compute(other);
            }
        }
    }

    /// Records that something is computed from these terms.
    fn compute(&mut self, terms: &[Term]) {
        let paths = terms.iter().filter_map(|term| match term {
            Term::Path(path) => Some(path.clone()),
            Term::Literal(_) => None,
        });
        self.computed.extend(paths);
    }

    fn all(&mut self, exprs: &[Expr<'_>], it: &[Term]) -> Vec<Term> {
        exprs.iter().flat_map(|expr| self.expr(expr, it)).collect()
    }

    fn expr(&mut self, expr: &Expr<'_>, it: &[Term]) -> Vec<Term> {
        match expr {
            Expr::Var(var) if var.id == "it" => it.to_vec(),
            Expr::Var(var) => self.name(var.id),
            Expr::Const(constant) => match serde_json::to_value(&constant.value) {
                Ok(Json::Array(items)) => items.into_iter().map(Term::Literal).collect(),
                Ok(value @ (Json::String(_) | Json::Number(_) | Json::Bool(_))) => {
                    vec![Term::Literal(value)]
                }
                _ => Vec::new(),
            },
            Expr::List(list) => self.all(&list.items, it),
            Expr::Tuple(tuple) => self.all(&tuple.items, it),
            Expr::Map(map) => {
                self.all(&map.keys, it);
                self.all(&map.values, it);
                Vec::new()
            }
            Expr::GetAttr(get) => {
                let terms = self.expr(&get.expr, it);
                field(&terms, get.name)
            }
            Expr::GetItem(get) => {
                let terms = self.expr(&get.expr, it);
                self.expr(&get.subscript_expr, it);
                match get.subscript_expr.as_const() {
                    Some(key) if key.kind() == ValueKind::String => field(&terms, &key.to_string()),
                    // The item exists if the list is long enough.
                    Some(key) => {
                        match key.as_i64() {
                            Some(0 | -1) => {}
                            Some(index @ 1..) => {
                                self.pair(&field(&terms, LENGTH), &[Term::Literal(index.into())]);
                            }
                            _ => self.compute(&terms),
                        }
                        terms
                    }
                    None => {
                        self.compute(&terms);
                        terms
                    }
                }
            }
            Expr::Slice(slice) => {
                let terms = self.expr(&slice.expr, it);
                self.compute(&terms);
                terms
            }
            Expr::UnaryOp(op) => {
                self.expr(&op.expr, it);
                Vec::new()
            }
            Expr::BinOp(op) => {
                let (left, right) = (self.expr(&op.left, it), self.expr(&op.right, it));
                let compares = matches!(
                    op.op,
                    BinOpKind::Eq
                        | BinOpKind::Ne
                        | BinOpKind::Lt
                        | BinOpKind::Lte
                        | BinOpKind::Gt
                        | BinOpKind::Gte
                        | BinOpKind::In
                );
                let computes = !matches!(op.op, BinOpKind::ScAnd | BinOpKind::ScOr);
                if compares {
                    self.compare((&op.left, &left), (&op.right, &right));
                } else if computes {
                    self.compute(&left);
                    self.compute(&right);
                }
                Vec::new()
            }
            Expr::Compare(compare) => {
                let mut left = (&compare.expr, self.expr(&compare.expr, it));
                for op in &compare.ops {
                    let right = (&op.expr, self.expr(&op.expr, it));
                    self.compare((left.0, &left.1), (right.0, &right.1));
                    left = right;
                }
                Vec::new()
            }
            Expr::IfExpr(choice) => {
                self.expr(&choice.test_expr, it);
                let mut terms = self.expr(&choice.true_expr, it);
                terms.extend(
                    choice
                        .false_expr
                        .iter()
                        .flat_map(|expr| self.expr(expr, it)),
                );
                terms
            }
            Expr::Filter(filter) => {
                let input = filter
                    .expr
                    .as_ref()
                    .map(|expr| self.expr(expr, it))
                    .unwrap_or_default();
                let args: Vec<Vec<Term>> = filter
                    .args
                    .iter()
                    .map(|arg| self.expr(value_of(arg), it))
                    .collect();
                let named = |name: &str| {
                    let found = filter
                        .args
                        .iter()
                        .position(|arg| matches!(arg, CallArg::Kwarg(key, _) if *key == name));
                    found.and_then(|index| text(args.get(index)?))
                };
                match filter.name {
                    // ("field", "test", value), or ("test", value).
                    "selectattr" | "rejectattr" => {
                        if let (Some(name), Some(value)) =
                            (args.first().and_then(text), args.get(2))
                        {
                            self.pair(&field(&input, &name), value);
                        }
                        input
                    }
                    "select" | "reject" => {
                        if let Some(value) = args.get(1) {
                            self.pair(&input, value);
                        }
                        input
                    }
                    "map" => match named("attribute") {
                        Some(name) => field(&input, &name),
                        None => {
                            self.compute(&input);
                            Vec::new()
                        }
                    },
                    "length" | "count" => field(&input, LENGTH),
                    "list" | "set" | "sort" | "reverse" | "first" | "last" | "flatten"
                    | "string" | "trim" => input,
                    "default" | "d" => [input, args.concat()].concat(),
                    "unique" | "int" | "lower" | "upper" => {
                        self.compute(&input);
                        input
                    }
                    _ => {
                        self.compute(&input);
                        Vec::new()
                    }
                }
            }
            Expr::Test(test) => {
                let input = self.expr(&test.expr, it);
                for arg in &test.args {
                    let value = self.expr(value_of(arg), it);
                    self.pair(&input, &value);
                }
                if matches!(
                    test.name,
                    "startingwith" | "endingwith" | "odd" | "even" | "divisibleby"
                ) {
                    self.compute(&input);
                }
                Vec::new()
            }
            Expr::Call(call) => {
                let terms = self.expr(&call.expr, it);
                self.compute(&terms);
                let args = call.args.iter();
                let args: Vec<Term> = args.flat_map(|arg| self.expr(value_of(arg), it)).collect();
                self.compute(&args);
                Vec::new()
            }
        }
    }

    fn name(&mut self, name: &str) -> Vec<Term> {
        if let Some(terms) = self.known.get(name) {
            return terms.clone();
        }
        match (self.lets)(name) {
            Some(source) => {
                self.known.insert(name.to_owned(), Vec::new());
                let terms: IndexSet<Term> = self.read(&source, &[]).into_iter().collect();
                let terms: Vec<Term> = terms.into_iter().collect();
                self.known.insert(name.to_owned(), terms.clone());
                terms
            }
            None => vec![Term::Path(name.to_owned())],
        }
    }
}

fn value_of<'e, 'a>(arg: &'e CallArg<'a>) -> &'e Expr<'a> {
    match arg {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    }
}

fn field(terms: &[Term], name: &str) -> Vec<Term> {
    terms
        .iter()
        .filter_map(|term| match term {
            Term::Path(path) => Some(Term::Path(format!("{path}.{name}"))),
            Term::Literal(_) => None,
        })
        .collect()
}

/// Returns the string, if it is the only term.
fn text(terms: &Vec<Term>) -> Option<String> {
    match terms.as_slice() {
        [Term::Literal(Json::String(text))] => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(source: &str) -> Vec<String> {
        let lets = |name: &str| {
            (name == "left")
                .then(|| "tables.t.open | rejectattr('id', 'eq', now) | list".to_owned())
        };
        let mut found = Comparisons::new(&lets);
        found.read(source, &[Term::Path("files.x".to_owned())]);
        let show = |term: &Term| match term {
            Term::Path(path) => path.clone(),
            Term::Literal(value) => value.to_string(),
        };
        found
            .pairs
            .iter()
            .map(|(a, b)| format!("{} {}", show(a), show(b)))
            .collect()
    }

    #[test]
    fn both_sides_of_every_comparison_are_found() {
        let cases: &[(&str, &[&str])] = &[
            (
                "event.session_id not in ['', owner]",
                &["event.session_id \"\"", "event.session_id owner"],
            ),
            ("left", &["tables.t.open.id now"]),
            (
                "left[0].id == 'a'",
                &["tables.t.open.id now", "tables.t.open.id \"a\""],
            ),
            ("tables.plan.lines > 50", &["tables.plan.lines 50"]),
            (
                "'A' in tables.plan.rows | map(attribute='title') | list",
                &["\"A\" tables.plan.rows.title"],
            ),
            (
                "it.n == 3 and not (it.base is eq 'x')",
                &["files.x.n 3", "files.x.base \"x\""],
            ),
            ("(a if b == 1 else c) == 2", &["b 1", "a 2", "c 2"]),
            ("x ~ '.md' in y", &[]),
            ("x | list | length > 3", &["x.length 3"]),
            ("x[2].id == 'a'", &["x.length 2", "x.id \"a\""]),
        ];
        for (source, expected) in cases {
            assert_eq!(pairs(source), *expected, "{source}");
        }
    }
}
