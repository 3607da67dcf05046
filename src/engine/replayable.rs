//! What a decision looked at, as data: with it, the same decision can be made again, on another machine and without the files.
//!
//! A [`Recorder`] stands before a world and keeps its answers. A [`Replayed`] world gives them again, and knows nothing else.

use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Value, ValueKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::context::{self, Context};
use super::decide::decide_with;
use super::decision::{Decision, Ended, Outcome, Step};
use super::evaluator::{Evaluator, InPlace};
use super::event::{Event, Trigger};
use super::fault::Fault;
use super::names::Names;
use super::names::root::or_invalid;
use super::world::{Source, World};
use crate::chart::Chart;
use crate::chart::model::Arg;
use crate::expr::Expressions;
use crate::hash::IndexMap;
use crate::host::events::PROSE;

/// Event fields that say where the user's files are.
const PLACES: [&str; 2] = ["cwd", "transcript_path"];

/// An answer of a world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorldAnswer {
    Value(Json),
    /// Why there is none.
    Fault(String),
    /// The fields of a record of which one has no value.
    Fields(IndexMap<String, WorldAnswer>),
}

/// A question and its answer.
pub type Known = (Json, WorldAnswer);

/// An event, without the text of a person or an agent in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Occurred {
    #[serde(flatten)]
    pub trigger: Trigger,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Json>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub args: IndexMap<String, Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl Occurred {
    /// Returns what a decision of `chart` can see of an event.
    pub fn of(chart: &Chart, event: &Event) -> Self {
        let is_kept = |name: &str| !PROSE.contains(&name) && !PLACES.contains(&name);
        let fields = event.fields.as_object().into_iter().flatten();
        let fields = fields.filter(|(name, _)| is_kept(name));
        let fields = fields.map(|(name, value)| (name.clone(), without_records(value)));
        let is_typed = |name: &str| chart.args.get(name).is_none_or(|arg: &Arg| !arg.is_stdin());
        let args = event.args.iter().filter(|(name, _)| is_typed(name));
        Self {
            trigger: event.trigger.clone(),
            fields: fields.collect(),
            args: args.map(|(name, value)| (name.clone(), value.clone())).collect(),
            session: event.session.clone(),
        }
    }

    /// Returns it as an event again.
    pub fn to_event(&self) -> Event {
        Event {
            trigger: self.trigger.clone(),
            fields: Json::Object(self.fields.clone()),
            args: self.args.clone(),
            session: self.session.clone(),
        }
    }
}

/// Returns a value whose records are empty: what the agent runs in the background is nobody's business.
fn without_records(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(without_records).collect(),
        Json::Object(_) => Json::Object(Map::new()),
        other => other.clone(),
    }
}

/// A world that keeps the answers that it gives.
#[derive(Debug)]
pub struct Recorder {
    world: Arc<dyn World>,
    answers: Mutex<Vec<(Source, WorldAnswer)>>,
}

impl Recorder {
    /// Returns one that asks `world`.
    pub fn before(world: Arc<dyn World>) -> Arc<Self> {
        let answers = Mutex::default();
        Arc::new(Self { world, answers })
    }

    /// Returns it as the world that a decision looks at.
    pub fn as_world(self: &Arc<Self>) -> Arc<dyn World> {
        Arc::<Self>::clone(self)
    }

    /// Returns what it was asked, and its answers.
    pub fn known(&self) -> Vec<Known> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = answers.iter();
        known.map(|(source, answer)| (question(source), answer.clone())).collect()
    }
}

impl World for Recorder {
    fn field(&self, name: &str) -> Option<&Json> {
        self.world.field(name)
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        let given = self.world.look(source);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if !answers.iter().any(|(known, _)| known == source) {
            let answer = match (&given, source) {
                // The user's own words to the agent decide nothing.
                (Ok(text), Source::Prompt(_)) if text.as_str().is_some() => {
                    WorldAnswer::Value(Json::from(""))
                }
                (Ok(value), _) => answer(value),
                (Err(fault), _) => WorldAnswer::Fault(fault.to_string()),
            };
            answers.push((source.clone(), answer));
        }
        given
    }
}

/// A world that knows only what was recorded.
#[derive(Debug)]
pub struct Replayed {
    state: Context,
    answers: IndexMap<String, WorldAnswer>,
    /// Another chart may ask for what nobody has recorded.
    is_of_another: bool,
}

impl Replayed {
    /// Returns the world with this state and these answers; of two about one question, the later one counts. Where another
    /// chart decides than that of the record (`is_of_another`), there is no finding and no ruling that is not in it: texts say more of them than
    /// rules.
    pub fn world<'k>(
        state: Context,
        known: impl Iterator<Item = &'k Known>,
        is_of_another: bool,
    ) -> Arc<dyn World> {
        let answers = known.map(|(question, answer)| (question.to_string(), answer.clone()));
        let answers = answers.collect();
        Arc::new(Self { state, answers, is_of_another })
    }
}

impl World for Replayed {
    fn field(&self, name: &str) -> Option<&Json> {
        self.state.get(name)
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        let question = question(source);
        match self.answers.get(&question.to_string()) {
            Some(answer) => value(answer),
            // It decides nothing, and the chart has a text of its own.
            None if matches!(source, Source::Prompt(_)) => Ok(Value::from(())),
            None if self.is_of_another
                && matches!(source, Source::Findings { .. } | Source::Rulings) =>
            {
                Ok(Value::from(Vec::<Value>::new()))
            }
            None => Err(Fault::World(format!("the record has no answer to {question}"))),
        }
    }
}

/// Makes a decision again. `expressions` are those of the chart, so that each is compiled once.
pub fn decide_again(
    chart: &Arc<Chart>,
    expressions: &Arc<Expressions>,
    world: &Arc<dyn World>,
    event: &Event,
    ended: Option<Ended>,
) -> Result<Step, Fault> {
    let evaluator: Arc<dyn Evaluator> = Arc::new(InPlace);
    let expressions = Arc::clone(expressions);
    let names = Names::with(expressions, chart, (world, &evaluator), event);
    decide_with(names, &event.trigger, ended)
}

/// Returns whether a decision took a review as clean: had its verdict been the worst, the decision would have been another.
/// `decide` makes it again with another outcome.
pub fn is_clean(
    chart: &Chart,
    mut ended: Ended,
    decision: &Decision,
    decide: impl FnOnce(Ended) -> Result<Step, Fault>,
) -> bool {
    let invoke = chart.invoke.get(&ended.invocation.name);
    let verdicts = invoke.map_or(&[][..], |invoke| &invoke.verdicts);
    let Outcome::Ran { verdict, .. } = &mut ended.outcome else {
        return false;
    };
    let is_best = (verdicts.first()).is_some_and(|best| verdict.as_ref() == Some(best));
    if ended.superseded || !is_best {
        return false;
    }
    *verdict = verdicts.last().cloned();
    let places = |decision: &Decision| {
        let fired = decision.fired.iter();
        fired.map(|fired| fired.place.clone()).collect::<Vec<_>>()
    };
    match decide(ended) {
        Ok(Step::Done(worse)) if verdicts.len() > 1 => {
            worse.patch != decision.patch || places(&worse) != places(decision)
        }
        _ => true,
    }
}

/// Returns a question as data.
fn question(source: &Source) -> Json {
    serde_json::to_value(source).unwrap_or_default()
}

fn answer(value: &Value) -> WorldAnswer {
    if value.kind() == ValueKind::Invalid {
        return WorldAnswer::Fault(value.to_string());
    }
    if value.kind() == ValueKind::Map {
        let keys = value.try_iter().into_iter().flatten();
        let fields = keys.map(|key| {
            let field = value.get_item(&key).unwrap_or_else(Value::from);
            (key.to_string(), field)
        });
        let fields: Vec<(String, Value)> = fields.collect();
        let is_invalid = |field: &Value| field.kind() == ValueKind::Invalid;
        if fields.iter().any(|(_, field)| is_invalid(field)) {
            let fields = fields.iter();
            let fields = fields.map(|(name, field)| (name.clone(), answer(field)));
            return WorldAnswer::Fields(fields.collect());
        }
    }
    let json = context::to_json(value).map(WorldAnswer::Value);
    json.unwrap_or_else(|| WorldAnswer::Fault("it cannot be recorded".to_owned()))
}

fn value(answer: &WorldAnswer) -> Result<Value, Fault> {
    match answer {
        WorldAnswer::Value(json) => Ok(deep(json)),
        WorldAnswer::Fault(why) => Err(Fault::File(why.clone())),
        WorldAnswer::Fields(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, answer)| (name.as_str(), or_invalid(value(answer))));
            Ok(Value::from_pairs(fields))
        }
    }
}

/// Returns a JSON value as the values that a world makes.
fn deep(json: &Json) -> Value {
    match json {
        Json::Array(items) => items.iter().map(deep).collect(),
        Json::Object(fields) => {
            let fields = fields.iter().map(|(name, json)| (name.as_str(), deep(json)));
            Value::from_pairs(fields)
        }
        other => context::to_value(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug)]
    struct Some2;

    impl World for Some2 {
        fn field(&self, _name: &str) -> Option<&Json> {
            None
        }

        fn look(&self, source: &Source) -> Result<Value, Fault> {
            match source {
                Source::Table(_) => Ok(Value::from_pairs([
                    ("exists", Value::from(true)),
                    ("rows", or_invalid(Err(Fault::File("no rows".to_owned())))),
                ])),
                Source::Files(_) => Ok(Value::from(vec![Value::from_pairs([("n", 3)])])),
                Source::Prompt(_) => Ok(Value::from("secret")),
                _ => Err(Fault::File("gone".to_owned())),
            }
        }
    }

    #[test]
    fn a_recorded_world_gives_the_same_answers() {
        let recorder = Recorder::before(Arc::new(Some2));
        let table = Source::Table("t".to_owned());
        let sources = [table.clone(), Source::Files("f".to_owned()), Source::Dirty];
        let said = |world: &dyn World, source: &Source| match world.look(source) {
            Ok(value) => value.to_string(),
            Err(fault) => format!("fault: {fault}"),
        };
        let first: Vec<String> = sources.iter().map(|source| said(&*recorder, source)).collect();
        let _ = recorder.look(&Source::Prompt("p".to_owned()));
        // As if it were written and read again.
        let known = serde_json::to_string(&recorder.known()).unwrap();
        assert!(!known.contains("secret"));
        let known: Vec<Known> = serde_json::from_str(&known).unwrap();
        let again = Replayed::world(Context::default(), known.iter(), false);
        let second: Vec<String> = sources.iter().map(|source| said(&*again, source)).collect();
        assert_eq!(first[1..], second[1..]);
        let rows = again.look(&table).unwrap();
        assert!(rows.get_attr("exists").unwrap().is_true());
        assert_eq!(rows.get_attr("rows").unwrap().kind(), ValueKind::Invalid);
        assert!(said(&*again, &Source::Now).contains("no answer"));
    }

    #[test]
    fn an_event_loses_what_is_private() {
        let chart = crate::chart::choice::Choice::of(None).load().unwrap();
        let event = Event::hook(
            "Stop",
            json!({
                "session_id": "s", "cwd": "/home/me", "last_assistant_message": "secret",
                "background_tasks": [{ "command": "secret" }], "stop_hook_active": true,
            }),
        );
        let occurred = serde_json::to_value(Occurred::of(&chart, &event)).unwrap();
        let expected = json!({
            "hook": "Stop", "session": "s",
            "fields": { "session_id": "s", "background_tasks": [{}], "stop_hook_active": true },
        });
        assert_eq!(occurred, expected);
    }
}
