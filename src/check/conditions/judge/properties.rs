//! The chart's own properties: what always holds, what never does, what stays reachable, what eventually holds.

use std::rc::Rc;
use std::sync::Arc;

use super::judgment::Judge;
use crate::check::conditions::evaluate::Outcome;
use crate::check::conditions::facts::Facts;
use crate::check::conditions::graph::{Lost, Way};
use crate::check::conditions::report::{Finding, conditions};
use crate::check::conditions::search::{Actor, Holds, Reason, Search, Step};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;

/// The most breaches of a property whose ways are looked for.
const BREACHES: usize = 50;

/// A property, and where it holds.
pub(super) struct Claim {
    index: usize,
    about: String,
    key: &'static str,
    expr: String,
    /// For each state that was looked at.
    holds: Vec<Rc<Holds>>,
    /// Where it is broken: a state, and the step behind which that is so if the property is about steps.
    breaches: Vec<(usize, Option<Step>, Reason)>,
}

/// Finds where each property of the chart holds.
pub(super) fn claims(search: &mut Search) -> Vec<Claim> {
    let chart = Arc::clone(&search.chart);
    let mut claims = Vec::new();
    for (index, property) in chart.properties.iter().enumerate() {
        let Some((key, expr)) = property.claims().next() else { continue };
        let (about, expr) = (property.about.clone(), expr.0.clone());
        let is_broken = |holds: &Holds| match key {
            "never" => holds.yes.clone(),
            _ => holds.no.clone(),
        };
        let (mut holds, mut breaches) = (Vec::new(), Vec::new());
        match &property.step {
            None => {
                holds = search.holds(&expr);
                let broken = holds.iter().enumerate();
                let broken =
                    broken.filter_map(|(state, holds)| Some((state, None, is_broken(holds)?)));
                breaches = broken.take(BREACHES).collect();
            }
            Some(step) => {
                let places = chart.places_of(step);
                let is_it = |step: &Step| {
                    search.fired(step).any(|it| places.iter().any(|place| place == it))
                };
                let steps: Vec<Step> = search.steps.iter().copied().filter(is_it).collect();
                for step in steps {
                    let settings = search.done(&step).settings.clone();
                    let state = search.states[step.to].clone();
                    let (found, _) = search.holds_in(&expr, &state, &settings, None);
                    if let Some(reason) = is_broken(&found) {
                        breaches.push((step.from, Some(step), reason));
                    }
                    if breaches.len() >= BREACHES || search.clock.is_up().is_some() {
                        break;
                    }
                }
            }
        }
        claims.push(Claim { index, about, key, expr, holds, breaches });
    }
    claims
}

impl Judge<'_> {
    /// Judges a property of the chart.
    pub(super) fn property(&self, claim: &Claim) -> Option<Finding> {
        let (expr, key) = (&claim.expr, claim.key);
        let is_whole = self.search.cut.is_none();
        let (message, way) = match key {
            "always" | "never" => self.broken(claim)?,
            "reachable" if is_whole => {
                let goals = |holds: &Rc<Holds>| holds.yes.is_some();
                let goals: Vec<bool> = claim.holds.iter().map(goals).collect();
                let Lost { state, given, .. } = self.graph.lost(&goals)?;
                let message = format!("from here no path leads to `{expr}`{}", self.with(&given));
                (message, self.graph.way_to(state, &[], &given)?.0)
            }
            "eventually" if is_whole => self.avoided(claim)?,
            _ => return None,
        };
        let message = format!("refuted: {}: {message}", claim.about);
        let path = at!["properties", claim.index, key].to_vec();
        Some(self.found(Code::PropertyRefuted, message, path, &way))
    }

    /// Returns how a property comes to be broken.
    fn broken(&self, claim: &Claim) -> Option<(String, Way)> {
        let breaches = claim.breaches.iter();
        let mut found = breaches.filter_map(|(state, step, (asked, facts))| {
            let (way, _) = self.graph.way_to(*state, step.as_slice(), facts)?;
            Some((asked, way))
        });
        let (asked, way) = found.next()?;
        let holds = if claim.key == "never" { "can hold here" } else { "need not hold here" };
        let conditions = match conditions(self.search, asked).as_str() {
            "" => String::new(),
            conditions => format!(", where {conditions}"),
        };
        Some((format!("`{}` {holds}{conditions}", claim.expr), way))
    }

    /// Returns a way on which something never comes to hold, though the agent, the host and the reviewer go on.
    fn avoided(&self, claim: &Claim) -> Option<(String, Way)> {
        let expr = &claim.expr;
        let is_goal = |state: usize| claim.holds.get(state).is_none_or(|it| it.no.is_none());
        let goes_on = |step: &Step| self.search.actor(step) != Actor::User && step.from != step.to;
        let mut leads_on = vec![false; self.search.states.len()];
        let steps = self.search.steps.iter();
        steps.filter(|step| goes_on(step)).for_each(|step| leads_on[step.from] = true);
        let mut stuck = (0..self.search.looked_at).filter(|it| !is_goal(*it) && !leads_on[*it]);
        if let Some((way, _)) =
            stuck.find_map(|state| self.graph.way_to(state, &[], &Facts::default()))
        {
            let message =
                format!("without the user nothing leads on from here, and `{expr}` is not true");
            return Some((message, way));
        }
        let gives_none = |step: &Step| {
            let review = self.search.done(step).review.as_ref();
            review.is_some_and(|(_, outcome)| !matches!(outcome, Outcome::Ran(Some(_))))
        };
        let way = self.graph.endless(|step| {
            let avoids = goes_on(step) && !is_goal(step.from) && !is_goal(step.to);
            (avoids && !gives_none(step)).then_some(true)
        })?;
        Some((format!("`{expr}` may never become true"), way))
    }
}
