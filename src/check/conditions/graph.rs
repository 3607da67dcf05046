//! Ways through the states of a chart: the shortest one, endless ones, and the one with the most of something. Settings do
//! not change on a way, so a way whose steps need different ones is none.

use std::collections::VecDeque;

use indexmap::IndexMap;

use super::facts::{Fact, Facts};
use super::search::{Search, Step};
use super::term::Term;

/// The most combinations of settings that one question is asked about.
const COMBINATIONS: usize = 512;

/// The steps of a chart, by the states that they lead from.
pub(super) struct Graph<'s> {
    pub(super) search: &'s Search,
    out: Vec<Vec<usize>>,
    /// What is asked of each setting, or of what turns on settings.
    settings: IndexMap<Term, Vec<Fact>>,
}

/// Steps that show something.
#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    pub(super) steps: Vec<Step>,
    /// The step, from 0, that comes again after the last, and so on without end.
    pub(super) again: Option<usize>,
}

/// A state from which no goal can be reached, whether no step at all leads on, and with which settings.
pub(super) struct Lost {
    pub(super) state: usize,
    pub(super) is_stuck: bool,
    pub(super) given: Facts,
}

impl<'s> Graph<'s> {
    pub(super) fn of(search: &'s Search) -> Self {
        let mut out = vec![Vec::new(); search.states.len()];
        let mut settings: IndexMap<Term, Vec<Fact>> = IndexMap::new();
        for (at, step) in search.steps.iter().enumerate() {
            out[step.from].push(at);
        }
        for (term, fact) in search.ways.iter().flat_map(|(done, _)| done.settings.iter()) {
            let known = settings.entry(*term).or_default();
            let ends: Vec<Fact> =
                [fact.least, fact.most].into_iter().flatten().map(Fact::exactly).collect();
            // A number is told apart from others by what it is.
            let facts = if ends.is_empty() { vec![fact.clone()] } else { ends };
            known
                .extend(facts.into_iter().filter(|fact| !known.contains(fact)).collect::<Vec<_>>());
        }
        Self { search, out, settings }
    }

    fn is_allowed(&self, given: &Facts, step: &Step) -> bool {
        given.conflict(&self.search.done(step).settings).is_none()
    }

    /// Returns the steps from a state that can be taken with these settings.
    fn steps_from(&self, state: usize, given: &Facts) -> impl Iterator<Item = &Step> {
        let steps = self.out[state].iter().map(|at| &self.search.steps[*at]);
        steps.filter(move |step| self.is_allowed(given, step))
    }

    /// Returns what `find` finds, if its steps can all be taken with the same settings; else asks again with a setting that
    /// tells them apart.
    pub(super) fn consistent(
        &self,
        given: &Facts,
        find: impl Fn(&Facts) -> Option<Way>,
    ) -> Option<(Way, Facts)> {
        let mut open = vec![given.clone()];
        let mut asked = 0;
        while let Some(given) = open.pop() {
            let Some(way) = find(&given) else { continue };
            asked += 1;
            let mut all = given.clone();
            let settings = way.steps.iter().map(|step| &self.search.done(step).settings);
            let clash = settings.filter_map(|settings| {
                let clash = all.conflict(settings);
                all.join(settings);
                clash
            });
            let Some(term) = clash.last() else { return Some((way, all)) };
            if asked > COMBINATIONS || self.search.clock.is_up().is_some() {
                return Some((way, given));
            }
            for fact in self.settings.get(&term).into_iter().flatten().rev() {
                let mut more = Facts::default();
                *more.entry(term) = fact.clone();
                let mut with = given.clone();
                // A fact that is known already tells nothing apart.
                if with.join(&more) && with != given {
                    open.push(with);
                }
            }
        }
        None
    }

    /// Returns the shortest way from where an instance begins to a state, and on.
    pub(super) fn way_to(
        &self,
        state: usize,
        tail: &[Step],
        given: &Facts,
    ) -> Option<(Way, Facts)> {
        self.consistent(given, |given| {
            let begin = (0..self.search.beginnings).collect();
            let mut steps = self.shortest(begin, given, |_| true, |at| at == state)?;
            steps.extend(tail);
            Some(Way { steps, again: None })
        })
    }

    /// Returns the shortest way from one of these states to a goal, over steps that are kept.
    pub(super) fn shortest(
        &self,
        begin: Vec<usize>,
        given: &Facts,
        kept: impl Fn(&Step) -> bool,
        is_goal: impl Fn(usize) -> bool,
    ) -> Option<Vec<Step>> {
        let mut by: Vec<Option<Step>> = vec![None; self.out.len()];
        let mut seen = vec![false; self.out.len()];
        begin.iter().for_each(|state| seen[*state] = true);
        let mut open: VecDeque<usize> = begin.into();
        while let Some(state) = open.pop_front() {
            if is_goal(state) {
                let before = |step: &Step| by[step.from];
                let mut steps: Vec<Step> = std::iter::successors(by[state], before).collect();
                steps.reverse();
                return Some(steps);
            }
            for step in self.steps_from(state, given).filter(|step| kept(step)) {
                if !std::mem::replace(&mut seen[step.to], true) {
                    by[step.to] = Some(*step);
                    open.push_back(step.to);
                }
            }
        }
        None
    }

    /// Returns a state from which no goal can be reached with some settings, a stuck one first.
    pub(super) fn lost(&self, goals: &[bool]) -> Option<Lost> {
        let search = self.search;
        let moves = search.steps.iter().filter(|step| step.from != step.to);
        let is_free = |step: &&Step| search.done(step).settings.iter().next().is_none();
        let always = leads_to(goals, moves.clone().filter(is_free));
        if always.iter().all(|leads| *leads) {
            return None;
        }
        let open: Vec<&Step> = moves.filter(|step| !always[step.from]).collect();
        for given in self.combinations(&open) {
            let allowed = open.iter().copied().filter(|step| self.is_allowed(&given, step));
            let allowed: Vec<&Step> = allowed.collect();
            let leads = leads_to(&always, allowed.iter().copied());
            if leads.iter().all(|leads| *leads) {
                continue;
            }
            let mut leads_on = always.clone();
            allowed.iter().for_each(|step| leads_on[step.from] = true);
            let reached = self.reached(&given);
            let is_lost = |state: &usize| reached[*state] && !leads[*state];
            let lost = || (0..search.looked_at).filter(is_lost);
            let stuck = lost().find(|state| !leads_on[*state]);
            if let Some(state) = stuck.or_else(|| lost().next()) {
                return Some(Lost { state, is_stuck: stuck.is_some(), given });
            }
            if search.clock.is_up().is_some() {
                break;
            }
        }
        None
    }

    /// Returns which states can be reached with these settings.
    fn reached(&self, given: &Facts) -> Vec<bool> {
        let mut seen = vec![false; self.out.len()];
        let mut open: Vec<usize> = (0..self.search.beginnings).collect();
        open.iter().for_each(|state| seen[*state] = true);
        while let Some(state) = open.pop() {
            for step in self.steps_from(state, given) {
                if !std::mem::replace(&mut seen[step.to], true) {
                    open.push(step.to);
                }
            }
        }
        seen
    }

    /// Returns the combinations of settings that tell these steps apart: all of them, or where these are too many, those of
    /// one or two settings.
    fn combinations(&self, steps: &[&Step]) -> Vec<Facts> {
        let terms = steps.iter().flat_map(|step| self.search.done(step).settings.iter());
        let terms: std::collections::BTreeSet<Term> = terms.map(|(term, _)| *term).collect();
        let parts: Vec<Vec<Facts>> = terms
            .iter()
            .map(|term| {
                let facts = self.settings.get(term).into_iter().flatten();
                let alone = |fact: &Fact| {
                    let mut facts = Facts::default();
                    *facts.entry(*term) = fact.clone();
                    facts
                };
                facts.map(alone).collect()
            })
            .collect();
        let both = |a: &Facts, b: &Facts| {
            let mut both = a.clone();
            both.join(b).then_some(both)
        };
        let count = parts.iter().map(Vec::len).fold(1_usize, usize::saturating_mul);
        let mut all = vec![Facts::default()];
        if count <= COMBINATIONS {
            for part in &parts {
                all = all.iter().flat_map(|a| part.iter().filter_map(|b| both(a, b))).collect();
            }
            return all;
        }
        let single: Vec<&Facts> = parts.iter().flatten().collect();
        all.extend(single.iter().map(|facts| (*facts).clone()));
        for (at, one) in single.iter().enumerate() {
            all.extend(single[at + 1..].iter().filter_map(|other| both(one, other)));
        }
        all.truncate(COMBINATIONS * 4);
        all
    }

    /// Returns a way into a loop that contains a step which counts, over steps that have a weight.
    pub(super) fn endless(&self, weight: impl Fn(&Step) -> Option<bool>) -> Option<Way> {
        let weigh = |given: &Facts| -> Option<Way> {
            let (kept, component) = self.kept(given, &weight);
            let inside = |step: &Step| component[step.from] == component[step.to];
            let mut counting =
                kept.iter().filter(|step| inside(step) && weight(step) == Some(true));
            let first = *counting.next()?;
            let is_kept = |step: &Step| {
                inside(step)
                    && component[step.from] == component[first.from]
                    && weight(step).is_some()
            };
            let back = self.shortest(vec![first.to], given, is_kept, |at| at == first.from)?;
            let begin = (0..self.search.beginnings).collect();
            let mut steps = self.shortest(begin, given, |_| true, |at| at == first.from)?;
            let again = Some(steps.len());
            steps.push(first);
            steps.extend(back);
            Some(Way { steps, again })
        };
        self.consistent(&Facts::default(), weigh).map(|(way, _)| way)
    }

    /// Returns the steps that have a weight, and the component of each state, numbered so that steps lead to smaller numbers.
    fn kept(
        &self,
        given: &Facts,
        weight: impl Fn(&Step) -> Option<bool>,
    ) -> (Vec<Step>, Vec<usize>) {
        let steps = self.search.steps.iter();
        let kept = steps.filter(|step| {
            let weight = weight(step);
            weight.is_some()
                && (step.from != step.to || weight == Some(true))
                && self.is_allowed(given, step)
        });
        let kept: Vec<Step> = kept.copied().collect();
        let component = components(self.out.len(), &kept);
        (kept, component)
    }

    /// Returns for each state how many steps that count there are at most on a way from it, where no loop has one.
    pub(super) fn most(&self, given: &Facts, weight: impl Fn(&Step) -> Option<bool>) -> Vec<usize> {
        let (mut kept, component) = self.kept(given, &weight);
        kept.sort_by_key(|step| component[step.from]);
        let mut most = vec![0; component.iter().max().map_or(0, |last| last + 1)];
        for step in kept.iter().filter(|step| component[step.from] != component[step.to]) {
            let more = most[component[step.to]] + usize::from(weight(step) == Some(true));
            let known = &mut most[component[step.from]];
            *known = more.max(*known);
        }
        component.into_iter().map(|component| most[component]).collect()
    }

    /// Returns a way from a state on which so many steps count, the last one among them.
    pub(super) fn with_most(
        &self,
        given: &Facts,
        state: usize,
        most: &[usize],
        weight: impl Fn(&Step) -> Option<bool>,
        count: usize,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = state;
        for left in (0..count).rev() {
            // The next step that counts, from which as many can follow.
            let next = |state: usize| {
                let mut steps = self.steps_from(state, given);
                steps.find(|step| weight(step) == Some(true) && most[step.to] >= left).copied()
            };
            let is_light = |step: &Step| weight(step) == Some(false);
            let way = self.shortest(vec![at], given, is_light, |state| next(state).is_some());
            let Some(way) = way else { break };
            let before = way.last().map_or(at, |step| step.to);
            steps.extend(way);
            let Some(step) = next(before) else { break };
            steps.push(step);
            at = step.to;
        }
        steps
    }
}

/// Returns from which states a goal can be reached.
fn leads_to<'s>(goals: &[bool], steps: impl Iterator<Item = &'s Step>) -> Vec<bool> {
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); goals.len()];
    steps.for_each(|step| back[step.to].push(step.from));
    let mut leads = goals.to_vec();
    let mut open: Vec<usize> = (0..goals.len()).filter(|state| goals[*state]).collect();
    while let Some(state) = open.pop() {
        for from in &back[state] {
            if !std::mem::replace(&mut leads[*from], true) {
                open.push(*from);
            }
        }
    }
    leads
}

/// Returns the strongly connected component of each state, numbered so that steps lead to smaller numbers (Tarjan).
fn components(count: usize, steps: &[Step]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    steps.iter().for_each(|step| next[step.from].push(step.to));
    let (mut order, mut low) = (vec![NONE; count], vec![0; count]);
    let mut component = vec![NONE; count];
    let (mut stack, mut seen, mut found) = (Vec::new(), 0, 0);
    for root in 0..count {
        if order[root] != NONE {
            continue;
        }
        // States, and the next of their steps to follow.
        let mut calls = vec![(root, 0)];
        while let Some((state, at)) = calls.pop() {
            if at == 0 {
                (order[state], low[state]) = (seen, seen);
                seen += 1;
                stack.push(state);
            }
            if let Some(to) = next[state].get(at).copied() {
                calls.push((state, at + 1));
                if order[to] == NONE {
                    calls.push((to, 0));
                } else if component[to] == NONE {
                    low[state] = low[state].min(order[to]);
                }
                continue;
            }
            if low[state] == order[state] {
                while let Some(top) = stack.pop() {
                    component[top] = found;
                    if top == state {
                        break;
                    }
                }
                found += 1;
            }
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[state]);
            }
        }
    }
    component
}
