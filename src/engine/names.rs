//! The names that an expression sees, looked up when they are asked for.
//!
//! A bare name is a context field or a let; everything else carries its source: `event`, `scope`, `config`,
//! `files`, `tables`, `checks`, `cycle`, `review`, `args`, `git`, `siblings`, `prompts`, `session`, `driver`, `now`,
//! `touched`, `it`. Within a decision the context is what the rules so far have made of it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::{IndexMap, IndexSet};
use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use serde_json::Value as Json;

use super::context::{self, Context};
use super::decision::{Ended, Outcome};
use super::event::Event;
use super::fault::Fault;
use super::world::{Assumed, Evaluated, Given, Source, World};
use crate::chart::field::name_part;
use crate::chart::model::Check;
use crate::chart::{Chart, Cycle};
use crate::expr::source::{Literal, Text};
use crate::expr::{Cause, ExprError, Expressions, MAX_DEPTH, prompt};
use crate::files::pattern::Pattern;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};

/// Everything one decision can look at.
#[derive(Debug)]
pub struct Names {
    pub chart: Arc<Chart>,
    pub expressions: Arc<Expressions>,
    world: Arc<dyn World>,
    event: Event,
    moving: Mutex<Moving>,
}

/// What changes in the course of a decision.
#[derive(Debug)]
struct Moving {
    /// What the rules so far have assigned; the rest of the context is the world's.
    assigned: Context,
    review: Option<Arc<Ended>>,
    /// Values of lets and checks, or why they have none; emptied when the context changes.
    known: IndexMap<String, Result<Value, Fault>>,
    /// The names whose values are being made, outermost first.
    making: Vec<String>,
    preview: Option<Preview>,
    /// What the actions of the rule that fires have made, renamed or removed.
    touched: Vec<String>,
}

/// A text is made by itself, without the guard of its rule: what the guard would have made sure of is an error
/// where it is lacking, not a none in the text.
#[derive(Debug, Clone, Copy)]
pub struct Preview {
    /// The text may be of a time at which no review has run.
    pub may_lack_review: bool,
}

impl Names {
    /// The names of a decision that begins.
    pub fn new(chart: &Arc<Chart>, world: &Arc<dyn World>, event: &Event) -> Arc<Self> {
        Self::with(
            Arc::new(Expressions::new(chart.templates.clone())),
            chart,
            world,
            event,
        )
    }

    /// The names of a decision that shares what has been compiled with others of the same chart.
    pub fn with(
        expressions: Arc<Expressions>,
        chart: &Arc<Chart>,
        world: &Arc<dyn World>,
        event: &Event,
    ) -> Arc<Self> {
        Arc::new(Self {
            chart: Arc::clone(chart),
            expressions,
            world: Arc::clone(world),
            event: event.clone(),
            moving: Mutex::new(Moving {
                assigned: Context::new(),
                review: None,
                known: IndexMap::new(),
                making: Vec::new(),
                preview: None,
                touched: Vec::new(),
            }),
        })
    }

    /// From now on texts are made by themselves.
    pub fn set_preview(&self, preview: Preview) {
        let mut moving = self.moving();
        moving.preview = Some(preview);
        moving.known.clear();
    }

    /// The root object for expressions.
    pub fn root(self: &Arc<Self>) -> Value {
        Value::from_object(Root {
            names: Arc::clone(self),
            it: None,
        })
    }

    /// The root object for expressions, with `it`.
    pub fn root_with(self: &Arc<Self>, it: Value) -> Value {
        Value::from_object(Root {
            names: Arc::clone(self),
            it: Some(it),
        })
    }

    /// Whether a condition holds.
    pub fn holds(&self, expr: &str, root: &Value) -> Result<bool, ExprError> {
        let holds = self.expressions.holds(expr, root);
        let evaluated = Evaluated::Condition {
            source: expr,
            holds: holds.as_ref().ok().copied(),
        };
        match self.world.assume(evaluated) {
            None => holds,
            Some(Assumed::Holds(assumed)) => Ok(assumed),
            Some(_) => holds.and(Err(ExprError::open(expr))),
        }
    }

    /// A text with its holes filled.
    pub fn text(&self, text: &Text, root: &Value) -> Result<String, ExprError> {
        let made = self.expressions.text(text, root);
        let evaluated = Evaluated::Text {
            source: &text.0,
            failed: made.is_err(),
        };
        match self.world.assume(evaluated) {
            None => made,
            Some(Assumed::Fails) => made.and(Err(ExprError::open(&text.0))),
            Some(_) => Ok(made.unwrap_or_default()),
        }
    }

    /// What a field is assigned: an assumed value is one that the field may hold, another is still to be admitted.
    pub fn assigned(
        &self,
        field: &str,
        literal: &Literal,
        root: &Value,
    ) -> Result<Result<Json, Value>, ExprError> {
        let value = self.expressions.literal(literal, root);
        let evaluated = Evaluated::Field {
            name: field,
            literal,
            failed: value.is_err(),
        };
        match self.world.assume(evaluated) {
            None => value.map(Err),
            Some(Assumed::Value(assumed)) => Ok(Ok(assumed)),
            Some(_) => value.and(Err(ExprError::open(field))),
        }
    }

    /// A context field as it stands; null where the chart has none of that name.
    pub fn field(&self, name: &str) -> Json {
        self.known_field(name).unwrap_or(Json::Null)
    }

    /// A context field as it stands; `None` where the chart has none of that name.
    fn known_field(&self, name: &str) -> Option<Json> {
        if let Some(value) = self.moving().assigned.get(name) {
            return Some(value.clone());
        }
        self.world.field(name).cloned()
    }

    /// Writes context fields; later rules see them.
    pub fn assign(&self, fields: &IndexMap<String, Json>) {
        let mut moving = self.moving();
        for (name, value) in fields {
            moving.assigned.insert(name.clone(), value.clone());
        }
        moving.known.clear();
    }

    /// Makes visible, as `touched`, which files the actions of a rule are about.
    pub fn set_touched(&self, paths: Vec<String>) {
        let mut moving = self.moving();
        moving.touched = paths;
        moving.known.clear();
    }

    /// The names in a folder, from the project's root.
    pub fn names_in(&self, folder: &str) -> Result<Vec<String>, Fault> {
        let names = self.world.look(&Source::Names(folder.to_owned()))?;
        let names = names
            .try_iter()
            .map_err(|error| Fault::World(error.to_string()))?;
        Ok(names.map(|name| name.to_string()).collect())
    }

    /// Makes a run's outcome visible as `review`.
    pub fn set_review(&self, ended: Arc<Ended>) {
        let mut moving = self.moving();
        moving.review = Some(ended);
        moving.known.clear();
    }

    /// The run whose outcome is visible.
    pub fn review(&self) -> Option<Arc<Ended>> {
        self.moving().review.clone()
    }

    /// True once a run's outcome is visible.
    pub fn has_review(&self) -> bool {
        self.moving().review.is_some()
    }

    /// The running cycle: the one that is due, or whose post phase is.
    pub fn running(&self) -> Option<&Cycle> {
        let field = self.chart.next.as_ref()?;
        let next = self.field(field);
        let next = next.as_str()?;
        self.chart
            .cycles
            .values()
            .find(|cycle| cycle.id == next || cycle.post == next)
    }

    /// How many reviews the cycle has had; a null count is 0.
    pub fn count(&self, cycle: &Cycle) -> i64 {
        self.field(&cycle.count).as_i64().unwrap_or(0)
    }

    /// A file name of the cycle with its holes filled: `base`, `n`, and context fields that are safe in a name.
    pub fn file_name(&self, cycle: &Cycle, pattern: &Pattern, n: i64) -> Result<String, Fault> {
        pattern.render(|hole| match hole {
            "base" => cycle.base.render(|hole| self.slug(hole)),
            "n" => Ok(n.to_string()),
            other => self.slug(other),
        })
    }

    /// A context field as part of a file name.
    pub fn slug(&self, field: &str) -> Result<String, Fault> {
        let value = self.field(field);
        name_part(&value).ok_or_else(|| {
            Fault::World(match value {
                Json::Null => format!("`{field}` is null, so there is no file of its name"),
                other => format!(
                    "`{field}` is {other}, which cannot be part of a file name (letters, digits, _ and -)"
                ),
            })
        })
    }

    /// The name of a file of the instance as the agent and the reviewer write it: from the project's root.
    pub fn path(&self, name: &str) -> Result<String, Fault> {
        let scope = self.world.look(&Source::Scope)?;
        let path = scope
            .get_attr("path")
            .map_err(|error| Fault::World(error.to_string()))?;
        Ok(format!("{path}/{name}"))
    }

    /// The files a review of `cycle` reads; a list that turns out empty is an error.
    pub fn subject(self: &Arc<Self>, cycle: &Cycle) -> Result<Vec<String>, Fault> {
        let mut files = IndexSet::new();
        for entry in &cycle.subject {
            let place = || format!("cycles.{}.subject", cycle.id);
            match crate::expr::single_expression(&entry.0) {
                Some(expr) => {
                    let names = self
                        .expressions
                        .items(expr, &self.root())
                        .map_err(Fault::at(place()))?;
                    if names.is_empty() {
                        return Err(Fault::World(format!(
                            "there is nothing to review: {expr} is empty"
                        )));
                    }
                    // A list of the chart may name a file as often as its table does.
                    files.extend(names.iter().map(ToString::to_string));
                }
                None => {
                    let pattern = Pattern::parse(&entry.0).map_err(Fault::World)?;
                    files.insert(self.file_name(cycle, &pattern, self.count(cycle) + 1)?);
                }
            }
        }
        Ok(files.into_iter().collect())
    }

    /// Which of the advance targets of `cycle` is the first open one.
    pub fn open_target(self: &Arc<Self>, cycle: &Cycle) -> Result<usize, Fault> {
        for (index, advance) in cycle.advance.iter().enumerate() {
            let open = match &advance.guard {
                None => true,
                Some(guard) => self
                    .holds(&guard.0, &self.root())
                    .map_err(Fault::at(format!(
                        "cycles.{}.advance[{index}].guard",
                        cycle.id
                    )))?,
            };
            if open {
                return Ok(index);
            }
        }
        Err(Fault::NowhereToAdvance {
            cycle: cycle.id.clone(),
        })
    }

    /// The cycle's next review is due: it is what comes next, or its answer is already there.
    pub fn is_due(&self, cycle: &Cycle) -> Result<bool, Fault> {
        let next = self
            .chart
            .next
            .as_ref()
            .map(|field| self.field(field))
            .unwrap_or_default();
        Ok(next.as_str() == Some(&cycle.id) || self.is_answered(cycle)?)
    }

    /// The last review has its answer on disk, written after it.
    pub fn is_answered(&self, cycle: &Cycle) -> Result<bool, Fault> {
        let n = self.count(cycle);
        let (Ok(answer), Ok(review)) = (
            self.file_name(cycle, &cycle.answer, n),
            self.file_name(cycle, &cycle.review, n),
        ) else {
            return Ok(false);
        };
        Ok(n > 0
            && self
                .world
                .look(&Source::Answers { answer, review })?
                .is_true())
    }

    fn moving(&self) -> MutexGuard<'_, Moving> {
        // A panic elsewhere cannot have left this half-written: every change is one call.
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A value that is made once and forgotten when the context changes.
    fn remembered(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        if let Some(value) = self.moving().known.get(key) {
            return value.clone();
        }
        let value = self.nested(key, make);
        // An error is kept too: minijinja looks its names up again to explain it, at every level.
        self.moving().known.insert(key.to_owned(), value.clone());
        value
    }

    /// A value whose making may ask for others: a name that leads back to itself ends in an error.
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
                return Err(Fault::World(format!(
                    "`{key}` is more than {MAX_DEPTH} names deep"
                )));
            }
            moving.making.push(key.to_owned());
        }
        let value = make();
        self.moving().making.pop();
        value
    }

    fn let_value(self: &Arc<Self>, name: &str) -> Option<Result<Value, Fault>> {
        let expr = self.chart.lets.get(name)?;
        Some(self.remembered(name, || {
            self.expressions
                .value(&expr.0, &self.root())
                .map_err(Fault::at(format!("let.{name}")))
        }))
    }

    fn session(&self) -> Value {
        match &self.event.session {
            Some(session) => Value::from(session.as_str()),
            None => self
                .world
                .supply(Given::Session)
                .as_ref()
                .map_or_else(|| Value::from(()), context::to_value),
        }
    }

    fn findings(self: &Arc<Self>, name: &str) -> Option<Result<Value, Fault>> {
        let checks = self.chart.checks.get(name)?;
        Some(self.remembered(&format!("checks.{name}"), || {
            if let Some(findings) = self.world.supply(Given::Findings(name)) {
                return Ok(context::to_value(&findings));
            }
            self.find_all(name, checks).map(Value::from)
        }))
    }

    /// What a list of checks finds, in order.
    pub fn find_all(self: &Arc<Self>, name: &str, checks: &[Check]) -> Result<Vec<String>, Fault> {
        let mut findings = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            self.find(check, &mut findings)
                .map_err(Fault::at(format!("checks.{name}[{index}]")))?;
        }
        Ok(findings)
    }

    /// Adds what one check finds.
    pub fn find(
        self: &Arc<Self>,
        check: &Check,
        findings: &mut Vec<String>,
    ) -> Result<(), ExprError> {
        let guard = check.guard.as_ref().map(|guard| guard.0.as_str());
        let found = match &check.each {
            Some(each) => {
                let items = self.expressions.items(&each.0, &self.root())?;
                self.expressions
                    .select(guard, items, |it| self.root_with(it))?
            }
            None => self
                .expressions
                .select(guard, vec![Value::from(())], |_| self.root())?,
        };
        for names in &found {
            findings.push(self.expressions.text(&check.say, names)?);
        }
        Ok(())
    }

    /// The user's prompt of that name, else ours, with its holes filled.
    fn prompt(self: &Arc<Self>, name: &str) -> Option<Result<Value, Fault>> {
        let known = self.chart.prompts.names.iter().any(|known| known == name);
        known.then(|| {
            self.remembered(&format!("prompts.{name}"), || {
                let own = self.world.look(&Source::Prompt(name.to_owned()))?;
                let text = match own.as_str() {
                    Some(text) => text.to_owned(),
                    None => self.chart.prompt_template(name).map_err(Fault::World)?,
                };
                prompt::fill(&text, |hole| self.hole(hole)).map(Value::from)
            })
        })
    }

    /// What stands for `{{name}}` in a prompt; `None` where nothing does.
    fn hole(self: &Arc<Self>, name: &str) -> Option<Result<String, Fault>> {
        let expr = self.chart.prompts.vars.get(name)?;
        let place = format!("prompts.vars.{name}");
        let value = self.expressions.value(&expr.0, &self.root());
        Some(
            value
                .map(|value| value.to_string())
                .map_err(Fault::at(place)),
        )
    }

    fn arg(self: &Arc<Self>, name: &str) -> Option<Result<Value, Fault>> {
        let arg = self.chart.args.get(name)?;
        Some(self.remembered(&format!("args.{name}"), || {
            let place = |key: &str| format!("args.{name}.{key}");
            let given = self
                .event
                .args
                .get(name)
                .cloned()
                .or_else(|| self.world.supply(Given::Arg(name)));
            let value = match (given, &arg.default) {
                (Some(given), _) => context::to_value(&given),
                (None, Some(default)) => self
                    .expressions
                    .literal(default, &self.root())
                    .map_err(Fault::at(place("default")))?,
                (None, None) => {
                    return Err(Fault::Argument {
                        name: name.to_owned(),
                        detail: "is missing".to_owned(),
                    });
                }
            };
            if let Some(one_of) = &arg.one_of {
                let allowed = self
                    .expressions
                    .items(&one_of.0, &self.root())
                    .map_err(Fault::at(place("one_of")))?;
                if !allowed.contains(&value) {
                    return Err(Fault::Argument {
                        name: name.to_owned(),
                        detail: not_one_of(&value, &allowed),
                    });
                }
            }
            Ok(value)
        }))
    }

    fn review_value(&self, key: &str) -> Option<Result<Value, Fault>> {
        let (review, preview) = {
            let moving = self.moving();
            (moving.review.clone(), moving.preview)
        };
        let Some(ended) = review else {
            return match key {
                "n" | "error" | "verdict" | "file" | "answer"
                    if preview.is_some_and(|preview| !preview.may_lack_review) =>
                {
                    Some(Err(Fault::World(format!(
                        "no review has run, so there is no `review.{key}`"
                    ))))
                }
                "ok" => Some(Ok(Value::from(false))),
                "n" => Some(Ok(Value::from(0))),
                "error" | "verdict" | "file" | "answer" => Some(Ok(Value::from(()))),
                _ => None,
            };
        };
        let cycle = self.chart.cycles.get(&ended.invocation.cycle);
        Some(Ok(match key {
            "ok" => Value::from(matches!(ended.outcome, Outcome::Ran { .. })),
            "error" => match &ended.outcome {
                Outcome::Failed(why) => Value::from(why.as_str()),
                Outcome::Ran { .. } => Value::from(()),
            },
            "verdict" => match &ended.outcome {
                Outcome::Ran {
                    verdict: Some(verdict),
                } => Value::from(verdict.as_str()),
                _ => Value::from(()),
            },
            "n" => Value::from(ended.invocation.n),
            "file" => return Some(self.path(&ended.invocation.file).map(Value::from)),
            "answer" => {
                let path = cycle.map(|cycle| {
                    self.file_name(cycle, &cycle.answer, ended.invocation.n)
                        .and_then(|name| self.path(&name))
                });
                return Some(path.map_or(Ok(Value::from(())), |path| path.map(Value::from)));
            }
            _ => return None,
        }))
    }

    fn cycle_value(self: &Arc<Self>, key: &str) -> Option<Result<Value, Fault>> {
        let Some(cycle) = self.running() else {
            // A let may well ask whether a cycle runs; a text that names what a cycle has needs one.
            let is_needed = {
                let moving = self.moving();
                moving.preview.is_some() && moving.making.is_empty()
            };
            return match key {
                "n" | "limit" | "id" | "post" | "resume" | "last" | "next" | "review" | "stage"
                | "text" | "subject"
                    if is_needed =>
                {
                    Some(Err(Fault::World(format!(
                        "no cycle is running, so there is no `cycle.{key}`"
                    ))))
                }
                "due" | "owed" | "answered" | "exit" | "ready" => Some(Ok(Value::from(false))),
                "n" | "limit" => Some(Ok(Value::from(0))),
                "id" | "post" | "resume" | "last" | "next" | "review" | "stage" => {
                    Some(Ok(Value::from(())))
                }
                "text" | "subject" => Some(Ok(Value::from(Vec::<Value>::new()))),
                _ => None,
            };
        };
        let place = |key: &str| format!("cycles.{}.{key}", cycle.id);
        let n = self.count(cycle);
        let path = |pattern: &Pattern, n: i64| {
            self.file_name(cycle, pattern, n)
                .and_then(|name| self.path(&name))
                .map(Value::from)
        };
        let holds = |expr: Option<&str>| match expr {
            None => Ok(Value::from(true)),
            Some(expr) => self
                .holds(expr, &self.root())
                .map(Value::from)
                .map_err(Fault::at(place(key))),
        };
        Some(match key {
            "id" => Ok(Value::from(cycle.id.as_str())),
            "post" => Ok(Value::from(cycle.post.as_str())),
            "stage" => Ok(Value::from(cycle.stage.clone())),
            "resume" => Ok(Value::from(cycle.resume.clone())),
            "n" => Ok(Value::from(n + 1)),
            "limit" => Ok(context::to_value(&self.field(&cycle.limit))),
            "due" => self.is_due(cycle).map(Value::from),
            "answered" => self.is_answered(cycle).map(Value::from),
            "owed" => {
                let next = self
                    .chart
                    .next
                    .as_ref()
                    .map(|field| self.field(field))
                    .unwrap_or_default();
                let post = next.as_str() == Some(&cycle.post);
                self.is_answered(cycle)
                    .map(|answered| Value::from(post && !answered))
            }
            "exit" => self.nested("cycle.exit", || holds(Some(&cycle.exit.0))),
            "ready" => self.nested("cycle.ready", || {
                holds(cycle.ready.as_ref().map(|ready| ready.0.as_str()))
            }),
            "next" => self.nested("cycle.next", || {
                self.open_target(cycle)
                    .map(|index| Value::from(cycle.advance[index].target.as_str()))
            }),
            "review" => path(&cycle.review, n + 1),
            "last" => path(&cycle.review, n).and_then(|review| {
                Ok(Value::from_pairs([
                    ("review", review),
                    ("answer", path(&cycle.answer, n)?),
                ]))
            }),
            "subject" => self.nested("cycle.subject", || {
                let files = self.subject(cycle)?;
                files
                    .iter()
                    .map(|file| self.path(file))
                    .collect::<Result<Vec<_>, _>>()
                    .map(Value::from)
            }),
            "text" => self.nested("cycle.text", || {
                let texts = cycle.text.iter().map(|(name, text)| {
                    let text = self.text(text, &self.root());
                    text.map(|text| (name.as_str(), Value::from(text)))
                        .map_err(Fault::at(place("text")))
                });
                texts.collect::<Result<Vec<_>, _>>().map(Value::from_pairs)
            }),
            _ => return None,
        })
    }

    fn event_value(&self, key: &str) -> Option<Result<Value, Fault>> {
        let brought = self.event.fields.get(key).filter(|value| !value.is_null());
        let given = brought
            .cloned()
            .or_else(|| self.world.supply(Given::Field(key)));
        let default = EVENT_DEFAULTS
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, default)| *default);
        let fits = |value: &Json| match default {
            Some(FieldDefault::False) => value.is_boolean(),
            Some(FieldDefault::Text) => value.is_string(),
            Some(FieldDefault::List) => value.is_array(),
            None => true,
        };
        match (given.filter(fits), default) {
            (Some(value), _) => Some(Ok(context::to_value(&value))),
            (None, Some(FieldDefault::False)) => Some(Ok(Value::from(false))),
            (None, Some(FieldDefault::Text)) => Some(Ok(Value::from(""))),
            (None, Some(FieldDefault::List)) => Some(Ok(Value::from(Vec::<Value>::new()))),
            (None, None) => None,
        }
    }
}

fn not_one_of(value: &Value, allowed: &[Value]) -> String {
    let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    if value.is_none() {
        return "is missing, and there is nothing left to take".to_owned();
    }
    let text = value.to_string();
    if names.is_empty() {
        return format!(
            "`{}` is unknown: there are none at all",
            text.escape_debug()
        );
    }
    let close = crate::diagnostic::suggest::suggest(&text, names.iter().map(String::as_str));
    let hint = close
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default();
    let shown: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
    let more = if names.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    format!(
        "`{}` is not one of {}{more}{hint}",
        text.escape_debug(),
        shown.join(", ")
    )
}

/// The root of all names; `it` is set inside `each` and while a phase is entered.
struct Root {
    names: Arc<Names>,
    it: Option<Value>,
}

/// A name that carries its source, with its fields looked up when asked for.
struct Group {
    names: Arc<Names>,
    kind: GroupKind,
}

#[derive(Debug, Clone, Copy)]
enum GroupKind {
    Args,
    Checks,
    Config,
    Cycle,
    Event,
    Files,
    Git,
    Prompts,
    Review,
    Tables,
}

impl fmt::Debug for Root {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("names")
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.kind, out)
    }
}

/// Returns a value for minijinja: a fault travels as one that is an error wherever it is used.
pub fn or_invalid(value: Result<Value, Fault>) -> Value {
    value.unwrap_or_else(|fault| {
        let error =
            minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, fault.to_string());
        Value::from(error.with_source(Cause::new(fault)))
    })
}

impl Object for Root {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let names = &self.names;
        if let Some(field) = names.known_field(key) {
            return Some(context::to_value(&field));
        }
        if let Some(value) = names.let_value(key) {
            return Some(or_invalid(value));
        }
        let kind = match key {
            "args" => GroupKind::Args,
            "checks" => GroupKind::Checks,
            "config" => GroupKind::Config,
            "cycle" => GroupKind::Cycle,
            "event" => GroupKind::Event,
            "files" => GroupKind::Files,
            "git" => GroupKind::Git,
            "prompts" => GroupKind::Prompts,
            "review" => GroupKind::Review,
            "tables" => GroupKind::Tables,
            "scope" => return Some(or_invalid(names.world.look(&Source::Scope))),
            "session" => return Some(names.session()),
            "driver" => {
                let session = names.event.session.clone();
                return Some(or_invalid(names.world.look(&Source::Driver { session })));
            }
            "siblings" => return Some(or_invalid(names.world.look(&Source::Siblings))),
            "now" => return Some(or_invalid(names.world.look(&Source::Now))),
            "touched" => {
                let touched = names.moving().touched.clone();
                return Some(Value::from(touched));
            }
            "it" => return self.it.clone(),
            _ => return None,
        };
        Some(Value::from_object(Group {
            names: Arc::clone(names),
            kind,
        }))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let names = &self.names;
        let value = match self.kind {
            GroupKind::Args => names.arg(key),
            GroupKind::Checks => names.findings(key),
            GroupKind::Config => {
                let known = names.chart.config.contains_key(key);
                known.then(|| names.world.look(&Source::Config(key.to_owned())))
            }
            GroupKind::Git => (key == "dirty").then(|| names.world.look(&Source::Dirty)),
            GroupKind::Prompts => names.prompt(key),
            GroupKind::Cycle => names.cycle_value(key),
            GroupKind::Event => names.event_value(key),
            GroupKind::Review => names.review_value(key),
            GroupKind::Files => {
                let known = names.chart.files.contains_key(key);
                known.then(|| names.world.look(&Source::Files(key.to_owned())))
            }
            GroupKind::Tables => {
                let known = names.chart.tables.contains_key(key);
                known.then(|| names.world.look(&Source::Table(key.to_owned())))
            }
        };
        value.map(or_invalid)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}
