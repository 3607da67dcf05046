//! The values that the model checker tries: for each input of a decision a small set, taken from the
//! chart's own comparisons.
//!
//! A boolean is both; a word of a known set is each; a list is empty or has one witness; an integer is
//! each number it is compared with, that minus one and plus one; a text is each literal and each context
//! field it is compared with, and one that is none of them.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value as Json, json};

use super::plain::plain;
use crate::chart::field::default_of;
use crate::chart::model::{Arg, Assign, Check, Field, FieldType, Rule};
use crate::chart::{Chart, FileSet, RowShape, Table};
use crate::expr::compare::{Comparisons, LENGTH, Term};
use crate::expr::source::Literal;
use crate::expr::{Expressions, single_expression};
use crate::files::pattern::{Capture, HoleKind, Pattern, is_slug};
use crate::files::table::is_finished;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};

/// A value that a decision looks at and that neither the state nor the chart determines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Choice {
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
    /// Who drives the instance.
    Driver,
    /// Until when no reviewer can run.
    Postponed,
    /// The budget that is used up.
    Over,
    /// What the checks of `checks.NAME` find.
    Findings(String),
    /// `git.dirty`.
    Dirty,
    /// `siblings`.
    Siblings,
}

/// What an input is compared with.
#[derive(Debug, Default)]
struct Compared {
    literals: IndexSet<Json>,
    /// Context fields.
    fields: IndexSet<String>,
    /// There are other inputs among it.
    has_inputs: bool,
}

/// Where the values of a chart's inputs come from.
#[derive(Debug)]
pub(crate) struct Domain {
    chart: Arc<Chart>,
    compared: HashMap<String, Compared>,
    /// Settings, and context fields that only a user sets, at any time, with the values that are tried; the default
    /// first.
    pub(crate) parameters: IndexMap<String, Vec<Json>>,
    /// Inputs of which guards compute something: not all that can come of that is tried.
    pub(crate) computed: Vec<String>,
    /// Inputs of which a comparison asks for more than the values that are tried.
    pub(crate) untried: Vec<String>,
}

/// What a setting is called beside context fields, whose names have no dot.
pub(crate) fn config_path(name: &str) -> String {
    format!("config.{name}")
}

/// Reads a context field as it stands.
pub(crate) type Read<'r> = dyn FnMut(&str) -> Json + 'r;

/// Values of no meaning to any chart: what a text is that equals nothing it is compared with.
fn fresh() -> impl Iterator<Item = String> {
    (1..).map(|number: u32| number.to_string())
}

impl Domain {
    /// Reads all expressions of `chart`.
    pub(crate) fn of(chart: &Arc<Chart>) -> Self {
        let pairs = comparisons(chart);
        let mut compared: HashMap<String, Compared> = HashMap::new();
        for (left, right) in &pairs {
            for (one, other) in [(left, right), (right, left)] {
                let Term::Path(path) = one else { continue };
                for path in paths(chart, path) {
                    let entry = compared.entry(path).or_default();
                    match other {
                        Term::Literal(value) => {
                            entry.literals.insert(value.clone());
                        }
                        Term::Path(field) if held(chart, field).is_some() => {
                            entry.fields.insert(field.clone());
                        }
                        Term::Path(_) => entry.has_inputs = true,
                    }
                }
            }
        }
        // An option that must be one of a list is what the items of that list are.
        for (name, arg) in &chart.args {
            let Some(one_of) = &arg.one_of else { continue };
            let lets = lets(chart);
            for term in Comparisons::new(&lets).read(&one_of.0, &[]) {
                let Term::Path(path) = term else { continue };
                let Some(items) = paths(chart, &path)
                    .first()
                    .and_then(|path| compared.get(path))
                else {
                    continue;
                };
                let (literals, fields) = (items.literals.clone(), items.fields.clone());
                let entry = compared.entry(format!("args.{name}")).or_default();
                entry.literals.extend(literals);
                entry.fields.extend(fields);
            }
        }
        let (computed, pairs) = computed(chart);
        let mut domain = Self {
            chart: Arc::clone(chart),
            compared,
            parameters: IndexMap::new(),
            computed,
            untried: untried(chart, &pairs),
        };
        domain.parameters = domain.find_parameters();
        let too_many = domain.too_many();
        domain.untried.extend(too_many);
        domain
    }

    /// The values of `choice`; the first one is the quietest. `read` gives context fields as they stand.
    /// What checks find is not known here.
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
            } => self.integers(&format!("tables.{table}.lines"), 0, 0),
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
            Choice::Findings(_) => Vec::new(),
            Choice::Driver => vec![Json::Null, json!("this"), json!("other")],
            Choice::Over => vec![Json::Null, json!("cycle"), json!("instance")],
            Choice::Postponed => vec![Json::Null, json!("18:23")],
            Choice::Dirty => vec![json!(false), json!(true)],
            Choice::Siblings => self.siblings(read),
        }
    }

    /// The values of `choice` in words.
    pub(crate) fn in_words(&self, choice: &Choice) -> String {
        // A context field that a text is compared with shows up as what it holds.
        let held = |field: &str| format!("what {field} holds");
        let values = self.values(choice, &mut |field| Json::from(held(field)));
        let quiet = |nothing: &str, items: &dyn Fn(&Map<String, Json>) -> String| {
            let lists = values.iter().filter_map(Json::as_array);
            let is_unlike = |list: &[Json]| list.first() != list.last();
            let same = lists.clone().filter(|list| !is_unlike(list));
            let same = same.filter_map(|list| {
                let item = items(list.first()?.as_object()?);
                Some(match list.len() {
                    1 => item,
                    many => format!("{many} times {item}"),
                })
            });
            let unlike = match lists.filter(|list| is_unlike(list)).map(Vec::len).max() {
                Some(2) => Some("both".to_owned()),
                Some(_) => Some("two of these or all".to_owned()),
                None => None,
            };
            std::iter::once(nothing.to_owned())
                .chain(same)
                .chain(unlike)
                .collect::<Vec<_>>()
                .join("; or ")
        };
        let texts = || {
            values.iter().map(|value| {
                if value.is_null() {
                    "left out".to_owned()
                } else {
                    plain(value)
                }
            })
        };
        match choice {
            Choice::Files(name) => format!(
                "files.{name}: {}",
                quiet("none", &|file| {
                    let name = file.get("name").map(plain).unwrap_or_default();
                    let lines = file.get("lines").and_then(Json::as_array);
                    match lines.is_some_and(|lines| !lines.is_empty()) {
                        true => format!("{name} with such a line"),
                        false => name,
                    }
                })
            ),
            Choice::Rows(name) => {
                let row = |row: &Map<String, Json>| {
                    let own = row
                        .iter()
                        .filter(|(key, _)| !matches!(key.as_str(), "done" | "path"));
                    own.map(|(key, value)| format!("{key} {}", plain(value)))
                        .collect::<Vec<_>>()
                        .join(", ")
                };
                format!(
                    "tables.{name}: no row; or {}",
                    quiet("", &row).trim_start_matches("; or ")
                )
            }
            Choice::Content { table, key } => format!(
                "tables.{table}.{key}: {}",
                texts().collect::<Vec<_>>().join(", ")
            ),
            Choice::Event(name) if values.iter().any(Json::is_array) => {
                format!("event.{name}: none, or one")
            }
            Choice::Event(name) => {
                format!("event.{name}: {}", texts().collect::<Vec<_>>().join(", "))
            }
            Choice::Arg(name) => format!(
                "--{}: {}",
                name.replace('_', "-"),
                texts().collect::<Vec<_>>().join(", ")
            ),
            Choice::Session => format!(
                "the session: {}",
                texts()
                    .collect::<Vec<_>>()
                    .join(", ")
                    .replace("left out", "unknown")
            ),
            Choice::Driver => "driver: nobody, this session, another one".to_owned(),
            Choice::Over => "spent.over: none, cycle, instance".to_owned(),
            Choice::Postponed => "postponed: none, some time".to_owned(),
            Choice::Dirty => "git.dirty: false, true".to_owned(),
            Choice::Siblings => format!("siblings: none, or one of {}", values.len() - 1),
            Choice::Findings(name) => {
                format!("checks.{name}: nothing, or something, whatever else the files hold")
            }
        }
    }

    /// The directory of the instance that is explored, as the agent writes it.
    pub(crate) fn dir(&self) -> String {
        let scope = &self.chart.scope;
        format!("{}/{}/1", scope.home, scope.folder)
    }

    /// The texts that `path` can be: each it is compared with, then one that is none of them. That one is what
    /// another input is, too; an option that is compared with one is also what that is not.
    fn texts(&self, path: &str, read: &mut Read<'_>) -> Vec<Json> {
        let texts = self.known_texts(path, read);
        let compared = self.compared.get(path);
        let has_inputs = compared.is_some_and(|compared| compared.has_inputs);
        let others = if is_option(path) && has_inputs { 2 } else { 1 };
        let others: Vec<String> = fresh()
            .filter(|text| !texts.contains(text))
            .take(others)
            .collect();
        texts.into_iter().chain(others).map(Json::from).collect()
    }

    fn known_texts(&self, path: &str, read: &mut Read<'_>) -> IndexSet<String> {
        let mut texts: IndexSet<String> = IndexSet::new();
        if let Some(compared) = self.compared.get(path) {
            texts.extend(
                compared
                    .literals
                    .iter()
                    .filter_map(|value| value.as_str().map(str::to_owned)),
            );
            texts.extend(
                compared
                    .fields
                    .iter()
                    .filter_map(|field| read(field).as_str().map(str::to_owned)),
            );
        }
        texts
    }

    /// The integers that `path` can be: on both sides of each it is compared with.
    fn integers(&self, path: &str, minimum: i64, fallback: i64) -> Vec<Json> {
        let mut numbers: IndexSet<i64> = IndexSet::new();
        for number in self
            .compared
            .get(path)
            .into_iter()
            .flat_map(|compared| &compared.literals)
        {
            if let Some(number) = number.as_i64() {
                let sides = [number.saturating_sub(1), number, number.saturating_add(1)];
                numbers.extend(sides.map(|number| number.max(minimum)));
            }
        }
        if numbers.is_empty() {
            numbers.insert(fallback.max(minimum));
        }
        numbers.sort_unstable();
        numbers.into_iter().map(Json::from).collect()
    }

    fn event(&self, field: &str, read: &mut Read<'_>) -> Vec<Json> {
        let path = format!("event.{field}");
        match EVENT_DEFAULTS
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, default)| default)
        {
            Some(FieldDefault::False) => vec![json!(false), json!(true)],
            Some(FieldDefault::List) => none_or_one(product(self.attributes(field, read))),
            Some(FieldDefault::Text) | None => self.texts(&path, read),
        }
    }

    /// What the items of a list in the event can be, by attribute.
    fn attributes(&self, field: &str, read: &mut Read<'_>) -> IndexMap<String, Vec<Json>> {
        let start = format!("event.{field}.");
        let mut attributes: Vec<&str> = self
            .compared
            .keys()
            .filter_map(|key| key.strip_prefix(&start))
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
                let minimum = arg.minimum.unwrap_or(0);
                let mut numbers: IndexSet<Json> = IndexSet::new();
                // An option that sets a parameter has the parameter's values.
                for (field, literal) in self
                    .chart
                    .commands
                    .values()
                    .flat_map(|command| &command.rule.assign)
                {
                    if assigns_arg(literal, name) {
                        numbers.extend(self.parameters.get(field).into_iter().flatten().cloned());
                    }
                }
                if numbers.is_empty() || self.compared.contains_key(&path) {
                    numbers.extend(self.integers(&path, minimum, minimum));
                }
                numbers.into_iter().collect()
            }
            FieldType::String => self.texts(&path, read),
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
                for (hole, kind) in line.holes() {
                    let values = match kind {
                        HoleKind::Text => self.texts(&path(hole), read),
                        HoleKind::Integer => self
                            .integers(&path(hole), 0, 1)
                            .iter()
                            .map(|number| json!(number.to_string()))
                            .collect(),
                        HoleKind::OneOf(words) => words.iter().map(|word| json!(word)).collect(),
                    };
                    columns.insert(hole.to_owned(), slugs_only(hole, values));
                }
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
        let rows = product(columns).into_iter().map(|mut row| {
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
        self.lists(&format!("tables.{name}.rows"), rows.collect())
    }

    /// True where a list's items are compared with more than one value, or its length with a number: only then
    /// can it matter that they are of unlike kinds.
    fn asks_for_several(&self, path: &str) -> bool {
        self.compared.iter().any(|(key, compared)| {
            let attribute = key
                .strip_prefix(path)
                .and_then(|rest| rest.strip_prefix('.'));
            attribute.is_some_and(|attribute| {
                attribute.ends_with(LENGTH) || compared.literals.len() + compared.fields.len() > 1
            })
        })
    }

    /// The lists of these items: none, one, and as many of one kind as the list's length is compared with.
    fn lists(&self, path: &str, items: Vec<Map<String, Json>>) -> Vec<Json> {
        let sizes = self.integers(&format!("{path}.{LENGTH}"), 0, 0);
        let sizes = sizes.iter().filter_map(Json::as_u64);
        let sizes: Vec<usize> = sizes
            .filter_map(|size| usize::try_from(size).ok())
            .filter(|size| (2..=LONGEST).contains(size))
            .collect();
        let longer = |item: &Map<String, Json>| {
            let many = sizes.iter().map(|size| json!(vec![item; *size]));
            many.collect::<Vec<_>>()
        };
        let longer: Vec<Json> = items.iter().flat_map(longer).collect();
        // Items of unlike kinds: two at a time, and all at once.
        let is_mixed = self.asks_for_several(path);
        let kinds = if is_mixed && items.len() <= KINDS {
            items.len()
        } else {
            0
        };
        let two = (1..kinds).flat_map(|second| (0..second).map(move |first| [first, second]));
        let mut unlike: Vec<Json> = two
            .map(|[first, second]| json!([items[first], items[second]]))
            .collect();
        if is_mixed && items.len() > 2 {
            unlike.push(json!(items));
        }
        let one = none_or_one(items);
        one.into_iter().chain(longer).chain(unlike).collect()
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
                HoleKind::Text => self.texts(&path, read),
                HoleKind::Integer => self.integers(&path, 0, 1),
                HoleKind::OneOf(words) => words.iter().map(|word| json!(word)).collect(),
            };
            (hole.to_owned(), values)
        });
        holes.collect()
    }

    /// The lists whose items could be too many: not each is tried.
    fn too_many(&self) -> Vec<String> {
        // What a field holds is one value more, whichever.
        let read = &mut |field: &str| json!(format!("what {field} holds"));
        let mut found = Vec::new();
        for (name, table) in &self.chart.tables {
            if combinations(&self.columns(name, table, read)) > MOST_ITEMS {
                found.push(format!("tables.{name}.rows"));
            }
        }
        for (name, set) in &self.chart.files {
            let mut patterns = set.with.iter();
            if patterns.any(|pattern| combinations(&self.holes(name, pattern, read)) > MOST_ITEMS) {
                found.push(format!("files.{name}"));
            }
        }
        for (name, default) in EVENT_DEFAULTS {
            let is_list = matches!(default, FieldDefault::List);
            if is_list && combinations(&self.attributes(name, read)) > MOST_ITEMS {
                found.push(format!("event.{name}"));
            }
        }
        found
    }

    /// No file, or one: each witness.
    fn files(&self, name: &str, set: &FileSet, read: &mut Read<'_>) -> Vec<Json> {
        let mut names: IndexSet<String> = IndexSet::new();
        for literal in self
            .compared
            .get(&format!("files.{name}.name"))
            .into_iter()
            .flat_map(|compared| &compared.literals)
        {
            names.extend(literal.as_str().map(str::to_owned));
        }
        for pattern in &set.with {
            for holes in product(self.holes(name, pattern, read)) {
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
        // Where lines of a file are looked for there are none, or one.
        let lines = set.line.as_ref().map(|line| {
            let holes = line.holes().map(|(hole, _)| {
                let path = format!("files.{name}.lines.{hole}");
                (
                    hole.to_owned(),
                    self.texts(&path, read).into_iter().take(1).collect(),
                )
            });
            none_or_one(product(holes.collect()))
        });
        let files = files.flat_map(|file| match &lines {
            None => vec![file],
            Some(lines) => {
                let with = |lines: &Json| {
                    let mut file = file.clone();
                    file.insert("lines".to_owned(), lines.clone());
                    file
                };
                lines.iter().map(with).collect()
            }
        });
        let files = files.collect();
        self.lists(&format!("files.{name}"), files)
    }

    /// No other instance, or one: each witness. Of its context only what is compared matters, and of its files whether
    /// there are any.
    fn siblings(&self, read: &mut Read<'_>) -> Vec<Json> {
        let chart = Arc::clone(&self.chart);
        let mut columns: IndexMap<String, Vec<Json>> = IndexMap::new();
        columns.insert("name".to_owned(), self.texts("siblings.name", read));
        columns.insert(
            "idle_hours".to_owned(),
            self.integers("siblings.idle_hours", 0, 0),
        );
        let contexts = chart.context.iter().map(|(name, field)| {
            let path = format!("siblings.context.{name}");
            let values = match field.kind {
                _ if !self.compared.contains_key(&path) => vec![default_of(&chart, field)],
                FieldType::Phase => chart.phases.keys().map(|name| json!(name)).collect(),
                _ => self.parameter(&path, field),
            };
            (name.clone(), values)
        });
        let contexts = product(contexts.collect()).into_iter().map(Json::Object);
        let unread = chart.context.keys().map(|name| (name.clone(), Json::Null));
        let unread = Json::Object(unread.collect());
        columns.insert(
            "context".to_owned(),
            contexts.chain([unread.clone()]).collect(),
        );
        let sets = chart.files.iter().filter(|(_, set)| !set.is_nested());
        let witnesses: Vec<(String, Vec<Json>)> = sets
            .map(|(name, set)| (name.clone(), self.files(name, set, read)))
            .collect();
        let files = [0, 1].map(|index| {
            let sets = witnesses.iter().map(|(name, values)| {
                (
                    name.clone(),
                    values.get(index).cloned().unwrap_or_else(|| json!([])),
                )
            });
            Json::Object(sets.collect())
        });
        columns.insert("files".to_owned(), files.to_vec());
        let rows = product(columns).into_iter().map(|mut row| {
            let is_unread = row.get("context") == Some(&unread);
            row.insert("unreadable".to_owned(), json!(is_unread));
            row.insert("path".to_owned(), json!(format!("{}2", self.dir())));
            row
        });
        none_or_one(rows.collect())
    }

    /// The context fields that are set by commands alone, to what their options or the chart itself say.
    fn find_parameters(&self) -> IndexMap<String, Vec<Json>> {
        let chart = &self.chart;
        let own = [Some(&chart.state), chart.next.as_ref()];
        let mut assigned: IndexSet<&str> = own.into_iter().flatten().map(String::as_str).collect();
        let phases = chart.phases.values().map(|entry| &entry.phase.entry);
        let cycles = chart.cycles.values().map(|cycle| &cycle.entry);
        let rules = chart.on.values().flatten().map(|rule| &rule.assign);
        assigned.extend(
            phases
                .chain(cycles)
                .chain(rules)
                .flat_map(IndexMap::keys)
                .map(String::as_str),
        );
        let commands = || {
            chart
                .commands
                .values()
                .flat_map(|command| &command.rule.assign)
        };
        let is_computed = |literal: &Literal| {
            !matches!(literal, Literal::Boolean(_) | Literal::Integer(_))
                && !chart.args.keys().any(|arg| assigns_arg(literal, arg))
        };
        assigned.extend(
            commands()
                .filter(|(_, literal)| is_computed(literal))
                .map(|(field, _)| field.as_str()),
        );
        let free = chart
            .context
            .iter()
            .filter(|(name, _)| !assigned.contains(name.as_str()));
        let values = free.map(|(name, field)| {
            let mut values: IndexSet<Json> = self.parameter(name, field).into_iter().collect();
            values.extend(commands().filter(|(field, _)| *field == name).filter_map(
                |(_, literal)| match literal {
                    Literal::Boolean(_) | Literal::Integer(_) => Some(literal.json()),
                    Literal::Text(_) | Literal::List(_) | Literal::Null => None,
                },
            ));
            (name.clone(), values.into_iter().collect())
        });
        let steering = steering(chart);
        let settings = chart.config.iter().map(|(name, field)| {
            let path = config_path(name);
            // What only texts and arguments say changes nothing that can happen.
            if !steering.contains(&path) {
                return (path, vec![default_of(chart, field)]);
            }
            let mut values = self.parameter(&path, field);
            // A large default is as good as a small value, and would multiply the states of whatever counts up to it.
            let least = field.minimum.unwrap_or(0);
            let is_small = |value: &Json| {
                value
                    .as_i64()
                    .is_none_or(|number| number <= least.saturating_add(SMALL))
            };
            values.retain(is_small);
            (path, values)
        });
        values.chain(settings).collect()
    }

    /// The default first.
    fn parameter(&self, name: &str, field: &Field) -> Vec<Json> {
        let chart = &self.chart;
        let mut values: IndexSet<Json> = [default_of(chart, field)].into();
        match field.kind {
            FieldType::Boolean => values.extend([json!(false), json!(true)]),
            FieldType::Integer => {
                let least = field.minimum.unwrap_or(0);
                values.extend([0, 1, 2].map(|more| Json::from(least.saturating_add(more))));
                if self.compared.contains_key(name) {
                    values.extend(self.integers(name, least, least));
                }
            }
            FieldType::String => match &field.one_of {
                Some(words) => values.extend(words.iter().map(|word| json!(word))),
                None => values.extend(self.texts(name, &mut |_| Json::Null)),
            },
            // Other lists have other items, whatever the chart does with them.
            FieldType::List => {}
            FieldType::Phase => values.extend(chart.phases.keys().map(|name| json!(name))),
        }
        if field.nullable {
            values.insert(Json::Null);
        }
        values
            .into_iter()
            .filter(|value| field.accepts(&chart.phases, value).is_ok())
            .collect()
    }
}

/// How far above the least value of a setting its default is still tried.
const SMALL: i64 = 4;

/// Of so many kinds of item every two are tried together.
const KINDS: usize = 6;

/// The longest list that is tried.
const LONGEST: usize = 100;

/// So many items of a list are tried in every combination of what they hold; of more, each value by itself.
const MOST_ITEMS: usize = 1000;

fn lets(chart: &Chart) -> impl Fn(&str) -> Option<String> {
    |name| {
        // A field hides a let of its name.
        let is_let = !chart.context.contains_key(name);
        chart
            .lets
            .get(name)
            .filter(|_| is_let)
            .map(|expr| expr.0.clone())
    }
}

/// The names on which it turns what happens next: those that guards, lists and file names look at, and those that are
/// assigned to such a field. What only texts and arguments look at is not among them.
fn steering(chart: &Chart) -> IndexSet<String> {
    let rules = chart.on.values().flatten();
    let rules: Vec<&Rule> = rules
        .chain(chart.commands.values().map(|command| &command.rule))
        .collect();
    let phases = || chart.phases.values().map(|entry| &entry.phase);
    let cycles = || chart.cycles.values();
    let checks = chart.checks.values().flatten();
    let actions = rules.iter().flat_map(|rule| &rule.actions);
    let defaults = chart.args.values().filter_map(|arg| arg.default.as_ref());
    let exprs = (rules.iter().filter_map(|rule| rule.guard.as_ref()))
        .chain(phases().filter_map(|phase| phase.guard.as_ref()))
        .chain(checks.flat_map(|check| check.each.iter().chain(&check.guard)))
        .chain(actions.flat_map(|action| action.each.iter().chain(&action.guard)))
        .chain(chart.args.values().filter_map(|arg| arg.one_of.as_ref()))
        .chain(cycles().flat_map(|cycle| {
            let targets = cycle.advance.iter();
            let targets = targets.filter_map(|target| target.guard.as_ref());
            (std::iter::once(&cycle.exit).chain(&cycle.ready)).chain(targets)
        }))
        .chain(
            (chart.properties.iter()).flat_map(|property| property.claims().map(|(_, expr)| expr)),
        );
    let assigned: Vec<(&String, &Literal)> = (rules.iter().map(|rule| &rule.assign))
        .chain(phases().map(|phase| &phase.entry))
        .chain(cycles().map(|cycle| &cycle.entry))
        .flatten()
        .collect();
    let bases = cycles().flat_map(|cycle| [&cycle.base, &cycle.review, &cycle.answer]);
    let files = bases.chain(chart.tables.values().map(|table| &table.file));
    let holes = files
        .flat_map(Pattern::holes)
        .map(|(hole, _)| hole.to_owned());
    let counts = cycles().flat_map(|cycle| [cycle.count.clone(), cycle.limit.clone()]);
    let own = [Some(chart.state.clone()), chart.next.clone()];
    let mut found = IndexSet::new();
    let mut open: Vec<String> = own
        .into_iter()
        .flatten()
        .chain(counts)
        .chain(holes)
        .collect();
    let expressions = Expressions::new(chart.templates.clone());
    let subjects = cycles().flat_map(|cycle| &cycle.subject);
    let sources = exprs
        .map(|expr| expr.0.as_str())
        .chain(subjects.map(|text| text.0.as_str()));
    let sources = sources.chain(defaults.filter_map(source_of));
    open.extend(sources.flat_map(|source| expressions.names_in(source)));
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let first = name.split('.').next().unwrap_or_default();
        let of_let = chart.lets.get(first).map(|expr| expr.0.as_str());
        let of_field = assigned.iter().filter(|(field, _)| field.as_str() == first);
        let sources = of_field
            .filter_map(|(_, literal)| source_of(literal))
            .chain(of_let);
        open.extend(sources.flat_map(|source| expressions.names_in(source)));
        found.insert(first.to_owned());
    }
    found
}

/// The text of an assignment or a default.
fn source_of(literal: &Literal) -> Option<&str> {
    match literal {
        Literal::Text(text) => Some(&text.0),
        _ => None,
    }
}

/// The two sides of every comparison in the chart.
fn comparisons(chart: &Chart) -> IndexSet<(Term, Term)> {
    let lets = lets(chart);
    let mut found = Comparisons::new(&lets);
    let assign = |found: &mut Comparisons<'_>, assign: &Assign| {
        for literal in assign.values() {
            if let Literal::Text(text) = literal
                && let Some(expr) = single_expression(&text.0)
            {
                found.read(expr, &[]);
            }
        }
    };
    let guard = |found: &mut Comparisons<'_>, guard: Option<&crate::expr::source::Expr>| {
        if let Some(guard) = guard {
            found.read(&guard.0, &[]);
        }
    };
    for expr in chart.lets.values() {
        found.read(&expr.0, &[]);
    }
    for arg in chart.args.values() {
        if let Some(Literal::Text(text)) = &arg.default {
            found.read(single_expression(&text.0).unwrap_or_default(), &[]);
        }
    }
    for check in chart.checks.values().flatten() {
        let it = check
            .each
            .as_ref()
            .map(|each| found.read(&each.0, &[]))
            .unwrap_or_default();
        if let Some(guard) = &check.guard {
            found.read(&guard.0, &it);
        }
    }
    for entry in chart.phases.values() {
        guard(&mut found, entry.phase.guard.as_ref());
        assign(&mut found, &entry.phase.entry);
    }
    for cycle in chart.cycles.values() {
        guard(&mut found, Some(&cycle.exit));
        guard(&mut found, cycle.ready.as_ref());
        assign(&mut found, &cycle.entry);
        for advance in &cycle.advance {
            guard(&mut found, advance.guard.as_ref());
        }
    }
    let commands = chart.commands.values().map(|command| &command.rule);
    for rule in chart.on.values().flatten().chain(commands) {
        guard(&mut found, rule.guard.as_ref());
        assign(&mut found, &rule.assign);
    }
    for property in &chart.properties {
        for (_, expr) in property.claims() {
            guard(&mut found, Some(expr));
        }
    }
    found.pairs
}

/// The inputs of which a guard, or an assignment that guards may look at, computes something.
/// The comparisons of the same guards come with them.
fn computed(chart: &Chart) -> (Vec<String>, IndexSet<(Term, Term)>) {
    let lets = lets(chart);
    let mut found = Comparisons::new(&lets);
    let rules = chart.on.values().flatten();
    let rules = rules.chain(chart.commands.values().map(|command| &command.rule));
    let assigns = rules
        .clone()
        .map(|rule| &rule.assign)
        .chain(chart.phases.values().map(|entry| &entry.phase.entry))
        .chain(chart.cycles.values().map(|cycle| &cycle.entry));
    let steering = steering(chart);
    let assigned = assigns
        .flatten()
        .filter(|(field, _)| steering.contains(*field))
        .filter_map(|(_, literal)| single_expression(source_of(literal)?));
    let phases = chart.phases.values();
    let guards = rules
        .filter_map(|rule| rule.guard.as_ref())
        .chain(phases.filter_map(|entry| entry.phase.guard.as_ref()))
        .chain(chart.cycles.values().flat_map(|cycle| {
            let targets = cycle.advance.iter();
            let targets = targets.filter_map(|advance| advance.guard.as_ref());
            std::iter::once(&cycle.exit)
                .chain(&cycle.ready)
                .chain(targets)
        }))
        .chain(
            chart
                .properties
                .iter()
                .flat_map(|property| property.claims().map(|(_, expr)| expr)),
        );
    for source in guards.map(|guard| guard.0.as_str()).chain(assigned) {
        found.read(source, &[]);
    }
    (inputs(chart, found.computed), found.pairs)
}

/// The inputs that these comparisons hold against something of which the values are not tried: a length that
/// no list that is tried has, a fraction, another input, a number that changes.
fn untried(chart: &Chart, pairs: &IndexSet<(Term, Term)>) -> Vec<String> {
    let is_tried = |path: &str, other: &Term| {
        let parts: Vec<&str> = path.split('.').collect();
        match (parts.as_slice(), other) {
            (["files", _, LENGTH] | ["tables", _, "rows", LENGTH], Term::Literal(length)) => length
                .as_i64()
                .is_some_and(|length| usize::try_from(length).unwrap_or(0) < LONGEST),
            ([.., LENGTH], _) => false,
            (_, Term::Literal(Json::Number(number))) => number.is_i64(),
            (_, Term::Literal(_)) => true,
            (["args", name], Term::Path(other)) if held(chart, other).is_none() => {
                let arg = chart.args.get(*name);
                arg.is_some_and(|arg| arg.kind == FieldType::String) && !other.ends_with(LENGTH)
            }
            (_, Term::Path(field)) => {
                held(chart, field).is_some_and(|field| field.kind != FieldType::Integer)
            }
        }
    };
    let mut found: IndexSet<String> = IndexSet::new();
    for (left, right) in pairs {
        for (one, other) in [(left, right), (right, left)] {
            let Term::Path(path) = one else { continue };
            let is_input = |path: &String| {
                let root = path.split('.').next().unwrap_or_default();
                matches!(root, "files" | "tables" | "event" | "args")
            };
            let inputs = paths(chart, path).into_iter().filter(is_input);
            found.extend(inputs.filter(|path| !is_tried(path, other)));
        }
    }
    found.into_iter().collect()
}

/// The context field or the setting of that name: what it holds is known where a decision looks at it.
fn held<'c>(chart: &'c Chart, path: &str) -> Option<&'c Field> {
    match path.strip_prefix("config.") {
        Some(name) => chart.config.get(name),
        None => chart.context.get(path),
    }
}

fn is_option(path: &str) -> bool {
    path.starts_with("args.")
}

/// Those of these names that neither the state nor the chart determines.
fn inputs(chart: &Chart, paths: impl IntoIterator<Item = String>) -> Vec<String> {
    let is_input = |path: &String| {
        let root = path.split('.').next().unwrap_or_default();
        !(chart.context.contains_key(root) || matches!(root, "cycle" | "review" | "it"))
    };
    paths.into_iter().filter(is_input).collect()
}

/// The inputs of which a check computes something.
pub(crate) fn computed_by(chart: &Chart, check: &Check) -> Vec<String> {
    let lets = lets(chart);
    let mut found = Comparisons::new(&lets);
    let each = check.each.as_ref();
    let it = each
        .map(|each| found.read(&each.0, &[]))
        .unwrap_or_default();
    if let Some(guard) = &check.guard {
        found.read(&guard.0, &it);
    }
    inputs(chart, found.computed)
}

/// The inputs that a dotted name means: the rows that are open are rows, and what a cycle counts is a field,
/// which comes as far as the cycle's limit does.
fn paths(chart: &Chart, path: &str) -> Vec<String> {
    let counts = || chart.cycles.values().filter(|cycle| cycle.count == path);
    match path {
        _ if counts().next().is_some() => std::iter::once(path.to_owned())
            .chain(counts().map(|cycle| cycle.limit.clone()))
            .collect(),
        "cycle.limit" => chart
            .cycles
            .values()
            .map(|cycle| cycle.limit.clone())
            .collect(),
        "cycle.n" => chart
            .cycles
            .values()
            .flat_map(|cycle| [cycle.count.clone(), cycle.limit.clone()])
            .collect(),
        _ => {
            let mut parts: Vec<&str> = path.split('.').collect();
            if parts.first() == Some(&"tables") && parts.get(2) == Some(&"open") {
                parts[2] = "rows";
            }
            vec![parts.join(".")]
        }
    }
}

fn assigns_arg(literal: &Literal, name: &str) -> bool {
    match literal {
        Literal::Text(text) => {
            single_expression(&text.0).is_some_and(|expr| expr == format!("args.{name}"))
        }
        _ => false,
    }
}

fn raw(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Every combination of the columns' values.
fn combinations(columns: &IndexMap<String, Vec<Json>>) -> usize {
    columns
        .values()
        .fold(1, |all: usize, values| all.saturating_mul(values.len()))
}

/// Every combination; where that is too much, each value once beside the first ones of the others.
fn product(columns: IndexMap<String, Vec<Json>>) -> Vec<Map<String, Json>> {
    if combinations(&columns) > MOST_ITEMS {
        let first: Map<String, Json> = columns
            .iter()
            .filter_map(|(name, values)| Some((name.clone(), values.first()?.clone())))
            .collect();
        let others = columns.iter().flat_map(|(name, values)| {
            values.iter().skip(1).map(|value| {
                let mut row = first.clone();
                row.insert(name.clone(), value.clone());
                row
            })
        });
        return std::iter::once(first.clone()).chain(others).collect();
    }
    columns
        .into_iter()
        .fold(vec![Map::new()], |rows, (name, values)| {
            let extend = |row: &Map<String, Json>, value: &Json| {
                let mut row = row.clone();
                row.insert(name.clone(), value.clone());
                row
            };
            rows.iter()
                .flat_map(|row| values.iter().map(move |value| (row, value)))
                .map(|(row, value)| extend(row, value))
                .collect()
        })
}

fn none_or_one(items: Vec<Map<String, Json>>) -> Vec<Json> {
    std::iter::once(json!([]))
        .chain(items.into_iter().map(|item| json!([item])))
        .collect()
}
