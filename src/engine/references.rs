//! Which names of a chart refer to which others: none may refer back to itself, or too deeply.

use std::collections::HashMap;

use indexmap::IndexSet;

use crate::chart::Chart;
use crate::expr::MAX_DEPTH;
use crate::expr::source::Literal;
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
        for (name, expr) in &chart.lets {
            graph.add(name, [expr]);
        }
        for (name, arg) in &chart.args {
            let name = format!("args.{name}");
            graph.add(&name, &arg.one_of);
            graph.add(&name, arg.default.as_ref().and_then(Literal::text));
        }
        for (name, checks) in &chart.checks {
            let name = format!("checks.{name}");
            for check in checks {
                graph.add(&name, check.each.iter().chain(&check.guard));
                graph.add(&name, [&check.say]);
            }
        }
        // A user's prompt may contain any of them.
        for (name, vars) in &chart.prompts {
            graph.add(&format!("prompts.{name}"), vars.values());
        }
        for cycle in chart.cycles.values() {
            let targets = cycle.advance.iter();
            graph.add("cycle.exit", [&cycle.exit]);
            graph.add("cycle.ready", &cycle.ready);
            graph.add("cycle.gates", &cycle.gates);
            graph.add("cycle.next", targets.filter_map(|target| target.guard.as_ref()));
            graph.add("cycle.subject", &cycle.subject);
            graph.add("cycle.text", cycle.text.values());
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

    fn add<'t, T>(&mut self, name: &str, sources: impl IntoIterator<Item = &'t T>)
    where
        T: AsRef<str> + 't,
    {
        for source in sources.into_iter().map(AsRef::as_ref) {
            let names = names_in(source);
            let nodes = names.iter().filter_map(|dotted| self.node(dotted));
            let nodes: Vec<String> = nodes.collect();
            self.edges.entry(name.to_owned()).or_default().extend(nodes);
        }
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
