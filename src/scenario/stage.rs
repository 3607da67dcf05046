//! Where a scenario takes place.

use super::failure::Failure;
use super::script::{Expected, ScenarioStep};
use crate::engine::context::Context;
use crate::store::journal::DecisionLine;

/// The state of the instance, if there is one yet.
pub(crate) type State = Option<Context>;

/// Where a scenario takes place.
pub(crate) trait Stage {
    /// Starts a turn: the user has typed something.
    fn begin_turn(&mut self);

    /// Sets everything that a step changes, except files and commands.
    fn arrange(&mut self, step: &ScenarioStep) -> Result<(), Failure>;

    /// Returns the text of a file.
    fn read(&self, name: &str) -> Result<String, Failure>;

    /// Writes a file, and creates its folders.
    fn write(&mut self, name: &str, text: &str) -> Result<(), Failure>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> Result<(), Failure>;

    /// Runs a command line as the agent's shell would: `taskie …`.
    fn run(&mut self, line: &str, step: &ScenarioStep) -> Result<(), Failure>;

    /// Sends an event to the hook.
    fn send(&mut self, event: &str, step: &ScenarioStep) -> Result<ScriptedAnswer, Failure>;

    /// Returns the state; `None` if there is none yet.
    fn state(&self) -> State;

    /// Returns the decisions of the last command line.
    fn decisions(&self) -> Vec<DecisionLine>;

    /// Replaces text that occurs once in a file.
    fn edit(&mut self, name: &str, from: &str, to: &str) -> Result<(), Failure> {
        let text = self.read(name)?;
        match text.matches(from).count() {
            1 => self.write(name, &text.replacen(from, to, 1)),
            found => Err(Failure::Script(format!(
                "{name} has {from:?} {found} times, and it must be once"
            ))),
        }
    }
}

/// The answer to an event.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedAnswer {
    pub(crate) answer: Expected,
    /// The message to the agent.
    pub(crate) reason: Option<String>,
    /// The message to the user.
    pub(crate) message: Option<String>,
    /// The decision and its reasons.
    pub(crate) decision: Option<DecisionLine>,
    /// How a reviewer was called, if one was.
    pub(crate) call: Option<Call>,
    /// The commands and their output.
    pub(crate) transcript: String,
}

/// How a reviewer was called.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Call {
    /// The model on the command line.
    pub(crate) model: Option<String>,
    /// The file that it has to write.
    pub(crate) file: String,
}

impl ScriptedAnswer {
    /// Returns the verdict that was counted.
    pub(crate) fn verdict(&self) -> Option<&str> {
        self.decision.as_ref()?.review.as_ref()?.verdict.as_deref()
    }

    /// Returns the gate that failed.
    pub(crate) fn gate(&self) -> Option<&str> {
        self.decision.as_ref()?.review.as_ref()?.gate.as_deref()
    }

    /// Returns the rules that fired, the texts of the answer, and the output of the commands.
    pub(crate) fn in_words(&self) -> String {
        let fired = self.decision.iter().flat_map(DecisionLine::fired);
        let rules = fired.map(|rule| {
            let about = rule.about.as_deref().map(|about| format!("  {about}"));
            format!("{}{}", rule.rule, about.unwrap_or_default())
        });
        let texts = self.reason.iter().chain(&self.message).chain([&self.transcript]);
        let lines = rules.chain(texts.filter(|text| !text.is_empty()).cloned());
        lines.collect::<Vec<_>>().join("\n")
    }
}
