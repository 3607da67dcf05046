//! Whether a counterexample of the model checker can really happen: each step is taken by `decide` in a world of files.
//!
//! What was chosen for a step is laid on a disk in memory, and the sets of files, tables and checks are read back from
//! there. A step is real where that leads to what the search says. A choice that no disk can hold is in no counterexample.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::answer::Answer;
use super::decision_tree::{Choices, Leaf, Segment, What, Witness, over};
use super::domain::{Choice, Domain, NO_SLUG};
use super::imagined_world::{Question, is_of_the_host};
use super::moves::{Edge, Moves};
use super::possible_world::{Disk, PossibleWorld, Sibling, event};
use super::report::{Taken, Walk};
use super::search::Search;
use super::state::{Looks, number};
use super::trace;
use crate::chart::field::{default_of, name_part};
use crate::chart::model::Field;
use crate::chart::{Chart, FileSet, RowShape};
use crate::engine::context::Context;
use crate::engine::decide::decide_with;
use crate::engine::decision::{Answer as Reply, Decision, Ended, Outcome, Step};
use crate::engine::evaluator::{Evaluator, InPlace};
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::world::World;
use crate::reviewer::finding::{Finding, Found};

/// How an instance really stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) context: Context,
    pub(super) started: bool,
}

impl Standing {
    /// True where nothing differs but what the user sets at any time, and what counts on.
    pub(super) fn is_like(&self, other: &Self, domain: &Domain) -> bool {
        let kept = |standing: &Self| {
            let fields = standing.context.iter();
            let kept = fields.filter(|(name, _)| !domain.parameters.contains_key(*name));
            kept.map(|(name, value)| (name.clone(), domain.capped(name, value).into_owned()))
                .collect::<Context>()
        };
        self.started == other.started && kept(self) == kept(other)
    }
}

/// How an instance really stands in a state, and the step that led to it, where one did.
type Arrival = (Standing, Option<(usize, usize)>);

/// Steps that have been replayed.
#[derive(Debug)]
pub(super) struct Replay {
    chart: Arc<Chart>,
    /// By state; `None` where no counterexample leads there.
    reached: HashMap<usize, Option<Arrival>>,
    /// What lets a list of checks find this many things, where that is possible.
    checks: HashMap<(String, usize), Option<Witness>>,
    /// By state, the arrows that lead to it; made once it is asked for.
    sources: Vec<Vec<(usize, usize)>>,
    left: usize,
    moves: Moves,
    /// By edge, in how many states witnesses of it were looked for, and these witnesses.
    witnesses: HashMap<usize, (usize, Vec<Witness>)>,
    /// What the user has set, as far as a claim says it: fields and values.
    pub(super) set: Vec<(usize, u32)>,
    /// By edge, a witness that is real.
    real: HashMap<usize, Witness>,
    /// How the last step that was real was taken; `None` where nothing was decided in it.
    taken: Option<Taken>,
}

/// The most states in which witnesses of one edge are looked for.
const TRIES: usize = 4;

/// So many walks to one place are found.
const WALKS: usize = 3;

/// The most decisions that are made to find real witnesses.
const DECISIONS: usize = 20_000;

impl Replay {
    /// Nothing is replayed yet.
    pub(super) fn of(search: &mut Search) -> Self {
        let chart = Arc::clone(&search.moves.tree.chart);
        let tree = &search.moves.tree;
        let asked = tree
            .questions
            .iter()
            .filter_map(|question| match &**question {
                Question::Choice(choice @ Choice::Findings(name)) => Some((choice, name)),
                _ => None,
            });
        let mut wanted: Vec<(String, usize, bool)> = Vec::new();
        for (choice, name) in asked {
            // How many there are does not depend on what fields hold, or any of it.
            let values = tree.ground.domain.values(choice, &mut |_| Json::Null);
            let counts = values
                .iter()
                .filter_map(|found| Some(found.as_array()?.len()));
            let most = counts.clone().max();
            // The most stand for all that are more.
            wanted.extend(counts.map(|count| (name.clone(), count, Some(count) == most)));
        }
        let checks = wanted.into_iter().map(|(name, count, or_more)| {
            let found = finding(search, &name, (count, or_more));
            ((name, count), found)
        });
        Self {
            checks: checks.collect(),
            chart,
            reached: HashMap::new(),
            sources: Vec::new(),
            left: DECISIONS,
            moves: search.moves.hand_over(),
            witnesses: HashMap::new(),
            set: Vec::new(),
            real: HashMap::new(),
            taken: None,
        }
    }

    /// How an instance stands in a state; `None` where something of it is not known.
    fn standing(&self, search: &Search, state: usize) -> Option<Standing> {
        let tree = &search.moves.tree;
        let state = search.states.get(state);
        let fields = self.chart.context.keys().zip(state.fields());
        let context = fields.map(|(name, held)| match tree.answer_of(*held) {
            Answer::Value(value) => Some((name.clone(), value.clone())),
            _ => None,
        });
        Some(Standing {
            context: context.collect::<Option<Context>>()?,
            started: state.is_started(),
        })
    }

    /// The same, with some value for what is not known: good for steps that do not depend on it.
    fn some_standing(&self, search: &Search, state: usize) -> Standing {
        let tree = &search.moves.tree;
        let state = search.states.get(state);
        let fields = self.chart.context.iter().zip(state.fields());
        let value = |field: &Field, held: &Answer| match held {
            Answer::Value(value) => value.clone(),
            _ => default_of(&self.chart, field),
        };
        Standing {
            context: fields
                .map(|((name, field), held)| (name.clone(), value(field, tree.answer_of(*held))))
                .collect(),
            started: state.is_started(),
        }
    }

    /// How an instance really stands in a state; `None` where no counterexample leads there.
    pub(super) fn reach(&mut self, search: &Search, state: usize) -> Option<Standing> {
        // Outermost last: a state is reached by way of others, each of which was found before it.
        let mut open = vec![state];
        while let Some(at) = open.last().copied() {
            if self.reached.contains_key(&at) {
                open.pop();
                continue;
            }
            let Some(parent) = search.parents[at] else {
                let start = self.standing(search, at).map(|standing| (standing, None));
                self.reached.insert(at, start);
                continue;
            };
            if !self.reached.contains_key(&parent.from) {
                open.push(parent.from);
                continue;
            }
            let found = self.arrive(search, at, (parent.from, parent.edge));
            self.reached.insert(at, found);
        }
        self.reached
            .get(&state)?
            .as_ref()
            .map(|(standing, _)| standing.clone())
    }

    fn arrive(&mut self, search: &Search, at: usize, first: (usize, usize)) -> Option<Arrival> {
        if let Some(found) = self.from(search, first) {
            return Some(found);
        }
        if self.sources.is_empty() {
            self.sources = vec![Vec::new(); search.states.len()];
            for state in 0..search.looked_at() {
                for arrow in search.arrows(state) {
                    if arrow.to() != state {
                        self.sources[arrow.to()].push((state, arrow.edge()));
                    }
                }
            }
        }
        let known: Vec<(usize, usize)> = self.sources[at].clone();
        let known = known.into_iter().filter(|step| *step != first).take(24);
        for step in known.collect::<Vec<_>>() {
            // Only by way of what is known already: a state is not reached by way of itself.
            if matches!(self.reached.get(&step.0), Some(Some(_)))
                && let Some(found) = self.from(search, step)
            {
                return Some(found);
            }
        }
        None
    }

    fn from(&mut self, search: &Search, step: (usize, usize)) -> Option<Arrival> {
        let (before, _) = self.reached.get(&step.0)?.clone()?;
        let after = self.step(search, &before, step)?;
        Some((after, Some(step)))
    }

    /// The real way to a state that has been reached.
    pub(super) fn way_to(&self, state: usize) -> Vec<(usize, usize)> {
        let mut way = Vec::new();
        let mut at = state;
        while let Some(Some((_, Some(step)))) = self.reached.get(&at) {
            way.push(*step);
            at = step.0;
        }
        way.reverse();
        way
    }

    /// How an instance stands after a way from how it stands before; `None` where that is not real.
    pub(super) fn follow(
        &mut self,
        search: &Search,
        before: &Standing,
        way: &[(usize, usize)],
    ) -> Option<Standing> {
        way.iter().try_fold(before.clone(), |standing, step| {
            self.step(search, &standing, *step)
        })
    }

    /// The shortest real ways on which the rule at a place fires in the end.
    pub(super) fn walks_to(&mut self, search: &Search, place: &str) -> Vec<Walk> {
        self.left = DECISIONS;
        let place = search.moves.tree.places.get_index_of(place);
        let steps = place.and_then(|place| search.firing.get(&number(place)));
        let steps = steps.into_iter().flatten();
        let steps = steps.filter(|(_, edge)| search.edges[*edge].fault.is_none());
        let ways = steps.filter_map(|step| {
            self.reach(search, step.0)?;
            let mut way = self.way_to(step.0);
            way.push(*step);
            Some(way)
        });
        let mut ways: Vec<_> = ways.collect();
        ways.sort_by_key(Vec::len);
        let walks = ways.iter().filter_map(|way| self.walk(search, way));
        walks.take(WALKS).collect()
    }

    /// The steps of a way from a first state, as they really happen; `None` where that is not real.
    fn walk(&mut self, search: &Search, way: &[(usize, usize)]) -> Option<Walk> {
        let begins = self.standing(search, way.first()?.0)?;
        let mut standing = begins.clone();
        let mut steps = Vec::new();
        for step in way {
            standing = self.step(search, &standing, *step)?;
            steps.extend(self.taken.take());
        }
        Some(Walk {
            begins: begins.context,
            steps,
        })
    }

    /// Takes one step for real from where the search says that it begins.
    pub(super) fn step_from_state(&mut self, search: &Search, step: (usize, usize)) -> bool {
        let before = self.some_standing(search, step.0);
        self.take(search, &before, step, false).is_some()
    }

    /// Takes one step for real.
    pub(super) fn step(
        &mut self,
        search: &Search,
        before: &Standing,
        step: (usize, usize),
    ) -> Option<Standing> {
        self.take(search, before, step, true)
    }

    /// The same; with what was assumed on the way, too, or without.
    fn take(
        &mut self,
        search: &Search,
        before: &Standing,
        (state, edge_number): (usize, usize),
        with_assumed: bool,
    ) -> Option<Standing> {
        let tree = &search.moves.tree;
        let edge = &search.edges[edge_number];
        let mover = &search.moves.all[edge.mover];
        self.taken = None;
        let Some(trigger) = &mover.trigger else {
            return Some(before.clone());
        };
        let mut before = before.clone();
        let mut config = Map::new();
        let needs = edge.needs.iter().map(|(field, set)| {
            let chosen = self.set.iter().find(|(given, _)| given == field);
            let chosen = chosen.map(|(_, value)| *value);
            let chosen = chosen.filter(|value| tree.has(*set, *value));
            (*field, chosen.unwrap_or_else(|| tree.likely(*field, *set)))
        });
        // Where the instance has begun, it can be set so whether or not that makes a difference here.
        let others = self.set.iter().filter(|(set, _)| {
            before.started && edge.needs.iter().all(|(needed, _)| needed != set)
        });
        for (field, value) in needs.chain(others.copied()).collect::<Vec<_>>() {
            let (name, _) = tree.default_of(field)?;
            let value = tree.value(value).clone();
            match name.strip_prefix("config.") {
                Some(setting) => {
                    config.insert(setting.to_owned(), value);
                }
                None => {
                    // Setting it would have written a state.
                    if !before.started && before.context.get(name) != Some(&value) {
                        return None;
                    }
                    before.context.insert(name.to_owned(), value);
                }
            }
        }
        let known = search.states.get(state).answered();
        let known = known.map(|(question, is_there)| (question, json!(is_there)));
        let mut tried = 0;
        for is_new in [false, true] {
            let witnesses = self.witnesses(search, (state, edge_number), is_new);
            for witness in witnesses.iter().skip(tried) {
                tried += 1;
                if !with_assumed && tree.is_assumed_of_conditions(witness) {
                    continue;
                }
                self.left = self.left.checked_sub(1)?;
                if search.moves.tree.budget.is_exhausted() {
                    return None;
                }
                let chosen = witness
                    .iter()
                    .map(|(question, value)| (*question, tree.value(*value).clone()));
                let chosen: Vec<(u32, Json)> = known.clone().into_iter().chain(chosen).collect();
                let Some((event, mut disk, found)) =
                    self.lay_out(search, trigger, &before.context, &chosen)
                else {
                    continue;
                };
                disk.config.extend(config.clone());
                let decided = self.decide(search, &before, (&event, disk.clone(), found), edge);
                if let Some((after, outcome)) = decided {
                    self.real.insert(edge_number, witness.clone());
                    let fired = edge.fired.iter();
                    self.taken = Some(Taken {
                        fired: fired
                            .map(|place| tree.places[*place as usize].clone())
                            .collect(),
                        event,
                        disk,
                        before: before.context,
                        outcome,
                        after: after.context.clone(),
                    });
                    return Some(after);
                }
            }
        }
        None
    }

    /// Returns the known witnesses of an edge; with `is_new`, also new ones in a state.
    fn witnesses(
        &mut self,
        search: &Search,
        (state, number): (usize, usize),
        with_new: bool,
    ) -> Vec<Witness> {
        let (tries, known) = self.witnesses.entry(number).or_default();
        if with_new && *tries < TRIES {
            *tries += 1;
            let new = self
                .moves
                .witnesses(search.states.get(state), &search.edges[number]);
            for witness in new {
                if !known.contains(&witness) {
                    known.push(witness);
                }
            }
        }
        known.clone()
    }

    /// What was chosen for an edge to come about, in words.
    pub(super) fn given(&self, edge: usize) -> Vec<String> {
        let tree = &self.moves.tree;
        let witness = self.real.get(&edge).into_iter().flatten();
        let words = witness.filter_map(|(question, value)| {
            trace::words(tree.question(*question), tree.value(*value))
        });
        words.collect()
    }

    /// Returns what a witness assumes, in words; `None` where nothing was.
    pub(super) fn assumption(&mut self, search: &Search, step: (usize, usize)) -> Option<String> {
        let witnesses = self.witnesses(search, step, true);
        let tree = &self.moves.tree;
        let assumed = witnesses.iter().flatten();
        let assumed = assumed.filter(|choice| tree.is_witness_assumed(&[**choice]));
        let questions = assumed.map(|(question, _)| tree.question(*question));
        let mut sources = questions.filter_map(|question| match question {
            Question::Assumed { source, .. } => Some(source),
            _ => None,
        });
        let source = sources.next()?;
        let dependence = &tree.ground.domain.dependence;
        let open = dependence.open.get(source)?;
        let mut inputs = open.inputs.clone();
        inputs.extend(open.fails.iter().cloned());
        inputs.extend(
            open.looks
                .intersection(&tree.ground.domain.untried)
                .cloned(),
        );
        Some(format!(
            "`{source}` depends on {}, of which not every value that matters is tried",
            super::dependence::in_words(&inputs)
        ))
    }

    /// Whether a condition really holds, or does not.
    pub(super) fn holds(
        &mut self,
        search: &Search,
        standing: &Standing,
        expr: &str,
        witness: &Witness,
    ) -> Option<bool> {
        let names = self.names_at(search, standing, witness)?;
        names.expressions.holds(expr, &names.root()).ok()
    }

    /// Whether a check really finds something, or fails.
    pub(super) fn finds(
        &mut self,
        search: &Search,
        standing: &Standing,
        (list, index): (&str, usize),
        witness: &Witness,
    ) -> Option<Result<bool, String>> {
        let names = self.names_at(search, standing, witness)?;
        let mut found = Vec::new();
        let result = names.find(&self.chart.checks.get(list)?[index], &mut found);
        Some(
            result
                .map(|()| !found.is_empty())
                .map_err(|error| error.to_string()),
        )
    }

    /// The names that expressions see where an instance stands like that and this was chosen.
    fn names_at(
        &self,
        search: &Search,
        standing: &Standing,
        witness: &Witness,
    ) -> Option<Arc<Names>> {
        let tree = &search.moves.tree;
        let chosen = witness.iter();
        let chosen: Vec<(u32, Json)> = chosen
            .map(|(question, value)| (*question, tree.value(*value).clone()))
            .collect();
        let trigger = Trigger::Command(String::new());
        let (standing, config) = self.with_parameters(search, standing, &chosen);
        let (event, mut disk, _) = self.lay_out(search, &trigger, &standing.context, &chosen)?;
        disk.config.extend(config);
        let world = self.world(&standing, disk);
        Some(self.names(search, &world, &event))
    }

    /// The same instance with what was chosen of that which a user sets.
    fn with_parameters(
        &self,
        search: &Search,
        standing: &Standing,
        chosen: &[(u32, Json)],
    ) -> (Standing, Map<String, Json>) {
        let mut standing = standing.clone();
        let mut config = Map::new();
        for (question, value) in chosen {
            let Question::Field(name) = search.moves.tree.question(*question) else {
                continue;
            };
            match name.strip_prefix("config.") {
                Some(setting) => {
                    config.insert(setting.to_owned(), value.clone());
                }
                None => {
                    standing.context.insert(name.clone(), value.clone());
                }
            }
        }
        (standing, config)
    }

    /// The names of a decision, which share what the search has compiled.
    fn names(&self, search: &Search, world: &Arc<dyn World>, event: &Event) -> Arc<Names> {
        let expressions = Arc::clone(&search.moves.tree.ground.expressions);
        let evaluator: Arc<dyn Evaluator> = Arc::new(InPlace);
        Names::with(expressions, &self.chart, (world, &evaluator), event)
    }

    fn world(&self, standing: &Standing, disk: Disk) -> Arc<dyn World> {
        Arc::new(PossibleWorld {
            chart: Arc::clone(&self.chart),
            context: standing.context.clone(),
            started: standing.started,
            disk,
        })
    }

    fn decide(
        &self,
        search: &Search,
        before: &Standing,
        (event, disk, found): (&Event, Disk, Found),
        edge: &Edge,
    ) -> Option<(Standing, Option<Outcome>)> {
        let tree = &search.moves.tree;
        let world = self.world(before, disk);
        let names = || self.names(search, &world, event);
        let mut step = decide_with(names(), &event.trigger, None);
        let mut outcome = None;
        if let Ok(Step::Invoke(invocation)) = &step {
            let run = &tree.runs[edge.review? as usize];
            let ended = match &run.outcome {
                Outcome::Ran { verdict, .. } => Outcome::Ran {
                    verdict: verdict.clone(),
                    found,
                },
                other => other.clone(),
            };
            outcome = Some(ended.clone());
            let ended = Ended::new((**invocation).clone(), ended);
            step = decide_with(names(), &event.trigger, Some(ended));
        }
        if let Some(fault) = edge.fault {
            let fault = &tree.faults[fault as usize];
            let is_same = match step {
                Err(found) => place_of(&found) == place_of(fault),
                // A fault in a text for a reviewer is a review that fails.
                Ok(_) => {
                    outcome.is_none()
                        && place_of(fault).is_some_and(|place| place.starts_with("invoke."))
                }
            };
            return is_same.then(|| (before.clone(), outcome));
        }
        let Ok(Step::Done(decision)) = step else {
            return None;
        };
        self.is_as_told(search, &decision, edge).then(|| {
            let mut after = before.clone();
            after.started |= !decision.patch.is_empty();
            after.context.extend(decision.patch);
            (after, outcome)
        })
    }

    fn is_as_told(&self, search: &Search, decision: &Decision, edge: &Edge) -> bool {
        let tree = &search.moves.tree;
        let fired = edge.fired.iter().map(|place| &tree.places[*place as usize]);
        let assigned = edge.assigned.iter().chain(&edge.sets);
        let mut assigned = assigned
            .filter_map(|(field, value)| Some((self.chart.context.get_index(*field)?.0, *value)));
        fired.eq(decision.fired.iter().map(|fired| &fired.place))
            && matches!(decision.answer, Reply::Block(_)) == edge.block
            && assigned.all(|(name, value)| {
                let domain = &tree.ground.domain;
                let patched = decision.patch.get(name);
                *tree.answer_of(value) == Answer::Unknown
                    || patched.is_some_and(|it| *domain.capped(name, it) == *tree.value(value))
            })
    }

    /// An event and a disk on which what was chosen is so, as far as that can be.
    fn lay_out(
        &self,
        search: &Search,
        trigger: &Trigger,
        context: &Context,
        chosen: &[(u32, Json)],
    ) -> Option<(Event, Disk, Found)> {
        let tree = &search.moves.tree;
        let mut disk = Disk {
            now: "20260101T000000".to_owned(),
            ..Disk::default()
        };
        let mut event = event(trigger.clone(), Map::new());
        let mut found = Found::default();
        let mut fields = Map::new();
        let mut tables: BTreeMap<&str, Map<String, Json>> = BTreeMap::new();
        let mut more: Vec<(u32, Json)> = Vec::new();
        for (question, value) in chosen {
            if let Question::Choice(Choice::Findings(name)) = tree.question(*question) {
                let count = value.as_array().map_or(0, Vec::len);
                let choices = self.checks.get(&(name.clone(), count))?.as_ref()?;
                let values = choices.iter();
                more.extend(
                    values.map(|(question, value)| (*question, tree.value(*value).clone())),
                );
            }
        }
        for (question, value) in more.iter().chain(chosen) {
            let choice = match tree.question(*question) {
                Question::Answered { answer, review } => {
                    disk.files.insert(review.clone(), (String::new(), 1));
                    if *value == json!(true) {
                        disk.files.insert(answer.clone(), (String::new(), 2));
                    }
                    continue;
                }
                Question::Choice(choice) => choice,
                Question::Field(_)
                | Question::Started
                | Question::Assumed { .. }
                | Question::Outcome { .. } => continue,
            };
            match choice {
                Choice::Files(name) => {
                    let set = self.chart.files.get(name)?;
                    let files = files_of(set, value)?;
                    disk.files
                        .extend(files.into_iter().map(|(name, text)| (name, (text, 0))));
                }
                Choice::Rows(name) => {
                    tables
                        .entry(name)
                        .or_default()
                        .insert("rows".to_owned(), value.clone());
                }
                Choice::Content { table, key } => {
                    tables
                        .entry(table)
                        .or_default()
                        .insert((*key).to_owned(), value.clone());
                }
                Choice::Event(name) => {
                    fields.insert(name.clone(), value.clone());
                }
                Choice::Arg(name) if !value.is_null() => {
                    event.args.insert(name.clone(), value.clone());
                }
                Choice::Session => event.session = value.as_str().map(str::to_owned),
                Choice::Driver => disk.driver = value.as_str().map(str::to_owned),
                Choice::Worst => found.findings.extend(value.as_str().map(finding_of)),
                Choice::Stalled => disk.stalled = *value == json!(true),
                Choice::Over => disk.over = value.as_str().map(str::to_owned),
                Choice::Postponed => disk.postponed = value.as_str().map(str::to_owned),
                Choice::Dirty => disk.dirty = *value == json!(true),
                Choice::Siblings => disk.siblings = self.siblings(value)?,
                Choice::Arg(_) | Choice::Findings(_) => {}
            }
        }
        for (name, chosen) in tables {
            if let Some((file, text)) = self.table(name, &chosen, context) {
                disk.files.insert(file, (text, 0));
            }
        }
        if is_of_the_host(trigger) {
            let session = fields.get("session_id").and_then(Json::as_str);
            let session = session.filter(|id| !id.is_empty()).map(str::to_owned);
            event.session = session.or(event.session);
        }
        event.fields = json!(fields);
        Some((event, disk, found))
    }

    fn siblings(&self, value: &Json) -> Option<Vec<Sibling>> {
        let mut all: Vec<Sibling> = Vec::new();
        for sibling in value.as_array()? {
            let is_unreadable = sibling.get("unreadable") == Some(&json!(true));
            let context = sibling.get("context")?.as_object()?.clone();
            let mut files = BTreeMap::new();
            for (name, list) in sibling.get("files")?.as_object()? {
                files.extend(files_of(self.chart.files.get(name)?, list)?);
            }
            let mut name = sibling.get("name")?.as_str()?.to_owned();
            // A name that means nothing is as good as another.
            if all.iter().any(|known| known.name == name) {
                name.push_str("-too");
            }
            all.push(Sibling {
                name,
                context: (!is_unreadable).then(|| context.into_iter().collect()),
                files,
                idle_hours: sibling.get("idle_hours")?.as_u64()?,
            });
        }
        Some(all)
    }

    /// The file of a table and what it holds; `None` where there is none.
    fn table(
        &self,
        name: &str,
        chosen: &Map<String, Json>,
        context: &Context,
    ) -> Option<(String, String)> {
        let table = self.chart.tables.get(name)?;
        let part = |hole: &str| context.get(hole).and_then(name_part).ok_or(());
        let file = table.file.render(part).ok()?;
        let rows = chosen
            .get("rows")
            .and_then(Json::as_array)
            .map_or(&[][..], Vec::as_slice);
        let is_true = |key: &str| chosen.get(key) == Some(&json!(true));
        let wanted = chosen.get("lines").and_then(Json::as_u64).unwrap_or(0);
        if rows.is_empty() && !is_true("exists") {
            return None;
        }
        let mut lines: Vec<String> = Vec::new();
        if is_true("prose") {
            lines.push("Words.".to_owned());
        }
        let cell = |row: &Json, name: &str| {
            let text = row.get(name).and_then(Json::as_str).unwrap_or_default();
            text.replace('|', "\\|")
        };
        match &table.rows {
            RowShape::Columns(columns) => {
                let separator = format!("|{}", "---|".repeat(columns.len()));
                if is_true("lacks") {
                    // A table of its own that has no column for the id.
                    lines.push(format!("|{}", " Other |".repeat(columns.len())));
                    lines.push(separator.clone());
                }
                if !rows.is_empty() || is_true("unusable") || is_true("head") && !is_true("lacks") {
                    let headings = columns.values().filter_map(|names| names.first());
                    let headings: Vec<&str> = headings.map(String::as_str).collect();
                    lines.push(format!("| {} |", headings.join(" | ")));
                    lines.extend(is_true("lacks").then_some(separator));
                }
                for row in rows {
                    let cells: Vec<String> = columns.keys().map(|name| cell(row, name)).collect();
                    lines.push(format!("| {} |", cells.join(" | ")));
                }
                if is_true("unusable") {
                    lines.push(format!(
                        "|{}",
                        format!(" {NO_SLUG} |").repeat(columns.len())
                    ));
                }
            }
            RowShape::Line(pattern) => {
                for row in rows {
                    lines.push(pattern.render(|hole| Ok::<_, ()>(cell(row, hole))).ok()?);
                }
            }
        }
        while (lines.len() as u64) < wanted.min(100_000) {
            lines.push(String::new());
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Some((file, text))
    }
}

/// A finding of that severity.
fn finding_of(severity: &str) -> Finding {
    Finding {
        severity: severity.to_owned(),
        file: None,
        line: None,
        title: "it is wrong".to_owned(),
    }
}

/// The files of a list that was chosen for a set, with the lines that it asks for.
fn files_of(set: &FileSet, list: &Json) -> Option<Vec<(String, String)>> {
    let file = |file: &Json| {
        let name = file.get("name")?.as_str()?.to_owned();
        let lines = file
            .get("lines")
            .and_then(Json::as_array)
            .into_iter()
            .flatten();
        let lines = lines.map(|line| {
            let text = |hole: &str| line.get(hole).and_then(Json::as_str).unwrap_or_default();
            let rendered = set
                .line
                .as_ref()?
                .render(|hole| Ok::<_, ()>(text(hole).to_owned()));
            Some(rendered.ok()? + "\n")
        });
        Some((name, lines.collect::<Option<String>>()?))
    };
    let mut files: Vec<(String, String)> = Vec::new();
    for (name, text) in list
        .as_array()?
        .iter()
        .map(file)
        .collect::<Option<Vec<_>>>()?
    {
        let is_taken = |name: &str| files.iter().any(|(taken, _)| taken == name);
        let name = match is_taken(&name) {
            false => name,
            true => (1..1_000_u32)
                .flat_map(|number| others_like(&name, number))
                .find(|other| !is_taken(other) && set.matches(other).is_some())?,
        };
        files.push((name, text));
    }
    Some(files)
}

/// Names that are like another: with another number in it, or a number more.
fn others_like(name: &str, number: u32) -> Vec<String> {
    let end = name
        .rfind(|sign: char| sign.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let start = name[..end]
        .rfind(|sign: char| !sign.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let dot = name.find('.').unwrap_or(name.len());
    let renumbered = format!("{}{}{}", &name[..start], 1_000 + number, &name[end..]);
    let more = format!("{}{number}{}", &name[..dot], &name[dot..]);
    match end {
        0 => vec![more],
        _ => vec![renumbered, more],
    }
}

fn place_of(fault: &Fault) -> Option<&str> {
    match fault {
        Fault::Expression { place, .. }
        | Fault::Assignment { place, .. }
        | Fault::NoCycle { place } => Some(place),
        Fault::NowhereToAdvance { cycle } => Some(cycle),
        Fault::Argument { .. } | Fault::File(_) | Fault::World(_) => None,
    }
}

/// The most ways through the checks that are looked at to find one in which they find as much as they should.
const PATHS: usize = 2_000;

/// Returns choices under which the checks of a list find this many things, or more, in the first state.
fn finding(search: &mut Search, name: &str, (wanted, or_more): (usize, bool)) -> Option<Witness> {
    let chart = Arc::clone(&search.moves.tree.chart);
    let (list, _, checks) = chart.checks.get_full(name)?;
    let state = search.states.get(0).to_situation();
    let trigger = Trigger::Command(String::new());
    let mut open = vec![(0, wanted, Choices::new())];
    for _ in 0..PATHS {
        let (index, wanted, chosen) = open.pop()?;
        if index == checks.len() {
            match wanted {
                0 => return search.moves.tree.witnesses(&chosen).into_iter().next(),
                _ => continue,
            }
        }
        let segment = Segment {
            what: What::Check { list, index },
            review: None,
        };
        let tree = &mut search.moves.tree;
        let looks = &mut Looks::default();
        let ends = tree.walk(segment, &trigger, state.as_ref(), &chosen, looks);
        let found = |leaf: &Leaf| match leaf {
            Leaf::Value(value) => usize::try_from(tree.value(*value).as_u64()?).ok(),
            Leaf::Part(_) | Leaf::Fault(_) => None,
        };
        let ends = ends.iter().filter_map(|end| {
            let found = found(&tree.leaves[end.leaf as usize])?;
            let left = match or_more {
                true => Some(wanted.saturating_sub(found)),
                false => wanted.checked_sub(found),
            }?;
            Some((found, (index + 1, left, over(&chosen, &end.choices()))))
        });
        let mut ends: Vec<_> = ends.collect();
        // What finds most is tried first: the last of them.
        ends.sort_by_key(|(found, _)| *found);
        open.extend(ends.into_iter().map(|(_, end)| end));
    }
    None
}
