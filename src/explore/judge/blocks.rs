//! The agent is let go: it is not blocked too often in a row, and not for nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::judgment::{Assessment, Breach, Found, Judge};
use super::place::path_of;
use super::settings::{Settings, values_of};
use crate::diagnostic::code::Code;
use crate::engine::event::Trigger;
use crate::explore::domain::config_path;
use crate::explore::graph::{Longest, Path};
use crate::explore::moves::{Actor, Edge};
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::Transition;
use crate::host::hosts::BLOCKS;

/// The most blocks in a row, and the first of them.
struct Row {
    first: Transition,
    most: usize,
}

impl Judge<'_> {
    /// Judges whether the agent is let go in the end.
    pub(super) fn blocks(&self) -> Vec<PropertyResult> {
        let mut in_a_row = self.under_any_setting(|settings| self.in_a_row(settings));
        let is_endless =
            matches!(&in_a_row, Verdict::Refuted { trace, .. } if trace.again.is_some());
        let mut name = format!("at most {BLOCKS} blocks in a row while the agent does nothing");
        let is_bounded = !is_endless && !matches!(in_a_row, Verdict::Undecided { .. });
        if let (true, Some(detail)) = (is_bounded, self.bounds_by_setting()) {
            // How many that is, the user says, who may say more than was tried.
            name = "the blocks in a row while the agent does nothing are bounded".to_owned();
            in_a_row = self.holds(detail);
        }
        let mut results = vec![PropertyResult::new(name, Code::BlocksInARow, in_a_row)];
        // If an idle agent is blocked forever, that loop is reported already.
        if !is_endless {
            let verdict = self.under_any_setting(|settings| self.round(settings));
            results.push(PropertyResult::new(
                "no blocks without progress",
                Code::BlockLoop,
                verdict,
            ));
        }
        results
    }

    /// Returns, where the number of blocks in a row depends on a number that the user sets, how many there are at most,
    /// by it.
    fn bounds_by_setting(&self) -> Option<String> {
        let search = self.search;
        let tree = &search.moves.tree;
        let fields = self.chart.config.keys().map(|name| config_path(name));
        let fields = fields.filter_map(|name| search.field(&name));
        fields
            .filter(|field| search.is_needed(*field))
            .find_map(|field| {
                let mut bounds: BTreeMap<i64, usize> = BTreeMap::new();
                for value in values_of(search, field) {
                    let settings = Settings::default().with(field, vec![value]);
                    let row = self.longest_row(&self.while_idle(&settings), &settings);
                    bounds.insert(tree.value(value).as_i64()?, row.map_or(0, |row| row.most));
                }
                let name = tree.name_of(field)?;
                let described = bounds.iter().rev();
                let described =
                    described.map(|(value, most)| format!("{most} where {name} is {value}"));
                let described = described.collect::<Vec<_>>().join(", ");
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
        let most = self
            .search
            .moves
            .tree
            .ground
            .domain
            .gate()
            .map(|gate| gate.times)
            .max();
        usize::try_from(times).ok().filter(|_| Some(times) < most)
    }

    /// Returns the paths on which the agent does nothing: it is blocked, which weighs one, or the host sends another
    /// event.
    fn while_idle(&self, settings: &Settings) -> Longest<'_> {
        Longest::over(self.search, settings, |edge| {
            match self.is_further_block(edge) {
                true => Some(1),
                false => self.is_aside(edge).then_some(0),
            }
        })
    }

    /// Returns whether an edge is an event of the host beside a stop, in the midst of a turn.
    fn is_aside(&self, edge: &Edge) -> bool {
        let trigger = &self.search.moves.all[edge.mover].trigger;
        let is_event = matches!(trigger, Some(Trigger::Hook(name)) if !matches!(name.as_str(), "Stop" | "UserPromptSubmit"));
        is_event && !edge.done.block && self.search.actor(edge) == Actor::Host
    }

    /// Returns how often an agent that does nothing is blocked.
    fn in_a_row(&self, settings: &Settings) -> Assessment {
        let search = self.search;
        let idle = self.while_idle(settings);
        if let Some(lasso) = idle.lasso() {
            let claim = "an agent that does nothing is blocked without end";
            return self.blocked(claim.to_owned(), Found::Lasso(lasso));
        }
        let row = self.longest_row(&idle, settings);
        let most = row.as_ref().map_or(0, |row| row.most);
        match row {
            Some(Row { first, .. }) if most > BLOCKS => {
                let mut way = vec![first];
                let mut row = idle.path_from(search.target(first));
                let mut times = most.to_string();
                // Where the search was cut off, there could be more still: the first too many is enough.
                if search.cut.is_some() {
                    row.truncate(BLOCKS);
                    times = format!("more than {BLOCKS}");
                }
                way.extend(row);
                let claim = format!("an agent that does nothing is blocked {times} times in a row");
                self.blocked(claim, Found::Tail(way))
            }
            _ => self.with_gates(most),
        }
    }

    /// Returns the number of blocks in a row, those of gates included, where there are `most` others.
    fn with_gates(&self, most: usize) -> Assessment {
        let search = self.search;
        let times = |from: usize| {
            let blocks = search.arrows(from).iter();
            let blocks = blocks.filter_map(move |arrow| {
                let edge = arrow.edge();
                Some((
                    self.gate_times(&search.edges[edge])?,
                    Transition { from, edge },
                ))
            });
            blocks.collect::<BTreeMap<_, _>>()
        };
        let states = (0..search.looked_at()).map(times);
        let gates = states.max_by_key(|times| times.keys().last().copied());
        let gates = gates.unwrap_or_default();
        let count = gates.keys().last().copied().unwrap_or(0);
        let way: Path = gates.into_values().collect();
        if count > BLOCKS {
            let claim = format!("a gate blocks an agent that does nothing {count} times in a row");
            return self.blocked(claim, Found::Tail(way));
        }
        let all = most + count;
        let verdict = match all > BLOCKS {
            true => Verdict::Undecided {
                why: format!("{most} blocks and {count} because of a gate could follow each other"),
            },
            false => self.holds(format!("{all} at most")),
        };
        Assessment::Fine { most: all, verdict }
    }

    /// Returns the most blocks in a row, of which the first may come at the first stop of a turn.
    fn longest_row(&self, idle: &Longest<'_>, settings: &Settings) -> Option<Row> {
        let search = self.search;
        let is_block = |edge: &Edge| {
            edge.done.block && self.gate_times(edge).is_none() && settings.may(search, edge)
        };
        let is_block: Vec<bool> = search.edges.iter().map(is_block).collect();
        let states = 0..search.looked_at();
        let arrows = states.flat_map(|from| search.arrows(from).iter().map(move |to| (from, to)));
        let blocks = arrows.filter(|(_, arrow)| is_block[arrow.edge()]);
        let rows = blocks.map(|(from, arrow)| Row {
            first: Transition {
                from,
                edge: arrow.edge(),
            },
            most: 1 + idle.from(arrow.to()),
        });
        rows.max_by_key(|row| (row.most, Reverse(row.first.from)))
    }

    /// Returns whether blocks and what the agent does after them lead back to where they began.
    fn round(&self, settings: &Settings) -> Assessment {
        let goes_on = Longest::over(self.search, settings, |edge| match edge.done.block {
            true => self.is_further_block(edge).then_some(1),
            // Starting a cycle over is progress.
            false => {
                let is_answer =
                    self.search.actor(edge) == Actor::Agent && edge.done.arms.is_empty();
                (is_answer || self.is_aside(edge)).then_some(0)
            }
        });
        match goes_on.lasso() {
            Some(lasso) => {
                let claim =
                    "the agent is blocked again and again, and nothing that it does changes that";
                self.blocked(claim.to_owned(), Found::Lasso(lasso))
            }
            None => Assessment::Fine {
                most: 0,
                verdict: self.holds("what the agent does after a block leads on".to_owned()),
            },
        }
    }

    /// Returns a breach because of blocks; its place is the rule that blocks last.
    fn blocked(&self, claim: String, way: Found) -> Assessment {
        let edges = way.steps().iter().map(|step| &self.search.edges[step.edge]);
        let last = edges.rev().find(|edge| edge.done.block);
        let place = last.and_then(|edge| edge.done.fired.last());
        let places = &self.search.moves.tree.places;
        let path = place.map(|place| path_of(self.chart, &places[*place as usize]));
        let path = path.unwrap_or_default();
        Assessment::Breach(Breach { claim, way, path })
    }
}
