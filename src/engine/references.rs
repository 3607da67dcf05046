//! Which names of a chart refer to which others: none may refer back to itself, or too deeply.

use std::collections::HashMap;

use indexmap::IndexSet;

use crate::chart::Chart;
use crate::chart::fragments::Role;
use crate::diagnostic::toml::Segment;
use crate::expr::MAX_DEPTH;
use crate::expr::syntax::names_in;
use crate::hash::IndexMap;

/// Which names of a chart use which others.
pub(super) struct References<'c> {
    chart: &'c Chart,
    edges: IndexMap<String, IndexSet<String>>,
}

impl<'c> References<'c> {
    /// Returns the references in all expressions and texts that have a name.
    pub(super) fn of(chart: &'c Chart) -> Self {
        let mut graph = Self { chart, edges: IndexMap::default() };
        let mut fragments = chart.fragments();
        // A circle is reported at one of its lets.
        fragments.sort_by_key(|fragment| fragment.role != Role::Let);
        for fragment in fragments {
            let Some(name) = named(&fragment.path) else { continue };
            let names = names_in(fragment.text);
            let nodes: Vec<String> = names.iter().filter_map(|name| graph.node(name)).collect();
            graph.edges.entry(name).or_default().extend(nodes);
        }
        graph
    }

    /// Returns the first name that refers to itself or refers too deeply, and what is wrong with it.
    pub(super) fn fault(&self) -> Option<(&str, String)> {
        let mut heights = HashMap::new();
        self.edges.keys().find_map(|name| {
            let height = self.height(name, &mut Vec::new(), &mut heights);
            height.err().map(|message| (name.as_str(), message))
        })
    }

    /// Returns the name in the graph of a dotted name that an expression uses; `None` if it refers to nothing else.
    fn node(&self, dotted: &str) -> Option<String> {
        let mut parts = dotted.split('.');
        match (parts.next()?, parts.next()) {
            (first, _) if self.chart.context.contains_key(first) => None,
            (first, _) if self.chart.lets.contains_key(first) => Some(first.to_owned()),
            (first @ ("args" | "checks" | "cycle" | "prompts"), Some(second)) => {
                Some(format!("{first}.{second}"))
            }
            _ => None,
        }
    }

    /// Returns how many levels of names `name` needs, itself included; the error says what is wrong.
    fn height(
        &self,
        name: &str,
        way: &mut Vec<String>,
        known: &mut HashMap<String, usize>,
    ) -> Result<usize, String> {
        if let Some(start) = way.iter().position(|other| other == name) {
            let circle = [&way[start..], &[name.to_owned()]].concat().join(" → ");
            return Err(format!("`{name}` refers to itself: {circle}"));
        }
        let too_deep = |name: &str| {
            let why = "refers to other names more than";
            Err(format!("`{name}` {why} {MAX_DEPTH} levels deep"))
        };
        if way.len() >= MAX_DEPTH {
            return too_deep(way.first().map_or(name, String::as_str));
        }
        if let Some(height) = known.get(name) {
            return Ok(*height);
        }
        way.push(name.to_owned());
        let mut height = 1;
        for other in self.edges.get(name).into_iter().flatten() {
            height = height.max(1 + self.height(other, way, known)?);
        }
        way.pop();
        if height > MAX_DEPTH {
            return too_deep(name);
        }
        known.insert(name.to_owned(), height);
        Ok(height)
    }
}

/// Returns the name of what is at a path; `None` if it has none.
fn named(path: &[Segment]) -> Option<String> {
    let [Segment::Key(table), Segment::Key(name), rest @ ..] = path else { return None };
    match (table.as_str(), rest) {
        ("let", _) => Some(name.clone()),
        ("args" | "checks" | "prompts", _) => Some(format!("{table}.{name}")),
        // All cycles are one here.
        ("cycles", [Segment::Key(key), ..]) => match key.as_str() {
            "advance" => Some("cycle.next".to_owned()),
            "exit" | "ready" | "gates" | "subject" | "text" => Some(format!("cycle.{key}")),
            _ => None,
        },
        _ => None,
    }
}
