//! What the judges look at, and how they say what they find.

use crate::chart::Chart;
use crate::check::conditions::facts::Facts;
use crate::check::conditions::graph::{Graph, Way};
use crate::check::conditions::report::{Finding, tell};
use crate::check::conditions::search::{Search, Step};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::{Segment, at, steps};

/// What the judges look at.
pub(super) struct Judge<'s> {
    pub(super) chart: &'s Chart,
    pub(super) search: &'s Search,
    pub(super) graph: Graph<'s>,
}

impl Judge<'_> {
    /// Returns a finding with the way that leads there.
    pub(super) fn found(
        &self,
        code: Code,
        message: String,
        path: Vec<Segment>,
        way: &Way,
    ) -> Finding {
        let begin = way.steps.first().map_or(0, |step| step.from);
        let way = Some(tell(self.search, begin, way));
        Finding { code, message, path, way }
    }

    /// Judges whether each event comes to a decision.
    pub(super) fn failures(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for step in &self.search.failures {
            let Some(failure) = &self.search.done(step).failure else { continue };
            let path = path_of(self.chart, &failure.place);
            // One place fails in one way: the first one is enough.
            if findings.iter().any(|known| known.path == path && known.code == failure.code) {
                continue;
            }
            if let Some(way) = self.graph.way_to(step.from, &[*step], &Facts::default()) {
                let message = failure.message.clone();
                findings.push(self.found(failure.code, message, path, &way));
            }
        }
        findings
    }

    /// Returns whether an event of the host beside a stop, in the midst of a turn, lets the agent go on.
    pub(super) fn is_aside(&self, step: &Step) -> bool {
        use crate::engine::event::Trigger;
        let trigger = &self.search.events[step.event].0;
        let is_event = matches!(trigger, Trigger::Hook(name) if !matches!(name.as_str(), "Stop" | "UserPromptSubmit"));
        is_event
            && self.search.actor(step) == crate::check::conditions::search::Actor::Host
            && !self.search.done(step).blocks
    }
}

/// Returns a finding about something that never happens.
pub(super) fn absent(code: Code, message: String, path: &[Segment]) -> Finding {
    Finding { code, message, path: path.to_vec(), way: None }
}

/// Returns the key of a phase: one made from a hole stands under the name with the hole.
pub(super) fn key_of_phase<'c>(chart: &'c Chart, phase: &'c str) -> &'c str {
    chart.phases.get(phase).map_or(phase, |entry| &entry.key)
}

/// Returns `on.Stop[2].guard` as a path.
pub(super) fn path_of(chart: &Chart, place: &str) -> Vec<Segment> {
    let mut path = steps(place).unwrap_or_default();
    if let [Segment::Key(table), Segment::Key(phase), ..] = path.as_mut_slice()
        && table == "phases"
    {
        *phase = key_of_phase(chart, phase).to_owned();
    }
    path
}

/// Returns the rule that runs reviews; the cycle if none does.
pub(super) fn invoking_rule(chart: &Chart, cycle: &str) -> Vec<Segment> {
    let found = chart.on.iter().find_map(|(event, rules)| {
        let index = rules.iter().position(|rule| rule.invoke.is_some())?;
        Some(at!["on", event, index].to_vec())
    });
    found.unwrap_or_else(|| at!["cycles", cycle].to_vec())
}
