//! The evaluation of a part in an imagined world, and its result as numbers.

use super::walk::Descent;
use super::{Exit, Leaf, Node, Progress, Segment, Tail, Target, Tree, Turn, What};
use crate::engine::context::{to_json, to_value};
use crate::engine::decide::{self, Flow, Part};
use crate::engine::decision::{Answer as Reply, Ended, Fired, Invocation, Outcome, Step};
use crate::engine::evaluator::Evaluator as _;
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::explore::answer::Answer;
use crate::explore::imagined_world::{
    Base, Expression, ImaginedWorld, Kind, Question, is_of_the_host,
};
use crate::explore::state::number;
use crate::expr::ExprError;
use crate::expr::source::{Literal, Text};
use crate::reviewer::finding::Found;
use std::rc::Rc;
use std::sync::Arc;

impl Tree {
    /// Evaluates a part, and grows its tree from a node on by the path that it took.
    pub(super) fn evaluate(&mut self, descent: &Descent<'_>, mut node: u32) {
        let (at, state, segment) = (descent.at, &descent.at.state, descent.at.segment);
        let shared = |value: u32| Arc::clone(&self.values[value as usize]);
        let fields = state.fields().iter().map(|value| shared(*value));
        let asked = |question: u32| Arc::clone(&self.questions[question as usize]);
        // Of what is left, the way to this node takes the first.
        let chosen = descent.all().into_iter();
        let chosen = chosen.filter_map(|(asked, left)| Some((asked, *self.members(left).first()?)));
        let answers = state.answered().into_iter().chain(chosen);
        let answers = answers.map(|(question, value)| (asked(question), shared(value)));
        let run = segment.review.map(|run| &self.runs[run as usize].outcome);
        let base = Base {
            fields: fields.collect(),
            started: state.is_started(),
            has_failed: matches!(run, Some(Outcome::Failed(_))),
            is_hook: is_of_the_host(at.trigger),
            answers: answers.collect(),
            part: Some(number(self.parts.insert_full(segment.what).0)),
        };
        let fork = ImaginedWorld::new(&self.domain, base);
        let leaf = self.leaf(at, &fork);
        let leaf = leaf.unwrap_or_else(|fault| self.failed(fault));
        let leaf = number(self.leaves.insert_full(Rc::new(leaf)).0);
        // The first questions are those on the way to the node.
        for asked in fork.account().into_iter().skip(descent.depth) {
            let question = number(self.questions.insert_full(Arc::new(asked.question)).0);
            let answer = self.answer_id(&asked.answer);
            let options = asked.options.iter().map(|it| self.answer_id(it)).collect();
            self.nodes[node as usize] = Node::Ask { question, options };
            node = self.next(node, answer);
        }
        self.nodes[node as usize] = Node::Leaf(leaf);
    }

    /// Evaluates a part in a world.
    fn leaf(&mut self, at: &Progress<'_>, fork: &ImaginedWorld) -> Result<Leaf, Fault> {
        let (segment, names) = (at.segment, fork.names(at.trigger));
        if let Some(review) = segment.review {
            names.set_review(Arc::new(self.runs[review as usize].clone()));
        }
        let part = match segment.what {
            What::Outcome { question, .. } => {
                let Question::Outcome(expression) = self.question(question) else {
                    return Ok(Leaf::Part(Vec::new()));
                };
                let value = outcome(fork, &names, expression);
                let value = value.unwrap_or_else(|error| Answer::Fails(Some(error.into())));
                return Ok(Leaf::Value(self.answer_id(&value)));
            }
            What::Check { list, index } => {
                let mut found = Vec::new();
                let count = match names.find(&self.chart.checks[list][index], &mut found) {
                    Ok(()) => Answer::Value(found.len().into()),
                    Err(error) => Answer::Fails(Some(error.into())),
                };
                return Ok(Leaf::Value(self.answer_id(&count)));
            }
            What::Head(_) => decide::head(names, at.trigger)?,
            What::Rule { list, index } => {
                let (on, name) = (&self.chart.on, &self.chart.on.keys()[list]);
                decide::rule(names, name, index, &on[list][index])?
            }
        };
        Ok(Leaf::Part(self.exits(segment, part)))
    }

    /// Returns the result of a part that fails. A command reports an option that does not fit, and changes nothing.
    fn failed(&mut self, fault: Fault) -> Leaf {
        let is_reported = matches!(fault, Fault::Argument { .. });
        let fault = self.fault(fault);
        let exit = (!is_reported).then(|| Exit::failed(Tail::default(), fault));
        Leaf::Part(exit.into_iter().collect())
    }

    /// Returns the ways in which a decision can go on after a part, with the values as numbers.
    fn exits(&mut self, segment: Segment, part: Part) -> Vec<Exit> {
        let decision = part.decision;
        let chart = Arc::clone(&self.chart);
        let review = decision.ended.map(|mut ended| {
            ended.invocation = seen_by_rules(ended.invocation);
            if matches!(ended.outcome, Outcome::Failed(_)) {
                ended.outcome = failed();
            }
            number(self.runs.insert_full(ended).0)
        });
        let mut tail = Tail {
            block: part.flow == Flow::Answered && matches!(decision.answer, Reply::Block(_)),
            review,
            ..Tail::default()
        };
        for (name, value) in &decision.patch {
            if let Some(field) = self.field(name) {
                let domain = Arc::clone(&self.domain);
                let held = domain.held(name, value);
                tail.assigned.push((field, self.answer_id(&held)));
            }
        }
        for Fired { place, advance } in decision.fired {
            let phase = place.strip_prefix("phases.");
            let entry = phase.and_then(|name| chart.phases.get(name));
            let mut armed = entry.and_then(|entry| entry.phase.arms.as_ref());
            if let Some((cycle, index)) = advance
                && let Some((at, _, cycle)) = chart.cycles.get_full(&cycle)
            {
                tail.advanced = vec![Target { cycle: at, index }];
                armed = Some(&cycle.advance[index].target);
            }
            if let Some(armed) = armed {
                tail.arms = chart.cycles.get_index_of(armed).into_iter().collect();
            }
            tail.fired.push(number(self.places.insert_full(place).0));
        }
        let mut exits = Vec::new();
        if let Some(fault) = decision.swallowed {
            exits.push(Exit::failed(tail.clone(), self.fault(fault)));
        }
        let (tail, turn) = match part.flow {
            Flow::On => (tail, Turn::On),
            Flow::Answered => (tail, Turn::Ended),
            Flow::Leave(Step::Done(_)) => (Tail::default(), Turn::Gone),
            // The second call of `decide` takes the parts so far as the first one did: it is the same world.
            // So it is taken up behind the rule that invokes, once for each way in which the run can end.
            Flow::Leave(Step::Invoke(invocation)) => {
                if let What::Rule { list, index } = segment.what {
                    let place = format!("on.{}[{index}]", chart.on.keys()[list]);
                    tail.fired.push(number(self.places.insert_full(place).0));
                }
                for ended in self.endings(seen_by_rules(*invocation)) {
                    tail.review = Some(number(self.runs.insert_full(ended).0));
                    exits.push(Exit { tail: tail.clone(), turn: Turn::On });
                }
                return exits;
            }
        };
        exits.push(Exit { tail, turn });
        exits
    }

    /// Returns the ways in which a run can end: each verdict, none, failed. Or a gate fails, as often as a rule may ask
    /// for.
    fn endings(&self, invocation: Invocation) -> Vec<Ended> {
        let invoke = self.chart.invoke.get(&invocation.name);
        let verdicts = invoke.into_iter().flat_map(|invoke| &invoke.verdicts);
        let ran = verdicts.cloned().map(Some).chain([None]);
        // What it found is asked where a rule looks at it.
        let ran = ran.map(|verdict| Outcome::Ran { verdict, found: Found::default() });
        let own = ran.chain([failed()]);
        let own = own.map(|outcome| Ended::new(invocation.clone(), outcome));
        // After a gate that fails, no rule sees which review was not started.
        let unseen = Invocation { cycle: invocation.cycle.clone(), ..Invocation::default() };
        let gates = self.domain.gate().map(Outcome::Gate);
        let gates = gates.map(|outcome| Ended::new(unseen.clone(), outcome));
        own.chain(gates).collect()
    }
}

/// Returns the outcome of a run that failed, for whichever reason: of that, nothing is known.
fn failed() -> Outcome {
    Outcome::Failed("it failed".to_owned())
}

/// Returns of a request what rules see of it once it has run. What only the process gets, such as its arguments and its
/// time limit, leads to no other state.
fn seen_by_rules(invocation: Invocation) -> Invocation {
    Invocation {
        name: invocation.name,
        cycle: invocation.cycle,
        n: invocation.n,
        file: invocation.file,
        ..Invocation::default()
    }
}

/// Returns the value of an expression by itself.
fn outcome(
    fork: &ImaginedWorld,
    names: &Arc<Names>,
    expression: &Expression,
) -> Result<Answer, ExprError> {
    let Expression { kind, source, it, .. } = expression;
    let expressions = &names.expressions;
    let root = match it {
        Some(it) => names.root_with(to_value(it)),
        None => names.root(),
    };
    Ok(match kind {
        Kind::Condition => {
            let holds = fork.parts_hold(expression);
            let holds = holds.map_or_else(|| expressions.holds(source, &root), Ok);
            fork.condition(source, holds)?.into()
        }
        Kind::Text => {
            let whole = || {
                let made = expressions.text(&Text(source.clone()), &root);
                let made = made.map(|text| vec![text]);
                fork.text(source, made).map(drop)
            };
            fork.text_of_pieces(expression).unwrap_or_else(whole)?;
            true.into()
        }
        Kind::Items => (!expressions.items(source, &root)?.is_empty()).into(),
        Kind::Value | Kind::Let => {
            let value = match kind {
                Kind::Let => expressions.value(source, &root)?,
                _ => expressions.literal(&Literal::Text(Text(source.clone())), &root)?,
            };
            to_json(&value).map_or(Answer::AsItIs, Answer::held)
        }
    })
}
