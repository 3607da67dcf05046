//! The names that an expression sees, looked up when they are needed.
//!
//! A bare name is a context field or a let. Everything else begins with its source: [`rows`] says what its names are
//! and which types they have, and `values` where their values are from.
//! During a decision, the context includes the assignments of the rules so far.

pub mod cycle;
pub(super) mod review;
pub mod root;
pub mod rows;
mod running;
pub mod types;
mod values;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Value, ValueKind};
use serde_json::Value as Json;

use super::context::{self, Context};
use super::decision::Ended;
use super::event::Event;
use super::fault::Fault;
use super::saw::{self, Saw};
use super::world::{Source, World};
use crate::chart::Chart;
use crate::chart::model::Check;
use crate::expr::source::{Expr, Literal, Text};
use crate::expr::{ExprError, Expressions, MAX_DEPTH};
use crate::hash::IndexMap;
use crate::host::events::PROSE;

/// The value of a name, or why it has none; `None` if there is no such name.
type Looked = Option<Result<Value, Fault>>;

/// The most characters or items of a let: a let can be several times as long as the lets that it is made of.
const MAX_LENGTH: usize = 1_000_000;

/// Returns what `SOURCE.KEY` is while no review has run, no gate has failed, or no cycle is running.
fn at_rest(source: &str, key: &str) -> Looked {
    rows::at_rest(source, key).map(|value| Ok(context::to_value(&value)))
}

/// Everything that a decision can look at.
#[derive(Debug)]
pub struct Names {
    pub chart: Arc<Chart>,
    pub expressions: Expressions,
    world: Arc<dyn World>,
    event: Event,
    moving: Mutex<Moving>,
}

/// The part that changes during a decision.
#[derive(Debug, Default)]
struct Moving {
    /// The assignments of the rules so far; the rest of the context comes from the world.
    assigned: Context,
    review: Option<Arc<Ended>>,
    /// Values of lets and checks, or why they have none; cleared when the context changes.
    known: IndexMap<String, Result<Value, Fault>>,
    /// The names whose values are being computed, outermost first.
    making: Vec<String>,
    /// The paths that the actions of the firing rule create, rename or remove.
    touched: Vec<String>,
    /// A guard is being evaluated.
    is_watched: bool,
    /// What it has looked at last.
    seen: Option<(String, Value)>,
}

/// Returns how much of `room` a value leaves, with the lists in its lists; `None` if it takes more.
fn room_left(value: &Value, room: usize) -> Option<usize> {
    let mut room = room.checked_sub(value.len().unwrap_or(1))?;
    // A record's fields are looked at when they are needed.
    if value.kind() == ValueKind::Seq {
        for item in value.try_iter().into_iter().flatten() {
            room = room_left(&item, room)?;
        }
    }
    Some(room)
}

impl Names {
    /// Returns the names at the start of a decision.
    pub fn new(chart: &Arc<Chart>, world: &Arc<dyn World>, event: &Event) -> Arc<Self> {
        Arc::new(Self {
            chart: Arc::clone(chart),
            expressions: Expressions::new(chart.templates.clone()),
            world: Arc::clone(world),
            event: event.clone(),
            moving: Mutex::default(),
        })
    }

    /// Returns the result of `evaluate`, and the name that it looked up last, which decided it: of a let or a check, only that.
    pub fn watch<T>(&self, evaluate: impl FnOnce() -> T) -> (T, Saw) {
        self.moving().is_watched = true;
        let value = evaluate();
        let mut moving = self.moving();
        moving.is_watched = false;
        let seen = moving.seen.take();
        drop(moving);
        let seen = seen.map(|(name, value)| {
            let short = saw::short(&value, self.is_private(&name));
            (name, short)
        });
        (value, seen)
    }

    /// Records that a name was looked up.
    fn note(&self, name: impl FnOnce() -> String, value: &Value) {
        let mut moving = self.moving();
        if moving.is_watched && moving.making.is_empty() {
            moving.seen = Some((name(), value.clone()));
        }
    }

    /// Returns whether the name has text by the user or the agent.
    fn is_private(&self, name: &str) -> bool {
        match name.split_once('.') {
            Some(("args", arg)) => self.chart.args.get(arg).is_some_and(|arg| arg.is_stdin()),
            Some(("event", field)) => PROSE.contains(&field),
            Some((source, _)) => source == "prompts" || name == "gate.output",
            None => false,
        }
    }

    /// Returns the current value of a context field; null if the chart has no such field.
    pub fn field(&self, name: &str) -> Json {
        self.known_field(name).unwrap_or(Json::Null)
    }

    /// Returns the current value of a context field; `None` if the chart has no such field.
    fn known_field(&self, name: &str) -> Option<Json> {
        if let Some(value) = self.moving().assigned.get(name) {
            return Some(value.clone());
        }
        self.world.field(name).cloned()
    }

    /// Assigns context fields; later rules see the new values.
    pub fn assign(&self, fields: &IndexMap<String, Json>) {
        let fields = fields.iter().map(|(name, value)| (name.clone(), value.clone()));
        self.change(|moving| moving.assigned.extend(fields));
    }

    /// Makes the paths of a rule's actions visible as `touched`.
    pub fn set_touched(&self, paths: Vec<String>) {
        self.change(|moving| moving.touched = paths);
    }

    /// Returns whether a condition of the chart is true; a missing condition is.
    pub fn holds(
        &self,
        place: impl fmt::Display,
        guard: Option<&Expr>,
        root: &Value,
    ) -> Result<bool, Fault> {
        guard.map_or(Ok(true), |guard| {
            self.expressions.holds(&guard.0, root).map_err(Fault::at(place))
        })
    }

    /// Renders a text of the chart.
    pub fn text(
        &self,
        place: impl fmt::Display,
        text: &Text,
        root: &Value,
    ) -> Result<String, Fault> {
        self.expressions.text(text, root).map_err(Fault::at(place))
    }

    /// Renders the name of a file.
    pub(in crate::engine) fn strict_text(
        &self,
        place: impl fmt::Display,
        text: &Text,
        root: &Value,
    ) -> Result<String, Fault> {
        self.expressions.strict_text(text, root).map_err(Fault::at(place))
    }

    /// Returns what a context field is assigned.
    pub fn assigned(
        &self,
        place: &str,
        field: &str,
        literal: &Literal,
        root: &Value,
    ) -> Result<Json, Fault> {
        let value = self.expressions.literal(literal, root);
        let value = value.map_err(Fault::at(format_args!("{place}.{field}")))?;
        self.admitted(field, &value).map_err(|(value, expected)| Fault::Assignment {
            place: place.to_owned(),
            field: field.to_owned(),
            value,
            expected,
        })
    }

    /// Returns a value as a context field holds it; the error is the value in words, and what is expected.
    fn admitted(&self, field: &str, value: &Value) -> Result<Json, (String, String)> {
        let kind = self.chart.context.get(field);
        let (value, expected) = match (context::to_json(value), kind) {
            (Some(json), Some(kind)) => match kind.accepts(&self.chart.phases, &json) {
                Ok(()) => return Ok(json),
                Err(expected) => (json.to_string(), expected),
            },
            (None, Some(kind)) => (value.to_string(), kind.describe()),
            (_, None) => (value.to_string(), "no context field".to_owned()),
        };
        Err((value, expected))
    }

    /// Returns the items of a list.
    pub(super) fn items(
        &self,
        place: impl fmt::Display,
        expr: &str,
        root: &Value,
    ) -> Result<Vec<Value>, Fault> {
        self.expressions.items(expr, root).map_err(Fault::at(place))
    }

    /// Returns the reviewer that a rule's `invoke` means, and perhaps its model.
    pub fn invocation(self: &Arc<Self>, place: &str, invoke: &str) -> Result<String, Fault> {
        let text = Text(invoke.to_owned());
        self.text(format_args!("{place}.invoke"), &text, &self.root())
    }

    /// Returns the name of the reviewer that the rules of the chart mean now (a usage limit is one of its account's), and as
    /// the chart names it, with a model; both are empty if no rule starts one.
    pub fn next_reviewer(self: &Arc<Self>) -> Result<(String, String), Fault> {
        let mut rules = self.chart.on.values().flatten();
        let Some(invoke) = rules.find_map(|rule| rule.invoke.as_deref()) else {
            return Ok(Default::default());
        };
        let who = self.invocation("on", invoke)?;
        let name = self.chart.reviewer(&who).map(|(name, ..)| name.to_owned());
        Ok((name.unwrap_or_default(), who))
    }

    /// Returns whether the session works in a sandbox.
    pub(super) fn is_sandboxed(&self) -> bool {
        self.event.fields["sandboxed"] == true
    }

    /// Returns the value of a setting; none if the chart has no such setting.
    pub fn setting(&self, name: &str) -> Result<Value, Fault> {
        match self.chart.config.contains_key(name) {
            true => self.look(&Source::Config(name.to_owned())),
            false => Ok(Value::from(())),
        }
    }

    /// Returns what the event says of the next review, or else the setting.
    pub(super) fn given_or_setting(&self, field: &str, setting: &str) -> Result<Value, Fault> {
        match &self.event.fields[field] {
            Json::Null => self.setting(setting),
            Json::String(text) if text.is_empty() => self.setting(setting),
            given => Ok(context::to_value(given)),
        }
    }

    /// Returns the value of a literal of the chart.
    pub fn literal(
        &self,
        place: impl fmt::Display,
        literal: &Literal,
        root: &Value,
    ) -> Result<Value, Fault> {
        self.expressions.literal(literal, root).map_err(Fault::at(place))
    }

    /// Returns the world's answer to a question.
    pub(in crate::engine) fn look(&self, source: &Source) -> Result<Value, Fault> {
        self.world.look(source)
    }

    /// Returns the names in a folder, from the project's root.
    pub fn names_in(&self, folder: &str) -> Result<Vec<String>, Fault> {
        let names = self.world.look(&Source::Names(folder.to_owned()))?;
        let names = names.try_iter().map_err(|error| Fault::World(error.to_string()))?;
        Ok(names.map(|name| name.to_string()).collect())
    }

    /// Returns the path of a file of the instance as the agent and the reviewer see it: from the project's root.
    pub fn path(&self, name: &str) -> Result<String, Fault> {
        let scope = self.world.look(&Source::Scope)?;
        let path = scope.get_attr("path");
        let path = path.map_err(|error| Fault::World(error.to_string()))?;
        Ok(format!("{path}/{name}"))
    }

    /// Makes a run's outcome visible as `review`.
    pub fn set_review(&self, ended: Arc<Ended>) {
        self.change(|moving| moving.review = Some(ended));
    }

    /// Returns the run whose outcome is visible.
    pub fn review(&self) -> Option<Arc<Ended>> {
        self.moving().review.clone()
    }

    /// Changes what values are made of, so they are made again.
    fn change(&self, change: impl FnOnce(&mut Moving)) {
        let mut moving = self.moving();
        change(&mut moving);
        moving.known.clear();
    }

    fn moving(&self) -> MutexGuard<'_, Moving> {
        // Another thread's panic cannot have left this half-written: every change is a single call.
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a value that is computed once and kept until the context changes.
    fn remembered(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        if let Some(value) = self.moving().known.get(key) {
            return value.clone();
        }
        let value = self.nested(key, make);
        // An error is kept too: to explain an error, minijinja looks up its names again, at every level.
        self.moving().known.insert(key.to_owned(), value.clone());
        value
    }

    /// Computes a value that may need others. A name that needs its own value is an error.
    fn nested(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        {
            let mut moving = self.moving();
            if moving.making.iter().any(|name| name == key) {
                return Err(Fault::World(format!("`{key}` refers to itself")));
            }
            if moving.making.len() >= MAX_DEPTH {
                return Err(Fault::World(format!("`{key}` is more than {MAX_DEPTH} names deep")));
            }
            moving.making.push(key.to_owned());
        }
        let value = make();
        self.moving().making.pop();
        value
    }

    fn let_value(self: &Arc<Self>, name: &str) -> Looked {
        let expr = self.chart.lets.get(name)?;
        Some(self.remembered(name, || {
            let root = self.root();
            let value = self.expressions.value(&expr.0, &root);
            let value = value.map_err(Fault::at(format_args!("let.{name}")))?;
            match room_left(&value, MAX_LENGTH) {
                None => Err(Fault::World(format!(
                    "`{name}` has more than {MAX_LENGTH} characters or items"
                ))),
                Some(_) => Ok(value),
            }
        }))
    }

    /// Returns the findings of a list of checks, in order.
    pub fn find_all(self: &Arc<Self>, name: &str, checks: &[Check]) -> Result<Vec<String>, Fault> {
        let mut findings = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            self.find(check, &mut findings)
                .map_err(Fault::at(format_args!("checks.{name}[{index}]")))?;
        }
        Ok(findings)
    }

    /// Adds the findings of one check.
    pub fn find(
        self: &Arc<Self>,
        check: &Check,
        findings: &mut Vec<String>,
    ) -> Result<(), ExprError> {
        let found = self.select(check.each.as_ref(), check.guard.as_ref());
        for names in &found.map_err(|(_, error)| error)? {
            findings.push(self.expressions.text(&check.say, names)?);
        }
        Ok(())
    }

    /// Returns the root objects for the items of `each` for which `guard` is true; without `each`, there is one item and
    /// no `it`. The error has the key of the expression that failed.
    pub(super) fn select(
        self: &Arc<Self>,
        each: Option<&Expr>,
        guard: Option<&Expr>,
    ) -> Result<Vec<Value>, (&'static str, ExprError)> {
        let guard = guard.map(|guard| guard.0.as_str());
        let selected = match each {
            Some(each) => {
                let items = self.expressions.items(&each.0, &self.root());
                let items = items.map_err(|error| ("each", error))?;
                (self.expressions).select(guard, items, |it| self.root_with(it))
            }
            None => (self.expressions).select(guard, vec![Value::from(())], |_| self.root()),
        };
        selected.map_err(|error| ("guard", error))
    }
}
