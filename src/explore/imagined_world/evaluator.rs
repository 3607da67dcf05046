//! The imagined world as an evaluator: what a decision gets for its expressions.

use super::ImaginedWorld;
use super::question::Kind;
use crate::chart::model::FieldType;
use crate::engine::context::to_value;
use crate::engine::evaluator::{Evaluator, Given, Unfit};
use crate::explore::answer::Answer;
use crate::explore::counters::read_by_the_engine;
use crate::explore::domain::Choice;
use crate::expr::ExprError;
use crate::expr::has_holes;
use crate::expr::source::Literal;
use minijinja::value::Value;
use serde_json::{Value as Json, json};
use std::sync::PoisonError;

impl Evaluator for ImaginedWorld {
    fn given(&self, given: Given<'_>) -> Option<Json> {
        let choice = match given {
            Given::Field(name) => Choice::Event(name.to_owned()),
            Given::Arg(name) => Choice::Arg(name.to_owned()),
            // Where each session has its own instance, no stop comes without a session.
            Given::Session if self.is_hook && self.ground.chart.scope.is_per_session() => {
                Choice::Event("session_id".to_owned())
            }
            Given::Worst => Choice::Worst,
            Given::Shown => Choice::Shown,
            Given::Session => Choice::Session,
            Given::Invocation(invoke) => {
                let invoked = self.ground.domain.invoked.get(invoke);
                return invoked.map(|name| json!(name));
            }
            Given::Findings(name) => {
                let checks = self.ground.chart.checks.get(name);
                if checks.is_none_or(|checks| self.ground.is_settled(checks)) {
                    return None;
                }
                Choice::Findings(name.to_owned())
            }
        };
        let chosen = self.choose(choice);
        (!chosen.value().is_null()).then(|| chosen.value().clone())
    }

    fn condition(
        &self,
        source: &str,
        root: &Value,
        evaluate: &dyn Fn() -> Result<bool, ExprError>,
    ) -> Result<bool, ExprError> {
        if let Some(known) = self.recalled(Kind::Condition, source, root) {
            return Ok(*known == true.into());
        }
        let holds = evaluate();
        let Some(may_fail) = self.may_fail(source) else {
            return holds;
        };
        let known = holds.as_ref().ok().copied();
        let options: Vec<Answer> = match self.has_looked_at_unknown(source) {
            // Its result with a value of which nothing is known says nothing.
            true => [false.into(), true.into()]
                .into_iter()
                .chain(may_fail.then_some(Answer::Fails(None)))
                .collect(),
            false => std::iter::once(Answer::AsItIs)
                .chain((known != Some(false)).then_some(false.into()))
                .chain((known != Some(true)).then_some(true.into()))
                .chain((may_fail && known.is_some()).then_some(Answer::Fails(None)))
                .collect(),
        };
        match *self.assumption(None, source, options) {
            Answer::Value(Json::Bool(assumed)) => Ok(assumed),
            Answer::Fails(_) => holds.and(Err(ExprError::open(source))),
            _ => holds,
        }
    }

    fn text(
        &self,
        source: &str,
        is_shown: bool,
        root: &Value,
        evaluate: &dyn Fn() -> Result<Vec<String>, ExprError>,
    ) -> Result<Vec<String>, ExprError> {
        let is_made = || self.recalled(Kind::Text, source, root).is_some();
        // What its conditions say is nothing to the decision.
        if is_shown && has_holes(source) && is_made() {
            return Ok(Vec::new());
        }
        let made = evaluate();
        let Some(may_fail) = self.may_fail(source) else {
            return made;
        };
        let fails = may_fail.then_some(Answer::Fails(None));
        // That it fails with a value of which nothing is known says nothing.
        let options: Vec<Answer> = match made {
            Err(_) if self.has_looked_at_unknown(source) => {
                std::iter::once(Answer::Made).chain(fails).collect()
            }
            Err(_) => vec![Answer::AsItIs, Answer::Made],
            Ok(_) if !may_fail => return made,
            Ok(_) => vec![Answer::AsItIs, Answer::Fails(None)],
        };
        match *self.assumption(None, source, options) {
            Answer::Made => Ok(made.unwrap_or_default()),
            Answer::Fails(_) => made.and(Err(ExprError::open(source))),
            _ => made,
        }
    }

    fn items(
        &self,
        source: &str,
        root: &Value,
        evaluate: &dyn Fn() -> Result<Vec<Value>, ExprError>,
    ) -> Result<Vec<Value>, ExprError> {
        match self.recalled(Kind::Items, source, root) {
            // Some item, whichever.
            Some(known) if *known == true.into() => Ok(vec![Value::from("")]),
            _ => evaluate(),
        }
    }

    fn value(
        &self,
        literal: &Literal,
        root: &Value,
        evaluate: &dyn Fn() -> Result<Value, ExprError>,
    ) -> Result<Value, ExprError> {
        match literal {
            Literal::Text(text) if has_holes(&text.0) => {
                let known = self.recalled(Kind::Value, &text.0, root);
                known.map_or_else(evaluate, |known| Ok(to_value(known.seen())))
            }
            _ => evaluate(),
        }
    }

    fn assigned(
        &self,
        name: &str,
        literal: &Literal,
        value: Result<Json, Unfit>,
    ) -> Result<Json, Unfit> {
        let Literal::Text(text) = literal else {
            return value;
        };
        let chart = &self.ground.chart;
        let (Some(may_fail), Some(field)) = (self.may_fail(&text.0), chart.context.get(name))
        else {
            return value;
        };
        // A value that does not fit here is one that can be; one that fits is one of many.
        let mut options = Vec::new();
        options.extend(value.is_err().then_some(Answer::AsItIs));
        options.extend(self.any_value(name));
        let may_misfit =
            field.kind == FieldType::Integer || field.kind == FieldType::Phase || field.is_id;
        options.extend((may_fail || may_misfit || value.is_err()).then_some(Answer::Fails(None)));
        if read_by_the_engine(chart).contains(name) {
            let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| {
                let source = &text.0;
                format!("`{name}` is assigned `{source}`, of which the value is not known")
            });
        }
        match &*self.assumption(Some(name), &text.0, options) {
            Answer::AsItIs => value,
            Answer::Fails(_) => match value {
                Err(Unfit::Error(_)) => value,
                _ => Err(Unfit::Error(ExprError::open(name))),
            },
            assumed => Ok(assumed.seen().clone()),
        }
    }
}
