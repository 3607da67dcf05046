//! What can happen in a state: the moves of the host, the agent and the user, and the results of each.

mod parts;
mod tails;
mod witnesses;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use super::answer::Answer;
use super::decision_tree::{Leaf, Progress, Segment, Tail, Tree, What, Witness};
use super::imagined_world::is_of_the_host;
use super::state::{Chosen, Look, Looks, Memo, Situation, TRUE};
use crate::chart::Chart;
use crate::engine::event::Trigger;
use crate::expr::ExprError;
use rustc_hash::FxHashMap;
use tails::Tails;

/// The field of a Stop event that says that the agent continues because of a block.
const ACTIVE: &str = "stop_hook_active";

/// Who makes a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actor {
    /// The host: the agent stops, or something else happens in the session.
    Host,
    Agent,
    User,
}

/// Something that can happen.
#[derive(Debug, Clone)]
pub(crate) struct Move {
    pub(crate) actor: Actor,
    /// What is decided about; `None`: the agent writes the answer to the last review.
    pub(crate) trigger: Option<Trigger>,
}

impl Move {
    /// Returns the place of the phase that is entered, or of the command that is run.
    pub(crate) fn place(&self) -> Option<String> {
        match self.trigger.as_ref()? {
            Trigger::Hook(_) => None,
            Trigger::Enter { phase, .. } => Some(format!("phases.{phase}")),
            Trigger::Command(name) => Some(format!("commands.{name}")),
        }
    }
}

/// A field or a setting that the user sets, and its value, by their numbers.
pub(crate) type Setting = (usize, u32);

/// The result of a move.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Edge {
    pub(crate) mover: usize,
    /// What the parameters must be: fields and sets of values.
    pub(crate) needs: Vec<(usize, u32)>,
    /// Parameters and their new values.
    pub(crate) sets: Vec<Setting>,
    /// The question whether a review is answered, where this move answers it.
    pub(crate) answered: Option<Chosen>,
    /// `stop_hook_active`, where it was looked at.
    pub(crate) active: Option<bool>,
    /// All else that the decision does.
    pub(crate) done: Tail,
}

impl Edge {
    /// Returns the same edge for any values of the parameters.
    pub(crate) fn without_needs(&self) -> Self {
        Self { needs: Vec::new(), ..self.clone() }
    }
}

/// How a move ends.
pub(crate) struct Ending {
    pub(crate) edge: Edge,
    /// The tail of the decision; `None` where the file that answers a review is written or deleted.
    pub(super) tail: Option<u32>,
}

/// Whether something holds, and what was chosen for that.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) result: Result<bool, ExprError>,
    pub(crate) choices: Witness,
}

/// Returns an event that brings nothing.
pub(crate) fn by_hand() -> Trigger {
    Trigger::Command(String::new())
}

/// All moves of a chart.
#[derive(Debug)]
pub(crate) struct Moves {
    pub(crate) tree: Tree,
    pub(crate) all: Vec<Move>,
    /// The results of decisions from one part on.
    rests: FxHashMap<Segment, Memo<Rc<[u32]>>>,
    tails: Tails,
}

impl Moves {
    /// Returns the host's moves, then the agent's, then the user's, each in the order of the chart.
    pub(crate) fn of(chart: &Arc<Chart>, grown: &BTreeSet<String>) -> Self {
        let events = chart.on.keys().cloned();
        let events = events.filter(|name| !matches!(name.as_str(), "enter" | "run"));
        let events = events.map(Trigger::Hook);
        let (hooks, asked): (Vec<Trigger>, Vec<Trigger>) = events.partition(is_of_the_host);
        let enters =
            chart.phases.keys().cloned().map(|phase| Trigger::Enter { phase, force: false });
        let commands = chart.commands.keys().cloned().map(Trigger::Command);
        let answer = (!chart.cycles.is_empty()).then_some(None);
        let asked = asked.into_iter().chain(enters).map(Some);
        let by = |actor: Actor| move |trigger: Option<Trigger>| Move { actor, trigger };
        let host = hooks.into_iter().map(Some).map(by(Actor::Host));
        let agent = answer.clone().into_iter().chain(asked);
        let user = commands.map(Some).chain(answer).map(by(Actor::User));
        let all = host.chain(agent.map(by(Actor::Agent))).chain(user);
        let mut tails = Tails::default();
        tails.number(Tail::default());
        Self {
            tree: Tree::of(chart, grown),
            all: all.collect(),
            rests: FxHashMap::default(),
            tails,
        }
    }

    /// Returns all results of a move in a state, and what it looks at there.
    pub(crate) fn endings_of(
        &mut self,
        mover: usize,
        state: &Situation,
        looks: &mut Looks,
    ) -> Vec<Ending> {
        match self.all[mover].trigger.clone() {
            Some(trigger) => {
                let head = Progress::of(What::Head(mover), &trigger, state);
                let tails = self.part(&head, looks);
                let endings = tails.iter().map(|tail| Ending {
                    edge: self.edge(mover, state, *tail, looks),
                    tail: Some(*tail),
                });
                endings.collect()
            }
            None => {
                let edge = self.answer(mover, state, looks).into_iter();
                edge.map(|edge| Ending { edge, tail: None }).collect()
            }
        }
    }

    /// Returns the same moves for finding witnesses, with all known results; `self` forgets those.
    pub(crate) fn hand_over(&mut self) -> Self {
        Self {
            tree: self.tree.hand_over(),
            all: self.all.clone(),
            rests: std::mem::take(&mut self.rests),
            tails: std::mem::take(&mut self.tails),
        }
    }

    /// Returns whether a condition holds in a state or a check finds something there, under each combination of choices
    /// that it looks at.
    pub(crate) fn outcomes(&mut self, at: &Progress<'_>, looks: &mut Looks) -> Vec<Outcome> {
        let ends = self.tree.walk(at, looks);
        let tree = &self.tree;
        let results = ends.iter().flat_map(|end| {
            let result = match &*tree.leaves[end.leaf as usize] {
                Leaf::Value(value) => match tree.answer_of(*value) {
                    Answer::Fails(Some(error)) => Err((**error).clone()),
                    value => Ok(*value == true.into() || value.value().as_u64() > Some(0)),
                },
                Leaf::Part(_) => Ok(false),
            };
            let witnesses = tree.witnesses(&end.choices()).into_iter();
            witnesses.map(move |choices| Outcome { result: result.clone(), choices })
        });
        results.collect()
    }

    /// Lets the agent write the file that answers the last review of the running cycle, or the user delete it.
    fn answer(&mut self, mover: usize, state: &Situation, looks: &mut Looks) -> Option<Edge> {
        let is_written = self.all[mover].actor == Actor::Agent;
        looks.insert(Look::ANSWERED);
        looks.extend(self.tree.due.map(Look::field));
        let cycle = self.tree.running(state)?;
        let names = self.tree.fields_of_names[cycle].iter();
        looks.extend(names.map(|field| Look::field(*field)));
        let question = self.tree.last_answer(cycle, state.fields())?;
        let is_answered = state.answered() == Some((question, TRUE));
        (is_written != is_answered).then(|| Edge {
            mover,
            answered: Some((question, u32::from(is_written))),
            ..Edge::default()
        })
    }
}
