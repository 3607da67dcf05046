//! The agent is let go: it is not blocked too often in a row, and not for nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::judgment::{Breach, Judge, path_of};
use super::settings::{Settings, values_of};
use crate::diagnostic::code::Code;
use crate::engine::event::Trigger;
use crate::explore::graph::{Longest, Path};
use crate::explore::moves::{Actor, Edge};
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Transition;
use crate::host::hosts::BLOCKS;

/// Blocks of gates, by how many times the gate has failed in the same way.
type GateBlocks = BTreeMap<usize, Transition>;

/// Returns how many times a gate blocks in a row.
fn most_of(gates: &GateBlocks) -> usize {
    gates.keys().last().copied().unwrap_or(0)
}

impl Judge<'_> {
    /// Judges whether the agent is let go in the end.
    pub(super) fn blocks(&self) -> Vec<PropertyResult> {
        let gates = self.blocks_of_gates();
        let in_a_row = |with_loops: bool| {
            let in_a_row = |settings: &Settings| self.in_a_row(settings, &gates, with_loops);
            self.under_any_setting(in_a_row, |most| self.with_gates(most, &gates))
        };
        let first = in_a_row(true);
        // A loop that is not real may still go round too often.
        let is_open = matches!(first, Verdict::Undecided(_));
        let too_often = is_open.then(|| in_a_row(false));
        let too_often = too_often.filter(|it| matches!(it, Verdict::Refuted { .. }));
        let mut in_a_row = too_often.unwrap_or(first);
        let is_endless =
            matches!(&in_a_row, Verdict::Refuted { trace, .. } if trace.again.is_some());
        let mut name = format!("at most {BLOCKS} blocks in a row while the agent does nothing");
        let is_bounded = !is_endless && !matches!(in_a_row, Verdict::Undecided(_));
        if let (true, Some(detail)) = (is_bounded, self.bounds_by_setting()) {
            // How many that is, the user says, who may say more than was tried.
            name = "the blocks in a row while the agent does nothing are bounded".to_owned();
            in_a_row = self.holds(detail);
        }
        let mut results = vec![PropertyResult::new(name, Code::BlocksInARow, in_a_row)];
        // If an idle agent is blocked forever, that loop is reported already.
        if !is_endless {
            let proved = |_| self.holds("what the agent does after a block leads on".to_owned());
            let verdict = self.under_any_setting(|settings| self.round(settings), proved);
            let name = "no blocks without progress";
            results.push(PropertyResult::new(name, Code::BlockLoop, verdict));
        }
        results
    }

    /// Returns, where the number of blocks in a row depends on a number that the user sets, how many there are at most,
    /// by it.
    fn bounds_by_setting(&self) -> Option<String> {
        let search = self.search;
        let tree = &search.moves.tree;
        let mut settings = (0..self.chart.config.len()).map(|at| self.chart.context.len() + at);
        settings.find_map(|field| {
            search.is_needed(field).then_some(())?;
            let mut bounds: BTreeMap<i64, usize> = BTreeMap::new();
            for value in values_of(search, field) {
                let settings = Settings::default().with(field, vec![value]);
                let idle = self.while_idle(&settings);
                let most = idle.with_first(self.first_of_row(&idle, &settings));
                bounds.insert(tree.value(value).as_i64()?, most);
            }
            let name = tree.name_of(field);
            let words = |(value, most)| format!("{most} where {name} is {value}");
            let described: Vec<String> = bounds.iter().rev().map(words).collect();
            let described = described.join(", ");
            let is_bound = bounds.values().collect::<BTreeSet<_>>().len() > 1;
            is_bound.then(|| format!("at most {described}"))
        })
    }

    /// Returns whether an edge is a block that can come after a block: the host then says so.
    fn is_further_block(&self, edge: &Edge) -> bool {
        edge.done.block && edge.active != Some(false) && self.gate_times(edge).is_none()
    }

    /// Returns how many times a gate has failed in the same way, if that is why an edge blocks, and blocks once in a
    /// row: the next time, the gate has failed more often, or in another way, and then the agent has done something.
    /// The most times that are tried stand for all above, so they can come again.
    fn gate_times(&self, edge: &Edge) -> Option<usize> {
        let run = self.search.run(edge).filter(|_| edge.done.block)?;
        let times = run.outcome.failed_gate()?.times;
        let gates = self.search.moves.tree.domain.gate();
        let most = gates.map(|gate| gate.times).max();
        usize::try_from(times).ok().filter(|_| Some(times) < most)
    }

    /// Returns the paths on which the agent does nothing: it is blocked, which weighs one, or the host sends another
    /// event.
    fn while_idle(&self, settings: &Settings) -> Longest<'_> {
        let weight = |edge: &Edge| match self.is_further_block(edge) {
            true => Some(1),
            false => self.is_aside(edge).then_some(0),
        };
        Longest::over(self.search, settings, weight, |_| true)
    }

    /// Returns whether an edge is an event of the host beside a stop, in the midst of a turn.
    fn is_aside(&self, edge: &Edge) -> bool {
        let trigger = &self.search.moves.all[edge.mover].trigger;
        let is_event = matches!(trigger, Some(Trigger::Hook(name)) if !matches!(name.as_str(), "Stop" | "UserPromptSubmit"));
        is_event && !edge.done.block && self.search.actor(edge) == Actor::Host
    }

    /// Returns how often in a row an agent that does nothing is blocked, or why that is too often.
    fn in_a_row(
        &self,
        settings: &Settings,
        gates: &GateBlocks,
        with_loops: bool,
    ) -> Result<usize, Breach> {
        let search = self.search;
        let idle = self.while_idle(settings);
        if let Some(steps) = idle.endless_loop().filter(|_| with_loops) {
            let claim = "an agent that does nothing is blocked without end";
            return Err(self.blocked(claim.to_owned(), steps, true));
        }
        let first = self.first_of_row(&idle, settings);
        let most = idle.with_first(first);
        let by_gates = most_of(gates);
        match first {
            Some(first) if most > BLOCKS => {
                // Where the search was cut off, there could be more still: the first too many is enough.
                let (times, longest) = match with_loops && search.cut.is_none() {
                    true => (most.to_string(), most),
                    false => (format!("more than {BLOCKS}"), BLOCKS),
                };
                let mut row = idle.path_from(first.to, longest);
                row.insert(0, first);
                let claim = format!("an agent that does nothing is blocked {times} times in a row");
                Err(self.blocked(claim, row, false))
            }
            _ if by_gates > BLOCKS => {
                let claim =
                    format!("a gate blocks an agent that does nothing {by_gates} times in a row");
                Err(self.blocked(claim, gates.values().copied().collect(), false))
            }
            _ => Ok(most),
        }
    }

    /// Returns the verdict where there are `most` blocks in a row, and those of gates.
    fn with_gates(&self, most: usize, gates: &GateBlocks) -> Verdict {
        let by_gates = most_of(gates);
        let all = most + by_gates;
        match all > BLOCKS {
            true => Verdict::Undecided(format!(
                "{most} blocks and {by_gates} because of a gate could follow each other"
            )),
            false => self.holds(format!("{all} at most")),
        }
    }

    /// Returns the blocks of gates that can follow each other in a state.
    fn blocks_of_gates(&self) -> GateBlocks {
        let search = self.search;
        let times = |from: usize| {
            let steps = search.steps_from(from).iter();
            let times = |step: &Transition| Some((self.gate_times(self.edge(step))?, *step));
            steps.filter_map(times).collect::<GateBlocks>()
        };
        let states = (0..search.looked_at()).map(times);
        let most = states.max_by_key(|times| times.keys().last().copied());
        most.unwrap_or_default()
    }

    /// Returns the first of the most blocks in a row, which may come at the first stop of a turn.
    fn first_of_row(&self, idle: &Longest<'_>, settings: &Settings) -> Option<Transition> {
        let search = self.search;
        let is_block = |edge: &Edge| {
            edge.done.block && self.gate_times(edge).is_none() && settings.may(search, edge)
        };
        let is_block: Vec<bool> = search.edges.iter().map(is_block).collect();
        let blocks = search.steps().filter(|step| is_block[step.edge]);
        blocks.max_by_key(|first| (idle.from(first.to), Reverse(first.from)))
    }

    /// Returns whether blocks and what the agent does after them lead back to where they began.
    fn round(&self, settings: &Settings) -> Result<usize, Breach> {
        let weight = |edge: &Edge| match edge.done.block {
            true => self.is_further_block(edge).then_some(1),
            // Starting a cycle over is progress.
            false => {
                let is_answer =
                    self.search.actor(edge) == Actor::Agent && edge.done.arms.is_empty();
                (is_answer || self.is_aside(edge)).then_some(0)
            }
        };
        let goes_on = Longest::over(self.search, settings, weight, |_| true);
        goes_on.endless_loop().map_or(Ok(0), |steps| {
            let claim =
                "the agent is blocked again and again, and nothing that it does changes that";
            Err(self.blocked(claim.to_owned(), steps, true))
        })
    }

    /// Returns a breach because of blocks; its place is the rule that blocks last.
    fn blocked(&self, claim: String, steps: Path, is_endless: bool) -> Breach {
        let edges = steps.iter().map(|step| self.edge(step));
        let last = edges.rev().find(|edge| edge.done.block);
        let place = last.and_then(|edge| self.search.fired(edge).next_back());
        let path = place.map(|place| path_of(self.chart, place));
        Breach { claim, steps, is_endless, path: path.unwrap_or_default() }
    }
}
