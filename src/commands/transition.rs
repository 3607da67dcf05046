//! One transition of the state: what may refuse it, and what is said about it.

use serde_json::Value as Json;

use super::error::CliError;
use super::output::{refuse_agents, renamed, warn};
use crate::diagnostic::quote::quoted;
use crate::engine::context::ends_pause;
use crate::engine::decision::Answer;
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::host::hosts;
use crate::page::Page;
use crate::project::state_file::Reading;
use crate::run::asked::seeing_stop;
use crate::run::foresee::{check, foresee, obstacle_at_stop};
use crate::run::perform::perform;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::run::under_way;
use crate::store::facts::Fact;
use crate::text::{capitalized, full_stop};
use crate::view::finished::finished;

/// Returns the command line of this process as the user can type it anywhere in the project.
fn typed(place: &Place) -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    let mut words: Vec<String> = std::iter::once("taskie".to_owned()).chain(words).collect();
    if !words.iter().any(|word| *word == format!("--{}", place.chart.scope.noun())) {
        words.push(place.option());
    }
    words.join(" ")
}

/// Carries out one transition, or only checks whether it is possible. If it does not apply and `is_first`, nothing
/// has been written.
pub(crate) fn transition(
    place: &Place,
    event: &Event,
    is_first: bool,
    is_check: bool,
    page: &mut Page,
) -> Result<(), CliError> {
    let chart = &place.chart;
    let is_agents = matches!(event.trigger, Trigger::Command(_)) && hosts::around().is_some();
    if is_agents && let Ok(would) = check(place, event) {
        let is_looser = |(name, value): &(&String, &Json)| {
            chart.context[*name].is_looser(value, would.before.get(*name).unwrap_or(&Json::Null))
        };
        if let Some((name, _)) = would.decision.patch.iter().find(is_looser) {
            refuse_agents(&format!("loosen `{name}`"), &typed(place))?;
        }
    }
    let done = if is_check { check(place, event) } else { perform(place, event) };
    // What a rule says of a state that cannot be used is about the defaults.
    let done = done.and_then(|performed| match &place.snapshot().state {
        Reading::Broken(why) if matches!(performed.decision.answer, Answer::Refuse(_)) => {
            Err(place.broken(why))
        }
        _ => Ok(performed),
    });
    let performed = done.map_err(|stuck| match stuck {
        Stuck::Fault(Fault::Expression { error, place }) => CliError::with_help(
            error.detail.clone(),
            format!("check {place} in the chart {}", chart.origin),
        ),
        Stuck::Broken(why) => CliError::with_help(why, chart.scope.remedy()),
        other => other.into(),
    })?;
    warn(performed.warnings.iter().chain(&performed.unrecorded));
    if let Answer::Refuse(why) = &performed.decision.answer {
        let (program, option) = (chart.program(), place.option());
        let help = format!("`{program} status {option}` says what comes next");
        return Err(CliError::with_help(
            renamed(chart, why),
            match is_first {
                true => format!("nothing was written; {help}"),
                false => help,
            },
        ));
    }
    let decision = &performed.decision;
    let (noun, name) = (chart.scope.noun(), &place.instance.name);
    match &event.trigger {
        Trigger::Enter { phase, .. } if is_check => {
            page.say(&format!("{phase} may be entered in {noun} '{name}'; nothing was written."));
            return Ok(());
        }
        Trigger::Enter { phase, .. } if chart.is_final(phase) => {
            let finished = finished(place);
            page.say(&finished);
            if event.session.is_some() {
                // The agent reads this here, and the user at the next stop.
                let _ = place.journal().note(Fact::News { text: finished });
            }
        }
        Trigger::Enter { phase, .. } => {
            let before = &performed.before;
            let ended = ends_pause(chart, before, &performed.context);
            let ended = if ended { " The pause is over." } else { "" };
            page.say(&format!("Entered {phase} in {noun} '{name}'.{ended}"));
        }
        _ if decision.says.is_empty() && !decision.patch.is_empty() => {
            let fields = std::iter::once(&chart.state).chain(&chart.next);
            let values = fields.filter_map(|field| performed.context.get(field)?.as_str());
            let values = values.collect::<Vec<_>>().join(", then ");
            page.say(&format!("The {noun} '{name}' has changed: {values}."));
        }
        _ => {}
    }
    let obstacle = match &event.trigger {
        Trigger::Enter { .. } => obstacle(place, event.session.as_deref()),
        Trigger::Command(_) | Trigger::Hook(_) => None,
    };
    // The messages of rules about a review that is due assume that it can run.
    let is_kept = obstacle.is_none() || event.session.is_none();
    let said = decision.says.iter().filter(|_| is_kept);
    for line in said.chain(&obstacle).chain(&decision.messages) {
        page.say(&renamed(chart, line));
    }
    let moves_on = decision.advances();
    let is_command = matches!(event.trigger, Trigger::Command(_));
    if is_first
        && !is_check
        && decision.effects.is_empty()
        && let Some(running) = under_way::running(place)
    {
        match moves_on && under_way::end(place) {
            true => {
                under_way::await_end(place);
                page.say("The review that was running is ended: nothing waits for it anymore.");
            }
            false if is_command => {
                page.say(&format!("{running} Until then, it goes on, and its verdict counts."));
            }
            false => page.say(&running),
        }
    }
    Ok(())
}

/// Says what is in the way of the next stop of this session, if anything is.
pub(crate) fn obstacle(place: &Place, session: Option<&str>) -> Option<String> {
    let why = obstacle_at_stop(&foresee(place, &seeing_stop(place, session)))?;
    let why = capitalized(&why);
    // Without a session, there is no turn to end.
    let then = session.map_or(" first", |_| ", then end your turn");
    Some(format!("{why}{} Fix that{then}.", full_stop(&why)))
}
