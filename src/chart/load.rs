//! TOML text → [`Chart`]: parses, fills in what cycles share, makes one phase per cycle, and resolves every
//! name a chart can mention. All flaws are collected, each with its place in the file.

use std::path::Path;

use indexmap::IndexMap;

use super::check;
use super::error::{ChartError, Flaw, Step, locate};
use super::model::{Assign, CycleSource, FilePattern, FieldType, Literal, Phase, Rule, Source, Table as TableSource};
use super::templates::Templates;
use super::{Chart, Command, Cycle, FileSet, PhaseEntry, RowShape, Scope, Table, suggest};
use crate::expr::single_expression;
use crate::scope::pattern::Pattern;

/// The hole in a phase's name that makes one phase per cycle.
const CYCLE_HOLE: &str = "{cycle}";

/// Loads the chart at `path`, its templates being the folders it names, beside it, and checks its
/// expressions.
pub(crate) fn from_path(path: &Path) -> Result<Chart, ChartError> {
    let origin = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ChartError::unreadable(&origin, format!("the chart cannot be read: {error}")))?;
    let beside = path.parent().unwrap_or(Path::new("."));
    let folders = parse(&origin, &text)?.templates.iter().map(|folder| beside.join(folder)).collect();
    let chart = from_text(&origin, &text, Templates::Folders(folders))?;
    check::check(&chart, &text)?;
    Ok(chart)
}

/// Loads a chart from its TOML. `origin` names it in messages.
pub(crate) fn from_text(origin: &str, text: &str, templates: Templates) -> Result<Chart, ChartError> {
    resolve(origin, parse(origin, text)?, text, templates)
}

/// Loads a chart from the JSON that the build made of its TOML.
pub(crate) fn from_json(origin: &str, json: &str, text: &str, templates: Templates) -> Result<Chart, ChartError> {
    let source = serde_json::from_str(json).map_err(|error| ChartError::unreadable(origin, error.to_string()))?;
    resolve(origin, source, text, templates)
}

fn resolve(origin: &str, source: Source, text: &str, templates: Templates) -> Result<Chart, ChartError> {
    let mut resolver = Resolver { text, flaws: Vec::new() };
    let chart = resolver.chart(origin, source, templates);
    match chart {
        Some(chart) if resolver.flaws.is_empty() => Ok(chart),
        _ => {
            resolver.flaws.sort_by_key(|flaw| flaw.span.as_ref().map(|span| span.start));
            Err(ChartError { origin: origin.to_owned(), text: text.to_owned(), flaws: resolver.flaws })
        }
    }
}

fn parse(origin: &str, text: &str) -> Result<Source, ChartError> {
    toml::from_str(text).map_err(|error| {
        let (_, syntax) = toml::de::DeTable::parse_recoverable(text);
        let errors = if syntax.is_empty() { vec![error] } else { syntax };
        let flaws = errors
            .iter()
            .map(|error| Flaw { message: error.message().to_owned(), help: None, span: error.span() })
            .collect();
        ChartError { origin: origin.to_owned(), text: text.to_owned(), flaws }
    })
}

/// Collects flaws while names are resolved.
struct Resolver<'t> {
    text: &'t str,
    flaws: Vec<Flaw>,
}

macro_rules! path {
    ($($step:expr),* $(,)?) => { &[$(Step::from($step)),*] };
}

impl Resolver<'_> {
    fn flaw(&mut self, path: &[Step], message: String, help: Option<String>) {
        let span = locate(self.text, path);
        self.flaws.push(Flaw { message, help, span });
    }

    /// Notes a flaw unless `name` is one of `known`.
    fn known<'k>(&mut self, path: &[Step], what: &str, name: &str, known: impl Iterator<Item = &'k str> + Clone) {
        if known.clone().any(|other| other == name) {
            return;
        }
        let help = suggest(name, known.clone()).map_or_else(
            || format!("known: {}", known.collect::<Vec<_>>().join(", ")),
            |name| format!("did you mean `{name}`?"),
        );
        self.flaw(path, format!("`{name}` is no {what} of this chart"), Some(help));
    }

    fn pattern(&mut self, path: &[Step], source: &FilePattern) -> Option<Pattern> {
        Pattern::parse(&source.0).map_err(|message| self.flaw(path, message, None)).ok()
    }

    /// A pattern that renders a name: it has no wildcard.
    fn name_pattern(&mut self, path: &[Step], source: &FilePattern) -> Option<Pattern> {
        let pattern = self.pattern(path, source)?;
        if pattern.has_wildcard() {
            let help = "write holes: `{base}-review-{n}.md`".to_owned();
            self.flaw(path, format!("`{}` must render one name, and `*` cannot", source.0), Some(help));
            return None;
        }
        Some(pattern)
    }

    fn chart(&mut self, origin: &str, source: Source, templates: Templates) -> Option<Chart> {
        let cycles = self.cycles(&source);
        let phases = self.phases(&source);
        self.fields(&source);
        self.targets(&source, &phases);
        let files = self.files(&source);
        let tables = self.tables(&source);
        let touch: Vec<Pattern> = source
            .scope
            .touch
            .iter()
            .enumerate()
            .filter_map(|(index, pattern)| self.pattern(path!["scope", "touch", index], pattern))
            .collect();
        if !source.scope.newest.ends_with("/*") || source.scope.newest.matches('*').count() != 1 {
            let message = format!("`{}` names no directories", source.scope.newest);
            self.flaw(path!["scope", "newest"], message, Some("write a folder and `/*`: `plans/*`".to_owned()));
        }
        let commands = source
            .commands
            .into_iter()
            .map(|(name, command)| {
                let rule = Rule {
                    guard: command.guard,
                    target: command.target,
                    assign: command.assign,
                    advance: command.advance,
                    say: command.say,
                    ..Rule::default()
                };
                (name, Command { about: command.about, otherwise: command.otherwise, rule })
            })
            .collect();
        Some(Chart {
            id: source.id,
            origin: origin.to_owned(),
            initial: source.initial,
            state: source.state,
            next: source.next,
            quiet: source.quiet,
            hook_timeout: source.hook_timeout,
            scope: Scope {
                home: source.scope.home,
                noun: source.scope.noun,
                newest: source.scope.newest,
                touch,
            },
            context: source.context,
            args: source.args,
            files,
            tables,
            lets: source.lets,
            phases,
            cycles: cycles?,
            invoke: source.invoke,
            on: source.on,
            commands,
            checks: source.checks,
            properties: source.properties,
            templates,
            validator: None,
        })
    }

    /// `None` where a cycle lacks a key; the flaws say which.
    fn cycles(&mut self, source: &Source) -> Option<IndexMap<String, Cycle>> {
        let mut cycles = IndexMap::new();
        let mut complete = true;
        for (id, own) in &source.cycles {
            match self.cycle(id, own, &source.cycle) {
                Some(cycle) => {
                    cycles.insert(id.clone(), cycle);
                }
                None => complete = false,
            }
        }
        complete.then_some(cycles)
    }

    fn cycle(&mut self, id: &str, own: &CycleSource, shared: &CycleSource) -> Option<Cycle> {
        macro_rules! required {
            ($key:ident) => {{
                let value = own.$key.clone().or_else(|| shared.$key.clone());
                if value.is_none() {
                    let key = stringify!($key);
                    let message = format!("cycle `{id}` has no `{key}`");
                    let help = format!("give it one, or put one that all cycles share under [cycle]");
                    self.flaw(path!["cycles", id], message, Some(help));
                }
                value
            }};
        }
        macro_rules! name {
            ($key:ident) => {{
                let place = if own.$key.is_some() {
                    vec![Step::from("cycles"), Step::from(id), Step::from(stringify!($key))]
                } else {
                    vec![Step::from("cycle"), Step::from(stringify!($key))]
                };
                required!($key).and_then(|pattern| self.name_pattern(&place, &pattern))
            }};
        }
        let mut text = shared.text.clone();
        text.extend(own.text.clone());
        // Every key is looked at before the first missing one ends it, so that all are reported.
        let (count, limit, exit) = (required!(count), required!(limit), required!(exit));
        let (entry, post, advance) = (required!(entry), required!(post), required!(advance));
        let (base, review, answer) = (name!(base), name!(review), name!(answer));
        Some(Cycle {
            id: id.to_owned(),
            count: count?,
            limit: limit?,
            exit: exit?,
            entry: entry?,
            post: post?.replace(CYCLE_HOLE, id),
            base: base?,
            review: review?,
            answer: answer?,
            subject: own.subject.clone().or_else(|| shared.subject.clone()).unwrap_or_default(),
            ready: own.ready.clone().or_else(|| shared.ready.clone()),
            resume: own.resume.clone().or_else(|| shared.resume.clone()),
            stage: own.stage.clone().or_else(|| shared.stage.clone()),
            text,
            advance: advance?,
        })
    }

    fn phases(&mut self, source: &Source) -> IndexMap<String, PhaseEntry> {
        let mut phases = IndexMap::new();
        for (name, phase) in &source.phases {
            if !name.contains(CYCLE_HOLE) {
                phases.insert(name.clone(), PhaseEntry { phase: phase.clone(), cycle: None });
                continue;
            }
            for (id, cycle) in &source.cycles {
                let stage = phase.stage.clone().or_else(|| cycle.stage.clone());
                let phase = Phase { stage, ..phase.clone() };
                phases.insert(name.replace(CYCLE_HOLE, id), PhaseEntry { phase, cycle: Some(id.clone()) });
            }
        }
        self.known(path!["initial"], "phase", &source.initial, phases.keys().map(String::as_str));
        phases
    }

    /// Fields that others name, and assignments.
    fn fields(&mut self, source: &Source) {
        let fields = || source.context.keys().map(String::as_str);
        self.known(path!["state"], "context field", &source.state, fields());
        if let Some(field) = source.context.get(&source.state)
            && field.kind != FieldType::Phase
        {
            let message = format!("`{}` holds the phase and must be of type phase", source.state);
            self.flaw(path!["context", &source.state, "type"], message, None);
        }
        if let Some(next) = &source.next {
            self.known(path!["next"], "context field", next, fields());
        } else if !source.cycles.is_empty() {
            let help = "name the context field that holds the phase that is due: next = \"next_phase\"".to_owned();
            self.flaw(path!["cycles"], "a chart with cycles needs `next`".to_owned(), Some(help));
        }
        for (name, field) in &source.context {
            if field.pattern.as_deref().is_some_and(|pattern| pattern != "[A-Za-z0-9_-]+") {
                let help = "leave it out, or write [A-Za-z0-9_-]+".to_owned();
                let message = "the only pattern a field can have is that of a name".to_owned();
                self.flaw(path!["context", name, "pattern"], message, Some(help));
            }
            let fits = match (&field.default, field.kind) {
                (None, FieldType::Phase) => true,
                (None, _) => field.nullable,
                (Some(Literal::Boolean(_)), FieldType::Boolean) => true,
                (Some(Literal::Integer(value)), FieldType::Integer) => field.minimum.is_none_or(|least| *value >= least),
                (Some(Literal::Text(_)), FieldType::String | FieldType::Phase) => true,
                _ => false,
            };
            if !fits {
                let message = match field.default {
                    None => format!("`{name}` needs a default, because it cannot be null"),
                    Some(_) => format!("the default of `{name}` is not {}", crate::engine::context::describe(field)),
                };
                self.flaw(path!["context", name, "default"], message, None);
            }
        }
        for (key, own) in [("cycle", &source.cycle)] {
            self.cycle_fields(&[Step::from(key)], own, source);
        }
        for (id, own) in &source.cycles {
            self.cycle_fields(path!["cycles", id], own, source);
        }
        for (name, phase) in &source.phases {
            self.assigned(path!["phases", name, "entry"], &phase.entry, source);
        }
        for (event, rules) in &source.on {
            for (index, rule) in rules.iter().enumerate() {
                self.assigned(path!["on", event, index, "assign"], &rule.assign, source);
            }
        }
        for (name, command) in &source.commands {
            self.assigned(path!["commands", name, "assign"], &command.assign, source);
        }
    }

    fn cycle_fields(&mut self, path: &[Step], own: &CycleSource, source: &Source) {
        for (key, field) in [("count", &own.count), ("limit", &own.limit)] {
            let Some(field) = field else { continue };
            let path = [path, &[Step::from(key)]].concat();
            self.known(&path, "context field", field, source.context.keys().map(String::as_str));
            if source.context.get(field).is_some_and(|field| field.kind != FieldType::Integer) {
                self.flaw(&path, format!("`{field}` counts reviews and must be an integer"), None);
            }
        }
        if let Some(entry) = &own.entry {
            let path = [path, &[Step::from("entry")]].concat();
            self.assigned(&path, entry, source);
        }
    }

    fn assigned(&mut self, path: &[Step], assign: &Assign, source: &Source) {
        for (name, value) in assign {
            let path = [path, &[Step::from(name)]].concat();
            self.known(&path, "context field", name, source.context.keys().map(String::as_str));
            let Some(field) = source.context.get(name) else { continue };
            let fits = match (value, field.kind) {
                (Literal::Boolean(_), FieldType::Boolean) => true,
                (Literal::Integer(value), FieldType::Integer) => field.minimum.is_none_or(|least| *value >= least),
                (Literal::Text(text), kind) => {
                    single_expression(&text.0).is_some() || matches!(kind, FieldType::String | FieldType::Phase)
                }
                _ => false,
            };
            if !fits {
                let message = format!("`{name}` is {}", crate::engine::context::describe(field));
                self.flaw(&path, message, None);
            }
        }
    }

    /// Phases and cycles that others lead to, and processes that rules run.
    fn targets(&mut self, source: &Source, phases: &IndexMap<String, PhaseEntry>) {
        let known = || phases.keys().map(String::as_str);
        let cycles = || source.cycles.keys().map(String::as_str);
        for id in source.cycles.keys() {
            if !phases.contains_key(id) {
                let help = "add a phase `\"{cycle}\"`, which makes one for each cycle".to_owned();
                self.flaw(path!["cycles", id], format!("cycle `{id}` is no phase"), Some(help));
            }
        }
        let shared = std::iter::once((vec![Step::from("cycle")], &source.cycle, None));
        let own = source.cycles.iter().map(|(id, own)| (vec![Step::from("cycles"), Step::from(id)], own, Some(id)));
        for (path, cycle, id) in shared.chain(own) {
            let at = |key: &str| [path.as_slice(), &[Step::from(key)]].concat();
            if let Some(resume) = &cycle.resume {
                self.known(&at("resume"), "phase", resume, known());
            }
            if let Some(post) = &cycle.post {
                for id in id.map_or_else(|| source.cycles.keys().collect(), |id| vec![id]) {
                    self.known(&at("post"), "phase", &post.replace(CYCLE_HOLE, id), known());
                }
            }
            for (index, advance) in cycle.advance.iter().flatten().enumerate() {
                let path = [at("advance").as_slice(), &[Step::from(index), Step::from("target")]].concat();
                self.known(&path, "phase", &advance.target, known());
            }
        }
        for (name, phase) in &source.phases {
            if let Some(arms) = &phase.arms {
                self.known(path!["phases", name, "arms"], "cycle", arms, cycles());
            }
        }
        for (event, rules) in &source.on {
            for (index, rule) in rules.iter().enumerate() {
                if let Some(target) = &rule.target {
                    self.known(path!["on", event, index, "target"], "phase", target, known());
                }
                if let Some(name) = &rule.invoke {
                    let known = source.invoke.keys().map(String::as_str);
                    self.known(path!["on", event, index, "invoke"], "invocation", name, known);
                }
            }
        }
        for (name, invoke) in &source.invoke {
            if invoke.argv.is_empty() {
                self.flaw(path!["invoke", name, "argv"], format!("`{name}` has no program to run"), None);
            }
            self.name_pattern(path!["invoke", name, "log"], &invoke.log);
            if invoke.timeout >= source.hook_timeout {
                let message = format!(
                    "`{name}` may take {} seconds, and the host ends the hook after {}",
                    invoke.timeout, source.hook_timeout
                );
                let help = "leave the hook time to write the outcome: give a shorter timeout".to_owned();
                self.flaw(path!["invoke", name, "timeout"], message, Some(help));
            }
        }
    }

    fn files(&mut self, source: &Source) -> IndexMap<String, FileSet> {
        let mut sets = IndexMap::new();
        for (name, patterns) in &source.files {
            let mut set = FileSet { with: Vec::new(), without: Vec::new() };
            for (index, pattern) in patterns.iter().enumerate() {
                let (into, text) = match pattern.0.strip_prefix('!') {
                    Some(rest) => (&mut set.without, rest),
                    None => (&mut set.with, pattern.0.as_str()),
                };
                match Pattern::parse(text) {
                    Ok(pattern) => into.push(pattern),
                    Err(message) => self.flaw(path!["files", name, index], message, None),
                }
            }
            sets.insert(name.clone(), set);
        }
        sets
    }

    fn tables(&mut self, source: &Source) -> IndexMap<String, Table> {
        let mut tables = IndexMap::new();
        for (name, table) in &source.tables {
            if let Some(table) = self.table(name, table) {
                tables.insert(name.clone(), table);
            }
        }
        tables
    }

    fn table(&mut self, name: &str, table: &TableSource) -> Option<Table> {
        let rows = match (&table.columns, &table.line) {
            (Some(columns), None) => RowShape::Columns(columns.clone()),
            (None, Some(line)) => RowShape::Line(Pattern::parse(&line.0).map_err(|message| {
                self.flaw(path!["tables", name, "line"], message, None);
            }).ok()?),
            _ => {
                let help = "columns = { id = \"Id\" } for a table, line = \"## {title}\" for lines".to_owned();
                let message = format!("table `{name}` needs either `columns` or `line`");
                self.flaw(path!["tables", name], message, Some(help));
                return None;
            }
        };
        let file = self.name_pattern(path!["tables", name, "file"], &table.file)?;
        let path = match &table.path {
            Some(path) => Some(self.name_pattern(path!["tables", name, "path"], path)?),
            None => None,
        };
        Some(Table { file, rows, path, finished: table.finished.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::embedded::CHARTS;
    use super::*;

    #[test]
    fn charts_compiled_in_are_without_a_flaw() {
        for embedded in CHARTS {
            let chart = embedded.load().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(check::flaws(&chart, embedded.text), [], "{}", embedded.id);
            let from_toml = from_text(embedded.id, embedded.text, chart.templates.clone());
            let from_toml = from_toml.unwrap_or_else(|error| panic!("{error}"));
            let from_json = Chart { validator: None, ..Arc::into_inner(chart).unwrap_or_else(|| panic!("shared")) };
            assert_eq!(format!("{from_json:?}"), format!("{from_toml:?}"), "{}", embedded.id);
        }
    }
}
