//! Notices for the user at the next stop, because nobody else would say it: something has left a review cycle that had not
//! passed, or lets it end sooner.
//!
//! There is one record for each instance: the cycle that was running or paused when this program last wrote or saw the state,
//! its fields, and what has not been reported yet. A state in which another cycle is, or none, or in which a field is another
//! while a cycle is not over, or looser, and which this program has not written, was changed by someone else.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::lock::WriteLock;
use super::notice::{By, ChangedField, Notice};
use super::round::Round;
use super::{Store, driver, record};
use crate::chart::Chart;
use crate::chart::model::{Field, FieldType};
use crate::engine::context::{Context, cycle_of, ends_pause, text};
use crate::engine::decision::Decision;
use crate::engine::event::{Event, Trigger};

const KIND: &str = "notices";

/// What is said of a pause that another phase has ended, without a full stop.
pub(crate) const PAUSE_ENDED: &str = "The pause is over";

/// The most notices that wait for a stop.
const MOST: usize = 20;

/// What is known of an instance.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeptNotices {
    /// The cycle that was not over.
    round: Option<Round>,
    /// The fields as they were.
    #[serde(default)]
    fields: Context,
    notices: Vec<Notice>,
    /// Why the user is called at the next stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    /// The same as it was found, until the state has been written with which these fields are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Box<KeptNotices>>,
}

/// A state as it was found.
#[derive(Clone, Copy)]
pub(crate) struct Found<'f> {
    /// Its fields; without a state, their defaults.
    pub(crate) context: &'f Context,
    /// There is none.
    pub(crate) is_gone: bool,
}

impl KeptNotices {
    fn read(store: &Store, instance: &str) -> Self {
        record::read(store, instance, KIND).unwrap_or_default()
    }

    fn write(&self, store: &Store, instance: &str) -> io::Result<()> {
        record::write(store, instance, KIND, self)
    }

    /// Returns what is known where the state has these fields: what was noted before it was written does not hold if it never
    /// was, because the process was killed or the disk refused it.
    fn where_found(self, context: &Context) -> Self {
        match self.before {
            Some(before) if before.fields == *context && self.fields != *context => *before,
            _ => self,
        }
    }

    /// Returns what was known of a state that is found like this, and what is known now.
    fn found((chart, store, instance): (&Chart, &Store, &str), context: &Context) -> (Self, Self) {
        let known = Self::read(store, instance).where_found(context);
        let mut now = known.clone();
        now.before = None;
        let is_gone = false;
        now.observe_found(chart, Found { context, is_gone });
        (known, now)
    }

    /// Returns the notices in words, for the user of `session`.
    fn in_words(&self, chart: &Chart, context: &Context, session: Option<&str>) -> Vec<String> {
        let next = text(context, chart.next.as_ref());
        let phase = text(context, Some(&chart.state));
        let last = self.notices.len().saturating_sub(1);
        let in_words = |(at, notice): (usize, &Notice)| {
            // Something else may have come since.
            let next = next.filter(|next| at == last && notice.next.as_deref() == Some(next));
            let next = next.map(|next| format!(", and {} comes next", named(chart, next)));
            let fields: Vec<String> =
                notice.fields.iter().map(|field| field.in_words(chart)).collect();
            let given = (!fields.is_empty()).then(|| format!(" was given {}", fields.join(", ")));
            let by = notice.by.as_ref();
            let by = by.map(|by| format!(" ({})", by.in_words(session)));
            let parts = [next, given, by].into_iter().flatten();
            format!("{}{}.", notice.what, parts.collect::<String>())
        };
        let notices = self.notices.iter().enumerate();
        let holds = |notice: &Notice| notice.phase.is_none() || notice.phase.as_deref() == phase;
        let notices = notices.filter(|(_, notice)| holds(notice));
        notices.map(in_words).collect()
    }

    /// Takes over what is known of a state.
    fn take_over(&mut self, chart: &Chart, context: &Context) {
        self.round = Round::unfinished(chart, context);
        self.fields = context.clone();
    }

    /// Returns the fields of a state that are not as they were and that matter: name, old and new value.
    fn changed<'a>(
        &'a self,
        chart: &'a Chart,
        context: &'a Context,
    ) -> impl Iterator<Item = (&'a String, &'a Json, &'a Json)> {
        let is_elsewhere = self.fields.get(&chart.state) != context.get(&chart.state);
        let now = Round::unfinished(chart, context);
        self.fields.iter().filter_map(move |(name, old)| {
            let new = context.get(name).filter(|_| chart.context.contains_key(name))?;
            let matters = || match &self.round {
                // What is left is named by itself, and another phase says enough.
                Some(round) if is_place(chart, name) => {
                    (*name == chart.state || !is_elsewhere) && round.is_in_place(now.as_ref())
                }
                _ => true,
            };
            (new != old && matters()).then_some((name, old, new))
        })
    }

    /// Adds what has become of the fields, in one sentence.
    fn add_changed(&mut self, chart: &Chart, context: &Context, by: &By) {
        // Where a command goes, and where it has a change begin, is its purpose.
        let is_purpose = |name: &str| {
            matches!(by, By::Command { .. }) && (starts(chart, name) || is_place(chart, name))
        };
        let now = Round::unfinished(chart, context);
        let is_news = |name: &str, old: &Json, new: &Json| {
            let field = chart.context.get(name);
            let is_looser = || field.is_some_and(|field: &Field| field.is_looser(new, old));
            match by {
                By::Command { .. } => self.round.is_some() || is_looser(),
                By::Unknown | By::Removed => true,
            }
        };
        let changed = self.changed(chart, context);
        let changed =
            changed.filter(|(name, old, new)| !is_purpose(name) && is_news(name, old, new));
        let changed = changed.map(|(name, old, new)| ChangedField {
            name: name.clone(),
            old: old.clone(),
            new: new.clone(),
        });
        let mut fields: Vec<ChangedField> = changed.collect();
        // Whoever changes it again answers for both changes.
        for field in &mut fields {
            let mut known = self.notices.iter().flat_map(|notice| &notice.fields);
            if let Some(known) = known.find(|known| known.name == field.name) {
                field.old = known.old.clone();
            }
        }
        self.retain_fields(|known| fields.iter().all(|field| field.name != known.name));
        fields.retain(|field| field.new != field.old);
        if fields.is_empty() {
            return;
        }
        let title = now.as_ref().map(|round| round.title(chart));
        let of = title.unwrap_or_else(|| chart.scope.noun.clone());
        self.notices.push(Notice {
            what: format!("The {of}"),
            fields,
            by: Some(by.clone()),
            ..Notice::default()
        });
    }

    /// Removes what the user need not know because it is as it was, or no longer matters.
    fn remove_undone(&mut self, chart: &Chart, context: &Context) {
        let is_in_cycle = self.round.is_some();
        self.retain_fields(|ChangedField { name, old, new }| {
            if starts(chart, name) || is_place(chart, name) {
                return true;
            }
            let now = context.get(name).cloned().unwrap_or_default();
            let field = chart.context.get(name);
            let is_as_changed = now == *new;
            *new = now;
            let is_looser = || field.is_some_and(|field| field.is_looser(new, old));
            new != old && (is_in_cycle || is_as_changed || is_looser())
        });
    }

    /// Keeps some of the fields that were changed, and the notices that still say something.
    fn retain_fields(&mut self, is_kept: impl Fn(&mut ChangedField) -> bool) {
        self.notices.retain_mut(|notice| {
            let had_any = !notice.fields.is_empty();
            notice.fields.retain_mut(&is_kept);
            !had_any || !notice.fields.is_empty()
        });
    }

    /// Returns whether the cycle that was running or paused still is, perhaps started over, or whether none was.
    fn is_in_place(&self, chart: &Chart, context: &Context) -> bool {
        let now = Round::unfinished(chart, context);
        let round = self.round.as_ref();
        round.is_none_or(|round| round.is_in_place(now.as_ref()))
    }

    /// Returns whether the cycle that was running or paused no longer is, or a field that matters has changed.
    fn has_changed(&self, chart: &Chart, context: &Context) -> bool {
        self.changed(chart, context).next().is_some() || !self.is_in_place(chart, context)
    }

    /// Takes note of a state that this machine has not written, or that is gone.
    fn observe_found(&mut self, chart: &Chart, found: Found<'_>) {
        let Found { context, is_gone } = found;
        if is_gone {
            return self.observe_removed(chart, context);
        }
        self.add_changed(chart, context, &By::Unknown);
        self.observe(chart, context, By::Unknown);
    }

    /// Takes note of a state that is gone, and not by this program.
    fn observe_removed(&mut self, chart: &Chart, context: &Context) {
        let is_lost = self.round.is_none() && chart.scope.since.is_none();
        let is_lost = is_lost && self.changed(chart, context).next().is_some();
        self.observe(chart, context, By::Removed);
        self.notices.extend(is_lost.then(|| Notice {
            what: format!("Where the {} stands is lost", chart.scope.noun),
            by: Some(By::Removed),
            ..Notice::default()
        }));
    }

    /// Compares what was known with a state, and says what has become of the cycle that was not over.
    fn observe(&mut self, chart: &Chart, context: &Context, by: By) {
        self.remove_undone(chart, context);
        let now = Round::unfinished(chart, context);
        let now = now.as_ref();
        let is_paused = |round: &Round| !round.is_paused && now.is_some_and(|now| now.is_paused);
        let left =
            (self.round.take()).filter(|round| is_paused(round) || !round.goes_on(chart, now));
        if let Some(round) = left {
            let title = round.title(chart);
            let is_again = round.is_same(now);
            let what = match &by {
                _ if is_again && is_paused(&round) => Some(format!("The {title} was paused")),
                // It is among the fields that were changed.
                By::Unknown | By::Removed if is_again => None,
                By::Command { .. } if is_again => {
                    Some(format!("The {title} was started over without having passed"))
                }
                By::Unknown | By::Removed => Some(format!("The {title} was left")),
                By::Command { .. } => Some(format!("The {title} was left without having passed")),
            };
            let (left, next) = (Some(round), text(context, chart.next.as_ref()));
            self.notices.extend(what.map(|what| Notice {
                left,
                next: next.map(str::to_owned),
                what,
                by: Some(by),
                ..Notice::default()
            }));
        }
        let most = self.notices.len().saturating_sub(MOST);
        self.notices.drain(..most);
        // Whoever returns to the cycle sees that it goes on.
        let running = Round::running(chart, context);
        self.notices.retain(|notice| {
            let left = notice.left.as_ref();
            let is_asked_again = matches!(notice.by, Some(By::Command { .. }));
            !left.is_some_and(|left| match is_asked_again {
                true => left.goes_on(chart, running.as_ref()),
                false => left.has_all(running.as_ref()),
            })
        });
        self.take_over(chart, context);
    }
}

/// Returns whether the field says what a change starts from. Whoever moves that hides what lies before.
fn starts(chart: &Chart, name: &str) -> bool {
    chart.scope.since.as_deref() == Some(name)
}

/// Returns whether the field says where the instance is, what comes next, or where the user can return to. While a cycle is not
/// over, that says whether it is left.
fn is_place(chart: &Chart, name: &str) -> bool {
    let field = chart.context.get(name);
    field.is_some_and(|field| field.kind == FieldType::Phase)
}

/// Returns what a phase is called where it comes next.
fn named(chart: &Chart, phase: &str) -> String {
    match cycle_of(chart, phase) {
        Some(cycle) if cycle.post == phase => format!("the answer to its {}", cycle.id),
        None if chart.is_final(phase) => format!("the end of the {}", chart.scope.noun),
        _ => phase.to_owned(),
    }
}

/// Returns whether a command lets something else come first, before a cycle that has had no review yet: it is not over.
fn is_put_off(chart: &Chart, event: &Event, before: &Context, decision: &Decision) -> bool {
    let is_command = matches!(event.trigger, Trigger::Command(_));
    let next = chart.next.as_ref();
    let comes = next.and_then(|next| decision.patch.get(next));
    let cycle = text(before, next).and_then(|next| cycle_of(chart, next));
    let count = cycle.and_then(|cycle| before.get(&cycle.count)?.as_i64());
    let is_new = count == Some(0);
    is_command && !decision.advances() && is_new && comes.is_some_and(|next| !next.is_null())
}

/// Notes what a decision about `event` does to the running cycle, before it is written. If it `is_new`, there was no state
/// before: an instance begins, perhaps under the name of an old one. The caller holds the write lock.
pub(crate) fn note(
    (chart, store, instance): (&Chart, &Store, &str),
    event: &Event,
    (before, is_new): (&Context, bool),
    decision: &Decision,
) -> io::Result<()> {
    if chart.cycles.is_empty() {
        return Ok(());
    }
    let mut after = before.clone();
    decision.apply(&mut after);
    let (known, mut kept) = match is_new {
        false => KeptNotices::found((chart, store, instance), before),
        true => {
            let known = KeptNotices::read(store, instance);
            let mut kept = known.clone();
            // Only its first phase begins a new one.
            let is_first =
                matches!(&event.trigger, Trigger::Enter { phase, .. } if *phase == chart.initial);
            if !is_first && chart.scope.since.is_none() {
                kept.observe_removed(chart, before);
            }
            (known, kept)
        }
    };
    kept.before = None;
    let mut found = kept.clone();
    found.take_over(chart, before);
    match By::command(chart, event) {
        Some(by) if !is_put_off(chart, event, before, decision) => {
            let is_same = kept.is_in_place(chart, &after);
            if is_same && matches!(event.trigger, Trigger::Command(_)) {
                kept.add_changed(chart, &after, &by);
            }
            let known = kept.notices.len();
            kept.observe(chart, &after, by.clone());
            // The user has paused, and whoever enters another phase need not be the user.
            let is_entered = matches!(event.trigger, Trigger::Enter { .. });
            if is_entered && ends_pause(chart, before, &after) && kept.notices.len() <= known {
                kept.notices.push(Notice {
                    what: PAUSE_ENDED.to_owned(),
                    by: Some(by),
                    ..Notice::default()
                });
            }
        }
        // What a stop decides, it says itself.
        _ => {
            if let Some(passed) = kept.round.take().filter(|_| decision.advances()) {
                // It was paused while it ran, and nobody returns to it.
                let is_about = |left: &Round| left.is_same(Some(&passed));
                (kept.notices).retain(|notice| !notice.left.as_ref().is_some_and(is_about));
            }
            kept.take_over(chart, &after);
        }
    }
    // A stop calls the user itself, unless it was woken to report to them first.
    let is_later = By::command(chart, event).is_some() || event.fields["wakes"] == true;
    if is_later || !event.is_stop() {
        // What a stop reports is kept until the host has it.
        kept.calls = decision.call().filter(|_| is_later).into_iter().collect();
    }
    if kept == known {
        return Ok(());
    }
    kept.before = Some(Box::new(found));
    kept.write(store, instance)
}

/// Notes how the state is found by a decision that writes none: what others have done to it is not to be taken for what this
/// program has written. The caller holds the write lock.
pub(crate) fn note_found(
    (chart, store, instance): (&Chart, &Store, &str),
    context: &Context,
) -> io::Result<()> {
    if chart.cycles.is_empty() {
        return Ok(());
    }
    let (known, now) = KeptNotices::found((chart, store, instance), context);
    match now == known {
        true => Ok(()),
        false => now.write(store, instance),
    }
}

/// Confirms that the state was written of which [`note`] has taken note. The caller holds the write lock.
pub(crate) fn confirm(store: &Store, instance: &str) {
    let mut kept = KeptNotices::read(store, instance);
    if kept.before.take().is_some() {
        // Otherwise a state that is taken back to what it was would not be noticed once.
        let _ = kept.write(store, instance);
    }
}

/// Adds something that the user is to know while the instance is in `phase`, as a command has said it.
pub(crate) fn add((store, instance): (&Store, &str), what: &str, phase: &str) -> io::Result<()> {
    let _lock = WriteLock::acquire(store, instance)?;
    add_locked((store, instance), what, Some(phase))
}

/// Does the same; without a phase, in any. The caller holds the write lock.
pub(crate) fn add_locked(
    (store, instance): (&Store, &str),
    what: &str,
    phase: Option<&str>,
) -> io::Result<()> {
    let mut kept = KeptNotices::read(store, instance);
    kept.notices.push(Notice {
        what: what.trim_end_matches('.').to_owned(),
        phase: phase.map(str::to_owned),
        ..Notice::default()
    });
    kept.write(store, instance)
}

/// Returns the notices of a stop at which this state is found, without writing anything.
pub(crate) fn foreseen(
    (chart, store, instance): (&Chart, &Store, &str),
    found: Found<'_>,
    session: Option<&str>,
) -> Vec<String> {
    let kept = KeptNotices::read(store, instance);
    let mut kept = kept.where_found(found.context);
    if session.is_some() && driver::are_others(&driver::of(store, instance), session) {
        return Vec::new();
    }
    if kept.has_changed(chart, found.context) {
        kept.observe_found(chart, found);
    }
    kept.in_words(chart, found.context, session)
}

/// The notices of a stop, until the host has them.
#[derive(Debug)]
pub(crate) struct Pending {
    store: Store,
    instance: String,
    notices: Vec<Notice>,
    pub(crate) texts: Vec<String>,
    /// Why the user is called.
    pub(crate) calls: Vec<String>,
}

impl Pending {
    /// Returns the notices for the user of the session that stops, if there are any: `context` is the state as it stood, and
    /// `now` reads it again; its flag says that there is none.
    pub(crate) fn find(
        (chart, store, instance): (&Chart, &Store, &str),
        (context, now): (&Context, impl Fn() -> Option<(Context, bool)>),
        session: Option<&str>,
    ) -> Option<Self> {
        // Where nothing is kept, the chart's cycles are not read.
        let kept = KeptNotices::read(store, instance);
        let mut kept = kept.where_found(context);
        let has_changed = kept.has_changed(chart, context);
        if !has_changed && kept.notices.is_empty() && kept.calls.is_empty() {
            return None;
        }
        // The notices belong to whoever drives the plan.
        let drivers = driver::of(store, instance);
        if session.is_some() && driver::are_others(&drivers, session) {
            return None;
        }
        let read_again;
        let mut context = context;
        if has_changed {
            let _lock = WriteLock::acquire(store, instance).ok()?;
            // Another process may have written both since.
            let is_gone;
            (read_again, is_gone) = now()?;
            context = &read_again;
            kept = KeptNotices::read(store, instance).where_found(context);
            kept.observe_found(chart, Found { context, is_gone });
            kept.write(store, instance).ok()?;
        }
        Some(Self {
            texts: kept.in_words(chart, context, session),
            notices: kept.notices,
            calls: kept.calls,
            instance: instance.to_owned(),
            store: store.clone(),
        })
    }

    /// Removes what the host has now.
    pub(crate) fn settle(self) {
        let Ok(_lock) = WriteLock::acquire(&self.store, &self.instance) else {
            return;
        };
        let mut kept = KeptNotices::read(&self.store, &self.instance);
        let is_said = |notice: &Notice| notice.fields.is_empty() && self.notices.contains(notice);
        kept.notices.retain(|notice| !is_said(notice));
        // It may have changed again since.
        let said = || self.notices.iter().flat_map(|notice| &notice.fields);
        kept.retain_fields(|field| {
            let said = said().find(|said| (&said.name, &said.old) == (&field.name, &field.old));
            if let Some(said) = said {
                field.old = said.new.clone();
            }
            field.new != field.old
        });
        kept.calls.retain(|call| !self.calls.contains(call));
        // If it stays, it is said again.
        let _ = kept.write(&self.store, &self.instance);
    }
}
