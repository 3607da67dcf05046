//! What expressions and texts reach, by way of others, too, and what that says of them.

use super::{BySource, Domain, Reach};
use crate::chart::model::{Check, FieldType};
use crate::chart::{Chart, Cycle};
use crate::engine::evaluator::Kind;
use crate::engine::names::sources::SourceName;
use crate::engine::names::types::{ChartNames, Uses};
use crate::explore::dependence::Openness;
use crate::expr::infer::{self, Scope as _};
use crate::expr::pieces::{Piece, included, pieces};
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal};
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
        once(&self.found_out.fits, &format!("{name} = {source}"), || {
            let Some(field) = self.chart.context.get(name) else {
                return false;
            };
            let names = ChartNames::new(&self.chart, &Uses::default());
            let wanted = names.name(name).unwrap_or(Type::Any);
            let given = single_expression(source);
            let given = given.map_or(Type::Text, |expr| infer::expression(expr, &names).0);
            // A type says nothing of bounds.
            let is_bounded = match field.kind {
                FieldType::Integer | FieldType::Phase | FieldType::List => true,
                FieldType::Boolean | FieldType::String => field.is_id,
            };
            !is_bounded && given.is_within(&wanted)
        })
    }

    /// Returns what an expression or a text reaches.
    fn reach(&self, source: &str) -> Reach {
        once(&self.found_out.reaches, source, || self.find_reach(source))
    }

    /// Follows an expression or a text to all that it reaches.
    fn find_reach(&self, source: &str) -> Reach {
        let chart = &self.chart;
        let mut reach = Reach::default();
        let mut seen: HashSet<String> = HashSet::new();
        let mut open = vec![source.to_owned()];
        while let Some(source) = open.pop() {
            if source.contains("{%") {
                let all = || chart.templates.names().into_iter().collect();
                let texts = included(&source).unwrap_or_else(all).into_iter();
                let texts = texts.filter(|name| seen.insert(format!("{{%{name}")));
                open.extend(texts.filter_map(|name| chart.template(&name).ok()));
            }
            for name in self.expressions.names_in(&source) {
                let mut parts = name.split('.');
                let (root, key) = (parts.next().unwrap_or_default(), parts.next());
                if chart.context.contains_key(root)
                    || !seen.insert(format!("{root}.{}", key.unwrap_or_default()))
                {
                    continue;
                }
                match SourceName::of(root) {
                    // The outcome of a run.
                    Some(SourceName::review | SourceName::gate) => reach.review = true,
                    Some(SourceName::touched) => reach.touched = true,
                    Some(SourceName::it) => reach.it = true,
                    Some(SourceName::cycle) => {
                        for asked in sources_of_cycles(chart, key) {
                            reach.open |= self.is_open(asked.kind, asked.source);
                            open.push(asked.source.clone());
                        }
                    }
                    Some(SourceName::args) => {
                        for arg in chart.args.values() {
                            open.extend(arg.one_of.iter().map(|expr| expr.0.clone()));
                            if let Some(Literal::Text(text)) = &arg.default {
                                open.push(text.0.clone());
                            }
                        }
                    }
                    Some(SourceName::checks) => {
                        let checks = chart.checks.values().flatten();
                        open.extend(checks.flat_map(sources_of_check).map(str::to_owned));
                    }
                    Some(SourceName::prompts) => {
                        let vars = chart.prompts.values().flatten();
                        open.extend(vars.map(|(_, expr)| expr.0.clone()));
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
        let names = || ChartNames::new(&self.chart, &Uses::default());
        let is_boolean = || once(&self.found_out.fits, source, || names().is_boolean(source));
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
        open.is_some_and(|open| self.may_fail(source) || self.open_inputs(open).next().is_some())
    }

    /// Returns whether an expression or a text may fail for some values of what it looks at.
    pub(crate) fn may_fail(&self, source: &str) -> bool {
        self.open(source).is_some_and(|open| !open.fails.is_empty())
    }

    /// Returns what a text is made of.
    pub(crate) fn pieces(&self, text: &str) -> Arc<[Piece]> {
        let template = |name: &str| self.chart.template(name).ok();
        once(&self.found_out.pieces, text, || {
            pieces(text, &template).into()
        })
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

/// An expression or a text of a cycle.
struct Asked<'c> {
    kind: Kind,
    source: &'c String,
}

/// Returns the expressions and texts of cycles on which `cycle.KEY` turns; without a key, all of them.
fn sources_of_cycles<'c>(chart: &'c Chart, key: Option<&str>) -> Vec<Asked<'c>> {
    let asked = |kind: Kind| move |source: &'c String| Asked { kind, source };
    let of_cycle = |cycle: &'c Cycle| {
        let guards = cycle.advance.iter();
        let guards = guards.filter_map(|target| target.guard.as_ref());
        let conditions: Vec<&Expr> = match key {
            Some("exit") => vec![&cycle.exit],
            Some("ready") => cycle.ready.iter().collect(),
            Some("next") => guards.collect(),
            Some(_) => Vec::new(),
            None => guards.chain(&cycle.ready).chain([&cycle.exit]).collect(),
        };
        let is_asked = |name: &str| key.is_none_or(|key| key == name);
        let texts = cycle.text.values().filter(|_| is_asked("text"));
        let subject = cycle.subject.iter().filter(|_| is_asked("subject"));
        let conditions = conditions.into_iter().map(|expr| &expr.0);
        let conditions = conditions.map(asked(Kind::Condition));
        let texts = texts.map(|text| &text.0).map(asked(Kind::Text));
        let subject = subject.map(|text| &text.0).map(asked(Kind::Items));
        conditions.chain(texts).chain(subject).collect::<Vec<_>>()
    };
    chart.cycles.values().flat_map(of_cycle).collect()
}
