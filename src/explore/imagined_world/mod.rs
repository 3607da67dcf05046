//! A world that is made up while a decision looks at it, and that keeps account of every look.
//!
//! What the state says is answered from the state. Anything else is a choice: the first value of its
//! domain, unless a value was chosen before. The account says what to choose differently the next time.

mod evaluator;
mod question;
mod table;
mod world;

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value as Json};

use super::answer::Answer;
use super::domain::{Choice, Domain, Made, field_of};
use crate::engine::evaluator::Evaluator;
use crate::engine::event::Trigger;
use crate::engine::names::Names;
use crate::engine::possible_world::event;
use crate::engine::world::World;
use crate::hash::IndexMap;
use crate::host::events::EVENTS;
pub(crate) use question::{Asked, Expression, Kind, Question};

/// What is known before a decision: what a state says of itself, and answers.
#[derive(Debug)]
pub(crate) struct Base {
    /// The context fields, in the chart's order.
    pub(crate) fields: Vec<Arc<Answer>>,
    pub(crate) started: bool,
    /// The run whose outcome is visible has failed: nothing is known of why.
    pub(crate) has_failed: bool,
    /// True where the event is a hook's, whose session is a field of the event.
    pub(crate) is_hook: bool,
    /// What is known, what was chosen, what was assumed and the values of expressions that are evaluated by themselves.
    pub(crate) answers: Vec<(Arc<Question>, Arc<Answer>)>,
    /// The part of the decision, by number. Each is taken once, and assumes for itself. `None`: all of it, in which nothing
    /// is evaluated by itself.
    pub(crate) part: Option<u32>,
}

/// The world of one decision.
#[derive(Debug, Clone)]
pub(crate) struct ImaginedWorld {
    domain: Arc<Domain>,
    base: Arc<Base>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl ImaginedWorld {
    /// Returns a world in which this is known, and nothing was asked yet.
    pub(crate) fn new(domain: &Arc<Domain>, base: Base) -> Self {
        Self { domain: Arc::clone(domain), base: Arc::new(base), asked: Arc::default() }
    }

    /// Returns the names of a decision in this world.
    pub(crate) fn names(&self, trigger: &Trigger) -> Arc<Names> {
        // What it brings is chosen where it is looked at.
        let event = event(trigger.clone(), Map::new());
        let world: Arc<dyn World> = Arc::new(self.clone());
        let evaluator: Arc<dyn Evaluator> = Arc::new(self.clone());
        let expressions = Arc::clone(&self.domain.expressions);
        Names::with(expressions, &self.domain.chart, (&world, &evaluator), &event)
    }

    /// Returns the answer to a question, where it is known before the decision.
    fn answer_to(&self, question: &Question) -> Option<&Arc<Answer>> {
        let mut answers = self.base.answers.iter();
        let (_, answer) = answers.find(|(asked, _)| **asked == *question)?;
        Some(answer)
    }

    /// Returns the questions so far, which are then forgotten.
    pub(crate) fn account(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked())
    }

    /// Returns the questions so far.
    fn asked(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to a question that was asked.
    fn known(&self, question: &Question) -> Option<Arc<Answer>> {
        let asked = self.asked();
        let known = asked.iter().find(|asked| asked.question == *question)?;
        Some(Arc::clone(&known.answer))
    }

    /// Writes a question down, with its answer.
    fn note(&self, question: Question, options: Arc<[Answer]>, answer: &Arc<Answer>) {
        self.asked().push(Asked { question, options, answer: Arc::clone(answer) });
    }

    /// Returns a context field, or a setting by its whole name.
    fn read(&self, name: &str) -> Json {
        match World::field(self, name) {
            Some(held) => held.clone(),
            None => self.setting(name).value().clone(),
        }
    }

    /// Returns what can be chosen for a field: nothing but for what a user sets at any time.
    fn options_of(&self, field: usize) -> Arc<[Answer]> {
        let options = self.domain.parameters.get(&field);
        options.map_or_else(Arc::default, Arc::clone)
    }

    /// Returns a setting by its whole name, which a user sets at any time.
    fn setting(&self, name: &str) -> Arc<Answer> {
        match field_of(&self.domain.chart, name) {
            Some(field) => self.ask(Question::Field(field), || self.options_of(field)),
            None => Arc::new(Answer::Value(Json::Null)),
        }
    }

    /// Returns the values of a choice, with the fields that they depend on as they stand.
    fn options(&self, choice: &Choice) -> Arc<[Answer]> {
        let made = self.domain.found_out.values.lock();
        let mut made = made.unwrap_or_else(PoisonError::into_inner);
        let known = made.entry(choice.clone()).or_default();
        let is_like = |(field, held): &(String, Json)| self.read(field) == *held;
        if let Some(known) = known.iter().find(|made| made.held.iter().all(is_like)) {
            return Arc::clone(&known.values);
        }
        let held: RefCell<IndexMap<String, Json>> = RefCell::default();
        let read = |field: &str| {
            let value = self.read(field);
            held.borrow_mut().insert(field.to_owned(), value.clone());
            value
        };
        let values = self.domain.reading(&read).of(choice).into_iter();
        let values: Arc<[Answer]> = values.map(Answer::Value).collect();
        known.push(Made { held: held.take().into_iter().collect(), values: Arc::clone(&values) });
        values
    }

    /// Returns what was chosen, else the first value.
    fn choose(&self, choice: Choice) -> Arc<Answer> {
        let question = Question::Choice(choice.clone());
        self.ask(question, || self.options(&choice))
    }

    /// Returns the answer to a question: as before, as it was chosen, else the first of its options.
    fn ask(&self, question: Question, options: impl FnOnce() -> Arc<[Answer]>) -> Arc<Answer> {
        if let Some(answer) = self.known(&question) {
            return answer;
        }
        let options = options();
        let first = || options.first().cloned();
        let first = || Arc::new(first().unwrap_or(Answer::Value(Json::Null)));
        let answer = self.answer_to(&question).map_or_else(first, Arc::clone);
        self.note(question, options, &answer);
        answer
    }
}

/// Returns true for an event that the host sends; `next` is asked by hand.
pub(crate) fn is_of_the_host(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::Hook(name) if EVENTS.iter().any(|(_, event)| event == name))
}
