//! A simulated agent: decides what to do next, for any chart.
//!
//! It knows no workflow. It enters the phase that comes next, writes the files that a review is about and the answers that a
//! review waits for, and marks its work as done. If a chart asks for more than that, it gives up and says so.

use std::collections::VecDeque;

use serde_json::Value as Json;

use super::instance::PlayedInstance;
use super::script::{Expected, ScenarioStep, ScriptedReview};
use super::stage::{ScriptedAnswer, Stage as _};
use crate::chart::field::name_part;
use crate::chart::model::PhaseType;
use crate::chart::{Cycle, RowShape, Table};
use crate::engine::context;
use crate::engine::decision::{self, Decision};
use crate::files::pattern::Pattern;
use crate::files::table::is_one_of;
use crate::hash::IndexMap;

/// The most steps of a simulation.
const STEPS: usize = 1_000;

/// How often in a row it may be blocked without knowing what to do; the host accepts that number of blocks.
const IDLE: usize = 8;

/// The most files that it writes before one stop.
const FILES: usize = 1_000;

/// The agent, and the reviewer's verdicts.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    /// The verdicts of the next reviews; after the last one, all have the best verdict.
    verdicts: VecDeque<String>,
    /// How many rows it writes into a table.
    tasks: usize,
    steps: usize,
    idle: usize,
    /// It has entered a phase, but not done its work yet.
    is_at_work: bool,
}

impl Agent {
    /// Returns an agent that has done nothing yet.
    pub(crate) fn new(verdicts: Vec<String>, tasks: usize) -> Self {
        Self { verdicts: verdicts.into(), tasks, steps: 0, idle: 0, is_at_work: false }
    }

    /// Takes into account a step that was played, which may be its own. `last` is the answer before it.
    pub(crate) fn has_seen(&mut self, step: &ScenarioStep, last: Option<&ScriptedAnswer>) {
        self.steps += 1;
        let enters = |line: &String| line.split_whitespace().nth(1) == Some("enter");
        self.is_at_work = step.event().is_none() && step.run.iter().any(enters);
        if step.review.is_some() {
            self.verdicts.pop_front();
        }
        let was_blocked = last.is_some_and(|last| last.answer == Expected::Block);
        let is_idle = step.event().is_some() && step.write.is_empty() && step.review.is_none();
        self.idle = match was_blocked && is_idle {
            true => self.idle + 1,
            false => 0,
        };
    }

    /// Returns the next step; the error says why there is none. `last` is the answer to the last stop.
    pub(crate) fn next(
        &self,
        instance: &PlayedInstance,
        last: Option<&ScriptedAnswer>,
    ) -> Result<ScenarioStep, String> {
        if self.steps >= STEPS {
            return Err(format!("it ends after {STEPS} steps"));
        }
        if self.is_at_work {
            return self.work(instance, None, last);
        }
        let Some(last) = last.filter(|_| instance.started) else {
            return match instance.started {
                true => self.work(instance, Some("continue"), last),
                false => self.enter(instance, &instance.chart.initial, Some("begin"), None),
            };
        };
        let (chart, context) = (&instance.chart, &instance.context);
        let next = context::text(context, chart.next.as_ref()).map(str::to_owned);
        let cycles = &instance.chart.cycles;
        if let Some(cycle) = cycles.values().find(|cycle| Some(&cycle.post) == next.as_ref()) {
            let answer = answer(instance, cycle);
            return self.enter(instance, &cycle.post, None, answer);
        }
        if last.answer == Expected::Block {
            return self.work(instance, None, Some(last));
        }
        let phase = context::text(context, Some(&chart.state));
        let phase = phase.and_then(|phase| chart.phases.get(phase));
        if phase.is_some_and(|entry| entry.phase.kind == Some(PhaseType::Final)) {
            return Err("the last phase is reached".to_owned());
        }
        match next {
            Some(cycle) if cycles.contains_key(&cycle) => {
                let has_changed =
                    last.decision.as_ref().is_some_and(|line| !line.changed.is_empty());
                match last.call.is_some() || has_changed {
                    true => self.work(instance, Some("continue"), Some(last)),
                    false => Err(format!("{cycle} waits for the user")),
                }
            }
            Some(phase) => self.enter(instance, &phase, Some("continue"), None),
            None => match self.asked(instance)? {
                Some(phase) => self.enter(instance, &phase, Some("continue"), None),
                None => Err("the chart does not say what comes next".to_owned()),
            },
        }
    }

    /// Returns the phase that the chart names if it is asked what to do now; the error is another answer.
    fn asked(&self, instance: &PlayedInstance) -> Result<Option<String>, String> {
        let event = instance.event("next", &ScenarioStep::default());
        let step = instance.foresee(&event).map_err(|fault| fault.to_string())?;
        match step {
            decision::Step::Done(Decision {
                answer: decision::Answer::Action { action, why },
                ..
            }) => match instance.chart.phases.contains_key(&action) {
                true => Ok(Some(action)),
                false => Err(format!("{action}: {why}")),
            },
            _ => Ok(None),
        }
    }

    /// Enters a phase; the next step does its work.
    fn enter(
        &self,
        instance: &PlayedInstance,
        phase: &str,
        user: Option<&str>,
        answer: Option<(String, String)>,
    ) -> Result<ScenarioStep, String> {
        let mut step = ScenarioStep {
            user: user.map(str::to_owned),
            agent: match &answer {
                Some(_) => "answers the review".to_owned(),
                None => String::new(),
            },
            write: answer.into_iter().collect(),
            run: vec![format!("{} enter {phase}", env!("CARGO_PKG_NAME"))],
            ..ScenarioStep::default()
        };
        let mut trial = instance.clone();
        let entered = play(&mut trial, &step);
        if entered.is_err() {
            // Perhaps the tables of the chart must exist first.
            step.write.extend(self.tables(instance));
            trial = instance.clone();
            play(&mut trial, &step)?;
        }
        Ok(step)
    }

    /// Works until the next stop: writes what its review is about.
    fn work(
        &self,
        instance: &PlayedInstance,
        user: Option<&str>,
        last: Option<&ScriptedAnswer>,
    ) -> Result<ScenarioStep, String> {
        let mut step = ScenarioStep {
            user: user.map(str::to_owned),
            event: Some("Stop".to_owned()),
            ..ScenarioStep::default()
        };
        let mut trial = instance.clone();
        if user.is_some() {
            trial.begin_turn();
        }
        let write = |trial: &mut PlayedInstance,
                     step: &mut ScenarioStep,
                     files: IndexMap<String, String>| {
            for (name, text) in files {
                // A file in memory can always be written.
                let _ = trial.write(&name, &text);
                step.write.insert(name, text);
            }
        };
        write(&mut trial, &mut step, finished(instance));
        for _ in 0..FILES {
            let event = trial.event("Stop", &step);
            let files = match trial.foresee(&event).map_err(|fault| fault.to_string())? {
                decision::Step::Invoke(invocation) => match trial.missing(&invocation) {
                    Some(name) => IndexMap::from_iter([(name.clone(), self.text(&trial, name))]),
                    None => {
                        let invoke = trial.chart.invoke.get(&invocation.name);
                        let best = invoke.and_then(|invoke| invoke.verdicts.first());
                        let verdict = self.verdicts.front().or(best).cloned();
                        let verdict = verdict.unwrap_or_else(|| "none".to_owned());
                        step.review = Some(ScriptedReview::of(&verdict, String::new()));
                        break;
                    }
                },
                decision::Step::Done(decision) if decision.failure().is_some() => {
                    self.tables(&trial)
                }
                decision::Step::Done(decision) => match decision.answer {
                    decision::Answer::Block(_) if last.is_some() => lone_file(&trial),
                    _ => break,
                },
            };
            if files.is_empty() {
                break;
            }
            write(&mut trial, &mut step, files);
        }
        if !step.write.is_empty() {
            step.agent = "works".to_owned();
        }
        if self.idle >= IDLE {
            return Err(format!("it was blocked {IDLE} times and does not know what to do"));
        }
        Ok(step)
    }

    /// Returns the tables that don't exist yet, each with its rows.
    fn tables(&self, instance: &PlayedInstance) -> IndexMap<String, String> {
        let tables = instance.chart.tables.values().filter_map(|table| {
            let RowShape::Columns(columns) = &table.rows else {
                return None;
            };
            let name = file(instance, &table.file)?;
            let row = |cell: &dyn Fn(&str) -> String| {
                let cells: Vec<String> = columns.keys().map(|name| cell(name)).collect();
                format!("| {} |\n", cells.join(" | "))
            };
            let heading = |name: &str| columns[name].first().cloned().unwrap_or_default();
            let mut text = row(&heading);
            text.push_str(&row(&|_| "---".to_owned()));
            for number in 1..=self.tasks {
                text.push_str(&row(&|name| match name {
                    "id" => number.to_string(),
                    "status" => "open".to_owned(),
                    _ => "-".to_owned(),
                }));
            }
            (!instance.disk.files.contains_key(&name)).then_some((name, text))
        });
        tables.collect()
    }

    /// Returns a text for a file of that name: the lines that the chart looks for in it, all done.
    fn text(&self, instance: &PlayedInstance, name: &str) -> String {
        let chart = &instance.chart;
        if let Some(text) = self.tables(instance).swap_remove(name) {
            return text;
        }
        let of_tables = chart.tables.values().filter_map(|table| match &table.rows {
            RowShape::Line(line) if file(instance, &table.file).as_deref() == Some(name) => {
                Some((line, table.finished.first()))
            }
            _ => None,
        });
        let sets = chart.files.values().filter(|set| set.matches(name).is_some());
        let of_sets = sets.filter_map(|set| Some((set.line.as_ref()?, None)));
        let lines = of_tables.chain(of_sets).filter_map(|(line, done)| {
            let fill = |hole: &str| match (hole, done) {
                ("status", Some(done)) => Ok::<_, ()>(done.clone()),
                _ => Ok(hole.to_owned()),
            };
            line.render(fill).ok()
        });
        let lines: Vec<String> = lines.collect();
        match lines.is_empty() {
            true => "Simulated.\n".to_owned(),
            false => lines.join("\n") + "\n",
        }
    }
}

/// Plays the commands of a step.
fn play(trial: &mut PlayedInstance, step: &ScenarioStep) -> Result<(), String> {
    for (name, text) in &step.write {
        trial.write(name, text).map_err(|failure| failure.to_string())?;
    }
    for line in &step.run {
        let ran = trial.run(line, step);
        ran.map_err(|failure| format!("the agent cannot continue: {failure}"))?;
    }
    Ok(())
}

fn file(instance: &PlayedInstance, pattern: &Pattern) -> Option<String> {
    let part = |hole: &str| instance.context.get(hole).and_then(name_part).ok_or(());
    pattern.render(part).ok()
}

/// Returns the answer to the last review of a cycle: its name and its text.
fn answer(instance: &PlayedInstance, cycle: &Cycle) -> Option<(String, String)> {
    let n = instance.context.get(&cycle.count).and_then(Json::as_i64)?;
    let part = |hole: &str| instance.context.get(hole).and_then(name_part).ok_or(());
    let name = cycle.file_name(&cycle.answer, &n.to_string(), part);
    Some((name.ok()?, "Simulated.\n".to_owned()))
}

/// Returns the tables in which the rows that the state names are finished now.
fn finished(instance: &PlayedInstance) -> IndexMap<String, String> {
    let held: Vec<&str> = instance.context.values().filter_map(Json::as_str).collect();
    let tables = instance.chart.tables.values().filter_map(|table| {
        let name = file(instance, &table.file)?;
        let (text, _) = instance.disk.files.get(&name)?;
        let finished = finish(table, text, &held)?;
        (finished != *text).then_some((name, finished))
    });
    tables.collect()
}

/// Returns the text of a table with the rows of these ids finished; `None` if that is impossible.
fn finish(table: &Table, text: &str, ids: &[&str]) -> Option<String> {
    let (RowShape::Columns(columns), Some(done)) = (&table.rows, table.finished.first()) else {
        return None;
    };
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim().trim_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let header = cells(text.lines().find(|line| line.trim().starts_with('|'))?);
    let place = |field: &str| {
        let mut headings = columns.get(field)?.iter();
        headings
            .find_map(|heading| header.iter().position(|cell| cell.eq_ignore_ascii_case(heading)))
    };
    let (id, status) = (place("id")?, place("status")?);
    let lines = text.lines().map(|line| {
        let mut row = cells(line);
        let is_meant = line.trim().starts_with('|')
            && row.get(id).is_some_and(|id| ids.contains(&id.as_str()))
            && row.get(status).is_some_and(|status| !is_one_of(status, &table.finished));
        if !is_meant {
            return format!("{line}\n");
        }
        row[status].clone_from(done);
        format!("| {} |\n", row.join(" | "))
    });
    Some(lines.collect())
}

/// Returns the first file that the chart names without holes and that does not exist yet.
fn lone_file(instance: &PlayedInstance) -> IndexMap<String, String> {
    let patterns = instance.chart.files.values().flat_map(|set| &set.with);
    let names = patterns.filter(|pattern| !pattern.has_wildcard());
    let mut names = names.filter_map(|pattern| pattern.render(|_| Err(())).ok());
    let name = names.find(|name| !instance.disk.files.contains_key(name));
    name.map(|name| (name, "Simulated.\n".to_owned())).into_iter().collect()
}
