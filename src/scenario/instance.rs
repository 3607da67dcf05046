//! An instance in memory: its state, and its files as a table of names. It calls the same `decide` as the hook. Nothing is
//! started, and nothing on a real disk is read or written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::failure::Failure;
use super::script::{Expected, ScenarioStep, Script, ScriptedReview};
use super::stage::{Call, ScriptedAnswer, Stage, State};
use crate::chart::Chart;
use crate::chart::model::Field;
use crate::engine::context::{self, Context};
use crate::engine::decide::decide;
use crate::engine::decision::{self, Decision, Effect, Ended, FailedGate, Invocation, Outcome};
use crate::engine::event::Event;
use crate::engine::fault::Fault;
use crate::engine::possible_world::{Disk, INSTANCE, PossibleWorld};
use crate::engine::spent::{OVER, PastReview};
use crate::engine::world::World;
use crate::files::timestamp;
use crate::host::vendors::SEVERITIES;
use crate::reviewer::finding::{Finding, Found};
use crate::store::journal::DecisionLine;

/// Parses a command line into its events, in order. The second argument is its stdin.
pub(crate) type Typist = dyn Fn(&str, &str) -> Result<Vec<Event>, String>;

/// An instance in memory.
#[derive(Clone)]
pub(crate) struct PlayedInstance {
    pub(crate) chart: Arc<Chart>,
    typist: Arc<Typist>,
    /// The session of events that name none.
    session: String,
    pub(crate) context: Context,
    pub(crate) started: bool,
    pub(crate) disk: Disk,
    /// The files outside the instance's directory, by their path from the project's root.
    outside: BTreeMap<String, (String, u64)>,
    /// The number of writes, which says which file is newer.
    clock: u64,
    /// Whether a stop of this turn has already been answered.
    pub(super) active: bool,
    /// How many gates have failed since the last review ran, or the last command.
    failed_gates: usize,
    /// What was decided last, one for each event of a command line.
    decisions: Vec<DecisionLine>,
}

impl PlayedInstance {
    /// Returns an instance that has no state yet.
    pub(crate) fn new(chart: &Arc<Chart>, typist: Arc<Typist>, session: &str) -> Self {
        Self {
            chart: Arc::clone(chart),
            typist,
            session: session.to_owned(),
            context: context::initial(chart),
            started: false,
            disk: Disk { now: "20260101T000000".to_owned(), ..Disk::default() },
            outside: BTreeMap::new(),
            clock: 0,
            active: false,
            failed_gates: 0,
            decisions: Vec::new(),
        }
    }

    /// Returns the instance that a scenario begins with.
    pub(crate) fn of(
        chart: &Arc<Chart>,
        typist: Arc<Typist>,
        script: &Script,
    ) -> Result<Self, Failure> {
        let mut instance = Self::new(chart, typist, &script.session);
        if let Some(state) = &script.begins {
            instance.set(state)?;
            let nulls = script.null.iter().map(|name| (name.clone(), Json::Null));
            instance.set(&nulls.collect())?;
            instance.started = true;
        }
        Ok(instance)
    }

    /// Returns what a decision can look at.
    pub(crate) fn world(&self) -> Arc<dyn World> {
        Arc::new(PossibleWorld {
            chart: Arc::clone(&self.chart),
            context: self.context.clone(),
            started: self.started,
            disk: self.disk.clone(),
        })
    }

    /// Returns what would be decided about an event now.
    pub(crate) fn foresee(&self, event: &Event) -> Result<decision::Step, Fault> {
        decide(&self.chart, &self.world(), event, None)
    }

    /// Returns the event of that name with the fields of a step.
    pub(crate) fn event(&self, name: &str, step: &ScenarioStep) -> Event {
        let session = step.session.as_ref().unwrap_or(&self.session);
        let mut fields = Map::new();
        fields.insert("hook_event_name".to_owned(), json!(name));
        if name == "Stop" {
            fields.insert("stop_hook_active".to_owned(), json!(self.active));
        }
        if !session.is_empty() {
            fields.insert("session_id".to_owned(), json!(session));
        }
        fields.extend(step.says.clone());
        Event::hook(name, Json::Object(fields))
    }

    /// Returns the file of a review's subject that does not exist.
    pub(crate) fn missing<'i>(&self, invocation: &'i Invocation) -> Option<&'i String> {
        let mut subject = invocation.subject.iter();
        subject.find(|name| !self.disk.files.contains_key(*name))
    }

    fn set(&mut self, fields: &Context) -> Result<(), Failure> {
        for (name, value) in fields {
            self.fits("field", self.chart.context.get(name), name, value)?;
            self.context.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    /// Checks the value of a field of the state or of a setting; `what` is the word for it.
    fn fits(
        &self,
        what: &str,
        field: Option<&Field>,
        name: &str,
        value: &Json,
    ) -> Result<(), Failure> {
        let flaw = match field.map(|field| field.accepts(&self.chart.phases, value)) {
            Some(Ok(())) => return Ok(()),
            Some(Err(expected)) => format!("`{name}` is {expected}, not {value}"),
            None => format!("there is no {what} `{name}`"),
        };
        Err(Failure::Script(flaw))
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        if let Some(next) = timestamp::next(&self.disk.now) {
            self.disk.now = next;
        }
        self.clock
    }

    /// Decides, carries the decision out, and returns it with how its reviewer was called.
    fn happen(
        &mut self,
        event: &Event,
        review: Option<&ScriptedReview>,
    ) -> Result<(Decision, Option<Call>), Failure> {
        let mut line = DecisionLine::new(INSTANCE, event);
        if line.is_of_command() {
            self.failed_gates = 0;
        }
        let fault = |fault: Fault| Failure::Unexpected {
            what: format!("nothing can be decided: {fault}"),
            details: String::new(),
        };
        let (mut call, mut ended, mut cost) = (None, None, None);
        if let decision::Step::Invoke(invocation) = self.foresee(event).map_err(fault)? {
            let outcome = match (self.missing(&invocation), review) {
                (Some(name), _) => Outcome::Failed(format!("{name} does not exist")),
                (None, Some(ScriptedReview::Crash(why))) => {
                    self.failed_gates = 0;
                    Outcome::Failed(match why.as_str() {
                        "" => "it crashed".to_owned(),
                        why => why.to_owned(),
                    })
                }
                (None, Some(ScriptedReview::Gate(output))) => {
                    self.failed_gates += 1;
                    Outcome::Gate(FailedGate {
                        command: (invocation.gates.first())
                            .map_or_else(|| "make check".to_owned(), Clone::clone),
                        why: "exited with code 1".to_owned(),
                        output: output.clone(),
                        times: self.failed_gates,
                    })
                }
                (
                    None,
                    Some(ScriptedReview::Verdict { verdict, text, findings, cost: dollars }),
                ) => {
                    let at = self.tick();
                    let file = invocation.file.clone();
                    self.disk.files.insert(file, (text.clone(), at));
                    self.failed_gates = 0;
                    cost = *dollars;
                    Outcome::Ran {
                        verdict: verdict.clone(),
                        found: self.found(findings.as_deref())?,
                    }
                }
                (None, None) => Outcome::Failed("the scenario has no review here".to_owned()),
            };
            // Without its subject a review is not started, nor after a gate that fails.
            if self.missing(&invocation).is_none() && outcome.failed_gate().is_none() {
                let model = Some(invocation.by.clone());
                call = Some(Call { model, file: invocation.file.clone() });
            }
            let mut run = Ended::new(*invocation, outcome);
            run.effort.cost = cost;
            ended = Some(run);
        }
        let run = ended.as_ref().map(run);
        let step = decide(&self.chart, &self.world(), event, ended).map_err(fault)?;
        // A gate that fails costs nothing.
        self.disk.runs.extend(run.flatten());
        let decision::Step::Done(decision) = step else {
            return Err(Failure::Script("one event asks for two reviews".to_owned()));
        };
        let before = decision.apply(&mut self.context);
        self.started |= !decision.patch.is_empty();
        for effect in &decision.effects {
            self.carry_out(effect);
        }
        line.fill(&self.chart, &decision, &before);
        self.decisions.push(line);
        Ok((decision, call))
    }

    /// Returns what a review finds, by the severities of its findings.
    fn found(&self, severities: Option<&[String]>) -> Result<Found, Failure> {
        let (is_listed, severities) = (severities.is_some(), severities.unwrap_or_default());
        if let Some(odd) = severities.iter().find(|word| !SEVERITIES.contains(&word.as_str())) {
            let known = SEVERITIES.join(", ");
            return Err(Failure::Script(format!("a finding is {known}, not {odd}")));
        }
        let finding = |severity: &String| Finding {
            severity: severity.clone(),
            file: None,
            line: None,
            title: format!("Something {severity}"),
        };
        Ok(Found {
            findings: severities.iter().map(finding).collect(),
            is_listed,
            ..Found::default()
        })
    }

    /// Changes the files in memory the way the shell changes those on disk.
    fn carry_out(&mut self, effect: &Effect) {
        let at = self.tick();
        match effect {
            Effect::Write { path, text } | Effect::Replace { path, text } => {
                let (files, name) = self.place(path);
                files.insert(name, (text.clone(), at));
            }
            Effect::Ensure { path, line } => {
                let (files, name) = self.place(path);
                let file = files.entry(name).or_default();
                if !file.0.lines().any(|known| known == line) {
                    file.0.push_str(&format!("{line}\n"));
                    file.1 = at;
                }
            }
            Effect::Rename { from, to } => {
                let (files, name) = self.place(from);
                let file = files.remove(&name);
                let (files, name) = self.place(to);
                files.extend(file.map(|file| (name, file)));
            }
            // There is no other instance, and a review in memory takes no time.
            Effect::Remove { .. } | Effect::Cancel { .. } => {}
        }
    }

    /// Returns the table of files that contains a path from the project's root, and the name in that table.
    fn place(&mut self, path: &str) -> (&mut BTreeMap<String, (String, u64)>, String) {
        let dir = PossibleWorld::dir(&self.chart, INSTANCE);
        let name = Path::new(path).strip_prefix(dir).ok().and_then(Path::to_str);
        match name {
            Some(name) => (&mut self.disk.files, name.to_owned()),
            None => (&mut self.outside, path.to_owned()),
        }
    }
}

impl Stage for PlayedInstance {
    fn begin_turn(&mut self) {
        self.active = false;
    }

    fn arrange(&mut self, step: &ScenarioStep) -> Result<(), Failure> {
        self.set(&step.set)?;
        for (name, value) in &step.config {
            self.fits("setting", self.chart.config.get(name), name, value)?;
            self.disk.config.insert(name.clone(), value.clone());
        }
        if !self.started {
            let fields = self.chart.context.iter();
            let set = fields.filter_map(|(name, field)| {
                let value = step.config.get(field.setting()?)?;
                Some((name.clone(), value.clone()))
            });
            self.context.extend(set);
        }
        if let Some(driver) = step.driver {
            self.disk.driver = driver.word().map(str::to_owned);
        }
        self.disk.dirty = step.dirty.unwrap_or(self.disk.dirty);
        self.disk.stalled = step.stalled.unwrap_or(self.disk.stalled);
        let some = |word: &String| Some(word.clone()).filter(|word| !word.is_empty());
        if let Some(until) = &step.postponed {
            self.disk.postponed = some(until);
        }
        if let Some(budget) = &step.over {
            if !budget.is_empty() && !OVER.contains(&budget.as_str()) {
                return Err(Failure::Script(format!(
                    "`over` is {}, or an empty text, not {budget}",
                    OVER.join(", ")
                )));
            }
            self.disk.over = some(budget);
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Result<String, Failure> {
        let file = match name.strip_prefix('/') {
            Some(path) => self.outside.get(path),
            None => self.disk.files.get(name),
        };
        let absent = || Failure::Script(format!("there is no file {name}"));
        file.map(|(text, _)| text.clone()).ok_or_else(absent)
    }

    fn write(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        let file = (text.to_owned(), self.tick());
        match name.strip_prefix('/') {
            Some(path) => self.outside.insert(path.to_owned(), file),
            None => self.disk.files.insert(name.to_owned(), file),
        };
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<(), Failure> {
        let removed = match name.strip_prefix('/') {
            Some(path) => self.outside.remove(path),
            None => self.disk.files.remove(name),
        };
        let absent = || Failure::Script(format!("there is no file {name}"));
        removed.map(|_| ()).ok_or_else(absent)
    }

    fn run(&mut self, line: &str, step: &ScenarioStep) -> Result<(), Failure> {
        let flaw = |why: String| Failure::Script(format!("`{line}`: {why}"));
        self.decisions.clear();
        for mut event in (self.typist)(line, &step.stdin).map_err(flaw)? {
            let session = step.session.as_ref().unwrap_or(&self.session);
            event.session = Some(session.clone()).filter(|session| !session.is_empty());
            event.fields = Json::Object(step.says.clone());
            let (decision, _) = self.happen(&event, None)?;
            if let decision::Answer::Refuse(why) = decision.answer {
                return Err(Failure::Refused(format!("`{line}`: {why}")));
            }
            if event.session.is_some() && step.driver.is_none() {
                self.disk.driver = Some("this".to_owned());
            }
        }
        Ok(())
    }

    fn send(&mut self, name: &str, step: &ScenarioStep) -> Result<ScriptedAnswer, Failure> {
        let event = self.event(name, step);
        let (decision, call) = self.happen(&event, step.review.as_ref())?;
        self.active |= name == "Stop";
        let texts = decision.messages.iter().chain(&decision.says);
        let mut texts: Vec<String> = texts.cloned().collect();
        let reason = match decision.answer {
            decision::Answer::Block(reason) => Some(reason),
            decision::Answer::Action { action, why } => {
                texts.insert(0, format!("{action}: {why}"));
                None
            }
            _ => None,
        };
        Ok(ScriptedAnswer {
            answer: match reason {
                Some(_) => Expected::Block,
                None => Expected::Allow,
            },
            reason,
            message: Some(texts.join("\n")).filter(|text| !text.is_empty()),
            decision: self.decisions.pop(),
            call,
            transcript: String::new(),
        })
    }

    fn state(&self) -> State {
        self.started.then(|| self.context.clone())
    }

    fn decisions(&self) -> Vec<DecisionLine> {
        self.decisions.clone()
    }
}

/// Returns what the journal would say of a run; `None` if no reviewer was started.
fn run(ended: &Ended) -> Option<PastReview> {
    let (verdict, error) = ended.outcome.verdict_and_error();
    ended.outcome.failed_gate().is_none().then(|| PastReview {
        instance: INSTANCE.to_owned(),
        cycle: ended.invocation.cycle.clone(),
        n: ended.invocation.n,
        file: ended.invocation.file.clone(),
        cost: ended.effort.cost,
        not_started: ended.effort.not_started,
        verdict: verdict.map(str::to_owned),
        error: error.map(str::to_owned),
        found: ended.outcome.found(),
        ..PastReview::default()
    })
}
