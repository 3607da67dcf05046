//! What can happen in a state: the moves of the host, the agent and the user, and what comes of each.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value as Json;

use super::decision_tree::{Choices, Leaf, Segment, Tree, Turn, What};
use super::domain::Choice;
use super::imagined_world::{Question, is_of_the_host};
use super::plain::plain;
use super::state::{Looks, Situation, StateRef, number};
use crate::chart::Chart;
use crate::engine::decide::rules_of;
use crate::engine::decision::{Ended, Outcome};
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use rustc_hash::FxHashMap;

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

/// What comes of a move.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Edge {
    pub(crate) mover: usize,
    /// What the parameters must be: fields and their values.
    pub(crate) needs: Vec<(usize, u32)>,
    /// Parameters and their new values.
    pub(crate) sets: Vec<(usize, u32)>,
    /// Other fields and their new values.
    pub(crate) assigned: Vec<(usize, u32)>,
    /// The question whether a review is answered, where this move answers it.
    pub(crate) answered: Option<(u32, bool)>,
    /// The agent is not let go.
    pub(crate) block: bool,
    /// `stop_hook_active`, where it was looked at.
    pub(crate) active: Option<bool>,
    /// The run that ended in the course of the decision.
    pub(crate) review: Option<u32>,
    /// The cycles that start over.
    pub(crate) arms: Vec<usize>,
    /// Why there is no decision.
    pub(crate) fault: Option<u32>,
}

impl Edge {
    /// A move that changes nothing.
    fn of(mover: usize) -> Self {
        Self {
            mover,
            needs: Vec::new(),
            sets: Vec::new(),
            assigned: Vec::new(),
            answered: None,
            block: false,
            active: None,
            review: None,
            arms: Vec::new(),
            fault: None,
        }
    }
}

/// How an edge comes about; of several ways, one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Story {
    /// The rules that fired.
    pub(crate) fired: Vec<u32>,
    pub(crate) choices: Choices,
}

/// A decision between two of its parts: the state as they have made it, and what was chosen.
#[derive(Debug, Clone)]
struct Standing {
    situation: Situation,
    choices: Choices,
}

/// What comes of a decision from one of its parts on.
#[derive(Debug, Clone)]
struct Tail {
    end: End,
    assigned: Vec<(usize, u32)>,
    choices: Choices,
    fired: Vec<u32>,
    arms: Vec<usize>,
    review: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done { block: bool },
    Fault(u32),
}

impl Tail {
    fn of(end: End) -> Self {
        Self {
            end,
            assigned: Vec::new(),
            choices: Vec::new(),
            fired: Vec::new(),
            arms: Vec::new(),
            review: None,
        }
    }

    /// True where what follows is the same with this before it.
    fn says_nothing(&self) -> bool {
        self.assigned.is_empty()
            && self.choices.is_empty()
            && self.fired.is_empty()
            && self.arms.is_empty()
            && self.review.is_none()
    }

    /// This, and after it `rest`.
    fn then(&self, rest: &Self) -> Self {
        let kept = self
            .assigned
            .iter()
            .filter(|(field, _)| rest.assigned.iter().all(|(later, _)| later != field));
        Self {
            end: rest.end,
            assigned: kept.chain(&rest.assigned).copied().collect(),
            choices: [self.choices.as_slice(), &rest.choices].concat(),
            fired: [self.fired.as_slice(), &rest.fired].concat(),
            arms: [self.arms.as_slice(), &rest.arms].concat(),
            review: rest.review.or(self.review),
        }
    }
}

/// What comes of decisions from one part on, by what they look at.
#[derive(Debug, Default)]
struct Rest {
    looks: Looks,
    tails: FxHashMap<Box<[u32]>, Rc<[Tail]>>,
}

/// The rules and targets that came to something.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    /// Places of rules that fired.
    pub(crate) fired: HashSet<u32>,
    /// Rules whose guard was evaluated: (list, index).
    pub(crate) tried: HashSet<(usize, usize)>,
    /// Advance targets that were taken: (cycle, index).
    pub(crate) advanced: HashSet<(usize, usize)>,
}

/// All moves of a chart.
#[derive(Debug)]
pub(crate) struct Moves {
    pub(crate) tree: Tree,
    pub(crate) all: Vec<Move>,
    pub(crate) coverage: Coverage,
    pub(crate) faults: Vec<Fault>,
    rests: FxHashMap<Segment, Rest>,
}

impl Moves {
    /// The host's moves, then the agent's, then the user's, each in the order of the chart.
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        let events = chart
            .on
            .keys()
            .filter(|name| !matches!(name.as_str(), "enter" | "run"))
            .map(|name| Trigger::Hook(name.clone()));
        let (hooks, asked): (Vec<Trigger>, Vec<Trigger>) = events.partition(is_of_the_host);
        let enters = chart.phases.keys().map(|phase| Trigger::Enter {
            phase: phase.clone(),
            force: false,
        });
        let commands = chart
            .commands
            .keys()
            .map(|name| Trigger::Command(name.clone()));
        let by = |actor: Actor| {
            move |trigger: Trigger| Move {
                actor,
                trigger: Some(trigger),
            }
        };
        let answer = (!chart.cycles.is_empty()).then_some(Move {
            actor: Actor::Agent,
            trigger: None,
        });
        let all = hooks
            .into_iter()
            .map(by(Actor::Host))
            .chain(answer)
            .chain(asked.into_iter().map(by(Actor::Agent)))
            .chain(enters.map(by(Actor::Agent)))
            .chain(commands.map(by(Actor::User)));
        Self {
            tree: Tree::of(chart),
            all: all.collect(),
            coverage: Coverage::default(),
            faults: Vec::new(),
            rests: FxHashMap::default(),
        }
    }

    /// All that can come of a move in a state, and what it looked at there.
    pub(crate) fn edges(
        &mut self,
        mover: usize,
        state: StateRef<'_>,
    ) -> (Vec<(Edge, Story)>, Looks) {
        let mut looks = Looks::default();
        let edges = match self.all[mover].trigger.clone() {
            Some(trigger) => {
                let tails = self.decide(mover, &trigger, state, &mut looks);
                tails
                    .iter()
                    .map(|tail| self.edge(mover, state, tail))
                    .collect()
            }
            None => self.answer(mover, state, &mut looks),
        };
        (edges, looks)
    }

    /// Whether a condition holds in a state, under each combination of choices that it looks at; and what it
    /// looked at.
    pub(crate) fn holds(
        &mut self,
        condition: &str,
        state: StateRef<'_>,
    ) -> (Vec<Result<bool, Fault>>, Looks) {
        let mut looks = Looks::default();
        let index = self.tree.conditions.insert_full(condition.to_owned()).0;
        let segment = Segment {
            what: What::Condition(index),
            review: None,
            ended: None,
        };
        let trigger = Trigger::Command(String::new());
        let ends = self.tree.walk(segment, &trigger, state, &[], &mut looks);
        let results = ends.iter().map(|(leaf, _)| match leaf.as_ref() {
            Leaf::Holds(holds) => Ok(*holds),
            Leaf::Fault(fault) => Err(fault.clone()),
            Leaf::Part(_) => Ok(false),
        });
        (results.collect(), looks)
    }

    /// The agent writes the file that answers the last review of the running cycle.
    fn answer(
        &mut self,
        mover: usize,
        state: StateRef<'_>,
        looks: &mut Looks,
    ) -> Vec<(Edge, Story)> {
        let chart = Arc::clone(&self.tree.chart);
        looks.answered = true;
        if let Some(next) = chart.next.as_ref().and_then(|next| self.tree.field(next)) {
            looks.add(next);
        }
        let Some(cycle) = self.tree.running(state) else {
            return Vec::new();
        };
        for field in self.tree.fields_of_names(&chart.cycles[cycle]) {
            looks.add(field);
        }
        match self.tree.last_answer(cycle, state.fields()) {
            Some(question) if state.answered() != Some((question, true)) => {
                vec![(
                    Edge {
                        answered: Some((question, true)),
                        ..Edge::of(mover)
                    },
                    Story::default(),
                )]
            }
            _ => Vec::new(),
        }
    }

    // ── a decision, part by part, as `decide` takes it ──

    fn decide(
        &mut self,
        mover: usize,
        trigger: &Trigger,
        state: StateRef<'_>,
        looks: &mut Looks,
    ) -> Rc<[Tail]> {
        let (list, _) = rules_of(&self.tree.chart, trigger);
        let list = self.tree.lists.insert_full(list.to_owned()).0;
        let standing = Standing {
            situation: state.to_situation(),
            choices: Vec::new(),
        };
        let head = Segment {
            what: What::Head(mover),
            review: None,
            ended: None,
        };
        let rules = Segment {
            what: What::Rule { list, index: 0 },
            ..head
        };
        self.part(head, rules, trigger, &standing, looks)
    }

    /// What comes of the rules from one on, and what they look at.
    fn rest(
        &mut self,
        segment: Segment,
        trigger: &Trigger,
        standing: &Standing,
    ) -> (Rc<[Tail]>, Looks) {
        let mut key = Vec::new();
        if let Some(rest) = self.rests.get(&segment) {
            rest.looks
                .project(standing.situation.as_ref(), &standing.choices, &mut key);
            if let Some(tails) = rest.tails.get(key.as_slice()) {
                return (Rc::clone(tails), rest.looks.clone());
            }
        }
        let mut looks = Looks::default();
        let tails = self.rules(segment, trigger, standing, &mut looks);
        let rest = self.rests.entry(segment).or_default();
        if rest.looks.add_all(&looks) {
            // The keys so far do not tell enough apart any more.
            rest.tails.clear();
        }
        rest.looks
            .project(standing.situation.as_ref(), &standing.choices, &mut key);
        rest.tails.insert(key.into(), Rc::clone(&tails));
        (tails, rest.looks.clone())
    }

    fn rules(
        &mut self,
        segment: Segment,
        trigger: &Trigger,
        standing: &Standing,
        looks: &mut Looks,
    ) -> Rc<[Tail]> {
        let What::Rule { list, index } = segment.what else {
            return Rc::new([]);
        };
        let (_, rules) = rules_of(&self.tree.chart, trigger);
        if index == rules.len() {
            return Rc::new([Tail::of(End::Done { block: false })]);
        }
        self.coverage.tried.insert((list, index));
        let next = Segment {
            what: What::Rule {
                list,
                index: index + 1,
            },
            ended: None,
            ..segment
        };
        self.part(segment, next, trigger, standing, looks)
    }

    /// What comes of one part, and of those that follow it where none has answered.
    fn part(
        &mut self,
        here: Segment,
        next: Segment,
        trigger: &Trigger,
        standing: &Standing,
        looks: &mut Looks,
    ) -> Rc<[Tail]> {
        let state = standing.situation.as_ref();
        let ends = self
            .tree
            .walk(here, trigger, state, &standing.choices, looks);
        let is_only = ends.len() == 1;
        let mut tails: Vec<Tail> = Vec::new();
        for (leaf, choices) in ends {
            let part = match leaf.as_ref() {
                Leaf::Part(part) => part,
                // The command reports the option and changes nothing.
                Leaf::Fault(Fault::Argument { .. }) => continue,
                Leaf::Fault(fault) => {
                    let end = End::Fault(self.fault(fault));
                    tails.push(Tail {
                        choices,
                        ..Tail::of(end)
                    });
                    continue;
                }
                Leaf::Holds(_) => continue,
            };
            self.coverage.fired.extend(&part.fired);
            self.coverage.advanced.extend(part.advance);
            let first = Tail {
                end: End::Done {
                    block: matches!(part.turn, Turn::Answered { block: true }),
                },
                assigned: part.assigned.clone(),
                choices,
                fired: part.fired.clone(),
                arms: part.arms.into_iter().collect(),
                review: part.review,
            };
            if let Some(fault) = &part.swallowed {
                let end = End::Fault(self.fault(fault));
                tails.push(first.then(&Tail::of(end)));
            }
            let next = Segment {
                review: part.review.or(next.review),
                ..next
            };
            let nexts = match part.turn {
                Turn::Answered { .. } => {
                    tails.push(first);
                    continue;
                }
                Turn::Gone => continue,
                Turn::On => vec![next],
                // The second call of `decide` takes the parts so far as the first one did: it is the same world.
                // So it is taken up at the rule that invokes, once for each way in which the run can end.
                Turn::Invoke(invocation) => self.endings(invocation, here),
            };
            let after = self.after(standing, &first);
            for next in nexts {
                let (rest, mut seen) = self.rest(next, trigger, &after);
                // What this part has itself assigned or chosen was not there before it.
                for (field, _) in &part.assigned {
                    seen.remove(*field);
                    if let Some(question) = self.tree.parameter(*field) {
                        seen.remove_question(question);
                    }
                }
                first
                    .choices
                    .iter()
                    .for_each(|(question, _)| seen.remove_question(*question));
                looks.add_all(&seen);
                if is_only && first.says_nothing() && matches!(part.turn, Turn::On) {
                    return rest;
                }
                tails.extend(rest.iter().map(|rest| first.then(rest)));
            }
        }
        tails.into()
    }

    /// How a decision stands once a part has been taken.
    fn after(&mut self, standing: &Standing, part: &Tail) -> Standing {
        let mut after = standing.clone();
        for (question, value) in &part.choices {
            if self.is_about_an_answer(*question, standing.situation.as_ref().fields()) {
                // From here on it is known.
                after
                    .situation
                    .set_answered(Some((*question, self.tree.is_true(*value))));
            } else {
                after.choices.push((*question, *value));
            }
        }
        for (field, value) in &part.assigned {
            match self.tree.parameter(*field) {
                Some(question) => {
                    after.choices.retain(|(asked, _)| *asked != question);
                    after.choices.push((question, *value));
                }
                None => after.situation.assign(*field, *value),
            }
        }
        after
    }

    /// True for the question whether the last review of some cycle is answered.
    fn is_about_an_answer(&mut self, question: u32, fields: &[u32]) -> bool {
        if !matches!(
            self.tree.questions[question as usize],
            Question::Answered { .. }
        ) {
            return false;
        }
        (0..self.tree.chart.cycles.len())
            .any(|cycle| self.tree.last_answer(cycle, fields) == Some(question))
    }

    /// The ways in which a run can end: each verdict, none, failed.
    fn endings(&mut self, invocation: u32, here: Segment) -> Vec<Segment> {
        let invocation = self.tree.invocations[invocation as usize].clone();
        let invoke = self.tree.chart.invoke.get(&invocation.name);
        let verdicts = invoke
            .map(|invoke| invoke.verdicts.clone())
            .unwrap_or_default();
        let ran = verdicts
            .into_iter()
            .map(Some)
            .chain([None])
            .map(|verdict| Outcome::Ran { verdict });
        let endings: Vec<Outcome> = ran
            .chain([Outcome::Failed("it failed".to_owned())])
            .collect();
        let runs = endings.into_iter().map(|outcome| {
            let ended = Ended::new(invocation.clone(), outcome);
            let ended = number(self.tree.runs.insert_full(ended).0);
            Segment {
                ended: Some(ended),
                ..here
            }
        });
        runs.collect()
    }

    /// The number of a fault.
    fn fault(&mut self, fault: &Fault) -> u32 {
        let known = self.faults.iter().position(|known| known == fault);
        number(known.unwrap_or_else(|| {
            self.faults.push(fault.clone());
            self.faults.len() - 1
        }))
    }

    /// What a decision comes to that has been made.
    fn edge(&mut self, mover: usize, state: StateRef<'_>, tail: &Tail) -> (Edge, Story) {
        let mut answered = None;
        let mut active = None;
        let mut needs = Vec::new();
        for (question, value) in &tail.choices {
            let is_true = self.tree.is_true(*value);
            if let Question::Field(name) = &self.tree.questions[*question as usize] {
                needs.extend(self.tree.field(name).map(|field| (field, *value)));
            } else if self.is_about_an_answer(*question, state.fields()) {
                answered = Some((*question, is_true));
            } else if matches!(&self.tree.questions[*question as usize], Question::Choice(Choice::Event(name)) if name == ACTIVE)
            {
                active = Some(is_true);
            }
        }
        // A review that has just been written has no answer yet.
        if let Some(review) = tail.review
            && let Ended {
                invocation,
                outcome: Outcome::Ran { .. },
                ..
            } = &self.tree.runs[review as usize]
            && let Some(cycle) = self.tree.chart.cycles.get_index_of(&invocation.cycle)
        {
            let n = invocation.n;
            answered = self
                .tree
                .answer(cycle, n, state.fields())
                .map(|question| (question, false));
        }
        let all = tail.assigned.iter().copied();
        let (mut sets, mut assigned): (Vec<_>, Vec<_>) =
            all.partition(|(field, _)| self.tree.parameter(*field).is_some());
        sets.sort_unstable();
        assigned.sort_unstable();
        let edge = Edge {
            mover,
            needs,
            sets,
            assigned,
            answered,
            block: tail.end == End::Done { block: true },
            active,
            review: tail.review,
            arms: tail.arms.clone(),
            fault: match tail.end {
                End::Fault(fault) => Some(fault),
                End::Done { .. } => None,
            },
        };
        (
            edge,
            Story {
                fired: tail.fired.clone(),
                choices: tail.choices.clone(),
            },
        )
    }

    /// What was tried, one line for each input and each kind of move.
    pub(crate) fn domain_in_words(&self) -> Vec<String> {
        let chart = &self.tree.chart;
        let ground = &self.tree.ground;
        let list = |values: &[Json]| values.iter().map(plain).collect::<Vec<_>>().join(", ");
        let parameters = ground.domain.parameters.iter();
        let mut lines: Vec<String> = parameters
            .map(|(name, values)| format!("{name}: {}, set by the user at any time", list(values)))
            .collect();
        let asked = self
            .tree
            .questions
            .iter()
            .filter_map(|question| match question {
                Question::Choice(choice) => Some(choice.clone()),
                _ => None,
            });
        let choices: IndexSet<Choice> = asked.chain(ground.choices_of_checks()).collect();
        lines.extend(choices.iter().map(|choice| ground.domain.in_words(choice)));
        for (name, invoke) in &chart.invoke {
            lines.push(format!(
                "{name}: {}, no verdict, failed",
                invoke.verdicts.join(", ")
            ));
        }
        let hooks: Vec<&str> = self
            .all
            .iter()
            .filter_map(|one| match &one.trigger {
                Some(Trigger::Hook(name)) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        lines.push(format!("events: {}", hooks.join(", ")));
        let answers = if chart.cycles.is_empty() {
            ""
        } else {
            ", writes the answer to a review or does not"
        };
        lines.push(format!(
            "the agent: enters any phase whose guard holds{answers}, does nothing and stops again"
        ));
        if !chart.commands.is_empty() {
            let commands: Vec<&str> = chart.commands.keys().map(String::as_str).collect();
            lines.push(format!("the user: runs {}", commands.join(", ")));
        }
        lines.push("files and tables: chosen again at every event".to_owned());
        lines
    }
}
