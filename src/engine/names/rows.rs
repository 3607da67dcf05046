//! The built-in names: one row for each, with its type and one line of text. The type checker, decisions and the reference
//! go by it.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::types::{ChartNames, each, words};
use crate::chart::Cycle;
use crate::chart::model::Field;
use crate::engine::spent::OVER;
use crate::expr::infer::Scope;
use crate::expr::types::Type;
use crate::files::pattern::{HoleKind, Pattern};
use crate::hash::IndexMap;
use crate::host::events::{EVENT_DEFAULTS, EVENT_FIELDS, FieldDefault};
use crate::host::vendors::{SEVERITIES, VERDICTS};
use crate::reviewer::finding;

/// A row: the name, its type, and what it is. `NAME` and `HOLE` stand for names of the chart, `[]` for an item of a list.
pub type Row = (&'static str, Kind, &'static str);

/// The type of a built-in name.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Flag,
    Number,
    Text,
    Texts,
    /// A text or a number, or none.
    MaybeText,
    MaybeNumber,
    /// It depends on the chart, or is one of some words. The value is what it is at rest.
    Of(Rest, fn(&ChartNames<'_>) -> Type),
    /// The type of the row above it says this too.
    Above,
}

/// What a name is while no review has run, no gate has failed, or no cycle is running.
#[derive(Debug, Clone, Copy)]
pub enum Rest {
    None,
    Zero,
    Empty,
}

use Kind::{Above, Flag, MaybeNumber, MaybeText, Number, Of, Text, Texts};

/// All rows, in the order of the reference.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("args.NAME", Of(Rest::None, args), "the option NAME: the given value, else its default"),
    ("checks.NAME", Of(Rest::None, |names| each(names.chart.checks.keys(), &Type::list(Type::Text))), "the findings of `[[checks.NAME]]`, in order"),
    ("config.NAME", Of(Rest::None, settings), "the setting NAME of `config.json`, else its default"),
    ("cycle.id", Of(Rest::None, |names| words(names.chart.cycles.keys()).or_none()), "the running cycle: the one whose review or answer comes next; none if no cycle is running"),
    ("cycle.post", Of(Rest::None, |names| leads(names, |cycle| vec![&cycle.post])), "the phase that answers its reviews"),
    ("cycle.stage", MaybeText, "its stage"),
    ("cycle.resume", Of(Rest::None, |names| leads(names, |cycle| cycle.resume.iter().collect())), "the phase to resume if there is nothing to review yet"),
    ("cycle.next", Of(Rest::None, |names| leads(names, |cycle| cycle.advance.iter().map(|it| &it.target).collect())), "its first open advance target"),
    ("cycle.review", MaybeText, "the file of the next review"),
    ("cycle.n", Number, "the number of the next review; 0 if no cycle is running"),
    ("cycle.limit", Of(Rest::Zero, limit), "how many reviews it may have"),
    ("cycle.due", Flag, "the next review should run: the cycle comes next, or the last review is answered"),
    ("cycle.owed", Flag, "the last review has no answer yet"),
    ("cycle.answered", Flag, "the answer to the last review is on disk, and not older than the review"),
    ("cycle.exit", Flag, "its `exit` condition"),
    ("cycle.ready", Flag, "its `ready` condition; true if it has none"),
    ("cycle.stalled", Flag, "the last two reviews have both passed, or neither has; and nothing has changed since the first of them"),
    ("cycle.unchanged", Flag, "nothing has changed since its last review"),
    ("cycle.of_code", Flag, "its reviews are about code: it has `gates`"),
    ("cycle.gates", Texts, "the commands that must succeed before its reviews"),
    ("cycle.findings", Of(Rest::Empty, |names| source_type(names, "findings").unwrap_or(Type::Any)), "what its reviews found, as records like those of `findings`"),
    ("cycle.last.review", Text, "the file of the last review"),
    ("cycle.last.answer", Text, "the file of the answer to it"),
    ("cycle.subject", Texts, "the files that its reviewer reads"),
    ("cycle.text.NAME", Of(Rest::Empty, texts), "the text NAME of `[cycles.*.text]`, with its holes filled"),
    ("driver", MaybeText, "who drives the instance: `this` session, an `other` one, or none"),
    ("files.NAME", Of(Rest::None, |names| files(names, false)), "the files of the set NAME, sorted by name"),
    ("files.NAME[].name", Above, "the file's path from the instance's directory"),
    ("files.NAME[].path", Above, "its path from the project's root"),
    ("files.NAME[].HOLE", Above, "what the hole of the pattern matched"),
    ("files.NAME[].lines", Above, "the lines that match, as records of the holes of `line`"),
    ("findings[].id", Text, "the name of a finding of a review: `plan-review-2.1`"),
    ("findings[].last", Flag, "its review is the last one of a cycle that is running or paused"),
    ("findings[].severity", Of(Rest::None, |_| Type::word(SEVERITIES)), "its severity"),
    ("findings[].state", Of(Rest::None, |_| Type::word(finding::states())), "`open`, what the answer to the review says, or what the user has ruled"),
    ("findings[].text", Text, "all of it in one line: `plan-review-2.1 (major, src/a.rs:12): TITLE`"),
    ("gate.failed", Flag, "a gate has just failed, and no reviewer was started"),
    ("gate.command", MaybeText, "the command line of the gate; none if no gate failed"),
    ("gate.why", MaybeText, "how it failed: `exited with code 1`"),
    ("gate.output", Text, "the last lines of its output"),
    ("gate.times", Number, "how many gates have failed since the last review that ran, or the last command; 0 if this one has not"),
    ("git.dirty", Flag, "there are uncommitted changes outside the home; false outside git"),
    ("git.base", MaybeText, "the commit up to which reviews of code that passed have seen everything, or at which the instance began; none if that is unknown"),
    ("reviewers", Of(Rest::None, |names| Type::list(words(names.chart.reviewers.keys()))), "the names of the tables under `[reviewers]`"),
    ("it", Above, "the item of an `each`"),
    ("it.id", Above, "the phase that is being entered"),
    ("it.cycle", Above, "its cycle, if its name has a `{cycle}` hole"),
    ("now", Text, "the time in UTC, to the second, in a form for file names: `20260203T145212`"),
    ("postponed", MaybeText, "until when the reviewer whose turn it is cannot run: `2026-11-26 18:23:00 UTC`; none if it can"),
    ("prompts.NAME", Of(Rest::None, |names| each(names.chart.prompts.keys(), &Type::Text)), "the prompt NAME: the user's own file, else the template, with its holes filled"),
    ("review.ok", Flag, "a review has just run and written its file"),
    ("review.error", MaybeText, "why it failed; none if it succeeded"),
    ("review.verdict", Of(Rest::None, |_| Type::word(VERDICTS).or_none()), "its verdict; none if there was none"),
    ("review.worst", Of(Rest::None, |_| Type::word(SEVERITIES).or_none()), "the severity of its worst finding; none if it has no finding; one that cannot be read counts as the worst"),
    ("review.found", Text, "how many findings of each severity: `2 major, 1 minor`; empty if there is none"),
    ("review.nothing", Flag, "it says with an empty list that it has found nothing"),
    ("review.findings[].id", Text, "the name of a finding: `plan-review-2.1`"),
    ("review.findings[].severity", Of(Rest::None, |_| Type::word(SEVERITIES)), "its severity"),
    ("review.findings[].file", MaybeText, "the file that it is about; none if it has none"),
    ("review.findings[].line", MaybeNumber, "the line; none if it has none"),
    ("review.findings[].title", Text, "what is wrong, in one line"),
    ("review.n", Number, "its number"),
    ("review.by", MaybeText, "who did it; none if the chart does not say"),
    ("review.seconds", Number, "how many seconds it took"),
    ("review.took", Text, "the same as a person reads it: `2 min 10 s`"),
    ("review.cost", MaybeText, "what it cost: `$0.21`; none if that is unknown"),
    ("review.until", MaybeText, "if it failed because no reviewer can run: until when; else none"),
    ("review.file", MaybeText, "the file it wrote"),
    ("review.answer", MaybeText, "the file that answers it"),
    ("rulings", Texts, "what the user has ruled about findings, one line each"),
    ("scope.started", Flag, "the instance has a state"),
    ("scope.name", Text, "the name of the instance's directory"),
    ("scope.path", Text, "its path from the project's root"),
    ("scope.home", Text, "the chart's home"),
    ("session", Of(Rest::None, session), "the session of the event or the command, if it is known"),
    ("siblings", Above, "the other instances"),
    ("siblings[].name", Text, "the name of its directory"),
    ("siblings[].path", Text, "its path from the project's root"),
    ("siblings[].idle_hours", Number, "whole hours since one of its files was modified"),
    ("siblings[].unreadable", Flag, "its state cannot be read, and every field of `context` is none"),
    ("siblings[].context.NAME", Of(Rest::None, context), "the field NAME of its state"),
    ("siblings[].files.NAME", Of(Rest::None, |names| files(names, true)), "its files of the set NAME, without those in subfolders"),
    ("spent.cost", Text, "what the reviews of the instance cost, or those of a change until it is clean: `$3.20`, or `$3.20 + 1 unknown`"),
    ("spent.failures", Number, "how many of the last reviews of the running cycle have failed in a row, the one that has just run included"),
    ("spent.over", Of(Rest::None, |_| Type::word(OVER).or_none()), "why no further review starts: `cost` (`max_cost_usd` is used up) or `failures` (three in a row have failed); none if one may"),
    ("spent.next", Of(Rest::None, |_| Type::word(OVER).or_none()), "the same for the review after the one that has just run"),
    ("spent.why", Text, "why the last of these reviews failed; empty if none has"),
    ("tables.NAME", Of(Rest::None, tables), "the rows of a file, by `[tables.NAME]`"),
    ("tables.NAME.exists", Above, "the file exists"),
    ("tables.NAME.prose", Above, "it has lines outside tables"),
    ("tables.NAME.lines", Above, "the number of its lines"),
    ("tables.NAME.unread", Above, "why nobody can say which rows it has, with the lines; none if that is known. A row whose `id` cannot be used, or is that of another row, is in `open`, but not in `rows`"),
    ("tables.NAME.rows", Above, "its rows, or the lines that match"),
    ("tables.NAME.open", Above, "the rows whose `status` does not say that they are finished"),
    ("tables.NAME.rows[].HOLE", Above, "the column, or what the hole of the pattern matched"),
    ("tables.NAME.rows[].done", Above, "its `status` says that it is finished"),
    ("tables.NAME.rows[].path", Above, "the file that belongs to the row"),
    ("touched", Texts, "the paths that the actions of this rule create, rename or remove, in order"),
];

/// Returns the built-in names, each with what it is.
pub fn built_in() -> impl Iterator<Item = (&'static str, &'static str)> {
    let own = ROWS.iter().map(|(path, _, about)| (*path, *about));
    own.chain(EVENT_FIELDS.iter().copied())
}

/// Returns the sources of names: the parts before the first dot.
pub(in crate::engine) fn sources() -> impl Iterator<Item = &'static str> {
    let heads = built_in().filter_map(|(path, _)| path.split(['.', '[']).next());
    let heads: BTreeSet<&str> = heads.collect();
    heads.into_iter()
}

/// Returns what `SOURCE.KEY` is while no review has run, no gate has failed, or no cycle is running.
pub(crate) fn at_rest(source: &str, key: &str) -> Option<Json> {
    let (_, kind, rest) = ROWS.iter().find_map(|(path, kind, _)| {
        let (start, rest) = path.split_at_checked(source.len())?;
        let rest = rest.strip_prefix('.').filter(|_| start == source)?.strip_prefix(key)?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then_some((path, kind, rest))
    })?;
    Some(match (kind, rest) {
        (Flag, "") => json!(false),
        (Number | Of(Rest::Zero, _), "") => json!(0),
        (Text, "") => json!(""),
        (Texts | Of(Rest::Empty, _), _) => json!([]),
        (_, rest) if rest.starts_with('[') => json!([]),
        _ => Json::Null,
    })
}

/// Returns the type of a source of names; `None` if there is no such source.
fn source_type(names: &ChartNames<'_>, source: &str) -> Option<Type> {
    match source {
        "it" => return names.it.clone(),
        "event" => return Some(event()),
        _ => {}
    }
    let own = ROWS.iter().filter_map(|(path, kind, _)| {
        let rest = path.strip_prefix(source)?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then_some((rest, *kind))
    });
    let own: Vec<(&str, Kind)> = own.collect();
    (!own.is_empty()).then(|| typed(names, &own))
}

/// Returns the type that these rows describe, each by the rest of its path.
fn typed(names: &ChartNames<'_>, rows: &[(&str, Kind)]) -> Type {
    let whole = rows.iter().find(|(rest, _)| rest.is_empty() || *rest == ".NAME");
    if let Some((_, kind)) = whole.filter(|(_, kind)| !matches!(kind, Above)) {
        return match kind {
            Flag => Type::Boolean,
            Number => Type::Integer,
            Text => Type::Text,
            Texts => Type::list(Type::Text),
            MaybeText => Type::Text.or_none(),
            MaybeNumber => Type::Integer.or_none(),
            Of(_, of) => of(names),
            Above => Type::Any,
        };
    }
    let items = rows.iter().filter_map(|(rest, kind)| Some((rest.strip_prefix("[]")?, *kind)));
    let items: Vec<(&str, Kind)> = items.collect();
    if !items.is_empty() {
        return Type::list(typed(names, &items));
    }
    let mut fields: IndexMap<&str, Vec<(&str, Kind)>> = IndexMap::default();
    for (rest, kind) in rows {
        let Some(rest) = rest.strip_prefix('.') else { continue };
        let (field, rest) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
        fields.entry(field).or_default().push((rest, *kind));
    }
    Type::record(fields.iter().map(|(field, rows)| (*field, typed(names, rows))))
}

fn args(names: &ChartNames<'_>) -> Type {
    let args = names.chart.args.iter();
    Type::record(args.map(|(name, arg)| (name.clone(), names.of(arg.of.kind))))
}

fn settings(names: &ChartNames<'_>) -> Type {
    let settings = names.chart.config.iter();
    Type::record(settings.map(|(name, field)| (name.clone(), names.typed(field))))
}

fn context(names: &ChartNames<'_>) -> Type {
    let fields = names.chart.context.iter();
    Type::record(fields.map(|(name, field)| (name.clone(), names.typed(field).or_none())))
}

/// If each session has its own instance, there is always a session.
fn session(names: &ChartNames<'_>) -> Type {
    match names.chart.scope.is_per_session() {
        true => Type::Text,
        false => Type::Text.or_none(),
    }
}

/// Returns the type of a phase that cycles lead to. An unknown phase is reported elsewhere; its consequences are not reported.
fn leads(names: &ChartNames<'_>, to: fn(&Cycle) -> Vec<&String>) -> Type {
    let phases: Vec<&String> = names.chart.cycles.values().flat_map(to).collect();
    match phases.iter().all(|name| names.chart.phases.contains_key(*name)) {
        true => words(phases).or_none(),
        false => Type::Any,
    }
}

fn limit(names: &ChartNames<'_>) -> Type {
    let mut cycles = names.chart.cycles.values();
    let is_nullable = |field: &Field| field.is_nullable();
    match cycles.any(|cycle| names.chart.context.get(&cycle.limit).is_some_and(is_nullable)) {
        true => Type::Integer.or_none(),
        false => Type::Integer,
    }
}

/// Returns the type of the texts that every cycle has.
fn texts(names: &ChartNames<'_>) -> Type {
    let cycles = || names.chart.cycles.values();
    let texts = cycles().next().into_iter().flat_map(|first| first.text.keys());
    let texts = texts.filter(|text| cycles().all(|cycle| cycle.text.contains_key(*text)));
    each(texts, &Type::Text)
}

fn tables(names: &ChartNames<'_>) -> Type {
    Type::record(names.chart.tables.iter().map(|(name, table)| {
        // What its rows have is unknown where that is not said, or said twice.
        if table.columns.is_some() == table.line.is_some() {
            return (name.clone(), Type::Any);
        }
        let path = match table.path {
            Some(_) => Type::Text,
            None => Type::Text.or_none(),
        };
        let own = table.fields().into_iter();
        let own = own.map(|field| (field, Type::Text));
        let fields = own.chain([("done", Type::Boolean), ("path", path)]);
        let rows = Type::list(Type::record(fields));
        let table = Type::record([
            ("exists", Type::Boolean),
            ("prose", Type::Boolean),
            ("unread", Type::Text.or_none()),
            ("lines", Type::Integer),
            ("rows", rows.clone()),
            ("open", rows),
        ]);
        (name.clone(), table)
    }))
}

/// Returns the type of `files`; those of other instances have no sets with subfolders.
fn files(names: &ChartNames<'_>, of_siblings: bool) -> Type {
    let sets = names.chart.files.iter();
    let sets = sets.filter(|(_, set)| !(of_siblings && set.is_nested()));
    Type::record(sets.map(|(name, set)| {
        let fixed = ["name", "path"].map(|field| (field, Type::Text));
        // Only the holes that every pattern has exist for every file.
        let has = |pattern: &Pattern, hole: &str| pattern.holes().any(|(own, _)| own == hole);
        let holes = set.included().next().into_iter().flat_map(Pattern::holes);
        let holes = holes.filter(|(hole, _)| set.included().all(|other| has(other, hole)));
        let holes = holes.map(|(hole, kind)| match kind {
            HoleKind::Text | HoleKind::Slug => (hole, Type::Text),
            HoleKind::Integer => (hole, Type::Integer),
            HoleKind::OneOf(known) => (hole, words(known)),
        });
        let lines = set.line().into_iter().map(|line| {
            let holes = line.holes().map(|(hole, _)| (hole, Type::Text));
            ("lines", Type::list(Type::record(holes)))
        });
        let fields = fixed.into_iter().chain(holes).chain(lines);
        (name.clone(), Type::list(Type::record(fields)))
    }))
}

fn event() -> Type {
    Type::record(EVENT_DEFAULTS.iter().map(|(name, default)| {
        let kind = match default {
            FieldDefault::False => Type::Boolean,
            FieldDefault::Text => Type::Text,
            FieldDefault::List => Type::list(Type::Any),
            FieldDefault::Nothing => Type::Integer.or_none(),
            FieldDefault::Amount => Type::Any,
        };
        (*name, kind)
    }))
}

impl Scope for ChartNames<'_> {
    fn name(&self, name: &str) -> Option<Type> {
        if let Some(own) = self.field(name).or_else(|| self.let_type(name)) {
            return Some(own);
        }
        source_type(self, name)
    }

    fn names(&self) -> Vec<String> {
        let own = self.chart.context.keys().chain(self.chart.lets.keys());
        let sources = sources().filter(|name| *name != "it" || self.it.is_some());
        own.cloned().chain(sources.map(str::to_owned)).collect()
    }

    fn used(&self, path: &str) {
        self.uses.borrow_mut().insert(path.to_owned());
    }

    fn template(&self, name: &str) -> Option<String> {
        self.chart.template(name).ok()
    }

    fn templates_like(&self, start: &str, end: &str) -> Vec<String> {
        let names = self.chart.templates.names();
        names.into_iter().filter(|name| name.starts_with(start) && name.ends_with(end)).collect()
    }
}
