//! Makes recorded decisions again, with the chart that counted then or with another one, and says where they differ.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::statement::Predicate;
use super::{DecisionEntry, Entry, ReviewEntry};
use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::engine::context::{Context, running_cycle};
use crate::engine::decision::{Ended, Step};
use crate::engine::event::Event;
use crate::engine::inspect::Inspector;
use crate::engine::replayable::{Known, Replayed, WorldAnswer as Given, decide_again, is_clean};
use crate::engine::world::Source;
use crate::expr::Expressions;
use crate::project::seen;

/// A chart that can decide.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    chart: Arc<Chart>,
    expressions: Arc<Expressions>,
}

impl Ready {
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        let expressions = Arc::new(Expressions::new(chart.templates.clone()));
        let chart = Arc::clone(chart);
        Self { chart, expressions }
    }

    /// Returns the patterns of the files that the verdicts of the cycle which runs in this state are not about, as these
    /// settings have them; `None` if they are not about the work tree, or if the settings alone do not say.
    fn skips(&self, state: &Context, settings: &Context) -> Option<Vec<String>> {
        let known = answers_of(settings);
        let world = Replayed::world(state.clone(), known.iter(), false);
        let view = Inspector::new(&self.chart, &world);
        view.skips(view.running()?).ok()?
    }

    /// Returns the same for reviews of the work tree that have not begun, in whatever cycle.
    pub(super) fn coming_skips(&self, state: &Context, settings: &Context) -> Option<Vec<String>> {
        let mut cycles = self.chart.cycles.values();
        cycles.find_map(|cycle| {
            let mut state = state.clone();
            state.insert(self.chart.next.clone()?, cycle.id.clone().into());
            self.skips(&state, settings)
        })
    }

    /// Returns whether a session may begin another change with this state: nothing of the last one is in it.
    fn begins_with(&self, state: &Context) -> bool {
        let phase = state.get(&self.chart.state).and_then(Json::as_str);
        self.chart.scope.since.is_some()
            && phase == Some(&*self.chart.initial)
            && running_cycle(&self.chart, state).is_none()
    }

    /// Returns whether the user may set a field to this by hand: the limit of a cycle, unless that ends its reviews.
    fn may_set(&self, field: &str, value: &Json) -> bool {
        let mut cycles = self.chart.cycles.values();
        cycles.any(|cycle| cycle.limit == field) && value.as_i64().is_some_and(|limit| limit > 0)
    }

    /// Returns whether the work itself changes a file: one with a table whose rows are finished.
    pub(super) fn is_worked_in(&self, file: &str) -> bool {
        seen::has_status(&self.chart, file)
    }
}

/// Returns what a world with these settings answers about them.
fn answers_of(settings: &Context) -> Vec<Known> {
    let answers = settings.iter().map(|(name, value)| {
        let answer = Given::Value(value.clone());
        (json!(Source::Config(name.clone())), answer)
    });
    answers.collect()
}

/// The replay of an instance's run, line by line.
#[derive(Debug, Default)]
pub(crate) struct ReceiptReplay {
    /// The charts of its lines, by their hashes.
    pub(crate) charts: HashMap<String, Ready>,
    /// The chart that decides instead of them.
    instead: Option<Ready>,
    /// The fields as the last decision has left them.
    state: Option<Context>,
    /// The same after each line, by its hash.
    ends: HashMap<String, Option<Context>>,
    /// The states that the lines have left which this one unites.
    merged: Vec<Context>,
    /// The states since the review before was decided about. One of them was there when the next review began.
    since: Vec<Context>,
    /// What the decisions since then have asked the world.
    asked: Vec<usize>,
    /// The settings, as the entries of this line say.
    settings: Context,
    /// The files of the reviews, by their cycles and numbers.
    files: HashMap<(String, i64), String>,
    /// How many decisions were made again.
    pub(crate) count: usize,
}

impl ReceiptReplay {
    /// Returns one in which another chart decides.
    pub(crate) fn with(chart: &Arc<Chart>) -> Self {
        Self { instead: Some(Ready::of(chart)), ..Self::default() }
    }

    /// Makes the decisions of the next line again, which has this hash, and returns where they differ.
    pub(crate) fn line(&mut self, sha256: &str, predicate: &Predicate) -> Vec<String> {
        if self.instead.is_some() {
            // Only their defaults are asked for.
            let charts = predicate.charts.iter();
            let charts = charts.filter_map(|(sha256, whole)| {
                Some((sha256.clone(), Ready::of(&whole.load().ok()?)))
            });
            self.charts.extend(charts);
        }
        let previous = predicate.previous.as_ref();
        self.state = previous.and_then(|name| self.ends.get(name)?.clone());
        let merged = predicate.merges.iter();
        let merged = merged.filter_map(|name| self.ends.get(name)?.clone());
        self.merged = merged.collect();
        self.since = self.state.iter().cloned().collect();
        self.asked.clear();
        self.settings.clear();
        let mut differences = Vec::new();
        let mut review: Option<&ReviewEntry> = None;
        for (at, entry) in predicate.entries.iter().enumerate() {
            let decision = match entry {
                Entry::Review(ended) => {
                    review = Some(ended);
                    if let Some(settings) = &ended.settings {
                        self.settings.clone_from(settings);
                    }
                    continue;
                }
                Entry::Decision(decision) => decision,
            };
            let of_it = decision.is_reviewed.then(|| review.take()).flatten();
            let found = self.decision(predicate, decision, of_it);
            if let Some(settings) = &decision.settings {
                self.settings.clone_from(settings);
            }
            let time = decision.at.get(..19).unwrap_or(&decision.at);
            let (number, event) = (at + 1, &decision.event.trigger);
            let found = found.into_iter();
            differences
                .extend(found.map(|what| format!("entry {number} ({event}, {time}Z): {what}")));
        }
        self.ends.insert(sha256.to_owned(), self.state.clone());
        differences
    }

    /// Makes one decision again, and returns what is different.
    fn decision(
        &mut self,
        predicate: &Predicate,
        decision: &DecisionEntry<Vec<usize>>,
        review: Option<&ReviewEntry>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        let left = self.state.take();
        let state = match (&decision.state, left) {
            (Some(state), Some(left)) => {
                let ready = self.instead.as_ref().or(self.charts.get(&decision.chart));
                let is_free =
                    |name: &str, new: &Json| ready.is_some_and(|it| it.may_set(name, new));
                let is_another = ready.is_some_and(|it| decision.begins && it.begins_with(state));
                let is_known = is_another || self.merged.contains(state);
                let outside = changes(&left, state).filter(|_| !is_known);
                let outside = outside.filter(|(name, _, new)| !is_free(name, new));
                found.extend(outside.map(|(name, old, new)| {
                    format!("{name} was changed from {old} to {new}, and not by a decision")
                }));
                state.clone()
            }
            (Some(state), None) => state.clone(),
            (None, Some(left)) => left,
            (None, None) => return vec!["the record begins without a state".to_owned()],
        };
        self.since.push(state.clone());
        for (name, value) in &decision.seen {
            let is_one = |before: &Context| before.get(name) == Some(value);
            if !decision.is_reviewed || !self.since.iter().any(is_one) {
                found.push(format!("{name} was not {value} when the review began"));
            }
        }
        self.state = decision.after(Some(state.clone()));
        let asked = std::mem::take(&mut self.asked);
        if decision.is_reviewed {
            self.since.clear();
        } else {
            self.asked = [asked.as_slice(), &decision.world].concat();
        }
        self.since.extend(self.state.clone());
        self.count += 1;
        let Some(ready) = self.instead.as_ref().or(self.charts.get(&decision.chart)) else {
            let chart = decision.chart.get(..12).unwrap_or(&decision.chart);
            found.push(format!("the chart {chart} is not in the record"));
            return found;
        };
        if decision.is_reviewed && review.is_none() {
            found.push("the review that it is about is not in the record".to_owned());
            return found;
        }
        let answers = |at: &[usize]| {
            let known = at.iter().map(|at| predicate.world.get(*at));
            known.collect::<Option<Vec<_>>>()
        };
        let Some(known) = answers(&decision.world) else {
            found.push("an answer that it had is not in the record".to_owned());
            return found;
        };
        let mut seen = state.clone();
        seen.extend(decision.seen.clone());
        let settings = decision.settings.as_ref().unwrap_or(&self.settings);
        // Another chart may ask for more than this decision has looked at, and has defaults of its own.
        let (others, defaults) = match (&self.instead, self.charts.get(&decision.chart)) {
            (Some(_), recorded) => {
                let defaults = recorded.map(|recorded| {
                    new_defaults(&recorded.chart, &ready.chart, settings).collect()
                });
                (others(predicate, settings), defaults.unwrap_or_default())
            }
            (None, _) => {
                found.extend(other_settings(&ready.chart, settings, &known));
                (Vec::new(), Vec::new())
            }
        };
        let decide = |known: &[&Known], fields: &Context, event: &Event, ended: Option<Ended>| {
            let known = others.iter().chain(known.iter().copied()).chain(&defaults);
            let world = Replayed::world(fields.clone(), known, self.instead.is_some());
            decide_again(&ready.chart, &ready.expressions, &world, event, ended)
        };
        let event = decision.event.to_event();
        let ended = review.map(|review| review.ended(decision.is_superseded));
        let mut again = match decide(&known, &seen, &event, ended.clone()) {
            Ok(Step::Done(again)) => again,
            Ok(Step::Invoke(due)) => {
                found.push(format!("{} {} would run here", due.cycle, due.n));
                return found;
            }
            Err(fault) => {
                found.push(format!("it cannot be decided: {fault}"));
                return found;
            }
        };
        let worse = |ended| decide(&known, &seen, &event, Some(ended));
        let is_clean = ended.is_some_and(|ended| is_clean(&ready.chart, ended, &again, worse));
        if self.instead.is_none() && is_clean != decision.is_clean {
            let (is, other) = match is_clean {
                true => ("clean", "not clean"),
                false => ("not clean", "clean"),
            };
            found.push(format!("for the chart, the review is {is}, and for the record {other}"));
        }
        if let Some(review) = review.filter(|_| self.instead.is_none()) {
            let known = answers(&[&asked, &*decision.world].concat()).unwrap_or_default();
            found.extend(self.lacks(ready, review, &seen, &known));
            let key = (review.cycle.clone(), review.n);
            self.files.insert(key, review.file.clone());
        }
        if let Some(command) = &decision.pause {
            // The command itself is among the decisions before, with what it asked.
            let known = answers(&[&asked, &*decision.world].concat()).unwrap_or_default();
            let command = Event::command(command);
            again.follow(&seen, |fields| decide(&known, fields, &command, None).ok());
        }
        let null = Json::Null;
        let names = decision.changed.keys().chain(again.patch.keys());
        let mut names: Vec<&String> = names.collect();
        names.sort();
        names.dedup();
        for name in names {
            // What is written as it was is not a change.
            let value = |fields: &Context| {
                let value = fields.get(name).or(state.get(name));
                value.unwrap_or(&null).clone()
            };
            let (recorded, decided) = (value(&decision.changed), value(&again.patch));
            if recorded != decided {
                found.push(format!(
                    "the chart sets {name} to {decided}, and the record to {recorded}"
                ));
            }
        }
        let answer = again.answer.word();
        if decision.answer != answer {
            found.push(format!(
                "the chart's answer is `{answer}`, and the recorded one `{}`",
                decision.answer
            ));
        }
        // Another chart may call its rules as it likes.
        let fired: Vec<&str> = again.fired.iter().map(|fired| &*fired.place).collect();
        if self.instead.is_none() && found.is_empty() && decision.fired != fired {
            found.push(format!(
                "the chart's rules are {}, and the recorded ones {}",
                fired.join(", "),
                decision.fired.join(", ")
            ));
        }
        found
    }

    /// Returns what a review does not say as it must: that of its own file, of the answer to the review before it, which
    /// decisions have seen since, and which files did not count.
    fn lacks(
        &self,
        ready: &Ready,
        review: &ReviewEntry,
        seen: &Context,
        known: &[&Known],
    ) -> Vec<String> {
        let mut found = Vec::new();
        let name = format!("{} {}", review.cycle, review.n);
        if review.verdict.is_some() && review.review.is_none() {
            found.push(format!("{name} lacks the hash of its file"));
        }
        let before = self.files.get(&(review.cycle.clone(), review.n - 1));
        for known in known {
            let Some((of, file)) = answer_seen(known) else {
                continue;
            };
            let is_before = before.is_some_and(|before| before == of);
            let is_named = review.answers.contains_key(file) || review.edited.contains_key(file);
            if is_before && !is_named {
                found.push(format!("{name} lacks the hash of {file}"));
            }
        }
        if let Some(tree) = &review.tree
            && let Some(skips) = ready.skips(seen, &self.settings)
            && skips != tree.skips
        {
            let (tree, skips) = (tree.skips.join(", "), skips.join(", "));
            found.push(format!("{name} leaves out {tree}, and its settings leave out {skips}"));
        }
        found
    }
}

/// Returns what is known beside the answers that a decision had: the settings, and what others of its line have looked at and
/// found to be the same each time.
fn others(predicate: &Predicate, settings: &Context) -> Vec<Known> {
    let world = &predicate.world;
    let is_one = |known: &&Known| world.iter().filter(|other| other.0 == known.0).count() == 1;
    let same = world.iter().filter(is_one).cloned();
    same.chain(answers_of(settings)).collect()
}

/// Returns what another chart has instead of the settings that a run had by default, as far as anybody can tell.
fn new_defaults(old: &Chart, new: &Chart, settings: &Context) -> impl Iterator<Item = Known> {
    let fields = new.config.iter().filter(|(_, field)| !field.file);
    fields.filter_map(|(name, field)| {
        let before = default_of(old, old.config.get(name)?);
        let now = default_of(new, field);
        let is_default = settings.get(name) == Some(&before) && now != before;
        is_default.then(|| (json!(Source::Config(name.clone())), Given::Value(now)))
    })
}

/// Returns which of the settings at which a decision has looked are not those that the record says.
fn other_settings<'k>(
    chart: &'k Chart,
    settings: &'k Context,
    known: &'k [&Known],
) -> impl Iterator<Item = String> + 'k {
    known.iter().filter_map(|(question, answer)| {
        let name = question["config"].as_str()?;
        // Of one that names a file, the answer is its text.
        chart.config.get(name).filter(|field| !field.file)?;
        let said = settings.get(name).unwrap_or(&Json::Null);
        let is_other = matches!(answer, Given::Value(seen) if seen != said);
        is_other.then(|| format!("it saw another value of the setting {name} than {said}"))
    })
}

/// Returns the review that is answered, and the file that answers it, if that is what the world was asked.
pub(crate) fn answer_seen((question, answer): &Known) -> Option<(&str, &str)> {
    let asked = &question["answers"];
    let is_there = *answer == Given::Value(true.into());
    is_there.then_some((asked["review"].as_str()?, asked["answer"].as_str()?))
}

/// Returns the fields that differ: name, old and new value.
pub(super) fn changes<'c>(
    old: &'c Context,
    new: &'c Context,
) -> impl Iterator<Item = (&'c String, &'c Json, &'c Json)> {
    new.iter().filter_map(move |(name, value)| {
        let before = old.get(name).unwrap_or(&Json::Null);
        (before != value).then_some((name, before, value))
    })
}
