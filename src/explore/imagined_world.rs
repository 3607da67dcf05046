//! A world that is made up while a decision looks at it, and that keeps account of every look.
//!
//! What the state says is answered from the state. Anything else is a choice: the first value of its
//! domain, unless a value was chosen before. The account says what to choose differently the next time.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use serde_json::{Value as Json, json};

use super::domain::{Choice, Domain, config_path};
use crate::chart::Chart;
use crate::chart::field::name_part;
use crate::chart::model::Check;
use crate::engine::context::{Context, to_value};
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::world::{Given, Source, World};
use crate::expr::Expressions;
use crate::host::events::EVENTS;

/// What a decision asks of a world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// A context field, or a setting: `config.NAME`.
    Field(String),
    /// Whether there is a state yet.
    Started,
    /// Whether the answer to a review is there, and written after it.
    Answered { answer: String, review: String },
    /// What neither the state nor the chart determines.
    Choice(Choice),
}

/// One question of a decision, in the order in which they were asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// What it can be answered where the state does not say.
    pub(crate) options: Vec<Json>,
    pub(crate) answer: Json,
}

/// What one exploration shares between its worlds.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) chart: Arc<Chart>,
    pub(crate) domain: Domain,
    pub(crate) expressions: Arc<Expressions>,
    findings: Mutex<Vec<Findings>>,
}

/// What the checks of one list can find in one context.
#[derive(Debug, Clone)]
struct Findings {
    name: String,
    /// The fields that were read, and what they held.
    read: Vec<(String, Json)>,
    options: Vec<Json>,
    /// Per check: whether it finds something.
    found: Vec<bool>,
    /// What the checks looked at.
    choices: Vec<Choice>,
    faults: Vec<(usize, Fault)>,
}

/// How often the paths through one check may fork before the rest is left out.
const FORKS: usize = 4_096;

impl Ground {
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        Self {
            chart: Arc::clone(chart),
            domain: Domain::of(chart),
            expressions: Arc::new(Expressions::new(chart.templates.clone())),
            findings: Mutex::new(Vec::new()),
        }
    }

    /// The checks that have found something somewhere: (list, index).
    pub(crate) fn checks_that_find(&self) -> Vec<(String, usize)> {
        let known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().flat_map(|findings| {
            let indices = findings
                .found
                .iter()
                .enumerate()
                .filter(|(_, found)| **found);
            indices.map(|(index, _)| (findings.name.clone(), index))
        });
        found.collect()
    }

    /// The lists of checks that were asked for.
    pub(crate) fn checks_asked(&self) -> Vec<String> {
        let known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().map(|findings| findings.name.clone()).collect()
    }

    /// What the checks looked at.
    pub(crate) fn choices_of_checks(&self) -> Vec<Choice> {
        let known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .iter()
            .flat_map(|findings| findings.choices.iter().cloned())
            .collect()
    }

    /// What went wrong in checks: where, and what.
    pub(crate) fn faults_of_checks(&self) -> Vec<(String, usize, Fault)> {
        let known = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        let faults = known.iter().flat_map(|findings| {
            findings
                .faults
                .iter()
                .map(|(index, fault)| (findings.name.clone(), *index, fault.clone()))
        });
        faults.collect()
    }
}

/// What a state says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) context: Context,
    pub(crate) started: bool,
    /// The answers and their reviews that are known of, and whether the answer is there.
    pub(crate) answered: Vec<(String, String, bool)>,
}

/// The world of one decision.
#[derive(Clone)]
pub(crate) struct ImaginedWorld {
    ground: Arc<Ground>,
    base: Arc<Base>,
    /// True where the event is a hook's, whose session is a field of the event.
    is_hook: bool,
    chosen: Arc<Vec<(Choice, Json)>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl fmt::Debug for ImaginedWorld {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ImaginedWorld")
    }
}

impl ImaginedWorld {
    /// A world at `base` in which `chosen` has been chosen.
    pub(crate) fn new(
        ground: &Arc<Ground>,
        base: Base,
        trigger: &Trigger,
        chosen: Vec<(Choice, Json)>,
    ) -> Self {
        Self {
            ground: Arc::clone(ground),
            base: Arc::new(base),
            is_hook: is_of_the_host(trigger),
            chosen: Arc::new(chosen),
            asked: Arc::new(Mutex::new(Vec::new())),
        }
    }

    /// The names of a decision in this world.
    pub(crate) fn names(&self, trigger: &Trigger) -> Arc<Names> {
        let event = Event {
            trigger: trigger.clone(),
            fields: Json::Null,
            args: indexmap::IndexMap::new(),
            session: None,
        };
        let world: Arc<dyn World> = Arc::new(self.clone());
        Names::with(
            Arc::clone(&self.ground.expressions),
            &self.ground.chart,
            &world,
            &event,
        )
    }

    /// The questions so far.
    pub(crate) fn account(&self) -> Vec<Asked> {
        self.asked().clone()
    }

    fn asked(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, question: &Question) -> Option<Json> {
        self.asked()
            .iter()
            .find(|asked| asked.question == *question)
            .map(|asked| asked.answer.clone())
    }

    fn note(&self, question: Question, options: Vec<Json>, answer: &Json) {
        self.asked().push(Asked {
            question,
            options,
            answer: answer.clone(),
        });
    }

    /// A context field, or a setting by its whole name.
    fn read(&self, name: &str) -> Json {
        if name.starts_with(&config_path("")) {
            return self.setting(name.to_owned());
        }
        World::field(self, name).cloned().unwrap_or(Json::Null)
    }

    /// A setting, which a user sets at any time.
    fn setting(&self, name: String) -> Json {
        let options = self.ground.domain.parameters.get(&name);
        let options = options.cloned().unwrap_or_default();
        let set = self.base.context.get(&name).or(options.first());
        let value = set.cloned().unwrap_or(Json::Null);
        let question = Question::Field(name);
        if self.known(&question).is_none() {
            self.note(question, options, &value);
        }
        value
    }

    fn choose(&self, choice: Choice) -> Json {
        let question = Question::Choice(choice.clone());
        if let Some(answer) = self.known(&question) {
            return answer;
        }
        let options = match &choice {
            Choice::Findings(name) => self.findings(name),
            other => self
                .ground
                .domain
                .values(other, &mut |field| self.read(field)),
        };
        let chosen = self
            .chosen
            .iter()
            .find(|(made, _)| *made == choice)
            .map(|(_, value)| value.clone());
        let answer = chosen
            .or_else(|| options.first().cloned())
            .unwrap_or(Json::Null);
        self.note(question, options, &answer);
        answer
    }

    /// What the checks of a list can come to here: nothing found, or what the first check finds that can.
    fn findings(&self, name: &str) -> Vec<Json> {
        let known = {
            let known = self
                .ground
                .findings
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let here = |(field, value): &(String, Json)| {
                self.base.context.get(field).unwrap_or(&Json::Null) == value
            };
            known
                .iter()
                .find(|known| known.name == name && known.read.iter().all(here))
                .cloned()
        };
        let findings = known.unwrap_or_else(|| {
            let findings = self.find(name);
            self.ground
                .findings
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(findings.clone());
            findings
        });
        for (field, _) in &findings.read {
            self.read(field);
        }
        findings.options
    }

    fn find(&self, name: &str) -> Findings {
        let mut findings = Findings {
            name: name.to_owned(),
            read: Vec::new(),
            options: Vec::new(),
            found: Vec::new(),
            choices: Vec::new(),
            faults: Vec::new(),
        };
        let Some(checks) = self.ground.chart.checks.get(name) else {
            return findings;
        };
        let mut first: Option<Json> = None;
        for (index, check) in checks.iter().enumerate() {
            let mut found = false;
            let place = format!("checks.{name}[{index}]");
            for (result, chosen) in self.paths_through(&place, check, &[], &mut findings.read) {
                findings
                    .choices
                    .extend(chosen.into_iter().map(|(choice, _)| choice));
                match result {
                    Ok(texts) if texts.is_empty() => {}
                    Ok(texts) => {
                        found = true;
                        first.get_or_insert_with(|| json!(texts));
                    }
                    Err(fault) => findings.faults.push((index, fault)),
                }
            }
            findings.found.push(found);
        }
        let mut read = Vec::new();
        if self.can_be_quiet(checks, &[], &mut read) {
            findings.options.push(json!([]));
        }
        findings.options.extend(first);
        for (field, value) in read {
            if !findings.read.iter().any(|(known, _)| *known == field) {
                findings.read.push((field, value));
            }
        }
        findings
    }

    /// Whether some choices let none of `checks` find anything.
    fn can_be_quiet(
        &self,
        checks: &[Check],
        chosen: &[(Choice, Json)],
        read: &mut Vec<(String, Json)>,
    ) -> bool {
        let Some((check, rest)) = checks.split_first() else {
            return true;
        };
        self.paths_through("checks", check, chosen, read)
            .into_iter()
            .filter(|(result, _)| result.as_ref().is_ok_and(Vec::is_empty))
            .any(|(_, chosen)| self.can_be_quiet(rest, &chosen, read))
    }

    /// What `check` finds, under every combination of choices that it looks at.
    fn paths_through(
        &self,
        place: &str,
        check: &Check,
        chosen: &[(Choice, Json)],
        read: &mut Vec<(String, Json)>,
    ) -> Vec<Path> {
        let trigger = Trigger::Command(String::new());
        let mut results = Vec::new();
        let mut open = vec![chosen.to_vec()];
        while let Some(chosen) = open.pop() {
            let fork = Self::new(&self.ground, (*self.base).clone(), &trigger, chosen.clone());
            let mut found = Vec::new();
            let result = fork
                .names(&trigger)
                .find(check, &mut found)
                .map_err(Fault::at(place));
            let mut chosen = chosen;
            for asked in fork.account() {
                match asked.question {
                    Question::Field(field) if read.iter().all(|(known, _)| *known != field) => {
                        read.push((field, asked.answer));
                    }
                    Question::Choice(choice) if !chosen.iter().any(|(made, _)| *made == choice) => {
                        for option in asked
                            .options
                            .into_iter()
                            .filter(|option| *option != asked.answer)
                        {
                            let mut other = chosen.clone();
                            other.push((choice.clone(), option));
                            open.push(other);
                        }
                        chosen.push((choice, asked.answer));
                    }
                    _ => {}
                }
            }
            results.push((result.map(|()| found), chosen));
            if results.len() > FORKS {
                break;
            }
        }
        results
    }
}

/// True for an event that the host sends; `next` is asked by hand.
pub(crate) fn is_of_the_host(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::Hook(name) if EVENTS.iter().any(|(_, event)| event == name))
}

/// What one path through a check came to, and the choices on it.
type Path = (Result<Vec<String>, Fault>, Vec<(Choice, Json)>);

impl World for ImaginedWorld {
    fn context(&self) -> &Context {
        &self.base.context
    }

    fn field(&self, name: &str) -> Option<&Json> {
        let value = self.base.context.get(name)?;
        let question = Question::Field(name.to_owned());
        if self.known(&question).is_none() {
            // What a user sets at any time is chosen; the state says the rest.
            let options = self
                .ground
                .domain
                .parameters
                .get(name)
                .cloned()
                .unwrap_or_default();
            self.note(question, options, value);
        }
        Some(value)
    }

    fn supply(&self, given: Given<'_>) -> Option<Json> {
        let choice = match given {
            Given::Field(name) => Choice::Event(name.to_owned()),
            Given::Arg(name) => Choice::Arg(name.to_owned()),
            // Where each session has its own instance, no stop comes without a session.
            Given::Session if self.is_hook && self.ground.chart.scope.is_per_session() => {
                Choice::Event("session_id".to_owned())
            }
            Given::Session => Choice::Session,
            Given::Findings(name) => Choice::Findings(name.to_owned()),
        };
        Some(self.choose(choice)).filter(|value| !value.is_null())
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        Ok(match source {
            Source::Scope => {
                if self.known(&Question::Started).is_none() {
                    self.note(Question::Started, Vec::new(), &json!(self.base.started));
                }
                let scope = &self.ground.chart.scope;
                Value::from_pairs([
                    ("started", Value::from(self.base.started)),
                    ("name", Value::from("1")),
                    ("path", Value::from(self.ground.domain.dir())),
                    ("home", Value::from(scope.home.as_str())),
                ])
            }
            Source::Files(set) => to_value(&self.choose(Choice::Files(set.clone()))),
            Source::Table(name) => Value::from_object(TableView {
                fork: self.clone(),
                name: name.clone(),
            }),
            Source::Answers { answer, review } => {
                let question = Question::Answered {
                    answer: answer.clone(),
                    review: review.clone(),
                };
                let value = match self.known(&question) {
                    Some(value) => value,
                    None => {
                        let known = self
                            .base
                            .answered
                            .iter()
                            .find(|(known, of, _)| known == answer && of == review);
                        let value = json!(known.is_some_and(|(_, _, value)| *value));
                        self.note(question, vec![json!(false), json!(true)], &value);
                        value
                    }
                };
                to_value(&value)
            }
            Source::Config(name) => to_value(&self.setting(config_path(name))),
            Source::Driver { .. } => to_value(&self.choose(Choice::Driver)),
            Source::Spent { .. } => {
                let cost = || Value::from("$1.00");
                let over = to_value(&self.choose(Choice::Over));
                Value::from_pairs([("cycle", cost()), ("instance", cost()), ("over", over)])
            }
            Source::Postponed => to_value(&self.choose(Choice::Postponed)),
            Source::Dirty => to_value(&self.choose(Choice::Dirty)),
            Source::Siblings => to_value(&self.choose(Choice::Siblings)),
            // No rule depends on what time it is, on which names are free, or on how a user words a prompt.
            Source::Now => Value::from("20260101T000000"),
            Source::Names(_) => Value::from(Vec::<Value>::new()),
            Source::Prompt(_) => Value::from(()),
        })
    }
}

/// A table whose content is chosen field by field, so that only what is looked at forks.
struct TableView {
    fork: ImaginedWorld,
    name: String,
}

impl fmt::Debug for TableView {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "tables.{}", self.name)
    }
}

impl TableView {
    /// False where the file's name has a hole that no context field fills.
    fn has_file(&self) -> bool {
        let Some(table) = self.fork.ground.chart.tables.get(&self.name) else {
            return false;
        };
        let file = table.file.render(|hole| {
            let value = self.fork.read(hole);
            name_part(&value).ok_or(())
        });
        file.is_ok()
    }

    fn rows(&self) -> Vec<Json> {
        if !self.has_file() {
            return Vec::new();
        }
        match self.fork.choose(Choice::Rows(self.name.clone())) {
            Json::Array(rows) => rows,
            _ => Vec::new(),
        }
    }

    fn content(&self, key: &'static str) -> Json {
        self.fork.choose(Choice::Content {
            table: self.name.clone(),
            key,
        })
    }

    fn exists(&self) -> bool {
        !self.rows().is_empty() || self.has_file() && self.content("exists") == json!(true)
    }
}

impl Object for TableView {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let value = match key {
            "rows" => Json::Array(self.rows()),
            "open" => {
                let mut rows = self.rows();
                rows.retain(|row| row.get("done") == Some(&json!(false)));
                Json::Array(rows)
            }
            "exists" => json!(self.exists()),
            // A row stands below a header, and takes a line.
            "head" => json!(
                !self.rows().is_empty() || self.exists() && self.content("head") == json!(true)
            ),
            "prose" => json!(self.exists() && self.content("prose") == json!(true)),
            "lacks" => json!(self.exists() && self.content("lacks") == json!(true)),
            "unusable" => json!(self.exists() && self.content("unusable") == json!(true)),
            "lines" => {
                let rows = i64::try_from(self.rows().len()).unwrap_or(i64::MAX);
                let lines = if self.exists() {
                    self.content("lines").as_i64().unwrap_or(0)
                } else {
                    0
                };
                json!(lines.max(rows))
            }
            _ => return None,
        };
        Some(to_value(&value))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}
