//! A review that runs in the background for callers that ask for it again and again, because none of their calls may take as long
//! as the review: who keeps it running, when somebody has last waited for it, and its answer for each of them.

use std::fs::File;
use std::io;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::lock::{ReviewLock, WriteLock, is_locked, open, try_lock};
use super::{Store, open_existing, record};
use crate::clock;

/// The file that the process that keeps the review running has locked. It was modified when somebody has last waited.
const KEPT: &str = "kept";

/// The kind of record with the answer.
const ANSWER: &str = "answer";

/// What is left of a review that nobody waits for anymore.
pub(super) const KINDS: [&str; 2] = [KEPT, ANSWER];

/// If nobody has waited for this long, nobody wants the review.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Where nobody knows whether something has changed since, an answer of this age is not about what is there now.
const STALE: Duration = PATIENCE;

/// The result of the review.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WaitedAnswer {
    pub(crate) code: u8,
    pub(crate) text: String,
    /// What was there when the review ended, as a number; `None` if that is unknown.
    pub(crate) seen: Option<u64>,
}

impl WaitedAnswer {
    /// Returns whether something has changed since the review ended, if `seen` is there now.
    pub(crate) fn is_of_other(&self, seen: Option<u64>) -> bool {
        self.seen.is_some() && seen.is_some() && self.seen != seen
    }
}

/// The last answer, and the calls that wait for one.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Left {
    /// How many answers there were.
    count: u64,
    /// When the last one was left, since 1970.
    at: Duration,
    answer: Option<WaitedAnswer>,
    /// Somebody has it. A call that was killed comes back for an answer that nobody has.
    is_given: bool,
    /// How many calls have ended too early for the last one: they come back for it.
    owed: usize,
    /// How many have ended too early for the next one.
    early: usize,
}

/// The answer that a call does not wait for, because it was there before; `None` if it waits for any.
pub(crate) type Known = Option<u64>;

/// The review of one instance that somebody waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting<'s> {
    store: &'s Store,
    instance: &'s str,
}

impl<'s> Waiting<'s> {
    pub(crate) fn of(store: &'s Store, instance: &'s str) -> Self {
        Self { store, instance }
    }

    fn file(self) -> io::Result<File> {
        open(&self.store.home, self.instance, KEPT)
    }

    /// Notes that somebody waits now.
    pub(crate) fn wait(self) -> io::Result<()> {
        self.file()?.set_modified(SystemTime::now())
    }

    /// Returns whether nobody has waited for too long.
    pub(crate) fn is_abandoned(self) -> bool {
        let waited = self.file().and_then(|file| file.metadata()?.modified());
        // A clock that was set back says nothing.
        waited.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > PATIENCE))
    }

    /// Returns the right to keep the review running; `None` while another process has it.
    pub(crate) fn keep(self) -> io::Result<Option<ReviewLock>> {
        try_lock(self.file()?)
    }

    /// Returns whether a process keeps the review running.
    pub(crate) fn is_kept(self) -> bool {
        let file = open_existing(&self.store.beside, self.instance, KEPT);
        is_locked(file.map(|(file, _)| file))
    }

    fn left(self) -> Left {
        record::read(self.store, self.instance, ANSWER).unwrap_or_default()
    }

    /// Lets `change` change what is left, while nobody else does.
    fn update<T>(self, change: impl FnOnce(&mut Left) -> T) -> io::Result<T> {
        let _lock = WriteLock::acquire(self.store, self.instance)?;
        let mut left = self.left();
        let result = change(&mut left);
        record::write_for_now(self.store, self.instance, ANSWER, left)?;
        Ok(result)
    }

    /// Begins a call, for which the last answer counts only if nobody has it, or if it was left for a call that has ended too early. `seen` is what is
    /// there now.
    pub(crate) fn begin(self, seen: Option<u64>) -> io::Result<Known> {
        self.update(|left| {
            let is_young = clock::since_1970().saturating_sub(left.at) < STALE;
            let is_same = |answer: &WaitedAnswer| seen.is_some() && answer.seen == seen;
            let counts = left.answer.as_ref().is_some_and(|it| is_same(it) || is_young);
            match left.owed > 0 || !left.is_given {
                true if counts => {
                    left.owed = left.owed.saturating_sub(1);
                    None
                }
                _ => {
                    left.owed = 0;
                    left.early = left.early.saturating_sub(1);
                    Some(left.count)
                }
            }
        })
    }

    /// Returns the answer, if there is one that the call waits for. It stays there for others.
    pub(crate) fn answer(self, known: Known) -> io::Result<Option<WaitedAnswer>> {
        let left = self.left();
        let Some(answer) = left.answer.filter(|_| known != Some(left.count)) else {
            return Ok(None);
        };
        self.update(|left| left.is_given = true)?;
        Ok(Some(answer))
    }

    /// Ends a call too early: another one comes for the answer. Returns the answer if it has just been left.
    pub(crate) fn end_early(self, known: Known) -> io::Result<Option<WaitedAnswer>> {
        self.update(|left| {
            let answer = left.answer.clone().filter(|_| known != Some(left.count));
            left.early += usize::from(answer.is_none());
            left.is_given |= answer.is_some();
            answer
        })
    }

    /// Returns whether an answer was left since that time: a process that was to keep a review running comes too late.
    pub(crate) fn has_ended_since(self, time: Duration) -> bool {
        self.left().at >= time
    }

    /// Leaves the answer for all who wait; `None` if nobody waits anymore.
    pub(crate) fn leave(self, answer: Option<WaitedAnswer>) -> io::Result<()> {
        self.update(|left| {
            if answer.is_some() {
                (left.count, left.at) = (left.count + 1, clock::since_1970());
            }
            left.owed = answer.as_ref().map_or(0, |_| left.early);
            (left.early, left.is_given) = (0, false);
            left.answer = answer;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each process that waits gets an answer: in the same call, or in one after a call that has ended too early.
    #[test]
    fn each_call_gets_the_answer_that_it_waits_for() {
        let home = tempfile::tempdir().unwrap();
        let store = &Store::of(home.path(), "home");
        let waiting = Waiting::of(store, "a");
        let leave = |text: &str, seen| {
            let (code, text) = (0, text.to_owned());
            waiting.leave(Some(WaitedAnswer { code, text, seen })).unwrap();
        };
        let text = |known| waiting.answer(known).unwrap().map(|answer| answer.text);
        let one = waiting.begin(None).unwrap();
        let two = waiting.begin(None).unwrap();
        assert_eq!((text(one), text(two)), (None, None));
        leave("first", Some(1));
        let first = Some("first".to_owned());
        assert_eq!((text(one), text(two)), (first.clone(), first));
        // What has been given is not given again.
        let calls = [(); 2].map(|()| waiting.begin(Some(1)).unwrap());
        assert_eq!(calls.map(text), [None, None]);
        for call in calls {
            assert!(waiting.end_early(call).unwrap().is_none());
        }
        leave("second", Some(2));
        let late = [(); 3].map(|()| text(waiting.begin(Some(2)).unwrap()));
        let second = Some("second".to_owned());
        assert_eq!(late, [second.clone(), second, None]);
        // A call that nobody comes back for, and a review that nobody waits for anymore.
        let call = waiting.begin(None).unwrap();
        assert!(waiting.end_early(call).unwrap().is_none());
        waiting.leave(None).unwrap();
        // A call that was killed while it waited.
        let third = Some("third".to_owned());
        assert_eq!(text(waiting.begin(None).unwrap()), None);
        leave("third", None);
        assert_eq!(text(waiting.begin(None).unwrap()), third);
        assert_eq!(text(waiting.begin(None).unwrap()), None);
    }

    #[test]
    fn an_answer_is_about_what_was_there() {
        for (seen, now, is_other) in [
            (Some(1), Some(1), false),
            (Some(1), Some(2), true),
            (None, Some(2), false),
            (Some(1), None, false),
        ] {
            let answer = WaitedAnswer { code: 0, text: String::new(), seen };
            assert_eq!(answer.is_of_other(now), is_other, "{seen:?} {now:?}");
        }
    }
}
