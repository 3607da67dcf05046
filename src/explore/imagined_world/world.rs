//! The imagined world as a world: what a decision gets for its sources.

use super::ImaginedWorld;
use super::question::Question;
use super::table::TableView;
use crate::engine::context::to_value;
use crate::engine::fault::Fault;
use crate::engine::possible_world::{INSTANCE, PossibleWorld};
use crate::engine::records;
use crate::engine::world::{Source, World};
use crate::explore::answer::Answer;
use crate::explore::domain::{Choice, config_path};
use minijinja::value::Value;
use serde_json::Value as Json;

impl World for ImaginedWorld {
    fn field(&self, name: &str) -> Option<&Json> {
        let field = self.domain.chart.context.get_index_of(name)?;
        let question = Question::Field(field);
        // What a user sets at any time is chosen; the state says the rest.
        let chosen = self.answer_to(&question);
        let value = chosen.or_else(|| self.base.fields.get(field))?;
        if self.known(&question).is_none() {
            self.note(question, self.options_of(field), value);
        }
        Some(value.seen())
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        let chosen = |choice| to_value(self.choose(choice).value());
        Ok(match source {
            Source::Scope => {
                self.ask(Question::Started, || [self.base.started.into()].into());
                let chart = &self.domain.chart;
                let dir = PossibleWorld::dir(chart, INSTANCE);
                records::scope(chart, INSTANCE, &dir, self.base.started)
            }
            Source::Files(set) => chosen(Choice::Files(set.clone())),
            Source::Table(name) => {
                Value::from_object(TableView { fork: self.clone(), name: name.clone() })
            }
            Source::Answers { answer, review } => {
                let question =
                    Question::Answered { answer: answer.clone(), review: review.clone() };
                let options = || [false, true].map(Answer::from).into();
                to_value(self.ask(question, options).value())
            }
            Source::Config(name) => to_value(self.setting(&config_path(name)).value()),
            Source::Driver { .. } => chosen(Choice::Driver),
            Source::Spent { .. } => {
                let cost = || Value::from("$1.00");
                Value::from_pairs([
                    ("cycle", cost()),
                    ("instance", cost()),
                    ("failures", Value::from(1)),
                    ("over", chosen(Choice::Over)),
                    ("next", Value::from(())),
                    ("why", Value::from("it failed")),
                ])
            }
            Source::Postponed => chosen(Choice::Postponed),
            Source::Dirty => chosen(Choice::Dirty),
            Source::Base => Value::from(()),
            Source::Stalled { .. } => chosen(Choice::Stalled),
            Source::Rulings | Source::Drivers | Source::Findings { .. } | Source::Names(_) => {
                Value::from(Vec::<Value>::new())
            }
            Source::Siblings => chosen(Choice::Siblings),
            Source::Now => Value::from("20260101T000000"),
            // A user's prompt that fills in everything there is.
            Source::Prompt(name) => {
                let vars = self.domain.chart.prompts.get(name).into_iter().flatten();
                let holes: Vec<String> = vars.map(|(name, _)| format!("{{{{{name}}}}}")).collect();
                Value::from(holes.join(" "))
            }
        })
    }
}
