//! What the hook does at the next stop.

use serde::Serialize;

use crate::engine::decision::{Answer, Invocation, Step};
use crate::run::place::Place;
use crate::run::stuck::Stuck;

/// What the hook does at the next stop.
#[derive(Debug, Serialize)]
pub(crate) struct Stop {
    pub(crate) does: Does,
    pub(crate) text: String,
    /// What an allowed stop says to the user, as part of the text.
    #[serde(skip)]
    pub(crate) said: String,
}

/// The kinds of answer to a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Does {
    /// A review runs.
    Review,
    /// The stop is blocked.
    Block,
    /// It is allowed.
    Allow,
}

impl Stop {
    pub(super) fn allowed(why: &str) -> Self {
        Self { does: Does::Allow, text: format!("it is allowed: {why}"), said: String::new() }
    }

    /// What a stop does about an instance that it is not about.
    pub(super) fn elsewhere(noun: &str) -> Self {
        Self { text: format!("nothing is done about this {noun}"), ..Self::allowed("") }
    }

    /// Returns what is foreseen, for which a session may be missing.
    pub(super) fn foreseen(place: &Place, step: Result<Step, Stuck>, is_unattended: bool) -> Self {
        let stop = match step {
            Ok(step) => what(place, step),
            Err(why) => return Self::allowed(&why.to_string()),
        };
        if !is_unattended {
            return stop;
        }
        let then = match stop.does {
            Does::Allow if stop.said.is_empty() => String::new(),
            _ => format!("; once one has taken it up, {}", stop.text),
        };
        Self::allowed(&format!("no session drives the {}{then}", place.chart.scope.noun()))
    }
}

/// Returns in one line what the hook would do.
fn what(place: &Place, step: Step) -> Stop {
    let mut said = String::new();
    let (does, text) = match step {
        Step::Invoke(invocation) => (Does::Review, runs(place, &invocation)),
        Step::Done(decision) => match decision.answer {
            Answer::Block(reason) => (Does::Block, format!("the agent is sent back: {reason}")),
            _ => {
                said = decision.messages.join(" ");
                match said.as_str() {
                    "" => (Does::Allow, "it is allowed".to_owned()),
                    said => (Does::Allow, format!("it is allowed: {said}")),
                }
            }
        },
    };
    Stop { does, text, said }
}

fn runs(place: &Place, invocation: &Invocation) -> String {
    let gates = match invocation.gates.as_slice() {
        [] => String::new(),
        commands => format!("after the gates (`{}`), ", commands.join("`, `")),
    };
    format!(
        "{gates}{} {} by {} runs and writes {}",
        invocation.cycle,
        invocation.n,
        invocation.by,
        place.instance.dir.join(&invocation.file).display()
    )
}
