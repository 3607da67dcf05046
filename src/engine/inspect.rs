//! Facts about one instance that are needed outside decisions: who reviews, how far the running cycle is, what the
//! checks find.

use std::sync::Arc;

use serde_json::json;

use super::event::Event;
use super::fault::Fault;
use super::names::Names;
use super::world::World;
use crate::chart::{Chart, Cycle, known};
use crate::files::pattern::{Capture, Pattern};

/// A chart and a world that can be queried.
#[derive(Debug)]
pub struct Inspector {
    names: Arc<Names>,
}

/// How far along a cycle is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The stem of its file names, if the context has the fields that it needs.
    pub base: Option<String>,
    /// The name of its reviews with `{n}` for the number, if the context has the fields that it needs.
    pub files: Option<String>,
    /// The number of its reviews so far.
    pub count: i64,
    /// The number of reviews that it may have.
    pub limit: i64,
    /// The next review is due.
    pub is_due: bool,
}

/// A file that is a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewFile {
    /// The cycle that it belongs to.
    pub cycle: String,
    /// The stem of the file names; not the cycle's `base` if that has holes.
    pub base: String,
    pub n: u64,
    pub name: String,
    /// The name of all reviews of the same, with `{n}` for the number.
    pub files: String,
    /// The name of its answer.
    pub answer: String,
}

impl Inspector {
    /// Returns an inspector for `chart` in `world`.
    pub fn new(chart: &Arc<Chart>, world: &Arc<dyn World>) -> Self {
        // No rule is tried, so the event doesn't matter.
        Self::of_event(chart, world, &Event::hook("", json!({})))
    }

    /// Returns an inspector that sees an event, too.
    pub fn of_event(chart: &Arc<Chart>, world: &Arc<dyn World>, event: &Event) -> Self {
        Self { names: Names::new(chart, world, event) }
    }

    /// Returns an error if the running cycle's target is unknown because a file cannot be read.
    pub fn can_advance(&self) -> Result<(), Fault> {
        let target = self.names.running().map(|cycle| self.names.open_target(cycle));
        match target {
            Some(Err(fault @ Fault::File(_))) => Err(fault),
            _ => Ok(()),
        }
    }

    /// Returns the name of the reviewer that the next review has, and with its model, as the chart names it.
    pub fn next_reviewer(&self) -> Result<(String, String), Fault> {
        self.names.next_reviewer()
    }

    /// Returns how near the running `cycle` is to its end; `None` if the chart does not say.
    pub fn streak(&self, cycle: &Cycle) -> Result<Option<String>, Fault> {
        let place = format_args!("cycles.{}.text.streak", cycle.id);
        let text = cycle.text.get("streak");
        text.map(|text| self.names.text(place, text, &self.names.root())).transpose()
    }

    /// Returns the patterns of the files that reviews of code are not about.
    pub fn skipped(&self) -> Result<Vec<String>, Fault> {
        let value = self.names.setting(known::SKIP)?;
        let items = value.try_iter().into_iter().flatten();
        Ok(items.map(|item| item.to_string()).collect())
    }

    /// Returns the findings of the list of checks called `name`.
    pub fn findings(&self, name: &str) -> Result<Vec<String>, Fault> {
        let checks = self.names.chart.checks.get(name);
        self.names.find_all(name, checks.map_or(&[], Vec::as_slice))
    }

    /// Returns what the checks find that look at nothing but settings and fields of the state.
    pub fn unfit_settings(&self) -> Result<Vec<String>, Fault> {
        let chart = &self.names.chart;
        let is_known = |name: &String| {
            let name = name.split('.').next().unwrap_or_default();
            name == "config" || chart.context.contains_key(name) || chart.lets.contains_key(name)
        };
        let lists = chart.checks.iter().filter(|(_, checks)| {
            let guards = checks.iter().flat_map(|check| &check.guard);
            let each = checks.iter().flat_map(|check| &check.each);
            let texts = guards.chain(each).map(AsRef::as_ref);
            let names = chart.names_in(texts);
            names.iter().all(is_known)
        });
        let found = lists.map(|(name, checks)| self.names.find_all(name, checks));
        Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Returns the running cycle.
    pub fn running(&self) -> Option<&Cycle> {
        self.names.running()
    }

    /// Returns the cycle that is not over: it is running, or the user can return to it.
    pub fn unfinished(&self) -> Option<&Cycle> {
        self.names.unfinished()
    }

    /// Returns how far along `cycle` is.
    pub fn standing(&self, cycle: &Cycle) -> Standing {
        Standing {
            base: cycle.base.render(|hole| self.names.slug(hole)).ok(),
            files: self.names.review_files(cycle).ok(),
            count: self.names.count(cycle),
            limit: self.names.field(&cycle.limit).as_i64().unwrap_or(i64::MAX),
            is_due: self.names.is_due(cycle).unwrap_or(false),
        }
    }
}

/// Returns the reviews among `names`, sorted by cycle in the chart's order, by what was reviewed, and by number.
pub fn reviews<'n>(chart: &Chart, names: impl Iterator<Item = &'n str>) -> Vec<ReviewFile> {
    let shapes: Vec<(&Cycle, Pattern, Pattern)> = chart
        .cycles
        .values()
        .map(|cycle| {
            let shape = |pattern: &Pattern| pattern.recognizing("base", &cycle.base, "n");
            (cycle, shape(&cycle.review), shape(&cycle.answer))
        })
        .collect();
    let found = names.filter_map(|name| {
        // The base of a task may look like the end of an answer's name: whatever can be an answer is one.
        let is_answer = shapes.iter().any(|(.., answer)| answer.matches(name).is_some());
        if is_answer {
            return None;
        }
        let (at, cycle, captures) = shapes.iter().enumerate().find_map(|(at, shape)| {
            shape.1.matches(name).map(|captures| (at, shape.0, captures))
        })?;
        let filled = |hole: &str| match captures.iter().find(|(name, _)| *name == hole) {
            Some((_, Capture::Text(text))) => Ok(text.clone()),
            Some((_, Capture::Integer(number))) => Ok(number.to_string()),
            None => Err(()),
        };
        let base = cycle.base.render(filled).ok()?;
        let n = captures.iter().find_map(|(name, capture)| match capture {
            Capture::Integer(number) if *name == "n" => Some(*number),
            _ => None,
        })?;
        let named = |hole: &str| match hole {
            "base" => Ok(base.clone()),
            other => filled(other),
        };
        let files = cycle.review.render(|hole| match hole {
            "n" => Ok("{n}".to_owned()),
            other => named(other),
        });
        let answer = cycle.answer.render(named);
        let (files, answer) = (files.ok()?, answer.ok()?);
        let file =
            ReviewFile { cycle: cycle.id.clone(), base, n, name: name.to_owned(), files, answer };
        Some((at, file))
    });
    let mut found: Vec<(usize, ReviewFile)> = found.collect();
    found.sort_by(|(a, one), (b, other)| {
        // `task-2` comes before `task-10`: of two names that differ only in a number, the shorter one has the smaller
        // number.
        let key = |file: &ReviewFile| (file.base.len(), file.base.clone(), file.n);
        a.cmp(b).then_with(|| key(one).cmp(&key(other)))
    });
    found.into_iter().map(|(_, file)| file).collect()
}
