//! Reviews end: each cycle within its limit, and how many there are altogether.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::judgment::{Breach, Judge, path_of};
use super::settings::{self, Settings};
use crate::chart::Cycle;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Segment;
use crate::engine::decision::Outcome;
use crate::engine::event::Trigger;
use crate::explore::graph::Longest;
use crate::explore::moves::{Actor, Edge};
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::{Search, Transition};
use crate::expr::single_expression;
use crate::hash::IndexMap;
use crate::page::counted;

const CODE: Code = Code::CycleUnbounded;

/// How many reviews a cycle has.
#[derive(Debug)]
struct Reviews {
    /// The most from one start to the next, by the limit in force.
    most: BTreeMap<usize, usize>,
    /// How often the cycle can reach its limit before it starts for the first time.
    before: usize,
    /// The same altogether, as long as the user does nothing; `None`: that is not bounded.
    all: Option<usize>,
}

/// A cycle, and the fields that bound it.
struct Bounded<'c> {
    search: &'c Search,
    at: usize,
    cycle: &'c Cycle,
    limit: usize,
    count: usize,
    /// The states in which it has had a review.
    have_begun: Vec<bool>,
}

impl<'c> Bounded<'c> {
    /// Returns nothing for a cycle whose limit or count is no field.
    fn of(search: &'c Search, at: usize, cycle: &'c Cycle) -> Option<Self> {
        let (limit, count) = (search.field(&cycle.limit)?, search.field(&cycle.count)?);
        let has_begun = |state: usize| {
            let runs = search.moves.tree.running(&search.states[state]) == Some(at);
            let count = search.value(state, count).as_i64();
            runs && count.is_some_and(|count| count > 0)
        };
        Some(Self {
            search,
            at,
            cycle,
            limit,
            count,
            have_begun: (0..search.states.len()).map(has_begun).collect(),
        })
    }

    /// Returns whether a review of the cycle runs.
    fn is_review(&self, edge: &Edge) -> bool {
        self.search.run(edge).is_some_and(|run| {
            run.invocation.cycle == self.cycle.id && matches!(run.outcome, Outcome::Ran { .. })
        })
    }

    /// Returns whether the user starts the cycle over, though it has had a review: by what starts it, or by setting its
    /// limit or its count. Nobody else may.
    fn is_fresh(&self, edge: &Edge) -> bool {
        let mut assigned = edge.done.assigned.iter();
        let is_new = assigned.any(|(field, _)| *field == self.limit || *field == self.count);
        self.search.actor(edge) == Actor::User && (is_new || edge.done.arms.contains(&self.at))
    }

    /// Returns the limit in a state. One that is not known can be any.
    fn limit_in(&self, state: usize, given: &Settings) -> Option<usize> {
        let value = given.only(self.limit);
        let value = value.map(|value| self.search.moves.tree.value(value));
        let value = value.unwrap_or_else(|| self.search.value(state, self.limit));
        usize::try_from(value.as_u64()?).ok()
    }

    /// Returns the ways from one start of the cycle to the next, each review weighing one.
    fn between_starts(&self, given: &Settings) -> Longest<'c> {
        let weight =
            |edge: &Edge| (!self.is_fresh(edge)).then(|| usize::from(self.is_review(edge)));
        Longest::over(self.search, given, weight, |step| {
            let arms = &self.search.edges[step.edge].done.arms;
            self.have_begun[step.from] || !arms.contains(&self.at)
        })
    }

    /// Returns the ways on which the user does nothing, each review weighing one.
    fn without_the_user(&self, given: &Settings) -> Longest<'c> {
        let weight = |edge: &Edge| {
            (self.search.actor(edge) != Actor::User).then(|| usize::from(self.is_review(edge)))
        };
        Longest::over(self.search, given, weight, |_| true)
    }

    /// Adds how many reviews there are with this limit.
    fn add(&self, given: &Settings, longest: &Longest<'_>, reviews: &mut Reviews) {
        let states = || 0..self.search.looked_at();
        // Where one limit bounds nothing, the others need not be looked at.
        let all = reviews.all.map(|_| self.without_the_user(given));
        let all = all.filter(|all| all.endless.is_empty());
        for state in states().filter(|state| self.search.parents[*state].is_none()) {
            let times = |reviews: usize| match self.limit_in(state, given) {
                None | Some(0) => (reviews == 0).then_some(0),
                Some(held) => Some(reviews.div_ceil(held)),
            };
            let bound = all.as_ref().and_then(|all| times(all.from(state)));
            reviews.all = reviews.all.zip(bound).map(|(most, times)| most.max(times));
            let before = times(longest.from(state)).unwrap_or(1);
            reviews.before = reviews.before.max(before);
        }
        for state in states() {
            if let Some(held) = self.limit_in(state, given) {
                let most = reviews.most.entry(held).or_default();
                *most = longest.from(state).max(*most);
            }
        }
    }
}

impl Judge<'_> {
    /// Judges whether each cycle ends, and all reviews do.
    pub(super) fn cycles(&self) -> Vec<PropertyResult> {
        let mut results = Vec::new();
        let mut all: Vec<Reviews> = Vec::new();
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            let mut reviews = Reviews { most: BTreeMap::new(), before: 0, all: Some(0) };
            let name = format!("{id} ends within its limit");
            results.push(self.cycle(name, at, cycle, &mut reviews));
            all.push(reviews);
        }
        let is_refuted =
            |result: &PropertyResult| matches!(result.verdict, Verdict::Refuted { .. });
        let open = results.iter().map(|result| &result.verdict);
        let mut open = open.filter(|verdict| matches!(verdict, Verdict::Undecided(_)));
        if !results.iter().any(is_refuted) && !all.is_empty() {
            // The sum rests on each of its parts.
            let verdict = match open.next() {
                Some(open) => open.clone(),
                None => self.holds(self.total(&all)),
            };
            let name = "the number of all reviews is bounded";
            results.push(PropertyResult::new(name, CODE, verdict));
        }
        results
    }

    /// Judges whether one cycle ends, and not before its limit.
    fn cycle(&self, name: String, at: usize, cycle: &Cycle, all: &mut Reviews) -> PropertyResult {
        let Some(bounded) = Bounded::of(self.search, at, cycle) else {
            let claim = format!("the cycle `{}` counts or bounds nothing", cycle.id);
            let absent = self.absent(claim, steps!["cycles", &cycle.id]);
            return PropertyResult::new(name, CODE, absent);
        };
        let mut refuted: Vec<Verdict> = Vec::new();
        // A limit that the user cannot set is read off the states.
        for given in &Settings::default().by(self.search, bounded.limit) {
            let longest = bounded.between_starts(given);
            self.replay.borrow_mut().set = given.example(self.search);
            match self.exceeds(&bounded, given, &longest) {
                Some(verdict) => refuted.push(verdict),
                None => bounded.add(given, &longest, all),
            }
        }
        self.replay.borrow_mut().set.clear();
        let most = &all.most;
        let short = most.iter().rev().find(|(held, reviews)| reviews < held);
        // One that has none at all is not reached, or its rule does not fire: that is said there.
        let is_known = self.search.cut.is_none() && most.values().any(|reviews| *reviews > 0);
        let short = short.filter(|_| is_known);
        if let (true, Some((held, reviews))) = (refuted.is_empty(), short) {
            let claim = format!(
                "the cycle `{}` has {} at most, {} being {held}",
                cycle.id,
                counted(*reviews, "review"),
                cycle.limit
            );
            let absent = self.absent(claim, self.invoking_rule(cycle));
            return PropertyResult::new(name, Code::CycleFallsShort, absent);
        }
        let shortest = refuted.into_iter().min_by_key(Verdict::steps);
        let verdict = shortest.unwrap_or_else(|| {
            let words = most.iter().rev().enumerate();
            let words = words.map(|(index, (held, reviews))| match index {
                0 => format!("{} with {} {held}", counted(*reviews, "review"), cycle.limit),
                _ => format!("{reviews} with {held}"),
            });
            self.holds(format!("at most {}", words.collect::<Vec<_>>().join(", ")))
        });
        PropertyResult::new(name, CODE, verdict)
    }

    /// Refutes that a cycle ends, and with no more reviews than its limit.
    fn exceeds(
        &self,
        bounded: &Bounded<'_>,
        given: &Settings,
        longest: &Longest<'_>,
    ) -> Option<Verdict> {
        let (search, cycle) = (self.search, bounded.cycle);
        if let Some(steps) = longest.endless_loop() {
            let words = settings::in_words(search, &given.example(search));
            let breach = Breach {
                claim: format!("the cycle `{}` can go on without end{words}", cycle.id),
                path: self.culprit(bounded, &steps),
                is_endless: true,
                steps,
            };
            return Some(self.refuted(breach.steps.first()?.from, breach));
        }
        let exceeds = |state: &usize| {
            let held = bounded.limit_in(*state, given);
            held.is_some_and(|held| longest.from(*state) > held)
        };
        let state = (0..search.looked_at()).find(exceeds)?;
        let held = bounded.limit_in(state, given).unwrap_or(0);
        let all = longest.from(state);
        // Where the search was cut off, there could be more still: the first too many is enough.
        let (reviews, most) = match search.cut {
            None => (counted(all, "review"), all),
            Some(_) => (format!("more than {}", counted(held, "review")), held + 1),
        };
        let way = longest.path_from(state, most);
        let (id, limit) = (&cycle.id, &cycle.limit);
        let claim = format!("the cycle `{id}` has {reviews}, {limit} being {held}");
        Some(self.along(claim, state, &way, self.invoking_rule(cycle)))
    }

    /// Returns what in the chart lets a cycle go round like this: the phase whose entry starts it over, or the cycle
    /// that leads back to itself; where nothing starts it over, the rule that runs the reviews.
    fn culprit(&self, bounded: &Bounded<'_>, round: &[Transition]) -> Vec<Segment> {
        let mut edges = round.iter().map(|step| self.edge(step));
        let Some(start) = edges.find(|edge| edge.done.arms.contains(&bounded.at)) else {
            return self.invoking_rule(bounded.cycle);
        };
        match &self.search.moves.all[start.mover].trigger {
            Some(Trigger::Enter { phase, .. }) => path_of(self.chart, &format!("phases.{phase}")),
            _ => steps!["cycles", &bounded.cycle.id],
        }
    }

    /// Returns the rule that runs reviews; the cycle if none does.
    fn invoking_rule(&self, cycle: &Cycle) -> Vec<Segment> {
        let mut rules = self.chart.on.iter();
        let found = rules.find_map(|(event, rules)| {
            let index = rules.iter().position(|rule| rule.invoke.is_some())?;
            Some(steps!["on", event, index])
        });
        found.unwrap_or_else(|| steps!["cycles", &cycle.id])
    }

    /// Returns all reviews, as a formula: for each limit, how often it can be reached.
    fn total(&self, all: &[Reviews]) -> String {
        let mut sums: IndexMap<&str, (usize, Vec<&str>)> = IndexMap::default();
        let mut starts = Vec::new();
        for (at, (cycle, reviews)) in self.chart.cycles.values().zip(all).enumerate() {
            let (times, names) = sums.entry(&cycle.limit).or_default();
            // A limit that changes by itself bounds each start, and not all of them together.
            let most = reviews.all;
            match most.filter(|_| !self.changes_by_itself(&cycle.limit)) {
                Some(most) => *times += most,
                None => {
                    *times += reviews.before;
                    names.push(&cycle.id);
                    starts.push(format!("{} {}", cycle.id, self.starts(at)));
                }
            }
        }
        let sums = sums.iter().filter_map(|(limit, (times, names))| {
            let number = (*times > 0).then(|| times.to_string());
            let names = names.iter().map(|name| (*name).to_owned());
            let parts: Vec<String> = number.into_iter().chain(names).collect();
            match parts.as_slice() {
                [] => None,
                [one] if one == "1" => Some((*limit).to_owned()),
                [one] => Some(format!("{limit} × {one}")),
                some => Some(format!("{limit} × ({})", some.join(" + "))),
            }
        });
        let formula = sums.collect::<Vec<_>>().join(" + ");
        let formula = match formula.as_str() {
            "" => "no".to_owned(),
            formula => format!("at most {formula}"),
        };
        let each = match starts.is_empty() {
            true => String::new(),
            false => {
                format!(". A name stands for how often its cycle starts: {}", starts.join(", "))
            }
        };
        let price = self.chart.budget.review.as_ref();
        let price = price.and_then(|text| single_expression(&text.0));
        let dollars = price.map_or_else(String::new, |price| {
            format!(". Each costs at most {price} dollars, if the reviewer keeps to that")
        });
        format!("{formula} reviews that count, without a user's command{each}{dollars}")
    }

    /// Returns whether a field changes although the user does nothing.
    fn changes_by_itself(&self, field: &str) -> bool {
        let field = self.search.field(field);
        let mut edges = self.search.edges.iter();
        edges.any(|edge| {
            let mut assigned = edge.done.assigned.iter();
            self.search.actor(edge) != Actor::User
                && assigned.any(|(assigned, _)| Some(*assigned) == field)
        })
    }

    /// Returns what starts a cycle if the user does nothing: phases that are entered, and cycles that end.
    fn starts(&self, at: usize) -> String {
        let (mut phases, mut others) = (IndexSet::new(), IndexSet::new());
        for edge in &self.search.edges {
            let mover = &self.search.moves.all[edge.mover];
            if mover.actor == Actor::User || !edge.done.arms.contains(&at) {
                continue;
            }
            match &mover.trigger {
                Some(Trigger::Enter { phase, .. }) => {
                    phases.insert(format!("`{phase}`"));
                }
                _ if edge.done.advanced.is_empty() => {
                    others.insert("a rule".to_owned());
                }
                _ => {
                    let cycles = edge.done.advanced.iter();
                    others.extend(cycles.map(|target| self.chart.cycles[target.cycle].id.clone()));
                }
            }
        }
        let list = |before: &str, all: IndexSet<String>| {
            let all: Vec<String> = all.into_iter().collect();
            (!all.is_empty()).then(|| format!("{before} {}", all.join(" or ")))
        };
        let parts = [list("with", phases), list("after", others)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(" and ")
    }
}
