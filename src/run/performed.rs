//! A decision that was carried out, with the problems on the way that the user should know about.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::context::Context;
use crate::engine::decision::{Answer, Decision, Ended};
use crate::engine::event::Event;
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::store::facts::Said;
use crate::store::journal::DecisionLine;

/// A decision that was carried out.
#[derive(Debug, Default)]
pub(crate) struct Performed {
    pub(crate) decision: Decision,
    /// Problems with the files that were read.
    pub(crate) warnings: Vec<String>,
    /// The fields that the decision writes, with their previous values.
    pub(crate) before: Context,
    /// The context after the decision.
    pub(crate) context: Context,
    /// When the answer was decided that the journal has until the host has it.
    pub(crate) owed: Option<String>,
    /// What the user reads beside the decision.
    pub(crate) pending: Said,
    /// The journal has a line about it.
    pub(crate) is_in_journal: bool,
    /// Why it has none.
    pub(crate) unrecorded: Option<String>,
    /// The tree that the event is about.
    pub(crate) tree: Option<String>,
    /// Why its state cannot be used.
    pub(crate) unusable: Option<String>,
}

impl Performed {
    /// Returns `decision`, which was made in the world of `snapshot`.
    pub(crate) fn of(snapshot: &Arc<Snapshot>, decision: Decision) -> Self {
        let mut context = snapshot.context().clone();
        let before = decision.apply(&mut context);
        Self {
            warnings: snapshot.warnings(),
            decision,
            before,
            context,
            unusable: match &snapshot.state {
                Reading::Broken(why) => Some(why.clone()),
                _ => None,
            },
            ..Self::default()
        }
    }

    /// Returns it together with what an earlier review at the same stop has said.
    pub(crate) fn after(mut self, earlier: Option<(Self, Duration)>) -> Self {
        if let Some((earlier, _)) = earlier {
            let messages = earlier.decision.messages;
            self.decision.messages.splice(0..0, messages);
            self.owed = self.owed.or(earlier.owed);
            if let (Some(ended), Some(before)) = (&mut self.decision.ended, earlier.decision.ended)
            {
                ended.effort.follow(before.effort);
            }
        }
        self
    }

    /// Does not send the agent back: the user reads what the review has found, and this.
    pub(crate) fn hold(&mut self, why: String) {
        let decision = &mut self.decision;
        let is_sent_back = matches!(decision.answer, Answer::Block(_));
        let result = decision.ended.as_ref().filter(|_| is_sent_back).and_then(Ended::result);
        decision.messages.extend([Some(why), result].into_iter().flatten());
        decision.answer = Answer::Allow;
    }

    /// Returns a command that only says something, without any rule of the chart.
    pub(crate) fn said(what: String) -> Self {
        let mut performed = Self::without_rule(Answer::Allow, Vec::new());
        performed.decision.says.push(what);
        performed
    }

    /// Returns a command or a phase that is refused, without any rule of the chart.
    pub(crate) fn refused(why: String) -> Self {
        Self::without_rule(Answer::Refuse(why), Vec::new())
    }

    /// Returns a stop that sends the agent back, without any rule of the chart.
    pub(crate) fn blocked(reason: String) -> Self {
        Self::without_rule(Answer::Block(reason), Vec::new())
    }

    /// Returns a stop that is allowed with a message to the user, without any rule of the chart.
    pub(crate) fn allowed(message: String) -> Self {
        Self::without_rule(Answer::Allow, vec![message])
    }

    fn without_rule(answer: Answer, messages: Vec<String>) -> Self {
        Self { decision: Decision { messages, answer, ..Decision::default() }, ..Self::default() }
    }

    /// Returns the journal's line about it.
    pub(crate) fn line(&self, place: &Place, event: &Event) -> DecisionLine {
        let mut line = DecisionLine::new(&place.instance.name, event);
        line.named.clone_from(&self.pending.news);
        line.fill(&place.chart, &self.decision, &self.before);
        line.stuck = line.stuck.or_else(|| self.unusable.clone());
        line
    }
}
