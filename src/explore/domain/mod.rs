//! The values that the model checker tries for each input of a decision, taken from what the chart compares it with.
//!
//! A boolean is both; a word of a known set is each; an integer is each number it is compared with, that minus one and
//! plus one; a text is each literal and each context field it is compared with, and one that is none of them. What
//! lists are tried with is in [`super::items`].

mod choice;
mod files;
mod inputs;
pub(crate) mod reach;
mod tables;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use indexmap::IndexSet;
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};

use super::answer::Answer;
use super::budget::LONGEST_TEXT;
use super::counters::tops;
use super::dependence::{Compared, Dependence, Openness};
use super::items::{self, Tried};
use crate::chart::Chart;
use crate::chart::model::Limited;
use crate::engine::names::types;
use crate::expr::Expressions;
use crate::expr::pieces::Piece;
use crate::expr::types::Type;
use crate::hash::IndexMap;
pub use choice::Choice;
pub(crate) use choice::item_in_words;

/// A number that is greater than all that a chart names, by this much, is the result of counting.
const COUNTED: u64 = 1_000;

/// How many times a gate has failed.
const GATE_TIMES: &str = "gate.times";

/// Where the values of a chart's inputs come from.
#[derive(Debug)]
pub struct Domain {
    pub(super) chart: Arc<Chart>,
    pub dependence: Dependence,
    /// What the user can set at any time, by number: settings and context fields, with the values that are tried; the
    /// default first.
    pub(crate) parameters: IndexMap<usize, Arc<[Answer]>>,
    /// What a rule invokes, where it makes no difference which of several processes that is.
    pub invoked: HashMap<String, String>,
    /// Inputs with too many values that matter: whatever looks at them is open.
    pub untried: BTreeSet<String>,
    /// Counters of which one value stands for all that are greater, and that value.
    pub(super) tops: HashMap<String, i64>,
    /// Fields that hold an unknown value once they outgrow what is tried.
    grown: BTreeSet<String>,
    /// No number of the chart is near this one: what counts as far as that counts on.
    far: u64,
    /// What an input is compared with that nothing asks for.
    nothing: Compared,
    pub(crate) expressions: Arc<Expressions>,
    pub(crate) found_out: FoundOut,
}

/// What was found out before.
#[derive(Debug, Default)]
pub(crate) struct FoundOut {
    /// Values that were made.
    pub(crate) values: Mutex<FxHashMap<Choice, Vec<Made>>>,
    /// What expressions and texts reach, by their sources.
    reaches: BySource<Reach>,
    /// What the chart's texts are made of.
    pieces: BySource<Arc<[Piece]>>,
    /// The types of those that always have a value.
    totals: BySource<Option<Type>>,
}

/// What was found out about expressions and texts.
type BySource<V> = Mutex<FxHashMap<String, V>>;

/// The values of one choice, where the fields that they depend on hold this.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) held: Vec<(String, Json)>,
    pub(crate) values: Arc<[Answer]>,
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
    /// Something that may have no value, as far as types tell.
    may_fail: bool,
    /// Something of a cycle that trying values does not settle.
    open: bool,
}

/// Returns what a setting is called beside context fields, whose names have no dot.
pub fn config_path(name: &str) -> String {
    format!("config.{name}")
}

/// Returns the number of a context field, or of a setting: these follow, and are in no state.
pub(super) fn field_of(chart: &Chart, name: &str) -> Option<usize> {
    let setting = || {
        let index = chart.config.get_index_of(name.strip_prefix("config.")?)?;
        Some(chart.context.len() + index)
    };
    chart.context.get_index_of(name).or_else(setting)
}

/// The values of inputs, where context fields and settings stand as they are read.
pub struct Values<'d> {
    domain: &'d Domain,
    read: &'d dyn Fn(&str) -> Json,
    /// Numbers and texts that are tried beside those that the chart compares an input with.
    more: &'d [Json],
}

impl Deref for Values<'_> {
    type Target = Domain;

    /// Returns where the values come from.
    fn deref(&self) -> &Domain {
        self.domain
    }
}

/// Returns true where a setting is looked for in a text that is also compared with something else: the setting can be a
/// part of that, or all of it, and its values are chosen without a look at it.
fn has_a_setting_among_others(compared: &Compared) -> bool {
    let parts = compared.parts.len() + compared.part_fields.len();
    let is_alone = compared.literals.is_empty()
        && compared.fields.is_empty()
        && parts == 1
        && !compared.trimmed
        && !compared.linked;
    let mut fields = compared.part_fields.iter();
    fields.any(|field| field.starts_with("config.")) && !is_alone
}

/// Values of no meaning to any chart: what a text is that equals nothing it is compared with.
fn fresh() -> impl Iterator<Item = String> {
    (1..).map(|number: u32| number.to_string())
}

/// Returns each `invoke` of a rule that means processes with the same verdicts, and the first of these.
fn invoked(chart: &Chart) -> HashMap<String, String> {
    let invokes = chart.on.values().flatten();
    let invokes = invokes.filter_map(|rule| rule.invoke.as_ref());
    let one = invokes.filter_map(|invoke| {
        let names = types::invoked(chart, invoke)?;
        let (first, process) = chart.invoke.iter().find(|(name, _)| names.contains(name))?;
        let is_like_it = |name: &String| {
            let other = chart.invoke.get(name);
            other.is_some_and(|other| other.verdicts == process.verdicts)
        };
        let is_same = names.iter().all(is_like_it);
        is_same.then(|| (invoke.clone(), first.clone()))
    });
    one.collect()
}

impl Domain {
    /// Reads all expressions of `chart`.
    pub fn of(chart: &Arc<Chart>, grown: &BTreeSet<String>) -> Self {
        let mut domain = Self {
            chart: Arc::clone(chart),
            dependence: Dependence::default(),
            parameters: IndexMap::default(),
            invoked: invoked(chart),
            untried: BTreeSet::new(),
            tops: HashMap::new(),
            grown: grown.clone(),
            far: 0,
            nothing: Compared::default(),
            expressions: Arc::new(Expressions::new(chart.templates.clone())),
            found_out: FoundOut::default(),
        };
        domain.dependence.clouded.clone_from(grown);
        // A field that takes what is not tried is unknown, and then so is what it is compared with.
        let size = |it: &Self| {
            let Dependence { clouded, derived, .. } = &it.dependence;
            it.untried.len() + clouded.len() + derived.len()
        };
        loop {
            let before = size(&domain);
            domain.dependence = Dependence::of(chart, &domain.untried, &domain.dependence);
            domain.parameters = domain.find_parameters();
            domain.untried.extend(domain.too_many());
            if size(&domain) == before {
                domain.far = domain.greatest().saturating_add(COUNTED);
                domain.tops = tops(chart, &domain.dependence, |name| domain.parameter(name));
                return domain;
            }
        }
    }

    /// Returns the greatest number that the chart names or that is tried, whatever its sign.
    fn greatest(&self) -> u64 {
        let chart = &self.chart;
        let compared = self.dependence.compared.values();
        let compared = compared.flat_map(|compared| &compared.literals);
        let tried = self.parameters.values().flat_map(|values| values.iter());
        let known = compared.chain(tried.map(Answer::value));
        let known = known.filter_map(Json::as_i64);
        let fields = chart.context.values().map(|field| &field.default);
        let defaults = fields.chain(chart.args.values().map(|arg| &arg.default));
        let assigned = chart.assigns().flat_map(IndexMap::values);
        let literals = assigned.chain(defaults.flatten());
        let literals = literals.filter_map(|literal| literal.json().as_i64());
        let numbers = self.dependence.numbers.iter().copied();
        let numbers = numbers.chain(known).chain(literals);
        numbers.map(i64::unsigned_abs).max().unwrap_or(0)
    }

    /// Returns what a field's value is explored as.
    pub(super) fn capped<'v>(&self, field: &str, value: &'v Json) -> Cow<'v, Json> {
        let top = self.tops.get(field).copied();
        match top.filter(|top| value.as_i64().is_some_and(|value| value > *top)) {
            Some(top) => Cow::Owned(top.into()),
            None => Cow::Borrowed(value),
        }
    }

    /// Returns whether a value is longer or further from 0 than those that are tried.
    pub(super) fn is_beyond(&self, value: &Json) -> bool {
        let number = value.as_i64().map_or(0, i64::unsigned_abs);
        number > self.far || value.as_str().is_some_and(|text| text.len() > LONGEST_TEXT)
    }

    /// Returns what a field holds that a decision has assigned this.
    pub(super) fn held(&self, field: &str, value: &Json) -> Answer {
        match self.grown.contains(field) && self.is_beyond(value) {
            true => Answer::Unknown,
            false => Answer::held(self.capped(field, value).into_owned()),
        }
    }

    /// Returns the inputs of an expression of which not every value that matters is tried.
    pub(super) fn untried_by(&self, source: &str) -> BTreeSet<String> {
        let open = self.open(source).into_iter();
        let inputs = open.flat_map(|open| self.open_inputs(open).chain(&open.fails));
        inputs.cloned().collect()
    }

    /// Returns the inputs on which the value of an expression depends in ways that no trial settles.
    pub(super) fn open_inputs<'o>(
        &'o self,
        open: &'o Openness,
    ) -> impl Iterator<Item = &'o String> {
        let untried = open.looks.intersection(&self.untried);
        open.inputs.iter().chain(untried)
    }

    /// Returns the values that are tried for a field or a setting that the user sets at any time; `None` for any other.
    pub(super) fn parameter(&self, name: &str) -> Option<&[Answer]> {
        let field = field_of(&self.chart, name)?;
        self.parameters.get(&field).map(AsRef::as_ref)
    }

    /// Returns what an input is compared with.
    fn compared(&self, path: &str) -> &Compared {
        self.dependence.compared.get(path).unwrap_or(&self.nothing)
    }

    /// Returns whether anything asks for the value of an input.
    fn is_compared(&self, path: &str) -> bool {
        self.dependence.compared.contains_key(path)
    }

    /// Returns the values of inputs; `read` gives context fields and settings as they stand.
    pub(crate) fn reading<'d>(&'d self, read: &'d dyn Fn(&str) -> Json) -> Values<'d> {
        Values { domain: self, read, more: &[] }
    }
}

impl<'d> Values<'d> {
    /// Returns the same, with these numbers and texts beside them.
    pub(crate) fn and(self, more: &'d [Json]) -> Self {
        Self { more, ..self }
    }

    /// Returns the values of `choice`; the first one is the quietest.
    pub(crate) fn of(&self, choice: &Choice) -> Vec<Json> {
        self.tried(choice).values
    }

    /// Returns the values of `choice`, and whether they are all that matter.
    fn tried(&self, choice: &Choice) -> Tried<Json> {
        let (chart, nothing) = (&self.chart, || Tried::all(Vec::new()));
        let both = || vec![json!(false), json!(true)];
        Tried::all(match choice {
            Choice::Files(name) => {
                let set = chart.files.get(name);
                return set.map_or_else(nothing, |set| self.files(name, set));
            }
            Choice::Rows(name) => {
                let table = chart.tables.get(name);
                return table.map_or_else(nothing, |table| self.rows(name, table));
            }
            Choice::Event(field) => return self.event(field),
            Choice::Siblings => {
                let kinds = self.kinds_of_siblings();
                return self.lists("siblings", &kinds);
            }
            Choice::Findings(name) => {
                let counts = self.findings(name);
                let is_all = counts.last().is_none_or(|most| *most <= items::LONGEST);
                let counts = counts.into_iter().filter(|count| *count <= items::LONGEST);
                let values = counts.map(|count| json!(vec!["a finding"; count]));
                let values = values.collect();
                return Tried { values, is_all };
            }
            Choice::Content { table, key: "lines" } => {
                self.integers(&format!("tables.{table}.lines"), Some(0), 0)
            }
            Choice::Content { .. } | Choice::Stalled | Choice::Dirty => both(),
            Choice::Arg(name) => {
                let arg = chart.args.get(name);
                arg.map_or_else(Vec::new, |arg| self.arg(name, arg))
            }
            Choice::Session => {
                // With an instance for each session, no command runs without one.
                let unknown = (!self.chart.scope.is_per_session()).then_some(Json::Null);
                let known = self.ids("session");
                unknown.into_iter().chain(known).collect()
            }
            Choice::Driver => vec![Json::Null, json!("this"), json!("other")],
            Choice::Worst => {
                let named = &self.compared("review.worst").literals;
                let is_named = |severity: &&String| named.contains(&json!(severity));
                let all = self.chart.findings.severities.iter();
                let (named, others): (Vec<&String>, Vec<&String>) = all.partition(is_named);
                // Those that no rule names are all the same.
                let severities = others.into_iter().take(1).chain(named);
                let severities = severities.map(|severity| json!(severity));
                std::iter::once(Json::Null).chain(severities).collect()
            }
            Choice::Ran => vec![json!(true), json!(false)],
            Choice::Over => {
                let kept = |limited: &&Limited| self.chart.budget.of(**limited).is_some();
                let kept = Limited::ALL.iter().filter(kept);
                let words = kept.map(|limited| json!(limited.key()));
                [Json::Null].into_iter().chain(words).collect()
            }
            Choice::Postponed => vec![Json::Null, json!("18:23 UTC")],
        })
    }

    /// Returns the texts that `path` can be: each it is compared with, those with the parts that are looked for in it,
    /// then one that is none of them. Where it is compared with other inputs, there are several of these.
    pub(super) fn texts(&self, path: &str) -> Vec<Json> {
        let mut texts = self.known_texts(path);
        let more = self.more.iter().filter_map(Json::as_str);
        texts.extend(more.map(str::to_owned));
        let compared = self.compared(path);
        let parts = self.parts(path);
        let others = 1 + usize::from(compared.linked);
        let is_none = |text: &String, texts: &IndexSet<String>| {
            !texts.contains(text) && !parts.iter().any(|part| text.contains(part.as_str()))
        };
        let apart = ["·", "|", "~", "#", "^"]
            .into_iter()
            .find(|sign| !parts.iter().chain(&texts).any(|text| text.contains(sign)))
            .unwrap_or("·");
        // Each subset of the parts, but for the empty one.
        for subset in 1_usize..1 << parts.len().min(MOST_PARTS) {
            let chosen = parts.iter().enumerate();
            let chosen = chosen.filter(|(index, _)| subset >> index & 1 == 1);
            let chosen: Vec<&str> = chosen.map(|(_, part)| part.as_str()).collect();
            let mut text = chosen.join(apart);
            if texts.contains(&text) {
                text.push_str(apart);
            }
            texts.insert(text);
        }
        let none = fresh().filter(|text| is_none(text, &texts));
        let others: Vec<String> = none.take(others).collect();
        texts.extend(others);
        if compared.trimmed {
            let padded: Vec<String> = texts.iter().map(|text| format!(" {text}")).collect();
            texts.extend(padded);
        }
        if compared.slug {
            texts.insert(NO_SLUG.to_owned());
        }
        texts.into_iter().map(Json::from).collect()
    }

    /// Returns the texts that `path` can be, where it is the id of a session and never empty.
    pub(super) fn ids(&self, path: &str) -> Vec<Json> {
        let mut texts = self.texts(path);
        texts.retain(|text| *text != json!(""));
        texts
    }

    /// Returns what is looked for in the text that `path` is.
    pub(super) fn parts(&self, path: &str) -> IndexSet<String> {
        let compared = self.compared(path);
        let literals = compared.parts.iter().cloned();
        let parts = literals.chain(self.held(&compared.part_fields));
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// Returns the texts that `path` is compared with.
    pub(super) fn known_texts(&self, path: &str) -> IndexSet<String> {
        let compared = self.compared(path);
        let literals = compared.literals.iter().filter_map(Json::as_str);
        let literals = literals.map(str::to_owned);
        literals.chain(self.held(&compared.fields)).collect()
    }

    /// Returns the texts that fields hold.
    fn held(&self, fields: &IndexSet<String>) -> impl Iterator<Item = String> {
        let held = fields.iter().map(|field| (self.read)(field));
        held.filter_map(|held| held.as_str().map(str::to_owned))
    }

    /// Returns the integers that `path` can be: on both sides of each it is compared with.
    pub(super) fn integers(&self, path: &str, minimum: Option<i64>, fallback: i64) -> Vec<Json> {
        let compared = self.compared(path);
        let literals = compared.literals.iter().filter_map(Json::as_i64);
        let held = compared.fields.iter().map(|field| (self.read)(field));
        let beside = literals.chain(held.filter_map(|held| held.as_i64()));
        let sides = beside.flat_map(|it| [it.saturating_sub(1), it, it.saturating_add(1)]);
        let bounded = |number: i64| number.max(minimum.unwrap_or(i64::MIN));
        let mut numbers: IndexSet<i64> = sides.map(bounded).collect();
        if numbers.is_empty() {
            numbers.insert(bounded(fallback));
        }
        let more = self.more.iter().filter_map(Json::as_i64);
        numbers.extend(more.filter(|number| minimum.is_none_or(|least| *number >= least)));
        // The least value there is, where something goes into a field that takes none below 0.
        numbers.insert(minimum.unwrap_or(-1));
        numbers.sort_unstable();
        numbers.into_iter().map(Json::from).collect()
    }
}

/// A text that cannot be part of a file's name.
pub(super) const NO_SLUG: &str = "no slug";

/// The number of parts looked for in one text of which every combination is tried.
const MOST_PARTS: usize = 5;

/// Returns a value as it stands in a name.
fn raw(value: &Json) -> String {
    let text = value.as_str();
    text.map_or_else(|| value.to_string(), str::to_owned)
}
