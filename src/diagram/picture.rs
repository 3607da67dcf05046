//! The content of every picture of a chart: its phases and cycles, and the transitions between them.

use crate::chart::Chart;
use crate::chart::model::{PhaseType, Rule};
use crate::expr::formula::conjuncts;
use crate::expr::source::Expr;
use crate::hash::IndexMap;
use crate::text::shown;

/// The most characters of a guard that are shown.
const BRIEF: usize = 44;

/// The start of the note about a rule or a command that leads to a node from every phase.
const ANYWHERE: &str = "from any phase";

/// A chart as nodes and edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) title: String,
    /// The phases in the order of the chart, then the cycles.
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// Which node shows a phase.
    shows: IndexMap<String, usize>,
}

/// A phase, or a cycle with the phases that are made for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_initial: bool,
    /// More about it, in short lines.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Phase,
    Final,
    Cycle,
}

/// A transition from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// When it happens, in a few words; empty if it is the only one.
    pub(crate) label: String,
}

impl Picture {
    /// Returns the picture of `chart`.
    pub(crate) fn of(chart: &Chart) -> Self {
        let mut picture = Self {
            title: shown(&chart.id).into_owned(),
            nodes: Vec::new(),
            edges: Vec::new(),
            shows: IndexMap::default(),
        };
        picture.add_nodes(chart);
        for (name, entry) in &chart.phases {
            let cycle = entry.phase.next.as_deref();
            picture.connect(Some(name), cycle, String::new());
        }
        for (name, cycle) in &chart.cycles {
            for (index, advance) in cycle.advance.iter().enumerate() {
                let label = match &advance.guard {
                    Some(guard) => condition(guard),
                    None if index > 0 => "otherwise".to_owned(),
                    None => String::new(),
                };
                picture.connect(Some(name), Some(&advance.target), label);
            }
        }
        let rules = chart.on.values().flatten();
        let rules = rules.map(|rule| (rule, rule.about.clone().unwrap_or_default()));
        let commands = chart.commands.iter();
        let commands = commands.map(|(name, command)| (command, format!("run {name}")));
        for (rule, label) in rules.chain(commands) {
            let label = match (label.is_empty(), &rule.guard) {
                (true, Some(guard)) => condition(guard),
                _ => brief(&label),
            };
            let sources = sources(chart, rule);
            for source in &sources {
                picture.connect(Some(source), rule.target.as_deref(), label.clone());
            }
            if sources.is_empty() {
                picture.connect(None, rule.target.as_deref(), label);
            }
        }
        picture
    }

    fn add_nodes(&mut self, chart: &Chart) {
        for (name, entry) in chart.phases.iter().filter(|(_, entry)| entry.cycle.is_none()) {
            self.shows.insert(name.clone(), self.nodes.len());
            self.nodes.push(Node {
                name: shown(name).into_owned(),
                kind: match entry.phase.kind {
                    Some(PhaseType::Final) => Kind::Final,
                    None => Kind::Phase,
                },
                is_initial: *name == chart.initial,
                notes: entry.phase.guard.iter().map(condition).collect(),
            });
        }
        for (name, cycle) in &chart.cycles {
            let number = self.nodes.len();
            let made = chart.phases.iter();
            let made = made.filter(|(_, entry)| entry.cycle.as_ref() == Some(name));
            self.shows.extend(made.map(|(name, _)| (name.clone(), number)));
            self.shows.entry(name.clone()).or_insert(number);
            self.nodes.push(Node {
                name: shown(name).into_owned(),
                kind: Kind::Cycle,
                is_initial: chart.initial == *name,
                notes: vec![
                    format!("until {}", brief(&cycle.exit.0)),
                    format!("at most {}", brief(&cycle.limit)),
                    format!("answered in {}", brief(&cycle.post)),
                ],
            });
        }
    }

    /// Adds an edge to `to`; if its start is unknown, adds a note to `to` instead.
    fn connect(&mut self, from: Option<&str>, to: Option<&str>, label: String) {
        let Some(to) = to.and_then(|to| self.shows.get(to).copied()) else {
            return;
        };
        match from.map(|from| self.shows.get(from).copied()) {
            Some(Some(from)) => self.edges.push(Edge { from, to, label }),
            Some(None) => {}
            None => {
                let node = &mut self.nodes[to];
                let note = format!("{ANYWHERE}: {label}");
                node.notes.push(note.trim_end_matches([':', ' ']).to_owned());
            }
        }
    }
}

/// Returns the phases that a rule's guard asks for: `phase == 'a'`, `phase in ['a', 'b']`.
fn sources(chart: &Chart, rule: &Rule) -> Vec<String> {
    let Some(guard) = rule.guard.as_ref().filter(|_| rule.target.is_some()) else {
        return Vec::new();
    };
    let asks = conjuncts(&guard.0).into_iter().find_map(|part| {
        let rest = part.strip_prefix(chart.state.as_str())?.trim_start();
        rest.strip_prefix("==").or_else(|| rest.strip_prefix("in "))
    });
    let words = asks.unwrap_or_default().split(['\'', '"']).skip(1).step_by(2);
    words.filter(|word| chart.phases.contains_key(*word)).map(str::to_owned).collect()
}

fn condition(guard: &Expr) -> String {
    brief(&format!("if {}", guard.0))
}

/// Returns a text on one line, cut between words if it is long.
fn brief(text: &str) -> String {
    let mut line = String::new();
    let mut words = text.split_whitespace();
    for word in &mut words {
        if !line.is_empty() && line.chars().count() + word.chars().count() >= BRIEF {
            return shown(&format!("{line} …")).into_owned();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(BRIEF));
    }
    shown(&line).into_owned()
}
