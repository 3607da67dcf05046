//! Reviews end: each cycle within its limit, and how many there are altogether.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::judgment::Judge;
use super::place::path_of;
use crate::chart::Cycle;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Step;
use crate::engine::decision::Outcome;
use crate::engine::event::Trigger;
use crate::explore::graph::Longest;
use crate::explore::moves::{Actor, Edge};
use crate::explore::plain::plain;
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Arrow;
use crate::expr::single_expression;
use crate::hash::IndexMap;

const CODE: Code = Code::CycleUnbounded;

/// The most reviews that a cycle has from one start to the next, by the limit in force.
type Most = BTreeMap<i64, usize>;

/// How often as many reviews as the limit a cycle has.
#[derive(Debug, Default, Clone, Copy)]
struct Limits {
    /// Before it starts for the first time.
    before: usize,
    /// Altogether, as long as the user does nothing; `None`: that is not bounded.
    all: Option<usize>,
}

impl Judge<'_> {
    pub(super) fn cycles(&self) -> Vec<PropertyResult> {
        let mut results = Vec::new();
        let mut all: Vec<Limits> = Vec::new();
        for (at, (id, cycle)) in self.chart.cycles.iter().enumerate() {
            let mut limits = Limits {
                before: 0,
                all: Some(0),
            };
            let (code, verdict) = self.cycle(at, cycle, &mut limits);
            all.push(limits);
            results.push(PropertyResult::new(
                format!("{id} ends within its limit"),
                code,
                verdict,
            ));
        }
        let is_refuted =
            |result: &PropertyResult| matches!(result.verdict, Verdict::Refuted { .. });
        let open = results.iter().map(|result| &result.verdict);
        let mut open = open.filter(|verdict| matches!(verdict, Verdict::Undecided { .. }));
        if !results.iter().any(is_refuted) && !all.is_empty() {
            // The sum rests on each of its parts.
            let verdict = match open.next() {
                Some(open) => open.clone(),
                None => self.holds(self.total(&all)),
            };
            results.push(PropertyResult::new(
                "the number of all reviews is bounded",
                CODE,
                verdict,
            ));
        }
        results
    }

    /// Whether one cycle ends, and not before its limit.
    fn cycle(&self, at: usize, cycle: &Cycle, limits: &mut Limits) -> (Code, Verdict) {
        let mut most = Most::new();
        let search = self.search;
        let path = || steps!["cycles", &cycle.id];
        let (Some(limit), Some(count)) = (search.field(&cycle.limit), search.field(&cycle.count))
        else {
            let claim = format!("the cycle `{}` counts or bounds nothing", cycle.id);
            return (CODE, self.absent(claim, path()));
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
        let is_review = |edge: &Edge| {
            let run = edge.review.map(|run| &search.moves.tree.runs[run as usize]);
            run.is_some_and(|run| {
                run.invocation.cycle == cycle.id && matches!(run.outcome, Outcome::Ran { .. })
            })
        };
        let weight = |edge: &Edge| usize::from(is_review(edge));
        let is_of_the_user = |edge: &Edge| search.moves.all[edge.mover].actor == Actor::User;
        // Only a user may start a cycle over that has had a review: by what starts it, or by setting its limit or its
        // count.
        let is_fresh = |edge: &Edge| {
            let mut assigned = edge.assigned.iter();
            let is_new = assigned.any(|(field, _)| *field == limit || *field == count);
            is_of_the_user(edge) && (is_new || edge.arms.contains(&at))
        };
        let states = 0..search.states.len();
        let have_begun: Vec<bool> = states.map(has_begun).collect();
        let mut refuted: Vec<Verdict> = Vec::new();
        // A limit that is no parameter is read off the states.
        let parameter = search.moves.tree.ground.domain.parameters.get(&cycle.limit);
        let values: Vec<Option<&Json>> =
            parameter.map_or_else(|| vec![None], |values| values.iter().map(Some).collect());
        for given in values {
            let tree = &search.moves.tree;
            let value = given.and_then(|value| tree.known_value(value));
            let is_in = |set: u32| value.is_some_and(|value| tree.has(set, value));
            let fits = |edge: &Edge| {
                let mut needs = edge.needs.iter();
                needs.all(|(field, set)| *field != limit || is_in(*set))
            };
            // Per edge: what it weighs, and whether it starts the cycle over.
            let edges = search.edges.iter().map(|edge| {
                let is_kept = fits(edge) && !is_fresh(edge);
                is_kept.then(|| (weight(edge), edge.arms.contains(&at)))
            });
            let edges: Vec<Option<(usize, bool)>> = edges.collect();
            let longest = Longest::of(search, |state: usize, arrow: &Arrow| {
                let (weight, arms) = edges[arrow.edge()]?;
                (!arms || have_begun[state]).then_some(weight)
            });
            let set = value.map(|value| (limit, value));
            self.replay.borrow_mut().set = set.into_iter().collect();
            if let Some(round) = longest.endless_way() {
                let words = given
                    .map(|value| format!(", {} being {}", cycle.limit, plain(value)))
                    .unwrap_or_default();
                let claim = format!("the cycle `{}` can go on without end{words}", cycle.id);
                let again = round.0.get(round.1.saturating_sub(1)..).unwrap_or_default();
                let path = self.culprit(at, again).unwrap_or_else(path);
                refuted.push(self.endless(claim, &round, path));
                continue;
            }
            // A limit that is not known can be any.
            let known = |state: usize| given.unwrap_or_else(|| search.value(state, limit)).as_i64();
            let held = |state: usize| known(state).unwrap_or(0);
            let exceeds = |state: &usize| {
                let held = known(*state).and_then(|held| usize::try_from(held).ok());
                held.is_some_and(|held| longest.from(*state) > held)
            };
            if let Some(state) = (0..search.looked_at()).find(exceeds) {
                let mut way = longest.way_from(state);
                let (id, mut reviews) = (&cycle.id, in_words(longest.from(state)));
                // Where the search was cut off, there could be more still: the first too many is enough.
                if !search.complete {
                    let held = usize::try_from(held(state)).unwrap_or(0);
                    let counts = |(_, edge): &(usize, usize)| is_review(&search.edges[*edge]);
                    let end = way.iter().enumerate();
                    let end = end.filter(|(_, step)| counts(step)).nth(held);
                    way.truncate(end.map_or(way.len(), |(index, _)| index + 1));
                    reviews = format!("more than {}", in_words(held));
                }
                let claim = format!(
                    "the cycle `{id}` has {reviews}, {} being {}",
                    cycle.limit,
                    held(state)
                );
                let path = self.invoking_rule().unwrap_or_else(path);
                refuted.push(self.along(claim, state, &way, path));
                continue;
            }
            // Where one limit bounds nothing, the others need not be looked at.
            let all = limits.all.map(|_| {
                let edges = search.edges.iter().map(|edge| {
                    let is_kept = fits(edge) && !is_of_the_user(edge);
                    is_kept.then(|| weight(edge))
                });
                let edges: Vec<Option<usize>> = edges.collect();
                Longest::of(search, move |_: usize, arrow: &Arrow| edges[arrow.edge()])
            });
            let all = all.filter(|all| all.endless.is_empty());
            for state in (0..search.looked_at()).filter(|state| search.parents[*state].is_none()) {
                let held = usize::try_from(held(state)).unwrap_or(0);
                let times = |reviews: usize| match held {
                    0 => (reviews == 0).then_some(0),
                    held => Some(reviews.div_ceil(held)),
                };
                let bound = all.as_ref().and_then(|all| times(all.from(state)));
                limits.all = limits.all.zip(bound).map(|(most, times)| most.max(times));
                limits.before = limits.before.max(times(longest.from(state)).unwrap_or(1));
            }
            for state in (0..search.looked_at()).filter(|state| known(*state).is_some()) {
                let reviews = most.entry(held(state)).or_default();
                *reviews = longest.from(state).max(*reviews);
            }
        }
        self.replay.borrow_mut().set.clear();
        let short = most
            .iter()
            .rev()
            .find(|(held, reviews)| usize::try_from(**held).is_ok_and(|held| **reviews < held));
        // One that has none at all is not reached, or its rule does not fire: that is said there.
        let is_known = search.complete && most.values().any(|reviews| *reviews > 0);
        let short = short.filter(|_| is_known);
        if let (true, Some((held, reviews))) = (refuted.is_empty(), short) {
            let claim = format!(
                "the cycle `{}` has {} at most, {} being {held}",
                cycle.id,
                in_words(*reviews),
                cycle.limit
            );
            let path = self.invoking_rule().unwrap_or_else(path);
            return (Code::CycleFallsShort, self.absent(claim, path));
        }
        let verdict = refuted
            .into_iter()
            .min_by_key(Verdict::steps)
            .unwrap_or_else(|| {
                let words = most.iter().rev();
                let words = words.enumerate().map(|(index, (held, reviews))| {
                    if index == 0 {
                        format!("{} with {} {held}", in_words(*reviews), cycle.limit)
                    } else {
                        format!("{reviews} with {held}")
                    }
                });
                self.holds(format!("at most {}", words.collect::<Vec<_>>().join(", ")))
            });
        (CODE, verdict)
    }

    /// What in the chart lets a cycle go round like this: the phase whose entry starts it over, or the cycle
    /// that leads back to itself; where nothing starts it over, the rule that runs the reviews.
    fn culprit(&self, at: usize, round: &[(usize, usize)]) -> Option<Vec<Step>> {
        let mut edges = round.iter().map(|(_, edge)| &self.search.edges[*edge]);
        let Some(start) = edges.find(|edge| edge.arms.contains(&at)) else {
            return self.invoking_rule();
        };
        match &self.search.moves.all[start.mover].trigger {
            Some(Trigger::Enter { phase, .. }) => {
                Some(path_of(self.chart, &format!("phases.{phase}")))
            }
            _ => None,
        }
    }

    /// The rule that runs reviews.
    fn invoking_rule(&self) -> Option<Vec<Step>> {
        self.chart.on.iter().find_map(|(event, rules)| {
            let index = rules.iter().position(|rule| rule.invoke.is_some())?;
            Some(steps!["on", event, index])
        })
    }

    /// All reviews, as a formula: for each limit, how often as many reviews there are.
    fn total(&self, all: &[Limits]) -> String {
        let mut sums: IndexMap<&str, (usize, Vec<&str>)> = IndexMap::default();
        let mut starts = Vec::new();
        for (at, (cycle, limits)) in self.chart.cycles.values().zip(all).enumerate() {
            let (times, names) = sums.entry(&cycle.limit).or_default();
            // A limit that changes by itself bounds each start, and not all of them together.
            match limits.all.filter(|_| !self.changes_by_itself(&cycle.limit)) {
                Some(most) => *times += most,
                None => {
                    *times += limits.before;
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
            false => format!(
                ". A name stands for how often its cycle starts: {}",
                starts.join(", ")
            ),
        };
        let price = self.chart.budget.review.as_ref();
        let price = price.and_then(|text| single_expression(&text.0));
        let dollars = price.map_or_else(String::new, |price| {
            format!(". Each costs at most {price} dollars, if the reviewer keeps to that")
        });
        format!("{formula} reviews that count, without a user's command{each}{dollars}")
    }

    /// Whether a field changes although the user does nothing.
    fn changes_by_itself(&self, field: &str) -> bool {
        let field = self.search.field(field);
        let mut edges = self.search.edges.iter();
        edges.any(|edge| {
            let mut assigned = edge.assigned.iter();
            self.search.moves.all[edge.mover].actor != Actor::User
                && assigned.any(|(assigned, _)| Some(*assigned) == field)
        })
    }

    /// What starts a cycle if the user does nothing: phases that are entered, and cycles that end.
    fn starts(&self, at: usize) -> String {
        let (mut phases, mut others) = (IndexSet::new(), IndexSet::new());
        for edge in &self.search.edges {
            let mover = &self.search.moves.all[edge.mover];
            if mover.actor == Actor::User || !edge.arms.contains(&at) {
                continue;
            }
            match &mover.trigger {
                Some(Trigger::Enter { phase, .. }) => {
                    phases.insert(format!("`{phase}`"));
                }
                _ if edge.advanced.is_empty() => {
                    others.insert("a rule".to_owned());
                }
                _ => {
                    let cycles = edge.advanced.iter();
                    others.extend(cycles.map(|(cycle, _)| self.chart.cycles[*cycle].id.clone()));
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

fn in_words(reviews: usize) -> String {
    if reviews == 1 {
        "1 review".to_owned()
    } else {
        format!("{reviews} reviews")
    }
}
