//! The chart's own properties: what never holds, what stays reachable.

use std::sync::Arc;

use super::judgment::Judge;
use crate::check::conditions::evaluate::Path;
use crate::check::conditions::facts::Facts;
use crate::check::conditions::graph::Lost;
use crate::check::conditions::report::{Finding, conditions};
use crate::check::conditions::search::Search;
use crate::check::conditions::term::Term;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;

/// The most breaches of a property whose ways are looked for.
const BREACHES: usize = 50;

/// What was asked, and what is known then.
type Reason = (Vec<(Term, bool)>, Facts);

/// A property, and where it is decided.
pub(super) struct Claim {
    index: usize,
    about: String,
    key: &'static str,
    expr: String,
    /// The states in which its condition can be true, and why.
    found: Vec<(usize, Reason)>,
}

/// Finds where each property of the chart is decided.
pub(super) fn claims(search: &mut Search) -> Vec<Claim> {
    let chart = Arc::clone(&search.chart);
    let mut claims = Vec::new();
    for (index, property) in chart.properties.iter().enumerate() {
        let Some((key, expr)) = property.claims().next() else { continue };
        let (about, expr) = (property.about.clone(), expr.0.clone());
        let term = search.decider.program.expr(&expr, None);
        let find = |path: &mut Path<'_>| {
            let is_it = path.truth(term, true) == Some(true);
            is_it.then(|| (path.asked.clone(), path.course.facts.clone()))
        };
        let states = search.in_states(None, find).enumerate();
        let found = states.filter_map(|(state, reason)| Some((state, reason?))).collect();
        claims.push(Claim { index, about, key, expr, found });
    }
    claims
}

impl Judge<'_> {
    /// Judges a property of the chart.
    pub(super) fn property(&self, claim: &Claim) -> Option<Finding> {
        let (expr, key) = (&claim.expr, claim.key);
        let (message, way) = match key {
            "never" => {
                let mut found = claim.found.iter().take(BREACHES);
                let (asked, way) = found.find_map(|(state, (asked, facts))| {
                    Some((asked, self.graph.way_to(*state, &[], facts)?))
                })?;
                (format!("`{expr}` can hold here{}", conditions(self.search, asked)), way)
            }
            _ if self.search.cut.is_some() => return None,
            _ => {
                let mut is_found = vec![false; self.search.states.len()];
                claim.found.iter().for_each(|(state, _)| is_found[*state] = true);
                let Lost { given, way, .. } = self.graph.lost(&is_found)?;
                (format!("from here no path leads to `{expr}`{}", self.with(&given)), way)
            }
        };
        let message = format!("refuted: {}: {message}", claim.about);
        let path = at!["properties", claim.index, key].to_vec();
        Some(self.found(Code::PropertyRefuted, message, path, &way))
    }
}
