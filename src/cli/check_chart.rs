//! `taskie check-chart [FILE | -]…`: reads charts and prints their flaws.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use signal_hook::consts::SIGINT;

use super::error::CliError;
use super::output::{WRONG_USAGE, meanwhile, say, say_json_text, say_styled, tell};
use crate::chart::choice::{CHARTS, Choice, Embedded};
use crate::chart::extend::Extended;
use crate::check::conditions::Limits;
use crate::check::lint::report::Format;
use crate::check::lint::{self, Checked};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::did_you_mean;
use crate::disk;
use crate::expr::templates::Templates;
use crate::project::home;
use crate::project::trust;
use crate::text::shown_lines;

/// The exit code if a chart could not be read.
const NOT_CHECKED: u8 = 3;

/// The exit code after Ctrl-C: 128 and the number of its signal.
const INTERRUPTED: u8 = 130;

/// Checks the charts that the command line names, as files or with `--chart`, or the embedded ones if it names none.
pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, CliError> {
    if let Some(code) = matches.get_one::<String>("explain") {
        return Ok(explain(code));
    }
    let format = matches.get_one::<String>("format").map_or("human", String::as_str);
    let format = Format::named(format).ok_or_else(|| CliError::new("unknown format"))?;
    let mut files: Vec<&Path> =
        matches.get_many::<PathBuf>("file").into_iter().flatten().map(PathBuf::as_path).collect();
    let mut embedded: Vec<&Embedded> = Vec::new();
    let own = own_chart();
    match chosen(matches) {
        Some(_) if !files.is_empty() => {
            tell("taskie: --chart and FILE both name a chart to check\n  help: remove --chart");
            return Ok(ExitCode::from(WRONG_USAGE));
        }
        Some(Choice::Embedded(chart)) => embedded.push(chart),
        Some(Choice::File(path)) => files.push(path),
        None if !files.is_empty() => {}
        None => match &own {
            Some(path) => files.push(path),
            None => embedded.extend(CHARTS),
        },
    }
    if matches.get_flag("print") {
        return print(&embedded, &files);
    }
    let limits = limits(matches);
    interruptible(&limits)?;
    let looked_at = || {
        let states = limits.looked_at.load(Ordering::Relaxed);
        Some(format!("{states} states explored (Ctrl-C to stop)"))
    };
    let (checked, unread) =
        meanwhile(Duration::from_secs(1), looked_at, || check(&embedded, &files, &limits));
    let text = format.render(&checked);
    let text = text.trim_end();
    match format {
        _ if text.is_empty() => {}
        Format::Human => say_styled(text),
        Format::Json | Format::Sarif => say_json_text(text),
        Format::Concise | Format::Github => say(text),
    }
    if limits.stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    // What was not looked at may be wrong.
    let is_cut = |checked: &Checked| checked.explored.as_ref().is_some_and(|it| it.cut.is_some());
    let is_found = |checked: &Checked| !checked.flaws.is_empty() || is_cut(checked);
    let found = checked.iter().any(is_found);
    Ok(match (unread, found) {
        (1.., _) => ExitCode::from(NOT_CHECKED),
        (0, true) => ExitCode::FAILURE,
        (0, false) => ExitCode::SUCCESS,
    })
}

/// Returns the project's own chart, whether or not the user trusts it.
fn own_chart() -> Option<PathBuf> {
    let cwd = std::env::current_dir().ok()?;
    let home = CHARTS[0].home();
    let root = home::project_root(&cwd, home)?;
    let path = root.join(home).join(trust::CHART);
    let path = path.strip_prefix(&cwd).map_or(path.clone(), Path::to_owned);
    path.is_file().then_some(path)
}

/// Prints charts with what they extend.
fn print(embedded: &[&Embedded], files: &[&Path]) -> Result<ExitCode, CliError> {
    let charts = embedded.iter();
    let mut charts: Vec<(String, String)> =
        charts.map(|chart| (chart.id.to_owned(), chart.text.to_owned())).collect();
    for file in files {
        let chart = read(file).map(|(origin, text, _)| (origin, text));
        let shown = file.display().to_string();
        charts.push(chart.map_err(CliError::because(shown))?);
    }
    for (origin, text) in &charts {
        let extended = Extended::of(origin, text);
        if !extended.flaws.is_empty() {
            return Err(CliError::Chart(extended.error(extended.flaws.clone())));
        }
        say(shown_lines(&extended.toml()).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns how far a chart is explored.
fn limits(matches: &ArgMatches) -> Limits {
    let number = |name: &str| matches.get_one::<u32>(name).copied();
    let default = Limits::default();
    let states = number("max-states").and_then(|states| usize::try_from(states).ok());
    let time = number("max-seconds").map(|seconds| Duration::from_secs(seconds.into()));
    Limits {
        states: states.unwrap_or(default.states),
        time: time.unwrap_or(default.time),
        ..default
    }
}

/// Checks charts, and returns how many of the files could not be read.
fn check(embedded: &[&Embedded], files: &[&Path], limits: &Limits) -> (Vec<Checked>, usize) {
    let of_embedded = |chart: &&Embedded| {
        let templates = |_: &[String]| Templates::Embedded(chart.templates);
        lint::run(chart.id, chart.text, templates, Some(limits))
    };
    let mut checked: Vec<Checked> = embedded.iter().map(of_embedded).collect();
    for file in files {
        match read(file) {
            Ok((origin, text, beside)) => {
                let templates = |folders: &[String]| Templates::beside(&beside, folders);
                checked.push(lint::run(&origin, &text, templates, Some(limits)));
            }
            Err(why) => tell(&format!("taskie: {}: {why}", file.display())),
        }
    }
    let unread = embedded.len() + files.len() - checked.len();
    (checked, unread)
}

/// Lets Ctrl-C end the exploration, which then reports what it has found so far. The second one ends the program.
fn interruptible(limits: &Limits) -> Result<(), CliError> {
    let stop = || Arc::clone(&limits.stop);
    signal_hook::flag::register_conditional_default(SIGINT, stop())
        .and_then(|_| signal_hook::flag::register(SIGINT, stop()))
        .map(|_| ())
        .map_err(CliError::because("Ctrl-C cannot be handled"))
}

/// Returns the chart that `--chart` names, if it is given.
fn chosen(matches: &ArgMatches) -> Option<Choice<'_>> {
    let is_given = matches.value_source("chart") == Some(ValueSource::CommandLine);
    let name = matches.get_one::<String>("chart").filter(|_| is_given)?;
    Some(Choice::of(Some(name)))
}

/// Returns a chart's name, its text, and the folder that contains its template folders.
fn read(file: &Path) -> std::io::Result<(String, String, PathBuf)> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text)?;
        return Ok(("stdin".to_owned(), text, PathBuf::new()));
    }
    let text = disk::named_text(file)?;
    // An empty parent stays empty, so that findings name templates like the chart, without a `./`.
    let beside = file.parent().unwrap_or(Path::new(""));
    Ok((file.display().to_string(), text, beside.to_owned()))
}

fn explain(name: &str) -> ExitCode {
    let Some(code) = Code::named(name) else {
        let names = Code::ALL.iter().map(|code| code.as_str());
        let help = did_you_mean(name, names.clone())
            .unwrap_or_else(|| format!("the codes are {}", names.collect::<Vec<_>>().join(", ")));
        let name = name.escape_debug();
        tell(&format!("taskie: unknown code `{name}`\n  help: {help}"));
        return ExitCode::from(WRONG_USAGE);
    };
    say(code.page().trim_end());
    ExitCode::SUCCESS
}
