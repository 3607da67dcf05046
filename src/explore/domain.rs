//! The values that the model checker tries for each input of a decision, taken from what the chart holds it against.
//!
//! A boolean is both; a word of a known set is each; an integer is each number it is compared with, that minus one and
//! plus one; a text is each literal and each context field it is compared with, and one that is none of them. What
//! lists are tried with is in [`super::items`].

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value as Json, json};

use super::counters::tops;
use super::dependence::{Compared, Dependence, LENGTH};
use super::items::{self, Wanted};
use super::user_fields::{Parameters, assigns_arg};
use crate::chart::field::default_of;
use crate::chart::model::{Arg, FieldType, Limited};
use crate::chart::{Chart, FileSet, RowShape, Table};
use crate::engine::decision::FailedGate;
use crate::engine::names::types;
use crate::expr::source::Literal;
use crate::files::pattern::{Capture, HoleKind, LinePattern, Pattern, is_slug};
use crate::files::table::is_finished;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};

/// A value that a decision looks at and that neither the state nor the chart determines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Choice {
    /// `files.NAME`.
    Files(String),
    /// The rows of `tables.NAME`.
    Rows(String),
    /// `exists`, `head`, `prose` or `lines` of `tables.NAME`.
    Content { table: String, key: &'static str },
    /// A field of the event.
    Event(String),
    /// An option; null: it was left out.
    Arg(String),
    /// The session that asks.
    Session,
    /// Until when no reviewer can run.
    Postponed,
    /// The budget that is used up.
    Over,
    /// The worst severity that a review has found.
    Worst,
    /// The last reviews found something, and nothing has changed.
    Stalled,
    /// What the checks of `checks.NAME` find.
    Findings(String),
    /// Who drives the instance.
    Driver,
    /// `git.dirty`.
    Dirty,
    /// `siblings`.
    Siblings,
}

impl Choice {
    /// What expressions call it, down to what is chosen as one.
    pub fn root(&self) -> String {
        match self {
            Self::Files(name) => format!("files.{name}"),
            Self::Rows(name) | Self::Content { table: name, .. } => format!("tables.{name}"),
            Self::Event(name) => format!("event.{name}"),
            Self::Arg(name) => format!("args.{name}"),
            Self::Session => "session".to_owned(),
            Self::Findings(name) => format!("checks.{name}"),
            Self::Driver => "driver".to_owned(),
            Self::Postponed => "postponed".to_owned(),
            Self::Over => "spent.over".to_owned(),
            Self::Worst => "review.worst".to_owned(),
            Self::Stalled => "cycle.stalled".to_owned(),
            Self::Dirty => "git.dirty".to_owned(),
            Self::Siblings => "siblings".to_owned(),
        }
    }
}

/// A number that is greater than all that a chart names, by this much, is the result of counting.
const COUNTED: u64 = 1_000;

/// How many times a gate has failed.
const GATE_TIMES: &str = "gate.times";

/// Where the values of a chart's inputs come from.
#[derive(Debug)]
pub struct Domain {
    pub(super) chart: Arc<Chart>,
    pub dependence: Dependence,
    /// Settings, and context fields that only a user sets.
    pub parameters: Parameters,
    /// What a rule invokes, where it makes no difference which of several processes that is.
    pub invoked: HashMap<String, String>,
    /// Inputs with too many values that matter: whatever looks at them is open.
    pub untried: BTreeSet<String>,
    /// Counters of which one value stands for all that are greater, and that value.
    pub(super) tops: HashMap<String, i64>,
    /// No number of the chart is near this one: what counts as far as that counts on.
    pub(super) far: u64,
}

/// What a setting is called beside context fields, whose names have no dot.
pub fn config_path(name: &str) -> String {
    format!("config.{name}")
}

/// Reads a context field or a setting as it stands.
pub type Read<'r> = dyn FnMut(&str) -> Json + 'r;

/// True where a setting is looked for in a text that is also compared with something else: the setting can be a part of
/// that, or all of it, and its values are chosen without a look at it.
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

/// Each `invoke` of a rule that means processes with the same verdicts, and the first of these.
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
    pub fn of(chart: &Arc<Chart>) -> Self {
        let mut domain = Self {
            chart: Arc::clone(chart),
            dependence: Dependence::default(),
            parameters: Parameters::new(),
            invoked: invoked(chart),
            untried: BTreeSet::new(),
            tops: HashMap::new(),
            far: 0,
        };
        // A field that takes what is not tried is unknown, and then so is what it is compared with.
        loop {
            domain.dependence = Dependence::of(chart, &domain.untried);
            domain.parameters = domain.find_parameters();
            let before = domain.untried.len();
            domain.untried.extend(domain.too_many());
            if domain.untried.len() == before {
                domain.far = domain.greatest().saturating_add(COUNTED);
                domain.tops = tops(chart, &domain.parameters);
                return domain;
            }
        }
    }

    /// The greatest number that the chart names or that is tried, whatever its sign.
    fn greatest(&self) -> u64 {
        let chart = &self.chart;
        let compared = self.dependence.compared.values();
        let tried = self.parameters.values().flat_map(|values| values.iter());
        let known = compared
            .flat_map(|compared| &compared.literals)
            .chain(tried);
        let fields = chart
            .context
            .values()
            .filter_map(|field| field.default.as_ref());
        let args = chart.args.values().filter_map(|arg| arg.default.as_ref());
        let literals = chart
            .assigns()
            .flat_map(IndexMap::values)
            .chain(fields)
            .chain(args);
        let literals = literals.filter_map(|literal| match literal {
            Literal::Integer(number) => Some(*number),
            _ => None,
        });
        let numbers = self.dependence.numbers.iter().copied();
        let numbers = numbers
            .chain(known.filter_map(Json::as_i64))
            .chain(literals);
        numbers.map(i64::unsigned_abs).max().unwrap_or(0)
    }

    /// What a field's value is explored as.
    pub(super) fn capped<'v>(&self, field: &str, value: &'v Json) -> Cow<'v, Json> {
        let top = self.tops.get(field).copied();
        match top.filter(|top| value.as_i64().is_some_and(|value| value > *top)) {
            Some(top) => Cow::Owned(top.into()),
            None => Cow::Borrowed(value),
        }
    }

    fn compared(&self, path: &str) -> Option<&Compared> {
        self.dependence.compared.get(path)
    }

    /// The values of `choice`; the first one is the quietest. `read` gives context fields as they stand.
    ///
    pub(crate) fn values(&self, choice: &Choice, read: &mut Read<'_>) -> Vec<Json> {
        match choice {
            Choice::Files(set) => self
                .chart
                .files
                .get(set)
                .map_or_else(Vec::new, |files| self.files(set, files, read)),
            Choice::Rows(name) => self
                .chart
                .tables
                .get(name)
                .map_or_else(Vec::new, |table| self.rows(name, table, read)),
            Choice::Content {
                table,
                key: "lines",
            } => self.integers(&format!("tables.{table}.lines"), Some(0), 0, read),
            Choice::Content { .. } => vec![json!(false), json!(true)],
            Choice::Event(field) => self.event(field, read),
            Choice::Arg(name) => self
                .chart
                .args
                .get(name)
                .map_or_else(Vec::new, |arg| self.arg(name, arg, read)),
            Choice::Session => {
                // With an instance for each session, no command runs without one.
                let unknown = (!self.chart.scope.is_per_session()).then_some(Json::Null);
                let known = self.texts("session", read);
                unknown.into_iter().chain(known).collect()
            }
            Choice::Findings(name) => {
                let counts = self.findings(name, read).into_iter();
                let counts = counts.filter(|count| *count <= items::LONGEST);
                counts
                    .map(|count| json!(vec!["a finding"; count]))
                    .collect()
            }
            Choice::Driver => vec![Json::Null, json!("this"), json!("other")],
            Choice::Worst => {
                let compared = self.compared("review.worst");
                let is_named = |severity: &&String| {
                    compared.is_some_and(|compared| compared.literals.contains(&json!(severity)))
                };
                let all = self.chart.findings.severities.iter();
                let (named, others): (Vec<&String>, Vec<&String>) = all.partition(is_named);
                // Those that no rule names are all the same.
                let severities = others.into_iter().take(1).chain(named);
                let severities = severities.map(|severity| json!(severity));
                std::iter::once(Json::Null).chain(severities).collect()
            }
            Choice::Stalled => vec![json!(false), json!(true)],
            Choice::Over => {
                let mut kept = Limited::ALL.to_vec();
                kept.retain(|limited| self.chart.budget.of(*limited).is_some());
                let words = kept.into_iter().map(|limited| json!(limited.key()));
                [Json::Null].into_iter().chain(words).collect()
            }
            Choice::Postponed => vec![Json::Null, json!("18:23 UTC")],
            Choice::Dirty => vec![json!(false), json!(true)],
            Choice::Siblings => self.siblings(read),
        }
    }

    /// The directory of the instance that is explored, as the agent writes it.
    pub(crate) fn dir(&self) -> String {
        let scope = &self.chart.scope;
        format!("{}/{}/1", scope.home, scope.folder)
    }

    /// The texts that `path` can be: each it is compared with, those with the parts that are looked for in it, then
    /// one that is none of them. Where it is compared with other inputs, there are several of these.
    pub(super) fn texts(&self, path: &str, read: &mut Read<'_>) -> Vec<Json> {
        let mut texts = self.known_texts(path, read);
        let compared = self.compared(path);
        let parts = self.parts(path, read);
        let others = if compared.is_some_and(|compared| compared.linked) {
            2
        } else {
            1
        };
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
        let others: Vec<String> = fresh()
            .filter(|text| is_none(text, &texts))
            .take(others)
            .collect();
        texts.extend(others);
        if compared.is_some_and(|compared| compared.trimmed) {
            let padded: Vec<String> = texts.iter().map(|text| format!(" {text}")).collect();
            texts.extend(padded);
        }
        if compared.is_some_and(|compared| compared.slug) {
            texts.insert(NO_SLUG.to_owned());
        }
        texts.into_iter().map(Json::from).collect()
    }

    /// What is looked for in the text that `path` is.
    pub(super) fn parts(&self, path: &str, read: &mut Read<'_>) -> IndexSet<String> {
        let mut parts = IndexSet::new();
        if let Some(compared) = self.compared(path) {
            parts.extend(compared.parts.iter().cloned());
            let fields = compared.part_fields.iter();
            parts.extend(fields.filter_map(|field| read(field).as_str().map(str::to_owned)));
        }
        parts.shift_remove("");
        parts
    }

    pub(super) fn known_texts(&self, path: &str, read: &mut Read<'_>) -> IndexSet<String> {
        let mut texts: IndexSet<String> = IndexSet::new();
        if let Some(compared) = self.compared(path) {
            let literals = compared.literals.iter();
            texts.extend(literals.filter_map(|value| value.as_str().map(str::to_owned)));
            let fields = compared.fields.iter();
            texts.extend(fields.filter_map(|field| read(field).as_str().map(str::to_owned)));
        }
        texts
    }

    /// The integers that `path` can be: on both sides of each it is compared with.
    pub(super) fn integers(
        &self,
        path: &str,
        minimum: Option<i64>,
        fallback: i64,
        read: &mut Read<'_>,
    ) -> Vec<Json> {
        let mut numbers: IndexSet<i64> = IndexSet::new();
        if let Some(compared) = self.compared(path) {
            let literals = compared.literals.iter().filter_map(Json::as_i64);
            let fields = compared.fields.iter();
            let held: Vec<i64> = fields.filter_map(|field| read(field).as_i64()).collect();
            for number in literals.chain(held) {
                let sides = [number.saturating_sub(1), number, number.saturating_add(1)];
                numbers.extend(sides.map(|number| number.max(minimum.unwrap_or(i64::MIN))));
            }
        }
        if numbers.is_empty() {
            numbers.insert(fallback.max(minimum.unwrap_or(i64::MIN)));
        }
        // The least value there is, where something goes into a field that takes none below 0.
        numbers.insert(minimum.unwrap_or(-1));
        numbers.sort_unstable();
        numbers.into_iter().map(Json::from).collect()
    }

    /// Returns how many findings a list of checks can have: none, one, and on both sides of each number that the chart
    /// compares that with.
    fn findings(&self, name: &str, read: &mut Read<'_>) -> BTreeSet<usize> {
        let mut counts = BTreeSet::from([0, 1]);
        let length = format!("checks.{name}.{LENGTH}");
        if self.compared(&length).is_some() {
            let numbers = self.integers(&length, Some(0), 0, read);
            let numbers = numbers.iter().filter_map(Json::as_u64);
            counts.extend(numbers.filter_map(|number| usize::try_from(number).ok()));
        }
        // A check without `each` finds one thing at most.
        let checks = self.chart.checks.get(name).map_or(&[][..], Vec::as_slice);
        if checks.iter().all(|check| check.each.is_none()) {
            counts.retain(|count| *count <= checks.len());
        }
        counts
    }

    /// The ways in which a gate can fail, by how many times it has: once, each number that the chart compares
    /// that with, and one more. None if the chart has no gates.
    pub(crate) fn gate(&self) -> impl Iterator<Item = FailedGate> {
        let known = self.compared(GATE_TIMES).into_iter();
        let literals = known.flat_map(|compared| compared.literals.iter().filter_map(Json::as_u64));
        let mut times: BTreeSet<u64> = literals
            .flat_map(|literal| literal..=literal.saturating_add(1))
            .collect();
        times.insert(1);
        times.remove(&0);
        let times = self.chart.gates.iter().flat_map(move |_| times.clone());
        times.map(|times| FailedGate {
            command: "make check".to_owned(),
            why: "exited with code 1".to_owned(),
            output: "error".to_owned(),
            times,
        })
    }

    fn event(&self, field: &str, read: &mut Read<'_>) -> Vec<Json> {
        let path = format!("event.{field}");
        match EVENT_DEFAULTS
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, default)| default)
        {
            Some(FieldDefault::False) => vec![json!(false), json!(true)],
            Some(FieldDefault::List) => {
                self.lists(&path, items::product(self.attributes(field, read)), read)
            }
            Some(FieldDefault::Nothing) => {
                let mut numbers = self.integers(&path, Some(0), 0, read);
                numbers.push(Json::Null);
                numbers
            }
            Some(FieldDefault::Text) | None => self.texts(&path, read),
        }
    }

    /// What the items of a list in the event can be, by attribute.
    fn attributes(&self, field: &str, read: &mut Read<'_>) -> IndexMap<String, Vec<Json>> {
        let start = format!("event.{field}.");
        let keys = self.dependence.compared.keys();
        let mut attributes: Vec<&str> = keys
            .filter_map(|key| key.strip_prefix(&start))
            .filter(|key| *key != LENGTH)
            .collect();
        attributes.sort_unstable();
        let columns = attributes
            .into_iter()
            .map(|name| (name.to_owned(), self.texts(&format!("{start}{name}"), read)));
        columns.collect()
    }

    fn arg(&self, name: &str, arg: &Arg, read: &mut Read<'_>) -> Vec<Json> {
        let path = format!("args.{name}");
        let given = match arg.kind {
            FieldType::Boolean => vec![json!(false), json!(true)],
            FieldType::Integer => {
                let mut numbers: IndexSet<Json> = IndexSet::new();
                // An option that sets a parameter has the parameter's values.
                for (field, literal) in self
                    .chart
                    .commands
                    .values()
                    .flat_map(|command| &command.rule.assign)
                {
                    if assigns_arg(literal, name) {
                        numbers.extend(
                            self.parameters
                                .get(field)
                                .into_iter()
                                .flat_map(|values| values.iter())
                                .cloned(),
                        );
                    }
                }
                let fallback = arg.minimum.unwrap_or(0);
                if numbers.is_empty() {
                    numbers.extend(self.integers(&path, arg.minimum, fallback, read));
                } else if self.compared(&path).is_some() {
                    // What the user sets is tried beside literals; a count reaches both sides of it.
                    let unread = &mut |_: &str| Json::Null;
                    numbers.extend(self.integers(&path, arg.minimum, fallback, unread));
                }
                let field = arg.field();
                numbers.retain(|number| field.accepts(&self.chart.phases, number).is_ok());
                numbers.into_iter().collect()
            }
            FieldType::String => {
                let mut texts = self.texts(&path, read);
                if arg.one_of.is_some() {
                    // What the list has not is refused.
                    texts.retain(|text| text.as_str() != Some(NO_SLUG));
                }
                texts
            }
            // No option is a list.
            FieldType::List => Vec::new(),
            FieldType::Phase => self.chart.phases.keys().map(|name| json!(name)).collect(),
        };
        arg.default
            .iter()
            .map(|_| Json::Null)
            .chain(given)
            .collect()
    }

    /// What the rows of a table can be, by column.
    fn columns(
        &self,
        name: &str,
        table: &Table,
        read: &mut Read<'_>,
    ) -> IndexMap<String, Vec<Json>> {
        let mut columns: IndexMap<String, Vec<Json>> = IndexMap::new();
        let path = |column: &str| format!("tables.{name}.rows.{column}");
        let slugs_only = |column: &str, values: Vec<Json>| -> Vec<Json> {
            let is_safe = |value: &Json| column != "id" || value.as_str().is_some_and(is_slug);
            values.into_iter().filter(is_safe).collect()
        };
        match &table.rows {
            RowShape::Columns(own) => {
                for column in own.keys() {
                    columns.insert(
                        column.clone(),
                        slugs_only(column, self.texts(&path(column), read)),
                    );
                }
            }
            RowShape::Line(line) => {
                let holes = self.line_holes(&format!("tables.{name}.rows"), line, read);
                let holes = holes.into_iter();
                columns.extend(holes.map(|(hole, values)| {
                    let values = slugs_only(&hole, values);
                    (hole, values)
                }));
            }
        }
        if let (Some(status), Some(word)) = (columns.get_mut("status"), table.finished.first()) {
            // A status says first of all whether the row is finished.
            let is_done = |text: &str| is_finished(text, &table.finished);
            let open = std::iter::once("open".to_owned())
                .chain(fresh())
                .find(|text| !is_done(text));
            let known = self.known_texts(&path("status"), read);
            *status = open
                .into_iter()
                .chain([word.clone()])
                .chain(known)
                .collect::<IndexSet<_>>()
                .into_iter()
                .map(Json::from)
                .collect();
        }
        columns
    }

    /// No row, or one: each witness.
    fn rows(&self, name: &str, table: &Table, read: &mut Read<'_>) -> Vec<Json> {
        let columns = self.columns(name, table, read);
        let rows = items::product(columns).into_iter().map(|mut row| {
            let text = |row: &Map<String, Json>, key: &str| {
                row.get(key).and_then(Json::as_str).map(str::to_owned)
            };
            let done =
                text(&row, "status").is_some_and(|status| is_finished(&status, &table.finished));
            let path = table
                .path
                .as_ref()
                .and_then(|path| path.render(|hole| text(&row, hole).ok_or(())).ok());
            row.insert("done".to_owned(), json!(done));
            row.insert("path".to_owned(), json!(path));
            row
        });
        self.lists(&format!("tables.{name}.rows"), rows.collect(), read)
    }

    /// The lists of these items that make a difference.
    fn lists(&self, path: &str, items: Vec<Map<String, Json>>, read: &mut Read<'_>) -> Vec<Json> {
        items::lists(&items, &self.wanted(path, read)).unwrap_or_else(|| items::few(&items))
    }

    /// Whether it matters which item is the first. Not where only items of one kind can be.
    fn first_matters(&self, path: &str, compared: &Compared, read: &mut Read<'_>) -> bool {
        if compared.first.is_empty() {
            return false;
        }
        let table = path
            .strip_prefix("tables.")
            .and_then(|path| path.strip_suffix(".rows"));
        let table = table.and_then(|name| Some((name, self.chart.tables.get(name)?)));
        let Some((name, table)) = table else {
            return true;
        };
        let columns = self.columns(name, table, read);
        let varied: Vec<(&String, usize)> = columns
            .iter()
            .map(|(column, values)| (column, values.len()))
            .filter(|(_, count)| *count > 1)
            .collect();
        compared.first.iter().any(|pinned| {
            let is_free =
                |(column, count): &(&String, usize)| *count > 2 || !pinned.contains(*column);
            varied.iter().any(is_free)
        })
    }

    /// What of a list matters.
    fn wanted(&self, path: &str, read: &mut Read<'_>) -> Wanted {
        let length = format!("{path}.{LENGTH}");
        let counts: Option<Vec<usize>> = self.compared(&length).map(|_| {
            let sizes = self.integers(&length, Some(0), 0, read);
            sizes
                .iter()
                .filter_map(Json::as_u64)
                .filter_map(|size| usize::try_from(size).ok())
                .collect()
        });
        let compared = self.compared(path);
        let mut counts: Vec<usize> = counts.unwrap_or_default();
        counts.extend(self.counted_by_checks(path, read));
        Wanted {
            items: compared.is_some_and(|compared| compared.items) || path.starts_with("tables."),
            first: compared.is_some_and(|compared| self.first_matters(path, compared, read)),
            last: compared.is_some_and(|compared| compared.last),
            counts,
        }
    }

    /// Returns the numbers of items that make a difference because checks of them are counted.
    fn counted_by_checks(&self, path: &str, read: &mut Read<'_>) -> BTreeSet<usize> {
        let chart = Arc::clone(&self.chart);
        let counted = chart.checks.iter().filter(|(name, _)| {
            let length = format!("checks.{name}.{LENGTH}");
            self.compared(&length).is_some()
        });
        let mut counts = BTreeSet::new();
        for (name, checks) in counted {
            let each = checks.iter().filter_map(|check| check.each.as_ref());
            let mut open = each.filter_map(|each| self.dependence.open.get(&each.0));
            let root = super::dependence::root_of(path);
            if open.any(|open| open.looks.contains(root)) {
                counts.extend(self.findings(name, read));
            }
        }
        counts
    }

    /// What the holes of a file's name can be.
    fn holes(
        &self,
        name: &str,
        pattern: &Pattern,
        read: &mut Read<'_>,
    ) -> IndexMap<String, Vec<Json>> {
        let holes = pattern.holes().map(|(hole, kind)| {
            let path = format!("files.{name}.{hole}");
            let values = match kind {
                HoleKind::Text | HoleKind::Slug => self.texts(&path, read),
                HoleKind::Integer => self.integers(&path, Some(0), 1, read),
                HoleKind::OneOf(words) => words.iter().map(|word| json!(word)).collect(),
            };
            (hole.to_owned(), values)
        });
        holes.collect()
    }

    /// What the holes of a line can be: numbers, too, are texts there.
    fn line_holes(
        &self,
        path: &str,
        line: &LinePattern,
        read: &mut Read<'_>,
    ) -> IndexMap<String, Vec<Json>> {
        let holes = line.holes().map(|(hole, kind)| {
            let path = format!("{path}.{hole}");
            let values: Vec<Json> = match kind {
                HoleKind::Text | HoleKind::Slug => self.texts(&path, read),
                HoleKind::Integer => {
                    let numbers = self.integers(&path, Some(0), 1, read).into_iter();
                    let numbers = numbers.map(|number| number.to_string());
                    let known = self.known_texts(&path, read).into_iter();
                    let as_number = |text: &String| Some(text.parse::<u64>().ok()?.to_string());
                    let known = known.filter(|text| as_number(text).as_ref() == Some(text));
                    numbers.chain(known).map(Json::from).collect()
                }
                HoleKind::OneOf(words) => words.iter().map(|word| json!(word)).collect(),
            };
            (hole.to_owned(), values)
        });
        holes.collect()
    }

    /// The inputs that have too many values which matter.
    fn too_many(&self) -> BTreeSet<String> {
        // What a field holds is one value more, whichever.
        let read = &mut |field: &str| json!(format!("held-{field}"));
        // Of these, only the empty list is tried.
        let lists = ["findings", "cycle.findings", "rulings", "drivers"];
        let mut found: BTreeSet<String> = lists.map(str::to_owned).into();
        // Only numbers in the chart bound it.
        let times = self.compared(GATE_TIMES);
        if times.is_some_and(|times| !times.fields.is_empty() || times.linked) {
            found.insert(GATE_TIMES.to_owned());
        }
        let texts = self.dependence.compared.iter();
        let texts = texts.filter(|(_, compared)| {
            let parts = compared.parts.len() + compared.part_fields.len();
            parts > MOST_PARTS || has_a_setting_among_others(compared)
        });
        found.extend(texts.map(|(path, _)| super::dependence::root_of(path).to_owned()));
        let mut see = |root: String, path: &str, kinds: usize| {
            let many: Vec<Map<String, Json>> = vec![Map::new(); kinds.min(items::MOST)];
            let read = &mut |field: &str| json!(format!("held-{field}"));
            if kinds > items::MOST || items::lists(&many, &self.wanted(path, read)).is_none() {
                found.insert(root);
            }
        };
        for (name, table) in &self.chart.tables {
            let kinds = items::combinations(&self.columns(name, table, read));
            see(
                format!("tables.{name}"),
                &format!("tables.{name}.rows"),
                kinds,
            );
        }
        for name in self.chart.checks.keys() {
            let most = self.findings(name, &mut |field: &str| json!(format!("held-{field}")));
            let is_far = most.last().is_some_and(|most| *most > items::LONGEST);
            let kinds = if is_far { usize::MAX } else { 1 };
            see(format!("checks.{name}"), &format!("checks.{name}"), kinds);
        }
        for (name, set) in &self.chart.files {
            let (files, is_all) = self.kinds_of_files(name, set, read);
            let kinds = if is_all { files.len() } else { usize::MAX };
            see(format!("files.{name}"), &format!("files.{name}"), kinds);
        }
        for (name, default) in EVENT_DEFAULTS {
            if matches!(default, FieldDefault::List) {
                let kinds = items::combinations(&self.attributes(name, read));
                see(format!("event.{name}"), &format!("event.{name}"), kinds);
            }
        }
        if self.siblings_in_use() {
            let (kinds, is_all) = self.kinds_of_siblings(read);
            let kinds = if is_all { kinds.len() } else { usize::MAX };
            see("siblings".to_owned(), "siblings", kinds);
        }
        found
    }

    fn siblings_in_use(&self) -> bool {
        self.dependence
            .compared
            .keys()
            .any(|path| path.starts_with("siblings"))
    }

    /// The lists of files.
    fn files(&self, name: &str, set: &FileSet, read: &mut Read<'_>) -> Vec<Json> {
        let (kinds, _) = self.kinds_of_files(name, set, read);
        self.lists(&format!("files.{name}"), kinds, read)
    }

    /// The files of a set that differ in what matters; whether that is all of them.
    fn kinds_of_files(
        &self,
        name: &str,
        set: &FileSet,
        read: &mut Read<'_>,
    ) -> (Vec<Map<String, Json>>, bool) {
        let mut is_all = true;
        let mut names = self.known_texts(&format!("files.{name}.name"), read);
        for pattern in &set.with {
            let holes = self.holes(name, pattern, read);
            is_all &= items::combinations(&holes) <= items::MOST;
            for holes in items::product(holes) {
                let fill = |hole: &str| Ok::<_, ()>(holes.get(hole).map(raw).unwrap_or_default());
                let Ok(name) = pattern.render(fill) else {
                    continue;
                };
                let name = |star: &str| name.replace("**/", "").replace('*', star);
                names.extend(
                    fresh()
                        .take(3)
                        .map(|star| name(&star))
                        .find(|name| set.matches(name).is_some()),
                );
            }
        }
        let files = names.iter().filter_map(|name| {
            let captures = set.matches(name)?;
            let mut file = Map::new();
            file.insert("name".to_owned(), json!(name));
            file.insert("path".to_owned(), json!(format!("{}/{name}", self.dir())));
            for (hole, capture) in captures {
                let value = match capture {
                    Capture::Text(text) => json!(text),
                    Capture::Integer(number) => json!(number),
                };
                file.insert(hole.to_owned(), value);
            }
            Some(file)
        });
        let files: Vec<_> = files.collect();
        // The lines of a file are a list like any other.
        let Some(line) = &set.line else {
            return (files, is_all);
        };
        let path = format!("files.{name}.lines");
        let holes = self.line_holes(&path, line, read);
        is_all &= items::combinations(&holes) <= items::MOST;
        let kinds = items::product(holes);
        let lines = items::lists(&kinds, &self.wanted(&path, read));
        is_all &= lines.is_some();
        let lines = lines.unwrap_or_else(|| items::few(&kinds));
        is_all &= files.len() * lines.len() <= items::MOST;
        let with = |file: &Map<String, Json>| {
            let with = |lines: &Json| {
                let mut file = file.clone();
                file.insert("lines".to_owned(), lines.clone());
                file
            };
            lines.iter().map(with).collect::<Vec<_>>()
        };
        let all = files.iter().flat_map(with).take(items::MOST);
        (all.collect(), is_all)
    }

    fn siblings(&self, read: &mut Read<'_>) -> Vec<Json> {
        let (kinds, _) = self.kinds_of_siblings(read);
        self.lists("siblings", kinds, read)
    }

    /// The other instances that differ in what matters: of a context only what is compared. whether that is
    /// all of them.
    fn kinds_of_siblings(&self, read: &mut Read<'_>) -> (Vec<Map<String, Json>>, bool) {
        let mut is_all = true;
        let chart = Arc::clone(&self.chart);
        let mut columns: IndexMap<String, Vec<Json>> = IndexMap::new();
        columns.insert("name".to_owned(), self.texts("siblings.name", read));
        columns.insert(
            "idle_hours".to_owned(),
            self.integers("siblings.idle_hours", Some(0), 0, read),
        );
        let contexts = chart.context.iter().map(|(name, field)| {
            let path = format!("siblings.context.{name}");
            let values = match field.kind {
                _ if self.compared(&path).is_none() => vec![default_of(&chart, field)],
                FieldType::Phase => chart.phases.keys().map(|name| json!(name)).collect(),
                _ => self.parameter(&path, field),
            };
            (name.clone(), values)
        });
        let contexts: IndexMap<String, Vec<Json>> = contexts.collect();
        is_all &= items::combinations(&contexts) <= items::MOST;
        let contexts = items::product(contexts).into_iter().map(Json::Object);
        let unread = chart.context.keys().map(|name| (name.clone(), Json::Null));
        let unread = Json::Object(unread.collect());
        columns.insert(
            "context".to_owned(),
            contexts.chain([unread.clone()]).collect(),
        );
        let sets = chart.files.iter().filter(|(_, set)| !set.is_nested());
        let sets = sets.map(|(name, set)| {
            let looked_at = format!("siblings.files.{name}");
            let is_looked_at = |(path, _): (&String, &Compared)| path.starts_with(&looked_at);
            let files = match self.dependence.compared.iter().any(is_looked_at) {
                true => self.files(name, set, read),
                false => vec![json!([])],
            };
            (name.clone(), files)
        });
        let sets: IndexMap<String, Vec<Json>> = sets.collect();
        is_all &= items::combinations(&sets) <= items::MOST;
        let files = items::product(sets).into_iter().map(Json::Object);
        columns.insert("files".to_owned(), files.collect());
        is_all &= items::combinations(&columns) <= items::MOST;
        let rows = items::product(columns).into_iter().map(|mut row| {
            let is_unread = row.get("context") == Some(&unread);
            row.insert("unreadable".to_owned(), json!(is_unread));
            row.insert("path".to_owned(), json!(format!("{}2", self.dir())));
            row
        });
        (rows.collect(), is_all)
    }
}

/// A text that cannot be part of a file's name.
pub(super) const NO_SLUG: &str = "no slug";

/// So many parts that are looked for in one text are tried in every combination.
const MOST_PARTS: usize = 5;

fn raw(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
