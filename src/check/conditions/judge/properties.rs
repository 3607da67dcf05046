//! The chart's own properties: what always holds, what never does, what stays reachable, what eventually holds.

use std::sync::Arc;

use super::judgment::Judge;
use crate::check::conditions::evaluate::{Outcome, Path};
use crate::check::conditions::facts::Facts;
use crate::check::conditions::graph::{Lost, Way};
use crate::check::conditions::report::{Finding, conditions};
use crate::check::conditions::search::{Actor, Search, Step};
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
    /// Where its condition can be as the property wants it least, or for `reachable` most: a state, the step that leads there
    /// if the property is about steps, and why.
    found: Vec<(usize, Option<Step>, Reason)>,
}

/// Finds where each property of the chart is decided.
pub(super) fn claims(search: &mut Search) -> Vec<Claim> {
    let chart = Arc::clone(&search.chart);
    let mut claims = Vec::new();
    for (index, property) in chart.properties.iter().enumerate() {
        let Some((key, expr)) = property.claims().next() else { continue };
        let (about, expr) = (property.about.clone(), expr.0.clone());
        let term = search.decider.program.expr(&expr, None);
        let wanted = matches!(key, "never" | "reachable");
        let find = |path: &mut Path<'_>| {
            let is_it = (path.truth(term, true) == Some(true)) == wanted;
            is_it.then(|| (path.asked.clone(), path.course.facts.clone()))
        };
        let found = match &property.step {
            None => {
                let states = search.in_states(None, find).enumerate();
                states.filter_map(|(state, reason)| Some((state, None, reason?))).collect()
            }
            Some(step) => {
                let places = chart.places_of(step);
                let is_it = |step: &&Step| {
                    search.fired(step).any(|it| places.iter().any(|place| place == it))
                };
                let steps: Vec<Step> = search.steps.iter().filter(is_it).copied().collect();
                let found = steps.into_iter().filter_map(|step| {
                    let settings = search.done(&step).settings.clone();
                    let state = search.states[step.to].clone();
                    let (reason, _) = search.on_paths(&state, settings, &None, find);
                    Some((step.from, Some(step), reason?))
                });
                found.take(BREACHES).collect()
            }
        };
        claims.push(Claim { index, about, key, expr, found });
    }
    claims
}

impl Judge<'_> {
    /// Judges a property of the chart.
    pub(super) fn property(&self, claim: &Claim) -> Option<Finding> {
        let (expr, key) = (&claim.expr, claim.key);
        let mut is_found = vec![false; self.search.states.len()];
        claim.found.iter().for_each(|(state, ..)| is_found[*state] = true);
        let (message, way) = match key {
            "always" | "never" => self.broken(claim)?,
            _ if self.search.cut.is_some() => return None,
            "reachable" => {
                let Lost { given, way, .. } = self.graph.lost(&is_found)?;
                (format!("from here no path leads to `{expr}`{}", self.with(&given)), way)
            }
            _ => self.avoided(expr, &is_found)?,
        };
        let message = format!("refuted: {}: {message}", claim.about);
        let path = at!["properties", claim.index, key].to_vec();
        Some(self.found(Code::PropertyRefuted, message, path, &way))
    }

    /// Returns the path that breaks a property.
    fn broken(&self, claim: &Claim) -> Option<(String, Way)> {
        let found = claim.found.iter().take(BREACHES);
        let mut found = found.filter_map(|(state, step, (asked, facts))| {
            Some((asked, self.graph.way_to(*state, step.as_slice(), facts)?))
        });
        let (asked, way) = found.next()?;
        let holds = if claim.key == "never" { "can hold here" } else { "need not hold here" };
        let conditions = conditions(self.search, asked);
        Some((format!("`{}` {holds}{conditions}", claim.expr), way))
    }

    /// Returns a way on which something that is open in these states never becomes true, though the agent, the host and the
    /// reviewer go on.
    fn avoided(&self, expr: &str, is_open: &[bool]) -> Option<(String, Way)> {
        let goes_on = |step: &Step| self.search.actor(step) != Actor::User && step.from != step.to;
        let mut is_stuck = is_open.to_vec();
        let steps = self.search.steps.iter();
        steps.filter(|step| goes_on(step)).for_each(|step| is_stuck[step.from] = false);
        let mut stuck = (0..is_stuck.len()).filter(|state| is_stuck[*state]);
        if let Some(way) = stuck.find_map(|state| self.graph.way_to(state, &[], &Facts::default()))
        {
            let message =
                format!("without the user nothing leads on from here, and `{expr}` is not true");
            return Some((message, way));
        }
        let gives_none = |step: &Step| {
            let review = self.search.done(step).review.as_ref();
            review.is_some_and(|(_, outcome, _)| !matches!(outcome, Outcome::Ran(Some(_))))
        };
        let way = self.graph.endless(|step| {
            let avoids = goes_on(step) && is_open[step.from] && is_open[step.to];
            (avoids && !gives_none(step)).then_some(true)
        })?;
        Some((format!("`{expr}` may never become true"), way))
    }
}
