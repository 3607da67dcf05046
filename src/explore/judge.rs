//! The properties, each proved or refuted on the space of states.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::fast::FastMap;
use super::graph::{Longest, Way, leads_to, way_to};
use super::search::{Arrow, Search};
use super::trace::{Trace, plain};
use super::moves::{Actor, Edge};
use super::state::Looks;
use super::{PropertyResult, Verdict};
use crate::chart::Chart;
use crate::chart::error::Step;
use crate::chart::model::{PhaseType, Property};
use crate::engine::context::admit;
use crate::engine::fault::Fault;

/// So many blocks in a row the host honours; after that it lets the agent go.
const BLOCKS: usize = 8;

/// All results, in the order in which a person reads them.
pub(crate) fn judge(search: &mut Search) -> Vec<PropertyResult> {
    let mut results = Vec::new();
    let own = own_properties(search);
    let chart = Arc::clone(&search.moves.tree.chart);
    let judge = Judge::of(&chart, search);
    results.extend(judge.faults());
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
    /// The fields that only a user sets.
    parameters: Vec<usize>,
    /// Per edge, whether it assigns one of them.
    sets_parameters: Vec<bool>,
}

/// A path to an element of the chart.
macro_rules! path {
    ($($step:expr),* $(,)?) => { vec![$(Step::from($step)),*] };
}

impl<'s> Judge<'s> {
    fn of(chart: &'s Chart, search: &'s Search) -> Self {
        let parameters = search.moves.tree.ground.domain.parameters.keys();
        let parameters: Vec<usize> = parameters.filter_map(|name| search.field(name)).collect();
        let sets = |(edge, _): &(Edge, _)| edge.assigned.iter().any(|(field, _)| parameters.contains(field));
        Self { sets_parameters: search.edges.iter().map(sets).collect(), parameters, chart, search }
    }

    /// A result of a property that no state has refuted.
    fn settled(&self, name: &str, code: &'static str, detail: String) -> PropertyResult {
        let verdict = if self.search.complete {
            Verdict::Proved { detail }
        } else {
            Verdict::Bounded { why: cut_off(self.search) }
        };
        PropertyResult { name: name.to_owned(), code, verdict }
    }

    /// A result about something that was seen nowhere: without a complete search that says nothing.
    fn absent(&self, name: &str, code: &'static str, claim: String, path: Vec<Step>) -> PropertyResult {
        let verdict = if self.search.complete {
            Verdict::Refuted { trace: Trace::absent(claim), path }
        } else {
            Verdict::Bounded { why: cut_off(self.search) }
        };
        PropertyResult { name: name.to_owned(), code, verdict }
    }

    fn refuted_at(&self, name: &str, code: &'static str, claim: String, state: usize, path: Vec<Step>) -> PropertyResult {
        let (start, way) = way_to(self.search, state);
        self.refuted(name, code, claim, start, &way, path)
    }

    fn refuted(&self, name: &str, code: &'static str, claim: String, start: usize, way: &Way, path: Vec<Step>) -> PropertyResult {
        let trace = Trace::along(self.search, claim, start, way);
        PropertyResult { name: name.to_owned(), code, verdict: Verdict::Refuted { trace, path } }
    }

    fn edge(&self, arrow: &Arrow) -> &Edge {
        &self.search.edges[arrow.edge()].0
    }

    fn actor(&self, arrow: &Arrow) -> Actor {
        self.search.moves.all[self.edge(arrow).mover].actor
    }

    fn phase(&self, state: usize) -> &str {
        let field = self.search.field(&self.chart.state);
        field.and_then(|field| self.search.value(state, field).as_str()).unwrap_or_default()
    }

    // ── a decision everywhere, and a sound state ──

    fn faults(&self) -> Vec<PropertyResult> {
        let moves = &self.search.moves;
        let name = "every event leads to a decision";
        let mut met: Vec<(&u32, &(usize, usize))> = self.search.faults.iter().collect();
        met.sort_by_key(|(_, at)| **at);
        let mut results: Vec<PropertyResult> = Vec::new();
        for (fault, (state, edge)) in met {
            let fault = &moves.faults[*fault as usize];
            let (start, mut way) = way_to(self.search, *state);
            way.push((*state, *edge));
            let (name, code) = match fault {
                Fault::Assignment { .. } => ("every assignment fits its field", "assignment-misfit"),
                _ => (name, "no-decision"),
            };
            results.push(self.refuted(name, code, format!("{fault}."), start, &way, path_of_fault(self.chart, fault)));
        }
        for (list, index, fault) in moves.tree.ground.faults_of_checks() {
            let claim = format!("checks.{list}[{index}]: {fault}.");
            let trace = Trace::absent(claim);
            let verdict = Verdict::Refuted { trace, path: path!["checks", &list, index] };
            results.push(PropertyResult { name: name.to_owned(), code: "no-decision", verdict });
        }
        if results.is_empty() {
            let kinds = moves.all.len();
            results.push(self.settled(name, "no-decision", format!("{} states, {kinds} kinds of move", self.search.states.len())));
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
                let Some((key, kind)) = self.chart.context.get_index(field) else { continue };
                if let Err(expected) = admit(self.chart, kind, self.search.moves.tree.value(*value)) {
                    let held = plain(self.search.moves.tree.value(*value));
                    let claim = format!("`{key}` is {expected}, and it becomes {held}.");
                    return vec![self.refuted_at(name, "state-misfit", claim, state, path!["context", key])];
                }
            }
        }
        vec![self.settled(name, "state-misfit", format!("{} fields", self.chart.context.len()))]
    }

    // ── nothing is there in vain ──

    fn phases(&self) -> Vec<PropertyResult> {
        let name = "every phase can be reached";
        let seen: HashSet<&str> = (0..self.search.states.len()).map(|state| self.phase(state)).collect();
        let mut results = Vec::new();
        for phase in self.chart.phases.keys() {
            let path = path!["phases", &key_of_phase(self.chart, phase)];
            if !seen.contains(phase.as_str()) {
                let claim = format!("No way leads to the phase `{phase}`.");
                results.push(self.absent(name, "phase-unreachable", claim, path));
            } else if !self.fired(&format!("phases.{phase}")) && self.chart.phases[phase].phase.guard.is_some() {
                let claim = format!("The guard of the phase `{phase}` holds nowhere: it is reached, but never entered.");
                results.push(self.absent(name, "phase-never-entered", claim, path));
            }
        }
        if results.is_empty() {
            results.push(self.settled(name, "phase-unreachable", format!("{} phases", self.chart.phases.len())));
        }
        results
    }

    fn fired(&self, place: &str) -> bool {
        let moves = &self.search.moves;
        moves.tree.places.get_index_of(place).is_some_and(|place| {
            moves.coverage.fired.iter().any(|fired| *fired as usize == place)
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
                if self.fired(&place) {
                    continue;
                }
                let list_id = moves.tree.lists.get_index_of(list);
                let tried = list_id.is_some_and(|list| moves.coverage.tried.contains(&(list, index)));
                let why = if tried { "its guard holds nowhere" } else { "an earlier rule always answers first" };
                let claim = format!("{place} never fires: {why}.");
                results.push(self.absent(name, "rule-never-fires", claim, path!["on", list, index]));
            }
        }
        for command in self.chart.commands.keys() {
            count += 1;
            if !self.fired(&format!("commands.{command}")) {
                let claim = format!("The command `{command}` applies nowhere.");
                results.push(self.absent(name, "command-never-applies", claim, path!["commands", command]));
            }
        }
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            for index in 0..cycle.advance.len() {
                count += 1;
                if !moves.coverage.advanced.contains(&(at, index)) {
                    let target = &cycle.advance[index].target;
                    let claim = format!("cycles.{id}.advance[{index}] is never taken: `{id}` never leads to `{target}` that way.");
                    let path = path!["cycles", id, "advance", index];
                    results.push(self.absent(name, "target-never-taken", claim, path));
                }
            }
        }
        let found: HashSet<(String, usize)> = moves.tree.ground.checks_that_find().into_iter().collect();
        for list in moves.tree.ground.checks_asked() {
            for index in 0..self.chart.checks.get(&list).map_or(0, Vec::len) {
                count += 1;
                if !found.contains(&(list.clone(), index)) {
                    let claim = format!("checks.{list}[{index}] never finds anything.");
                    results.push(self.absent(name, "check-never-finds", claim, path!["checks", &list, index]));
                }
            }
        }
        if results.is_empty() {
            let detail = format!("{count} rules, commands, advance targets and checks");
            results.push(self.settled(name, "rule-never-fires", detail));
        }
        results
    }

    // ── there is an end ──

    fn finals(&self) -> Vec<PropertyResult> {
        let is_final = |name: &str| self.chart.phases.get(name).is_some_and(|entry| entry.phase.kind == Some(PhaseType::Final));
        if !self.chart.phases.keys().any(|name| is_final(name)) {
            return Vec::new();
        }
        let ends: Vec<bool> = (0..self.search.states.len()).map(|state| is_final(self.phase(state))).collect();
        let phase_path = |state: usize| path!["phases", &key_of_phase(self.chart, self.phase(state))];
        let mut results = Vec::new();
        let name = "no dead end before a final phase";
        let stuck = (0..self.search.looked_at()).find(|state| !ends[*state] && self.is_dead_end(*state));
        results.push(match stuck {
            Some(state) => {
                let claim = format!("In the phase `{}` nothing leads on.", self.phase(state));
                self.refuted_at(name, "dead-end", claim, state, phase_path(state))
            }
            None => self.settled(name, "dead-end", format!("{} states", self.search.looked_at())),
        });
        let name = "a final phase stays within reach";
        let code = "final-out-of-reach";
        let reach = leads_to(self.search, &ends, |_, _| true);
        let lost = if self.search.complete { (0..reach.len()).find(|state| !reach[*state]) } else { None };
        results.push(match lost {
            Some(state) => {
                let claim = format!("From the phase `{}` no way leads to a final phase any more.", self.phase(state));
                self.refuted_at(name, code, claim, state, phase_path(state))
            }
            None => self.settled(name, code, "from every state".to_owned()),
        });
        results
    }

    /// True where no move changes anything but what a user has set.
    fn is_dead_end(&self, state: usize) -> bool {
        let arrows = self.search.arrows(state).iter();
        arrows.filter(|arrow| arrow.to() != state).all(|arrow| self.sets_a_parameter(state, arrow) && !self.moves_on(state, arrow))
    }

    fn is_parameter(&self, field: usize) -> bool {
        self.parameters.contains(&field)
    }

    fn sets_a_parameter(&self, state: usize, arrow: &Arrow) -> bool {
        if !self.sets_parameters[arrow.edge()] {
            return false;
        }
        let before = self.search.states.get(state).fields();
        let sets = |(field, value): &(usize, u32)| before[*field] != *value && self.is_parameter(*field);
        self.edge(arrow).assigned.iter().any(sets)
    }

    fn moves_on(&self, state: usize, arrow: &Arrow) -> bool {
        let (before, after) = (self.search.states.get(state), self.search.states.get(arrow.to()));
        let mut fields = before.fields().iter().zip(after.fields()).enumerate();
        before.answered() != after.answered()
            || fields.any(|(field, (before, after))| before != after && !self.is_parameter(field))
    }

    // ── reviews come to an end ──

    fn cycles(&self) -> Vec<PropertyResult> {
        let mut results = Vec::new();
        let mut most: HashMap<&str, usize> = HashMap::new();
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            let (result, default) = self.cycle(at, id, cycle);
            if let Some(default) = default {
                most.insert(id, default);
            }
            results.push(result);
        }
        results.extend(self.total(&most));
        results
    }

    /// Whether one cycle ends, and how many reviews it has with the limit that is the default.
    fn cycle(&self, at: usize, id: &str, cycle: &crate::chart::Cycle) -> (PropertyResult, Option<usize>) {
        let name = format!("{id} ends within its limit");
        let code = "cycle-unbounded";
        let search = self.search;
                let (Some(limit), Some(count)) = (search.field(&cycle.limit), search.field(&cycle.count)) else {
            let claim = format!("The cycle `{id}` counts or bounds nothing.");
            return (self.absent(&name, code, claim, path!["cycles", id]), None);
        };
        let next = self.chart.next.as_ref().and_then(|next| search.field(next));
        let runs = |state: usize| {
            let due = next.and_then(|next| search.value(state, next).as_str());
            due == Some(id) || due == Some(&cycle.post)
        };
        let has_begun = |state: usize| search.value(state, count).as_i64().is_some_and(|count| count > 0);
        let weight = |state: usize, arrow: &Arrow| {
            let edge = self.edge(arrow);
            let restarts = edge.arms.contains(&at) && !(self.actor(arrow) != Actor::User && runs(state) && has_begun(state));
            if restarts || self.sets_a_parameter(state, arrow) {
                return None;
            }
            let review = edge.review.map(|run| &search.moves.tree.runs[run as usize]);
            let ran = review.is_some_and(|run| run.invocation.cycle == id && is_written(run));
            Some(usize::from(ran))
        };
        let longest = Longest::of(search, weight);
        if let Some((start, way, again)) = longest.endless_way() {
            let claim = format!("The cycle `{id}` can go on without end.");
            let mut trace = Trace::along(search, claim, start, &way);
            trace.again = Some(again + 1);
            let verdict = Verdict::Refuted { trace, path: path!["cycles", id] };
            return (PropertyResult { name, code, verdict }, None);
        }
        // The most reviews, by the limit in force.
        let mut most: Vec<(i64, usize)> = Vec::new();
        for state in 0..search.looked_at() {
            let allowed = search.value(state, limit).as_i64().unwrap_or(0);
            let reviews = longest.from(state);
            match most.iter_mut().find(|(known, _)| *known == allowed) {
                Some((_, known)) => *known = (*known).max(reviews),
                None => most.push((allowed, reviews)),
            }
        }
        most.sort_unstable();
        let exceeds = |state: &usize| {
            let allowed = search.value(*state, limit).as_i64().unwrap_or(0);
            usize::try_from(allowed).map_or(longest.from(*state) > 0, |allowed| longest.from(*state) > allowed)
        };
        if let Some(state) = (0..search.looked_at()).find(exceeds) {
            let (start, mut way) = way_to(search, state);
            way.extend(longest.way_from(state));
            let allowed = plain(search.value(state, limit));
            let claim = format!("The cycle `{id}` has {} reviews, and {} is {allowed}.", longest.from(state), cycle.limit);
            return (self.refuted(&name, code, claim, start, &way, path!["cycles", id]), None);
        }
        let words: Vec<String> = most.iter().rev().map(|(allowed, reviews)| {
            let plural = if *reviews == 1 { "" } else { "s" };
            format!("{reviews} review{plural} where {} is {allowed}", cycle.limit)
        }).collect();
        let default = self.chart.context.get(&cycle.limit).map(|field| crate::engine::context::default_of(self.chart, field));
        let default = default.and_then(|default| default.as_i64());
        let default = most.iter().find(|(allowed, _)| Some(*allowed) == default).map(|(_, reviews)| *reviews);
        (self.settled(&name, code, format!("at most {}", words.join(", "))), default)
    }

    /// On the way from cycle to cycle: the reviews of those that are run once, and of those that come again.
    fn total(&self, most: &HashMap<&str, usize>) -> Option<PropertyResult> {
        let chart = self.chart;
        if chart.cycles.is_empty() || most.len() < chart.cycles.len() {
            return None;
        }
        let leads = |id: &str| -> Vec<&str> {
            let targets = chart.cycles.get(id).into_iter().flat_map(|cycle| &cycle.advance);
            let cycles = targets.filter_map(|advance| match chart.cycles.get_key_value(&advance.target) {
                Some((cycle, _)) => Some(cycle.as_str()),
                None => chart.phases.get(&advance.target)?.phase.arms.as_deref(),
            });
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
        let (again, once): (Vec<&str>, Vec<&str>) = chart.cycles.keys().map(String::as_str).partition(|id| comes_again(id));
        let sum = |ids: &[&str]| ids.iter().filter_map(|id| most.get(id)).sum::<usize>();
        let detail = match again.as_slice() {
            [] => format!("at most {}", sum(&once)),
            again => format!("at most {} + {} for each round of {}", sum(&once), sum(again), again.join(", ")),
        };
        let limits: HashSet<&str> = chart.cycles.values().map(|cycle| cycle.limit.as_str()).collect();
        let mut limits: Vec<&str> = limits.into_iter().collect();
        limits.sort_unstable();
        let detail = format!("{detail}, with the default of {}", limits.join(", "));
        Some(self.settled("the reviews on the way from cycle to cycle are bounded", "cycle-unbounded", detail))
    }

    // ── the agent is let go ──

    fn blocks(&self) -> Vec<PropertyResult> {
        let search = self.search;
        let mut results = Vec::new();
        // A block after a block: the host then says so.
        let again = |edge: &Edge| edge.block && edge.active != Some(false);
        let name = format!("at most {BLOCKS} blocks in a row while the agent does nothing");
        let code = "blocks-in-a-row";
        let idle = Longest::of(search, |_, arrow| again(self.edge(arrow)).then_some(1));
        if let Some((start, way, again)) = idle.endless_way() {
            let mut trace = Trace::along(search, "An agent that does nothing is blocked without end.".to_owned(), start, &way);
            trace.again = Some(again + 1);
            let path = self.blocking_rule(&way);
            results.push(PropertyResult { name, code, verdict: Verdict::Refuted { trace, path } });
        } else {
            // The first one may come at the first stop of a turn.
            let firsts = (0..search.looked_at()).flat_map(|state| search.arrows(state).iter().map(move |arrow| (state, arrow)));
            let firsts = firsts.filter(|(_, arrow)| self.edge(arrow).block);
            let first = firsts.max_by_key(|(state, arrow)| (1 + idle.from(arrow.to()), std::cmp::Reverse(*state)));
            let most = first.map_or(0, |(_, arrow)| 1 + idle.from(arrow.to()));
            results.push(match first {
                Some((state, arrow)) if most > BLOCKS => {
                    let (start, mut way) = way_to(search, state);
                    way.push((state, arrow.edge()));
                    way.extend(idle.way_from(arrow.to()));
                    let claim = format!("An agent that does nothing is blocked {most} times in a row.");
                    let path = self.blocking_rule(&way);
                    self.refuted(&name, code, claim, start, &way, path)
                }
                _ => self.settled(&name, code, format!("{most} at most")),
            });
        }
        let name = "no blocks without progress";
        let code = "block-loop";
        let goes_on = Longest::of(search, |_, arrow| {
            let edge = self.edge(arrow);
            if edge.block {
                return again(edge).then_some(1);
            }
            // Starting a cycle afresh is progress.
            (self.actor(arrow) == Actor::Agent && edge.arms.is_empty()).then_some(0)
        });
        results.push(match goes_on.endless_way() {
            Some((start, way, again)) => {
                let claim = "The agent is blocked again and again, whatever it does, and nothing comes of it.".to_owned();
                let mut trace = Trace::along(search, claim, start, &way);
                trace.again = Some(again + 1);
                let path = self.blocking_rule(&way);
                PropertyResult { name: name.to_owned(), code, verdict: Verdict::Refuted { trace, path } }
            }
            None => self.settled(name, code, "what the agent does after a block leads on".to_owned()),
        });
        results
    }

    /// The rule that blocks last on a way.
    fn blocking_rule(&self, way: &Way) -> Vec<Step> {
        let blocked = way.iter().rev().find(|(_, edge)| self.search.edges[*edge].0.block);
        let place = blocked.and_then(|(_, edge)| self.search.edges[*edge].1.fired.last());
        place.map(|place| path_of(self.chart, &self.search.moves.tree.places[*place as usize])).unwrap_or_default()
    }
}

/// True where a run has written its review.
fn is_written(run: &crate::engine::decision::Ended) -> bool {
    matches!(run.outcome, crate::engine::decision::Outcome::Ran { .. })
}

fn cut_off(search: &Search) -> String {
    format!("only the first {} states were looked at", search.looked_at())
}

// ── the chart's own properties ──

fn own_properties(search: &mut Search) -> Vec<PropertyResult> {
    let chart = Arc::clone(&search.moves.tree.chart);
    chart.properties.iter().enumerate().flat_map(|(index, property)| own(search, &chart, index, property)).collect()
}

fn own(search: &mut Search, chart: &Chart, index: usize, property: &Property) -> Option<PropertyResult> {
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
    let reach;
    let (broken, claim) = match key {
        "always" => (holds.iter().position(|(all, _)| !all), format!("`{}` does not hold here.", expr.0)),
        "never" => (holds.iter().position(|(_, some)| *some), format!("`{}` holds here.", expr.0)),
        _ => {
            let goals: Vec<bool> = holds.iter().map(|(_, some)| *some).collect();
            reach = leads_to(search, &goals, |_, _| true);
            let lost = if search.complete { reach.iter().position(|reached| !reached) } else { None };
            (lost, format!("From here no way leads to `{}`.", expr.0))
        }
    };
    Some(match broken {
        Some(state) => judge.refuted_at(&name, code, claim, state, path),
        None => judge.settled(&name, code, format!("{key} {}", expr.0)),
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
    match chart.phases.get(phase).and_then(|entry| entry.cycle.as_ref()) {
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
        path.push(if is_phase { Step::from(&key_of_phase(chart, key)) } else { Step::from(key) });
        path.extend(index.map(Step::from));
    }
    path
}
