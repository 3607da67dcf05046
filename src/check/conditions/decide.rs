//! What one event can do: the control flow of [`crate::engine::decide`], over terms. A test holds the two together.
//!
//! An event is decided rule by rule. After each rule, courses that differ in nothing at which a later rule looks are one.

use std::collections::BTreeSet;
use std::fmt::Arguments;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde_json::json;

use super::evaluate::{Answers, Course, Done, Failure, Outcome, Path};
use super::facts::Facts;
use super::read::Program;
use super::term::{FALSE, NULL, Node, SOME, TRUE, Term};
use crate::chart::Chart;
use crate::chart::model::{Assign, Field, FieldType, Rule};
use crate::diagnostic::code::Code;
use crate::engine::decide::rules_of;
use crate::engine::event::Trigger;
use crate::engine::fault::Fault;
use crate::host::hosts::BLOCKS;
use crate::host::vendors::VERDICTS;

/// The most paths of one event in one state.
const PATHS: usize = 100_000;

/// One way that an event can go, and what was asked on it.
pub(super) type Way = (Done, Asked);

/// What was asked, and whether it is so.
type Asked = Vec<(Term, bool)>;

/// Decides about the events of a chart.
pub(super) struct Decider {
    pub(super) program: Program,
    /// The places of rules that were tried.
    pub(super) places: IndexSet<String, FxBuildHasher>,
    /// By event and part, the names at which later parts look.
    later: FxHashMap<(Trigger, usize), Rc<FxHashSet<u32>>>,
    active: Term,
    gate_times: Term,
    /// An event of which not all paths were followed.
    pub(super) cut: Option<String>,
}

impl Decider {
    pub(super) fn of(chart: &Arc<Chart>) -> Self {
        let mut program = Program::of(chart);
        let mut named = |name: &str| program.terms.of(Node::Name(name.to_owned()));
        let (active, gate_times) = (named("event.stop_hook_active"), named("gate.times"));
        Self {
            active: program.terms.of(Node::Size(active)),
            gate_times,
            program,
            places: IndexSet::default(),
            later: FxHashMap::default(),
            cut: None,
        }
    }

    /// Returns everything that an event can do from here, with a bit for each field on which that depends.
    pub(super) fn ways(&mut self, trigger: &Trigger, begin: Course) -> (Vec<Way>, u128) {
        let chart = Arc::clone(&self.program.chart);
        let (list, rules) = rules_of(&chart, trigger);
        let (mut looked, mut count) = (0, 0);
        let mut ended = Vec::new();
        let mut open = vec![(begin, Vec::new())];
        for part in 0..=rules.len() {
            let rule = part.checked_sub(1).map(|index| (index, &rules[index]));
            let (place, guard, it) = match (rule, trigger) {
                (Some((index, rule)), _) => {
                    (format!("on.{list}[{index}]"), rule.guard.as_ref(), None)
                }
                (None, Trigger::Enter { phase, .. }) => {
                    let guard = chart.phases[phase].phase.guard.as_ref();
                    (format!("phases.{phase}"), guard, Some(phase.as_str()))
                }
                (None, Trigger::Command(name)) => {
                    (format!("commands.{name}"), chart.commands[name].guard.as_ref(), None)
                }
                (None, Trigger::Hook(_)) => (String::new(), None, None),
            };
            let guard = guard.map(|guard| self.program.expr(&guard.0, it));
            let (number, _) = self.places.insert_full(place);
            let mut further = Vec::new();
            let mut is_same = true;
            for (course, asked) in std::mem::take(&mut open) {
                let mut answers = Answers::default();
                loop {
                    let mut path = Path::new(&mut self.program, course.clone(), &mut answers);
                    path.asked.clone_from(&asked);
                    let place = &self.places[number];
                    let mut event = Event { path, place, number, is_over: false };
                    let holds = event.holds(guard);
                    match rule {
                        None if holds => event.head(trigger),
                        Some((_, rule)) if holds => event.rule(rule),
                        _ => {}
                    }
                    let is_refused = rule.is_none() && !holds;
                    let Event { path, is_over, .. } = event;
                    let Path { course: reached, asked: all, looked: fields, .. } = path;
                    looked |= fields;
                    count += 1;
                    is_same &= all.len() == asked.len() && reached == course;
                    if is_over || reached.done.failure.is_some() {
                        ended.push(self.finished(reached, all));
                    } else if !is_refused {
                        further.push((reached, all));
                    }
                    if count > PATHS {
                        self.cut = Some(trigger.to_string());
                    }
                    if count > PATHS || !answers.next() {
                        break;
                    }
                }
            }
            open = if is_same { further } else { self.merged(further, trigger, part) };
        }
        for (course, asked) in open {
            ended.push(self.finished(course, asked));
        }
        let ways = self.fewest(ended).into_iter();
        (ways.map(|(done, settings, asked)| (Done { settings, ..done }, asked)).collect(), looked)
    }

    /// Returns courses as few as possible, without what no later part looks at.
    fn merged(
        &mut self,
        open: Vec<(Course, Asked)>,
        trigger: &Trigger,
        part: usize,
    ) -> Vec<(Course, Asked)> {
        let later = self.later(trigger, part);
        let terms = &mut self.program.terms;
        let mut all = Vec::new();
        for (mut course, asked) in open {
            let mut past = course.facts.take(|term| {
                let is_watched = term == self.active || term == self.gate_times;
                !is_watched && !terms.names(term).iter().any(|name| later.contains(name))
            });
            past.retain(|term| terms.is_setting(term));
            all.push((course, past, asked));
        }
        let fewest = self.fewest(all).into_iter();
        let joined = fewest.map(|(mut course, settings, asked)| {
            course.facts.join(&settings);
            (course, asked)
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
                if known.len() <= asked.len() {
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

    /// Returns what of a course matters to others, and what the settings must be.
    fn finished(&mut self, course: Course, asked: Asked) -> (Done, Facts, Asked) {
        let Course { fields, mut facts, done, .. } = course;
        let mut done = Rc::unwrap_or_clone(done);
        let assigned: BTreeSet<usize> = done.assigned.iter().map(|(at, _)| *at).collect();
        done.assigned = assigned.into_iter().map(|at| (at, fields[at])).collect();
        done.active = facts.get(self.active).map(|fact| fact.least.is_some());
        let times = facts.get(self.gate_times).and_then(|fact| usize::try_from(fact.most?).ok());
        done.is_early_gate = times.is_some_and(|most| most <= BLOCKS);
        facts.retain(|term| self.program.terms.is_setting(term));
        (done, facts, asked)
    }

    /// Returns the names at which the parts of an event from this one on look.
    fn later(&mut self, trigger: &Trigger, part: usize) -> Rc<FxHashSet<u32>> {
        let key = (trigger.clone(), part);
        if let Some(known) = self.later.get(&key) {
            return Rc::clone(known);
        }
        let chart = Arc::clone(&self.program.chart);
        let program = &mut self.program;
        let (_, rules) = rules_of(&chart, trigger);
        let mut terms = Vec::new();
        for rule in &rules[part..] {
            terms.extend(rule.guard.iter().map(|guard| program.expr(&guard.0, None)));
            terms.extend(rule.assign.values().map(|value| program.literal(value, None)));
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
        let mut later = FxHashSet::default();
        terms.iter().for_each(|term| program.add_names(*term, &mut later));
        let later = Rc::new(later);
        self.later.insert(key, Rc::clone(&later));
        later
    }
}

type Fields = IndexMap<usize, Term>;

/// A part of the decision about an event, on one path.
struct Event<'d, 'p> {
    path: Path<'p>,
    /// Where the part is in the chart, and the number of that place.
    place: &'d str,
    number: usize,
    is_over: bool,
}

impl Event<'_, '_> {
    /// Does what comes before the rules.
    fn head(&mut self, trigger: &Trigger) {
        let chart = Arc::clone(&self.path.program.chart);
        match trigger {
            Trigger::Hook(_) => {}
            Trigger::Enter { phase, .. } => {
                let entry = &chart.phases[phase.as_str()].phase;
                let place = self.place;
                let place = format_args!("{place}.entry");
                let mut fields = self.values(place, &entry.entry, Some(phase));
                self.put(&mut fields, &chart.state, phase);
                if let Some(next) = &entry.next {
                    self.schedule(next, &mut fields, Some(phase));
                }
                self.commit(fields);
            }
            Trigger::Command(name) => self.fire(&chart.commands[name.as_str()]),
        }
    }

    fn rule(&mut self, rule: &Rule) {
        if rule.invoke.is_none() {
            self.is_over = rule.block.is_some() || rule.action.is_some() || rule.allow;
            self.fire(rule);
        } else if self.path.course.done.review.is_none() {
            self.invoke();
        }
    }

    fn holds(&mut self, guard: Option<Term>) -> bool {
        let holds = guard.is_none_or(|guard| self.path.truth(guard, true) == Some(true));
        self.note_fault("guard");
        holds && self.path.course.done.failure.is_none()
    }

    /// Takes over that something had no value.
    fn note_fault(&mut self, part: &str) {
        if let Some(message) = self.path.fault.take() {
            self.fail(Code::NoDecision, message, self.part(part));
        }
    }

    /// A rule that fails has its effect, if not the one that is meant.
    fn fail(&mut self, code: Code, message: impl ToString, place: String) {
        if self.path.course.done.failure.is_none() {
            self.fired();
            self.done().failure = Some(Failure { code, message: message.to_string(), place });
        }
    }

    fn part(&self, part: &str) -> String {
        format!("{}.{part}", self.place)
    }

    fn done(&mut self) -> &mut Done {
        Rc::make_mut(&mut self.path.course.done)
    }

    fn fired(&mut self) {
        let number = self.number;
        self.done().fired.push(number);
    }

    fn put(&mut self, fields: &mut Fields, name: &str, value: &str) {
        if let Some(at) = self.path.program.chart.context.get_index_of(name) {
            fields.insert(at, self.path.program.terms.known(value));
        }
    }

    /// Returns the values of the assignments at a place, each as its field holds it.
    fn values(&mut self, place: Arguments<'_>, assign: &Assign, it: Option<&str>) -> Fields {
        let chart = Arc::clone(&self.path.program.chart);
        let mut fields = Fields::new();
        for (name, literal) in assign {
            let Some((at, _, field)) = chart.context.get_full(name) else { continue };
            let term = self.path.program.literal(literal, it);
            let value = self.path.value(term, true).unwrap_or(NULL);
            if let Some(message) = self.path.fault.take() {
                self.fail(Code::NoDecision, message, format!("{place}.{name}"));
            }
            let value = match self.path.program.terms.is_known(value) {
                true => value,
                false => self.path.choose(field, value),
            };
            if let Some(json) = self.path.program.terms.value(value)
                && let Err(expected) = field.accepts(&chart.phases, json)
            {
                let (by, value) = (self.place.to_owned(), json.to_string());
                let fault = Fault::Assignment { place: by, field: name.clone(), value, expected };
                self.fail(Code::AssignmentMisfit, fault, format!("{place}.{name}"));
            }
            fields.insert(at, value);
        }
        fields
    }

    /// Makes `target` come next. A cycle starts over.
    fn schedule(&mut self, target: &str, fields: &mut Fields, it: Option<&str>) {
        let chart = Arc::clone(&self.path.program.chart);
        if let Some(next) = &chart.next {
            self.put(fields, next, target);
        }
        if let Some((at, _, cycle)) = chart.cycles.get_full(target) {
            let place = format_args!("cycles.{target}.entry");
            fields.extend(self.values(place, &cycle.entry, it));
            self.done().starts.push(at);
        }
    }

    fn commit(&mut self, fields: Fields) {
        if self.path.course.done.failure.is_some() {
            return;
        }
        for (at, value) in fields {
            let value = self.path.program.held(at, value);
            self.path.set(at, value);
            self.done().assigned.push((at, value));
        }
        self.fired();
    }

    fn fire(&mut self, rule: &Rule) {
        let chart = Arc::clone(&self.path.program.chart);
        let place = self.place;
        let mut fields = self.values(format_args!("{place}.assign"), &rule.assign, None);
        if let Some(target) = &rule.target {
            self.put(&mut fields, &chart.state, target);
        }
        if rule.advance {
            let Some(cycle) = self.running("advance") else { return };
            let target = self.path.open_target(cycle, true).flatten();
            self.note_fault("advance");
            let Some(target) = target else {
                // Whichever rule advances, it is the cycle that has no target left.
                let cycle = chart.cycles[cycle].id.clone();
                let place = format!("cycles.{cycle}.advance");
                let fault = Fault::NowhereToAdvance { cycle };
                return self.fail(Code::NoDecision, fault, place);
            };
            self.done().advance = Some((cycle, target));
            let target = &chart.cycles[cycle].advance[target].target;
            self.schedule(target, &mut fields, None);
        }
        self.commit(fields);
        self.done().blocks |= rule.block.is_some();
    }

    fn running(&mut self, part: &str) -> Option<usize> {
        let cycle = self.path.running();
        if cycle.is_none() {
            let fault = Fault::NoCycle { place: self.place.to_owned() };
            self.fail(Code::NoDecision, fault, self.part(part));
        }
        cycle
    }

    /// Runs a review, in each way that one can end.
    fn invoke(&mut self) {
        let chart = Arc::clone(&self.path.program.chart);
        let Some(at) = self.running("invoke") else { return };
        let cycle = &chart.cycles[at];
        let n = self.path.count_of(at).saturating_add(1);
        let can_run = self.path.has_files(at)
            && cycle.subject.iter().filter(|it| it.0.contains("{{")).all(|list| {
                let list = self.path.program.text(list, None);
                self.path.truth(list, true) == Some(true)
            });
        self.note_fault("invoke");
        let mut ends = self.path.program.outcomes();
        let outcome = match can_run {
            false => Outcome::Failed,
            true => ends.swap_remove(self.path.pick(ends.len())),
        };
        self.done().review = Some((at, outcome, n));
        self.fired();
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
        if is_name && !field.is_nullable() && self.program.terms.may_be_none(term) {
            values.push(NULL);
        }
        values.retain(|value| {
            let is_empty = self.program.terms.value(*value) == Some(&json!(""));
            let is_there = *value != NULL || self.program.terms.may_be_none(term);
            let fits = *value == SOME || self.equals(term, *value, &kind) != Some(false);
            is_there && fits && !(is_empty && self.is_full(term))
        });
        if values.is_empty() {
            return SOME;
        }
        let value = values[self.pick(values.len())];
        if value != SOME && values.len() > 1 {
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
    /// Returns how a review can end.
    pub(super) fn outcomes(&mut self) -> Vec<Outcome> {
        let mut ends = VERDICTS.map(|it| Outcome::Ran(Some(self.terms.known(it)))).to_vec();
        ends.extend([Outcome::Ran(None), Outcome::Failed]);
        ends.extend(self.chart.has_gates().then_some(Outcome::Gate));
        ends
    }

    /// Returns the values that are tried for a field or a setting, which is also a term.
    pub(super) fn values(&mut self, field: &Field) -> Vec<Term> {
        let words = match field.kind {
            FieldType::Phase => Some(self.chart.phases.keys().cloned().collect::<Vec<String>>()),
            FieldType::String => field.one_of.clone(),
            _ => None,
        };
        let mut values: Vec<Term> = match (field.kind, words) {
            (_, Some(words)) => words.into_iter().map(|word| self.terms.known(word)).collect(),
            (FieldType::Boolean, _) => vec![FALSE, TRUE],
            (FieldType::Integer, _) => {
                let tried = self.numbers.tried(field);
                tried.into_iter().map(|number| self.terms.known(number)).collect()
            }
            _ => vec![SOME],
        };
        if Self::minds_empty(field) {
            values.push(self.terms.known(""));
        }
        values.extend(field.is_nullable().then_some(NULL));
        values
    }
}
