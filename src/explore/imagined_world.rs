//! A world that is made up while a decision looks at it, and that keeps account of every look.
//!
//! What the state says is answered from the state. Anything else is a choice: the first value of its
//! domain, unless a value was chosen before. The account says what to choose differently the next time.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Enumerator, Object, ObjectRepr, Value};
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};

use super::answer::Answer;
use super::counters::is_read_by_the_engine;
use super::dependence::Openness;
use super::domain::{Choice, Domain, config_path};
use super::pieces::{Formula, Piece, choice, formula, pieces};
use crate::chart::field::name_part;
use crate::chart::model::{Check, FieldType};
use crate::chart::{Chart, RowShape};
use crate::engine::context::to_value;
use crate::engine::evaluator::{Evaluator, Given, Unfit};
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::world::{Source, World};
use crate::expr::source::{Expr, Literal};
use crate::expr::{ExprError, Expressions};
use crate::expr::{has_holes, single_expression};
use crate::host::events::EVENTS;

/// What a decision asks of a world.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// A context field, or a setting: `config.NAME`.
    Field(String),
    /// Whether there is a state yet.
    Started,
    /// Whether the answer to a review is there, and written after it.
    Answered { answer: String, review: String },
    /// What neither the state nor the chart determines.
    Choice(Choice),
    /// The result of an expression, where trying values of its inputs does not decide that.
    Assumed {
        /// The context field that is assigned the result; of conditions and texts there is none.
        field: Option<String>,
        source: String,
        place: Arc<str>,
    },
    /// The value of an expression that is evaluated by itself.
    Outcome { kind: Kind, source: String },
}

/// What is asked of an expression that is evaluated by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Whether it holds, as a condition of the chart.
    Condition,
    /// Nothing but that it can be made.
    Text,
    /// Whether the list has items.
    Items,
    /// Its value.
    Value,
}

/// One question of a decision, in the order in which they were asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// What it can be answered where the state does not say.
    pub(crate) options: Arc<[Answer]>,
    pub(crate) answer: Arc<Answer>,
}

/// What one exploration shares between its worlds.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) chart: Arc<Chart>,
    pub(crate) domain: Domain,
    pub(crate) expressions: Arc<Expressions>,
    /// The values that are tried for what a user sets at any time, by name.
    parameters: FxHashMap<String, Arc<[Answer]>>,
    /// The options of a field, which has none.
    none: Arc<[Answer]>,
    /// Values that were made before: by the choice and what they depend on.
    values: Mutex<FxHashMap<Choice, Made>>,
    /// What expressions and texts reach, by their sources.
    reaches: Mutex<FxHashMap<String, Reach>>,
    /// What the chart's texts and conditions are made of.
    pieces: Mutex<FxHashMap<String, Arc<[Piece]>>>,
    formulas: Mutex<FxHashMap<String, Arc<Formula>>>,
}

/// The values of one choice: the fields that they depend on, and by what these hold, the values.
#[derive(Debug, Default)]
struct Made {
    fields: Vec<String>,
    values: FxHashMap<Vec<Json>, Arc<[Answer]>>,
}

/// What an expression looks at, by way of others, too.
#[derive(Debug, Default, Clone, Copy)]
struct Reach {
    /// The outcome of a run.
    review: bool,
    /// What the actions of the rule do.
    touched: bool,
    /// The item of a list, or the phase that is entered.
    it: bool,
    /// Something of a cycle that trying values does not settle.
    open: bool,
}

impl Ground {
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        let domain = Domain::of(chart);
        let parameters = domain.parameters.iter().map(|(name, values)| {
            let values = values.iter().cloned().map(Answer::Value);
            (name.clone(), values.collect())
        });
        Self {
            parameters: parameters.collect(),
            chart: Arc::clone(chart),
            domain,
            expressions: Arc::new(Expressions::new(chart.templates.clone())),
            reaches: Mutex::default(),
            pieces: Mutex::default(),
            formulas: Mutex::default(),
            none: Arc::new([]),
            values: Mutex::default(),
        }
    }

    /// What an expression or a text reaches.
    fn reach(&self, source: &str) -> Reach {
        let mut reaches = self.reaches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reach) = reaches.get(source) {
            return *reach;
        }
        let chart = &self.chart;
        let mut reach = Reach::default();
        let mut seen: HashSet<String> = HashSet::new();
        let mut open = vec![source.to_owned()];
        while let Some(source) = open.pop() {
            let has_include = source.contains("{%") && source.contains("include");
            let mut names = self.expressions.names_in(&source);
            names.extend(has_include.then(|| "{%".to_owned()));
            for name in names {
                let mut parts = name.split('.');
                let (root, key) = (parts.next().unwrap_or_default(), parts.next());
                if chart.context.contains_key(root)
                    || !seen.insert(format!("{root}.{}", key.unwrap_or_default()))
                {
                    continue;
                }
                match root {
                    // The outcome of a run.
                    "review" | "gate" => reach.review = true,
                    "touched" => reach.touched = true,
                    "it" => reach.it = true,
                    "cycle" => {
                        for cycle in chart.cycles.values() {
                            let guards = cycle.advance.iter();
                            let guards = guards.filter_map(|target| target.guard.as_ref());
                            let conditions: Vec<&Expr> = match key {
                                Some("exit") => vec![&cycle.exit],
                                Some("ready") => cycle.ready.iter().collect(),
                                Some("next") => guards.collect(),
                                Some(_) => Vec::new(),
                                None => guards.chain(&cycle.ready).chain([&cycle.exit]).collect(),
                            };
                            let texts = cycle
                                .text
                                .values()
                                .filter(|_| key.is_none_or(|key| key == "text"));
                            let subject = cycle
                                .subject
                                .iter()
                                .filter(|_| key.is_none_or(|key| key == "subject"));
                            for (kind, source) in
                                (conditions.iter().map(|expr| (Kind::Condition, &expr.0)))
                                    .chain(texts.map(|text| (Kind::Text, &text.0)))
                                    .chain(subject.map(|text| (Kind::Items, &text.0)))
                            {
                                reach.open |= self.is_open(kind, source);
                                open.push(source.clone());
                            }
                        }
                    }
                    "args" => {
                        for arg in chart.args.values() {
                            open.extend(arg.one_of.iter().map(|expr| expr.0.clone()));
                            if let Some(Literal::Text(text)) = &arg.default {
                                open.push(text.0.clone());
                            }
                        }
                    }
                    "checks" => {
                        for check in chart.checks.values().flatten() {
                            let conditions = check.each.iter().chain(&check.guard);
                            open.extend(conditions.map(|expr| expr.0.clone()));
                            open.push(check.say.0.clone());
                        }
                    }
                    "prompts" => {
                        open.extend(chart.prompts.vars.values().map(|expr| expr.0.clone()));
                    }
                    "{%" => {
                        let texts = chart.templates.names().into_iter();
                        open.extend(texts.filter_map(|name| chart.template(&name).ok()));
                    }
                    _ => open.extend(chart.lets.get(root).map(|expr| expr.0.clone())),
                }
            }
        }
        reaches.insert(source.to_owned(), reach);
        reach
    }

    /// True where the run that has ended can make a difference.
    pub(crate) fn looks_at_review(&self, source: &str) -> bool {
        self.reach(source).review
    }

    /// True for a source that can be evaluated by itself: nothing is open about it, and it depends on nothing of the
    /// rule, such as the phase that is entered.
    fn is_separate(&self, kind: Kind, source: &str, root: &Value) -> bool {
        let reach = self.reach(source);
        let is_it = || root.get_attr("it").is_ok_and(|it| !it.is_undefined());
        let is_bound = reach.open || reach.touched || reach.it && is_it();
        !is_bound && !self.is_open(kind, source)
    }

    /// What a condition consists of.
    fn formula(&self, source: &str) -> Arc<Formula> {
        let mut known = self.formulas.lock().unwrap_or_else(PoisonError::into_inner);
        let made = known.entry(source.to_owned());
        Arc::clone(made.or_insert_with(|| Arc::new(formula(source))))
    }

    fn open(&self, source: &str) -> Option<&Openness> {
        self.domain.dependence.open.get(source)
    }

    /// True where trying values does not determine its value. A text that fails, and a list, is evaluated in its
    /// place, too.
    fn is_open(&self, kind: Kind, source: &str) -> bool {
        self.open(source).is_some_and(|open| match kind {
            Kind::Items => false,
            Kind::Text => !open.fails.is_empty(),
            Kind::Condition | Kind::Value => {
                let untried = &self.domain.untried;
                !open.inputs.is_empty()
                    || !open.fails.is_empty()
                    || !open.looks.is_disjoint(untried)
            }
        })
    }

    /// What a text is made of.
    fn pieces(&self, text: &str) -> Arc<[Piece]> {
        let mut known = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let made = known.entry(text.to_owned());
        let template = |name: &str| self.chart.template(name).ok();
        Arc::clone(made.or_insert_with(|| pieces(text, &template).into()))
    }

    /// True for a list of checks that looks at no input: what it finds is settled by the state.
    fn is_settled(&self, checks: &[Check]) -> bool {
        checks.iter().all(|check| {
            let conditions = [&check.each, &check.guard].into_iter().flatten();
            let mut sources = conditions
                .map(|expr| expr.0.as_str())
                .chain([check.say.0.as_str()]);
            sources.all(|source| {
                let open = self.domain.dependence.open.get(source);
                open.is_none_or(|open| open.looks.is_empty() && open.inputs.is_empty())
            })
        })
    }
}

/// What a state says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    /// The context fields, in the chart's order.
    pub(crate) fields: Vec<Arc<Answer>>,
    pub(crate) started: bool,
}

/// Questions with their answers: what is known, what was chosen, what was assumed and what expressions come to that are
/// evaluated by themselves.
pub(crate) type Answers = Vec<(Arc<Question>, Arc<Answer>)>;

/// The world of one decision.
#[derive(Clone)]
pub(crate) struct ImaginedWorld {
    ground: Arc<Ground>,
    base: Arc<Base>,
    /// True where the event is a hook's, whose session is a field of the event.
    is_hook: bool,
    answers: Arc<Answers>,
    /// Why a count, a limit or a part of a file's name is not known: then no state that follows is.
    lost: Arc<Mutex<Option<String>>>,
    /// The part of the decision: each assumes for itself. `None`: all of it, in which nothing is evaluated by itself.
    part: Option<Arc<str>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl fmt::Debug for ImaginedWorld {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ImaginedWorld")
    }
}

impl ImaginedWorld {
    /// A world at `base` with these answers.
    pub(crate) fn new(
        ground: &Arc<Ground>,
        base: Base,
        trigger: &Trigger,
        answers: Answers,
        part: Option<Arc<str>>,
    ) -> Self {
        Self {
            ground: Arc::clone(ground),
            base: Arc::new(base),
            is_hook: is_of_the_host(trigger),
            answers: Arc::new(answers),
            part,
            lost: Arc::default(),
            asked: Arc::default(),
        }
    }

    /// The names of a decision in this world.
    pub(crate) fn names(&self, trigger: &Trigger) -> Arc<Names> {
        let event = Event {
            trigger: trigger.clone(),
            fields: Json::Null,
            args: indexmap::IndexMap::new(),
            session: None,
        };
        let world: Arc<dyn World> = Arc::new(self.clone());
        let evaluator: Arc<dyn Evaluator> = Arc::new(self.clone());
        Names::with(
            Arc::clone(&self.ground.expressions),
            &self.ground.chart,
            (&world, &evaluator),
            &event,
        )
    }

    /// The answer to a question like this.
    fn answer_to(&self, is_like: impl Fn(&Question) -> bool) -> Option<&Arc<Answer>> {
        let mut answers = self.answers.iter();
        let found = answers.find(|(question, _)| is_like(question))?;
        Some(&found.1)
    }

    /// The questions so far, which are then forgotten.
    pub(crate) fn account(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked())
    }

    /// Why nothing can be said of the states that follow, where that is so.
    pub(crate) fn lost(&self) -> Option<String> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.clone()
    }

    /// The value of an expression that is evaluated by itself; `None` where it must be evaluated here. An answer that
    /// is not known yet is guessed: the tree has no way behind it unless it is right.
    fn outcome(&self, kind: Kind, source: &str) -> Option<Arc<Answer>> {
        let question = Question::Outcome {
            kind,
            source: source.to_owned(),
        };
        let answer = self.known(&question).unwrap_or_else(|| {
            let known = self.answer_to(|asked| *asked == question);
            let answer = known.map_or_else(|| Arc::new(true.into()), Arc::clone);
            self.note(question, Arc::clone(&self.ground.none), &answer);
            answer
        });
        (!matches!(*answer, Answer::Fails(_))).then_some(answer)
    }

    /// What is known of an expression that is evaluated by itself; `None` where it must be evaluated here.
    fn recalled(&self, kind: Kind, source: &str, root: &Value) -> Option<Arc<Answer>> {
        let is_separate = self.part.is_some() && self.ground.is_separate(kind, source, root);
        is_separate.then(|| self.outcome(kind, source)).flatten()
    }

    /// True where a text can be made of these pieces.
    fn are_made(&self, pieces: &[Piece]) -> bool {
        pieces.iter().all(|piece| match piece {
            Piece::Hole(hole) => self.outcome(Kind::Text, hole).is_some(),
            Piece::If(test, then, otherwise) => self
                .truth(test)
                .is_some_and(|holds| self.are_made(if holds { then } else { otherwise })),
        })
    }

    /// Whether a condition holds, by what its parts come to; `None` where it must be evaluated as a whole.
    pub(crate) fn condition_of_parts(&self, source: &str) -> Option<bool> {
        let is_separate = self
            .ground
            .is_separate(Kind::Condition, source, &Value::UNDEFINED);
        if !is_separate {
            return None;
        }
        match &*self.ground.formula(source) {
            Formula::Atom(atom) => self.condition_of_parts(&self.ground.chart.lets.get(atom)?.0),
            formula => self.truth(formula),
        }
    }

    fn truth(&self, formula: &Formula) -> Option<bool> {
        match formula {
            Formula::Atom(source) => self
                .outcome(Kind::Condition, source)
                .map(|holds| *holds == true.into()),
            Formula::Not(inner) => self.truth(inner).map(|holds| !holds),
            Formula::All(parts) => self.is_every(parts, true),
            Formula::Any(parts) => self.is_every(parts, false).map(|holds| !holds),
        }
    }

    /// True where all are like this; what follows one that is not is not evaluated.
    fn is_every(&self, parts: &[Formula], like: bool) -> Option<bool> {
        for part in parts {
            if self.truth(part)? != like {
                return Some(false);
            }
        }
        Some(true)
    }

    /// A value that is one of two; `None` where it must be evaluated as a whole.
    pub(crate) fn chosen_value(&self, source: &str) -> Option<Arc<Answer>> {
        let (test, [one, other]) = choice(source)?;
        let holds = self.truth(&self.ground.formula(test))?;
        self.outcome(Kind::Value, if holds { &one } else { &other })
    }

    /// True where a text that is nothing but a prompt can be made, by what fills its holes; `None` where it must be
    /// evaluated as a whole. A user's prompt has every hole there is.
    pub(crate) fn prompt(&self, source: &str) -> Option<bool> {
        let key = single_expression(source)?.strip_prefix("prompts")?;
        let quoted = || key.strip_prefix("['")?.strip_suffix("']");
        let name = key.strip_prefix('.').or_else(quoted)?;
        let prompts = &self.ground.chart.prompts;
        let mut holes = (prompts.vars.values()).map(|expr| format!("{{{{ {} }}}}", expr.0));
        let is_made = prompts.names.iter().any(|known| known == name)
            && holes.all(|hole| self.are_made(&self.ground.pieces(&hole)));
        is_made.then_some(true)
    }

    fn asked(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, question: &Question) -> Option<Arc<Answer>> {
        self.asked()
            .iter()
            .find(|asked| asked.question == *question)
            .map(|asked| Arc::clone(&asked.answer))
    }

    fn note(&self, question: Question, options: Arc<[Answer]>, answer: &Arc<Answer>) {
        self.asked().push(Asked {
            question,
            options,
            answer: Arc::clone(answer),
        });
    }

    /// A context field, or a setting by its whole name.
    fn read(&self, name: &str) -> Json {
        if name.starts_with(&config_path("")) {
            return self.setting(name.to_owned()).value().clone();
        }
        World::field(self, name).cloned().unwrap_or(Json::Null)
    }

    /// What a context field holds; of a setting, what was chosen for it.
    fn held(&self, name: &str) -> Option<&Arc<Answer>> {
        let set = self.answer_to(|asked| matches!(asked, Question::Field(set) if set == name));
        set.or_else(|| {
            let index = self.ground.chart.context.get_index_of(name)?;
            self.base.fields.get(index)
        })
    }

    /// A setting, which a user sets at any time.
    fn setting(&self, name: String) -> Arc<Answer> {
        let options = self.ground.parameters.get(&name);
        let options = options.unwrap_or(&self.ground.none).clone();
        let set = self.held(&name).map(Arc::clone);
        let value = set.unwrap_or_else(|| first(&options));
        let question = Question::Field(name);
        if self.known(&question).is_none() {
            self.note(question, options, &value);
        }
        value
    }

    /// The values of a choice, with the fields that they depend on as they stand.
    fn options(&self, choice: &Choice) -> Arc<[Answer]> {
        let known = |made: &Mutex<FxHashMap<Choice, Made>>| {
            let made = made.lock().unwrap_or_else(PoisonError::into_inner);
            made.get(choice).map(|made| made.fields.clone())
        };
        if let Some(fields) = known(&self.ground.values) {
            let held: Vec<Json> = fields.iter().map(|field| self.read(field)).collect();
            let made = self
                .ground
                .values
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(values) = made.get(choice).and_then(|made| made.values.get(&held)) {
                return Arc::clone(values);
            }
        }
        let mut fields: Vec<String> = Vec::new();
        let values = self.ground.domain.values(choice, &mut |field| {
            if !fields.iter().any(|known| known == field) {
                fields.push(field.to_owned());
            }
            self.read(field)
        });
        let values: Arc<[Answer]> = values.into_iter().map(Answer::Value).collect();
        let mut made = self
            .ground
            .values
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let made = made.entry(choice.clone()).or_default();
        for field in fields {
            if !made.fields.contains(&field) {
                // What was made so far does not tell enough apart.
                made.fields.push(field);
                made.values.clear();
            }
        }
        let held: Vec<Json> = made.fields.iter().map(|field| self.read(field)).collect();
        made.values.insert(held, Arc::clone(&values));
        values
    }

    fn choose(&self, choice: Choice) -> Arc<Answer> {
        let question = Question::Choice(choice.clone());
        if let Some(answer) = self.known(&question) {
            return answer;
        }
        let options = self.options(&choice);
        let chosen = self.answer_to(|asked| *asked == question);
        let answer = chosen.map_or_else(|| first(&options), Arc::clone);
        self.note(question, options, &answer);
        answer
    }

    /// True where an open input of an expression has been looked at.
    fn has_looked_at(&self, input: &str) -> bool {
        let asked = self.asked();
        if let Some(field) = input.strip_prefix("field.") {
            let is_derived = self.ground.domain.dependence.derived.contains(field);
            return asked.iter().any(|asked| {
                matches!(&asked.question, Question::Field(name) if name == field)
                    && (is_derived || *asked.answer == Answer::Unknown)
            });
        }
        if let Some(name) = input.strip_prefix("config.") {
            let name = config_path(name);
            return asked
                .iter()
                .any(|asked| asked.question == Question::Field(name.clone()));
        }
        match super::dependence::root_of(input) {
            root if matches!(
                root.split('.').next(),
                Some(
                    "files"
                        | "tables"
                        | "event"
                        | "args"
                        | "session"
                        | "postponed"
                        | "siblings"
                        | "checks"
                        | "git"
                )
            ) =>
            {
                asked.iter().any(|asked| match &asked.question {
                    Question::Choice(choice) => {
                        choice.root() == root
                            || root == "session" && choice.root() == "event.session_id"
                    }
                    _ => false,
                })
            }
            // What is always there and never tried.
            _ => true,
        }
    }

    /// True where an expression has looked at a field of which nothing is known.
    fn has_looked_at_unknown(&self, source: &str) -> bool {
        let Some(known) = self.ground.domain.dependence.open.get(source) else {
            return false;
        };
        let fields = known.inputs.iter().chain(&known.fails);
        let mut fields = fields.filter_map(|input| input.strip_prefix("field."));
        let asked = self.asked();
        fields.any(|field| {
            asked.iter().any(|asked| {
                matches!(&asked.question, Question::Field(name) if name == field)
                    && *asked.answer == Answer::Unknown
            })
        })
    }

    /// What is open about an expression in this world, of what it has looked at so far.
    fn open(&self, source: &str) -> Option<(bool, bool)> {
        let dependence = &self.ground.domain.dependence;
        let known = dependence.open.get(source)?;
        let looked =
            |inputs: &BTreeSet<String>| inputs.iter().any(|input| self.has_looked_at(input));
        let is_open = looked(&known.inputs) || {
            let untried = &self.ground.domain.untried;
            known
                .looks
                .intersection(untried)
                .any(|input| self.has_looked_at(input))
        };
        let fails = looked(&known.fails);
        (is_open || fails).then_some((is_open, fails))
    }

    /// Chooses the value of an expression.
    fn assumption(
        &self,
        field: Option<&str>,
        source: &str,
        options: impl IntoIterator<Item = Answer>,
    ) -> Arc<Answer> {
        let options: Vec<Answer> = options.into_iter().collect();
        let question = Question::Assumed {
            field: field.map(str::to_owned),
            source: source.to_owned(),
            place: self.part.clone().unwrap_or_else(|| Arc::from("")),
        };
        if let Some(answer) = self.known(&question) {
            return answer;
        }
        let made = self.answer_to(|asked| *asked == question);
        let answer = made.map_or_else(|| first(&options), Arc::clone);
        self.note(question, options.into(), &answer);
        answer
    }

    /// The values that a field takes of which nothing is known.
    fn any_value(&self, name: &str) -> Vec<Answer> {
        let chart = &self.ground.chart;
        let Some(field) = chart.context.get(name) else {
            return Vec::new();
        };
        let mut values = match field.kind {
            FieldType::Boolean => vec![false.into(), true.into()],
            FieldType::Phase => {
                let phases = chart.phases.keys();
                phases.map(|phase| Answer::Value(json!(phase))).collect()
            }
            FieldType::Integer | FieldType::String | FieldType::List => vec![Answer::Unknown],
        };
        if field.nullable {
            values.push(Answer::Value(Json::Null));
        }
        values
    }
}

/// The first of some values.
fn first(options: &[Answer]) -> Arc<Answer> {
    Arc::new(
        options
            .first()
            .cloned()
            .unwrap_or(Answer::Value(Json::Null)),
    )
}

/// True for an event that the host sends; `next` is asked by hand.
pub(crate) fn is_of_the_host(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::Hook(name) if EVENTS.iter().any(|(_, event)| event == name))
}

impl World for ImaginedWorld {
    fn field(&self, name: &str) -> Option<&Json> {
        let value = self.held(name)?;
        let question = Question::Field(name.to_owned());
        if self.known(&question).is_none() {
            // What a user sets at any time is chosen; the state says the rest.
            let options = self.ground.parameters.get(name);
            let options = options.unwrap_or(&self.ground.none);
            self.note(question, Arc::clone(options), value);
        }
        Some(value.seen())
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        Ok(match source {
            Source::Scope => {
                if self.known(&Question::Started).is_none() {
                    self.note(
                        Question::Started,
                        Arc::new([]),
                        &Arc::new(self.base.started.into()),
                    );
                }
                let scope = &self.ground.chart.scope;
                Value::from_pairs([
                    ("started", Value::from(self.base.started)),
                    ("name", Value::from("1")),
                    ("path", Value::from(self.ground.domain.dir())),
                    ("home", Value::from(scope.home.as_str())),
                ])
            }
            Source::Files(set) => to_value(self.choose(Choice::Files(set.clone())).value()),
            Source::Table(name) => Value::from_object(TableView {
                fork: self.clone(),
                name: name.clone(),
            }),
            Source::Answers { answer, review } => {
                let question = Question::Answered {
                    answer: answer.clone(),
                    review: review.clone(),
                };
                let value = match self.known(&question) {
                    Some(value) => value,
                    None => {
                        let known = self.answer_to(|asked| *asked == question);
                        let value = known.map_or_else(|| Arc::new(false.into()), Arc::clone);
                        self.note(question, Arc::new([false.into(), true.into()]), &value);
                        value
                    }
                };
                to_value(value.value())
            }
            Source::Config(name) => to_value(self.setting(config_path(name)).value()),
            Source::Driver { .. } => to_value(self.choose(Choice::Driver).value()),
            Source::Spent { .. } => {
                let cost = || Value::from("$1.00");
                let over = to_value(self.choose(Choice::Over).value());
                Value::from_pairs([
                    ("cycle", cost()),
                    ("instance", cost()),
                    ("failures", Value::from(1)),
                    ("over", over),
                    ("why", Value::from("it failed")),
                ])
            }
            Source::Postponed => to_value(self.choose(Choice::Postponed).value()),
            Source::Dirty => to_value(self.choose(Choice::Dirty).value()),
            Source::Stalled { .. } => to_value(self.choose(Choice::Stalled).value()),
            Source::Rulings | Source::Drivers | Source::Findings { .. } => {
                Value::from(Vec::<Value>::new())
            }
            Source::Siblings => to_value(self.choose(Choice::Siblings).value()),
            Source::Now => Value::from("20260101T000000"),
            Source::Names(_) => Value::from(Vec::<Value>::new()),
            // A user's prompt that fills in everything there is.
            Source::Prompt(_) => {
                let vars = self.ground.chart.prompts.vars.keys();
                let holes: Vec<String> = vars.map(|name| format!("{{{{{name}}}}}")).collect();
                Value::from(holes.join(" "))
            }
        })
    }
}

impl Evaluator for ImaginedWorld {
    fn given(&self, given: Given<'_>) -> Option<Json> {
        let choice = match given {
            Given::Field(name) => Choice::Event(name.to_owned()),
            Given::Arg(name) => Choice::Arg(name.to_owned()),
            // Where each session has its own instance, no stop comes without a session.
            Given::Session if self.is_hook && self.ground.chart.scope.is_per_session() => {
                Choice::Event("session_id".to_owned())
            }
            Given::Worst => Choice::Worst,
            Given::Session => Choice::Session,
            Given::Invocation(invoke) => {
                return self
                    .ground
                    .domain
                    .invoked
                    .get(invoke)
                    .map(|name| json!(name));
            }
            Given::Findings(name) => {
                let checks = self.ground.chart.checks.get(name);
                if checks.is_none_or(|checks| self.ground.is_settled(checks)) {
                    return None;
                }
                Choice::Findings(name.to_owned())
            }
        };
        let chosen = self.choose(choice);
        (!chosen.value().is_null()).then(|| chosen.value().clone())
    }

    fn condition(
        &self,
        source: &str,
        root: &Value,
        evaluate: &dyn Fn() -> Result<bool, ExprError>,
    ) -> Result<bool, ExprError> {
        if let Some(known) = self.recalled(Kind::Condition, source, root) {
            return Ok(*known == true.into());
        }
        let holds = evaluate();
        let Some((_, may_fail)) = self.open(source) else {
            return holds;
        };
        let known = holds.as_ref().ok().copied();
        let options: Vec<Answer> = match self.has_looked_at_unknown(source) {
            // Its result with a value of which nothing is known says nothing.
            true => [false.into(), true.into()]
                .into_iter()
                .chain(may_fail.then_some(Answer::Fails(None)))
                .collect(),
            false => std::iter::once(Answer::AsItIs)
                .chain((known != Some(false)).then_some(false.into()))
                .chain((known != Some(true)).then_some(true.into()))
                .chain((may_fail && known.is_some()).then_some(Answer::Fails(None)))
                .collect(),
        };
        match *self.assumption(None, source, options) {
            Answer::Value(Json::Bool(assumed)) => Ok(assumed),
            Answer::Fails(_) => holds.and(Err(ExprError::open(source))),
            _ => holds,
        }
    }

    fn text(
        &self,
        source: &str,
        is_shown: bool,
        root: &Value,
        evaluate: &dyn Fn() -> Result<Vec<String>, ExprError>,
    ) -> Result<Vec<String>, ExprError> {
        let is_separate = || {
            self.part.is_some()
                && has_holes(source)
                && self.ground.is_separate(Kind::Text, source, root)
        };
        if is_shown && is_separate() && self.are_made(&self.ground.pieces(source)) {
            return Ok(Vec::new());
        }
        let made = evaluate();
        let Some((_, may_fail)) = self.open(source) else {
            return made;
        };
        let fails = may_fail.then_some(Answer::Fails(None));
        // That it fails with a value of which nothing is known says nothing.
        let options: Vec<Answer> = match made {
            Err(_) if self.has_looked_at_unknown(source) => {
                std::iter::once(Answer::Made).chain(fails).collect()
            }
            Err(_) => vec![Answer::AsItIs, Answer::Made],
            Ok(_) if !may_fail => return made,
            Ok(_) => vec![Answer::AsItIs, Answer::Fails(None)],
        };
        match *self.assumption(None, source, options) {
            Answer::Made => Ok(made.unwrap_or_default()),
            Answer::Fails(_) => made.and(Err(ExprError::open(source))),
            _ => made,
        }
    }

    fn items(
        &self,
        source: &str,
        root: &Value,
        evaluate: &dyn Fn() -> Result<Vec<Value>, ExprError>,
    ) -> Result<Vec<Value>, ExprError> {
        match self.recalled(Kind::Items, source, root) {
            // Some item, whichever.
            Some(known) if *known == true.into() => Ok(vec![Value::from("")]),
            _ => evaluate(),
        }
    }

    fn value(
        &self,
        literal: &Literal,
        root: &Value,
        evaluate: &dyn Fn() -> Result<Value, ExprError>,
    ) -> Result<Value, ExprError> {
        match literal {
            Literal::Text(text) if has_holes(&text.0) => {
                let known = self.recalled(Kind::Value, &text.0, root);
                known.map_or_else(evaluate, |known| Ok(to_value(known.seen())))
            }
            _ => evaluate(),
        }
    }

    fn assigned(
        &self,
        name: &str,
        literal: &Literal,
        value: Result<Json, Unfit>,
    ) -> Result<Json, Unfit> {
        let Literal::Text(text) = literal else {
            return value;
        };
        let chart = &self.ground.chart;
        let (Some((_, may_fail)), Some(field)) = (self.open(&text.0), chart.context.get(name))
        else {
            return value;
        };
        // A value that does not fit here is one that can be; one that fits is one of many.
        let mut options = Vec::new();
        options.extend(value.is_err().then_some(Answer::AsItIs));
        options.extend(self.any_value(name));
        let may_misfit = field.kind == FieldType::Integer
            || field.kind == FieldType::Phase
            || field.pattern.is_some();
        options.extend((may_fail || may_misfit || value.is_err()).then_some(Answer::Fails(None)));
        if is_read_by_the_engine(chart, name) {
            let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| {
                let source = &text.0;
                format!("`{name}` is assigned `{source}`, of which the value is not known")
            });
        }
        match &*self.assumption(Some(name), &text.0, options) {
            Answer::AsItIs => value,
            Answer::Fails(_) => match value {
                Err(Unfit::Error(_)) => value,
                _ => Err(Unfit::Error(ExprError::open(name))),
            },
            assumed => Ok(assumed.seen().clone()),
        }
    }
}

/// A table whose content is chosen field by field, so that only what is looked at forks.
struct TableView {
    fork: ImaginedWorld,
    name: String,
}

impl fmt::Debug for TableView {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "tables.{}", self.name)
    }
}

impl TableView {
    /// False where the file's name has a hole that no context field fills.
    fn has_file(&self) -> bool {
        let Some(table) = self.fork.ground.chart.tables.get(&self.name) else {
            return false;
        };
        let part = |hole: &str| name_part(&self.fork.read(hole)).ok_or(());
        table.file.render(part).is_ok()
    }

    /// False where no table can lack a column for the id.
    fn has_id(&self) -> bool {
        let table = self.fork.ground.chart.tables.get(&self.name);
        table.is_some_and(
            |table| matches!(&table.rows, RowShape::Columns(columns) if columns.contains_key("id")),
        )
    }

    fn rows(&self) -> Vec<Json> {
        if !self.has_file() {
            return Vec::new();
        }
        let rows = self.fork.choose(Choice::Rows(self.name.clone()));
        rows.value().as_array().cloned().unwrap_or_default()
    }

    fn content(&self, key: &'static str) -> Arc<Answer> {
        self.fork.choose(Choice::Content {
            table: self.name.clone(),
            key,
        })
    }

    fn has_head(&self) -> bool {
        !self.rows().is_empty() || self.exists() && *self.content("head") == true.into()
    }

    /// True where a row has no id that can be used. It is none of the rows; that it counts as open is not tried.
    fn has_unusable(&self) -> bool {
        self.has_id() && self.has_head() && *self.content("unusable") == true.into()
    }

    fn exists(&self) -> bool {
        !self.rows().is_empty() || self.has_file() && *self.content("exists") == true.into()
    }
}

impl Object for TableView {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let value = match key {
            "rows" => Json::Array(self.rows()),
            "open" => {
                let mut rows = self.rows();
                rows.retain(|row| row.get("done") == Some(&json!(false)));
                Json::Array(rows)
            }
            "exists" => json!(self.exists()),
            // A row stands below a header, and takes a line.
            "head" => json!(self.has_head()),
            "prose" => json!(self.exists() && *self.content("prose") == true.into()),
            "lacks" => {
                json!(self.has_id() && self.exists() && *self.content("lacks") == true.into())
            }
            "unusable" => json!(self.has_unusable()),
            "lines" => {
                let rows = i64::try_from(self.rows().len()).unwrap_or(i64::MAX);
                let lines = if self.exists() {
                    self.content("lines").value().as_i64().unwrap_or(0)
                } else {
                    0
                };
                json!(lines.max(rows))
            }
            _ => return None,
        };
        Some(to_value(&value))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }
}
