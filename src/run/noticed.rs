//! A state that is found in another way than this program has left it, and what the user reads at the next stop because nobody else
//! says it.

use std::sync::Arc;

use crate::chart::Chart;
use crate::chart::model::FieldType;
use crate::engine::context::{Context, base, running_cycle, unfinished};
use crate::engine::decision::{Decision, Ended};
use crate::engine::event::{Event, Trigger};
use crate::host::vendors::PASS;
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::store::facts::{Fact, Left, Owed};
use crate::text::{cut, in_words};

/// The field of a command that has waited for the end of a review.
pub(crate) const NOTED: &str = "noted";

/// The field of a stop that a command carries out in place of the hook.
pub(crate) const STANDS_IN: &str = "stands_in";

/// The longest value that is shown, in characters.
const VALUE: usize = 40;

/// A state that is found, compared with how it was left.
#[derive(Debug)]
pub(super) struct Noticed {
    pub(super) left: Left,
    /// What is new.
    facts: Vec<Fact>,
}

impl Noticed {
    /// Compares the state as it was left with the one that is found. After a review, what has become looser while it ran does not
    /// count for it.
    pub(super) fn of(place: &Place, found: &Reading, is_reviewed: bool) -> Self {
        let mut known = place.journal().facts();
        let mut facts = Vec::new();
        if matches!(found, Reading::Broken(_)) {
            return Self { left: known.left.clone(), facts };
        }
        let found = found.context();
        if known.is_dropped(found) {
            // The process that was about to write it was killed.
            known = Arc::new(Arc::unwrap_or_clone(known).after(Fact::Dropped));
            facts.push(Fact::Dropped);
        }
        // Where nothing is reviewed, nobody minds.
        let is_back = found.is_some() && known.left.is_gone;
        if place.chart.cycles.is_empty() || known.left.is_as(found) && !is_back {
            return Self { left: known.left.clone(), facts };
        }
        let before = &known.left.fields;
        let news = match found {
            Some(found) => {
                let changed = changed(&place.chart, (before, found), is_reviewed);
                let is_news = !changed.is_empty();
                is_news.then(|| format!("state.json was changed outside taskie: {changed}."))
            }
            None => {
                let is_news = !place.chart.scope.is_of_changes();
                is_news.then(|| "state.json was removed outside taskie.".to_owned())
            }
        };
        let fields = found.unwrap_or(before).clone();
        let fact = Fact::Found { fields, is_gone: found.is_none(), news };
        facts.push(fact.clone());
        Self { left: Arc::unwrap_or_clone(known).after(fact).left, facts }
    }

    /// Returns whether there is more to write than a state that is seen for the first time.
    pub(super) fn is_news(&self) -> bool {
        let is_first = |fact: &Fact| matches!(fact, Fact::Found { news: None, is_gone: false, .. });
        !self.facts.iter().all(is_first)
    }

    /// Writes it. The caller holds the write lock.
    pub(super) fn write(&mut self, place: &Place) -> std::io::Result<()> {
        self.facts.drain(..).try_for_each(|fact| place.journal().note(fact))
    }
}

/// Returns whether the user reads the answer. Where a command carries out the stop, the agent does: what is for the user waits
/// for the next stop.
pub(super) fn is_for_user(event: &Event) -> bool {
    event.is_stop() && event.fields.get(STANDS_IN).is_none()
}

/// Returns how a decision leaves the state, whose text it is, that was found as `left`. What a command does to a cycle that is not
/// over, nobody else says.
pub(super) fn decided(
    place: &Place,
    mut left: Left,
    event: &Event,
    (before, after, text): (&Context, &Context, &[u8]),
    decision: &Decision,
) -> Left {
    let is_running = |context| running_cycle(&place.chart, context).is_some();
    if !is_running(before) && is_running(after) {
        left.news.retain(|news| !news.contains(PAUSED));
    }
    left.news.extend(news(&place.chart, event, (before, after), decision));
    if event.is_stop() {
        left.owed = Some(Owed::of(text, decision));
    } else {
        // What a command does not change is owed all the same.
        left.owed = left.owed.filter(|_| before == after).map(|owed| owed.with(text));
    }
    left.is_gone = false;
    left.fields.clone_from(after);
    left.base = base_after(place, left.base, decision);
    left
}

/// Returns the commit up to which reviews of code that passed have seen everything after a decision: what the review that has ended
/// its cycle with it has read, or else what it was before, or that at which the instance begins.
fn base_after(place: &Place, before: Option<String>, decision: &Decision) -> Option<String> {
    let passed = |ended: &Ended| {
        !ended.superseded
            && ended.outcome.verdict_and_error().0 == Some(PASS)
            && decision.advances()
    };
    let has_passed = decision.ended.as_ref().is_some_and(passed);
    let last = has_passed.then(|| place.journal().reviews().pop()).flatten();
    let read = last.and_then(|review| review.code?.head);
    let begins = || (!place.chart.cycles.is_empty()).then(|| place.trees().head()).flatten();
    read.or(before).or_else(begins)
}

/// What was done to a cycle that waits to be resumed.
const PAUSED: &str = "was paused";

/// Returns what a command has done to a cycle that is not over.
fn news(
    chart: &Chart,
    event: &Event,
    (before, after): (&Context, &Context),
    decision: &Decision,
) -> Option<String> {
    let line = match &event.trigger {
        Trigger::Hook(_) => return None,
        // The command that carries it out says so.
        _ if event.fields.get(NOTED).is_some() => return None,
        trigger @ Trigger::Enter { .. } => format!("{} {trigger}", chart.program()),
        Trigger::Command(name) => chart.call(name),
    };
    let cycle = |context: &Context| {
        let value = |name: &str| context.get(name).cloned().unwrap_or_default();
        let cycle = unfinished(chart, value)?;
        let base = base(cycle, context);
        let title = base.map_or_else(|| cycle.id.clone(), |base| cycle.title(&base));
        Some((title, running_cycle(chart, context).is_some()))
    };
    let (was, is) = (cycle(before), cycle(after));
    let title = was.as_ref().map_or(chart.scope.noun(), |(title, _)| title);
    let is_same = is.as_ref().is_some_and(|(now, _)| now == title);
    let is_phase = |name: &String| chart.context[name].kind == FieldType::Phase;
    let changed = changed(chart, (before, after), false);
    let news = match (&was, &is) {
        (Some(_), _) if !is_same => "was left without having passed".to_owned(),
        (Some((_, true)), Some((_, false))) => PAUSED.to_owned(),
        _ if changed.is_empty() || decision.patch.keys().any(is_phase) => return None,
        _ => format!("was given {changed}"),
    };
    Some(format!("The {title} {news} (`{line}`)."))
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
