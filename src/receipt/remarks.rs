//! What a reader of a record should know: whatever let a cycle end without a clean review, or changed while it ran.
//!
//! It is all in the entries, so whoever checks a receipt computes it again.

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::replay::changes;
use super::{DecisionEntry, Entry, ReviewEntry, statement};
use crate::chart::choice::words_of;
use crate::engine::context::Context;
use crate::engine::event::Trigger;
use crate::hash::IndexMap;
use crate::project::ledger;
use crate::store::open_record;
use crate::text::{cut, shown};

/// The longest value that is named, in characters.
const VALUE: usize = 60;

/// Something that a reader should know.
#[derive(Debug, Clone)]
pub(crate) struct Remark {
    at: String,
    what: String,
    /// The user reads it elsewhere: in the message about a review, or at the stop after a command.
    is_said: bool,
}

impl Remark {
    /// Returns what it says; `None` if the user reads it elsewhere.
    pub(crate) fn unsaid(self) -> Option<String> {
        (!self.is_said).then_some(self.what)
    }
}

/// With the time.
impl std::fmt::Display for Remark {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.at.get(..16).unwrap_or(&self.at);
        write!(out, "{} UTC: {}", at.replace('T', " "), self.what)
    }
}

/// The program of a reviewer.
#[derive(Debug, Clone)]
struct Program {
    path: String,
    sha256: Option<String>,
    /// The last one that it has said.
    version: Option<String>,
    /// It has not said which version it is.
    is_silent: bool,
}

/// What is known of a record up to some entry. It goes on from one line to the next: what changes between two cycles is named,
/// too.
#[derive(Debug, Default, Clone)]
pub(crate) struct Remarks {
    found: Vec<Remark>,
    settings: Option<Context>,
    /// Those that a decision about a review saw: the message about it says what was changed while it ran.
    seen: Option<Context>,
    chart: Option<String>,
    /// The programs of reviewers, by their names in the chart.
    programs: IndexMap<String, Program>,
    /// What files have said since the last review that was carried out about what has to run, by file.
    commands: IndexMap<String, Vec<String>>,
    /// What the user had decided about findings when the last review began.
    rulings: IndexMap<String, Option<String>>,
    state: Option<Context>,
    /// The states that the lines have left which this one unites.
    merged: Vec<Context>,
    /// This machine had entries of another checkout.
    is_elsewhere: bool,
    /// The review about which nothing has been decided yet.
    open: Option<String>,
    /// What was found since the last review about which something was decided.
    pending: Vec<Remark>,
}

impl Remarks {
    /// Returns the remarks about the next line, which has these entries. `merged` are the states that the other lines have
    /// left which it unites.
    pub(crate) fn line<'e, W: 'e>(
        &mut self,
        entries: impl IntoIterator<Item = &'e Entry<W>>,
        merged: Vec<Context>,
    ) -> Vec<Remark> {
        self.is_elsewhere = false;
        self.merged = merged;
        self.more(entries)
    }

    /// Returns the remarks about the next entries of the same line.
    pub(crate) fn more<'e, W: 'e>(
        &mut self,
        entries: impl IntoIterator<Item = &'e Entry<W>>,
    ) -> Vec<Remark> {
        for entry in entries {
            let before = self.found.len();
            self.chart(entry.at(), entry.chart());
            self.settings(entry);
            match entry {
                Entry::Review(review) => self.review(review),
                Entry::Decision(decision) => self.decision(decision),
            }
            self.pending.extend_from_slice(&self.found[before..]);
            if matches!(entry, Entry::Decision(decision) if decision.is_reviewed) {
                // The message about the review has said it.
                self.pending.clear();
            }
        }
        std::mem::take(&mut self.found)
    }

    /// Returns what nobody has said yet, once each: what was found since the last review about which something was decided.
    pub(crate) fn into_unsaid(self) -> Vec<String> {
        let pending = self.pending.into_iter();
        let unsaid: IndexSet<String> = pending.filter_map(Remark::unsaid).collect();
        unsaid.into_iter().collect()
    }

    /// Returns the fields after the last entry.
    pub(crate) fn state(&self) -> Option<&Context> {
        self.state.as_ref()
    }

    fn add(&mut self, at: &str, what: String, is_said: bool) {
        let at = at.to_owned();
        self.found.push(Remark { at, what, is_said });
    }

    fn chart(&mut self, at: &str, chart: &str) {
        let before = self.chart.replace(chart.to_owned());
        if before.is_some_and(|before| before != chart) {
            self.add(at, "the chart was changed".to_owned(), false);
        }
    }

    /// Compares the settings with those before. What a decision about a review saw counts for the next entry.
    fn settings<W>(&mut self, entry: &Entry<W>) {
        let settings = entry.settings().cloned().or_else(|| self.seen.take());
        if matches!(entry, Entry::Decision(decision) if decision.is_reviewed) {
            self.seen = settings;
            return;
        }
        self.seen = None;
        let Some(settings) = settings else {
            return;
        };
        let before = self.settings.replace(settings.clone()).unwrap_or_default();
        for (name, old) in &before {
            let new = settings.get(name).unwrap_or(&Json::Null);
            if new != old {
                let (old, new) = (short(old), short(new));
                let what = format!("the setting {name} changed from {old} to {new}");
                self.add(entry.at(), what, false);
            }
        }
    }

    fn review(&mut self, review: &ReviewEntry) {
        let ReviewEntry { at, cycle, n, .. } = review;
        if let Some(open) = self.open.replace(format!("{cycle} {n}")) {
            let what = format!("nothing was decided about a review: {open}");
            self.add(at, what, false);
        }
        if let Some(why) = &review.error {
            self.add(at, format!("{cycle} {n} failed: {}", shown(why)), true);
        }
        if let Some(unrun) = &review.unrun {
            let what = match (review.found.denied, review.found.ran.is_empty()) {
                (0, true) => "names no command that it ran".to_owned(),
                (0, false) => {
                    format!("does not say that `{}` succeeded", shown(&unrun.join("`, `")))
                }
                _ => {
                    "names commands of which its program reports that none can have run".to_owned()
                }
            };
            self.add(at, format!("{cycle} {n} passed, and {what}"), true);
        }
        self.edited(at, &review.edited);
        self.program(review);
        self.commands(review);
        self.rulings(at, &review.rulings);
    }

    /// Names the files that another hand has changed.
    fn edited(&mut self, at: &str, edited: &IndexMap<String, Option<String>>) {
        for (file, now) in edited {
            let is_of_record = [statement::FILE, open_record::FILE].contains(&file.as_str());
            let file = shown(file);
            let what = match now {
                _ if file == ledger::FILE => {
                    format!("`{file}` lacks a decision that `taskie resolve` has written")
                }
                Some(_) if is_of_record => format!("{file} was changed, and not by taskie"),
                Some(_) => format!("{file} was changed after the review"),
                None => format!("{file} is gone"),
            };
            self.add(at, what, false);
        }
    }

    /// Names the decisions about findings that are gone, and new ones that the machine which reviewed has not recorded.
    fn rulings(&mut self, at: &str, rulings: &IndexMap<String, Option<String>>) {
        let before = std::mem::replace(&mut self.rulings, rulings.clone());
        for line in before.keys().filter(|line| !rulings.contains_key(*line)) {
            let mut made = rulings.iter().filter(|(_, by)| by.is_some());
            let id = ledger::id(line);
            if !made.any(|(new, _)| ledger::id(new) == id) {
                let what = format!("the decision about {} is gone from `rulings`", shown(id));
                self.add(at, what, false);
            }
        }
        for (line, by) in rulings {
            if by.is_none() && !before.contains_key(line) {
                let line = cut(shown(line).into_owned(), VALUE);
                let what = format!(
                    "`rulings` has a line that `taskie resolve` has not written on this machine: {line}"
                );
                self.add(at, what, false);
            }
        }
    }

    /// Compares the lines that say what has to run with those of the last review that was carried out, whatever that was
    /// about: where a gate has failed, the agent is asked to correct it.
    fn commands(&mut self, review: &ReviewEntry) {
        let now = &review.commands;
        if review.times.is_some() || review.error.is_some() {
            for (file, new) in now {
                let old = self.commands.entry(file.clone()).or_default();
                let added = new.iter().filter(|line| !old.contains(line)).cloned();
                let added: Vec<String> = added.collect();
                old.extend(added);
            }
            return;
        }
        let before = std::mem::replace(&mut self.commands, now.clone());
        for (file, old) in &before {
            let new = now.get(file).map_or(&[][..], Vec::as_slice);
            let gone = old.iter().filter(|line| !new.contains(line)).cloned();
            let gone: Vec<String> = gone.collect();
            if !gone.is_empty() {
                let [gone, new] = [&gone, new].map(|lines| match lines.is_empty() {
                    true => "none".to_owned(),
                    false => format!("`{}`", cut(shown(&lines.join("`, `")).into_owned(), VALUE)),
                });
                let file = shown(file);
                let what = format!("the commands in {file} changed from {gone} to {new}");
                self.add(&review.at, what, false);
            }
        }
    }

    /// Compares the reviewer's program with the one before. The same one can be in several places.
    fn program(&mut self, review: &ReviewEntry) {
        let ReviewEntry { at, cycle, n, .. } = review;
        let Some(program) = &review.program else {
            return;
        };
        let before = self.programs.shift_remove(&review.invocation);
        // What was known once is compared with the next one that says it.
        let known = before.as_ref().and_then(|before| before.version.clone());
        let (sha256, version) = (&review.program_sha256, &review.version);
        let now = Program {
            path: program.clone(),
            sha256: sha256.clone(),
            version: version.clone().or(known),
            is_silent: version.is_none(),
        };
        self.programs.insert(review.invocation.clone(), now);
        let Some(before) = before else {
            return;
        };
        let is_same = match (&before.sha256, sha256) {
            (Some(old), Some(new)) => old == new,
            _ => before.path == *program,
        };
        let what = match (is_same, before.version.as_ref().zip(version.as_ref())) {
            (true, Some((old, new))) if old != new => {
                let [old, new] = [old, new].map(|version| shown(version));
                format!("the reviewer of {cycle} {n} says that it is version {new}, not {old}")
            }
            (true, None) if !before.is_silent && version.is_none() => {
                format!("the reviewer of {cycle} {n} does not say which version it is")
            }
            (true, _) => return,
            (false, _) if before.path == *program => {
                format!("{}, the reviewer of {cycle} {n}, was changed", shown(&before.path))
            }
            (false, _) => format!(
                "the reviewer of {cycle} {n} was {}, not {}",
                shown(program),
                shown(&before.path)
            ),
        };
        self.add(at, what, false);
    }

    fn decision<W>(&mut self, decision: &DecisionEntry<W>) {
        let at = &decision.at;
        if decision.is_reviewed {
            self.open = None;
        }
        self.edited(at, &decision.edited);
        if let Some(rulings) = &decision.rulings {
            self.rulings(at, rulings);
        }
        if decision.is_claim_lost {
            let what = "the record of which session drives it was removed, and not by taskie";
            self.add(at, what.to_owned(), true);
        }
        if decision.is_added_to {
            let what = "entries were added to the record, and not by taskie in this work tree: git \
                        has brought them, or they were written by hand";
            self.add(at, what.to_owned(), false);
        }
        if decision.is_elsewhere && !self.is_elsewhere {
            let what = "the folder is from another checkout, or was taken back to an earlier state: \
                        what this machine recorded since is not in this record";
            self.add(at, what.to_owned(), false);
        }
        self.is_elsewhere = decision.is_elsewhere;
        let left = self.state.take();
        if let (Some(state), Some(left), false) = (&decision.state, &left, decision.begins) {
            let changed: Vec<String> = changes(left, state)
                .map(|(name, old, new)| format!("{name} from {} to {}", short(old), short(new)))
                .collect();
            let changed = changed.join(", ");
            let what = match self.merged.contains(state) {
                true => "state.json came from a branch that was merged".to_owned(),
                false => format!("state.json was changed, and not by taskie: {changed}"),
            };
            if !changed.is_empty() {
                self.add(at, what, true);
            }
        }
        self.state = decision.after(left);
        if decision.is_superseded {
            let what = "a review did not count: the state was changed meanwhile".to_owned();
            self.add(at, what, true);
        }
        let line = match &decision.event.trigger {
            Trigger::Command(name) => words_of(name),
            trigger @ Trigger::Enter { force: true, .. } => trigger.to_string(),
            _ => return,
        };
        let is_typed = decision.event.fields.get("terminal") == Some(&Json::Bool(true));
        let by = match &decision.event.session {
            _ if is_typed => "in a terminal".to_owned(),
            Some(session) => format!("in session {}", shown(session)),
            None => "neither in a terminal nor in a known session".to_owned(),
        };
        let args = decision.event.args.iter();
        let args = args.map(|(name, value)| format!("{name} {}", short(value)));
        let args: Vec<String> = args.collect();
        let with = match args.is_empty() {
            true => String::new(),
            false => format!(" with {}", args.join(", ")),
        };
        self.add(at, format!("`taskie {line}`{with} was run {by}"), true);
    }
}

fn short(value: &Json) -> String {
    cut(shown(&value.to_string()).into_owned(), VALUE)
}
