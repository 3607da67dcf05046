//! A walk of the model checker as a scenario.
//!
//! The checker chooses files, settings and options again at every event. Here each event becomes a step that changes what
//! is there into what was chosen. A step counts only if playing it leads to what the checker says.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::coverage::Coverage;
use super::failure::Failure;
use super::instance::{PlayedInstance, Typist};
use super::player::Player;
use super::save;
use super::script::{self, Driver, ScenarioStep, Script, ScriptedReview, Sibling};
use super::stage::Stage as _;
use crate::chart::Chart;
use crate::chart::choice::words_of;
use crate::chart::field::default_of;
use crate::chart::model::FieldType;
use crate::diagnostic::quote::quoted;
use crate::engine::context::Context;
use crate::engine::decision::{self, Outcome};
use crate::engine::event::{Event, Trigger};
use crate::engine::possible_world;
use crate::explore::report::{Taken, Walk};
use crate::store::journal::DecisionLine;

/// The most files that are written in one step.
const FILES: usize = 100;

/// How much of what the walk says a step says too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Only what is there, no fields of the event.
    Little,
    /// The fields of the event that are not empty, too.
    Some,
    /// What is not there, too.
    Exact,
}

/// What the walks to one part of a chart have in common.
pub(crate) struct Author<'c> {
    pub(crate) chart: &'c Arc<Chart>,
    pub(crate) typist: Arc<Typist>,
}

impl Author<'_> {
    /// Returns a scenario that uses the part of the chart at `place`, and passes; `None` if that is impossible.
    pub(crate) fn scenario(&self, place: &str, walk: &Walk) -> Option<String> {
        let mut sessions = walk.steps.iter();
        let session = sessions.find_map(|taken| taken.event.session.as_deref());
        let default = session.map_or_else(script::some_session, str::to_owned);
        let mut instance = PlayedInstance::new(self.chart, Arc::clone(&self.typist), &default);
        let mut steps = Vec::new();
        let mut coverage = Coverage::default();
        for (index, taken) in walk.steps.iter().enumerate() {
            let is_last = index + 1 == walk.steps.len();
            // What nothing looks at may stay as it is; if it makes a difference, it changes.
            let played = [Care::Little, Care::Some, Care::Exact].iter().find_map(|care| {
                let step = self.step(&instance, walk, taken, &default, *care)?;
                self.play(&instance, taken, &step, is_last)
            });
            let (after, played, decided) = played?;
            instance = after;
            steps.extend(played);
            decided.iter().for_each(|decided| coverage.add(decided));
        }
        let about = match self.chart.about(place) {
            Some(about) => format!("{place}: {about}"),
            None => place.to_owned(),
        };
        let text = save::write(&about, session, None, &steps);
        (coverage.has(place) && self.passes(&text).is_ok()).then_some(text)
    }

    fn passes(&self, text: &str) -> Result<(), Failure> {
        let script = Script::parse(text)?;
        let instance = PlayedInstance::of(self.chart, Arc::clone(&self.typist), &script)?;
        Player::new(self.chart, instance).play(&script, |_| {})
    }

    /// Plays a step, and returns the instance after it, the steps with their results as expectations, and what was
    /// decided; `None` if something else happens than in the walk.
    fn play(
        &self,
        before: &PlayedInstance,
        taken: &Taken,
        step: &ScenarioStep,
        is_last: bool,
    ) -> Option<(PlayedInstance, Vec<ScenarioStep>, Vec<DecisionLine>)> {
        let mut player = Player::new(self.chart, before.clone());
        let mut steps = Vec::new();
        let mut all = Vec::new();
        // A gate that has failed several times in a row fails that often.
        let times = match &taken.outcome {
            Some(Outcome::Gate(gate)) => gate.times,
            _ => 1,
        };
        for time in 1..=times {
            let step = match time {
                1 => step.clone(),
                _ => ScenarioStep {
                    event: step.event.clone(),
                    review: step.review.clone(),
                    says: step.says.clone(),
                    ..ScenarioStep::default()
                },
            };
            let state = player.stage.state();
            player.step(1, &step).ok()?;
            let after = player.stage.state();
            steps.push(save::expecting(&step, &player.decided, &after, &state));
            all.append(&mut player.decided);
        }
        let is_meant = |decided: &DecisionLine| {
            let fired = decided.fired().map(|rule| &rule.rule);
            fired.eq(&taken.fired)
        };
        // A command that raises others is followed by them, which the walk does not know. In its middle, they change nothing.
        let is_same = is_last || player.stage.context == taken.after;
        (is_same && all.iter().any(is_meant)).then_some((player.stage, steps, all))
    }

    /// Returns what the user and the agent do so that things are as in the walk.
    fn step(
        &self,
        instance: &PlayedInstance,
        walk: &Walk,
        taken: &Taken,
        default: &str,
        care: Care,
    ) -> Option<ScenarioStep> {
        let mut step = ScenarioStep::default();
        let event = &taken.event;
        self.files(&mut step, instance, taken, care);
        let disk = &taken.disk;
        let is_new = |(name, value): &(&String, &Json)| {
            let default = || Some(default_of(self.chart, self.chart.config.get(*name)?));
            let held = instance.disk.config.get(*name).cloned();
            held.or_else(default).as_ref() != Some(*value)
        };
        let config = disk.config.iter().filter(is_new);
        step.config = config.map(|(name, value)| (name.clone(), value.clone())).collect();
        let context = match instance.started {
            true => &instance.context,
            // What an instance begins with are settings.
            false => {
                let fields = self.chart.context.iter();
                let set = fields.filter_map(|(name, field)| {
                    let value = walk.begins.get(name)?;
                    let is_new = instance.context.get(name) != Some(value);
                    Some((field.setting()?.to_owned(), value.clone())).filter(|_| is_new)
                });
                step.config.extend(set);
                &walk.begins
            }
        };
        let fields = taken.before.iter();
        let set = fields.filter(|(name, value)| context.get(*name) != Some(value));
        step.set = set.map(|(name, value)| (name.clone(), value.clone())).collect();
        let nulls = step.set.values().chain(step.config.values());
        if nulls.into_iter().any(Json::is_null) {
            return None;
        }
        self.world(&mut step, instance, taken, care);
        step.session = match event.session.as_deref() {
            Some(session) if session == default => None,
            None if care != Care::Exact => None,
            session => Some(session.unwrap_or_default().to_owned()),
        };
        self.said(&mut step, instance, taken, care)?;
        step.review = taken.outcome.as_ref().map(review_of);
        if step.review.is_some() {
            subject(&mut step, instance, event);
        }
        Some(step)
    }

    /// Adds what the host or the user says: an event, or a command.
    fn said(
        &self,
        step: &mut ScenarioStep,
        instance: &PlayedInstance,
        taken: &Taken,
        care: Care,
    ) -> Option<()> {
        let event = &taken.event;
        if let Some(fields) = event.fields.as_object() {
            step.says.clone_from(fields);
        }
        step.says.remove("session_id");
        // What is not given has such a value.
        let absent = [json!(false), json!(""), json!([])];
        step.says.retain(|_, value| match care {
            Care::Little => false,
            Care::Some => !absent.contains(value),
            Care::Exact => true,
        });
        match &event.trigger {
            Trigger::Hook(name) => {
                step.event = Some(name.clone());
                let active = event.fields.get("stop_hook_active");
                step.says.remove("stop_hook_active");
                match active.and_then(Json::as_bool) {
                    Some(true) if !instance.active => {
                        step.says.insert("stop_hook_active".to_owned(), json!(true));
                    }
                    Some(false) if instance.active => step.user = Some("continue".to_owned()),
                    _ => {}
                }
            }
            Trigger::Enter { phase, .. } => {
                step.answer = refusal(taken);
                step.run = vec![self.line(step, &format!("enter {phase}"), None, taken)?];
            }
            Trigger::Command(name) => {
                step.answer = refusal(taken);
                step.run = vec![self.line(step, &words_of(name), Some(name), taken)?];
            }
        }
        Some(())
    }

    /// Adds the changes to files, oldest first.
    fn files(&self, step: &mut ScenarioStep, instance: &PlayedInstance, taken: &Taken, care: Care) {
        let wanted = &taken.disk.files;
        let there = &instance.disk.files;
        let mut new: Vec<_> = wanted
            .iter()
            .filter(|(name, (text, _))| there.get(*name).is_none_or(|(held, _)| held != text))
            .collect();
        new.sort_by_key(|(_, (_, written))| *written);
        let new = new.into_iter();
        step.write = new.map(|(name, (text, _))| (name.clone(), text.clone())).collect();
        if care == Care::Exact {
            let old = there.keys().filter(|name| !wanted.contains_key(*name));
            step.remove = old.cloned().collect();
        }
    }

    /// Adds what else is different in the world.
    fn world(&self, step: &mut ScenarioStep, instance: &PlayedInstance, taken: &Taken, care: Care) {
        let (there, wanted) = (&instance.disk, &taken.disk);
        if there.driver != wanted.driver && (care == Care::Exact || wanted.driver.is_some()) {
            step.driver = Some(match wanted.driver.as_deref() {
                Some("this") => Driver::This,
                Some(_) => Driver::Other,
                None => Driver::Nobody,
            });
        }
        let differs = |there: &Option<String>, wanted: &Option<String>| {
            let is_new = there != wanted && (care == Care::Exact || wanted.is_some());
            is_new.then(|| wanted.clone().unwrap_or_default())
        };
        step.postponed = differs(&there.postponed, &wanted.postponed);
        step.over = differs(&there.over, &wanted.over);
        step.stalled = (there.stalled != wanted.stalled).then_some(wanted.stalled);
        step.dirty = (there.dirty != wanted.dirty).then_some(wanted.dirty);
        if there.siblings != wanted.siblings && (care == Care::Exact || !wanted.siblings.is_empty())
        {
            step.siblings = Some(wanted.siblings.iter().map(sibling).collect());
        }
    }

    /// Returns the command line that begins with `words`, which run a command of the chart or enter a phase; text for stdin goes
    /// into the step.
    fn line(
        &self,
        step: &mut ScenarioStep,
        words: &str,
        command: Option<&str>,
        taken: &Taken,
    ) -> Option<String> {
        let mut line = format!("{} {words}", env!("CARGO_PKG_NAME"));
        // The commands that it raises may read it, and the walk does not know them.
        let command = command.and_then(|name| self.chart.commands.get(name));
        if command.is_some_and(|command| !command.raise.is_empty()) {
            step.stdin = "1".to_owned();
        }
        for (name, value) in &taken.event.args {
            let arg = self.chart.args.get(name)?;
            let word = match value {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            let option = format!("--{}", name.replace('_', "-"));
            match arg.of.kind {
                _ if arg.is_stdin() => step.stdin = word,
                FieldType::Boolean if *value == json!(true) => line.push_str(&format!(" {option}")),
                FieldType::Boolean => {}
                _ if arg.is_positional() && command.is_some() => {
                    line.push_str(&format!(" {}", quoted(&word)));
                }
                _ => line.push_str(&format!(" {option}={}", quoted(&word))),
            }
        }
        // A guard that refuses may not have looked at what the command demands.
        if (self.typist)(&line, &step.stdin).is_err() {
            line.push_str(" 1");
        }
        Some(line)
    }
}

/// Returns the answer to a phase or command that a guard has refused.
fn refusal(taken: &Taken) -> Option<String> {
    taken.fired.is_empty().then(|| "refuse".to_owned())
}

/// Adds the files that a review reads and that do not exist: without them it is not started.
fn subject(step: &mut ScenarioStep, instance: &PlayedInstance, event: &Event) {
    let mut trial = instance.clone();
    let mut written = trial.arrange(step);
    for name in &step.remove {
        written = written.and_then(|()| trial.remove(name));
    }
    for (name, text) in &step.write {
        written = written.and_then(|()| trial.write(name, text));
    }
    while written.is_ok() && step.write.len() < FILES {
        let Ok(decision::Step::Invoke(invocation)) = trial.foresee(event) else {
            return;
        };
        let Some(name) = trial.missing(&invocation) else {
            return;
        };
        written = trial.write(name, "");
        step.write.insert(name.clone(), String::new());
    }
}

fn sibling(other: &possible_world::Sibling) -> Sibling {
    let fields = other.context.iter().flatten();
    let (nulls, state): (Vec<_>, Vec<_>) = fields.partition(|(_, value)| value.is_null());
    let state: Context =
        state.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let files = other.files.iter();
    Sibling {
        name: other.name.clone(),
        state: other.context.as_ref().map(|_| state),
        null: nulls.into_iter().map(|(name, _)| name.clone()).collect(),
        files: files.map(|(name, text)| (name.clone(), text.clone())).collect(),
        idle_hours: other.idle_hours,
    }
}

/// Returns the review that ends like this.
fn review_of(outcome: &Outcome) -> ScriptedReview {
    match outcome {
        Outcome::Ran { verdict, found } => ScriptedReview::Verdict {
            verdict: verdict.clone(),
            text: String::new(),
            findings: (found.findings.iter()).map(|finding| finding.severity.clone()).collect(),
            cost: None,
            ran: !found.ran.is_empty(),
        },
        Outcome::Failed(_) => ScriptedReview::Crash(String::new()),
        Outcome::Gate(_) => ScriptedReview::Gate(String::new()),
    }
}
