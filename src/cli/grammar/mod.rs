//! The command line for clap, including the commands and options of the chart.

pub(super) mod options;

use std::path::PathBuf;

use clap::builder::{ArgPredicate, NonEmptyStringValueParser, StyledStr, Styles};
use clap::{ArgAction, ArgGroup, Command, arg, value_parser};
use clap_complete::Shell;
use indexmap::IndexSet;

use self::options::{
    amount, args_of, args_of_phase, instance, instance_args, instance_args_for, json, option, pair,
    session, since, which_stop, words,
};
use crate::chart::Chart;
use crate::chart::choice::{CHARTS, OWN, of_changes};
use crate::check::lint::report::Format;
use crate::host::events::EVENTS;
use crate::host::hosts::HOSTS;
use crate::preview::assumptions::settable;

/// Returns the command line for `chart`.
pub(crate) fn command(chart: &Chart) -> Command {
    let ids: Vec<&str> = CHARTS.iter().map(|chart| chart.id).collect();
    let default = ids.first().copied().unwrap_or_default();
    let of_changes = of_changes().map_or("", |chart| chart.id);
    let groups = groups(chart);
    let help = overview(&groups);
    let command = Command::new("taskie")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A workflow engine for coding agents: an independent reviewer checks every step")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{help}{{options}}"
        ))
        .arg(
            arg!(--chart <CHART>)
                .global(true)
                .default_value(default)
                .hide_default_value(true)
                .help(format!(
                    "The workflow: {} or the path of a statechart.toml [default: {default}; of `review`: {of_changes}]",
                    ids.join(", ")
                )),
        );
    let all = groups.into_iter().flat_map(|(_, commands)| commands);
    command.subcommands(all)
}

/// The commands in the groups of `taskie --help`, each under its heading.
fn groups(chart: &Chart) -> [(String, Vec<Command>); 5] {
    let run = run(chart);
    let mut groups = [
        ("Any change".to_owned(), vec![review()]),
        (format!("Your {}s", chart.scope.noun), of_instances(chart)),
        ("Set up".to_owned(), of_this_machine(chart)),
        ("Charts".to_owned(), of_charts(chart)),
        ("For agents and hosts".to_owned(), vec![hook(), enter(chart), next(chart), run.clone()]),
    ];
    let of_chart = run.get_subcommands();
    let of_chart = of_chart.filter(|command| !OWN.contains(&command.get_name()));
    groups[1].1.extend(of_chart.cloned());
    groups
}

/// Returns the part of the help that lists all commands, up to the heading of the options. clap knows only one list.
fn overview(groups: &[(String, Vec<Command>)]) -> String {
    let styles = Styles::default();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = groups.iter().flat_map(|(_, commands)| commands);
    let width = names.map(|command| command.get_name().len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for (heading, commands) in groups {
        text.push_str(&format!("{header}{heading}:{header:#}\n"));
        for command in commands {
            let name = command.get_name();
            let about = command.get_about().map(ToString::to_string);
            text.push_str(&format!(
                "  {literal}{name}{literal:#}{}  {}\n",
                " ".repeat(width - name.len()),
                about.unwrap_or_default()
            ));
        }
        text.push('\n');
    }
    text.push_str(&format!("{header}Options:{header:#}\n"));
    text
}

fn review() -> Command {
    Command::new(super::review::NAME)
        .about("Have what has changed read by an independent reviewer, without any plan")
        .after_help(
            "Reviews what is not committed; if nothing is, what the branch has changed since it left the default branch. \
             Needs git. The settings are those of `taskie`.\n\
             Exit codes: 0 clean, 1 findings or a gate that failed, 2 wrong usage or nothing to compare with, 3 not reviewed, \
             4 not over yet (--wait)",
        )
        .arg(arg!(paths: [PATH]... "Review only these files and folders"))
        .arg(arg!(--base <REV> "Compare with the commit at which HEAD left REV"))
        .arg(
            arg!(--model <MODEL> "Who reviews, as in the setting `models`")
                .value_parser(NonEmptyStringValueParser::new()),
        )
        .arg(
            arg!(--"max-cost" <USD> "What the review may cost, in US dollars")
                .value_parser(amount)
                .allow_negative_numbers(true),
        )
        .arg(
            arg!(--permissions <RIGHTS> "What the reviewer may do [default: the setting; in CI: restricted]")
                .value_parser(words(["bypass", "restricted"])),
        )
        .args(formats())
        .arg(arg!(--"print-prompt" "Print what the reviewer would be asked, and start nothing"))
        .arg(
            arg!(--"at-stop" "Review it whenever the agent of this session stops, until it is clean")
                .conflicts_with_all([
                    "paths", "base", "model", "max-cost", "permissions", "format", "json", "print-prompt",
                ]),
        )
        .arg(
            arg!(--wait <SECONDS> "Start the review, or wait for the one that runs, and answer within this time")
                .value_parser(value_parser!(u64).range(1..=600))
                .conflicts_with_all([
                    "at-stop", "paths", "base", "model", "max-cost", "permissions", "format", "json", "print-prompt",
                ]),
        )
        .arg(
            arg!(--role <ROLE> "What this process does for one that waits")
                .hide(true)
                .value_parser(words(super::wait::ROLES)),
        )
        .group(ArgGroup::new("stops").args(["at-stop", "wait", "role"]))
        .arg(session("The session whose agent stops").requires("stops"))
}

fn hook() -> Command {
    Command::new("hook")
        .about("Answer a hook event, read as JSON from stdin")
        .arg(arg!(event: <EVENT>).value_parser(words(EVENTS.iter().map(|(word, _)| *word))))
        .arg(
            arg!(--host <HOST> "The program that sends the event [default: as the event shows]")
                .value_parser(words(HOSTS.iter().map(|host| host.id))),
        )
        .arg(
            arg!(--timeout <SECONDS> "How long the hook's entry lets it run [default: 600]")
                .value_parser(value_parser!(u64)),
        )
}

fn next(chart: &Chart) -> Command {
    asking(chart, "next", "Show what to do now, and why").arg(
        arg!(--retry "Let the next stop start a reviewer again, after failures, a usage limit or an outage"),
    )
}

/// Returns the commands that show where an instance is, and what happened to it.
fn of_instances(chart: &Chart) -> Vec<Command> {
    let noun = &chart.scope.noun;
    let mut commands = vec![
        asking(
            chart,
            "status",
            "Show where things are, and what the next stop does",
        )
        .after_help(
            "A verdict is shown if this machine ran the review and the file has not changed since. `PASS?` is what the\n\
             file itself states; `?` means unknown.\n\
             docs/commands.md describes the JSON.",
        )
        .arg(arg!(--all "Show all reviews, not only the last ones"))
        .arg(
            arg!(--line "Print one short line for a status line; the session can come as JSON on stdin")
                .conflicts_with_all(["all", "json"]),
        ),
        Command::new("list")
            .about(format!("List all {noun}s: progress, reviews, cost, driver"))
            .arg(json()),
        log(chart),
    ];
    commands.extend(findings(chart));
    commands.extend([
        Command::new("stats")
            .about("Sum up the reviews: verdicts, time and cost")
            .arg(
                instance(chart).long(noun.clone()).help(format!("Only this {noun} [default: all]")),
            )
            .arg(json()),
        Command::new("report")
            .about(format!("Print what a pull request about a {noun} needs, as Markdown"))
            .args(instance_args(chart)),
        asking(chart, "validate", format!("Check the files of a {noun} the way a stop does"))
            .after_help(
                "Exit codes: 0 no finding, 1 findings or an unusable state.json, 2 wrong usage",
            ),
    ]);
    commands
}

fn log(chart: &Chart) -> Command {
    let noun = &chart.scope.noun;
    Command::new("log")
        .about(format!("Show what happened to a {noun}, or explain a stop"))
        .arg(
            arg!(--since <TIME> "Start here: 2h, 3days, 2026-01-31, 2026-01-31T12:00:00Z (times are UTC)")
                .value_parser(since),
        )
        .arg(arg!(-f --follow "Keep printing new lines until Ctrl-C"))
        .arg(
            arg!(--why [STOP] "Explain a stop, rule by rule: 1, the last one [default], 2, … or next")
                .conflicts_with_all(["since", "follow"])
                .default_missing_value("1")
                .value_parser(which_stop),
        )
        .arg(arg!(--json "Print the lines of the journal, one JSON object each, or the explanation"))
        .args(instance_args(chart))
}

/// Returns the commands that check, show and try out the workflow.
fn of_charts(chart: &Chart) -> Vec<Command> {
    let noun = &chart.scope.noun;
    vec![
        check_chart(),
        Command::new("test")
            .about("Play scenarios in memory, and compare the results")
            .after_help("Exit codes: 0 all passed, 1 some failed, 2 wrong usage")
            .arg(
                arg!(file: [FILE]... "Scenario files")
                    .required(true)
                    .value_parser(value_parser!(PathBuf)),
            )
            .arg(json()),
        Command::new("diagram")
            .about(format!("Draw the chart for Mermaid, and the path that a {noun} has taken"))
            .after_help(format!(
                "The path comes from the journal of this machine. Without a {noun} on the command line, only the chart is drawn."
            ))
            .args(instance_args_for(chart, &format!("Mark the path of this {noun}"))),
        render(chart),
        Command::new("schema").about("Print a JSON Schema (draft-07)").arg(
            arg!(of: <WHAT> "statechart: a chart file; state, config: the chart's state.json, config.json")
                .value_parser(words(["statechart", "state", "config"])),
        ),
    ]
}

/// Returns the commands about this machine, its settings and its shells.
fn of_this_machine(chart: &Chart) -> Vec<Command> {
    let with_demo = CHARTS.iter().filter(|chart| chart.demo.is_some());
    let with_demo: Vec<&str> = with_demo.map(|chart| chart.id).collect();
    vec![
        asking(
            chart,
            "doctor",
            "Check everything, and say what to fix or update",
        )
        .after_help("Exit codes: 0 no problem (warnings don't count), 1 problems, 2 wrong usage"),
        Command::new("config")
            .about("Show each setting, its value and where it comes from")
            .after_help(
                "A project's settings are in config.json in its home folder. Your own, for all projects, are in \
                 taskie/CHART.json in $XDG_CONFIG_HOME or ~/.config. The project's value wins over yours, and yours over \
                 the default. `taskie schema config` prints the JSON Schema.",
            )
            .arg(json()),
        Command::new("trust")
            .about("Show what this project could run, and allow it")
            .after_help(
                "A project's own chart (.taskie/statechart.toml) and settings that say what a reviewer may do have no effect \
                 until you allow them here. A change asks again. `--chart PATH` needs no trust.\n\
                 Exit codes: 0 trusted, or nothing to trust; 1 not trusted; 2 wrong usage",
            )
            .arg(arg!(--yes "Allow it without asking"))
            .arg(arg!(--revoke "Withdraw your consent").conflicts_with("yes")),
        Command::new("demo")
            .about("Play a whole plan without an account: the real hook, a scripted reviewer")
            .arg(arg!(--keep "Keep the temporary project and print its path"))
            .arg(arg!(--chart <CHART>).help(format!("The workflow: {}", with_demo.join(", ")))),
        Command::new("completions")
            .about("Print a completion script for a shell")
            .arg(arg!(shell: <SHELL>).value_parser(value_parser!(Shell))),
    ]
}

/// Returns a command that reads one instance and prints the result, as JSON with `--json`.
fn asking(chart: &Chart, name: &'static str, about: impl Into<StyledStr>) -> Command {
    Command::new(name).about(about).arg(json()).args(instance_args(chart))
}

/// Returns the commands about findings, if the chart has any.
fn findings(chart: &Chart) -> Vec<Command> {
    let noun = &chart.scope.noun;
    let ledger = &chart.findings;
    if ledger.severities.is_empty() {
        return Vec::new();
    }
    let list = asking(chart, "findings", "List what reviews found, and what became of it");
    let resolve = Command::new("resolve")
        .about("Decide about a finding; later reviewers will know")
        .arg(
            arg!(finding: <ID>)
                .help(format!("The finding, as `findings` shows it: {noun}-review-2.1")),
        )
        .arg(
            arg!(ruling: <RULING> "Whether the finding is right")
                .value_parser(words(ledger.rulings.keys().cloned())),
        )
        .arg(arg!(why: <WHY> "The reason, for the reviewers"))
        .args(instance_args(chart));
    match ledger.rulings.is_empty() {
        true => vec![list],
        false => vec![list, resolve],
    }
}

/// Returns the options of commands that print findings.
fn formats() -> [clap::Arg; 2] {
    [
        arg!(--format <FORMAT> "Print the findings in this format")
            .default_value_if("json", ArgPredicate::IsPresent, "json")
            .default_value("human")
            .value_parser(words(super::review::FORMATS)),
        arg!(--json "Short for --format json").conflicts_with("format"),
    ]
}

fn check_chart() -> Command {
    Command::new("check-chart")
        .about("Find errors in charts before they run")
        .after_help(
            "Exit codes: 0 no findings, 1 findings, 2 wrong usage, 3 a chart could not be read, 130 interrupted",
        )
        .arg(
            arg!(file: [FILE]... "Chart files, or - for stdin [default: the chart of --chart, else the project's own, else all embedded charts]")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            arg!(--format <FORMAT> "Write the findings in this format")
                .default_value("human")
                .value_parser(words(Format::ALL.map(|(name, _)| name))),
        )
        .arg(arg!(--print "Print each chart with what it extends, as one chart, and check nothing"))
        .arg(
            arg!(--"max-states" <N> "Explore at most this many states of a chart [default: 100000]")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(
            arg!(--"max-seconds" <N> "Explore a chart for at most this many seconds [default: 120]")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(arg!(--explain <CODE> "Explain what a code means and how to fix it").exclusive(true))
}

fn enter(chart: &Chart) -> Command {
    let phases: Vec<&str> = chart.phases.keys().map(String::as_str).collect();
    let mut used: IndexSet<&str> = IndexSet::new();
    for phase in chart.phases.keys() {
        used.extend(args_of_phase(chart, phase));
    }
    used.sort_by_key(|name| chart.args.get_index_of(*name));
    let options = used.into_iter();
    Command::new("enter")
        .about("Enter a phase: one atomic update of state.json")
        .after_help(format!("Phases: {}", phases.join(", ")))
        .arg(arg!(phase: <PHASE> "The phase to enter"))
        .args(options.map(|name| option(name, &chart.args[name], false)))
        .args(instance_args(chart))
        .arg(arg!(--check "Check whether the phase can be entered now, and show what that would write"))
        .arg(arg!(--force "Enter the phase even if its guard is false (the state must still fit its schema)"))
}

fn run(chart: &Chart) -> Command {
    let subcommands = chart.commands.iter().map(|(name, command)| {
        let mut used = args_of(chart, name);
        used.retain(|name| !chart.args[*name].is_stdin());
        // Optional positional arguments come last; otherwise clap panics.
        used.sort_by_key(|name| chart.args[*name].default.is_some());
        Command::new(name.clone())
            .about(command.about.clone())
            .args(used.into_iter().map(|name| option(name, &chart.args[name], true)))
            .args(instance_args(chart))
    });
    Command::new("run")
        .about("Run a command of the chart")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(subcommands)
}

fn render(chart: &Chart) -> Command {
    let noun = &chart.scope.noun;
    let instance = instance_args(chart);
    let others: Vec<clap::Id> = instance.iter().map(|arg| arg.get_id().clone()).collect();
    let names = textwrap::Options::new(100).initial_indent("  ").subsequent_indent("  ");
    Command::new("render")
        .about("Preview what the hook would send to whom")
        .after_help(format!(
            "Names for --set:\n{}",
            textwrap::fill(&settable(chart).join(", "), names)
        ))
        .arg(arg!(template: [TEMPLATE] "Show this template, filled in"))
        .arg(arg!(--next "Show what the Stop hook would send now; runs nothing, writes nothing"))
        .arg(
            arg!(--list "List the chart's templates and the names that they use")
                .conflicts_with_all(["set", "state"])
                .conflicts_with_all(others),
        )
        .group(ArgGroup::new("what").args(["template", "next", "list"]).required(true))
        .arg(
            arg!(--set <"NAME=VALUE"> "Assume this value; repeatable")
                .action(ArgAction::Append)
                .value_parser(pair),
        )
        .arg(
            arg!(--state <FILE>).help(format!("Use the state in FILE instead of the {noun}'s own")),
        )
        .args(instance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::choice::Choice;

    #[test]
    fn the_program_knows_its_own_commands() {
        let chart = Choice::of(None).load().unwrap();
        let groups = groups(&chart).into_iter();
        let commands = groups.flat_map(|(_, commands)| commands);
        let names = commands.map(|command| command.get_name().to_owned());
        let of_chart = |name: &String| chart.commands.contains_key(name);
        let mut names: Vec<String> = names.filter(|name| !of_chart(name)).collect();
        // clap adds this one.
        names.push("help".to_owned());
        let mut own = OWN.to_vec();
        names.sort();
        own.sort_unstable();
        assert_eq!(names, own);
    }
}
