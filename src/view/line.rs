//! One line about an instance, for the status line of a host. That asks every few seconds, so nothing is decided here, and the
//! journal is not read.

use crate::chart::Cycle;
use crate::clock::in_utc;
use crate::engine::context;
use crate::engine::inspect::Inspector;
use crate::page::{cut, width};
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::run::under_way;
use crate::store::facts::Running;
use crate::store::postponed;
use crate::text::shown;

/// Returns the line: `greeting: plan review 2/8, 1 of 2 clean, sonnet 3:12`.
pub(crate) fn line(place: &Place) -> String {
    let (chart, name) = (&place.chart, &place.instance.name);
    let running = under_way::current(place);
    let snapshot = place.snapshot();
    let view = snapshot.view();
    let field = |field| context::text(snapshot.context(), field);
    let phase = field(Some(&chart.state)).unwrap_or_default();
    let next = field(chart.next.as_ref());
    let mut text = match (&snapshot.state, view.running(), next) {
        (Reading::Broken(_), ..) => "state.json cannot be used".to_owned(),
        (Reading::Missing, ..) => "not started".to_owned(),
        (_, Some(cycle), _) => of_cycle(&view, cycle, running.as_ref()),
        (.., Some(next)) => format!("next: {next}"),
        (.., None) => phase.to_owned(),
    };
    let is_idle = running.is_none();
    if let Some(running) = running {
        text = format!("{text}, {}", of_run(&running));
    }
    if matches!(snapshot.state, Reading::Sound { .. }) && is_idle {
        match (view.running(), view.unfinished()) {
            (None, Some(cycle)) => text = format!("{}, paused", of_cycle(&view, cycle, None)),
            (Some(_), _) => text.extend(in_the_way(&view, place)),
            _ => {}
        }
    }
    let line = format!("{}: {}", shown(name), shown(&text));
    // Stdout of a status line is no terminal; some hosts say how wide it is.
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.and_then(|columns| columns.parse().ok());
    cut(&line, columns.unwrap_or_else(width))
}

/// Says what runs, and for how long: `sonnet 3:12`.
fn of_run(running: &Running) -> String {
    let gate = running.gate.as_ref().map(|gate| format!("`{gate}`"));
    let seconds = running.elapsed().as_secs();
    let time = format!("{}:{:02}", seconds / 60, seconds % 60);
    let what = gate.or_else(|| running.by.clone());
    let parts: Vec<String> = what.into_iter().chain([time]).collect();
    parts.join(" ")
}

/// Says why no review runs, if that is known without a decision.
fn in_the_way(view: &Inspector, place: &Place) -> Option<String> {
    let (reviewer, _) = view.next_reviewer().ok()?;
    let until = postponed::read(&place.store, &reviewer)?;
    Some(format!(", waits until {}", in_utc(until)))
}

/// Says how far a cycle is, and what is running for it.
fn of_cycle(view: &Inspector, cycle: &Cycle, running: Option<&Running>) -> String {
    let standing = view.standing(cycle);
    let n = running.map_or(standing.count, |running| running.n);
    let of = standing.base.filter(|_| cycle.base.holes().next().is_some());
    let of = of.map(|base| format!(" of {base}")).unwrap_or_default();
    let name = cycle.id.replace('-', " ");
    if standing.limit == 0 && running.is_none() {
        return format!("{name}{of}, reviews are off");
    }
    let mut text = format!("{name}{of} {n}/{}", standing.limit);
    // A setting that cannot be read is reported where it is used.
    let streak = view.streak(cycle).ok().flatten();
    if let Some(streak) = streak {
        text.push_str(", ");
        text.push_str(&streak);
    }
    text
}
