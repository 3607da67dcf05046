//! The journal's line about a decision that is carried out.

use crate::engine::event::{Event, Trigger};
use crate::project::change::head;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::store::journal::DecisionLine;

/// The field of a stop that a command stands in for.
pub(crate) const STANDS_IN: &str = "stands_in";

/// Returns whether the user reads the answer. Where a command stands in for the stop, the agent does: what is for the user waits
/// for the next stop.
pub(super) fn is_for_user(event: &Event) -> bool {
    event.is_stop() && event.fields.get(STANDS_IN).is_none()
}

/// Returns the line about a decision.
pub(super) fn decided(place: &Place, event: &Event, performed: &Performed) -> DecisionLine {
    let mut line = DecisionLine::new(&place.instance.name, event);
    line.named.clone_from(&performed.pending.news);
    line.fill(&place.chart, &performed.decision, &performed.before);
    line.head = begins(place, event, performed).then(|| head(&place.root)).flatten();
    line.stuck = line.stuck.or_else(|| performed.unusable.clone());
    line
}

/// Returns whether a decision is the first one about an instance that this machine knows.
fn begins(place: &Place, event: &Event, performed: &Performed) -> bool {
    let Performed { decision, has_state, .. } = performed;
    let initial = &place.chart.initial;
    let is_new = || matches!(&event.trigger, Trigger::Enter { phase, .. } if phase == initial);
    let is_known = || place.journal().base(&place.chart).is_some();
    let writes = !decision.patch.is_empty() && !place.chart.cycles.is_empty();
    writes && (!has_state && is_new() || !is_known())
}
