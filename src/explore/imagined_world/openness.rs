//! What trying values leaves open about an expression, and what is assumed then.

use super::ImaginedWorld;
use super::question::Question;
use crate::chart::model::FieldType;
use crate::engine::names::sources::SourceName;
use crate::explore::answer::Answer;
use crate::explore::dependence::root_of;
use serde_json::{Value as Json, json};
use std::sync::Arc;

impl ImaginedWorld {
    /// Returns true where an open input of an expression has been looked at.
    fn has_looked_at(&self, input: &str) -> bool {
        let derived = &self.ground.domain.dependence.derived;
        let (field, root) = (input.strip_prefix("field."), root_of(input));
        if field.is_none() && !input.starts_with("config.") && !is_chosen(root) {
            return true;
        }
        self.asked()
            .iter()
            .any(|asked| match (&asked.question, field) {
                (Question::Field(name), Some(field)) => {
                    let is_open = derived.contains(field) || *asked.answer == Answer::Unknown;
                    name == field && is_open
                }
                (Question::Field(name), None) => name == input,
                (Question::Choice(choice), None) => {
                    let name = choice.name();
                    root_of(&name) == root || root == "session" && name == "event.session_id"
                }
                _ => false,
            })
    }

    /// Returns true where an expression has looked at a field of which nothing is known.
    pub(super) fn has_looked_at_unknown(&self, source: &str) -> bool {
        let Some(known) = self.ground.open(source) else {
            return false;
        };
        let fields = known.inputs.iter().chain(&known.fails);
        let mut fields = fields.filter_map(|input| input.strip_prefix("field."));
        let asked = self.asked();
        fields.any(|field| {
            asked.iter().any(|asked| {
                matches!(&asked.question, Question::Field(name) if name == field)
                    && *asked.answer == Answer::Unknown
            })
        })
    }

    /// Returns whether an expression may fail on what it has looked at so far; `None` where nothing is open about it.
    pub(super) fn may_fail(&self, source: &str) -> Option<bool> {
        let known = self.ground.open(source)?;
        let mut inputs = self.ground.domain.open_inputs(known);
        let fails = known.fails.iter().any(|input| self.has_looked_at(input));
        (fails || inputs.any(|input| self.has_looked_at(input))).then_some(fails)
    }

    /// Chooses the value of an expression.
    pub(super) fn assumption(
        &self,
        field: Option<&str>,
        source: &str,
        options: Vec<Answer>,
    ) -> Arc<Answer> {
        let question = Question::Assumed {
            field: field.map(str::to_owned),
            source: source.to_owned(),
            place: self.part.clone().unwrap_or_else(|| Arc::from("")),
        };
        self.ask(question, || options.into())
    }

    /// Returns the values that a field takes of which nothing is known.
    pub(super) fn any_value(&self, name: &str) -> Vec<Answer> {
        let chart = &self.ground.chart;
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

/// Returns true for an input that is chosen where it is looked at. Others are always there and never tried.
fn is_chosen(input: &str) -> bool {
    use SourceName as Name;
    matches!(
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
