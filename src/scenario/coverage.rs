//! The coverage of a chart: which of its rules, commands and phases were used, and which guards have refused one.

use std::collections::HashSet;

use crate::chart::Chart;
use crate::store::journal::DecisionLine;

/// The parts that were used, by their place in the chart: `on.Stop[2]`, `commands.pause`, `phases.done`,
/// `phases.done.guard` where that refused.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    used: HashSet<String>,
}

impl Coverage {
    /// Adds the parts that a decision has used.
    pub(crate) fn add(&mut self, decided: &DecisionLine) {
        let fired = decided.fired().map(|rule| rule.rule.clone());
        self.used.extend(fired);
        let place = match decided.event.split_once(' ') {
            Some(("enter", phase)) => format!("phases.{phase}"),
            Some(("run", command)) => format!("commands.{command}"),
            _ => return,
        };
        self.used.insert(match decided.answer.as_str() {
            "refuse" => place + Chart::GUARD,
            _ => place,
        });
    }

    /// Returns all that `chart` has, in its order.
    pub(crate) fn all(chart: &Chart) -> Vec<String> {
        let rules = chart.on.iter().flat_map(|(event, rules)| {
            (0..rules.len()).map(move |index| format!("on.{event}[{index}]"))
        });
        let commands = chart.commands.keys().map(|name| format!("commands.{name}"));
        let phases = chart.phases.keys().map(|name| format!("phases.{name}"));
        let places = phases.chain(rules).chain(commands);
        let with_guard = |place: String| {
            let can_refuse = !place.starts_with("on.") && chart.guard(&place).is_some();
            let guard = can_refuse.then(|| format!("{place}{}", Chart::GUARD));
            [place].into_iter().chain(guard)
        };
        places.flat_map(with_guard).collect()
    }

    /// Returns what is left, in the chart's order.
    pub(crate) fn missing(&self, chart: &Chart) -> Vec<String> {
        let mut all = Self::all(chart);
        all.retain(|place| !self.used.contains(place));
        all
    }
}

/// Returns how much of a chart is covered if this many parts are missing: "31 of 45 … (68%)".
pub(crate) fn share(chart: &Chart, missing: usize) -> String {
    let all = Coverage::all(chart).len();
    let covered = all.saturating_sub(missing);
    let percent = (covered * 100).checked_div(all).unwrap_or(100);
    format!("{covered} of {all} phases, rules, commands and refusals ({percent}%)")
}
