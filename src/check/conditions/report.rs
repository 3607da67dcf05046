//! The findings of the checker, and the text of a path: a numbered step for each event, in the chart's own words.

use std::collections::HashSet;

use super::evaluate::Outcome;
use super::search::{Search, Step};
use super::term::Term;
use crate::chart::Chart;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Segment;
use crate::engine::context::initial;
use crate::engine::event::Trigger;
use crate::text::in_words;

/// What following a chart has found.
#[derive(Debug, Default)]
pub struct Report {
    pub states: usize,
    pub transitions: usize,
    /// What was not looked at, in words; `None`: nothing was left out.
    pub cut: Option<String>,
    pub findings: Vec<Finding>,
}

/// Something that is wrong with a chart.
#[derive(Debug, Clone)]
pub struct Finding {
    pub code: Code,
    pub message: String,
    /// The element of the chart to point at.
    pub path: Vec<Segment>,
    /// Its counterexample; none if it has none.
    pub way: Option<String>,
}

/// Shows a path that begins in this state.
pub(super) fn tell(search: &Search, begin: usize, way: &[Step]) -> String {
    let mut named = HashSet::new();
    let mut text = start(search, begin);
    for (at, step) in way.iter().enumerate() {
        let is_same = |other: &&Step| other.way == step.way && other.from == step.from;
        if at > 0 && is_same(&&way[at - 1]) {
            continue;
        }
        text.push_str(&format!("\n{}. {}", at + 1, line_of(search, step, &mut named)));
        let same = way[at..].iter().take_while(is_same).count();
        if same > 1 {
            text += &format!("\n   {same} times in a row");
        }
    }
    text
}

/// Shows how an instance begins: the values from settings that are not the default.
fn start(search: &Search, begin: usize) -> String {
    let chart = &search.chart;
    let defaults = initial(chart);
    let set = chart.context.iter().enumerate().filter_map(|(at, (name, field))| {
        let setting = field.setting()?;
        let value = search.states[begin].fields[at];
        let is_default = search.decider.program.terms.value(value) == defaults.get(name);
        (!is_default).then(|| format!("; the setting {setting} is {}", shown(search, value)))
    });
    let set: String = set.collect();
    format!("0. Nothing is written yet: {} is {}{set}.", chart.state, search.phase(begin))
}

/// Shows a step. The text about a rule is shown when it fires for the first time.
fn line_of(search: &Search, step: &Step, named: &mut HashSet<String>) -> String {
    let (done, asked) = &search.ways[step.way];
    let event = &search.events[step.event].0;
    let mut text = match event {
        Trigger::Hook(name) => name.clone(),
        Trigger::Enter { .. } | Trigger::Command(_) => format!("`taskie {event}`"),
    };
    text.push_str(&conditions(search, asked));
    if let Some((cycle, outcome, _)) = &done.review {
        let cycle = &search.chart.cycles[*cycle].id;
        let end = match outcome {
            Outcome::Ran(Some(verdict)) => format!("gives {}", shown(search, *verdict)),
            Outcome::Ran(None) => "gives no verdict".to_owned(),
            Outcome::Failed => "fails".to_owned(),
            Outcome::Gate => "waits for a gate that fails".to_owned(),
        };
        text.push_str(&format!("; {cycle} {end}"));
    }
    text.push('.');
    let fired: Vec<String> =
        search.fired(step).map(|place| name(&search.chart, place, named)).collect();
    if !fired.is_empty() {
        text.push_str(&format!("\n   fires: {}", fired.join(", ")));
    }
    let fields = search.chart.context.keys().enumerate();
    let changes = fields.filter_map(|(at, name)| {
        let [before, after] = [step.from, step.to].map(|state| search.states[state].fields[at]);
        let change = || format!("{name}: {} → {}", shown(search, before), shown(search, after));
        (before != after).then(change)
    });
    let changes: Vec<String> = changes.collect();
    if !changes.is_empty() {
        text.push_str(&format!("\n   {}", changes.join(", ")));
    }
    if done.blocks {
        text.push_str("\n   the agent is blocked");
    }
    text
}

fn name(chart: &Chart, place: &str, named: &mut HashSet<String>) -> String {
    let about = chart.about(place).filter(|_| named.insert(place.to_owned()));
    about.map_or_else(|| place.to_owned(), |about| format!("{place} ({about})"))
}

/// Returns what was asked, in words: ", where `open`, `lines < 3`".
pub(super) fn conditions(search: &Search, asked: &[(Term, bool)]) -> String {
    let terms = &search.decider.program.terms;
    let asked = asked.iter().map(|(term, is_so)| match is_so {
        true => format!("`{}`", terms.text(*term)),
        false => format!("`{}`", terms.negated(*term)),
    });
    let asked = asked.collect::<Vec<_>>().join(", ");
    if asked.is_empty() { asked } else { format!(", where {asked}") }
}

fn shown(search: &Search, value: Term) -> String {
    let terms = &search.decider.program.terms;
    terms.value(value).map_or_else(|| terms.text(value), in_words)
}
