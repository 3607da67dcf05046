//! The facts about an instance that follow from the lines of its journal: who drives it, how its state was left, what its
//! user has not read yet, and what runs.

use std::hash::BuildHasher as _;
use std::time::Duration;

use rustc_hash::FxBuildHasher;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::engine::context::Context;
use crate::hash::{self, IndexMap};

/// What comes before a phase in the name of an event that enters it, and before the name of a command.
pub(crate) const ENTER: &str = "enter ";
pub(crate) const RUN: &str = "run ";

/// The most news that wait for a stop.
const MOST: usize = 20;

/// How many prompts of one change are known.
const PROMPTS: usize = 10;

/// How many sessions are known.
const SESSIONS: usize = 200;

/// How many things that are done once are known.
const DONE: usize = 64;

/// A line of the journal, as far as facts follow from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(flatten)]
    pub(crate) fact: Fact,
    /// The time, in RFC 3339.
    pub(crate) at: String,
}

/// What a line says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "lowercase")]
pub(crate) enum Fact {
    /// Something is decided. What that writes comes after this line, and then a line that it has landed.
    Decision(Decided),
    /// A review has ended.
    Review,
    Landed,
    /// The process was killed before the last decision was written.
    Dropped,
    /// The state is found with other fields, or is gone; and what the user reads of that.
    Found {
        fields: Context,
        #[serde(default)]
        is_gone: bool,
        news: Option<String>,
    },
    /// Somebody has to read this at the next stop.
    News {
        text: String,
    },
    /// The host has the answer to a stop, and what the user reads beside it.
    Said(Said),
    /// The last review does not count, although it has ended, and why.
    Aside {
        why: String,
    },
    /// The command that takes effect after the review that is running; `None` if there is none anymore.
    Noted {
        command: Option<String>,
    },
    /// A gate or a reviewer is started.
    Began {
        running: Running,
    },
    /// The process that ran them has ended.
    Over,
    /// What needs to be done once for a state is done; `None` forgets that.
    Done {
        what: String,
        state: Option<u64>,
    },
    /// A session takes up another instance; `None`: it has none anymore.
    Claim {
        session: String,
        claim: Option<Claim>,
    },
    /// The user asks for another try: no review that has failed so far counts.
    Retried {
        since: String,
    },
    /// No reviewer of this name runs until then, in seconds since 1970; `None`: it may be tried again.
    Postponed {
        by: String,
        until: Option<u64>,
    },
    Turn {
        turn: BlocksInTurn,
    },
    /// A prompt begins the change of its session.
    Prompted(Prompt),
    /// The user has asked for this.
    Asked {
        prompt: String,
    },
    /// What follows from the first bytes of the file: nobody needs to read those.
    Facts {
        to: u64,
        of: Box<Facts>,
    },
    /// A line from which no fact follows.
    #[serde(other)]
    Other,
}

/// What a line about a decision says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Decided {
    /// The review that it is about.
    #[serde(skip_serializing)]
    review: Option<IgnoredAny>,
    wrote: Option<Box<Left>>,
}

/// How such a line begins.
const DECISION: &str = r#"{"line":"decision","#;

/// What the host has, so that it is not said again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Said {
    pub(crate) news: Vec<String>,
    /// When the answer was decided that was owed.
    pub(crate) owed: Option<String>,
}

/// The instance that a session has claimed last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// When, in RFC 3339.
    pub(crate) at: String,
    pub(crate) instance: String,
    /// The session has ended, and has not gone on.
    pub(crate) has_ended: bool,
}

/// How this program leaves a state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Left {
    /// The fields, or those that the user knows of since somebody else has changed them. Empty if there was no state.
    pub(crate) fields: Context,
    /// There is no state anymore; those were its fields.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_gone: bool,
    /// The commit that was checked out when the last review of code began that passed and ended its cycle; without one, that at
    /// which the instance began. What is different from it, no such review has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    /// What the user reads at the next stop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) news: Vec<String>,
    /// The answer that the host has not received yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) owed: Option<Owed>,
}

impl Left {
    /// Returns whether the state has these fields, or there is none, as it was left.
    pub(crate) fn is_as(&self, found: Option<&Context>) -> bool {
        match found {
            Some(found) => *found == self.fields,
            None => self.is_gone || self.fields.is_empty(),
        }
    }
}

/// The answer to a stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Owed {
    /// When it was decided.
    pub(crate) at: String,
    /// A hash of the text of the state that it belongs to.
    pub(crate) state: u64,
    pub(crate) block: Option<String>,
    pub(crate) messages: Vec<String>,
    /// A cycle has passed with it, or is left as if it had.
    pub(crate) has_passed: bool,
}

/// The review that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) cycle: String,
    pub(crate) n: i64,
    /// The file that it must write, in the instance's directory.
    pub(crate) file: String,
    /// The reviewer, as named by the chart.
    pub(crate) by: Option<String>,
    /// When it began, in seconds since 1970.
    pub(crate) started: u64,
    /// Its time limit in seconds.
    pub(crate) timeout: u64,
    /// Its reviewer is about to be started, or was.
    #[serde(default)]
    pub(crate) is_started: bool,
    /// The gate that is running before it; the time, the limit and the log are then the gate's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<String>,
}

impl Running {
    /// Returns it in words: `code-review 1 by opus, since 2026-01-31 12:00:00 UTC`.
    pub(crate) fn in_words(&self) -> String {
        let by = self.by.as_deref();
        let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
        let since = clock::in_utc(self.started);
        format!("{} {}{by}, since {since}", self.cycle, self.n)
    }

    /// Returns how long it has been running.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_secs(clock::now().saturating_sub(self.started))
    }
}

/// What was there when a prompt began the change of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prompt {
    /// When the first prompt of the session came, in seconds since 1970.
    pub(crate) time: u64,
    /// The tree, and the commit that was checked out.
    pub(crate) tree: String,
    pub(crate) head: String,
}

/// What a turn of a session has used up.
#[derive(Debug, Default, PartialEq, Eq, Clone, Serialize, Deserialize)]
pub(crate) struct BlocksInTurn {
    pub(super) session: String,
    /// How many stops of this turn were blocked.
    pub(super) blocks: usize,
    /// A hash of what the agent has reported to the user last.
    pub(super) reported: Option<u64>,
    /// The last stop was blocked for nothing else.
    pub(super) is_telling: bool,
}

/// Returns what follows from these lines, after `facts`.
pub(super) fn fold<'l>(mut facts: Facts, lines: impl Iterator<Item = &'l str>) -> Facts {
    for line in lines {
        let is_decision = line.starts_with(DECISION);
        let fact = match is_decision {
            // Most lines are such, and most of what they say is for people.
            true => serde_json::from_str(line).map(Fact::Decision),
            false => serde_json::from_str(line).map(|entry: Entry| entry.fact),
        };
        // A line that was cut off, or that is none.
        let Ok(fact) = fact else { continue };
        if is_decision {
            facts.last = number(line);
        }
        facts = facts.after(fact);
    }
    facts
}

/// Removes what was heard of first, if there is more than this.
fn forget_first<T>(known: &mut IndexMap<String, T>, most: usize) {
    if known.len() > most {
        known.shift_remove_index(0);
    }
}

/// Returns a number for what the line of a decision says beside the time.
pub(super) fn number(line: &str) -> u64 {
    // What kind of line it is, and its time, come first.
    FxBuildHasher.hash_one(line.splitn(3, ',').nth(2))
}

/// The facts about an instance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Facts {
    pub(crate) left: Left,
    /// The same before the last decision, until that has landed.
    before: Option<Box<Left>>,
    pub(crate) noted: Option<String>,
    /// What runs, or ran until it was killed.
    pub(crate) running: Option<Running>,
    /// For which state each thing was done that is done once.
    pub(super) done: IndexMap<String, u64>,
    /// When the user last asked for another try, in RFC 3339.
    pub(crate) retried: Option<String>,
    pub(super) turn: Option<BlocksInTurn>,
    pub(crate) prompt: Option<Prompt>,
    /// What the user has asked for since the change began: the first prompts, and the last ones.
    pub(crate) asked: Vec<String>,
    /// What each session of the home has claimed last.
    pub(super) claims: IndexMap<String, Claim>,
    /// Until when each reviewer cannot run.
    pub(super) postponed: IndexMap<String, u64>,
    /// Nothing is decided about the review that has ended last; and the same before the last decision.
    pub(crate) is_undecided: bool,
    was_undecided: bool,
    /// What the last decision was, as a number.
    pub(super) last: u64,
}

impl Facts {
    /// Returns what follows from one more fact.
    pub(crate) fn after(mut self, fact: Fact) -> Self {
        let left = &mut self.left;
        match fact {
            Fact::Facts { .. } | Fact::Aside { .. } | Fact::Other => {}
            Fact::Decision(Decided { review, wrote }) => {
                let was_undecided = self.is_undecided;
                self.is_undecided &= review.is_none();
                if let Some(mut wrote) = wrote {
                    if review.is_none() {
                        // Only a review changes it.
                        wrote.base = left.base.clone().or(wrote.base);
                    }
                    self.was_undecided = was_undecided;
                    self.before = Some(Box::new(std::mem::replace(left, *wrote)));
                }
            }
            Fact::Review => (self.is_undecided, self.running) = (true, None),
            Fact::Landed => self.before = None,
            Fact::Dropped => {
                *left = self.before.take().map(|before| *before).unwrap_or_default();
                self.is_undecided = self.was_undecided;
            }
            Fact::Found { fields, is_gone, news } => {
                (left.fields, left.is_gone, left.owed) = (fields, is_gone, None);
                left.news.extend(news);
            }
            Fact::News { text } => left.news.push(text),
            Fact::Said(said) => {
                left.news.retain(|news| !said.news.contains(news));
                left.owed.take_if(|owed| Some(&owed.at) == said.owed.as_ref());
            }
            Fact::Noted { command } => self.noted = command,
            Fact::Began { running } => self.running = Some(running),
            Fact::Over => self.running = None,
            Fact::Claim { session, claim } => {
                self.claims.shift_remove(&session);
                self.claims.extend(claim.map(|claim| (session, claim)));
                forget_first(&mut self.claims, SESSIONS);
            }
            Fact::Retried { since } => self.retried = Some(since),
            Fact::Postponed { by, until } => {
                self.postponed.shift_remove(&by);
                self.postponed.extend(until.map(|until| (by, until)));
            }
            Fact::Turn { turn } => self.turn = Some(turn),
            Fact::Prompted(mut prompt) => {
                // What the session has made after an earlier prompt is its own.
                let first = self.prompt.map_or(prompt.time, |first| first.time);
                prompt.time = prompt.time.min(first);
                (self.prompt, self.asked) = (Some(prompt), Vec::new());
            }
            Fact::Asked { prompt } => {
                if self.asked.len() == PROMPTS {
                    self.asked.remove(PROMPTS / 2);
                }
                self.asked.push(prompt);
            }
            Fact::Done { what, state } => {
                self.done.shift_remove(&what);
                self.done.extend(state.map(|state| (what, state)));
                forget_first(&mut self.done, DONE);
            }
        }
        let more = left.news.len().saturating_sub(MOST);
        left.news.drain(..more);
        self
    }

    /// Returns whether the last decision was never written, if the state is found with these fields, or is gone.
    pub(crate) fn is_dropped(&self, found: Option<&Context>) -> bool {
        let is_as_before = self.before.as_deref().is_some_and(|before| before.is_as(found));
        is_as_before && found != Some(&self.left.fields)
    }

    /// Returns whether this was done for a state with this text.
    pub(crate) fn is_done(&self, what: &str, state: &[u8]) -> bool {
        self.done.get(what) == Some(&hash::number(state))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns what follows from these lines of the instance `a`.
    fn facts(lines: &[&str]) -> Facts {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| {
                format!(r#"{{"at":"2026-01-31T12:00:00.000Z","instance":"a","line":{line}}}"#)
            })
            .collect();
        fold(Facts::default(), lines.iter().map(String::as_str))
    }

    const STOP: &str = r#""decision","event":"Stop","wrote":{"fields":{"n":1},"chart":null,
        "owed":{"at":"1","state":5,"block":"x","messages":[],"has_passed":false}}"#;

    #[test]
    fn facts_follow_from_lines() {
        let began =
            r#""began","running":{"cycle":"c","n":1,"file":"f","by":null,"started":1,"timeout":2}"#;
        assert!(facts(&[began]).running.is_some());
        assert!(facts(&[began, r#""over""#]).running.is_none());

        let news = [r#""news","text":"a""#, r#""news","text":"b""#, r#""said","news":["a"]"#];
        assert_eq!(facts(&news).left.news, ["b"]);

        let done = [r#""done","what":"busy","state":3"#];
        assert_eq!(facts(&done).done["busy"], 3);
        assert!(facts(&[done[0], r#""done","what":"busy","state":null"#]).done.is_empty());

        // A line of a later version, or of another kind.
        assert_eq!(facts(&[r#""gate","n":1"#, r#""unheard""#]), Facts::default());
    }

    #[test]
    fn an_answer_is_owed_until_the_host_has_it() {
        assert_eq!(facts(&[STOP]).left.owed.map(|owed| owed.at).as_deref(), Some("1"));
        for line in [
            r#""said","owed":"1""#,
            r#""found","fields":{"n":3},"news":null"#,
            r#""decision","event":"run skip","wrote":{"fields":{"n":2}}"#,
        ] {
            assert_eq!(facts(&[STOP, line]).left.owed, None, "{line}");
        }
        assert!(facts(&[STOP, r#""said","owed":"2""#]).left.owed.is_some(), "that was another one");
    }

    /// A state that is as before a decision was never written, unless the decision has landed: then somebody has taken it back.
    #[test]
    fn a_decision_that_was_never_written() {
        let found: Context = serde_json::from_value(json!({ "n": 0 })).unwrap();
        let first = r#""found","fields":{"n":0},"news":null"#;
        assert!(facts(&[first, STOP]).is_dropped(Some(&found)));
        assert!(!facts(&[first, STOP, r#""landed""#]).is_dropped(Some(&found)));
        assert!(facts(&[STOP]).is_dropped(None), "there was no state");
        assert_eq!(facts(&[first, STOP, r#""dropped""#]).left.fields, found);
    }

    /// A verdict about which the decision was never written is not decided about.
    #[test]
    fn a_review_is_undecided_until_a_decision_is_written() {
        let review = r#""review","n":1"#;
        let stop = r#""decision","event":"Stop","review":{"n":1},"wrote":{"fields":{"n":1}}"#;
        for (lines, expected) in [
            (&[review][..], true),
            (&[review, stop], false),
            (&[review, stop, r#""landed""#], false),
            (&[review, stop, r#""dropped""#], true),
        ] {
            assert_eq!(facts(lines).is_undecided, expected, "{lines:?}");
        }
    }

    /// What is read from the last line with facts on is what all lines say.
    #[test]
    fn a_sum_of_lines_is_what_they_say() {
        let home = tempfile::tempdir().unwrap();
        let store = crate::store::Store::of(home.path(), "home");
        let journal = crate::store::journal::Journal::of(&store, "a");
        for n in 0..2_000 {
            let text = format!("{n} {}", "x".repeat(60));
            journal.note(Fact::News { text }).unwrap();
            let facts = journal.facts();
            assert_eq!(facts.left.news.len(), MOST.min(n + 1));
            assert!(facts.left.news.last().unwrap().starts_with(&format!("{n} ")));
        }
        let text = std::fs::read_to_string(home.path().join("home/.locks/a.jsonl")).unwrap();
        assert!(text.matches(r#""line":"facts""#).count() > 2, "it is summed up");
    }
}
