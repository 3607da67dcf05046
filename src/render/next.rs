//! What the hook would answer to an event now, by the very `decide` that it runs; short of running anything.

use super::preview::Scene;
use super::suppose::Review;
use super::trouble::Trouble;
use crate::engine::decide::decide;
use crate::engine::decision::{Decision, Ended, Fired, Invocation, Outcome, Step};
use crate::engine::fault::Fault;
use crate::host::reply::Reply;
use crate::shell::place::Place;

/// The event that the host sends when the agent wants to stop.
pub(crate) const STOP: &str = "Stop";

/// What the hook would do.
#[derive(Debug)]
pub(crate) enum Next {
    /// Run this.
    Run(Box<Invocation>),
    /// Answer.
    Answer { reply: Reply, last: Option<Fired> },
}

/// What the hook would do about the scene's event at `place`.
pub(crate) fn next(place: &Place, scene: &Scene<'_>) -> Result<Next, Trouble> {
    let refused = |(message, help)| Trouble::new(message, help);
    let supposed = match scene.supposed.review().map_err(refused)? {
        Review::Unknown | Review::None => None,
        Review::Ended { n: Some(_), .. } => {
            return Err(Trouble::new(
                "review.n cannot be set here: it follows from the state",
                None,
            ));
        }
        Review::Ended { outcome, n: None } => Some(outcome),
    };
    let decided = |ended| {
        let step = decide(scene.chart, &scene.world, &scene.event, ended);
        step.map_err(|fault| Trouble::of(scene.chart, scene.toml, &fault))
    };
    let invocation = match (decided(None)?, &supposed) {
        (Step::Done(decision), None) => return Ok(answer(scene, decision)),
        (Step::Done(_), Some(_)) => {
            let message = "no review is due that could have ended so";
            return Err(Trouble::new(
                message,
                super::suppose::next_help(scene.chart),
            ));
        }
        (Step::Invoke(invocation), _) => invocation,
    };
    let Some(outcome) = supposed.or_else(|| place.obstacle(&invocation).map(Outcome::Failed))
    else {
        return Ok(Next::Run(invocation));
    };
    match decided(Some(Ended {
        invocation: *invocation,
        outcome,
        superseded: false,
    }))? {
        Step::Done(decision) => Ok(answer(scene, decision)),
        Step::Invoke(_) => {
            let fault = Fault::World("the rules ask for a second run in one decision".to_owned());
            Err(Trouble::of(scene.chart, scene.toml, &fault))
        }
    }
}

fn answer(scene: &Scene<'_>, decision: Decision) -> Next {
    let last = decision.fired.last().cloned();
    Next::Answer {
        reply: decision.into_reply(STOP, scene.chart.quiet),
        last,
    }
}
