//! A scenario as a file: what the user types, what the agent does, what the reviewer finds, and the expected results.
//!
//! A step is everything that the agent does up to one event, which is a stop unless the step says otherwise. It is data, so
//! that you can read and change a scenario without knowing Rust. The doc comments here explain the keys.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::failure::Failure;
use crate::engine::context::Context;
use crate::hash::IndexMap;
use crate::host::events::is_stop;

/// A whole scenario.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// Printed before the first step.
    #[serde(default)]
    pub(crate) intro: String,
    /// Printed after the last step.
    #[serde(default)]
    pub(crate) outro: String,
    /// The directory of the instance, from the project's root. Only a demo needs it.
    #[serde(default)]
    pub(crate) dir: String,
    /// The id of its session: a UUID, like those of the host.
    #[serde(default = "some_session")]
    pub(crate) session: String,
    /// The phase that the instance must be in after the last step.
    pub(crate) ends: Option<String>,
    /// The state of the instance before the first step; none yet if this is omitted.
    pub(crate) begins: Option<Context>,
    /// The fields of that state that are null.
    #[serde(default)]
    pub(crate) null: Vec<String>,
    /// The steps, in order.
    #[serde(rename = "step")]
    pub(crate) steps: Vec<ScenarioStep>,
    /// The reviews of a change before that. Only a demo has them.
    #[serde(default, rename = "change")]
    pub(crate) changes: Vec<ScriptedChange>,
}

/// What somebody changes without a plan, and what a reviewer finds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedChange {
    /// What is done, in words.
    pub(crate) about: String,
    /// Files: name, from the project's root → text.
    pub(crate) write: IndexMap<String, String>,
    /// What the reviewer answers. Without it, the change is committed.
    pub(crate) answer: Option<Json>,
}

/// Returns the session of a scenario that names none.
fn some_session() -> String {
    "scenario".to_owned()
}

/// What the agent does up to one event, and the expected result.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScenarioStep {
    /// A heading, for the reader.
    pub(crate) chapter: Option<String>,
    /// What the user types. It starts a turn.
    pub(crate) user: Option<String>,
    /// What the agent does, in words: "writes the plan".
    pub(crate) agent: String,
    /// Files that it writes: name → text. A name is relative to the instance's directory; one that begins with `/` is
    /// relative to the project's root.
    pub(crate) write: IndexMap<String, String>,
    /// Files that it changes: name → the old text, the new text.
    pub(crate) edit: IndexMap<String, [String; 2]>,
    /// Files that it removes.
    pub(crate) remove: Vec<String>,
    /// Fields of the state that the user changes in `state.json`.
    pub(crate) set: Context,
    /// Settings that the user changes, from here on.
    pub(crate) config: Map<String, Json>,
    /// Who drives the instance, from the point of view of this step's session: `this`, `other` or `nobody`. If this is
    /// omitted, it stays the same.
    pub(crate) driver: Option<Driver>,
    /// Whether there are uncommitted changes, from here on.
    pub(crate) dirty: Option<bool>,
    /// Until when no reviewer can run, in words, from here on; empty: one can.
    pub(crate) postponed: Option<String>,
    /// The budget that is used up, from here on, whatever reviews cost: a key of `[budget]`; empty: none.
    pub(crate) over: Option<String>,
    /// Whether nothing has changed since the last reviews found something, from here on.
    pub(crate) stalled: Option<bool>,
    /// Commands that it runs after that: `taskie …`, as shell lines.
    pub(crate) run: Vec<String>,
    /// What these commands read from stdin.
    pub(crate) stdin: String,
    /// The event that follows, by the host's name, or `next`. If this is omitted: `Stop` if there is `stop`, else none.
    pub(crate) event: Option<String>,
    /// The session of the event; empty: none. If this is omitted: the scenario's.
    pub(crate) session: Option<String>,
    /// The other fields of the event: field → value.
    pub(crate) says: Map<String, Json>,
    /// What the reviewer that this event starts does: verdict → the text of its review, or `crash` → why it failed, or
    /// `none` → the text of a review without a verdict, or `gate` → the output of a gate that fails, so that no reviewer is
    /// started. A single word is a verdict. `findings` are the severities of what it finds, and `cost` is in dollars. If
    /// this is omitted, the event must start no review.
    pub(crate) review: Option<ScriptedReview>,
    /// The answer that the hook must give. Every step of a demo has one.
    pub(crate) stop: Option<Expected>,
    /// Exactly the rules that must fire: their `about`, or their place (`on.Stop[2]`, `phases.done`).
    pub(crate) rules: Option<Vec<String>>,
    /// The required answer to the last command or event: `allow`, `block`, `pass`, `action` or `refuse`.
    pub(crate) answer: Option<String>,
    /// Parts of the texts of the event's answer, to the agent or the user.
    pub(crate) contains: Vec<String>,
    /// What the state must contain afterward: field → value.
    pub(crate) state: Context,
    /// The fields that must be null afterward.
    pub(crate) null: Vec<String>,
}

impl ScenarioStep {
    /// Returns the event that comes after the commands.
    pub(crate) fn event(&self) -> Option<&str> {
        let stop = self.stop.map(|_| "Stop");
        self.event.as_deref().or(stop)
    }
}

/// Who drives an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Driver {
    This,
    Other,
    Nobody,
}

impl Driver {
    /// Returns its name; none for nobody.
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Self::This => Some("this"),
            Self::Other => Some("other"),
            Self::Nobody => None,
        }
    }
}

/// What a scripted reviewer does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub(crate) enum ScriptedReview {
    /// Writes this text and gives this verdict, or none.
    Verdict {
        verdict: Option<String>,
        text: String,
        /// The severities of what it finds, if it gives a list.
        findings: Option<Vec<String>>,
        /// What it costs, in millionths of a dollar, if known.
        cost: Option<u64>,
    },
    /// Writes nothing and fails for this reason.
    Crash(String),
    /// Is not started, because a gate fails with this output.
    Gate(String),
}

/// How a review is written.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a review is a verdict, or a table of one verdict with its text, and perhaps `findings` (a list) and a \
                 `cost` (a number)"
)]
enum Written {
    One(String),
    Table {
        #[serde(flatten)]
        words: IndexMap<String, String>,
        findings: Option<Vec<String>>,
        cost: Option<f64>,
    },
}

impl ScriptedReview {
    /// Returns the review that a word stands for: a verdict, `crash`, `gate` or `none`.
    pub(crate) fn of(word: &str, text: String) -> Self {
        match word {
            "crash" => Self::Crash(text),
            "gate" => Self::Gate(text),
            word => Self::Verdict {
                verdict: Some(word.to_owned()).filter(|word| word != "none"),
                text,
                findings: None,
                cost: None,
            },
        }
    }
}

impl TryFrom<Written> for ScriptedReview {
    type Error = &'static str;

    fn try_from(words: Written) -> Result<Self, Self::Error> {
        let (found, dollars, words) = match words {
            Written::One(word) => return Ok(Self::of(&word, String::new())),
            Written::Table { words, findings, cost } => (findings, cost, words),
        };
        let mut entries = words.into_iter();
        let (Some((word, text)), None) = (entries.next(), entries.next()) else {
            return Err("a review is one verdict with its text, or `crash` with a reason");
        };
        let mut review = Self::of(&word, text);
        match &mut review {
            Self::Verdict { findings, cost, .. } => {
                *findings = found;
                if dollars.is_some_and(|dollars| !dollars.is_finite() || dollars < 0.0) {
                    return Err("the `cost` of a review is a number of dollars, at least 0");
                }
                *cost = dollars.map(millionths);
            }
            _ if found.is_none() && dollars.is_none() => {}
            _ => {
                return Err("only a review with or without a verdict has `findings` and a `cost`");
            }
        }
        Ok(review)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number that is out of range becomes the nearest one"
)]
fn millionths(dollars: f64) -> u64 {
    (dollars * 1_000_000.0).round() as u64
}

/// The answer that a stop must get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expected {
    Allow,
    Block,
}

impl Expected {
    /// Returns its name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
        }
    }
}

impl Script {
    /// Reads a scenario.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let script: Self =
            toml::from_str(text).map_err(|error| Failure::Script(error.to_string()))?;
        for (index, step) in script.steps.iter().enumerate() {
            let flaw = |why: String| Err(Failure::Script(format!("step {}: {why}", index + 1)));
            match step.event() {
                Some(event) if step.review.is_some() && !is_stop(event) => {
                    return flaw(format!("a review runs at a stop, not at `{event}`"));
                }
                None if step.review.is_some() => {
                    return flaw("a review runs at a stop: add `stop`".to_owned());
                }
                _ => {}
            }
        }
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(steps: &str) -> Result<Script, String> {
        let head = "intro = ''\noutro = ''\ndir = 'd'\nsession = 's'\nends = 'e'\n";
        Script::parse(&format!("{head}{steps}")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_review_is_a_verdict_or_a_crash() {
        let step = "[[step]]\nuser = 'u'\nagent = 'a'\nstop = 'block'\nreview = ";
        let review =
            |table: &str| parse(&format!("{step}{table}")).map(|mut parsed| parsed.steps.remove(0));
        assert_eq!(
            review("{ FAIL = 'no' }").unwrap().review,
            Some(ScriptedReview::Verdict {
                verdict: Some("FAIL".to_owned()),
                text: "no".to_owned(),
                findings: None,
                cost: None,
            })
        );
        assert_eq!(
            review("{ crash = 'x' }").unwrap().review,
            Some(ScriptedReview::Crash("x".to_owned()))
        );
        assert_eq!(
            review("'PASS'").unwrap().review,
            Some(ScriptedReview::of("PASS", String::new()))
        );
        for odd in ["{}", "{ PASS = 'a', FAIL = 'b' }"] {
            assert!(review(odd).unwrap_err().contains("one verdict"), "{odd}");
        }
        for odd in ["{ crash = '', findings = ['bad'] }", "{ gate = '', cost = 1 }"] {
            let why = review(odd).unwrap_err();
            assert!(why.contains("only a review with or without a verdict"), "{why}");
        }
    }
}
