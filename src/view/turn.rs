//! Whose turn it is: the one place that says so, for the screen, the lists and the JSON.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;

use crate::engine::context;
use crate::engine::decide::decide;
use crate::engine::decision::{Answer, Step};
use crate::engine::fault::Fault;
use crate::hook::why_elsewhere;
use crate::project::state_file::Reading;
use crate::run::asked;
use crate::run::foresee::foresee;
use crate::run::perform::foreseen_news;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::review::or_called;
use crate::run::snapshot::Snapshot;
use crate::run::stuck::Stuck;
use crate::run::under_way;
use crate::store::driver;
use crate::store::facts::Running;

/// A session that does not exist: one that would take the instance up.
pub(crate) const ANY: &str = "any";

/// Who or what has to act next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Waits {
    /// A review is running.
    Review,
    /// Another session drives the instance.
    Session,
    /// The agent has an action to do.
    Agent,
    /// The agent's next stop starts what is due.
    Stop,
    /// The user has a choice to make.
    User,
    /// Nothing comes after this.
    Nothing,
}

/// The next action by the chart's rules.
#[derive(Debug)]
pub(crate) struct Next {
    pub(crate) action: String,
    /// Why, for the agent.
    pub(crate) why: String,
    /// The same for the user: the rule's `message`, without one its `say`.
    pub(crate) message: String,
}

/// Whose turn it is, and what that follows from.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) waits: Waits,
    pub(crate) running: Option<Running>,
    /// The session that drives the instance.
    pub(crate) driver: Option<String>,
    /// No session drives the instance.
    pub(crate) is_unattended: bool,
    /// What the chart's rules for `next` answer; `None` without a usable state.
    pub(crate) next: Result<Option<Next>, Fault>,
    /// Why the next stop does nothing about the instance, if it does not.
    pub(crate) elsewhere: Option<String>,
    /// What the next stop does.
    pub(crate) foreseen: Result<Step, Stuck>,
}

impl Turn {
    /// Finds out whose turn it is at `place`, of which `snapshot` was taken; `session` is the one that asks.
    pub(crate) fn of(place: &Place, snapshot: &Arc<Snapshot>, session: Option<&str>) -> Self {
        let chart = &place.chart;
        let world = snapshot.as_world();
        let is_per_session = chart.scope.is_per_session();
        let driver = driver::of(place.journal());
        let running = under_way::current(place);
        let is_usable = !matches!(snapshot.state, Reading::Broken(_));
        // In a terminal, the stop of the session that drives the instance is meant, if one does.
        let stops = session.or(driver.as_deref());
        let stops = stops.or((!is_per_session).then_some(ANY));
        let stop = asked::seeing_stop(place, stops);
        let elsewhere = why_elsewhere(place, stops).map(|why| format!("{why}."));
        let foreseen = match &elsewhere {
            Some(why) => Ok(Step::Done(Performed::allowed(why.clone()).decision)),
            None => foresee(place, &stop),
        };
        // A review, the end of a cycle, or an agent that is sent back moves the work forward.
        let moves = |foreseen: &Result<Step, Stuck>| match foreseen {
            Ok(Step::Invoke(_)) => true,
            Ok(Step::Done(decision)) => {
                let is_sent_back = matches!(decision.answer, Answer::Block(_));
                !decision.patch.is_empty() && (decision.advances() || is_sent_back)
            }
            Err(_) => false,
        };
        let mut asked = asked::next(place, session.map(str::to_owned));
        if let (Json::Object(known), Json::Object(seen)) = (&mut asked.fields, &stop.fields) {
            // What has changed says what is due.
            for (name, value) in seen {
                known.entry(name).or_insert_with(|| value.clone());
            }
        }
        // Without a usable state, the rules would only see defaults.
        let next = decide(chart, &world, &asked, None).map(|step| {
            let next = action(step).filter(|_| is_usable)?;
            Some(Next {
                // What the rules say of the next stop does not hold.
                message: elsewhere.clone().unwrap_or(next.message),
                ..next
            })
        });
        let is_anothers =
            !is_per_session && session.is_some_and(|session| driver.as_deref() != Some(session));
        let is_unattended = driver.is_none() && !is_per_session;
        let named = next.as_ref().ok().and_then(Option::as_ref);
        let is_action = named.is_some_and(|next| chart.phases.contains_key(&next.action));
        let anothers = driver.as_ref().filter(|_| is_anothers);
        let moves = match anothers {
            Some(driver) => moves(&foresee(place, &asked::seeing_stop(place, Some(driver)))),
            None => moves(&foreseen),
        };
        let waits = match () {
            () if running.is_some() => Waits::Review,
            () if !is_usable => Waits::User,
            () if is_unattended && (is_action || moves) => Waits::User,
            // What the agent does next, that of the other session does.
            () if (is_action || moves) && anothers.is_some() => Waits::Session,
            () if is_action => Waits::Agent,
            () if moves => Waits::Stop,
            () if context::is_over(chart, snapshot.context()) => Waits::Nothing,
            () => Waits::User,
        };
        Self {
            waits,
            running,
            driver,
            is_unattended,
            next,
            elsewhere,
            foreseen: foreseen.map(|step| match or_called(&stop, step) {
                Step::Done(mut decision) => {
                    let news = foreseen_news(place, snapshot);
                    decision.messages.splice(0..0, news);
                    Step::Done(decision)
                }
                step @ Step::Invoke(_) => step,
            }),
        }
    }
}

/// Returns the action that a decision names, and why.
fn action(step: Step) -> Option<Next> {
    let decision = step.decision()?;
    match decision.answer {
        Answer::Action { action, why } => Some(Next {
            action,
            message: match decision.messages.is_empty() {
                true => why.clone(),
                false => decision.messages.join(" "),
            },
            why,
        }),
        _ => None,
    }
}
