//! Ways through the states of a chart. Settings do not change on a way, so a way whose steps need different ones is none.

use std::collections::VecDeque;

use indexmap::IndexMap;

use super::facts::{Fact, Facts};
use super::search::{Search, Step};
use super::term::Term;

/// How often a question is asked again with other settings.
const SETTINGS: usize = 512;

/// The steps of a chart, by the states that they lead from.
pub(super) struct Graph<'s> {
    pub(super) search: &'s Search,
    out: Vec<Vec<usize>>,
    /// What is asked of each setting, or of what depends on settings.
    settings: IndexMap<Term, Vec<Fact>>,
}

/// Steps that show something.
pub(super) type Way = Vec<Step>;

/// A way to a state from which no goal can be reached, whether no step at all leads on, and with which settings.
pub(super) struct Lost {
    pub(super) state: usize,
    pub(super) is_stuck: bool,
    pub(super) given: Facts,
    pub(super) way: Way,
}

impl<'s> Graph<'s> {
    pub(super) fn of(search: &'s Search) -> Self {
        let mut out = vec![Vec::new(); search.states.len()];
        let mut settings: IndexMap<Term, Vec<Fact>> = IndexMap::new();
        for (at, step) in search.steps.iter().enumerate() {
            out[step.from].push(at);
        }
        for (term, fact) in search.ways.iter().flat_map(|(done, _)| done.settings.iter()) {
            // Each number is a value of its own.
            let exactly =
                |end| Fact { none: Some(false), least: end, most: end, ..Fact::default() };
            let ends = [fact.least, fact.most].into_iter().filter(Option::is_some);
            let ends: Vec<Fact> = ends.map(exactly).collect();
            let known = settings.entry(*term).or_default();
            for fact in if ends.is_empty() { vec![fact.clone()] } else { ends } {
                if !known.contains(&fact) {
                    known.push(fact);
                }
            }
        }
        Self { search, out, settings }
    }

    fn is_allowed(&self, given: &Facts, step: &Step) -> bool {
        given.conflict(&self.search.done(step).settings).is_none()
    }

    /// Returns what `find` finds, if its steps can all be taken with the same settings; else asks again with a setting in
    /// which they differ.
    fn consistent(&self, given: &Facts, find: impl Fn(&Facts) -> Option<Way>) -> Option<Way> {
        let mut open = vec![given.clone()];
        for _ in 0..SETTINGS {
            let given = open.pop()?;
            let Some(way) = find(&given) else { continue };
            let mut all = given.clone();
            let settings = way.iter().map(|step| &self.search.done(step).settings);
            let clash = settings.filter_map(|settings| {
                let clash = all.conflict(settings);
                all.join(settings);
                clash
            });
            let Some(term) = clash.last() else { return Some(way) };
            let facts = self.settings.get(&term).into_iter().flatten().rev();
            let with = facts.map(|fact| given.with(term, fact));
            // A fact that is known already distinguishes nothing.
            open.extend(with.flatten().filter(|with| *with != given));
        }
        None
    }

    /// Returns the shortest way from where an instance begins to a state, and on.
    pub(super) fn way_to(&self, state: usize, tail: &[Step], given: &Facts) -> Option<Way> {
        self.consistent(given, |given| {
            let all = |_| Some(false);
            let mut steps = self.walk(given, 0, |_| false, all, |at, _| at == state)?;
            steps.extend(tail);
            Some(steps)
        })
    }

    /// Returns a way on which this many steps count in a row, with others that have a weight between them. The first one is
    /// distinguished from the others. Steps are named by their numbers.
    pub(super) fn in_a_row(
        &self,
        count: usize,
        is_first: impl Fn(usize) -> bool,
        weights: &[Option<bool>],
    ) -> Option<Way> {
        self.consistent(&Facts::default(), |given| {
            let goal = |_, counted| counted == count;
            self.walk(given, count, &is_first, |at| weights[at], goal)
        })
    }

    /// Returns the shortest steps from where an instance begins to a goal, which depends on how many have counted. Before the first one that counts, all are
    /// kept if any is to count.
    fn walk(
        &self,
        given: &Facts,
        count: usize,
        is_first: impl Fn(usize) -> bool,
        weight: impl Fn(usize) -> Option<bool>,
        is_goal: impl Fn(usize, usize) -> bool,
    ) -> Option<Way> {
        let layers = count + 1;
        let mut by: Vec<Option<(Step, usize)>> = vec![None; self.out.len() * layers];
        let mut seen = vec![false; by.len()];
        let begin = 0..self.search.beginnings;
        let mut open: VecDeque<(usize, usize)> = begin.map(|state| (state, 0)).collect();
        open.iter().for_each(|(state, _)| seen[state * layers] = true);
        while let Some((state, counted)) = open.pop_front() {
            if is_goal(state, counted) {
                let before = |(step, counted): &(Step, usize)| by[step.from * layers + counted];
                let steps = std::iter::successors(by[state * layers + counted], before);
                let mut steps: Vec<Step> = steps.map(|(step, _)| step).collect();
                steps.reverse();
                return Some(steps);
            }
            for number in &self.out[state] {
                let step = &self.search.steps[*number];
                let next = match counted {
                    0 if count > 0 => [Some(0), is_first(*number).then_some(1)],
                    _ => {
                        let next = weight(*number).map(|counts| counted + usize::from(counts));
                        [next.map(|next| next.min(count)), None]
                    }
                };
                for next in next.into_iter().flatten() {
                    let at = step.to * layers + next;
                    if !seen[at] && self.is_allowed(given, step) {
                        seen[at] = true;
                        by[at] = Some((*step, counted));
                        open.push_back((step.to, next));
                    }
                }
            }
        }
        None
    }

    /// Returns a state from which no goal can be reached with some setting, a stuck one first.
    pub(super) fn lost(&self, goals: &[bool]) -> Option<Lost> {
        let none = &Facts::default();
        let single = self
            .settings
            .iter()
            .flat_map(|(term, facts)| facts.iter().filter_map(|fact| none.with(*term, fact)));
        std::iter::once(none.clone()).chain(single).find_map(|given| self.lost_with(goals, given))
    }

    fn lost_with(&self, goals: &[bool], given: Facts) -> Option<Lost> {
        let steps = || self.search.steps.iter().filter(|step| self.is_allowed(&given, step));
        let moves = || steps().filter(|step| step.from != step.to);
        let leads = closure(goals.to_vec(), moves().map(|step| (step.to, step.from)));
        if leads.iter().all(|leads| *leads) || self.search.is_up().is_some() {
            return None;
        }
        let begin = (0..leads.len()).map(|state| state < self.search.beginnings).collect();
        let reached = closure(begin, moves().map(|step| (step.from, step.to)));
        let mut leads_on = vec![false; leads.len()];
        moves().for_each(|step| leads_on[step.from] = true);
        let lost = (0..self.search.looked_at).filter(|state| reached[*state] && !leads[*state]);
        let (on, stuck): (Vec<usize>, Vec<usize>) = lost.partition(|state| leads_on[*state]);
        let mut found = stuck.into_iter().chain(on).take(SETTINGS);
        found.find_map(|state| {
            let way = self.way_to(state, &[], &given)?;
            Some(Lost { state, is_stuck: !leads_on[state], given: given.clone(), way })
        })
    }
}

/// Adds everything to which these pairs lead.
fn closure(mut begun: Vec<bool>, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<bool> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); begun.len()];
    pairs.for_each(|(from, to)| next[from].push(to));
    let mut open: Vec<usize> = (0..begun.len()).filter(|state| begun[*state]).collect();
    while let Some(state) = open.pop() {
        for to in &next[state] {
            if !std::mem::replace(&mut begun[*to], true) {
                open.push(*to);
            }
        }
    }
    begun
}
