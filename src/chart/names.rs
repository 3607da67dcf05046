//! The types of all names that a chart's expressions see. [`crate::engine::names`] has their values.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::Chart;
use super::model::{Field, FieldType, Limited};
use crate::expr::infer::{self, Scope};
use crate::expr::types::Type;
use crate::expr::{MAX_DEPTH, single_expression};
use crate::files::pattern::{HoleKind, Pattern};
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};

/// The names of one chart; `it` differs from place to place.
#[derive(Debug)]
pub struct ChartNames<'c> {
    chart: &'c Chart,
    it: Option<Type>,
    lets: RefCell<HashMap<String, Type>>,
    uses: Uses,
    /// How many nested lets are being resolved.
    depth: Cell<usize>,
}

/// The names that a chart's expressions and texts use.
pub type Uses = Rc<RefCell<BTreeSet<String>>>;

/// The built-in names: how it is written, what it is, and where it can be used if not everywhere. `NAME` stands for a
/// name of the chart, `[]` for an item of a list. [`ChartNames`] has their types.
#[rustfmt::skip]
pub const BUILT_IN: &[(&str, &str, &str)] = &[
    ("args.NAME", "the option NAME: the given value, else its default", "commands, `enter`"),
    ("checks.NAME", "the findings of `[[checks.NAME]]`, in order", ""),
    ("config.NAME", "the setting NAME of `config.json`, else its default", ""),
    ("cycle.id", "the running cycle: the one whose review or answer comes next; none if no cycle is running", ""),
    ("cycle.post", "the phase that answers its reviews", ""),
    ("cycle.stage", "its stage", ""),
    ("cycle.resume", "the phase to resume if there is nothing to review yet", ""),
    ("cycle.next", "its first open advance target", ""),
    ("cycle.review", "the file of the next review", ""),
    ("cycle.n", "the number of the next review; 0 if no cycle is running", ""),
    ("cycle.limit", "how many reviews it may have", ""),
    ("cycle.due", "the next review should run: the cycle comes next, or the last review is answered", ""),
    ("cycle.owed", "the last review has no answer yet", ""),
    ("cycle.answered", "the answer to the last review is on disk, and not older than the review", ""),
    ("cycle.exit", "its `exit` condition", ""),
    ("cycle.ready", "its `ready` condition; true if it has none", ""),
    ("cycle.stalled", "the last reviews found something, as many as its `stall` says (0: never); and nothing has changed since the first of them, or they found exactly the same and the user has not ruled about it", ""),
    ("cycle.findings", "what its reviews found, as records like those of `findings`", ""),
    ("cycle.last.review", "the file of the last review", ""),
    ("cycle.last.answer", "the file of the answer to it", ""),
    ("cycle.subject", "the files that its reviewer reads", ""),
    ("cycle.text.NAME", "the text NAME of `[cycles.*.text]`, with its holes filled", ""),
    ("driver", "who drives the instance: `this` session, an `other` one, or none", ""),
    ("drivers", "the ids of the sessions that drive it", ""),
    ("event.background_tasks", "what the agent runs in the background", "hook events"),
    ("event.custom_instructions", "the user's instructions for `/compact`", "hook events"),
    ("event.cwd", "the directory that the agent works in", "hook events"),
    ("event.hook_event_name", "the name of the event", "hook events"),
    ("event.host", "the name of the host, such as `Claude Code`", "hook events"),
    ("event.ignores_blocks", "the host ignores further blocks in this turn", "hook events"),
    ("event.last_assistant_message", "the agent's last message", "hook events"),
    ("event.longest_review", "how many seconds a review can take because the host waits no longer for a hook; none if it waits as long as the hook asks for", "hook events"),
    ("event.permission_mode", "the host's permission mode", "hook events"),
    ("event.prompt", "the user's prompt", "hook events"),
    ("event.sandboxed", "the host runs the agent's commands in a sandbox, where `.git` may be read-only", "hook events"),
    ("event.session_crons", "the session's scheduled prompts", "hook events"),
    ("event.session_id", "the id of the session", "hook events"),
    ("event.source", "how the session began: startup, resume, clear or compact", "hook events"),
    ("event.stop_hook_active", "the agent has already been blocked in this turn", "hook events"),
    ("event.terminal", "a person typed the command in a terminal, not an agent", "commands"),
    ("event.transcript_path", "the file of the conversation", "hook events"),
    ("event.trigger", "what caused the compaction: manual or auto", "hook events"),
    ("files.NAME", "the files of the set NAME, sorted by name", ""),
    ("files.NAME[].name", "the file's path from the instance's directory", ""),
    ("files.NAME[].path", "its path from the project's root", ""),
    ("files.NAME[].HOLE", "what the hole of the pattern matched", ""),
    ("files.NAME[].lines", "the lines that match, as records of the holes of `line`", "sets with `line`"),
    ("findings[].id", "the name of a finding of a review that this machine ran: `plan-review-2.1`", ""),
    ("findings[].last", "its review is the last one of a cycle that is running or paused", ""),
    ("findings[].severity", "its severity", ""),
    ("findings[].state", "`open`, what the answer to the review says, or what the user has ruled", ""),
    ("findings[].again", "the review before found the same", ""),
    ("findings[].text", "all of it in one line: `plan-review-2.1 (major, src/a.rs:12): TITLE`", ""),
    ("gate.failed", "a gate has just failed, and no reviewer was started", "rules after an `invoke`"),
    ("gate.command", "the command line of the gate; none if no gate failed", "rules after an `invoke`"),
    ("gate.why", "how it failed: `exited with code 1`", "rules after an `invoke`"),
    ("gate.output", "the last lines of its output", "rules after an `invoke`"),
    ("gate.times", "how many times in a row it has failed with the same output, numbers, addresses and temporary names aside, and from the eighth time on with any; 0 if no gate failed", "rules after an `invoke`"),
    ("git.dirty", "there are uncommitted changes outside the home; false outside git", ""),
    ("invoke", "the names of the tables under `[invoke]`", ""),
    ("it", "the item of an `each`", "`each`"),
    ("it.id", "the phase that is being entered", "`[phases]`"),
    ("it.cycle", "its cycle, if its name has a `{cycle}` hole", "`[phases]`"),
    ("now", "the time in UTC, to the second, in a form for file names: `20260203T145212`", ""),
    ("postponed", "until when no reviewer can run: `18:23 UTC+01:00`, or `2026-11-26 18:23 UTC+01:00`; none if one can", ""),
    ("prompts.NAME", "the prompt NAME: the user's own file, else the template, with its holes filled", ""),
    ("review.ok", "a review has just run and written its file", "rules after an `invoke`"),
    ("review.error", "why it failed; none if it succeeded", "rules after an `invoke`"),
    ("review.verdict", "its verdict; none if there was none", "rules after an `invoke`"),
    ("review.worst", "the severity of its worst finding; none if it has no finding; one that cannot be read counts as the worst", "rules after an `invoke`"),
    ("review.found", "how many findings of each severity: `2 major, 1 minor`; empty if there is none", "rules after an `invoke`"),
    ("review.findings[].id", "the name of a finding: `plan-review-2.1`", "rules after an `invoke`"),
    ("review.findings[].severity", "its severity", "rules after an `invoke`"),
    ("review.findings[].file", "the file that it is about; none if it has none", "rules after an `invoke`"),
    ("review.findings[].line", "the line; none if it has none", "rules after an `invoke`"),
    ("review.findings[].title", "what is wrong, in one line", "rules after an `invoke`"),
    ("review.n", "its number", "rules after an `invoke`"),
    ("review.by", "who did it; none if the chart does not say", "rules after an `invoke`"),
    ("review.seconds", "how many seconds it took", "rules after an `invoke`"),
    ("review.took", "the same as a person reads it: `2 min 10 s`", "rules after an `invoke`"),
    ("review.cost", "what it cost: `$0.21`; none if that is unknown", "rules after an `invoke`"),
    ("review.until", "if it failed because no reviewer can run: until when; else none", "rules after an `invoke`"),
    ("review.file", "the file it wrote", "rules after an `invoke`"),
    ("review.answer", "the file that answers it", "rules after an `invoke`"),
    ("rulings", "what the user has ruled about findings, one line each", ""),
    ("scope.started", "the instance has a state", ""),
    ("scope.name", "the name of the instance's directory", ""),
    ("scope.path", "its path from the project's root", ""),
    ("scope.home", "the chart's home", ""),
    ("session", "the session of the event or the command, if it is known", ""),
    ("siblings", "the other instances", ""),
    ("siblings[].name", "the name of its directory", ""),
    ("siblings[].path", "its path from the project's root", ""),
    ("siblings[].idle_hours", "whole hours since one of its files was modified", ""),
    ("siblings[].unreadable", "its state cannot be read, and every field of `context` is none", ""),
    ("siblings[].context.NAME", "the field NAME of its state", ""),
    ("siblings[].files.NAME", "its files of the set NAME, without those in subfolders", ""),
    ("spent.cycle", "what the reviews of the running cycle cost so far; none without a budget", ""),
    ("spent.instance", "what all reviews of the instance cost: `$3.20`, or `$3.20 + 1 unknown`; none without a budget", ""),
    ("spent.failures", "how many of the last reviews of the running cycle have failed in a row, the one that has just run included; 0 without a budget", ""),
    ("spent.over", "the budget that is used up: `failures`, `cycle`, `instance`, `reviews` or `minutes`; none if none is", ""),
    ("spent.why", "why the last of these reviews failed; empty if none has", ""),
    ("tables.NAME.exists", "the file exists", ""),
    ("tables.NAME.head", "it has a table", ""),
    ("tables.NAME.prose", "it has lines outside tables", ""),
    ("tables.NAME.lines", "the number of its lines", ""),
    ("tables.NAME.lacks", "a table in it has no column for `id`", ""),
    ("tables.NAME.unusable", "a row has an unusable `id`; such a row is in `open`, but not in `rows`", ""),
    ("tables.NAME.rows", "its rows, or the lines that match", ""),
    ("tables.NAME.open", "the rows whose `status` is not one of `finished`", ""),
    ("tables.NAME.rows[].HOLE", "the column, or what the hole of the pattern matched", ""),
    ("tables.NAME.rows[].done", "its `status` is one of `finished`", ""),
    ("tables.NAME.rows[].path", "the file that belongs to the row", ""),
    ("touched", "the paths that the actions of this rule create, rename or remove, in order", "texts of a rule with `actions`"),
];

/// Returns the names of [`BUILT_IN`] that stand alone or before a dot, each once.
pub fn sources() -> Vec<&'static str> {
    let mut names: Vec<&str> = BUILT_IN
        .iter()
        .filter_map(|(path, ..)| path.split(['.', '[']).next())
        .collect();
    names.dedup();
    names
}

/// Returns the names that a rule's `invoke` can mean; `None` if it can be any text.
pub fn invoked(chart: &Chart, invoke: &str) -> Option<Vec<String>> {
    let Some(expr) = single_expression(invoke) else {
        return Some(vec![invoke.to_owned()]);
    };
    match infer::expression(expr, &ChartNames::new(chart, &Uses::default())).0 {
        Type::Word(words) => Some(words.iter().cloned().collect()),
        _ => None,
    }
}

impl<'c> ChartNames<'c> {
    /// Returns the names that are visible everywhere.
    pub fn new(chart: &'c Chart, uses: &Uses) -> Self {
        Self {
            chart,
            it: None,
            lets: RefCell::new(HashMap::new()),
            depth: Cell::new(0),
            uses: Rc::clone(uses),
        }
    }

    /// Returns the names that are visible where `it` has a value.
    pub fn with_it(chart: &'c Chart, uses: &Uses, it: Type) -> Self {
        Self {
            it: Some(it),
            ..Self::new(chart, uses)
        }
    }

    fn words<'n>(names: impl IntoIterator<Item = &'n String>) -> Type {
        Type::word(names.into_iter().cloned())
    }

    /// Returns a record in which each of the names has the same type.
    fn each<'n>(names: impl IntoIterator<Item = &'n String>, kind: &Type) -> Type {
        let names = names.into_iter();
        Type::record(names.map(|name| (name.clone(), kind.clone())))
    }

    fn phases(&self) -> Type {
        // A cycle without a phase is reported elsewhere.
        Self::words(self.chart.phases.keys().chain(self.chart.cycles.keys()))
    }

    fn field(&self, name: &str) -> Option<Type> {
        self.chart.context.get(name).map(|field| self.typed(field))
    }

    fn typed(&self, field: &Field) -> Type {
        let kind = match &field.one_of {
            Some(words) => Type::word(words.list().iter().cloned()),
            None => self.of(field.kind),
        };
        if field.nullable { kind.or_none() } else { kind }
    }

    fn of(&self, kind: FieldType) -> Type {
        match kind {
            FieldType::Boolean => Type::Boolean,
            FieldType::Integer => Type::Integer,
            FieldType::String => Type::Text,
            FieldType::List => Type::list(Type::Text),
            FieldType::Phase => self.phases(),
        }
    }

    fn let_type(&self, name: &str) -> Option<Type> {
        let expr = self.chart.lets.get(name)?;
        if let Some(kind) = self.lets.borrow().get(name) {
            return Some(kind.clone());
        }
        // A let that refers to itself, or too deeply, ends here: `check` reports both.
        self.lets.borrow_mut().insert(name.to_owned(), Type::Any);
        if self.depth.get() >= MAX_DEPTH {
            return Some(Type::Any);
        }
        self.depth.set(self.depth.get() + 1);
        let (kind, _) = infer::expression(&expr.0, self);
        self.depth.set(self.depth.get() - 1);
        self.lets.borrow_mut().insert(name.to_owned(), kind.clone());
        Some(kind)
    }

    /// Returns what is not none while a cycle is running.
    pub fn of_a_cycle(&self) -> Vec<String> {
        let cycles = || self.chart.cycles.values();
        let mut names = vec!["id", "post", "next", "review"];
        if cycles().all(|cycle| cycle.stage.is_some()) {
            names.push("stage");
        }
        // Only a cycle with a condition can be unready.
        if cycles().all(|cycle| cycle.ready.is_none() || cycle.resume.is_some()) {
            names.push("resume");
        }
        names.iter().map(|name| format!("cycle.{name}")).collect()
    }

    /// Returns what is not none after a review, whether it failed or not.
    fn of_a_review(&self) -> Vec<String> {
        let mut paths = self.of_a_cycle();
        paths.extend(["review.file", "review.answer"].map(str::to_owned));
        let mut invokes = self.chart.invoke.values();
        if invokes.all(|invoke| invoke.by.is_some()) {
            paths.push("review.by".to_owned());
        }
        paths
    }

    /// Returns what is not none after a gate that failed.
    fn of_a_gate(&self) -> Vec<String> {
        let mut paths = self.of_a_cycle();
        paths.extend(["gate.command", "gate.why"].map(str::to_owned));
        paths
    }

    fn cycle(&self) -> Type {
        let cycles = || self.chart.cycles.values();
        let last = Type::record([("review", Type::Text), ("answer", Type::Text)]);
        // The texts that every cycle has.
        let texts = cycles()
            .next()
            .into_iter()
            .flat_map(|first| first.text.keys());
        let texts = texts.filter(|text| cycles().all(|cycle| cycle.text.contains_key(*text)));
        // An unknown phase is reported elsewhere; its consequences are not reported.
        let leads = |names: Vec<&String>| {
            let mut known = names
                .iter()
                .map(|name| self.chart.phases.contains_key(*name));
            match known.all(|is_known| is_known) {
                true => Self::words(names).or_none(),
                false => Type::Any,
            }
        };
        let posts = cycles().map(|cycle| &cycle.post).collect();
        let resumed = cycles().filter_map(|cycle| cycle.resume.as_ref()).collect();
        let advances = cycles().flat_map(|cycle| &cycle.advance);
        let targets = advances.map(|advance| &advance.target).collect();
        Type::record([
            ("id", Self::words(self.chart.cycles.keys()).or_none()),
            ("post", leads(posts)),
            ("stage", Type::Text.or_none()),
            ("resume", leads(resumed)),
            ("next", leads(targets)),
            ("review", Type::Text.or_none()),
            ("n", Type::Integer),
            ("limit", Type::Integer),
            ("due", Type::Boolean),
            ("owed", Type::Boolean),
            ("answered", Type::Boolean),
            ("exit", Type::Boolean),
            ("ready", Type::Boolean),
            ("stalled", Type::Boolean),
            ("findings", self.findings()),
            ("last", last),
            ("subject", Type::list(Type::Text)),
            ("text", Self::each(texts, &Type::Text)),
        ])
    }

    /// Returns the type of the findings of all reviews.
    fn findings(&self) -> Type {
        let words = &self.chart.findings;
        let states = std::iter::once("open")
            .chain(words.answers.iter().map(String::as_str))
            .chain(words.unanswered.as_deref())
            .chain(words.rulings.values().map(String::as_str));
        Type::list(Type::record([
            ("id", Type::Text),
            ("last", Type::Boolean),
            ("severity", Self::words(&words.severities)),
            ("state", Type::word(states.map(str::to_owned))),
            ("again", Type::Boolean),
            ("text", Type::Text),
        ]))
    }

    fn review(&self) -> Type {
        let severities = || Self::words(&self.chart.findings.severities);
        let finding = Type::record([
            ("id", Type::Text),
            ("severity", severities()),
            ("file", Type::Text.or_none()),
            ("line", Type::Integer.or_none()),
            ("title", Type::Text),
        ]);
        Type::record([
            ("ok", Type::Boolean),
            ("error", Type::Text.or_none()),
            ("verdict", Type::word(self.chart.verdicts()).or_none()),
            ("worst", severities().or_none()),
            ("found", Type::Text),
            ("findings", Type::list(finding)),
            ("n", Type::Integer),
            ("by", Type::Text.or_none()),
            ("seconds", Type::Integer),
            ("took", Type::Text),
            ("cost", Type::Text.or_none()),
            ("until", Type::Text.or_none()),
            ("file", Type::Text.or_none()),
            ("answer", Type::Text.or_none()),
        ])
    }

    /// Returns the type of `files`; those of other instances have no sets with subfolders.
    fn files(&self, of_siblings: bool) -> Type {
        let sets = self.chart.files.iter();
        let sets = sets.filter(|(_, set)| !(of_siblings && set.is_nested()));
        Type::record(sets.map(|(name, set)| {
            let fixed = ["name", "path"].map(|field| (field, Type::Text));
            // Only the holes that every pattern has exist for every file.
            let has = |pattern: &Pattern, hole: &str| pattern.holes().any(|(own, _)| own == hole);
            let holes = set.with.first().into_iter().flat_map(Pattern::holes);
            let holes = holes.filter(|(hole, _)| set.with.iter().all(|other| has(other, hole)));
            let holes = holes.map(|(hole, kind)| match kind {
                HoleKind::Text | HoleKind::Slug => (hole, Type::Text),
                HoleKind::Integer => (hole, Type::Integer),
                HoleKind::OneOf(words) => (hole, Self::words(words)),
            });
            let lines = set.line.iter().map(|line| {
                let holes = line.holes().map(|(hole, _)| (hole, Type::Text));
                ("lines", Type::list(Type::record(holes)))
            });
            let fields = fixed.into_iter().chain(holes).chain(lines);
            (name.clone(), Type::list(Type::record(fields)))
        }))
    }

    fn siblings(&self) -> Type {
        let fields = self.chart.context.iter();
        let context = fields.map(|(name, field)| (name.clone(), self.typed(field).or_none()));
        Type::list(Type::record([
            ("name", Type::Text),
            ("path", Type::Text),
            ("idle_hours", Type::Integer),
            ("unreadable", Type::Boolean),
            ("context", Type::record(context)),
            ("files", self.files(true)),
        ]))
    }

    fn tables(&self) -> Type {
        let broken = self.chart.broken_tables.iter();
        let broken = broken.map(|name| (name.clone(), Type::Any));
        Type::record(broken.chain(self.chart.tables.iter().map(|(name, table)| {
            let path = match table.path {
                Some(_) => Type::Text,
                None => Type::Text.or_none(),
            };
            let own = table.rows.fields().into_iter();
            let own = own.map(|field| (field, Type::Text));
            let fields = own.chain([("done", Type::Boolean), ("path", path)]);
            let rows = Type::list(Type::record(fields));
            let table = Type::record([
                ("exists", Type::Boolean),
                ("head", Type::Boolean),
                ("prose", Type::Boolean),
                ("lacks", Type::Boolean),
                ("unusable", Type::Boolean),
                ("lines", Type::Integer),
                ("rows", rows.clone()),
                ("open", rows),
            ]);
            (name.clone(), table)
        })))
    }

    fn args(&self) -> Type {
        let args = self.chart.args.iter();
        Type::record(args.map(|(name, arg)| (name.clone(), self.of(arg.kind))))
    }

    fn config(&self) -> Type {
        let settings = self.chart.config.iter();
        Type::record(settings.map(|(name, field)| (name.clone(), self.typed(field))))
    }

    fn event() -> Type {
        Type::record(EVENT_DEFAULTS.iter().map(|(name, default)| {
            let kind = match default {
                FieldDefault::False => Type::Boolean,
                FieldDefault::Text => Type::Text,
                FieldDefault::List => Type::list(Type::Any),
                FieldDefault::Nothing => Type::Integer.or_none(),
            };
            (*name, kind)
        }))
    }
}

impl Scope for ChartNames<'_> {
    fn name(&self, name: &str) -> Option<Type> {
        if let Some(own) = self.field(name).or_else(|| self.let_type(name)) {
            return Some(own);
        }
        Some(match name {
            "args" => self.args(),
            "checks" => Self::each(self.chart.checks.keys(), &Type::list(Type::Text)),
            "config" => self.config(),
            "cycle" => self.cycle(),
            "event" => Self::event(),
            "files" => self.files(false),
            "gate" => Type::record([
                ("failed", Type::Boolean),
                ("command", Type::Text.or_none()),
                ("why", Type::Text.or_none()),
                ("output", Type::Text),
                ("times", Type::Integer),
            ]),
            "git" => Type::record([("dirty", Type::Boolean)]),
            "invoke" => Type::list(Self::words(self.chart.invoke.keys())),
            "it" => return self.it.clone(),
            "now" => Type::Text,
            "prompts" => Self::each(&self.chart.prompts.names, &Type::Text),
            "review" => self.review(),
            "scope" => Type::record([
                ("started", Type::Boolean),
                ("name", Type::Text),
                ("path", Type::Text),
                ("home", Type::Text),
            ]),
            // If each session has its own instance, there is always a session.
            "session" if self.chart.scope.is_per_session() => Type::Text,
            "driver" | "postponed" | "session" => Type::Text.or_none(),
            "spent" => Type::record([
                ("cycle", Type::Text.or_none()),
                ("instance", Type::Text.or_none()),
                ("failures", Type::Integer),
                ("over", Type::word(Limited::ALL.map(Limited::key)).or_none()),
                ("why", Type::Text),
            ]),
            "siblings" => self.siblings(),
            "findings" => self.findings(),
            "drivers" | "rulings" | "touched" => Type::list(Type::Text),
            "tables" => self.tables(),
            _ => return None,
        })
    }

    fn names(&self) -> Vec<String> {
        let own = self.chart.context.keys().chain(self.chart.lets.keys());
        let sources = sources().into_iter();
        let sources = sources.filter(|name| *name != "it" || self.it.is_some());
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
        names
            .into_iter()
            .filter(|name| name.starts_with(start) && name.ends_with(end))
            .collect()
    }

    fn meaning(&self, name: &str) -> Option<String> {
        let is_field = self.chart.context.contains_key(name);
        let expr = self.chart.lets.get(name).filter(|_| !is_field)?;
        Some(expr.0.clone())
    }

    fn implied(&self, path: &str, holds: bool) -> Vec<String> {
        match (path.rsplit_once('.'), holds) {
            (Some(("cycle", _)), true) => self.of_a_cycle(),
            (Some(("review", _)), true) => self.of_a_review(),
            (Some(("gate", _)), true) => self.of_a_gate(),
            (Some(("spent", name)), true) => {
                let mut paths = vec!["spent.cycle".to_owned(), "spent.instance".to_owned()];
                let budgets = Limited::ALL.iter();
                let budgets = budgets.filter_map(|limited| self.chart.budget.of(*limited));
                let budgets = budgets.filter_map(|text| single_expression(&text.0));
                paths.extend(budgets.filter(|_| name == "over").map(str::to_owned));
                paths
            }
            // Nothing is known of a field that only some states have.
            (Some((sibling, "unreadable")), false) => {
                let fields = self.chart.context.keys();
                fields
                    .map(|name| format!("{sibling}.context.{name}"))
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}
