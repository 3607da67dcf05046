//! The world on disk. Each part is read when it is needed and then kept, so that a snapshot always gives the same
//! answers.

mod files;
mod reviews;
mod user;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use minijinja::value::Value;

use crate::chart::known::MAX_COST;
use crate::chart::model::Field;
use crate::clock::in_utc;
use crate::disk;
use crate::engine::context::{self, Context};
use crate::engine::decide::decide;
use crate::engine::decision::{Ended, Step};
use crate::engine::event::Event;
use crate::engine::fault::Fault;
use crate::engine::inspect::Inspector;
use crate::engine::records;
use crate::engine::spent::{Past, spent as spent_so_far};
use crate::engine::world::{Source, World};
use crate::files::timestamp;
use crate::hash::IndexMap;
use crate::project::find::Instance;
use crate::project::git;
use crate::project::ledger;
use crate::project::listing::{Listing, names_in};
use crate::project::state_file::{self, Reading};
use crate::run::place::Place;
use crate::store::postponed;
use crate::text::full_stop;

/// One instance on disk.
#[derive(Debug)]
pub(crate) struct Snapshot {
    place: Place,
    /// The contents of `state.json`.
    pub(crate) state: Reading,
    context: Context,
    listing: OnceLock<Result<Listing, Fault>>,
    nested: OnceLock<Result<Vec<String>, Fault>>,
    tables: Mutex<IndexMap<String, Result<Value, Fault>>>,
    config: OnceLock<Result<Context, String>>,
    /// Settings that count wherever those on disk are looser.
    bounds: Option<Context>,
    siblings: OnceLock<Result<Value, Fault>>,
    /// The last run of the journal is the one that is being decided on.
    has_run: bool,
    warnings: Mutex<Vec<String>>,
}

impl Place {
    /// Takes a snapshot of what is there now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::new(Snapshot::take(self, self.state()))
    }

    /// Returns what the checks find that look at nothing but settings and fields of the state.
    pub(crate) fn unfit_settings(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        // Nothing of it is reviewed anymore.
        let is_over = context::is_over(&self.chart, snapshot.context());
        let found = (!is_over).then(|| snapshot.view().unfit_settings());
        // A setting that cannot be read is reported where it is used.
        found.and_then(Result::ok).unwrap_or_default()
    }
}

impl Snapshot {
    /// Returns it as the world that a decision looks at.
    pub(crate) fn as_world(self: &Arc<Self>) -> Arc<dyn World> {
        Arc::<Self>::clone(self)
    }

    /// Returns what the chart decides about an event in it.
    pub(crate) fn decide(
        self: &Arc<Self>,
        event: &Event,
        ended: Option<Ended>,
    ) -> Result<Step, Fault> {
        decide(&self.place.chart, &self.as_world(), event, ended)
    }

    /// Returns what expressions see in it where no event is decided.
    pub(crate) fn view(self: &Arc<Self>) -> Inspector {
        Inspector::new(&self.place.chart, &self.as_world())
    }

    /// Returns the typed fields of `state.json`, with defaults where keys are absent.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Takes this state; everything else is read when it is needed.
    pub(crate) fn take(place: &Place, state: Reading) -> Self {
        let file = place.instance.dir.join(state_file::FILE);
        let file = file.display();
        let chart = &place.chart;
        let context = state.context().cloned();
        let mut context = context.unwrap_or_else(|| context::initial(chart));
        let mut warnings = Vec::new();
        let is_absent = |name: &String| match &state {
            Reading::Missing => true,
            Reading::Sound { absent, .. } => absent.contains(name),
            Reading::Broken(_) => false,
        };
        let set = (chart.context.iter()).filter_map(|(name, field)| Some((name, field.setting()?)));
        let mut set = set.filter(|(name, _)| is_absent(name)).peekable();
        if set.peek().is_some() {
            // Settings that cannot be read are reported when a rule looks at one.
            let values = place.settings().map(|read| read.values());
            let values = values.unwrap_or_default();
            context.extend(
                set.filter_map(|(name, setting)| {
                    Some((name.clone(), values.get(setting)?.clone()))
                }),
            );
        }
        if let Some(fields) = state.lacks() {
            warnings.push(format!("{file} lacks {fields}: the defaults are used."));
        }
        if let Reading::Broken(why) = &state {
            let halt = match chart.cycles.is_empty() {
                true => "Nothing is decided".to_owned(),
                false => format!("No review of this {} runs", chart.scope.noun()),
            };
            warnings.push(format!(
                "{file}: {why}{} {halt} and nothing is written until it is fixed.",
                full_stop(why)
            ));
        }
        Self {
            place: place.clone(),
            state,
            context,
            listing: OnceLock::new(),
            nested: OnceLock::new(),
            tables: Mutex::default(),
            config: OnceLock::new(),
            bounds: None,
            siblings: OnceLock::new(),
            has_run: false,
            warnings: Mutex::new(warnings),
        }
    }

    /// Returns a new snapshot of the same state, but with these fields.
    pub(crate) fn again(&self, fields: &Context) -> Self {
        let mut again = Self::take(&self.place, self.state.clone());
        again.context.extend(fields.clone());
        again
    }

    /// Returns it as the outcome of a review sees it: wherever the state or a setting is looser than in `before`, which was
    /// taken when the review became due, that counts.
    pub(crate) fn after_review(&self, before: &Self) -> Self {
        let mut after = Self::take(&self.place, self.state.clone());
        after.has_run = true;
        bound(&mut after.context, before.context(), &self.place.chart.context);
        after.bounds = before.config().ok().cloned();
        after
    }

    /// Returns the problems with everything that has been read so far, for the user.
    pub(crate) fn warnings(&self) -> Vec<String> {
        locked(&self.warnings).clone()
    }

    fn warn(&self, warning: String) {
        let mut warnings = locked(&self.warnings);
        // The same thing may be read more than once.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// Replaces the values that are looser than those in `bounds`.
fn bound(values: &mut Context, bounds: &Context, fields: &IndexMap<String, Field>) {
    for (name, field) in fields {
        if let (Some(value), Some(bound)) = (values.get_mut(name), bounds.get(name))
            && field.is_looser(value, bound)
        {
            value.clone_from(bound);
        }
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World for Snapshot {
    fn field(&self, name: &str) -> Option<&serde_json::Value> {
        self.context.get(name)
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        Ok(match source {
            Source::Scope => {
                // A state that cannot be used counts as a missing one.
                let is_started = matches!(self.state, Reading::Sound { .. });
                let Instance { name, dir } = &self.place.instance;
                records::scope(&self.place.chart, name, dir, is_started)
            }
            Source::Files(set) => self.files(set)?,
            Source::Table(name) => self.table(name)?,
            Source::Answers { answer, review } => {
                let (answer, modified) = (self.modified(answer)?, self.modified(review)?);
                let ended = || self.ended(review);
                Value::from(disk::is_as_new(answer, modified, ended))
            }
            Source::Config(name) => self.setting(name)?,
            Source::Dirty => {
                let dirty = git::is_dirty(&self.place.root, &self.place.chart.scope.home);
                Value::from(dirty.unwrap_or_else(|why| {
                    self.warn(format!("Cannot check for uncommitted changes: {why}."));
                    false
                }))
            }
            Source::Base => Value::from(self.place.journal().facts().left.base.clone()),
            Source::Siblings => self.siblings.get_or_init(|| self.siblings()).clone()?,
            Source::Driver { session } => self.driver(session.as_deref()),
            Source::Spent { cycle, files, count } => {
                let limit = self.config()?.get(MAX_COST).and_then(serde_json::Value::as_f64);
                let past = Past {
                    runs: self.place.journal().runs(),
                    has_run: self.has_run,
                    retried: self.place.journal().facts().retried.clone(),
                };
                spent_so_far(&self.place.chart, limit, &past, (cycle, files, *count))
            }
            Source::Stalled { cycle, files, count, subject, rounds } => {
                Value::from(self.is_stalled((cycle, files, *count), subject, *rounds))
            }
            Source::Findings { files, count, is_of_cycle } => {
                let unfinished = files.as_deref().map(|files| (files, *count));
                self.findings(unfinished, *is_of_cycle)
            }
            Source::Rulings => Value::from(ledger::rulings(&self.place.root, &self.place.dir())),
            Source::Postponed(by) => {
                Value::from(postponed::read(&self.place.store, by).map(in_utc))
            }
            Source::Now => Value::from(timestamp::now()),
            Source::Names(folder) => names_in(&self.place.root, folder)?,
            Source::Prompt(name) => self.prompt(name)?,
        })
    }
}
