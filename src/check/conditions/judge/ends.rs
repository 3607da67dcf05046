//! There is an end, and a way to it from everywhere.

use super::judgment::{Judge, key_of_phase};
use crate::check::conditions::graph::Lost;
use crate::check::conditions::report::Finding;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;

impl Judge<'_> {
    /// Judges whether a final phase stays within reach: nothing where the chart has none.
    pub(super) fn ends(&self) -> Option<Finding> {
        let (chart, search) = (self.chart, self.search);
        let is_final = |state: usize| chart.is_final(search.phase(state));
        if search.cut.is_some() || !chart.phases.keys().any(|name| chart.is_final(name)) {
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
    pub(super) fn with(&self, given: &crate::check::conditions::facts::Facts) -> String {
        let terms = &self.search.decider.program.terms;
        let words: Vec<String> =
            given.iter().map(|(term, fact)| fact.in_words(terms, *term)).collect();
        match words.is_empty() {
            true => String::new(),
            false => format!(", where {}", words.join(" and ")),
        }
    }
}
