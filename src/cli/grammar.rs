//! The command line as clap sees it, with the commands and options of the chart.

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgGroup, Command, Id, value_parser};

use super::trust;
use crate::chart::Chart;
use crate::chart::embedded::CHARTS;
use crate::chart::model::{self, FieldType};
use crate::expr::Expressions;
use crate::expr::source::Literal;
use crate::host::events::EVENTS;
use crate::lint::report::Format;
use crate::render::assumptions::settable;
use crate::shell::trace;

/// Returns the command line for `chart`.
pub(crate) fn command(chart: &Chart) -> Command {
    let ids: Vec<&str> = CHARTS.iter().map(|chart| chart.id).collect();
    Command::new("taskie")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A workflow engine for coding agents: every step passes an independent reviewer")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .after_help(format!(
            "Environment:\n  {}=FILE  Append each decision to FILE as a line of JSON: the rules that fired, what was written, the answer",
            trace::VARIABLE
        ))
        .arg(
            Arg::new("chart")
                .long("chart")
                .global(true)
                .value_name("CHART")
                .default_value(ids.first().copied().unwrap_or_default())
                .help(format!("The workflow: {} or the path of a statechart.toml", ids.join(", "))),
        )
        .subcommand(
            Command::new("hook").about("Answer a hook event of the host, whose JSON is on stdin").arg(
                Arg::new("event")
                    .required(true)
                    .value_name("EVENT")
                    .value_parser(PossibleValuesParser::new(EVENTS.iter().map(|(word, _)| *word))),
            ),
        )
        .subcommand(check_chart())
        .subcommand(enter(chart))
        .subcommand(asking(chart, "next", "Show what to do now, and why"))
        .subcommand(status(chart))
        .subcommand(validate(chart))
        .subcommand(run(chart))
        .subcommand(
            asking(chart, "doctor", "Check that everything is installed, enabled and sound, and say what to do")
                .after_help("Exit codes: 0 no problem (warnings don't count), 1 problems, 2 wrong usage"),
        )
        .subcommand(render(chart))
        .subcommand(trust::command())
        .subcommand(
            Command::new("demo")
                .about("Play the whole workflow in a temporary project: the real hook, a scripted reviewer, no account")
                .arg(
                    Arg::new("keep")
                        .long("keep")
                        .action(ArgAction::SetTrue)
                        .help("Keep the temporary project and print its path"),
                ),
        )
        .subcommand(
            Command::new("schema").about("Print a JSON Schema (draft-07)").arg(
                Arg::new("of")
                    .required(true)
                    .value_name("WHAT")
                    .value_parser(PossibleValuesParser::new(["statechart", "state", "config"]))
                    .help("statechart: a chart file; state, config: the chart's state.json, config.json"),
            ),
        )
}

fn json() -> Arg {
    Arg::new("json")
        .long("json")
        .action(ArgAction::SetTrue)
        .help("Print one JSON object, for programs")
}

/// Returns a command that reads one instance and prints what it finds, as JSON with `--json`.
fn asking(chart: &Chart, name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .arg(json())
        .args(instance_args(chart))
}

fn status(chart: &Chart) -> Command {
    asking(chart, "status", "Show the current phase, what it waits for, and what the next stop does")
        .after_help(
            "A verdict is shown if this machine ran the review and the file has not changed since; `?` means unknown.\n\
             docs/commands.md describes the JSON.",
        )
        .arg(
            Arg::new("watch")
                .long("watch")
                .action(ArgAction::SetTrue)
                .help("Follow it until ctrl-C: in place on a terminal, otherwise one line per change"),
        )
}

fn validate(chart: &Chart) -> Command {
    let noun = &chart.scope.noun;
    let args = instance_args(chart).into_iter().map(|arg| {
        if arg.get_id() != "instance" {
            return arg;
        }
        let help = arg.get_help().cloned().unwrap_or_default();
        Arg::new("instance")
            .value_name(noun.to_uppercase())
            .help(help)
    });
    Command::new("validate")
        .about(format!("Check the files of a {noun} as a stop does"))
        .after_help("Exit codes: 0 no finding, 1 findings or an unusable state.json, 2 wrong usage")
        .args(args)
        .arg(json())
}

fn check_chart() -> Command {
    Command::new("check-chart")
        .about("Find errors in charts before they run")
        .after_help(
            "Exit codes: 0 no findings, 1 findings, 2 wrong usage, 3 a chart could not be read",
        )
        .arg(
            Arg::new("file")
                .num_args(0..)
                .value_name("FILE")
                .value_parser(value_parser!(std::path::PathBuf))
                .help("Chart files, or - for stdin [default: the embedded charts]"),
        )
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .default_value("human")
                .value_parser(PossibleValuesParser::new(Format::NAMES))
                .help("The format of the findings"),
        )
        .arg(
            Arg::new("fix")
                .long("fix")
                .action(ArgAction::SetTrue)
                .requires("file")
                .help("Rewrite syntax of earlier versions, then check"),
        )
        .arg(
            Arg::new("max-states")
                .long("max-states")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .help("Explore at most this many states of a chart [default: 100000]"),
        )
        .arg(
            Arg::new("max-seconds")
                .long("max-seconds")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .help("Explore a chart for at most this long [default: 10]"),
        )
        .arg(
            Arg::new("strict")
                .long("strict")
                .action(ArgAction::SetTrue)
                .help("Exit 1 if a property is not decided, too"),
        )
        .arg(
            Arg::new("explain")
                .long("explain")
                .value_name("CODE")
                .exclusive(true)
                .help("Explain what a code means and how to fix it"),
        )
}

fn enter(chart: &Chart) -> Command {
    let phases = chart
        .phases
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let mut used: Vec<&str> = Vec::new();
    let expressions = Expressions::new(chart.templates.clone());
    for phase in chart.phases.keys() {
        for name in args_of_phase(chart, &expressions, phase) {
            if !used.contains(&name) {
                used.push(name);
            }
        }
    }
    used.sort_by_key(|name| chart.args.get_index_of(*name));
    Command::new("enter")
        .about("Enter a phase: one atomic update of state.json, the last step of an action")
        .after_help(format!("Phases: {phases}"))
        .arg(
            Arg::new("phase")
                .required(true)
                .value_name("PHASE")
                .help("The phase to enter"),
        )
        .args(
            used.into_iter()
                .map(|name| option(name, &chart.args[name], false)),
        )
        .args(instance_args(chart))
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .help("Say whether it may be entered now and what that would write; write nothing"),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Enter it even if its guard is false (the state must still fit its schema)"),
        )
}

/// Returns the options that a phase uses.
pub(super) fn args_of_phase<'c>(
    chart: &'c Chart,
    expressions: &Expressions,
    phase: &str,
) -> Vec<&'c str> {
    let mut used = Vec::new();
    if let Some(entry) = chart.phases.get(phase) {
        let texts = entry.phase.guard.iter().map(|guard| guard.0.as_str());
        let values = entry.phase.entry.values().filter_map(literal_text);
        collect_args(chart, expressions, texts.chain(values), &mut used);
    }
    used
}

fn run(chart: &Chart) -> Command {
    let expressions = Expressions::new(chart.templates.clone());
    let subcommands = chart.commands.iter().map(|(name, command)| {
        let mut used = args_of(chart, &expressions, name);
        used.retain(|name| !chart.args[*name].stdin);
        // Optional positional arguments come last; otherwise clap panics.
        used.sort_by_key(|name| chart.args[*name].default.is_some());
        Command::new(name.clone())
            .about(command.about.clone())
            .args(
                used.into_iter()
                    .map(|name| option(name, &chart.args[name], true)),
            )
            .args(instance_args(chart))
    });
    Command::new("run")
        .about("Run a command of the chart")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(subcommands)
}

/// Returns the options of a command and of those that it raises. (No command raises itself.)
pub(super) fn args_of<'c>(chart: &'c Chart, expressions: &Expressions, name: &str) -> Vec<&'c str> {
    let Some(command) = chart.commands.get(name) else {
        return Vec::new();
    };
    let rule = &command.rule;
    let guard = rule.guard.iter().map(|guard| guard.0.as_str());
    let texts = [&rule.say, &command.otherwise]
        .into_iter()
        .flatten()
        .map(|text| text.0.as_str());
    let values = rule.assign.values().filter_map(literal_text);
    let actions = rule.actions.iter().flat_map(action_texts);
    let mut used = Vec::new();
    collect_args(
        chart,
        expressions,
        guard.chain(texts).chain(values).chain(actions),
        &mut used,
    );
    for raised in &command.raise {
        for option in args_of(chart, expressions, raised) {
            if !used.contains(&option) {
                used.push(option);
            }
        }
    }
    used
}

/// Returns the expressions and texts of an action.
fn action_texts(action: &model::Action) -> impl Iterator<Item = &str> {
    let conditions = [&action.each, &action.guard].into_iter().flatten();
    let texts = action.deed().map(model::Deed::texts).unwrap_or_default();
    conditions
        .map(|expr| expr.0.as_str())
        .chain(texts.into_iter().map(|(_, text)| text.0.as_str()))
}

fn render(chart: &Chart) -> Command {
    let noun = &chart.scope.noun;
    let instance = instance_args(chart);
    let others: Vec<Id> = instance.iter().map(|arg| arg.get_id().clone()).collect();
    let names = textwrap::Options::new(100)
        .initial_indent("  ")
        .subsequent_indent("  ");
    Command::new("render")
        .about("Preview what the hook would send to the agent, the reviewer or the user")
        .after_help(format!(
            "Names for --set:\n{}",
            textwrap::fill(&settable(chart).join(", "), names)
        ))
        .arg(
            Arg::new("template")
                .value_name("TEMPLATE")
                .help("Show this template, filled in"),
        )
        .arg(
            Arg::new("next")
                .long("next")
                .action(ArgAction::SetTrue)
                .help("Show what the Stop hook would send now; runs nothing, writes nothing"),
        )
        .arg(
            Arg::new("list")
                .long("list")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["set", "state"])
                .conflicts_with_all(others)
                .help("List the chart's templates and the names that they need"),
        )
        .group(
            ArgGroup::new("what")
                .args(["template", "next", "list"])
                .required(true),
        )
        .arg(
            Arg::new("set")
                .long("set")
                .value_name("NAME=VALUE")
                .action(ArgAction::Append)
                .value_parser(pair)
                .help("Assume this value; repeatable"),
        )
        .arg(
            Arg::new("state")
                .long("state")
                .value_name("FILE")
                .help(format!("Use the state in FILE instead of the {noun}'s own")),
        )
        .args(instance)
}

/// `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

fn literal_text(literal: &Literal) -> Option<&str> {
    match literal {
        Literal::Text(text) => Some(&text.0),
        _ => None,
    }
}

/// Adds the chart's options that the texts name as `args.NAME`, directly or through a let, to `used`.
fn collect_args<'c>(
    chart: &'c Chart,
    expressions: &Expressions,
    texts: impl Iterator<Item = &'c str>,
    used: &mut Vec<&'c str>,
) {
    let mut open: Vec<&str> = texts.collect();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(text) = open.pop() {
        let names = expressions.names_in(text);
        for name in chart.args.keys() {
            let dotted = format!("args.{name}");
            if names.contains(&dotted) && !used.contains(&name.as_str()) {
                used.push(name);
            }
        }
        for (name, expr) in &chart.lets {
            let starts = |other: &String| other.split('.').next() == Some(name);
            if names.iter().any(starts) && !seen.contains(&name.as_str()) {
                seen.push(name);
                open.push(&expr.0);
            }
        }
    }
    // In the chart's order.
    used.sort_by_key(|name| chart.args.get_index_of(*name));
}

fn option(name: &str, arg: &model::Arg, may_be_positional: bool) -> Arg {
    let parser: ValueParser = match arg.kind {
        FieldType::Integer => value_parser!(i64)
            .range(arg.minimum.unwrap_or(i64::MIN)..)
            .into(),
        FieldType::Boolean | FieldType::String | FieldType::Phase => value_parser!(String),
    };
    let mut option = Arg::new(name.to_owned())
        .value_name(name.to_uppercase())
        .value_parser(parser);
    if let Some(about) = &arg.about {
        option = option.help(about.clone());
    }
    if let Some(short) = arg.short {
        option = option.short(short);
    }
    let long = name.replace('_', "-");
    if arg.kind == FieldType::Boolean {
        return option
            .long(long)
            .value_parser(value_parser!(bool))
            .action(ArgAction::SetTrue);
    }
    if arg.positional && may_be_positional {
        return option.required(arg.default.is_none());
    }
    option.long(long).required(arg.default.is_none())
}

fn instance_args(chart: &Chart) -> Vec<Arg> {
    let noun = chart.scope.noun.clone();
    if chart.scope.is_per_session() {
        return vec![
            Arg::new("session")
                .long("session")
                .value_name("ID")
                .help("The session to use [default: $CLAUDE_CODE_SESSION_ID]"),
        ];
    }
    vec![
        Arg::new("instance")
            .long(noun.clone())
            .value_name(noun.to_uppercase())
            .help(format!(
                "The {noun} to use [default: most recently modified]"
            )),
        Arg::new("session")
            .long("session")
            .value_name("ID")
            .help("The current session [default: $CLAUDE_CODE_SESSION_ID]"),
    ]
}
