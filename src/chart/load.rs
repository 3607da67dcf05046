//! TOML text → [`Chart`]: parses, fills in what cycles share, makes one phase per cycle, and resolves every
//! name a chart can mention. All flaws are collected, each with its place in the file.

use std::path::{Component, Path};

use indexmap::IndexMap;

use super::model::{
    Action, Arg, Assign, CycleSource, Field, FieldType, FilePattern, Files, Phase, Rule,
    Scope as ScopeSource, Source, Table as TableSource,
};
use super::names::SOURCES;
use super::{Chart, Command, Cycle, FileSet, InstanceChoice, PhaseEntry, RowShape, Scope, Table};
use super::{check, outdated};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{ChartError, Flaw};
use crate::diagnostic::suggest::suggest;
use crate::diagnostic::toml::{Step, locate};
use crate::expr::single_expression;
use crate::expr::source::Literal;
use crate::expr::templates::Templates;
use crate::files::pattern::{Pattern, is_slug};
use crate::host::events::EVENTS;

/// The hole in a phase's name that makes one phase per cycle.
const CYCLE_HOLE: &str = "{cycle}";

/// The options and arguments that commands have whatever the chart.
const RESERVED: &[&str] = &[
    "chart", "check", "help", "instance", "phase", "session", "version",
];

/// The option of `enter` that a chart's own could not be told from.
const FORCE: &str = "force";

/// Loads the chart at `path`, its templates being the folders it names, beside it, and checks its
/// expressions.
pub fn from_path(path: &Path) -> Result<Chart, ChartError> {
    let origin = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        ChartError::unreadable(&origin, format!("the chart cannot be read: {error}"))
    })?;
    let beside = path.parent().unwrap_or(Path::new("."));
    let folders = parse(&origin, &text)?
        .templates
        .iter()
        .map(|folder| beside.join(folder))
        .collect();
    let chart = from_text(&origin, &text, Templates::Folders(folders))?;
    check::check(&chart, &text)?;
    Ok(chart)
}

/// Loads a chart from its TOML. `origin` names it in messages.
pub fn from_text(origin: &str, text: &str, templates: Templates) -> Result<Chart, ChartError> {
    resolve(origin, parse(origin, text)?, text, templates)
}

/// Loads a chart from the JSON that the build made of its TOML.
pub fn from_json(
    origin: &str,
    json: &str,
    text: &str,
    templates: Templates,
) -> Result<Chart, ChartError> {
    let source = serde_json::from_str(json)
        .map_err(|error| ChartError::unreadable(origin, error.to_string()))?;
    resolve(origin, source, text, templates)
}

fn resolve(
    origin: &str,
    source: Source,
    text: &str,
    templates: Templates,
) -> Result<Chart, ChartError> {
    let (chart, flaws) = resolve_all(origin, source, text, templates);
    match chart {
        Some(chart) if flaws.is_empty() => Ok(chart),
        _ => Err(ChartError {
            origin: origin.to_owned(),
            text: text.to_owned(),
            flaws,
        }),
    }
}

/// Resolves what can be resolved: a chart that has flaws is still good enough to look for more of them.
pub fn resolve_all(
    origin: &str,
    source: Source,
    text: &str,
    templates: Templates,
) -> (Option<Chart>, Vec<Flaw>) {
    let mut resolver = Resolver {
        text,
        flaws: Vec::new(),
    };
    let chart = resolver.chart(origin, source, templates);
    let mut flaws: Vec<Flaw> = Vec::new();
    for flaw in resolver.flaws {
        // What all cycles share is resolved for each of them.
        if !flaws.contains(&flaw) {
            flaws.push(flaw);
        }
    }
    flaws.sort_by_key(|flaw| flaw.span.as_ref().map(|span| span.start));
    (chart, flaws)
}

fn parse(origin: &str, text: &str) -> Result<Source, ChartError> {
    let flaws = outdated::flaws(text);
    if !flaws.is_empty() {
        return Err(ChartError {
            origin: origin.to_owned(),
            text: text.to_owned(),
            flaws,
        });
    }
    toml::from_str(text).map_err(|error| {
        let (_, syntax) = toml::de::DeTable::parse_recoverable(text);
        let errors = if syntax.is_empty() {
            vec![error]
        } else {
            syntax
        };
        let flaws = errors
            .iter()
            .map(|error| Flaw::new(Code::TomlSyntax, error.message()).at(error.span()))
            .collect();
        ChartError {
            origin: origin.to_owned(),
            text: text.to_owned(),
            flaws,
        }
    })
}

/// What a code of the `unknown-` kind speaks of.
fn noun(code: Code) -> &'static str {
    match code {
        Code::UnknownCycle => "cycle",
        Code::UnknownField => "context field",
        Code::UnknownCommand => "command",
        Code::UnknownInvocation => "invocation",
        _ => "phase",
    }
}

/// A path of names, so that what is joined with it is below.
fn is_below(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}

/// Whether running `from` runs `to` as well.
fn leads_to(source: &Source, from: &str, to: &str, way: &mut Vec<String>) -> bool {
    if from == to {
        return true;
    }
    if way.iter().any(|name| name == from) {
        return false;
    }
    way.push(from.to_owned());
    let raised = source
        .commands
        .get(from)
        .map_or(&[][..], |command| &command.raise);
    raised.iter().any(|name| leads_to(source, name, to, way))
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
    fn flaw(&mut self, code: Code, path: &[Step], message: String, help: Option<String>) {
        self.flaws.push(
            Flaw::new(code, message)
                .help(help)
                .at(locate(self.text, path)),
        );
    }

    /// Notes a flaw unless `name` is one of `known`.
    fn known<'k>(
        &mut self,
        path: &[Step],
        code: Code,
        name: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) {
        if known.clone().any(|other| other == name) {
            return;
        }
        let help = suggest(name, known.clone()).map_or_else(
            || format!("known: {}", known.collect::<Vec<_>>().join(", ")),
            |name| format!("did you mean `{name}`?"),
        );
        self.flaw(
            code,
            path,
            format!("`{name}` is no {} of this chart", noun(code)),
            Some(help),
        );
    }

    fn pattern(&mut self, path: &[Step], source: &FilePattern) -> Option<Pattern> {
        Pattern::parse(&source.0)
            .map_err(|message| self.flaw(Code::BadPattern, path, message, None))
            .ok()
    }

    /// A pattern that renders a name: it has no wildcard, and its holes are `known`.
    fn name_pattern(
        &mut self,
        path: &[Step],
        source: &FilePattern,
        known: &[&str],
    ) -> Option<Pattern> {
        let pattern = self.pattern(path, source)?;
        for (hole, _) in pattern.holes().filter(|(hole, _)| !known.contains(hole)) {
            let help = suggest(hole, known.iter().copied()).map_or_else(
                || {
                    format!(
                        "known: {}",
                        known
                            .iter()
                            .map(|name| format!("{{{name}}}"))
                            .collect::<Vec<_>>()
                            .join(", ")
                    )
                },
                |name| format!("did you mean `{{{name}}}`?"),
            );
            let message = format!("nothing fills the hole `{{{hole}}}` of `{}`", source.0);
            let span = locate(self.text, path).map(|value| {
                let at = self
                    .text
                    .get(value.clone())
                    .and_then(|text| text.find(&format!("{{{hole}")));
                at.map_or(value.clone(), |at| {
                    value.start + at + 1..value.start + at + 1 + hole.len()
                })
            });
            self.flaws
                .push(Flaw::new(Code::BadPattern, message).help(help).at(span));
        }
        if pattern.has_wildcard() {
            let help = "write holes: `{base}-review-{n}.md`".to_owned();
            self.flaw(
                Code::BadPattern,
                path,
                format!("`{}` must render one name, and `*` cannot", source.0),
                Some(help),
            );
            return None;
        }
        if !is_below(&source.0) {
            let help = "write the name of a file in the instance's directory".to_owned();
            self.flaw(
                Code::BadPattern,
                path,
                format!("`{}` leads elsewhere", source.0),
                Some(help),
            );
            return None;
        }
        Some(pattern)
    }

    fn chart(&mut self, origin: &str, mut source: Source, templates: Templates) -> Option<Chart> {
        self.cleared(&mut source);
        self.names(&source);
        self.properties(&source);
        let cycles = self.cycles(&source);
        let phases = self.phases(&source);
        self.fields(&source, &phases);
        self.targets(&source, &phases);
        let files = self.files(&source);
        let (tables, broken_tables) = self.tables(&source);
        let scope = self.scope(&source.scope);
        let commands = source
            .commands
            .into_iter()
            .map(|(name, command)| {
                let rule = Rule {
                    guard: command.guard,
                    target: command.target,
                    assign: command.assign,
                    advance: command.advance,
                    actions: command.actions,
                    say: command.say,
                    ..Rule::default()
                };
                (
                    name,
                    Command {
                        about: command.about,
                        otherwise: command.otherwise,
                        rule,
                        raise: command.raise,
                    },
                )
            })
            .collect();
        Some(Chart {
            id: source.id,
            origin: origin.to_owned(),
            initial: source.initial,
            state: source.state,
            next: source.next,
            quiet: source.quiet,
            scope,
            context: source.context,
            config: source.config,
            args: source.args,
            files,
            tables,
            broken_tables,
            lets: source.lets,
            prompts: source.prompts,
            phases,
            cycles: cycles?,
            invoke: source.invoke,
            on: source.on,
            commands,
            checks: source.checks,
            properties: source.properties,
            templates,
        })
    }

    /// Turns every `clear` into assignments of null, which is what it stands for.
    fn cleared(&mut self, source: &mut Source) {
        let context = &source.context;
        for (name, phase) in &mut source.phases {
            self.clear(
                path!["phases", name],
                &phase.clear,
                &mut phase.entry,
                context,
            );
        }
        let shared = (path!["cycle"].to_vec(), &mut source.cycle);
        let own = source.cycles.iter_mut();
        let own = own.map(|(id, cycle)| (path!["cycles", id].to_vec(), cycle));
        for (path, cycle) in std::iter::once(shared).chain(own) {
            let clear = cycle.clear.clone().unwrap_or_default();
            let mut entry = cycle.entry.clone().unwrap_or_default();
            self.clear(&path, &clear, &mut entry, context);
            if !entry.is_empty() {
                cycle.entry = Some(entry);
            }
        }
        for (event, rules) in &mut source.on {
            for (index, rule) in rules.iter_mut().enumerate() {
                let path = path!["on", event, index];
                self.clear(path, &rule.clear, &mut rule.assign, context);
            }
        }
        for (name, command) in &mut source.commands {
            let path = path!["commands", name];
            self.clear(path, &command.clear, &mut command.assign, context);
        }
    }

    fn clear(
        &mut self,
        path: &[Step],
        clear: &[String],
        assign: &mut Assign,
        context: &IndexMap<String, Field>,
    ) {
        for (index, name) in clear.iter().enumerate() {
            let path = [path, path!["clear", index]].concat();
            let known = context.keys().map(String::as_str);
            self.known(&path, Code::UnknownField, name, known);
            match context.get(name) {
                Some(_) if assign.contains_key(name) => {
                    let message = format!("`{name}` is cleared and assigned");
                    let help = "remove one of the two".to_owned();
                    self.flaw(Code::ConflictingKeys, &path, message, Some(help));
                }
                Some(field) if !field.nullable => {
                    let message = format!("`{name}` cannot be null");
                    let help = format!("set `nullable = true` in [context.{name}]");
                    self.flaw(Code::WrongAssignment, &path, message, Some(help));
                }
                Some(_) => {
                    assign.insert(name.clone(), Literal::Null);
                }
                None => {}
            }
        }
    }

    /// Where instances live. What is wrong is told, and something like it taken in its place.
    fn scope(&mut self, source: &ScopeSource) -> Scope {
        let touch: Vec<Pattern> = source
            .touch
            .iter()
            .enumerate()
            .filter_map(|(index, pattern)| self.pattern(path!["scope", "touch", index], pattern))
            .collect();
        let (key, value, end) = match (&source.newest, &source.path) {
            (Some(newest), None) => ("newest", newest.as_str(), "/*"),
            (None, Some(path)) => ("path", path.as_str(), "/{session}"),
            (Some(_), Some(_)) => {
                let help =
                    "the instance touched last is meant, or that of the session: take one out"
                        .to_owned();
                let message = "a scope has `newest` or `path`, and this one has both".to_owned();
                self.flaw(
                    Code::ConflictingKeys,
                    path!["scope", "path"],
                    message,
                    Some(help),
                );
                ("newest", "x/*", "/*")
            }
            (None, None) => {
                let help = "newest = \"plans/*\" for the instance touched last, path = \"sessions/{session}\" for one per session".to_owned();
                let message = "the scope has neither `newest` nor `path`".to_owned();
                self.flaw(Code::MissingKey, path!["scope"], message, Some(help));
                ("newest", "x/*", "/*")
            }
        };
        let folder = value.strip_suffix(end).unwrap_or(value);
        if folder == value || folder.contains(['*', '{', '}']) {
            let message = format!("`{value}` names no directories");
            let help = match key {
                "newest" => "write a folder and `/*`: `plans/*`",
                _ => "write a folder and `/{session}`: `sessions/{session}`",
            };
            self.flaw(
                Code::BadPattern,
                path!["scope", key],
                message,
                Some(help.to_owned()),
            );
        }
        if !is_below(folder) {
            let message = format!("`{folder}` leads elsewhere");
            let help = "write the path of a folder below, without `..`".to_owned();
            self.flaw(Code::BadPattern, path!["scope", key], message, Some(help));
        }
        let is_per_session = key == "path";
        if is_per_session && !touch.is_empty() {
            let message = "`touch` beside `path` has no effect".to_owned();
            let help = "each session has an instance of its own: leave it out".to_owned();
            self.flaw(
                Code::ConflictingKeys,
                path!["scope", "touch"],
                message,
                Some(help),
            );
        }
        if !is_per_session && source.touch.is_empty() && source.newest.is_some() {
            let help = "touch = [\"*.md\", \"state.json\"]".to_owned();
            let message =
                "nothing says which files' modification makes an instance the newest".to_owned();
            self.flaw(Code::MissingKey, path!["scope"], message, Some(help));
        }
        Scope {
            home: source.home.clone(),
            noun: source.noun.clone(),
            folder: folder.to_owned(),
            choice: match is_per_session {
                true => InstanceChoice::Session,
                false => InstanceChoice::Newest { touch },
            },
        }
    }

    /// Names that become paths, or words of the command line.
    fn names(&mut self, source: &Source) {
        let words = "a small letter, then small letters, digits, `-` and `_`";
        let is_word = |name: &str| {
            name.starts_with(|sign: char| sign.is_ascii_lowercase())
                && is_slug(name)
                && name == name.to_lowercase()
        };
        let noun = source.scope.noun.as_str();
        // Where each session has its own, the option that names it is `--session` all the same.
        let is_session = source.scope.path.is_some() && noun == "session";
        if !is_word(noun) || RESERVED.contains(&noun) && !is_session {
            let message = format!("`{noun}` cannot be an option of the command line");
            self.flaw(
                Code::BadName,
                path!["scope", "noun"],
                message,
                Some(format!(
                    "an option is {words}, and none of {}",
                    RESERVED.join(", ")
                )),
            );
        }
        let texts_of = |phase: &Phase| {
            let values = phase.entry.values().filter_map(|value| match value {
                Literal::Text(text) => Some(text.0.clone()),
                _ => None,
            });
            values
                .chain(phase.guard.iter().map(|guard| guard.0.clone()))
                .collect::<Vec<_>>()
        };
        let mut of_phases = source.phases.values().flat_map(texts_of);
        let is_forced = of_phases.any(|text| text.contains("args.force"));
        for (name, arg) in &source.args {
            let is_taken =
                RESERVED.contains(&name.as_str()) || name == noun || name == FORCE && is_forced;
            if !is_word(name) || is_taken {
                let message = format!("`{name}` cannot be an option of the command line");
                let help = match name.as_str() {
                    FORCE => format!(
                        "`taskie enter` has its own --{FORCE}: call it otherwise, or name it in commands only"
                    ),
                    _ => format!(
                        "an option is {words}, and none of {}, {noun}",
                        RESERVED.join(", ")
                    ),
                };
                self.flaw(Code::BadName, path!["args", name], message, Some(help));
            }
            let same =
                |(other, option): (&String, &Arg)| other != name && option.short == arg.short;
            let is_letter = |short: char| short.is_ascii_lowercase() && short != 'h';
            if arg.short.is_some_and(|short| !is_letter(short))
                || arg.short.is_some() && source.args.iter().any(same)
            {
                let message = format!("`{name}` cannot have this letter");
                let help = "a small letter other than h, which no other option has".to_owned();
                self.flaw(
                    Code::BadName,
                    path!["args", name, "short"],
                    message,
                    Some(help),
                );
            }
        }
        for name in source.commands.keys() {
            if !is_word(name) || name == "help" {
                let help = format!("a command is {words}, and not `help`");
                self.flaw(
                    Code::BadName,
                    path!["commands", name],
                    format!("`{name}` cannot be a command"),
                    Some(help),
                );
            }
        }
        let help = || {
            Some(format!(
                "take another name: {} are there already",
                SOURCES.join(", ")
            ))
        };
        for (table, name) in (source.context.keys().map(|name| ("context", name)))
            .chain(source.lets.keys().map(|name| ("let", name)))
        {
            if SOURCES.contains(&name.as_str()) {
                let message = format!("`{name}` would hide what expressions call so");
                self.flaw(Code::BadName, path![table, name], message, help());
            } else if table == "let" && source.context.contains_key(name) {
                let message = format!("`{name}` is a context field, which hides this");
                let help = Some("take another name".to_owned());
                self.flaw(Code::BadName, path!["let", name], message, help);
            }
        }
        for (index, name) in source.prompts.names.iter().enumerate() {
            if !is_slug(name) {
                let message =
                    format!("`{name}` cannot be the name of a file and of `prompts.{name}`");
                let help = "a prompt's name has letters, digits, `-` and `_`".to_owned();
                self.flaw(
                    Code::BadName,
                    path!["prompts", "names", index],
                    message,
                    Some(help),
                );
            }
        }
        let home = source.scope.home.as_str();
        if !is_below(home) {
            let message = format!("`{home}` leads elsewhere");
            let help = "write the path of a folder below, without `..`".to_owned();
            self.flaw(
                Code::BadPattern,
                path!["scope", "home"],
                message,
                Some(help),
            );
        }
    }

    /// `None` where a cycle lacks a key; the flaws say which.
    fn cycles(&mut self, source: &Source) -> Option<IndexMap<String, Cycle>> {
        let mut cycles = IndexMap::new();
        let mut complete = true;
        for (id, own) in &source.cycles {
            match self.cycle(id, own, source) {
                Some(cycle) => {
                    cycles.insert(id.clone(), cycle);
                }
                None => complete = false,
            }
        }
        self.file_names(source, &cycles);
        complete.then_some(cycles)
    }

    /// No review takes the place of another one: not of an earlier one of its cycle, nor of another cycle's.
    fn file_names(&mut self, source: &Source, cycles: &IndexMap<String, Cycle>) {
        let place = |id: &str, key: &str, is_own: bool| match is_own {
            true => vec![Step::from("cycles"), Step::from(id), Step::from(key)],
            false => vec![Step::from("cycle"), Step::from(key)],
        };
        for (index, (id, cycle)) in cycles.iter().enumerate() {
            let own = source.cycles.get(id);
            for (key, pattern, is_own) in [
                (
                    "review",
                    &cycle.review,
                    own.is_some_and(|own| own.review.is_some()),
                ),
                (
                    "answer",
                    &cycle.answer,
                    own.is_some_and(|own| own.answer.is_some()),
                ),
            ] {
                // A misspelt hole is told of already, and may have been meant for it.
                if pattern.holes().all(|(hole, _)| {
                    hole == "base" || hole != "n" && source.context.contains_key(hole)
                }) {
                    let help = "write `{n}`, the number of the review, into the name".to_owned();
                    let message = format!("every {key} of a cycle would have the same name");
                    self.flaw(
                        Code::BadPattern,
                        &place(id, key, is_own),
                        message,
                        Some(help),
                    );
                }
            }
            let same = |other: &Cycle| other.base == cycle.base && other.review == cycle.review;
            if let Some(other) = cycles.values().take(index).find(|other| same(other)) {
                let is_own = own.is_some_and(|own| own.base.is_some());
                let message = format!(
                    "the reviews of `{id}` would have the names of those of `{}`",
                    other.id
                );
                self.flaw(
                    Code::BadPattern,
                    &place(id, "base", is_own),
                    message,
                    Some("give each cycle a base of its own".to_owned()),
                );
            }
        }
    }

    fn cycle(&mut self, id: &str, own: &CycleSource, source: &Source) -> Option<Cycle> {
        let shared = &source.cycle;
        let fields: Vec<&str> = source.context.keys().map(String::as_str).collect();
        let holes = [&["base", "n"], fields.as_slice()].concat();
        macro_rules! required {
            ($key:ident) => {{
                let value = own.$key.clone().or_else(|| shared.$key.clone());
                let key = stringify!($key);
                let nowhere = source.cycles.len() > 1
                    && source.cycles.values().all(|cycle| cycle.$key.is_none());
                if value.is_none() && nowhere {
                    let help = format!("put one that all cycles share under [cycle]");
                    self.flaw(
                        Code::MissingKey,
                        path!["cycle"],
                        format!("no cycle has `{key}`"),
                        Some(help),
                    );
                } else if value.is_none() {
                    let message = format!("cycle `{id}` has no `{key}`");
                    let help =
                        format!("give it one, or put one that all cycles share under [cycle]");
                    self.flaw(Code::MissingKey, path!["cycles", id], message, Some(help));
                }
                value
            }};
        }
        macro_rules! name {
            ($key:ident, $holes:expr) => {{
                let place = if own.$key.is_some() {
                    vec![
                        Step::from("cycles"),
                        Step::from(id),
                        Step::from(stringify!($key)),
                    ]
                } else {
                    vec![Step::from("cycle"), Step::from(stringify!($key))]
                };
                required!($key).and_then(|pattern| self.name_pattern(&place, &pattern, $holes))
            }};
        }
        let mut text = shared.text.clone();
        text.extend(own.text.clone());
        let (subject, place) = match &own.subject {
            Some(own) => (own.clone(), path!["cycles", id, "subject"].to_vec()),
            None => (
                shared.subject.clone().unwrap_or_default(),
                path!["cycle", "subject"].to_vec(),
            ),
        };
        for (index, name) in subject.iter().enumerate() {
            if single_expression(&name.0).is_none() {
                let place = [place.as_slice(), path![index]].concat();
                self.name_pattern(&place, &FilePattern(name.0.clone()), &holes);
            }
        }
        // Every key is looked at before the first missing one ends it, so that all are reported.
        let (count, limit, exit) = (required!(count), required!(limit), required!(exit));
        let (entry, post, advance) = (required!(entry), required!(post), required!(advance));
        let (base, review, answer) = (
            name!(base, &fields),
            name!(review, &holes),
            name!(answer, &holes),
        );
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
            subject,
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
                phases.insert(
                    name.clone(),
                    PhaseEntry {
                        phase: phase.clone(),
                        key: name.clone(),
                        cycle: None,
                    },
                );
                continue;
            }
            for (id, cycle) in &source.cycles {
                let stage = phase.stage.clone().or_else(|| cycle.stage.clone());
                let phase = Phase {
                    stage,
                    ..phase.clone()
                };
                let made = name.replace(CYCLE_HOLE, id);
                if source.phases.contains_key(&made) || phases.contains_key(&made) {
                    let message =
                        format!("`{name}` makes a phase `{made}`, and there is one already");
                    self.flaw(Code::BadName, path!["phases", name], message, None);
                }
                phases.insert(
                    made,
                    PhaseEntry {
                        phase,
                        key: name.clone(),
                        cycle: Some(id.clone()),
                    },
                );
            }
        }
        self.known(
            path!["initial"],
            Code::UnknownPhase,
            &source.initial,
            phases.keys().map(String::as_str),
        );
        phases
    }

    /// Fields that others name, and assignments.
    fn fields(&mut self, source: &Source, phases: &IndexMap<String, PhaseEntry>) {
        let fields = || source.context.keys().map(String::as_str);
        self.known(path!["state"], Code::UnknownField, &source.state, fields());
        if let Some(field) = source.context.get(&source.state)
            && field.kind != FieldType::Phase
        {
            let message = format!(
                "`{}` holds the phase and must be of type phase",
                source.state
            );
            self.flaw(
                Code::WrongType,
                path!["context", &source.state, "type"],
                message,
                None,
            );
        }
        for (name, field) in &source.context {
            let Some(setting) = &field.setting else {
                continue;
            };
            let own = source.config.get(setting);
            if own.is_none_or(|own| own.kind != field.kind) {
                let message = format!("there is no setting `{setting}` of the type of `{name}`");
                let path = path!["context", name, "setting"];
                self.flaw(Code::UnknownName, path, message, None);
            }
        }
        if let Some(next) = &source.next {
            self.known(path!["next"], Code::UnknownField, next, fields());
        } else if !source.cycles.is_empty() {
            let help =
                "name the context field that holds the phase that is due: next = \"next_phase\""
                    .to_owned();
            self.flaw(
                Code::MissingKey,
                path!["cycles"],
                "a chart with cycles needs `next`".to_owned(),
                Some(help),
            );
        }
        self.typed("context", &source.context, phases);
        self.typed("config", &source.config, phases);
        self.options(source);
        self.cycle_fields(path!["cycle"], &source.cycle, source);
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

    /// Fields of the state or of the settings: their types, bounds and defaults.
    fn typed(
        &mut self,
        table: &str,
        fields: &IndexMap<String, Field>,
        phases: &IndexMap<String, PhaseEntry>,
    ) {
        for (name, field) in fields {
            if field
                .pattern
                .as_deref()
                .is_some_and(|pattern| pattern != "[A-Za-z0-9_-]+")
            {
                let help = "leave it out, or write [A-Za-z0-9_-]+".to_owned();
                let message = "the only pattern a field can have is that of a name".to_owned();
                self.flaw(
                    Code::BadPattern,
                    path![table, name, "pattern"],
                    message,
                    Some(help),
                );
            }
            let fits = match (&field.default, field.kind) {
                (None, FieldType::Phase) => true,
                (None, _) => field.nullable,
                (Some(Literal::Boolean(_)), FieldType::Boolean) => true,
                (Some(Literal::Integer(value)), FieldType::Integer) => {
                    field.minimum.is_none_or(|least| *value >= least)
                }
                (Some(Literal::Text(text)), FieldType::String) => {
                    (field.pattern.is_none() || is_slug(&text.0))
                        && (field.one_of.as_ref()).is_none_or(|words| words.contains(&text.0))
                }
                (Some(Literal::List(items)), FieldType::List) => {
                    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                    field.minimum.is_none_or(|least| length >= least)
                }
                (Some(Literal::Text(text)), FieldType::Phase) => {
                    let known = phases.keys().map(String::as_str);
                    self.known(
                        path![table, name, "default"],
                        Code::UnknownPhase,
                        &text.0,
                        known,
                    );
                    true
                }
                _ => false,
            };
            for (key, is_given, kind, of) in [
                (
                    "minimum",
                    field.minimum.is_some(),
                    FieldType::Integer,
                    "an integer",
                ),
                (
                    "pattern",
                    field.pattern.is_some(),
                    FieldType::String,
                    "a string",
                ),
                (
                    "one_of",
                    field.one_of.is_some(),
                    FieldType::String,
                    "a string",
                ),
            ] {
                let has_length = key == "minimum" && field.kind == FieldType::List;
                if is_given && field.kind != kind && !has_length {
                    let message = format!("only {of} has a `{key}`");
                    self.flaw(
                        Code::WrongType,
                        path![table, name, key],
                        message,
                        Some("leave it out".to_owned()),
                    );
                }
            }
            if !fits {
                let message = match field.default {
                    None => format!("`{name}` needs a default, because it cannot be null"),
                    Some(_) => format!(
                        "the default of `{name}` is not {}",
                        crate::chart::field::describe(field)
                    ),
                };
                self.flaw(
                    Code::BadDefault,
                    path![table, name, "default"],
                    message,
                    None,
                );
            }
        }
    }

    fn options(&mut self, source: &Source) {
        for (name, arg) in &source.args {
            let fits = match (&arg.default, arg.kind) {
                (None, _) | (Some(Literal::Boolean(_)), FieldType::Boolean) => true,
                (Some(Literal::Integer(value)), FieldType::Integer) => {
                    arg.minimum.is_none_or(|least| *value >= least)
                }
                (Some(Literal::Text(text)), kind) => {
                    single_expression(&text.0).is_some()
                        || matches!(kind, FieldType::String | FieldType::Phase)
                }
                _ => false,
            };
            if !fits {
                let least = arg
                    .minimum
                    .map(|least| format!(" of at least {least}"))
                    .unwrap_or_default();
                let kind = match arg.kind {
                    FieldType::Boolean => "a boolean",
                    FieldType::Integer => "an integer",
                    FieldType::String | FieldType::Phase => "a text",
                    FieldType::List => "possible: an option is not a list",
                };
                let message = format!("the default of option `{name}` is not {kind}{least}");
                self.flaw(
                    Code::BadDefault,
                    path!["args", name, "default"],
                    message,
                    None,
                );
            }
            if arg.one_of.is_some() && !matches!(arg.kind, FieldType::String | FieldType::Phase) {
                let message = "only a text is one of a list".to_owned();
                let help = "make the option a string, or leave `one_of` out".to_owned();
                self.flaw(
                    Code::WrongType,
                    path!["args", name, "one_of"],
                    message,
                    Some(help),
                );
            }
            if arg.stdin
                && (arg.kind != FieldType::String || arg.positional || arg.default.is_some())
            {
                let message =
                    "what comes on stdin is a text, with no place and no default".to_owned();
                let help = "make it a string, and leave `positional` and `default` out".to_owned();
                self.flaw(
                    Code::ConflictingKeys,
                    path!["args", name, "stdin"],
                    message,
                    Some(help),
                );
            }
            if arg.minimum.is_some() && arg.kind != FieldType::Integer {
                let message = "only an integer has a `minimum`".to_owned();
                self.flaw(
                    Code::WrongType,
                    path!["args", name, "minimum"],
                    message,
                    Some("leave it out".to_owned()),
                );
            }
        }
    }

    fn cycle_fields(&mut self, path: &[Step], own: &CycleSource, source: &Source) {
        for (key, field) in [("count", &own.count), ("limit", &own.limit)] {
            let Some(field) = field else { continue };
            let path = [path, &[Step::from(key)]].concat();
            self.known(
                &path,
                Code::UnknownField,
                field,
                source.context.keys().map(String::as_str),
            );
            if source
                .context
                .get(field)
                .is_some_and(|field| field.kind != FieldType::Integer)
            {
                self.flaw(
                    Code::WrongType,
                    &path,
                    format!("`{field}` counts reviews and must be an integer"),
                    None,
                );
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
            self.known(
                &path,
                Code::UnknownField,
                name,
                source.context.keys().map(String::as_str),
            );
            let Some(field) = source.context.get(name) else {
                continue;
            };
            let fits = match (value, field.kind) {
                // What is cleared was looked at already.
                (Literal::Null, _)
                | (Literal::Boolean(_), FieldType::Boolean)
                | (Literal::List(_), FieldType::List) => true,
                (Literal::Integer(value), FieldType::Integer) => {
                    field.minimum.is_none_or(|least| *value >= least)
                }
                (Literal::Text(text), kind) => {
                    single_expression(&text.0).is_some()
                        || matches!(kind, FieldType::String | FieldType::Phase)
                }
                _ => false,
            };
            if !fits {
                let message = format!("`{name}` is {}", crate::chart::field::describe(field));
                self.flaw(Code::WrongAssignment, &path, message, None);
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
                self.flaw(
                    Code::UnknownPhase,
                    path!["cycles", id],
                    format!("cycle `{id}` is no phase"),
                    Some(help),
                );
            }
        }
        let shared = std::iter::once((vec![Step::from("cycle")], &source.cycle, None));
        let own = source
            .cycles
            .iter()
            .map(|(id, own)| (vec![Step::from("cycles"), Step::from(id)], own, Some(id)));
        for (path, cycle, id) in shared.chain(own) {
            let at = |key: &str| [path.as_slice(), &[Step::from(key)]].concat();
            if let Some(resume) = &cycle.resume {
                self.known(&at("resume"), Code::UnknownPhase, resume, known());
            }
            if let Some(post) = &cycle.post {
                // Of a name that all cycles share, one is enough to tell.
                let ids = id.map_or_else(|| source.cycles.keys().collect(), |id| vec![id]);
                let names = ids.into_iter().map(|id| post.replace(CYCLE_HOLE, id));
                if let Some(name) = names.into_iter().find(|name| !phases.contains_key(name)) {
                    self.known(&at("post"), Code::UnknownPhase, &name, known());
                }
            }
            for (index, advance) in cycle.advance.iter().flatten().enumerate() {
                let path = [
                    at("advance").as_slice(),
                    &[Step::from(index), Step::from("target")],
                ]
                .concat();
                self.known(&path, Code::UnknownPhase, &advance.target, known());
            }
        }
        for (name, phase) in &source.phases {
            if let Some(arms) = &phase.arms {
                self.known(
                    path!["phases", name, "arms"],
                    Code::UnknownCycle,
                    arms,
                    cycles(),
                );
            }
        }
        for (event, rules) in &source.on {
            let events = || {
                EVENTS
                    .iter()
                    .map(|(_, name)| *name)
                    .chain(["enter", "next", "run"])
            };
            if !events().any(|name| name == event) {
                let known = events().collect::<Vec<_>>().join(", ");
                let help = suggest(event, events()).map_or(format!("known: {known}"), |name| {
                    format!("did you mean `{name}`?")
                });
                self.flaw(
                    Code::UnknownEvent,
                    path!["on", event],
                    format!("there is no event `{event}`"),
                    Some(help),
                );
            }
            for (index, rule) in rules.iter().enumerate() {
                self.rule_keys(path!["on", event, index], rule);
                self.actions(path!["on", event, index, "actions"], &rule.actions);
                if let Some(target) = &rule.target {
                    self.known(
                        path!["on", event, index, "target"],
                        Code::UnknownPhase,
                        target,
                        known(),
                    );
                }
                if let Some(name) = &rule.invoke {
                    let known = source.invoke.keys().map(String::as_str);
                    self.known(
                        path!["on", event, index, "invoke"],
                        Code::UnknownInvocation,
                        name,
                        known,
                    );
                }
            }
        }
        for (name, command) in &source.commands {
            self.actions(path!["commands", name, "actions"], &command.actions);
            if let Some(target) = &command.target {
                self.known(
                    path!["commands", name, "target"],
                    Code::UnknownPhase,
                    target,
                    known(),
                );
            }
            for (index, raised) in command.raise.iter().enumerate() {
                let path = path!["commands", name, "raise", index];
                let commands = source.commands.keys().map(String::as_str);
                self.known(path, Code::UnknownCommand, raised, commands);
                if leads_to(source, raised, name, &mut Vec::new()) {
                    let message = format!("`{name}` raises itself, and would never end");
                    self.flaw(Code::SelfReference, path, message, None);
                }
            }
        }
        let fields = source.context.keys().map(String::as_str);
        let holes: Vec<&str> = ["base", "n"].into_iter().chain(fields).collect();
        for (name, invoke) in &source.invoke {
            let pointers = [("verdict", &invoke.verdict), ("reason", &invoke.reason)].into_iter();
            let pointers = pointers.flat_map(|(key, list)| {
                list.iter().enumerate().map(move |(index, pointer)| {
                    (path!["invoke", name, key, index].to_vec(), pointer)
                })
            });
            let error = invoke
                .error
                .iter()
                .map(|pointer| (path!["invoke", name, "error"].to_vec(), pointer));
            for (path, pointer) in pointers.chain(error) {
                if !pointer.is_empty() && !pointer.starts_with('/') {
                    let message = format!("`{pointer}` is no JSON pointer: it must begin with `/`");
                    self.flaw(
                        Code::BadPattern,
                        &path,
                        message,
                        Some(format!("write `/{pointer}`")),
                    );
                }
            }
            if invoke.argv.is_empty() {
                self.flaw(
                    Code::MissingKey,
                    path!["invoke", name, "argv"],
                    format!("`{name}` has no program to run"),
                    None,
                );
            }
            if invoke.verdicts.is_empty() {
                self.flaw(
                    Code::MissingKey,
                    path!["invoke", name, "verdicts"],
                    format!("`{name}` has no verdict to give"),
                    None,
                );
            }
            self.name_pattern(path!["invoke", name, "log"], &invoke.log, &holes);
            if invoke.timeout >= source.hook_timeout {
                let message = format!(
                    "`{name}` may take {} seconds, and the host ends the hook after {}",
                    invoke.timeout, source.hook_timeout
                );
                let help =
                    "leave the hook time to write the outcome: give a shorter timeout".to_owned();
                self.flaw(
                    Code::DeadlineTooLong,
                    path!["invoke", name, "timeout"],
                    message,
                    Some(help),
                );
            }
        }
    }

    /// Keys of actions that do not go together.
    fn actions(&mut self, path: &[Step], actions: &[Action]) {
        for (index, action) in actions.iter().enumerate() {
            if let Err(message) = action.deed() {
                let path = [path, &[Step::from(index)]].concat();
                self.flaw(Code::ConflictingKeys, &path, message, None);
            }
        }
    }

    /// Keys of a rule that would be passed over in silence beside others.
    fn rule_keys(&mut self, path: &[Step], rule: &Rule) {
        let answers = [
            ("allow", rule.allow),
            ("block", rule.block.is_some()),
            ("action", rule.action.is_some()),
        ];
        let effects = [
            ("target", rule.target.is_some()),
            ("assign", !rule.assign.is_empty()),
            ("advance", rule.advance),
            ("actions", !rule.actions.is_empty()),
            ("message", rule.message.is_some()),
            ("say", rule.say.is_some()),
        ];
        let given = |keys: &[(&'static str, bool)]| {
            keys.iter()
                .filter(|(_, given)| *given)
                .map(|(key, _)| *key)
                .collect::<Vec<_>>()
        };
        let answers = given(&answers);
        if rule.invoke.is_some() {
            for key in given(&effects).into_iter().chain(answers) {
                let help =
                    "put it into a rule of its own, guarded by what came of the run: `review.ok`"
                        .to_owned();
                let path = [path, &[Step::from(key)]].concat();
                self.flaw(
                    Code::ConflictingKeys,
                    &path,
                    format!("`{key}` beside `invoke` has no effect"),
                    Some(help),
                );
            }
            return;
        }
        for key in answers.iter().skip(1) {
            let message = format!(
                "a rule gives one answer, and this one has `{}` and `{key}`",
                answers[0]
            );
            let path = [path, &[Step::from(*key)]].concat();
            self.flaw(
                Code::ConflictingKeys,
                &path,
                message,
                Some("leave one of them out".to_owned()),
            );
        }
    }

    /// A property says one thing.
    fn properties(&mut self, source: &Source) {
        for (index, property) in source.properties.iter().enumerate() {
            let mut given = property.claims().map(|(key, _)| key);
            let Some(first) = given.next() else {
                let message = format!("property \"{}\" says nothing to prove", property.about);
                let help =
                    "give it one of `always`, `never`, `reachable` and `eventually`".to_owned();
                self.flaw(
                    Code::MissingKey,
                    path!["properties", index],
                    message,
                    Some(help),
                );
                continue;
            };
            for key in given {
                let message =
                    format!("a property says one thing, and this one has `{first}` and `{key}`");
                let help = "make two properties of it".to_owned();
                self.flaw(
                    Code::ConflictingKeys,
                    path!["properties", index, key],
                    message,
                    Some(help),
                );
            }
        }
    }

    fn files(&mut self, source: &Source) -> IndexMap<String, FileSet> {
        let mut sets = IndexMap::new();
        for (name, files) in &source.files {
            let (patterns, line) = match files {
                Files::Names(names) => (names, None),
                Files::Read(read) => (&read.names, Some(&read.line)),
            };
            let place = |index: usize| match line {
                Some(_) => vec![
                    Step::from("files"),
                    Step::from(name),
                    Step::from("names"),
                    Step::from(index),
                ],
                None => vec![Step::from("files"), Step::from(name), Step::from(index)],
            };
            let line = line.and_then(|line| self.pattern(path!["files", name, "line"], line));
            let mut set = FileSet {
                with: Vec::new(),
                without: Vec::new(),
                line,
            };
            for (index, pattern) in patterns.iter().enumerate() {
                let (into, text) = match pattern.0.strip_prefix('!') {
                    Some(rest) => (&mut set.without, rest),
                    None => (&mut set.with, pattern.0.as_str()),
                };
                match Pattern::parse(text) {
                    Ok(pattern) => {
                        self.own_holes(&place(index), &pattern, &["name", "path", "lines"]);
                        into.push(pattern);
                    }
                    Err(message) => self.flaw(Code::BadPattern, &place(index), message, None),
                }
            }
            sets.insert(name.clone(), set);
        }
        sets
    }

    /// What a hole matches must not take the place of what each item has of itself.
    fn own_holes(&mut self, path: &[Step], pattern: &Pattern, taken: &[&str]) {
        for (hole, _) in pattern.holes() {
            if taken.contains(&hole) {
                let message = format!("`{{{hole}}}` would hide the item's own `it.{hole}`");
                let help = Some("take another name for the hole".to_owned());
                self.flaw(Code::BadName, path, message, help);
            }
        }
    }

    /// The tables, and the names of those that cannot be made out.
    fn tables(&mut self, source: &Source) -> (IndexMap<String, Table>, Vec<String>) {
        let (mut tables, mut broken) = (IndexMap::new(), Vec::new());
        for (name, table) in &source.tables {
            match self.table(name, table, source) {
                Some(table) => {
                    tables.insert(name.clone(), table);
                }
                None => broken.push(name.clone()),
            }
        }
        (tables, broken)
    }

    fn table(&mut self, name: &str, table: &TableSource, source: &Source) -> Option<Table> {
        let rows = match (&table.columns, &table.line) {
            (Some(columns), None) => RowShape::Columns(
                columns
                    .iter()
                    .map(|(field, headings)| (field.clone(), headings.list()))
                    .collect(),
            ),
            (None, Some(line)) => RowShape::Line(
                Pattern::parse(&line.0)
                    .map_err(|message| {
                        self.flaw(
                            Code::BadPattern,
                            path!["tables", name, "line"],
                            message,
                            None,
                        );
                    })
                    .ok()?,
            ),
            (Some(_), Some(_)) => {
                let message = format!("table `{name}` has `columns` and `line`");
                let help = "a Markdown table has columns, any other file has lines: take one out"
                    .to_owned();
                self.flaw(
                    Code::ConflictingKeys,
                    path!["tables", name, "line"],
                    message,
                    Some(help),
                );
                return None;
            }
            (None, None) => {
                let help = "columns = { id = \"Id\" } for a table, line = \"## {title}\" for lines"
                    .to_owned();
                let message = format!("table `{name}` needs either `columns` or `line`");
                self.flaw(Code::MissingKey, path!["tables", name], message, Some(help));
                return None;
            }
        };
        let taken = ["done", "path"];
        match &rows {
            RowShape::Columns(columns) => {
                for column in columns
                    .keys()
                    .filter(|column| taken.contains(&column.as_str()))
                {
                    let message = format!("`{column}` would hide the row's own `it.{column}`");
                    let help = Some("take another name for the column".to_owned());
                    let path = path!["tables", name, "columns", column];
                    self.flaw(Code::BadName, path, message, help);
                }
            }
            RowShape::Line(line) => {
                self.own_holes(path!["tables", name, "line"], line, &taken);
            }
        }
        // A table's file is sought before any rule is read: only what the context holds can be in its name.
        let fields: Vec<&str> = source.context.keys().map(String::as_str).collect();
        let file = self.name_pattern(path!["tables", name, "file"], &table.file, &fields)?;
        let path = match &table.path {
            Some(path) => {
                let own: Vec<&str> = match &rows {
                    RowShape::Columns(columns) => columns.keys().map(String::as_str).collect(),
                    RowShape::Line(line) => line.holes().map(|(hole, _)| hole).collect(),
                };
                Some(self.name_pattern(path!["tables", name, "path"], path, &own)?)
            }
            None => None,
        };
        Some(Table {
            file,
            rows,
            path,
            finished: table.finished.clone(),
        })
    }
}

#[cfg(test)]
mod tests {

    use super::super::embedded::CHARTS;
    use super::*;

    #[test]
    fn charts_compiled_in_are_without_a_flaw() {
        for embedded in CHARTS {
            let chart = embedded.load().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                check::inspect(&chart, embedded.text).flaws,
                [],
                "{}",
                embedded.id
            );
            let from_toml = from_text(embedded.id, embedded.text, chart.templates.clone());
            let from_toml = from_toml.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                format!("{chart:?}"),
                format!("{from_toml:?}"),
                "{}",
                embedded.id
            );
        }
    }
}
