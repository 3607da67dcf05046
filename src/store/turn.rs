//! What a session's turn has used up: how many times its stops were blocked, and what its agent has reported to the user.
//!
//! Some hosts let an agent stop after a number of blocks, whatever it does in between, and some show the user no message.
//! For those, and for no others, this is kept.

use super::facts::BlocksInTurn;
use super::journal::Journal;
use crate::hash;
use crate::host::hosts::Host;
use crate::host::reply::Reply;

impl BlocksInTurn {
    /// Returns the turn of `session` on `host`; `None` if the host has no limit and shows messages, so there is nothing to
    /// count. `goes_on` says that the stop before this one was blocked.
    pub(crate) fn of(host: &Host, journal: &Journal, session: &str, goes_on: bool) -> Option<Self> {
        if host.most_blocks().is_none() && host.shows_messages {
            return None;
        }
        let last = journal.facts().turn.clone().filter(|last| last.session == session);
        let mut used =
            last.unwrap_or_else(|| Self { session: session.to_owned(), ..Self::default() });
        if !goes_on {
            (used.blocks, used.is_telling) = (0, false);
        }
        Some(used)
    }

    /// Returns whether the agent was sent back only to tell the user something, once.
    pub(crate) fn take_telling(&mut self) -> bool {
        std::mem::take(&mut self.is_telling)
    }

    /// Returns whether the host would ignore the next block. The last one is kept for what must be reported to the user, if only
    /// the agent can tell it.
    pub(crate) fn is_used_up(&self, host: &Host) -> bool {
        let kept = usize::from(!host.shows_messages);
        host.most_blocks().is_some_and(|most| self.blocks + kept >= most)
    }

    /// Counts the block of this reply, and returns what is to be written once the host has it; `None` if nothing is. A reply that
    /// allows the stop becomes one that blocks it if the user would not see its message, and it is not what the agent has reported
    /// last.
    pub(crate) fn count(mut self, host: &Host, reply: &mut Reply) -> Option<Self> {
        let before = self.clone();
        let message = reply.message().map(|message| hash::number(&message));
        let is_free = host.most_blocks().is_none_or(|most| self.blocks < most);
        if !host.shows_messages
            && !reply.blocks()
            && is_free
            && message.is_some()
            && message != self.reported
        {
            reply.ask_to_tell();
            (self.is_telling, self.reported) = (reply.blocks(), message);
        }
        self.blocks += usize::from(reply.blocks());
        (self != before).then_some(self)
    }
}
