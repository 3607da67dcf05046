//! A counterexample in words: each step as it was replayed.

use super::{Position, Replay};
use crate::engine::decision::{Invocation, Outcome};
use crate::engine::event::Trigger;
use crate::explore::answer::plain;
use crate::explore::graph::Path;
use crate::explore::imagined_world::Question;
use crate::explore::moves::{Actor, Edge, Move};
use crate::explore::search::Transition;
use crate::explore::trace::{Change, Trace, TraceStep, words};
use serde_json::{Map, Value as Json};

/// The number of times that a loop is taken to see whether it goes on without end.
const ROUNDS: usize = 4;

impl Replay<'_> {
    /// Returns the counterexample that a path to a state and on is; `None` where it is not real.
    pub(in crate::explore) fn counterexample(
        &mut self,
        claim: String,
        state: usize,
        tail: &[Transition],
    ) -> Option<Trace> {
        self.reach(state)?;
        let path: Path = [&self.path_to(state), tail].concat();
        let first = path.first().map_or(state, |step| step.from);
        let mut position = self.position(first)?;
        let held = position.context.get(&self.chart.state);
        let held = held.map(plain).unwrap_or_default();
        let start = format!("Nothing is written yet: {} is {held}.", self.chart.state);
        let mut config = Map::new();
        let mut steps = Vec::new();
        for step in path {
            let after = self.step(&position, step)?;
            steps.push(self.tell(step, &position, &after, &mut config));
            position = after;
        }
        Some(Trace { claim, start: Some(start), steps, again: None })
    }

    /// Returns the counterexample that a loop is: the path to it and around until the instance stands there as it did
    /// before. A field of which the search knows nothing can take several rounds to come back to what it was.
    pub(in crate::explore) fn endless(
        &mut self,
        claim: String,
        state: usize,
        round: &[Transition],
    ) -> Option<Trace> {
        let mut positions = vec![self.reach(state)?];
        let stem = self.path_to(state).len();
        let mut tail = Path::new();
        for _ in 0..ROUNDS {
            let after = self.follow(positions.last()?, round)?;
            tail.extend(round);
            let domain = &self.search.moves.tree.domain;
            let mut known = positions.iter();
            if let Some(times) = known.position(|before| after.is_like(before, domain)) {
                let again = Some(stem + times * round.len() + 1);
                let trace = self.counterexample(claim, state, &tail)?;
                return Some(Trace { again, ..trace });
            }
            positions.push(after);
        }
        None
    }

    /// Describes the step that was replayed last; `config` is what the user has set before it.
    fn tell(
        &self,
        step: Transition,
        before: &Position,
        after: &Position,
        config: &mut Map<String, Json>,
    ) -> TraceStep {
        let edge = &self.search.edges[step.edge];
        let tree = &self.search.moves.tree;
        let mut shown = TraceStep {
            event: self.event(edge),
            review: self.review(edge),
            blocked: edge.done.block,
            ..TraceStep::default()
        };
        let Some(taken) = &self.taken else {
            return shown;
        };
        shown.fired.clone_from(&taken.fired);
        for field in tree.domain.parameters.keys() {
            let name = tree.name_of(*field);
            let (held, set) = match name.strip_prefix("config.") {
                Some(setting) => (config.get(setting), taken.config.get(setting)),
                None => (before.context.get(&name), taken.before.get(&name)),
            };
            if let Some(set) = set.filter(|set| held.or(tree.default_of(*field)) != Some(*set)) {
                shown.given.push(format!("{name} is {}", plain(set)));
            }
        }
        config.extend(taken.config.clone());
        let chosen = self.chosen.iter();
        shown.given.extend(
            chosen.filter_map(|(question, value)| {
                words(tree.question(*question), tree.value(*value))
            }),
        );
        let fields = self.chart.context.keys();
        let changes = fields.filter_map(|field| {
            let [before, after] = [&taken.before, &after.context].map(|held| held.get(field));
            (before != after).then(|| Change {
                field: field.clone(),
                before: before.map(plain).unwrap_or_default(),
                after: after.map(plain).unwrap_or_default(),
            })
        });
        shown.changes = changes.collect();
        shown
    }

    /// Returns in words what happens on an edge.
    fn event(&self, edge: &Edge) -> String {
        let Move { trigger, actor } = &self.search.moves.all[edge.mover];
        let answered = edge.answered.iter();
        let mut answered = answered.map(|(asked, _)| self.search.moves.tree.question(*asked));
        let answer = match answered.next() {
            Some(Question::Answered { answer, .. }) => answer,
            _ => "the answer",
        };
        match (trigger, actor) {
            (Some(Trigger::Hook(name)), _) => format!("The event {name}"),
            (Some(Trigger::Enter { phase, .. }), _) => format!("The agent enters {phase}"),
            (Some(Trigger::Command(name)), _) => format!("The user runs {name}"),
            (None, Actor::Agent) => format!("The agent writes {answer}"),
            (None, Actor::Host | Actor::User) => format!("The user deletes {answer}"),
        }
    }

    /// Returns the review that runs on an edge, and how it ends.
    fn review(&self, edge: &Edge) -> Option<String> {
        let run = self.search.run(edge)?;
        let Invocation { cycle, n, .. } = &run.invocation;
        Some(match &run.outcome {
            Outcome::Ran { verdict, .. } => {
                let verdict = verdict.as_deref().unwrap_or("no verdict");
                format!("{cycle} {n} gives {verdict}")
            }
            Outcome::Failed(_) => format!("{cycle} {n} fails"),
            Outcome::Gate(gate) => {
                format!("{cycle} does not start: a gate fails, {} in a row", gate.times)
            }
        })
    }
}
