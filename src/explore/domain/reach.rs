//! What expressions and texts reach, by way of others, too, and what that says of them.

use super::{BySource, Domain, Reach};
use crate::chart::model::{Check, FieldType};
use crate::engine::evaluator::Kind;
use crate::engine::names::sources::{SourceName, asked, may_fail};
use crate::engine::names::types::{ChartNames, Uses};
use crate::explore::dependence::Openness;
use crate::expr::infer::{self, Scope as _, total};
use crate::expr::pieces::{Piece, included, open_ones, pieces};
use crate::expr::single_expression;
use crate::expr::types::Type;
use std::collections::HashSet;
use std::sync::{Arc, PoisonError};

/// Returns what is known of a source, which is found out once.
fn once<V: Clone>(known: &BySource<V>, source: &str, find: impl FnOnce() -> V) -> V {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(source) {
        return found.clone();
    }
    let found = find();
    known.insert(source.to_owned(), found.clone());
    found
}

impl Domain {
    /// Returns whether a field takes the value of a text, whatever its inputs are: where their types say so.
    pub(crate) fn always_fits(&self, name: &str, source: &str) -> bool {
        let Some(field) = self.chart.context.get(name) else {
            return false;
        };
        // A type says nothing of bounds.
        if field.is_id || !matches!(field.kind, FieldType::Boolean | FieldType::String) {
            return false;
        }
        let names = ChartNames::new(&self.chart, &Uses::default());
        let given = single_expression(source);
        let given = given.map_or(Type::Text, |expr| infer::expression(expr, &names).0);
        given.is_within(&names.name(name).unwrap_or(Type::Any))
    }

    /// Returns the type of an expression or a text that always has a value, as far as its own types and names tell.
    fn total(&self, source: &str) -> Option<Type> {
        let names = ChartNames::new(&self.chart, &Uses::default());
        once(&self.found_out.totals, source, || {
            let typed = total::of_source(source, &names)?;
            typed.is_total.then_some(typed.kind)
        })
    }

    /// Returns what an expression or a text reaches.
    fn reach(&self, source: &str) -> Reach {
        once(&self.found_out.reaches, source, || self.find_reach(source))
    }

    /// Returns the names that an expression or a text uses, in the templates that it includes, too.
    fn names_in(&self, source: &str) -> Vec<String> {
        let templates = &self.chart.templates;
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        let mut texts = vec![source.to_owned()];
        while let Some(text) = texts.pop() {
            names.extend(self.expressions.names_in(&text));
            let all = || templates.names().into_iter().collect();
            let used = included(&text).unwrap_or_else(all).into_iter();
            let new = used.filter(|name| seen.insert(name.clone()));
            texts.extend(new.filter_map(|name| self.chart.template(&name).ok()));
        }
        names
    }

    /// Follows an expression or a text to all that it reaches.
    fn find_reach(&self, source: &str) -> Reach {
        let chart = &self.chart;
        let mut reach = Reach::default();
        let mut seen: HashSet<String> = HashSet::new();
        let mut open = vec![source.to_owned()];
        while let Some(source) = open.pop() {
            reach.may_fail |= self.total(&source).is_none();
            for name in self.names_in(&source) {
                let mut parts = name.split('.');
                let (root, key) = (parts.next().unwrap_or_default(), parts.next());
                if chart.context.contains_key(root)
                    || !seen.insert(format!("{root}.{}", key.unwrap_or_default()))
                {
                    continue;
                }
                let named = SourceName::of(root);
                if let Some(named) = named {
                    reach.may_fail |= may_fail(chart, named, key);
                    for asked in asked(chart, named, key) {
                        reach.open |= self.is_open(asked.kind, asked.source);
                        open.push(asked.source.clone());
                    }
                }
                match named {
                    // The outcome of a run.
                    Some(SourceName::review | SourceName::gate) => reach.review = true,
                    Some(SourceName::touched) => reach.touched = true,
                    Some(SourceName::it) => reach.it = true,
                    Some(SourceName::checks) => {
                        // What the other lists find is chosen.
                        let checks = chart.checks.values().filter(|it| self.is_settled(it));
                        let sources = checks.flatten().flat_map(sources_of_check);
                        open.extend(sources.map(str::to_owned));
                    }
                    _ => open.extend(chart.lets.get(root).map(|expr| expr.0.clone())),
                }
            }
        }
        reach
    }

    /// Returns true where the run that has ended can make a difference.
    pub(crate) fn looks_at_review(&self, source: &str) -> bool {
        self.reach(source).review
    }

    /// Returns true where the phase that is entered can make a difference.
    pub(crate) fn looks_at_it(&self, source: &str) -> bool {
        self.reach(source).it
    }

    /// Returns true for a source that can be evaluated by itself: it does not depend on what the rule's actions do, and what
    /// is open about it can be assumed there. Of names, these are the ones that are true or false: others would tell more
    /// values apart than those who use them.
    pub(crate) fn is_separate(&self, kind: Kind, source: &str) -> bool {
        let is_settled = || !self.is_assumed(kind, source);
        let is_boolean = || self.total(source) == Some(Type::Boolean);
        !self.reach(source).touched
            && match kind {
                Kind::Condition | Kind::Text => true,
                Kind::Items | Kind::Value => is_settled(),
                Kind::Let => is_settled() && is_boolean(),
            }
    }

    /// Returns true where the value of a source may have to be assumed, by each part of a decision for itself.
    pub(crate) fn is_assumed(&self, kind: Kind, source: &str) -> bool {
        self.reach(source).open || self.is_open(kind, source)
    }

    /// Returns what is open about an expression.
    pub(crate) fn open(&self, source: &str) -> Option<&Openness> {
        self.dependence.open.get(source)
    }

    /// Returns true where trying values does not determine its value. Of a list, nothing is assumed.
    fn is_open(&self, kind: Kind, source: &str) -> bool {
        let open = self.open(source).filter(|_| kind != Kind::Items);
        let is_open =
            |open: &Openness| !open.fails.is_empty() || self.open_inputs(open).next().is_some();
        open.is_some_and(is_open)
    }

    /// Returns the pieces that decide whether a text can be made: none where it always can.
    pub(crate) fn pieces(&self, text: &str) -> Arc<[Piece]> {
        let template = |name: &str| self.chart.template(name).ok();
        let may_fail = |source: &str| self.reach(source).may_fail;
        once(&self.found_out.pieces, text, || open_ones(pieces(text, &template), &may_fail).into())
    }

    /// Returns true for a list of checks that looks at no input: what it finds is settled by the state.
    pub(crate) fn is_settled(&self, checks: &[Check]) -> bool {
        checks.iter().all(|check| {
            sources_of_check(check).all(|source| {
                let open = self.open(source);
                open.is_none_or(|open| open.looks.is_empty() && open.inputs.is_empty())
            })
        })
    }
}

/// Returns the expressions and the text of a check.
pub(crate) fn sources_of_check(check: &Check) -> impl Iterator<Item = &str> {
    let conditions = check.each.iter().chain(&check.guard);
    let conditions = conditions.map(|expr| expr.0.as_str());
    conditions.chain([check.say.0.as_str()])
}
