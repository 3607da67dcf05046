//! The properties, each proved or refuted on the space of states.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::fast::FastMap;
use super::graph::{Longest, Way, leads_to, way_to};
use super::moves::{Actor, Edge};
use super::search::{Arrow, Search};
use super::state::{Looks, number};
use super::trace::{Trace, plain};
use super::{PropertyResult, Verdict};
use crate::chart::error::Step;
use crate::chart::model::{PhaseType, Property};
use crate::chart::{Chart, Cycle};
use crate::engine::context::{admit, default_of};
use crate::engine::decision::Outcome;
use crate::engine::fault::Fault;

/// So many blocks in a row the host honours; after that it lets the agent go.
const BLOCKS: usize = 8;

/// All results, in the order in which a person reads them.
pub(crate) fn judge(search: &mut Search) -> Vec<PropertyResult> {
    let mut results = Vec::new();
    let own = own_properties(search);
    let chart = Arc::clone(&search.moves.tree.chart);
    let judge = Judge::of(&chart, search);
    results.extend(judge.decisions());
    results.extend(judge.schema());
    results.extend(judge.phases());
    results.extend(judge.rules());
    results.extend(judge.finals());
    results.extend(judge.cycles());
    results.extend(judge.blocks());
    results.extend(own);
    results
}

struct Judge<'s> {
    chart: &'s Chart,
    search: &'s Search,
    /// The combinations of what a user can set.
    settings: Vec<Setting>,
}

/// What the parameters are, all of them or one.
#[derive(Debug)]
struct Setting {
    /// Fields and their values.
    values: Vec<(usize, u32)>,
    /// Per edge, whether it needs nothing else.
    fits: Vec<bool>,
    /// `, max_reviews being 0`.
    words: String,
}

impl Setting {
    fn allows(&self, arrow: &Arrow) -> bool {
        self.fits[arrow.edge()]
    }
}

/// A path to an element of the chart.
macro_rules! path {
    ($($step:expr),* $(,)?) => { vec![$(Step::from($step)),*] };
}

impl<'s> Judge<'s> {
    fn of(chart: &'s Chart, search: &'s Search) -> Self {
        Self {
            chart,
            search,
            settings: settings(search),
        }
    }

    /// A result of a property that no state has refuted.
    fn settled(&self, name: &str, code: &'static str, detail: String) -> PropertyResult {
        let verdict = if self.search.complete {
            Verdict::Proved { detail }
        } else {
            Verdict::Bounded {
                why: cut_off(self.search),
            }
        };
        PropertyResult {
            name: name.to_owned(),
            code,
            verdict,
        }
    }

    /// A result about something that was seen nowhere: without a complete search that says nothing.
    fn absent(
        &self,
        name: &str,
        code: &'static str,
        claim: String,
        path: Vec<Step>,
    ) -> PropertyResult {
        let verdict = if self.search.complete {
            Verdict::Refuted {
                trace: Trace::absent(claim),
                path,
            }
        } else {
            Verdict::Bounded {
                why: cut_off(self.search),
            }
        };
        PropertyResult {
            name: name.to_owned(),
            code,
            verdict,
        }
    }

    fn refuted_at(
        &self,
        name: &str,
        code: &'static str,
        claim: String,
        state: usize,
        path: Vec<Step>,
    ) -> PropertyResult {
        self.refuted(name, code, claim, &way_to(self.search, state), path)
    }

    fn refuted(
        &self,
        name: &str,
        code: &'static str,
        claim: String,
        way: &Way,
        path: Vec<Step>,
    ) -> PropertyResult {
        let trace = Trace::along(self.search, claim, way);
        PropertyResult {
            name: name.to_owned(),
            code,
            verdict: Verdict::Refuted { trace, path },
        }
    }

    /// Refuted by a way whose end leads back to one of its steps.
    fn endless(
        &self,
        name: &str,
        code: &'static str,
        claim: String,
        way: &Way,
        again: usize,
        path: Vec<Step>,
    ) -> PropertyResult {
        let trace = Trace {
            again: Some(again),
            ..Trace::along(self.search, claim, way)
        };
        PropertyResult {
            name: name.to_owned(),
            code,
            verdict: Verdict::Refuted { trace, path },
        }
    }

    fn edge(&self, arrow: &Arrow) -> &Edge {
        &self.search.edges[arrow.edge()].0
    }

    fn actor(&self, arrow: &Arrow) -> Actor {
        self.search.moves.all[self.edge(arrow).mover].actor
    }

    fn phase(&self, state: usize) -> &str {
        let field = self.search.field(&self.chart.state);
        field
            .and_then(|field| self.search.value(state, field).as_str())
            .unwrap_or_default()
    }

    // ── a decision everywhere, and a sound state ──

    fn decisions(&self) -> Vec<PropertyResult> {
        let moves = &self.search.moves;
        let name = "every event leads to a decision";
        let mut met: Vec<(&u32, &(usize, usize))> = self.search.faults.iter().collect();
        met.sort_by_key(|(_, at)| **at);
        let mut results: Vec<PropertyResult> = Vec::new();
        for (fault, (state, edge)) in met {
            let fault = &moves.faults[*fault as usize];
            let mut way = way_to(self.search, *state);
            way.push((*state, *edge));
            let (name, code) = match fault {
                Fault::Assignment { .. } => {
                    ("every assignment fits its field", "assignment-misfit")
                }
                _ => (name, "no-decision"),
            };
            results.push(self.refuted(
                name,
                code,
                format!("{fault}."),
                &way,
                path_of_fault(self.chart, fault),
            ));
        }
        for (list, index, fault) in moves.tree.ground.faults_of_checks() {
            let trace = Trace::absent(format!("{fault}."));
            let verdict = Verdict::Refuted {
                trace,
                path: path!["checks", &list, index],
            };
            results.push(PropertyResult {
                name: name.to_owned(),
                code: "no-decision",
                verdict,
            });
        }
        if results.is_empty() {
            let kinds = moves.all.len();
            results.push(self.settled(
                name,
                "no-decision",
                format!("{} states, {kinds} kinds of move", self.search.states.len()),
            ));
        }
        results
    }

    /// Assignments are admitted one by one; targets are phases. What a state holds must fit all the same.
    fn schema(&self) -> Vec<PropertyResult> {
        let name = "every state fits the schema";
        let mut seen: HashSet<(usize, u32)> = HashSet::new();
        for (state, situation) in self.search.states.iter().enumerate() {
            for (field, value) in situation.fields().iter().enumerate() {
                if !seen.insert((field, *value)) {
                    continue;
                }
                let Some((key, kind)) = self.chart.context.get_index(field) else {
                    continue;
                };
                if let Err(expected) = admit(self.chart, kind, self.search.moves.tree.value(*value))
                {
                    let held = plain(self.search.moves.tree.value(*value));
                    let claim = format!("`{key}` is {expected}, and it becomes {held}.");
                    return vec![self.refuted_at(
                        name,
                        "state-misfit",
                        claim,
                        state,
                        path!["context", key],
                    )];
                }
            }
        }
        vec![self.settled(
            name,
            "state-misfit",
            format!("{} fields", self.chart.context.len()),
        )]
    }

    // ── nothing is there in vain ──

    fn phases(&self) -> Vec<PropertyResult> {
        let name = "every phase can be reached";
        let seen: HashSet<&str> = (0..self.search.states.len())
            .map(|state| self.phase(state))
            .collect();
        let mut results = Vec::new();
        for phase in self.chart.phases.keys() {
            let path = path!["phases", &key_of_phase(self.chart, phase)];
            if !seen.contains(phase.as_str()) {
                let claim = format!("No way leads to the phase `{phase}`.");
                results.push(self.absent(name, "phase-unreachable", claim, path));
            } else if !self.fired(&format!("phases.{phase}"))
                && !self.faults(&format!("phases.{phase}"))
                && self.chart.phases[phase].phase.guard.is_some()
            {
                let claim = format!(
                    "The guard of the phase `{phase}` holds nowhere: it is reached, but never entered."
                );
                results.push(self.absent(name, "phase-never-entered", claim, path));
            }
        }
        if results.is_empty() {
            results.push(proved(
                name,
                "phase-unreachable",
                format!("{} phases", self.chart.phases.len()),
            ));
        }
        results
    }

    fn fired(&self, place: &str) -> bool {
        let moves = &self.search.moves;
        moves.tree.places.get_index_of(place).is_some_and(|place| {
            moves
                .coverage
                .fired
                .iter()
                .any(|fired| *fired as usize == place)
        })
    }

    /// True where a rule holds somewhere, and then there is no decision.
    fn faults(&self, place: &str) -> bool {
        self.search.moves.faults.iter().any(|fault| match fault {
            Fault::Expression { place: at, .. }
            | Fault::Assignment { place: at, .. }
            | Fault::NoCycle { place: at } => at
                .strip_prefix(place)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
            Fault::NowhereToAdvance { .. } | Fault::Argument { .. } | Fault::World(_) => false,
        })
    }

    fn rules(&self) -> Vec<PropertyResult> {
        let moves = &self.search.moves;
        let name = "every rule can fire";
        let mut results = Vec::new();
        let mut count = 0;
        for (list, rules) in &self.chart.on {
            for index in 0..rules.len() {
                count += 1;
                let place = format!("on.{list}[{index}]");
                if self.fired(&place) || self.faults(&place) {
                    continue;
                }
                let list_id = moves.tree.lists.get_index_of(list);
                let tried =
                    list_id.is_some_and(|list| moves.coverage.tried.contains(&(list, index)));
                let why = if tried {
                    "its guard holds nowhere"
                } else {
                    "an earlier rule always answers first"
                };
                let claim = format!("{place} never fires: {why}.");
                results.push(self.absent(
                    name,
                    "rule-never-fires",
                    claim,
                    path!["on", list, index],
                ));
            }
        }
        for command in self.chart.commands.keys() {
            count += 1;
            let place = format!("commands.{command}");
            if !self.fired(&place) && !self.faults(&place) {
                let claim = format!("The command `{command}` applies nowhere.");
                results.push(self.absent(
                    name,
                    "command-never-applies",
                    claim,
                    path!["commands", command],
                ));
            }
        }
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            for index in 0..cycle.advance.len() {
                count += 1;
                if !moves.coverage.advanced.contains(&(at, index)) {
                    let target = &cycle.advance[index].target;
                    let claim = format!(
                        "cycles.{id}.advance[{index}] is never taken: `{id}` never leads to `{target}` that way."
                    );
                    let path = path!["cycles", id, "advance", index];
                    results.push(self.absent(name, "target-never-taken", claim, path));
                }
            }
        }
        let ground = &moves.tree.ground;
        let faulty = ground
            .faults_of_checks()
            .into_iter()
            .map(|(list, index, _)| (list, index));
        let found: HashSet<(String, usize)> = ground
            .checks_that_find()
            .into_iter()
            .chain(faulty)
            .collect();
        for list in moves.tree.ground.checks_asked() {
            for index in 0..self.chart.checks.get(&list).map_or(0, Vec::len) {
                count += 1;
                if !found.contains(&(list.clone(), index)) {
                    let claim = format!("checks.{list}[{index}] never finds anything.");
                    results.push(self.absent(
                        name,
                        "check-never-finds",
                        claim,
                        path!["checks", &list, index],
                    ));
                }
            }
        }
        if results.is_empty() {
            let detail = format!("{count} rules, commands, advance targets and checks");
            results.push(proved(name, "rule-never-fires", detail));
        }
        results
    }

    // ── there is an end ──

    fn finals(&self) -> Vec<PropertyResult> {
        let is_final = |name: &str| {
            self.chart
                .phases
                .get(name)
                .is_some_and(|entry| entry.phase.kind == Some(PhaseType::Final))
        };
        if !self.chart.phases.keys().any(|name| is_final(name)) {
            return Vec::new();
        }
        let ends: Vec<bool> = (0..self.search.states.len())
            .map(|state| is_final(self.phase(state)))
            .collect();
        let path = |state: usize| path!["phases", &key_of_phase(self.chart, self.phase(state))];
        let mut results = Vec::new();
        let name = "no dead end before a final phase";
        let mut states = (0..self.search.looked_at()).filter(|state| !ends[*state]);
        let stuck = states.find_map(|state| {
            let setting = self
                .settings
                .iter()
                .find(|setting| self.is_dead_end(state, setting))?;
            Some((state, setting))
        });
        results.push(match stuck {
            Some((state, setting)) => {
                let claim = format!(
                    "In the phase `{}` nothing leads on{}.",
                    self.phase(state),
                    setting.words
                );
                self.refuted_at(name, "dead-end", claim, state, path(state))
            }
            None => self.settled(
                name,
                "dead-end",
                format!("{} states", self.search.looked_at()),
            ),
        });
        let name = "a final phase stays within reach";
        let code = "final-out-of-reach";
        let claim = |state: usize, words: &str| {
            format!(
                "From the phase `{}` no way leads to a final phase any more{words}.",
                self.phase(state)
            )
        };
        results.push(self.within_reach(
            name,
            code,
            &ends,
            "from every state".to_owned(),
            claim,
            path,
        ));
        results
    }

    /// Whether some goal stays within reach of every state. `claim` says where not, and with what setting.
    fn within_reach(
        &self,
        name: &str,
        code: &'static str,
        goals: &[bool],
        detail: String,
        claim: impl Fn(usize, &str) -> String,
        path: impl Fn(usize) -> Vec<Step>,
    ) -> PropertyResult {
        let Some((state, setting)) = self.lost(goals) else {
            return self.settled(name, code, detail);
        };
        // Where a command sets a parameter, values that were not tried may lead on.
        let sets = |state: usize| {
            self.search
                .arrows(state)
                .iter()
                .any(|arrow| !self.edge(arrow).sets.is_empty())
        };
        let open: Vec<bool> = (0..goals.len())
            .map(|state| goals[state] || sets(state))
            .collect();
        match self.lost(&open) {
            Some((state, setting)) => {
                self.refuted_at(name, code, claim(state, &setting.words), state, path(state))
            }
            None => {
                let why = format!(
                    "{} A value that was not tried may lead on.",
                    claim(state, &setting.words)
                );
                PropertyResult {
                    name: name.to_owned(),
                    code,
                    verdict: Verdict::Bounded { why },
                }
            }
        }
    }

    /// True where no move changes anything, with the parameters as they are set, and no command sets them.
    fn is_dead_end(&self, state: usize, setting: &Setting) -> bool {
        let leads_on = |arrow: &Arrow| arrow.to() != state || !self.edge(arrow).sets.is_empty();
        !self
            .search
            .arrows(state)
            .iter()
            .any(|arrow| leads_on(arrow) && setting.allows(arrow))
    }

    /// The first state from which no way leads to a goal, with the parameters set like that from there on
    /// unless a command of the chart sets them otherwise.
    fn lost(&self, goals: &[bool]) -> Option<(usize, &Setting)> {
        if !self.search.complete {
            return None;
        }
        let mut reach: Vec<Vec<bool>> = vec![goals.to_vec(); self.settings.len()];
        loop {
            let mut grown = false;
            for (index, setting) in self.settings.iter().enumerate() {
                let before = reach[index].iter().filter(|reached| **reached).count();
                reach[index] =
                    leads_to(self.search, &reach[index], |_, arrow| setting.allows(arrow));
                // Another setting may lead on, where a command leads to it.
                for state in 0..goals.len() {
                    if !reach[index][state] {
                        reach[index][state] = self
                            .sets_to(state, setting)
                            .any(|other| reach[other][state]);
                    }
                }
                grown |= reach[index].iter().filter(|reached| **reached).count() > before;
            }
            if !grown || reach.iter().flatten().all(|reached| *reached) {
                break;
            }
        }
        let lost = reach
            .iter()
            .zip(&self.settings)
            .filter_map(|(reach, setting)| {
                reach
                    .iter()
                    .position(|reached| !reached)
                    .map(|state| (state, setting))
            });
        lost.min_by_key(|(state, _)| *state)
    }

    /// The settings that a command leads to from another, in a state.
    fn sets_to(&self, state: usize, setting: &Setting) -> impl Iterator<Item = usize> {
        let arrows = self
            .search
            .arrows(state)
            .iter()
            .filter(|arrow| setting.allows(arrow));
        let sets = arrows
            .map(|arrow| &self.edge(arrow).sets)
            .filter(|sets| !sets.is_empty());
        sets.filter_map(|sets| {
            let wanted = |other: &Setting| {
                other
                    .values
                    .iter()
                    .zip(&setting.values)
                    .all(|((field, value), (_, before))| {
                        let set = sets
                            .iter()
                            .find(|(set, _)| set == field)
                            .map_or(before, |(_, value)| value);
                        set == value
                    })
            };
            self.settings.iter().position(wanted)
        })
    }

    // ── reviews come to an end ──

    fn cycles(&self) -> Vec<PropertyResult> {
        let mut results = Vec::new();
        let mut most: HashMap<&str, usize> = HashMap::new();
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            match self.cycle(at, cycle) {
                Ok((result, default)) => {
                    most.extend(default.map(|default| (id.as_str(), default)));
                    results.push(result);
                }
                Err(result) => results.push(result),
            }
        }
        results.extend(self.total(&most));
        results
    }

    /// Whether one cycle ends, and how many reviews it has with the limit that is the default.
    fn cycle(
        &self,
        at: usize,
        cycle: &Cycle,
    ) -> Result<(PropertyResult, Option<usize>), PropertyResult> {
        let name = format!("{} ends within its limit", cycle.id);
        let code = "cycle-unbounded";
        let path = path!["cycles", &cycle.id];
        let search = self.search;
        let (Some(limit), Some(count)) = (search.field(&cycle.limit), search.field(&cycle.count))
        else {
            let claim = format!("The cycle `{}` counts or bounds nothing.", cycle.id);
            return Err(self.absent(&name, code, claim, path));
        };
        let next = self.chart.next.as_ref().and_then(|next| search.field(next));
        let has_begun = |state: usize| {
            let due = next.and_then(|next| search.value(state, next).as_str());
            let runs = due.is_some_and(|due| due == cycle.id || due == cycle.post);
            runs && search
                .value(state, count)
                .as_i64()
                .is_some_and(|count| count > 0)
        };
        let is_own = |edge: &Edge| {
            let run = edge.review.map(|run| &search.moves.tree.runs[run as usize]);
            run.is_some_and(|run| {
                run.invocation.cycle == cycle.id && matches!(run.outcome, Outcome::Ran { .. })
            })
        };
        // Per edge: what it weighs, and whether it starts the cycle afresh.
        let edges: Vec<(usize, bool)> = search
            .edges
            .iter()
            .map(|(edge, _)| (usize::from(is_own(edge)), edge.arms.contains(&at)))
            .collect();
        // The most reviews by the limit in force; one that is no parameter is read off the states.
        let mut most: Vec<(i64, usize)> = Vec::new();
        let mut refuted: Vec<PropertyResult> = Vec::new();
        let parameters = &search.moves.tree.ground.domain.parameters;
        let parameter = self
            .chart
            .context
            .get_index(limit)
            .and_then(|(name, _)| parameters.get(name));
        let limits: Vec<Option<&Json>> =
            parameter.map_or_else(|| vec![None], |values| values.iter().map(Some).collect());
        for allowed in limits {
            let value = allowed.and_then(|value| search.moves.tree.values.get_index_of(value));
            let fits = |edge: &Edge| {
                edge.needs
                    .iter()
                    .all(|(field, needed)| *field != limit || Some(*needed as usize) == value)
            };
            let fits: Vec<bool> = search.edges.iter().map(|(edge, _)| fits(edge)).collect();
            let weight = |state: usize, arrow: &Arrow| {
                let (weight, arms) = edges[arrow.edge()];
                // Only a user may start a cycle afresh that has had a review.
                let restarts = arms && (self.actor(arrow) == Actor::User || !has_begun(state));
                (fits[arrow.edge()] && !restarts).then_some(weight)
            };
            let longest = Longest::of(search, weight);
            if let Some((way, again)) = longest.endless_way() {
                let setting = allowed
                    .map(|value| format!(", {} being {}", cycle.limit, plain(value)))
                    .unwrap_or_default();
                let claim = format!("The cycle `{}` can go on without end{setting}.", cycle.id);
                refuted.push(self.endless(&name, code, claim, &way, again, path.clone()));
                continue;
            }
            let held = |state: usize| {
                allowed
                    .unwrap_or_else(|| search.value(state, limit))
                    .as_i64()
                    .unwrap_or(0)
            };
            let exceeds = |state: &usize| {
                usize::try_from(held(*state)).is_ok_and(|held| longest.from(*state) > held)
            };
            if let Some(state) = (0..search.looked_at()).find(exceeds) {
                let mut way = way_to(search, state);
                way.extend(longest.way_from(state));
                let reviews = longest.from(state);
                let plural = if reviews == 1 { "" } else { "s" };
                let claim = format!(
                    "The cycle `{}` has {reviews} review{plural}, {} being {}.",
                    cycle.id,
                    cycle.limit,
                    held(state)
                );
                refuted.push(self.refuted(&name, code, claim, &way, path.clone()));
                continue;
            }
            for state in 0..search.looked_at() {
                match most.iter_mut().find(|(known, _)| *known == held(state)) {
                    Some((_, known)) => *known = (*known).max(longest.from(state)),
                    None => most.push((held(state), longest.from(state))),
                }
            }
        }
        if let Some(shortest) = refuted.into_iter().min_by_key(PropertyResult::steps) {
            return Err(shortest);
        }
        most.sort_unstable();
        let words: Vec<String> = most
            .iter()
            .rev()
            .map(|(allowed, reviews)| {
                let plural = if *reviews == 1 { "" } else { "s" };
                format!(
                    "{reviews} review{plural} where {} is {allowed}",
                    cycle.limit
                )
            })
            .collect();
        let default = self
            .chart
            .context
            .get(&cycle.limit)
            .and_then(|field| default_of(self.chart, field).as_i64());
        let default = most
            .iter()
            .find(|(allowed, _)| Some(*allowed) == default)
            .map(|(_, reviews)| *reviews);
        Ok((
            self.settled(&name, code, format!("at most {}", words.join(", "))),
            default,
        ))
    }

    /// On the way from cycle to cycle: the reviews of those that are run once, and of those that come again.
    fn total(&self, most: &HashMap<&str, usize>) -> Option<PropertyResult> {
        let chart = self.chart;
        if chart.cycles.is_empty() || most.len() < chart.cycles.len() {
            return None;
        }
        let leads = |id: &str| -> Vec<&str> {
            let targets = chart
                .cycles
                .get(id)
                .into_iter()
                .flat_map(|cycle| &cycle.advance);
            let cycles =
                targets.filter_map(
                    |advance| match chart.cycles.get_key_value(&advance.target) {
                        Some((cycle, _)) => Some(cycle.as_str()),
                        None => chart.phases.get(&advance.target)?.phase.arms.as_deref(),
                    },
                );
            cycles.collect()
        };
        let comes_again = |id: &str| {
            let mut open = leads(id);
            let mut seen: HashSet<&str> = HashSet::new();
            while let Some(next) = open.pop() {
                if next == id {
                    return true;
                }
                if seen.insert(next) {
                    open.extend(leads(next));
                }
            }
            false
        };
        let (again, once): (Vec<&str>, Vec<&str>) = chart
            .cycles
            .keys()
            .map(String::as_str)
            .partition(|id| comes_again(id));
        let sum = |ids: &[&str]| ids.iter().filter_map(|id| most.get(id)).sum::<usize>();
        let detail = match again.as_slice() {
            [] => format!("at most {}", sum(&once)),
            again if once.is_empty() => format!(
                "at most {} for each round of {}",
                sum(again),
                again.join(", ")
            ),
            again => format!(
                "at most {} + {} for each round of {}",
                sum(&once),
                sum(again),
                again.join(", ")
            ),
        };
        let limits: HashSet<&str> = chart
            .cycles
            .values()
            .map(|cycle| cycle.limit.as_str())
            .collect();
        let mut limits: Vec<&str> = limits.into_iter().collect();
        limits.sort_unstable();
        let detail = format!("{detail}, with the default of {}", limits.join(", "));
        Some(self.settled(
            "the reviews on the way from cycle to cycle are bounded",
            "cycle-unbounded",
            detail,
        ))
    }

    // ── the agent is let go ──

    fn blocks(&self) -> Vec<PropertyResult> {
        let in_a_row = self.under_any_setting(|allows| self.blocks_in_a_row(allows));
        if matches!(&in_a_row.verdict, Verdict::Refuted { trace, .. } if trace.again.is_some()) {
            // The same story tells of a loop.
            return vec![in_a_row];
        }
        vec![
            in_a_row,
            self.under_any_setting(|allows| self.block_loop(allows)),
        ]
    }

    /// What is refuted while a user sets parameters in between must be so without, too.
    fn under_any_setting(
        &self,
        judge: impl Fn(&dyn Fn(&Arrow) -> bool) -> PropertyResult,
    ) -> PropertyResult {
        let result = judge(&|_| true);
        if !matches!(result.verdict, Verdict::Refuted { .. }) {
            return result;
        }
        let results = self
            .settings
            .iter()
            .map(|setting| judge(&|arrow| setting.allows(arrow)));
        results.min_by_key(PropertyResult::steps).unwrap_or(result)
    }

    /// A block that can come after a block: the host then says so.
    fn is_further_block(edge: &Edge) -> bool {
        edge.block && edge.active != Some(false)
    }

    fn blocks_in_a_row(&self, allows: &dyn Fn(&Arrow) -> bool) -> PropertyResult {
        let search = self.search;
        let name = format!("at most {BLOCKS} blocks in a row while the agent does nothing");
        let code = "blocks-in-a-row";
        let idle = Longest::of(search, |_, arrow| {
            (Self::is_further_block(self.edge(arrow)) && allows(arrow)).then_some(1)
        });
        if let Some((way, again)) = idle.endless_way() {
            let claim = "An agent that does nothing is blocked without end.".to_owned();
            return self.endless(&name, code, claim, &way, again, self.blocking_rule(&way));
        }
        // The first one may come at the first stop of a turn.
        let arrows = (0..search.looked_at())
            .flat_map(|state| search.arrows(state).iter().map(move |arrow| (state, arrow)));
        let blocks = arrows.filter(|(_, arrow)| self.edge(arrow).block && allows(arrow));
        let first =
            blocks.max_by_key(|(state, arrow)| (idle.from(arrow.to()), std::cmp::Reverse(*state)));
        let most = first.map_or(0, |(_, arrow)| 1 + idle.from(arrow.to()));
        match first {
            Some((state, arrow)) if most > BLOCKS => {
                let mut way = way_to(search, state);
                way.push((state, arrow.edge()));
                way.extend(idle.way_from(arrow.to()));
                let claim = format!("An agent that does nothing is blocked {most} times in a row.");
                self.refuted(&name, code, claim, &way, self.blocking_rule(&way))
            }
            _ => self.settled(&name, code, format!("{most} at most")),
        }
    }

    fn block_loop(&self, allows: &dyn Fn(&Arrow) -> bool) -> PropertyResult {
        let name = "no blocks without progress";
        let code = "block-loop";
        let goes_on = Longest::of(self.search, |_, arrow| {
            let edge = self.edge(arrow);
            if !allows(arrow) {
                None
            } else if edge.block {
                Self::is_further_block(edge).then_some(1)
            } else {
                // Starting a cycle afresh is progress.
                (self.actor(arrow) == Actor::Agent && edge.arms.is_empty()).then_some(0)
            }
        });
        match goes_on.endless_way() {
            Some((way, again)) => {
                let claim = "The agent is blocked again and again, and what it does leads nowhere."
                    .to_owned();
                self.endless(name, code, claim, &way, again, self.blocking_rule(&way))
            }
            None => self.settled(
                name,
                code,
                "what the agent does after a block leads on".to_owned(),
            ),
        }
    }

    /// The rule that blocks last on a way.
    fn blocking_rule(&self, way: &Way) -> Vec<Step> {
        let blocked = way
            .iter()
            .rev()
            .find(|(_, edge)| self.search.edges[*edge].0.block);
        let place = blocked.and_then(|(_, edge)| self.search.edges[*edge].1.fired.last());
        place
            .map(|place| path_of(self.chart, &self.search.moves.tree.places[*place as usize]))
            .unwrap_or_default()
    }
}

/// So many combinations of parameters are looked at one by one; of more, each parameter by itself.
const SETTINGS: usize = 64;

/// The combinations of what a user can set, the defaults first.
fn settings(search: &Search) -> Vec<Setting> {
    let tree = &search.moves.tree;
    let parameters = tree.ground.domain.parameters.iter();
    let parameters: Vec<(usize, Vec<u32>)> = parameters
        .filter_map(|(name, values)| {
            // A value that was never looked at makes no difference.
            let known = values
                .iter()
                .filter_map(|value| tree.values.get_index_of(value))
                .map(number);
            Some((search.field(name)?, known.collect::<Vec<u32>>()))
        })
        .filter(|(field, _)| {
            search
                .edges
                .iter()
                .any(|(edge, _)| edge.needs.iter().any(|(needed, _)| needed == field))
        })
        .collect();
    let defaults: Vec<(usize, u32)> = parameters
        .iter()
        .filter_map(|(field, values)| Some((*field, *values.first()?)))
        .collect();
    let count = parameters
        .iter()
        .map(|(_, values)| values.len())
        .try_fold(1_usize, usize::checked_mul);
    let mut all: Vec<Vec<(usize, u32)>> = vec![Vec::new()];
    if count.is_some_and(|count| count <= SETTINGS) {
        for (field, values) in &parameters {
            all = values
                .iter()
                .flat_map(|value| {
                    all.iter()
                        .map(move |setting| [setting.as_slice(), &[(*field, *value)]].concat())
                })
                .collect();
        }
    } else {
        all = vec![defaults.clone()];
        for (index, (field, values)) in parameters.iter().enumerate() {
            for value in values.iter().skip(1) {
                let mut setting = defaults.clone();
                setting[index] = (*field, *value);
                all.push(setting);
            }
        }
    }
    let name = |field: usize| {
        tree.chart
            .context
            .get_index(field)
            .map_or("", |(name, _)| name.as_str())
    };
    let made = all.into_iter().map(|values| {
        let fits = |edge: &Edge| edge.needs.iter().all(|need| values.contains(need));
        let words = values.iter().map(|(field, value)| {
            format!(", {} being {}", name(*field), plain(tree.value(*value)))
        });
        Setting {
            fits: search.edges.iter().map(|(edge, _)| fits(edge)).collect(),
            words: words.collect(),
            values,
        }
    });
    made.collect()
}

/// What has been seen is there, however far the search went.
fn proved(name: &str, code: &'static str, detail: String) -> PropertyResult {
    PropertyResult {
        name: name.to_owned(),
        code,
        verdict: Verdict::Proved { detail },
    }
}

fn cut_off(search: &Search) -> String {
    format!(
        "only the first {} states were looked at",
        search.looked_at()
    )
}

// ── the chart's own properties ──

fn own_properties(search: &mut Search) -> Vec<PropertyResult> {
    let chart = Arc::clone(&search.moves.tree.chart);
    chart
        .properties
        .iter()
        .enumerate()
        .flat_map(|(index, property)| own(search, &chart, index, property))
        .collect()
}

fn own(
    search: &mut Search,
    chart: &Chart,
    index: usize,
    property: &Property,
) -> Option<PropertyResult> {
    let (key, expr) = match (&property.always, &property.never, &property.eventually) {
        (Some(expr), _, _) => ("always", expr),
        (None, Some(expr), _) => ("never", expr),
        (None, None, Some(expr)) => ("eventually", expr),
        (None, None, None) => return None,
    };
    let name = property.name.clone();
    let path = path!["properties", index, key];
    let code = "property";
    let holds = match truth(search, &expr.0) {
        Ok(holds) => holds,
        Err((state, fault)) => {
            let judge = Judge::of(chart, search);
            return Some(judge.refuted_at(&name, "no-decision", format!("{fault}."), state, path));
        }
    };
    let judge = Judge::of(chart, search);
    let detail = format!("{key} {}", expr.0);
    let (broken, claim) = match key {
        "always" => (
            holds.iter().position(|(all, _)| !all),
            format!("`{}` does not hold here.", expr.0),
        ),
        "never" => (
            holds.iter().position(|(_, some)| *some),
            format!("`{}` holds here.", expr.0),
        ),
        _ => {
            let goals: Vec<bool> = holds.iter().map(|(_, some)| *some).collect();
            let claim =
                |_: usize, words: &str| format!("From here no way leads to `{}`{words}.", expr.0);
            return Some(judge.within_reach(&name, code, &goals, detail, claim, |_| path.clone()));
        }
    };
    Some(match broken {
        Some(state) => judge.refuted_at(&name, code, claim, state, path),
        None => judge.settled(&name, code, detail),
    })
}

/// Per state whether a condition holds under all choices that it looks at, and whether under some.
fn truth(search: &mut Search, condition: &str) -> Result<Vec<(bool, bool)>, (usize, Fault)> {
    let mut known: FastMap<Box<[u32]>, (bool, bool)> = FastMap::default();
    let mut looks = Looks::default();
    let mut key = Vec::new();
    let mut holds = Vec::new();
    for state in 0..search.states.len() {
        looks.project(search.states.get(state), &[], &mut key);
        if let Some(value) = known.get(key.as_slice()) {
            holds.push(*value);
            continue;
        }
        let situation = search.states.get(state).to_situation();
        let (results, looked_at) = search.moves.holds(condition, situation.as_ref());
        let mut value = (true, false);
        for result in results {
            let result = result.map_err(|fault| (state, fault))?;
            value = (value.0 && result, value.1 || result);
        }
        if looks.add_all(&looked_at) {
            known.clear();
        }
        looks.project(situation.as_ref(), &[], &mut key);
        known.insert(key.as_slice().into(), value);
        holds.push(value);
    }
    Ok(holds)
}

// ── where in the chart something stands ──

/// The key of a phase: one made from a hole stands under the name with the hole.
fn key_of_phase(chart: &Chart, phase: &str) -> String {
    match chart
        .phases
        .get(phase)
        .and_then(|entry| entry.cycle.as_ref())
    {
        Some(cycle) => phase.replace(cycle.as_str(), "{cycle}"),
        None => phase.to_owned(),
    }
}

fn path_of_fault(chart: &Chart, fault: &Fault) -> Vec<Step> {
    match fault {
        Fault::Expression { place, .. } | Fault::NoCycle { place } => path_of(chart, place),
        Fault::Assignment { place, field, .. } => {
            let mut path = path_of(chart, place);
            path.push(Step::from(field));
            path
        }
        Fault::NowhereToAdvance { cycle } => path!["cycles", cycle, "advance"],
        Fault::Argument { name, .. } => path!["args", name],
        Fault::World(_) => Vec::new(),
    }
}

/// `on.Stop[2].guard` as a path.
fn path_of(chart: &Chart, place: &str) -> Vec<Step> {
    let mut path = Vec::new();
    for part in place.split('.') {
        let (key, index) = match part.split_once('[') {
            Some((key, index)) => (key, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        let is_phase = path == [Step::from("phases")];
        path.push(if is_phase {
            Step::from(&key_of_phase(chart, key))
        } else {
            Step::from(key)
        });
        path.extend(index.map(Step::from));
    }
    path
}
