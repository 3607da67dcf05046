//! `decide`: one event, one world, one decision. Pure.
//!
//! The rules of the event are tried in order. A rule whose guard is true makes its assignments, then answers or lets
//! the next rule be tried. A rule's guard, assignments and texts see the context as changed by the earlier rules of
//! the same decision. A rule that invokes a process ends the first call; the second call, in a world that is read
//! again, skips that rule and sees the outcome as `review`.

use std::sync::Arc;

use minijinja::value::Value;
use serde_json::Value as Json;

use super::actions;
use super::decision::{
    Answer, Decision, Ended, FailedGate, Fired, Invocation, Outcome, Step, Tried,
};
use super::event::{Event, Trigger};
use super::fault::Fault;
use super::names::Names;
use super::world::World;
use crate::chart::model::{Assign, Rule};
use crate::chart::{Chart, Cycle, Invoke, known};
use crate::diagnostic::suggest::did_you_mean;
use crate::expr::source::Expr;
use crate::hash::IndexMap;
use crate::host::vendors::{self, Call};

/// Returns what `chart` decides about `event` in `world`.
///
/// `ended` is the run that an earlier call asked for. Its outcome counts only if this world still asks for exactly
/// that run. Otherwise nothing is written, the event is allowed, and the decision says so.
pub fn decide(
    chart: &Arc<Chart>,
    world: &Arc<dyn World>,
    event: &Event,
    ended: Option<Ended>,
) -> Result<Step, Fault> {
    let mut deciding = Deciding {
        names: Names::new(chart, world, event),
        decision: Decision::default(),
        tried: Vec::new(),
        ended,
    };
    let mut step = deciding.decide(&event.trigger)?;
    if let Step::Done(decision) = &mut step {
        decision.tried = deciding.tried;
    }
    Ok(step)
}

/// Returns the rules for an event, and the name of their list.
pub fn rules_of<'a>(chart: &'a Chart, trigger: &'a Trigger) -> (&'a str, &'a [Rule]) {
    let list = match trigger {
        Trigger::Hook(name) => name.as_str(),
        Trigger::Enter { .. } => "enter",
        Trigger::Command(_) => "run",
    };
    (list, chart.on.get(list).map_or(&[], |rules| rules.as_slice()))
}

/// How a decision continues after one of its parts.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is taken apart at once"
)]
enum Flow {
    /// The next rule is tried.
    On,
    /// A rule has answered: no other rule is tried.
    Answered,
    /// The decision ends with this step, whatever the earlier parts have decided.
    Leave(Step),
}

/// A decision that is being made.
struct Deciding {
    names: Arc<Names>,
    decision: Decision,
    /// The rules tried so far; they belong to the decision however it ends.
    tried: Vec<Tried>,
    ended: Option<Ended>,
}

impl Deciding {
    fn decide(&mut self, trigger: &Trigger) -> Result<Step, Fault> {
        if let Flow::Leave(step) = self.head(trigger)? {
            return Ok(step);
        }
        let chart = Arc::clone(&self.names.chart);
        let (list, rules) = rules_of(&chart, trigger);
        for (index, rule) in rules.iter().enumerate() {
            match self.rule(list, index, rule)? {
                Flow::On => {}
                Flow::Answered => break,
                Flow::Leave(step) => return Ok(step),
            }
        }
        // A run that no rule has asked for again is discarded.
        let decision = match &self.ended {
            Some(ended) => self.set_aside(ended)?,
            None => std::mem::take(&mut self.decision),
        };
        Ok(Step::Done(decision))
    }

    /// Does everything that comes before the rules: enters the phase, or runs the command.
    fn head(&mut self, trigger: &Trigger) -> Result<Flow, Fault> {
        match trigger {
            Trigger::Hook(_) => Ok(Flow::On),
            Trigger::Enter { phase, force } => self.enter(phase, *force),
            Trigger::Command(name) => self.command(name),
        }
    }

    fn rule(&mut self, list: &str, index: usize, rule: &Rule) -> Result<Flow, Fault> {
        let place = format!("on.{list}[{index}]");
        let root = self.names.root();
        if !self.holds(&place, rule.guard.as_ref(), &root)? {
            return Ok(Flow::On);
        }
        if let Some(name) = &rule.invoke {
            if self.names.review().is_none()
                && let Some(step) = self.invoke(&place, &self.names.invocation(&place, name)?)?
            {
                return Ok(Flow::Leave(step));
            }
            return Ok(Flow::On);
        }
        self.fire(place, rule, &root)?;
        Ok(if self.decision.answer == Answer::Pass { Flow::On } else { Flow::Answered })
    }

    fn enter(&mut self, name: &str, force: bool) -> Result<Flow, Fault> {
        let chart = Arc::clone(&self.names.chart);
        let Some(entry) = chart.phases.get(name) else {
            let names = || chart.phases.keys().map(String::as_str);
            let hint = did_you_mean(name, names()).unwrap_or_else(|| {
                format!("the phases are {}", names().collect::<Vec<_>>().join(", "))
            });
            let name = name.escape_debug();
            return Ok(refuse(format!("Unknown phase `{name}`; {hint}")));
        };
        let it = Value::from_pairs([
            ("id", Value::from(name)),
            ("cycle", Value::from(entry.cycle.clone())),
        ]);
        let root = self.names.root_with(it);
        let place = format!("phases.{name}");
        if let Some(guard) = entry.phase.guard.as_ref().filter(|_| !force)
            && !self.holds(&place, Some(guard), &root)?
        {
            return Ok(refuse(match &entry.phase.otherwise {
                Some(text) => self.names.text(format_args!("{place}.else"), text, &root)?,
                None => format!("`{name}` cannot be entered now: it needs {}", guard.0),
            }));
        }
        let mut fields = self.values(&place, &entry.phase.entry, &root)?;
        fields.insert(chart.state.clone(), Json::from(name));
        if let Some(next) = &entry.phase.next {
            self.schedule(&place, next, &root, &mut fields)?;
        }
        self.commit(place, None, fields);
        Ok(Flow::On)
    }

    fn command(&mut self, name: &str) -> Result<Flow, Fault> {
        let chart = Arc::clone(&self.names.chart);
        let Some(command) = chart.commands.get(name) else {
            let hint = did_you_mean(name, chart.commands.keys().map(String::as_str));
            let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
            let name = name.escape_debug();
            return Ok(refuse(format!("Unknown command `{name}`{hint}")));
        };
        let place = format!("commands.{name}");
        let root = self.names.root();
        if !self.holds(&place, command.guard.as_ref(), &root)? {
            return Ok(refuse(match &command.otherwise {
                Some(text) => self.names.text(format_args!("{place}.else"), text, &root)?,
                None => format!("`{name}` does not apply now"),
            }));
        }
        self.fire(place, command, &root)?;
        Ok(Flow::On)
    }

    fn holds(&mut self, place: &str, guard: Option<&Expr>, root: &Value) -> Result<bool, Fault> {
        let names = &self.names;
        let (holds, saw) = names.watch(|| names.holds(format_args!("{place}.guard"), guard, root));
        let holds = holds?;
        self.tried.push(Tried { place: place.to_owned(), holds, saw });
        Ok(holds)
    }

    /// Fires a rule without an invocation. Its texts are rendered before its own assignments take effect, and with
    /// the paths of its actions as `touched`.
    fn fire(&mut self, place: String, rule: &Rule, root: &Value) -> Result<(), Fault> {
        let effects = actions::effects(&self.names, &place, &rule.actions)?;
        let text = |key: &str, text: &Option<_>| {
            let text = text.as_ref();
            text.map(|text| self.names.text(format_args!("{place}.{key}"), text, root)).transpose()
        };
        let message = text("message", &rule.message)?;
        let say = text("say", &rule.say)?.filter(|say| !say.is_empty());
        let block = text("block", &rule.block)?;
        let action = text("action", &rule.action)?;
        let mut fields = self.values(&format!("{place}.assign"), &rule.assign, root)?;
        if let Some(target) = &rule.target {
            fields.insert(self.names.chart.state.clone(), Json::from(target.as_str()));
        }
        let mut advance = None;
        if rule.advance {
            let names = Arc::clone(&self.names);
            let cycle = names.running().ok_or_else(|| Fault::NoCycle { place: place.clone() })?;
            let index = names.open_target(cycle)?;
            self.schedule(&place, &cycle.advance[index].target, root, &mut fields)?;
            advance = Some((cycle.id.clone(), index));
        }
        self.commit(place, advance, fields);
        self.decision.effects.extend(effects);
        // An empty text says nothing.
        self.decision.messages.extend(message.filter(|message| !message.is_empty()));
        match (block, action) {
            (Some(reason), _) => {
                self.decision.answer = Answer::Block(reason);
                self.decision.says.extend(say);
            }
            (None, Some(action)) => {
                self.decision.answer = Answer::Action { action, why: say.unwrap_or_default() };
            }
            (None, None) => {
                self.decision.says.extend(say);
                if rule.allow {
                    self.decision.answer = Answer::Allow;
                }
            }
        }
        Ok(())
    }

    /// Makes `target` come next. A cycle starts over.
    fn schedule(
        &self,
        place: &str,
        target: &str,
        root: &Value,
        fields: &mut IndexMap<String, Json>,
    ) -> Result<(), Fault> {
        let chart = &self.names.chart;
        if let Some(next) = &chart.next {
            fields.insert(next.clone(), Json::from(target));
        }
        if let Some(cycle) = chart.cycles.get(target) {
            fields.extend(self.values(place, &cycle.entry, root)?);
        }
        Ok(())
    }

    /// Returns the values of assignments, checking each against its field.
    fn values(
        &self,
        place: &str,
        assign: &Assign,
        root: &Value,
    ) -> Result<IndexMap<String, Json>, Fault> {
        assign
            .iter()
            .map(|(name, literal)| {
                let value = self.names.assigned(place, name, literal, root)?;
                Ok((name.clone(), value))
            })
            .collect()
    }

    fn commit(
        &mut self,
        place: String,
        advance: Option<(String, usize)>,
        fields: IndexMap<String, Json>,
    ) {
        self.names.assign(&fields);
        self.decision.patch.extend(fields);
        self.decision.fired.push(Fired { place, advance });
    }

    /// Returns the step for a rule with an invocation; `None` if its outcome is known and the next rule is tried.
    fn invoke(&mut self, place: &str, who: &str) -> Result<Option<Step>, Fault> {
        let names = Arc::clone(&self.names);
        let cycle = names.running().ok_or_else(|| Fault::NoCycle { place: place.to_owned() })?;
        let mut request = self.request(cycle, who);
        // Only a run that has yet to be started needs its texts.
        if self.ended.is_none() {
            request = request.and_then(|request| {
                let argv = self.argv(who, &request.file)?;
                Ok(Invocation { argv, gates: self.gates(cycle)?, ..request })
            });
        }
        let ended = match (request, self.ended.take()) {
            // Without a subject, there is nothing to run: it counts as a run that failed.
            (Err(fault), None) => {
                let (by, cycle, n) = (who.to_owned(), cycle.id.clone(), names.count(cycle) + 1);
                let unnamed = Invocation { by, cycle, n, ..Invocation::default() };
                Ended::new(unnamed, Outcome::Failed(fault.to_string()))
            }
            (Ok(request), None) => return Ok(Some(Step::Invoke(Box::new(request)))),
            (Ok(request), Some(ended)) if request.is_same_request(&ended.invocation) => ended,
            (_, Some(ended)) => {
                return self.set_aside(&ended).map(|decision| Some(Step::Done(decision)));
            }
        };
        self.decision.fired.push(Fired { place: place.to_owned(), advance: None });
        self.decision.ended = Some(ended.clone());
        names.set_review(Arc::new(ended));
        Ok(None)
    }

    /// Returns the run that the rule asks for, without its texts.
    fn request(&self, cycle: &Cycle, who: &str) -> Result<Invocation, Fault> {
        let (name, ..) = self.reviewer(who)?;
        let timeout = self.names.setting(known::REVIEW_TIMEOUT)?.as_i64();
        let n = self.names.count(cycle) + 1;
        let subject = self.names.subject(cycle)?;
        let file = self.names.file_name(cycle, &cycle.review, n)?;
        Ok(Invocation {
            name: name.to_owned(),
            by: who.to_owned(),
            cycle: cycle.id.clone(),
            n,
            file,
            subject,
            timeout: timeout
                .and_then(|it| u64::try_from(it).ok())
                .unwrap_or(known::DEFAULT_TIMEOUT),
            ..Invocation::default()
        })
    }

    /// Returns what must succeed before the run is started. What has succeeded before the last review is not run again on
    /// the same files.
    fn gates(&self, cycle: &Cycle) -> Result<Vec<String>, Fault> {
        let names = &self.names;
        let mut commands = names.gates(cycle)?;
        let is_next = || names.field(&names.chart.state).as_str() == Some(&cycle.id);
        if !commands.is_empty() && is_next() && names.is_unchanged(cycle)? {
            commands.clear();
        }
        Ok(commands)
    }

    /// Returns the decision about a run that this world no longer asks for.
    fn set_aside(&self, ended: &Ended) -> Result<Decision, Fault> {
        let Invocation { cycle, n, file, .. } = &ended.invocation;
        let what = match &ended.outcome {
            // It may have failed before its reviewer was started.
            Outcome::Failed(why) => {
                format!("The {cycle} {n} failed: {why}. The state has changed since it was due.")
            }
            Outcome::Gate(FailedGate { command, .. }) => format!(
                "The gate `{command}` failed. The state has changed since the {cycle} {n} was due."
            ),
            Outcome::Ran { .. } => format!(
                "The {cycle} {n} does not count: the state changed while it ran. Its review is in {}.",
                self.names.path(file)?
            ),
        };
        let program = self.names.chart.program();
        // Nobody else shows what it has found.
        let has_findings = !ended.outcome.found().findings.is_empty();
        let result = ended.result().filter(|_| has_findings);
        let result = result.map(|result| format!(" {result}")).unwrap_or_default();
        let message = format!("{what} `{program} status` says what comes next.{result}");
        Ok(Decision {
            messages: vec![message],
            answer: Answer::Allow,
            ended: Some(Ended { superseded: true, ..ended.clone() }),
            ..Decision::default()
        })
    }

    /// Returns what the reviewer is called with, which writes this file.
    fn argv(&self, who: &str, file: &str) -> Result<Vec<String>, Fault> {
        let names = &self.names;
        let (name, reviewer, model) = self.reviewer(who)?;
        let place = |key: &str| format!("reviewers.{name}.{key}");
        let root = names.root_with(Value::from_pairs([("id", name), ("model", model)]));
        let mut words = Vec::new();
        for (index, text) in reviewer.argv.iter().enumerate() {
            words.push(names.strict_text(place(&format!("argv[{index}]")), text, &root)?);
        }
        let prompt = reviewer.prompt.as_ref();
        let prompt =
            prompt.map(|text| names.strict_text(place("prompt"), text, &root)).transpose()?;
        let Some(vendor) = reviewer.vendor.filter(|_| words.is_empty()) else {
            words.extend(prompt);
            return Ok(words);
        };
        let commands = match &reviewer.commands {
            Some(list) => names.items(place("commands"), &list.0, &root)?,
            None => Vec::new(),
        };
        let cost = names.given_or_setting("max_cost", known::MAX_COST_REVIEW)?;
        let rights = names.given_or_setting("permissions", known::PERMISSIONS)?;
        Ok(vendor.argv(&Call {
            model,
            is_restricted: rights.as_str().is_none_or(|rights| rights == "restricted"),
            is_sandboxed: names.is_sandboxed(),
            file: names.path(file)?,
            commands: commands.iter().map(ToString::to_string).collect(),
            cost: (!cost.is_none()).then(|| cost.to_string()),
            prompt: prompt.unwrap_or_default(),
            schema: vendors::schema(reviewer.text),
        }))
    }

    fn reviewer<'w>(&self, who: &'w str) -> Result<(&str, &Invoke, &'w str), Fault> {
        let reviewer = self.names.chart.reviewer(who);
        reviewer.ok_or_else(|| Fault::World(format!("there is no reviewer `{who}`")))
    }
}

fn refuse(why: String) -> Flow {
    Flow::Leave(Step::Done(Decision { answer: Answer::Refuse(why), ..Decision::default() }))
}
