//! What the rules of this folder look at.

use std::collections::BTreeSet;

use crate::chart::Chart;
use crate::chart::model::Rule;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::toml::{Step, locate};
use crate::expr::source::Text;

/// What a rule looks at.
pub(super) struct Subject<'c> {
    pub(super) chart: &'c Chart,
    /// The chart's TOML.
    pub(super) text: &'c str,
    /// The names that expressions and texts use.
    pub(super) uses: &'c BTreeSet<String>,
}

impl Subject<'_> {
    /// A flaw at a place of the chart.
    pub(super) fn flaw(&self, code: Code, path: &[Step], message: String, help: &str) -> Flaw {
        Flaw::new(code, message)
            .help(Some(help.to_owned()))
            .at(locate(self.text, path))
    }

    /// Every rule with its event and its number there, in order.
    pub(super) fn rules(&self) -> impl Iterator<Item = (&str, usize, &Rule)> {
        self.chart.on.iter().flat_map(|(event, rules)| {
            rules
                .iter()
                .enumerate()
                .map(move |(index, rule)| (event.as_str(), index, rule))
        })
    }

    /// Every text that is said to someone, with its place.
    pub(super) fn said(&self) -> Vec<(Vec<Step>, &Text)> {
        let mut said = Vec::new();
        for (event, index, rule) in self.rules() {
            for (key, text) in [
                ("message", &rule.message),
                ("say", &rule.say),
                ("block", &rule.block),
            ] {
                let path = vec![
                    Step::from("on"),
                    Step::from(event),
                    Step::from(index),
                    Step::from(key),
                ];
                said.extend(text.as_ref().map(|text| (path, text)));
            }
        }
        for (name, command) in &self.chart.commands {
            for (key, text) in [("say", &command.rule.say), ("else", &command.otherwise)] {
                let path = vec![Step::from("commands"), Step::from(name), Step::from(key)];
                said.extend(text.as_ref().map(|text| (path, text)));
            }
        }
        said
    }
}
