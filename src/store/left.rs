//! The state as this program has left it, what the user reads at the next stop because nobody else says it, and a pause that
//! waits for the end of a review.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::lock::WriteLock;
use super::{Store, record};
use crate::chart::Chart;
use crate::chart::model::FieldType;
use crate::engine::context::{Context, base, running_cycle, unfinished};
use crate::engine::decision::Decision;
use crate::engine::event::{Event, Trigger};
use crate::text::{cut, in_words};

const KIND: &str = "left";

/// The field of a command that has waited for the end of a review.
pub(crate) const NOTED: &str = "noted";

/// The most news that wait for a stop.
const MOST: usize = 20;

/// The longest value that is shown, in characters.
const VALUE: usize = 40;

/// What is kept about an instance.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    /// The fields as this program has left them, or as the user knows that somebody else has. Empty if it has left none.
    pub(crate) fields: Context,
    /// The file of the chart that has written it, empty if that needs no `--chart`; `None`: none has.
    chart: Option<PathBuf>,
    /// The same before a state is written; `None` once it is.
    before: Option<Box<Self>>,
    /// What the user reads at the next stop.
    pub(crate) news: Vec<String>,
    /// Why the user is called then.
    pub(crate) calls: Vec<String>,
    /// The command that takes effect after the review that is running.
    pub(crate) noted: Option<String>,
}

/// What is kept about one instance.
#[derive(Debug)]
pub(crate) struct Left {
    chart: Arc<Chart>,
    store: Store,
    instance: String,
    pub(crate) kept: Kept,
}

impl Left {
    /// Reads what is kept about an instance.
    pub(crate) fn of(chart: &Arc<Chart>, store: &Store, instance: &str) -> Self {
        let kept = record::read(store, instance, KIND).unwrap_or_default();
        Self { chart: Arc::clone(chart), store: store.clone(), instance: instance.to_owned(), kept }
    }

    /// Writes it, unless nothing is reviewed. The caller holds the write lock.
    pub(crate) fn write(&mut self) -> io::Result<()> {
        let more = self.kept.news.len().saturating_sub(MOST);
        self.kept.news.drain(..more);
        match self.chart.cycles.is_empty() {
            true => Ok(()),
            false => record::write(&self.store, &self.instance, KIND, &self.kept),
        }
    }

    /// Returns the chart that has written the state, in words, if it is another one.
    pub(crate) fn other_chart(&self) -> Option<String> {
        let written = self.kept.chart.as_ref().filter(|file| **file != self.chart_file())?;
        let is_default = written.as_os_str().is_empty();
        Some(if is_default {
            "the default chart".to_owned()
        } else {
            written.display().to_string()
        })
    }

    fn chart_file(&self) -> PathBuf {
        let file = if self.chart.is_default { "" } else { &self.chart.origin };
        fs::canonicalize(file).unwrap_or_else(|_| PathBuf::from(file))
    }

    /// Returns whether a state that is found like this, or is gone, is not as it was left.
    pub(crate) fn differs(&self, found: Option<&Context>) -> bool {
        !self.kept.fields.is_empty() && found != Some(&self.kept.fields)
    }

    /// Takes note of a state that is found like this, or is gone. After a review, what has become looser while it ran does not
    /// count for it.
    pub(crate) fn find(&mut self, found: Option<&Context>, is_reviewed: bool) {
        let kept = &mut self.kept;
        if let Some(before) = kept.before.take()
            && found.map_or(before.fields.is_empty(), |found| *found == before.fields)
        {
            // The process that was about to write it was killed.
            *kept = *before;
        }
        let Some(found) = found else {
            let is_news = !kept.fields.is_empty() && self.chart.scope.since.is_none();
            kept.news.extend(is_news.then(|| "state.json was removed outside taskie.".to_owned()));
            kept.fields.clear();
            return;
        };
        let changed = changed(&self.chart, (&kept.fields, found), is_reviewed);
        if !changed.is_empty() {
            kept.news.push(format!("state.json was changed outside taskie: {changed}."));
        }
        kept.fields.clone_from(found);
    }

    /// Takes note of a decision that is about to be written in the state that was found. What a command does to a cycle that is not over, nobody else says.
    pub(crate) fn decide(
        &mut self,
        event: &Event,
        (before, after): (&Context, &Context),
        decision: &Decision,
    ) {
        self.kept.before = Some(Box::new(self.kept.clone()));
        let other =
            self.other_chart().map(|other| format!("state.json was last written by {other}."));
        self.kept.news.extend(other);
        self.kept.chart = Some(self.chart_file());
        let chart = &self.chart;
        let line = match &event.trigger {
            Trigger::Hook(_) => None,
            // The command that carries it out says so.
            _ if event.fields.get(NOTED).is_some() => None,
            trigger @ Trigger::Enter { .. } => Some(format!("{} {trigger}", chart.program())),
            Trigger::Command(name) => Some(chart.call(name)),
        };
        let cycle = |context: &Context| {
            let value = |name: &str| context.get(name).cloned().unwrap_or_default();
            let cycle = unfinished(chart, value)?;
            let base = base(cycle, context);
            let title = base.map_or_else(|| cycle.id.clone(), |base| cycle.title(&base));
            Some((title, running_cycle(chart, context).is_some()))
        };
        if let Some(line) = line {
            let (was, is) = (cycle(before), cycle(after));
            let title = was.as_ref().map_or(&chart.scope.noun, |(title, _)| title);
            let is_same = is.as_ref().is_some_and(|(now, _)| now == title);
            let is_phase = |name: &String| chart.context[name].kind == FieldType::Phase;
            let changed = changed(chart, (before, after), false);
            let news = match (&was, &is) {
                (Some(_), _) if !is_same => Some("was left without having passed".to_owned()),
                (Some((_, true)), Some((_, false))) => Some("was paused".to_owned()),
                _ if changed.is_empty() || decision.patch.keys().any(is_phase) => None,
                _ => Some(format!("was given {changed}")),
            };
            self.kept.news.extend(news.map(|news| format!("The {title} {news} (`{line}`).")));
        }
        if !event.is_stop() {
            self.kept.calls = decision.call().into_iter().collect();
        }
        self.kept.fields.clone_from(after);
    }

    /// Confirms that what was decided is written: a state that is taken back to what it was is another one. The caller holds the
    /// write lock.
    pub(crate) fn confirm(mut self) {
        self.kept.before = None;
        let _ = self.write();
    }

    /// Adds something that the user is to read. The caller holds the write lock.
    pub(crate) fn add(mut self, news: String) -> io::Result<()> {
        self.kept.news.push(news);
        self.write()
    }

    /// Notes which command takes effect after the review that is running; `None` once it has. The caller holds the write lock.
    pub(crate) fn note(mut self, command: Option<&str>) -> io::Result<()> {
        self.kept.noted = command.map(str::to_owned);
        self.write()
    }

    /// Removes what the host has now.
    pub(crate) fn settle(self) {
        if self.kept.news.is_empty() && self.kept.calls.is_empty() {
            return;
        }
        if let Ok(_lock) = WriteLock::acquire(&self.store, &self.instance) {
            let mut now = Self::of(&self.chart, &self.store, &self.instance);
            now.kept.news.retain(|news| !self.kept.news.contains(news));
            now.kept.calls.retain(|call| !self.kept.calls.contains(call));
            // If it stays, it is said again.
            let _ = now.write();
        }
    }
}

/// Returns which fields have changed, in words.
fn changed(chart: &Chart, (old, new): (&Context, &Context), is_reviewed: bool) -> String {
    let value = |value| cut(in_words(value), VALUE);
    let changed = chart.context.iter().filter_map(|(name, field)| {
        let (old, new) = (old.get(name)?, new.get(name)?);
        let note = match is_reviewed && field.is_looser(new, old) {
            true => " (does not count for this review)",
            false => "",
        };
        (old != new).then(|| format!("{name} {} → {}{note}", value(old), value(new)))
    });
    changed.collect::<Vec<_>>().join(", ")
}
