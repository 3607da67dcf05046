//! The imagined world as an evaluator: what a decision gets for its expressions. Some are evaluated by themselves, and of
//! some, trying values leaves the result open: then it is assumed.

use super::ImaginedWorld;
use super::question::{Expression, Kind, Question};
use crate::chart::model::FieldType;
use crate::engine::context::{to_json, to_value};
use crate::engine::evaluator::{Evaluator, Given, Unfit};
use crate::engine::names::sources::SourceName;
use crate::explore::answer::Answer;
use crate::explore::dependence::root_of;
use crate::explore::domain::{Choice, field_of};
use crate::expr::ExprError;
use crate::expr::formula::conjuncts;
use crate::expr::has_holes;
use crate::expr::pieces::Piece;
use crate::expr::source::Literal;
use minijinja::value::Value;
use serde_json::{Value as Json, json};
use std::sync::Arc;

impl Evaluator for ImaginedWorld {
    fn given(&self, given: Given<'_>) -> Option<Json> {
        let choice = match given {
            Given::Field(name) => Choice::Event(name.to_owned()),
            Given::Arg(name) => Choice::Arg(name.to_owned()),
            // Where each session has its own instance, no stop comes without a session.
            Given::Session if self.base.is_hook && self.domain.chart.scope.is_per_session() => {
                Choice::Event("session_id".to_owned())
            }
            Given::Worst => Choice::Worst,
            Given::Ran => Choice::Ran,
            Given::Session => Choice::Session,
            Given::Invocation(invoke) => {
                let invoked = self.domain.invoked.get(invoke);
                return invoked.map(|name| json!(name));
            }
            Given::Findings(name) => {
                let checks = self.domain.chart.checks.get(name);
                if checks.is_none_or(|checks| self.domain.is_settled(checks)) {
                    return None;
                }
                Choice::Findings(name.to_owned())
            }
        };
        let chosen = self.choose(choice);
        (!chosen.value().is_null()).then(|| chosen.value().clone())
    }

    /// Recalls an expression that is evaluated by itself; `None` where it must be evaluated here.
    fn recall(&self, kind: Kind, source: &str, root: &Value) -> Option<Result<Value, ExprError>> {
        let has_none = matches!(kind, Kind::Text | Kind::Value) && !has_holes(source);
        if self.base.part.is_none() || has_none || !self.domain.is_separate(kind, source) {
            return None;
        }
        let it = root.get_attr("it").ok().filter(|it| !it.is_undefined());
        let it = it.as_ref().and_then(to_json);
        let known = self.outcome(kind, source, it.as_ref());
        Some(match (&*known, kind) {
            // Its value is none that an answer can be.
            (Answer::AsItIs, _) => return None,
            (Answer::Fails(error), _) => Err((**error.as_ref()?).clone()),
            // Some item, whichever.
            (known, Kind::Items) => Ok(match *known == true.into() {
                true => Value::from(vec![""]),
                false => Value::from(Vec::<Value>::new()),
            }),
            (known, _) => Ok(to_value(known.seen())),
        })
    }

    /// Returns what a condition is taken to be that came out like this: either, where something is open about it.
    fn condition(&self, source: &str, holds: Result<bool, ExprError>) -> Result<bool, ExprError> {
        let Some(may_fail) = self.may_fail(source) else {
            return holds;
        };
        let own = holds.as_ref().ok().map(|holds| Answer::from(*holds));
        let is_unknown = self.has_looked_at_unknown(source);
        let both = [false.into(), true.into()];
        let options = options(own.filter(|_| !is_unknown), is_unknown, both, may_fail);
        match *self.assumption(None, source, options) {
            Answer::Value(Json::Bool(assumed)) => Ok(assumed),
            Answer::Fails(_) => holds.and(Err(ExprError::open(source))),
            _ => holds,
        }
    }

    fn text(
        &self,
        source: &str,
        made: Result<Vec<String>, ExprError>,
    ) -> Result<Vec<String>, ExprError> {
        let Some(may_fail) = self.may_fail(source) else {
            return made;
        };
        let own = made.as_ref().ok().map(|_| Answer::Made);
        if own.is_some() && !may_fail {
            return made;
        }
        let is_unknown = own.is_none() && self.has_looked_at_unknown(source);
        let options = options(own, is_unknown, [Answer::Made], may_fail);
        match *self.assumption(None, source, options) {
            Answer::Made => Ok(made.unwrap_or_default()),
            Answer::Fails(_) => made.and(Err(ExprError::open(source))),
            _ => made,
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
        let Some(may_fail) = self.may_fail(&text.0) else {
            return value;
        };
        // A value that does not fit here is one that can be; one that fits is one of many.
        let mut options = Vec::new();
        options.extend(value.is_err().then_some(Answer::AsItIs));
        options.extend(self.any_value(name));
        let may_misfit = !self.domain.always_fits(name, &text.0);
        options.extend((may_fail || may_misfit || value.is_err()).then_some(Answer::Fails(None)));
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

impl ImaginedWorld {
    /// Returns what an expression gives that is evaluated by itself. An answer that is not known yet is guessed: the tree
    /// has no way behind it unless it is right.
    fn outcome(&self, kind: Kind, source: &str, it: Option<&Json>) -> Arc<Answer> {
        if kind == Kind::Text && self.domain.pieces(source).is_empty() {
            return Arc::new(true.into());
        }
        let expression = Expression {
            kind,
            source: source.to_owned(),
            it: it.filter(|_| self.domain.looks_at_it(source)).cloned(),
            part: (self.base.part).filter(|_| self.domain.is_assumed(kind, source)),
        };
        let question = Question::Outcome(expression);
        self.ask(question, || [true.into()].into())
    }

    /// Makes a text of what it consists of; `None` where it must be evaluated as a whole.
    pub(crate) fn text_of_pieces(&self, text: &Expression) -> Option<Result<(), ExprError>> {
        let Expression { source, it, .. } = text;
        let pieces = self.domain.pieces(source);
        let is_whole = pieces.contains(&Piece::Hole(source.clone()));
        (!is_whole).then(|| self.make(&pieces, it.as_ref()))
    }

    /// Makes pieces of a text, one after the other.
    fn make(&self, pieces: &[Piece], it: Option<&Json>) -> Result<(), ExprError> {
        let given = |kind, source: &str| match &*self.outcome(kind, source, it) {
            Answer::Fails(Some(error)) => Err((**error).clone()),
            answer => Ok(*answer == true.into()),
        };
        pieces.iter().try_for_each(|piece| match piece {
            Piece::Hole(hole) => given(Kind::Text, hole).map(drop),
            Piece::If(test, then, otherwise) => match given(Kind::Condition, test)? {
                true => self.make(then, it),
                false => self.make(otherwise, it),
            },
        })
    }

    /// Returns whether all parts of a condition hold; `None` where it must be evaluated as a whole.
    pub(crate) fn parts_hold(&self, condition: &Expression) -> Option<bool> {
        let Expression { kind, source, it, .. } = condition;
        let parts = conjuncts(source);
        (parts.len() > 1 && !self.domain.is_assumed(*kind, source)).then_some(())?;
        let holds = |part| self.outcome(*kind, part, it.as_ref()).value().as_bool();
        let mut holds = parts.into_iter().map(holds);
        holds.find(|it| *it != Some(true)).unwrap_or(Some(true))
    }

    /// Returns true where an open input of an expression has been looked at.
    fn has_looked_at(&self, input: &str) -> bool {
        let derived = &self.domain.dependence.derived;
        let (own, root) = (input.strip_prefix("field."), root_of(input));
        if own.is_none() && !input.starts_with("config.") && !is_chosen(root) {
            return input != "review.error" || self.base.has_failed;
        }
        let field = field_of(&self.domain.chart, own.unwrap_or(input));
        self.asked().iter().any(|asked| match &asked.question {
            Question::Field(asked_of) if Some(*asked_of) == field => {
                let is_open = |name| derived.contains(name) || *asked.answer == Answer::Unknown;
                own.is_none_or(is_open)
            }
            Question::Choice(choice) if own.is_none() => {
                let name = choice.name();
                root_of(&name) == root || root == "session" && name == "event.session_id"
            }
            _ => false,
        })
    }

    /// Returns true where an expression has looked at a field of which nothing is known.
    fn has_looked_at_unknown(&self, source: &str) -> bool {
        let Some(known) = self.domain.open(source) else {
            return false;
        };
        let fields = known.inputs.iter().chain(&known.fails);
        let fields = fields.filter_map(|input| input.strip_prefix("field."));
        let fields = fields.filter_map(|name| field_of(&self.domain.chart, name));
        let mut fields = fields.map(Question::Field);
        fields.any(|field| {
            let answer = self.known(&field);
            answer.is_some_and(|answer| *answer == Answer::Unknown)
        })
    }

    /// Returns whether an expression may fail on what it has looked at so far; `None` where nothing is open about it.
    fn may_fail(&self, source: &str) -> Option<bool> {
        let known = self.domain.open(source)?;
        let mut inputs = self.domain.open_inputs(known);
        let fails = known.fails.iter().any(|input| self.has_looked_at(input));
        (fails || inputs.any(|input| self.has_looked_at(input))).then_some(fails)
    }

    /// Chooses the value of an expression.
    fn assumption(&self, field: Option<&str>, source: &str, options: Vec<Answer>) -> Arc<Answer> {
        let question = Question::Assumed {
            field: field.map(str::to_owned),
            source: source.to_owned(),
            part: self.base.part,
        };
        self.ask(question, || options.into())
    }

    /// Returns the values that a field takes of which nothing is known.
    fn any_value(&self, name: &str) -> Vec<Answer> {
        let chart = &self.domain.chart;
        let Some(field) = chart.context.get(name) else {
            return Vec::new();
        };
        let mut values = match field.kind {
            FieldType::Boolean => vec![false.into(), true.into()],
            FieldType::Phase => {
                let phases = chart.phases.keys();
                phases.map(|phase| Answer::Value(json!(phase))).collect()
            }
            FieldType::Integer | FieldType::String | FieldType::List => vec![Answer::Unknown],
        };
        if field.nullable {
            values.push(Answer::Value(Json::Null));
        }
        values
    }
}

/// Returns what an open expression can be assumed to give: its own result, and the others. The result with a value of
/// which nothing is known says nothing.
fn options<const N: usize>(
    own: Option<Answer>,
    is_unknown: bool,
    all: [Answer; N],
    may_fail: bool,
) -> Vec<Answer> {
    let as_it_is = (!is_unknown).then_some(Answer::AsItIs);
    let others = all.into_iter().filter(|other| own.as_ref() != Some(other));
    let fails = may_fail && (is_unknown || own.is_some());
    let fails = fails.then_some(Answer::Fails(None));
    as_it_is.into_iter().chain(others).chain(fails).collect()
}

/// Returns true for an input that is chosen where it is looked at. Others are always there and never tried.
fn is_chosen(input: &str) -> bool {
    use SourceName as Name;
    let is_fixed = input == "git.base";
    !is_fixed
        && matches!(
            SourceName::of(input.split('.').next().unwrap_or_default()),
            Some(
                Name::args
                    | Name::checks
                    | Name::event
                    | Name::files
                    | Name::git
                    | Name::postponed
                    | Name::session
                    | Name::siblings
                    | Name::tables
            )
        )
}
