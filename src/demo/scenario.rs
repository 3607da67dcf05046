//! A scenario: what the user types, what the agent does and what the reviewer finds, step by step.
//!
//! A step is everything that the agent does up to one stop. It is data, so that you can read and change a demo
//! without knowing Rust. The doc comments here explain the keys.

use indexmap::IndexMap;
use serde::Deserialize;

use super::error::DemoError;

/// A whole scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    /// Printed before the first step.
    pub(super) intro: String,
    /// Printed after the last step.
    pub(super) outro: String,
    /// The directory of the instance, relative to the project's root.
    pub(super) dir: String,
    /// The id of its session: a UUID, like those of the host.
    pub(super) session: String,
    /// The phase that the instance must be in after the last step.
    pub(super) ends: String,
    /// The steps, in order.
    #[serde(rename = "step")]
    pub(super) steps: Vec<Step>,
}

/// What the agent does up to one stop, and what must happen then.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// A heading, which starts a new chapter.
    pub(super) chapter: Option<String>,
    /// What the user types. It starts a turn, so it must follow an allowed stop, and nothing else.
    pub(super) user: Option<String>,
    /// What the agent does, in words: "writes the plan".
    pub(super) agent: String,
    /// Files that it writes: name → text. A name is relative to the instance's directory; one that begins with `/` is
    /// relative to the project's root.
    #[serde(default)]
    pub(super) write: IndexMap<String, String>,
    /// Files that it changes: name → the old text, the new text.
    #[serde(default)]
    pub(super) edit: IndexMap<String, [String; 2]>,
    /// Files that it removes.
    #[serde(default)]
    pub(super) remove: Vec<String>,
    /// Commands that it runs after that: `taskie …`, split at spaces.
    #[serde(default)]
    pub(super) run: Vec<String>,
    /// What the reviewer that this stop starts does: verdict → the text of its review, or `crash` → why it failed. If
    /// this is omitted, the stop must start no review.
    #[serde(default)]
    pub(super) review: Option<Review>,
    /// What the hook must answer.
    pub(super) stop: Expected,
}

/// What a scripted reviewer does.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "IndexMap<String, String>")]
pub(super) enum Review {
    /// Writes this text and gives this verdict.
    Verdict { verdict: String, text: String },
    /// Writes nothing and fails for this reason.
    Crash(String),
}

impl TryFrom<IndexMap<String, String>> for Review {
    type Error = &'static str;

    fn try_from(table: IndexMap<String, String>) -> Result<Self, Self::Error> {
        let mut entries = table.into_iter();
        match (entries.next(), entries.next()) {
            (Some((key, why)), None) if key == "crash" => Ok(Self::Crash(why)),
            (Some((verdict, text)), None) => Ok(Self::Verdict { verdict, text }),
            _ => Err("a review is one verdict with its text, or `crash` with a reason"),
        }
    }
}

/// The answer that a stop must get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Expected {
    Allow,
    Block,
}

impl Expected {
    /// Returns its name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
        }
    }
}

impl Scenario {
    /// Parses a scenario and checks that its turns match its answers.
    pub(super) fn parse(text: &str) -> Result<Self, DemoError> {
        let scenario: Self =
            toml::from_str(text).map_err(|error| DemoError::Scenario(error.to_string()))?;
        let mut allowed = true;
        for (index, step) in scenario.steps.iter().enumerate() {
            if step.user.is_some() != allowed {
                let why = if allowed {
                    "the turn before it has ended, so the user must speak first"
                } else {
                    "the stop before it was blocked, so the user cannot speak yet"
                };
                return Err(DemoError::Scenario(format!("step {}: {why}", index + 1)));
            }
            allowed = step.stop == Expected::Allow;
        }
        Ok(scenario)
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        reason = "a test that panics has failed, which is what it should do"
    )]

    use super::*;

    fn parse(steps: &str) -> Result<Scenario, String> {
        let head = "intro = ''\noutro = ''\ndir = 'd'\nsession = 's'\nends = 'e'\n";
        Scenario::parse(&format!("{head}{steps}")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_review_is_a_verdict_or_a_crash() {
        let step = "[[step]]\nuser = 'u'\nagent = 'a'\nstop = 'block'\nreview = ";
        let review =
            |table: &str| parse(&format!("{step}{table}")).map(|mut parsed| parsed.steps.remove(0));
        assert_eq!(
            review("{ FAIL = 'no' }").unwrap().review,
            Some(Review::Verdict {
                verdict: "FAIL".to_owned(),
                text: "no".to_owned()
            })
        );
        assert_eq!(
            review("{ crash = 'x' }").unwrap().review,
            Some(Review::Crash("x".to_owned()))
        );
        for odd in ["{}", "{ PASS = 'a', FAIL = 'b' }"] {
            assert!(review(odd).unwrap_err().contains("one verdict"), "{odd}");
        }
    }

    #[test]
    fn the_user_speaks_after_an_allowed_stop_and_only_then() {
        let step = |user: &str, stop: &str| {
            let user = if user.is_empty() {
                String::new()
            } else {
                format!("user = '{user}'\n")
            };
            format!("[[step]]\n{user}agent = 'a'\nstop = '{stop}'\n")
        };
        let fits = [step("u", "block"), step("", "allow"), step("u", "allow")].concat();
        assert!(parse(&fits).is_ok());
        let cases = [
            (
                step("", "block"),
                "step 1: the turn before it has ended, so the user must speak first",
            ),
            (
                [step("u", "block"), step("u", "allow")].concat(),
                "step 2: the stop before it was blocked, so the user cannot speak yet",
            ),
        ];
        for (steps, expected) in cases {
            assert!(parse(&steps).unwrap_err().ends_with(expected), "{expected}");
        }
    }
}
