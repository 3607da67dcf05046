//! Calls the user when it is their turn, once for each state, with the commands of the chart.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::command_line;
use crate::engine::decision::Answer;
use crate::engine::event::{Event, Trigger};
use crate::process::program::locate;
use crate::project::state_file;
use crate::run::asked;
use crate::run::foresee::peek;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::store::journal::Journal;
use crate::store::once::CALL;
use crate::text::plain_line;

/// The most characters of a text in the environment.
const LENGTH: usize = 1_000;

/// Why the user is called where nothing can be decided.
pub(super) const STUCK: &str = "no decision can be made";

/// A call that is still to be made.
#[derive(Debug)]
pub(crate) struct UserCall {
    commands: Vec<String>,
    env: Vec<(String, String)>,
    root: PathBuf,
    /// What it is about, and why, to be noted once it is made.
    journal: Arc<Journal>,
    state: Vec<u8>,
    reason: String,
}

impl UserCall {
    /// Returns the call with which an event ends, if it is the user's turn now, and the user wants to be called.
    pub(crate) fn of(place: &Place, event: &Event, performed: &Performed) -> Option<Self> {
        let reason = performed.called.as_ref()?;
        let ended = performed.decision.ended.as_ref();
        // Where a gate has just failed, that comes first.
        let is_gate = ended.is_some_and(|ended| ended.outcome.failed_gate().is_some());
        let next = performed.unusable.clone().or_else(|| next(place, event).filter(|_| !is_gate));
        let next = next.unwrap_or_else(|| performed.decision.messages.join(" "));
        Self::or_noted(place, reason, &next)
    }

    /// Returns the call at a stop about which nothing can be decided, and `why`, once for each state.
    pub(crate) fn of_stuck(place: &Place, event: &Event, why: &str) -> Option<Self> {
        if !is_stuck(place, event) {
            return None;
        }
        Self::or_noted(place, STUCK, why)
    }

    /// Returns the call, which is noted when it is made. If the user does not want to be called, it is noted now.
    fn or_noted(place: &Place, reason: &str, next: &str) -> Option<Self> {
        let call = Self::new(place, reason, next);
        if call.is_none() {
            note(place, Some(reason));
        }
        call
    }

    fn new(place: &Place, reason: &str, next: &str) -> Option<Self> {
        let commands = place.snapshot().view().calls().ok()?;
        let name = &place.instance.name;
        let noun = place.chart.scope.noun().to_uppercase().replace('-', "_");
        let line = |text: &str| plain_line(text, LENGTH);
        let env = [(noun.as_str(), line(name)), ("REASON", line(reason)), ("NEXT", line(next))];
        let env = env.map(|(name, text)| (format!("TASKIE_{name}"), text));
        Some(Self {
            commands,
            env: env.into(),
            root: place.root.clone(),
            journal: Arc::clone(place.journal()),
            state: place.snapshot().state.text().unwrap_or_default().to_vec(),
            reason: reason.to_owned(),
        })
    }

    /// Calls the user for what an agent has just done in their place. Returns why a command could not be started.
    pub(crate) fn tell(place: &Place, event: &Event, news: &str) -> Vec<String> {
        let call = Self::new(place, news, &next(place, event).unwrap_or_default());
        call.map(|call| call.launch()).unwrap_or_default()
    }

    /// Starts the commands, and notes that. Returns why some could not be started.
    pub(crate) fn start(self) -> Vec<String> {
        let failed = self.launch();
        // If this process is killed before, the next stop calls.
        let _ = CALL.note(&self.journal, &self.state, Some(&self.reason));
        failed
    }

    /// Starts the commands, and waits for none of them.
    fn launch(&self) -> Vec<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let start = |line: &String| {
            let words = command_line::words(line)?;
            let (program, args) = words.split_first().ok_or("it is empty")?;
            let program = locate(program, &path, &self.root)?;
            let mut command = Command::new(program);
            command.args(args).current_dir(&self.root);
            command.envs(self.env.iter().map(|(name, value)| (name, value)));
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let started = command.process_group(0).spawn();
            started.map(drop).map_err(|error| error.to_string())
        };
        let failed = self.commands.iter().filter_map(|line| {
            let why = start(line).err()?;
            Some(format!("`{line}`, which would call you, was not started: {why}"))
        });
        failed.collect()
    }
}

/// Returns what the user can do now.
fn next(place: &Place, event: &Event) -> Option<String> {
    let mut asked = asked::next(place, event.session.clone(), None);
    // The agent has stopped: it does nothing without the user.
    asked.fields["stopped"] = true.into();
    let decision = peek(place, &asked).ok()?.0.decision()?;
    match decision.answer {
        _ if !decision.messages.is_empty() => Some(decision.messages.join(" ")),
        Answer::Action { why, .. } => Some(why),
        _ => None,
    }
}

/// Returns whether nobody knows yet that no decision can be made about a stop: until that is fixed, no review runs.
pub(super) fn is_stuck(place: &Place, event: &Event) -> bool {
    let snapshot = place.snapshot();
    let state = snapshot.state.text().unwrap_or_default();
    event.is_stop() && place.is_in_cycle() && !CALL.is_for(place.journal(), state)
}

/// Returns why the user is called at a stop: only if they have not been called for this state yet, or if a review has run since,
/// and never because they have ended a review themselves.
pub(super) fn reason(place: &Place, event: &Event, performed: &Performed) -> Option<String> {
    let unusable = performed.unusable.as_ref();
    let reason = unusable
        .map(|_| format!("{} cannot be used", state_file::FILE))
        .or_else(|| performed.call())
        .filter(|_| event.is_stop())?;
    let ended = performed.decision.ended.as_ref();
    if ended.is_some_and(|ended| ended.effort.is_cancelled) {
        return None;
    }
    let snapshot = place.snapshot();
    let state = snapshot.state.text().unwrap_or_default();
    let has_run = ended.is_some_and(|ended| ended.outcome.failed_gate().is_none());
    if !has_run && CALL.is_for(place.journal(), state) {
        return None;
    }
    if event.fields.get("terminal").is_some() {
        // The user of a command reads its answer. A hook calls, and notes it then.
        note(place, Some(&reason));
    }
    Some(reason)
}

/// Notes that the user knows of the state that a command of theirs has led to: they have typed it in a terminal.
pub(super) fn note_typed(place: &Place, event: &Event, performed: &Performed) {
    let is_typed = event.fields.get("terminal") == Some(&Json::Bool(true));
    let is_command = matches!(event.trigger, Trigger::Command(_) | Trigger::Enter { .. });
    if is_typed && is_command && !performed.decision.patch.is_empty() {
        note(place, None);
    }
}

/// Notes that the user is called for the state that there is now, or has led to it. If that fails, the next stop calls.
fn note(place: &Place, why: Option<&str>) {
    let snapshot = place.snapshot();
    let state = snapshot.state.text().unwrap_or_default();
    let _ = CALL.note(place.journal(), state, why);
}
