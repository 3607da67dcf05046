//! What the judges look at, and how they say what they find.

use crate::chart::Chart;
use crate::check::conditions::facts::Facts;
use crate::check::conditions::graph::{Graph, Lost};
use crate::check::conditions::report::{Finding, tell};
use crate::check::conditions::search::{Actor, Search, Step};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::{Segment, at, steps};
use crate::engine::event::Trigger;

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
        way: &[Step],
    ) -> Finding {
        let begin = way.first().map_or(0, |step| step.from);
        let way = Some(tell(self.search, begin, way));
        Finding { code, message, path, way }
    }

    /// Judges whether each event has a decision.
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

    /// Judges whether a final phase stays within reach: nothing where the chart has none.
    pub(super) fn ends(&self) -> Option<Finding> {
        let (chart, search) = (self.chart, self.search);
        let is_final = |state: usize| chart.is_final(search.phase(state));
        if !chart.phases.keys().any(|name| chart.is_final(name)) {
            let message = "the chart has review cycles, but no final phase".to_owned();
            let has_cycles = !chart.cycles.is_empty();
            return has_cycles.then(|| absent(Code::NoFinal, message, at!["phases"]));
        }
        if search.cut.is_some() {
            return None;
        }
        let goals: Vec<bool> = (0..search.states.len()).map(is_final).collect();
        let Lost { state, is_stuck, given, way } = self.graph.lost(&goals)?;
        let phase = search.phase(state);
        let (code, message) = match is_stuck {
            true => (Code::DeadEnd, format!("in the phase `{phase}` nothing leads on")),
            false => {
                let message = format!("from the phase `{phase}` no final phase can be reached");
                (Code::FinalOutOfReach, message)
            }
        };
        let message = message + &self.with(&given);
        let path = at!["phases", key_of_phase(chart, phase)].to_vec();
        Some(self.found(code, message, path, &way))
    }

    /// Says with which settings: `, with config.limit < 2`.
    pub(super) fn with(&self, given: &Facts) -> String {
        let terms = &self.search.decider.program.terms;
        let words: Vec<String> =
            given.iter().map(|(term, fact)| fact.in_words(terms, *term)).collect();
        match words.is_empty() {
            true => String::new(),
            false => format!(", where {}", words.join(" and ")),
        }
    }

    /// Returns whether an event of the host beside a stop, in the midst of a turn, lets the agent go on.
    pub(super) fn is_aside(&self, step: &Step) -> bool {
        let (trigger, actor) = &self.search.events[step.event];
        let is_turn = matches!(trigger, Trigger::Hook(name) if matches!(name.as_str(), "Stop" | "UserPromptSubmit"));
        *actor == Actor::Host && !is_turn && !self.search.done(step).blocks
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
