//! What all judgments share: how a result is put, and where in the chart something stands; and that every event leads to a
//! sound state.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::blame::Blame;
use super::checks::{CheckSeen, Example};
use super::reach::Lost;
use super::settings::{Probe, Settings, TooMany, find_breach, in_words};
use crate::chart::Chart;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::{Segment, steps};
use crate::engine::fault::Fault;
use crate::explore::answer::{Answer, plain};
use crate::explore::dependence::depends;
use crate::explore::graph::{Backward, Path, path_to};
use crate::explore::moves::Edge;
use crate::explore::replay::Replay;
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::{Search, Transition};
use crate::explore::trace::Trace;

pub(super) struct Judge<'s> {
    pub(super) chart: &'s Chart,
    pub(super) search: &'s Search,
    pub(super) back: &'s Backward,
    /// Checks which counterexamples are real.
    pub(super) replay: RefCell<Replay<'s>>,
    /// What checks find.
    pub(super) checks: Vec<CheckSeen>,
    /// Why rules never fire, by their places.
    pub(super) blames: HashMap<String, Blame>,
}

/// Steps that refute a claim, unless they need settings that no combination has.
pub(super) struct Breach {
    pub(super) claim: String,
    pub(super) steps: Path,
    /// They are a loop.
    pub(super) is_endless: bool,
    /// The element of the chart to point at.
    pub(super) path: Vec<Segment>,
}

impl<'s> Judge<'s> {
    /// Returns a verdict about all states; where not all was looked at, or no time is left for that, there is none.
    fn about_all(&self, verdict: Verdict) -> Verdict {
        match self.search.cut.is_some() || self.search.moves.tree.budget.is_exhausted() {
            true => self.cut_off(),
            false => verdict,
        }
    }

    /// Proves what no state has refuted.
    pub(super) fn holds(&self, detail: String) -> Verdict {
        self.about_all(Verdict::Proved(detail))
    }

    /// Refutes what was never seen.
    pub(super) fn absent(&self, claim: String, path: Vec<Segment>) -> Verdict {
        let trace = Trace::absent(claim);
        self.about_all(Verdict::Refuted { trace, path })
    }

    /// Returns whether one of these steps can really be taken, if need be with values that are guessed.
    pub(super) fn is_real(&self, steps: &[Transition]) -> bool {
        let mut replay = self.replay.borrow_mut();
        let mut is_real = |with_guesses: bool| {
            steps.iter().any(|step| {
                let position = replay.reach(step.from);
                position.is_some_and(|position| match with_guesses {
                    true => replay.guess(&position, *step).is_some(),
                    false => replay.step(&position, *step).is_some(),
                })
            })
        };
        is_real(false) || is_real(true)
    }

    /// Returns why a claim is not decided: its counterexamples are not real.
    pub(super) fn undecided(&self, claim: &str, way: &[Transition]) -> Verdict {
        if self.search.moves.tree.budget.is_exhausted() {
            return self.cut_off();
        }
        let mut replay = self.replay.borrow_mut();
        let assumed = way.iter().find_map(|step| replay.assumption(*step));
        let nothing = || "no files, options and events were found that lead there".to_owned();
        let why = assumed.unwrap_or_else(nothing);
        Verdict::Undecided(format!("{claim}, as far as was tried: {why}"))
    }

    /// Refutes a claim in a state where this is set.
    pub(super) fn refuted_at(
        &self,
        (state, set): &Lost,
        claim: impl Fn(usize, &str) -> String,
        path: impl Fn(usize) -> Vec<Segment>,
    ) -> Verdict {
        let claim = claim(*state, &in_words(self.search, set));
        let can_be = self.replay.borrow_mut().can_be_set(*state, set);
        match can_be {
            true => self.along(claim, *state, &[], path(*state)),
            false => self.undecided(&claim, &path_to(self.search, *state)),
        }
    }

    /// Refutes a claim by a path that goes on from a state.
    pub(super) fn along(
        &self,
        claim: String,
        state: usize,
        tail: &[Transition],
        path: Vec<Segment>,
    ) -> Verdict {
        let breach = Breach { claim, steps: tail.to_vec(), is_endless: false, path };
        self.refuted(state, breach)
    }

    /// Refutes a claim by what follows on a state.
    pub(super) fn refuted(&self, state: usize, breach: Breach) -> Verdict {
        let Breach { claim, steps, .. } = breach;
        let mut replay = self.replay.borrow_mut();
        let found = match breach.is_endless {
            true => replay.endless(claim.clone(), state, &steps),
            false => replay.counterexample(claim.clone(), state, &steps),
        };
        drop(replay);
        let path = breach.path;
        let refuted = found.map(|trace| Verdict::Refuted { trace, path });
        refuted.unwrap_or_else(|| {
            let way = [path_to(self.search, state), steps].concat();
            self.undecided(&claim, &way)
        })
    }

    /// Says where the search was cut off.
    pub(super) fn cut_off(&self) -> Verdict {
        let why = self.search.cut_in_words().unwrap_or_default();
        Verdict::Undecided(why)
    }

    /// Returns a verdict; none is found where it depends on more combinations of settings than can be looked at.
    pub(super) fn decided(&self, verdict: Result<Verdict, TooMany>) -> Verdict {
        verdict.unwrap_or_else(|TooMany| {
            let why = "it depends on too many combinations of settings".to_owned();
            self.about_all(Verdict::Undecided(why))
        })
    }

    /// Refutes a claim by a breach that `judge` finds, if one combination of settings allows all its steps. If there is
    /// none, returns the verdict for the greatest bound that `judge` finds.
    pub(super) fn under_any_setting(
        &self,
        judge: impl Fn(&Settings) -> Result<usize, Breach>,
        bounded: impl Fn(usize) -> Verdict,
    ) -> Verdict {
        let search = self.search;
        let mut most = 0;
        let breach = find_breach(search, |settings| match judge(settings) {
            Ok(bound) => {
                most = most.max(bound);
                Probe::Holds
            }
            Err(breach) => {
                let edges: Vec<usize> = breach.steps.iter().map(|step| step.edge).collect();
                match settings.conflict(search, &edges) {
                    Some(field) => Probe::Depends { field, edges },
                    None => Probe::Breach(breach),
                }
            }
        });
        let verdict = breach.map(|breach| match breach {
            Some(breach) => self.refuted(breach.steps.first().map_or(0, |it| it.from), breach),
            None => bounded(most),
        });
        self.decided(verdict)
    }

    /// Returns what happens in a step.
    pub(super) fn edge(&self, step: &Transition) -> &Edge {
        &self.search.edges[step.edge]
    }

    /// Returns the phase in a state.
    pub(super) fn phase(&self, state: usize) -> &str {
        let field = self.search.field(&self.chart.state);
        field.and_then(|field| self.search.value(state, field).as_str()).unwrap_or_default()
    }

    /// Judges whether every event leads to a decision.
    pub(super) fn decisions(&self) -> Vec<PropertyResult> {
        let name = "every event leads to a decision";
        let code = Code::NoDecision;
        let moves = &self.search.moves;
        let steps_of = |fault: u32| self.search.examples(|edge| edge.done.fault == Some(fault));
        let met = self.search.edges.iter().filter_map(|edge| edge.done.fault);
        let mut met = Vec::from_iter(met.collect::<BTreeSet<u32>>());
        met.sort_by_cached_key(|fault| steps_of(*fault));
        let mut results: Vec<PropertyResult> = Vec::new();
        let mut places: HashSet<String> = HashSet::new();
        for number in met {
            let fault = &moves.tree.faults[number as usize];
            let claim = fault.to_string();
            let (name, code, field) = match fault {
                Fault::Assignment { field, .. } => {
                    let name = "every assignment fits its field";
                    (name, Code::AssignmentMisfit, Some(field))
                }
                _ => (name, code, None),
            };
            let mut path = fault.place().map_or_else(Vec::new, |place| path_of(self.chart, &place));
            path.extend(field.map(Segment::from));
            let steps = steps_of(number).into_iter();
            let verdicts =
                steps.map(|step| self.along(claim.clone(), step.from, &[step], path.clone()));
            let verdict = first_refuted(verdicts).unwrap_or_else(|| self.cut_off());
            // One place fails in one way: what is not known of it need not be said beside that.
            let is_new = places.insert(format!("{path:?}"));
            if is_new || matches!(verdict, Verdict::Refuted { .. }) {
                results.push(PropertyResult::new(name, code, verdict));
            }
        }
        for seen in &self.checks {
            let path = steps!["checks", &seen.list, seen.index];
            if let Some((fault, _)) = seen.faults.first() {
                let fails = |at: &Example| matches!(self.finds(seen, at), Some(Err(_)));
                let is_real = seen.faults.iter().any(|(_, at)| fails(at));
                let verdict = if is_real {
                    Verdict::Refuted { trace: Trace::absent(fault.to_string()), path }
                } else {
                    self.undecided(&fault.to_string(), &[])
                };
                results.push(PropertyResult::new(name, code, verdict));
            } else if !seen.fails.is_empty() {
                let claim = format!("checks.{}[{}] always has a value", seen.list, seen.index);
                let verdict = untried_of(&claim, &seen.fails);
                results.push(PropertyResult::new(name, code, verdict));
            }
        }
        if !results.iter().any(|result| result.code == code) {
            let detail =
                format!("{} states, {} kinds of move", self.search.states.len(), moves.all.len());
            results.insert(0, PropertyResult::new(name, code, self.holds(detail)));
        }
        results
    }

    /// Assignments are admitted one by one; targets are phases. What a state holds must fit all the same.
    pub(super) fn schema(&self) -> PropertyResult {
        let fits = || self.holds(format!("{} fields", self.chart.context.len()));
        let verdict = self.misfit().unwrap_or_else(fits);
        let name = "every state fits the schema";
        PropertyResult::new(name, Code::AssignmentMisfit, verdict)
    }

    /// Refutes it by the first state that holds what its field may not.
    fn misfit(&self) -> Option<Verdict> {
        let tree = &self.search.moves.tree;
        let mut seen: HashSet<(usize, u32)> = HashSet::new();
        for (state, situation) in self.search.states.iter().enumerate() {
            for (field, value) in situation.fields().iter().enumerate() {
                if !seen.insert((field, *value)) || *tree.answer_of(*value) == Answer::Unknown {
                    continue;
                }
                let (key, kind) = self.chart.context.get_index(field)?;
                let value = tree.value(*value);
                if let Err(expected) = kind.accepts(&self.chart.phases, value) {
                    let claim = format!("`{key}` is {expected}, and it becomes {}", plain(value));
                    return Some(self.along(claim, state, &[], steps!["context", key]));
                }
            }
        }
        None
    }
}

/// Returns a claim that holds for what was tried, which is not every value of these inputs.
pub(super) fn untried_of(claim: &str, inputs: &BTreeSet<String>) -> Verdict {
    Verdict::Undecided(format!("{claim}, as far as was tried: it {}", depends(inputs)))
}

/// Returns the first verdict that refutes, else the first one.
pub(super) fn first_refuted(verdicts: impl Iterator<Item = Verdict>) -> Option<Verdict> {
    let mut first = None;
    for verdict in verdicts {
        if matches!(verdict, Verdict::Refuted { .. }) {
            return Some(verdict);
        }
        first.get_or_insert(verdict);
    }
    first
}

/// Returns the key of a phase: one made from a hole stands under the name with the hole.
pub(super) fn key_of_phase(chart: &Chart, phase: &str) -> String {
    let entry = chart.phases.get(phase);
    match entry.and_then(|entry| entry.cycle.as_ref()) {
        Some(cycle) => phase.replace(cycle.as_str(), "{cycle}"),
        None => phase.to_owned(),
    }
}

/// Returns `on.Stop[2].guard` as a path.
pub(super) fn path_of(chart: &Chart, place: &str) -> Vec<Segment> {
    let mut path = steps(place).unwrap_or_default();
    if let [Segment::Key(table), Segment::Key(phase), ..] = path.as_mut_slice()
        && table == "phases"
    {
        *phase = key_of_phase(chart, phase);
    }
    path
}
