//! What one event can do: the control flow of [`crate::engine::decide`], over terms. A test holds the two together.
//!
//! An event is decided rule by rule. After each rule, courses that differ in nothing at which a later rule looks are one.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::json;

use super::evaluate::{Answers, Course, Outcome, Path};
use super::facts::Facts;
use super::read::Program;
use super::term::{FALSE, NULL, Node, SOME, TRUE, Term};
use crate::chart::Chart;
use crate::chart::model::{Assign, Field, FieldType, Rule};
use crate::diagnostic::code::Code;
use crate::engine::decide::rules_of;
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::expr::source::Text;
use crate::expr::types::Type;
use crate::host::hosts::BLOCKS;

/// The most paths of one event in one state.
const PATHS: usize = 100_000;

/// Why an event comes to no decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Failure {
    pub(super) code: Code,
    pub(super) message: String,
    /// Where in the chart.
    pub(super) place: String,
}

/// What an event does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Done {
    /// The fields that it assigns, and their values.
    pub(super) assigned: Vec<(usize, Term)>,
    /// The places of the rules that fire.
    pub(super) fired: Vec<u32>,
    pub(super) blocks: bool,
    /// Whether the agent was blocked before in this turn, if that was asked.
    pub(super) active: Option<bool>,
    /// The review that runs, and how it ends.
    pub(super) review: Option<(usize, Outcome)>,
    /// A gate has failed, and has not failed often.
    pub(super) is_early_gate: bool,
    /// What the settings must be.
    pub(super) settings: Facts,
    /// The cycles that start over.
    pub(super) starts: Vec<usize>,
    /// The cycle that ends, and the target that is taken.
    pub(super) advance: Option<(usize, usize)>,
    pub(super) failure: Option<Failure>,
}

/// One way that an event can go, and what was asked on it.
pub(super) type Way = (Done, Asked);

/// What was asked, and whether it is so.
type Asked = Vec<(Term, bool)>;

/// Decides about the events of a chart.
pub(super) struct Decider {
    pub(super) program: Program,
    /// The places of the rules that have fired somewhere.
    pub(super) places: IndexSet<String, FxBuildHasher>,
    /// By event and part, the names at which later parts look.
    later: FxHashMap<(Trigger, usize), Arc<BTreeSet<u32>>>,
    active: Term,
    gate_times: Term,
    /// The events of which not all paths were followed.
    pub(super) cut: IndexSet<String>,
}

impl Decider {
    pub(super) fn of(chart: &Arc<Chart>) -> Self {
        let mut program = Program::of(chart);
        let active = program.terms.of(Node::Name("event.stop_hook_active".to_owned()));
        let gate_times = program.terms.of(Node::Name("gate.times".to_owned()));
        Self {
            active: program.terms.of(Node::Size(active)),
            gate_times,
            program,
            places: IndexSet::default(),
            later: FxHashMap::default(),
            cut: IndexSet::new(),
        }
    }

    /// Returns everything that an event can do from here, and a bit for each field that this turns on.
    pub(super) fn ways(&mut self, trigger: &Trigger, begin: Course) -> (Vec<Way>, u128) {
        let chart = Arc::clone(&self.program.chart);
        let (list, rules) = rules_of(&chart, trigger);
        let (mut looked, mut count) = (0, 0);
        let mut ended = Vec::new();
        let mut open = vec![((begin, Done::default()), Vec::new())];
        for part in 0..=rules.len() {
            let mut further = Vec::new();
            let mut is_same = true;
            for ((course, done), asked) in std::mem::take(&mut open) {
                let mut answers = Answers::default();
                loop {
                    let path = Path::new(&mut self.program, course.clone(), &mut answers);
                    let places = &mut self.places;
                    let mut event = Event { path, places, done: done.clone(), is_over: false };
                    let is_refused = match part {
                        0 => !event.head(trigger),
                        part => {
                            event.rule(list, part - 1, &rules[part - 1]);
                            false
                        }
                    };
                    let Event { path, done: after, is_over, .. } = event;
                    let Path { course: reached, asked: more, looked: fields, .. } = path;
                    looked |= fields;
                    count += 1;
                    let is_untouched = more.is_empty() && after.fired.len() == done.fired.len();
                    is_same &= is_untouched && reached.facts == course.facts;
                    let all = [asked.as_slice(), &more].concat();
                    if is_over || after.failure.is_some() {
                        ended.push(self.finished(reached, after, all));
                    } else if !is_refused {
                        further.push(((reached, after), all));
                    }
                    if count > PATHS {
                        self.cut.insert(trigger.to_string());
                    }
                    if count > PATHS || !answers.next() {
                        break;
                    }
                }
            }
            open = match is_same {
                true => further,
                false => {
                    let later = self.later(trigger, part);
                    self.merged(further, &later)
                }
            };
        }
        for ((course, done), asked) in open {
            ended.push(self.finished(course, done, asked));
        }
        let ways = self.fewest(ended).into_iter();
        (ways.map(|(done, settings, asked)| (Done { settings, ..done }, asked)).collect(), looked)
    }

    /// Returns courses as few as possible, without what no later part looks at.
    fn merged(
        &mut self,
        open: Vec<((Course, Done), Asked)>,
        later: &BTreeSet<u32>,
    ) -> Vec<((Course, Done), Asked)> {
        let terms = &mut self.program.terms;
        let mut all = Vec::new();
        for ((mut course, done), asked) in open {
            let is_later = |names: &[u32]| names.iter().any(|name| later.contains(name));
            let watched = [self.active, self.gate_times];
            let mut past =
                course.facts.take(|term| !watched.contains(&term) && !is_later(&terms.names(term)));
            past.retain(|term| terms.is_setting(term));
            all.push(((course, done), past, asked));
        }
        let fewest = self.fewest(all).into_iter();
        let joined = fewest.map(|((mut course, done), settings, asked)| {
            course.facts.join(&settings);
            ((course, done), asked)
        });
        joined.collect()
    }

    /// Returns as few as possible: those that are the same but for settings, and that together leave no choice, are one.
    fn fewest<K: Hash + Eq + Clone>(
        &mut self,
        all: Vec<(K, Facts, Asked)>,
    ) -> Vec<(K, Facts, Asked)> {
        let mut groups: IndexMap<K, Vec<(Facts, Asked)>, FxBuildHasher> = IndexMap::default();
        for (key, mut settings, mut asked) in all {
            let fewest = groups.entry(key).or_default();
            // What two of them are together may be one with a third.
            let both = |fewest: &[(Facts, Asked)], settings: &Facts| {
                let mut known = fewest.iter().enumerate();
                known.find_map(|(at, known)| Some((at, known.0.either(settings)?)))
            };
            while let Some((at, (joined, term))) = both(fewest, &settings) {
                let (_, known) = fewest.remove(at);
                if known.len() < asked.len() {
                    asked = known;
                }
                if let Some(term) = term {
                    let about = self.program.terms.names(term);
                    asked.retain(|(what, _)| self.program.terms.names(*what) != about);
                }
                settings = joined;
            }
            fewest.push((settings, asked));
        }
        let groups = groups.into_iter();
        let all = groups.flat_map(|(key, fewest)| {
            fewest.into_iter().map(move |(settings, asked)| (key.clone(), settings, asked))
        });
        all.collect()
    }

    /// Writes down what of the course matters to others, and what the settings must be.
    fn finished(
        &mut self,
        mut course: Course,
        mut done: Done,
        asked: Asked,
    ) -> (Done, Facts, Asked) {
        let assigned: BTreeSet<usize> = done.assigned.iter().map(|(at, _)| *at).collect();
        done.assigned = assigned.into_iter().map(|at| (at, course.fields[at])).collect();
        let active = course.facts.get(self.active);
        done.active = active.map(|fact| fact.least.is_some());
        let times = course.facts.get(self.gate_times).and_then(|fact| fact.most);
        done.is_early_gate =
            times.is_some_and(|most| usize::try_from(most).is_ok_and(|it| it <= BLOCKS));
        course.facts.retain(|term| self.program.terms.is_setting(term));
        (done, course.facts, asked)
    }

    /// Returns the names at which the parts of an event from this one on look.
    fn later(&mut self, trigger: &Trigger, part: usize) -> Arc<BTreeSet<u32>> {
        let key = (trigger.clone(), part);
        if let Some(known) = self.later.get(&key) {
            return Arc::clone(known);
        }
        let chart = Arc::clone(&self.program.chart);
        let program = &mut self.program;
        let (_, rules) = rules_of(&chart, trigger);
        let mut terms = Vec::new();
        for rule in &rules[part..] {
            terms.extend(program.of_rule(rule, None));
            for cycle in chart.cycles.values() {
                if rule.advance {
                    terms.extend(program.behind(cycle, "next"));
                    let entry = cycle.entry.values();
                    terms.extend(entry.map(|value| program.literal(value, None)));
                }
                if rule.invoke.is_some() {
                    let subject = cycle.subject.iter();
                    terms.extend(subject.map(|text| program.text(text, None)));
                }
            }
        }
        let mut later = BTreeSet::new();
        terms.iter().for_each(|term| program.add_names(*term, &mut later));
        let later = Arc::new(later);
        self.later.insert(key, Arc::clone(&later));
        later
    }
}

type Fields = IndexMap<usize, Term>;

/// A part of the decision about an event, on one path.
struct Event<'d, 'p> {
    path: Path<'p>,
    places: &'d mut IndexSet<String, FxBuildHasher>,
    done: Done,
    is_over: bool,
}

impl Event<'_, '_> {
    /// Does what comes before the rules; false if the event is refused.
    fn head(&mut self, trigger: &Trigger) -> bool {
        let chart = Arc::clone(&self.path.program.chart);
        match trigger {
            Trigger::Hook(_) => true,
            Trigger::Enter { phase, .. } => {
                let entry = &chart.phases[phase.as_str()].phase;
                let place = format!("phases.{phase}");
                if !self.holds(&place, entry.guard.as_ref(), Some(phase)) {
                    return self.done.failure.is_some();
                }
                let mut fields = self.values(&place, &entry.entry, Some(phase));
                self.put(&mut fields, &chart.state, phase);
                if let Some(arms) = &entry.arms {
                    self.schedule(&place, arms, &mut fields, Some(phase));
                }
                self.commit(place, fields);
                true
            }
            Trigger::Command(name) => {
                let rule = &chart.commands[name.as_str()].rule;
                let place = format!("commands.{name}");
                if !self.holds(&place, rule.guard.as_ref(), None) {
                    return self.done.failure.is_some();
                }
                self.fire(place, rule);
                true
            }
        }
    }

    fn rule(&mut self, list: &str, index: usize, rule: &Rule) {
        let place = format!("on.{list}[{index}]");
        if !self.holds(&place, rule.guard.as_ref(), None) {
            return;
        }
        if rule.invoke.is_none() {
            self.is_over = rule.block.is_some() || rule.action.is_some() || rule.allow;
            self.fire(place, rule);
        } else if self.path.course.outcome.is_none() {
            self.invoke(place);
        }
    }

    fn holds(
        &mut self,
        place: &str,
        guard: Option<&crate::expr::source::Expr>,
        it: Option<&str>,
    ) -> bool {
        let holds = self.path.holds(guard, it);
        self.note_fault(&format!("{place}.guard"));
        holds && self.done.failure.is_none()
    }

    /// Takes over that something had no value.
    fn note_fault(&mut self, place: &str) {
        if let Some(message) = self.path.fault.take() {
            self.fail(Code::NoDecision, message, place);
        }
    }

    /// A rule that fails has its effect, if not the one that is meant.
    fn fail(&mut self, code: Code, message: String, place: &str) {
        if self.done.failure.is_none() {
            // `on.Stop[2].guard` is a part of a rule, and `phases.write.clean` of a phase.
            let dot = place.match_indices('.').nth(1).map_or(place.len(), |(at, _)| at);
            let rule = self.number(&place[..dot]);
            self.done.fired.push(rule);
            self.done.failure = Some(Failure { code, message, place: place.to_owned() });
        }
    }

    fn number(&mut self, place: &str) -> u32 {
        let (at, _) = self.places.insert_full(place.to_owned());
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn put(&mut self, fields: &mut Fields, name: &str, value: &str) {
        if let Some(at) = self.path.program.chart.context.get_index_of(name) {
            fields.insert(at, self.path.program.terms.known(value));
        }
    }

    /// Returns the values of assignments, each as its field holds it.
    fn values(&mut self, place: &str, assign: &Assign, it: Option<&str>) -> Fields {
        let chart = Arc::clone(&self.path.program.chart);
        let mut fields = Fields::new();
        for (name, literal) in assign {
            let Some((at, _, field)) = chart.context.get_full(name) else { continue };
            let term = self.path.program.literal(literal, it);
            let value = self.path.value(term, true).unwrap_or(NULL);
            self.note_fault(&format!("{place}.{name}"));
            let value = match self.path.program.terms.is_known(value) {
                true => value,
                false => self.path.choose(field, value),
            };
            if let Some(json) = self.path.program.terms.value(value)
                && let Err(expected) = field.accepts(&chart.phases, json)
            {
                let (place, value) = (place.to_owned(), json.to_string());
                let at = format!("{place}.{name}");
                let fault = Fault::Assignment { place, field: name.clone(), value, expected };
                self.fail(Code::AssignmentMisfit, fault.to_string(), &at);
            }
            fields.insert(at, value);
        }
        fields
    }

    /// Makes `target` come next. A cycle starts over.
    fn schedule(&mut self, place: &str, target: &str, fields: &mut Fields, it: Option<&str>) {
        let chart = Arc::clone(&self.path.program.chart);
        if let Some(next) = &chart.next {
            self.put(fields, next, target);
        }
        if let Some((at, _, cycle)) = chart.cycles.get_full(target) {
            fields.extend(self.values(place, &cycle.entry, it));
            self.done.starts.push(at);
        }
    }

    fn commit(&mut self, place: String, fields: Fields) {
        if self.done.failure.is_some() {
            return;
        }
        for (at, value) in fields {
            let value = self.path.program.held(at, value);
            self.path.set(at, value);
            self.done.assigned.push((at, value));
        }
        let place = self.number(&place);
        self.done.fired.push(place);
    }

    fn fire(&mut self, place: String, rule: &Rule) {
        let chart = Arc::clone(&self.path.program.chart);
        let mut fields = self.values(&format!("{place}.assign"), &rule.assign, None);
        if let Some(target) = &rule.target {
            self.put(&mut fields, &chart.state, target);
        }
        if rule.advance {
            let at = format!("{place}.advance");
            let Some(cycle) = self.path.running() else {
                let fault = Fault::NoCycle { place };
                return self.fail(Code::NoDecision, fault.to_string(), &at);
            };
            let target = self.path.open_target(cycle, true).flatten();
            self.note_fault(&at);
            let Some(target) = target else {
                let cycle = chart.cycles[cycle].id.clone();
                let fault = Fault::NowhereToAdvance { cycle };
                return self.fail(Code::NoDecision, fault.to_string(), &at);
            };
            self.done.advance = Some((cycle, target));
            let target = &chart.cycles[cycle].advance[target].target;
            self.schedule(&place, target, &mut fields, None);
        }
        self.commit(place, fields);
        self.done.blocks |= rule.block.is_some();
    }

    /// Runs a review, in each way that one can end.
    fn invoke(&mut self, place: String) {
        let chart = Arc::clone(&self.path.program.chart);
        let Some(at) = self.path.running() else {
            let at = format!("{place}.invoke");
            return self.fail(Code::NoDecision, Fault::NoCycle { place }.to_string(), &at);
        };
        let cycle = &chart.cycles[at];
        let n = self.path.count_of(at).saturating_add(1);
        let lists: Vec<&Text> = cycle.subject.iter().filter(|it| it.0.contains("{{")).collect();
        let can_run = self.path.has_files(at)
            && lists.into_iter().all(|list| {
                let list = self.path.program.text(list, None);
                self.path.truth(list, true) == Some(true)
            });
        self.note_fault(&format!("{place}.invoke"));
        let outcome = match can_run {
            false => Outcome::Failed,
            true => {
                let verdicts = chart.verdicts().into_iter().map(str::to_owned);
                let verdicts = verdicts.map(|it| self.path.program.terms.known(it));
                let mut ends: Vec<Outcome> = verdicts.map(|it| Outcome::Ran(Some(it))).collect();
                ends.extend([Outcome::Ran(None), Outcome::Failed]);
                ends.extend(chart.gates.is_some().then_some(Outcome::Gate));
                ends.swap_remove(self.path.pick(ends.len()))
            }
        };
        self.done.review = Some((at, outcome.clone()));
        self.path.course.outcome = Some((outcome, n));
        let place = self.number(&place);
        self.done.fired.push(place);
    }
}

impl Path<'_> {
    /// Returns a value for a field that is assigned something unknown; each other one is another path.
    fn choose(&mut self, field: &Field, term: Term) -> Term {
        if field.kind == FieldType::Boolean && !self.program.terms.may_be_none(term) {
            return match self.is_true(term, true) {
                Some(true) => TRUE,
                _ => FALSE,
            };
        }
        let mut values = self.program.values(field);
        let kind = self.program.terms.kind(term);
        let is_name = matches!(&*self.program.terms.node(term), Node::Name(_));
        if is_name && field.kind == FieldType::Integer {
            // What an option or a setting may be, and the field may not.
            let beyond = [
                field.minimum.and_then(|least| least.checked_sub(1)),
                field.maximum.and_then(|most| most.checked_add(1)),
            ];
            values.extend(beyond.into_iter().flatten().map(|it| self.program.terms.known(it)));
        }
        if is_name && !field.nullable && self.program.terms.may_be_none(term) {
            values.push(NULL);
        }
        let is_any_text = *kind.some() == Type::Text && field.kind == FieldType::String;
        if is_any_text && !values.contains(&SOME) {
            values.push(SOME);
        }
        let may_be = |path: &mut Self, value: &Term| {
            let is_full =
                path.program.terms.value(*value) == Some(&json!("")) && path.is_full(term);
            let is_there = *value != NULL || path.program.terms.may_be_none(term);
            let fits = *value == SOME || path.equals(term, *value, &kind) != Some(false);
            !is_full && is_there && fits
        };
        let mut fitting = Vec::new();
        for value in values {
            if may_be(self, &value) {
                fitting.push(value);
            }
        }
        if fitting.is_empty() {
            return SOME;
        }
        let value = fitting[self.pick(fitting.len())];
        if value != SOME && fitting.len() > 1 {
            let asked =
                self.program.terms.of(Node::Compare(super::term::Order::Equal, term, value));
            self.asked.push((asked, true));
            self.course.facts.entry(term).set(value, true);
        }
        value
    }

    /// Returns whether it is known that a text is more than white space.
    fn is_full(&mut self, term: Term) -> bool {
        let empty = self.program.terms.known("");
        let trimmed = self.program.terms.of(Node::Filter("trim".to_owned(), term, Vec::new()));
        self.course.facts.get(trimmed).is_some_and(|fact| fact.is_not.contains(&empty))
    }
}

impl Program {
    /// Returns the values that are tried for a field or a setting, which is also a term.
    pub(super) fn values(&mut self, field: &Field) -> Vec<Term> {
        let words = field.one_of.as_ref().map(|words| words.list().to_vec());
        let phases = || self.chart.phases.keys().cloned().collect::<Vec<String>>();
        let mut values = match (field.kind, words) {
            (FieldType::Boolean, _) => vec![FALSE, TRUE],
            (FieldType::Integer, _) => {
                let tried = self.numbers.tried(field);
                tried.into_iter().map(|number| self.terms.known(number)).collect()
            }
            (FieldType::Phase, _) => {
                let phases = phases();
                phases.into_iter().map(|phase| self.terms.known(phase)).collect()
            }
            (FieldType::String, Some(words)) => {
                words.into_iter().map(|word| self.terms.known(word)).collect()
            }
            (FieldType::String | FieldType::List, _) => vec![SOME],
        };
        if Self::minds_empty(field) {
            values.push(self.terms.known(""));
        }
        values.extend(field.nullable.then_some(NULL));
        values
    }

    /// Returns a value as a field holds it: numbers beyond all that are named are one.
    fn held(&mut self, at: usize, value: Term) -> Term {
        let Some(number) = self.terms.number(value) else { return value };
        let held = self.numbers.held(&self.chart.context[at], number);
        self.terms.known(held)
    }
}
