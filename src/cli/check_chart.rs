//! `taskie check-chart [FILE | -]…`: reads charts and prints their flaws.

use std::path::PathBuf;
use std::time::Duration;

use clap::value_parser;

use super::charts::{Charts, read};
use crate::chart::choice::Embedded;
use crate::check::conditions::Limits;
use crate::check::lint::report::Format;
use crate::check::lint::{self, Checked};
use crate::commands::error::{CliError, WRONG_USAGE};
use crate::commands::output::{Output, tell};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::did_you_mean;
use crate::expr::templates::Templates;

/// The exit code if a chart could not be read.
const NOT_CHECKED: u8 = 3;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no findings, 1 findings, 2 wrong usage, 3 a chart could not be read"
)]
pub(crate) struct Args {
    #[command(flatten)]
    charts: Charts,
    /// Write the findings in this format
    #[arg(long, default_value = "human")]
    format: Format,
    /// Explore at most this many states of a chart [default: 100000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    max_states: Option<u32>,
    /// Explore a chart for at most this many seconds [default: 120]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    max_seconds: Option<u32>,
    /// Explain what a code means and how to fix it
    #[arg(long, value_name = "CODE", exclusive = true)]
    explain: Option<String>,
}

/// Checks the charts that the command line names, as files or with `--chart`, or the embedded ones if it names none.
pub(crate) fn run(named: Option<&str>, args: &Args) -> Result<Output, CliError> {
    if let Some(code) = &args.explain {
        return explain(code);
    }
    let format = args.format;
    if named.is_some() && !args.charts.file.is_empty() {
        let message = "--chart and FILE both name a chart to check";
        return Err(CliError::with_help(message, "remove --chart").with_code(WRONG_USAGE));
    }
    let (embedded, files) = args.charts.chosen(named);
    let limits = limits(args);
    let (checked, unread) = check(&embedded, &files, &limits);
    let text = format.render(&checked);
    let text = text.trim_end();
    let output = match format {
        _ if text.is_empty() => Output::default(),
        Format::Human => Output::styled(text),
        Format::Json => Output::json_text(text.to_owned()),
        Format::Concise => Output::text(text),
    };
    // What was not looked at may be wrong.
    let is_cut = |checked: &Checked| checked.explored.as_ref().is_some_and(|it| it.cut.is_some());
    let is_found = |checked: &Checked| !checked.flaws.is_empty() || is_cut(checked);
    let found = checked.iter().any(is_found);
    Ok(output.with_code(match (unread, found) {
        (1.., _) => NOT_CHECKED,
        (0, found) => found.into(),
    }))
}

/// Returns how far a chart is explored.
fn limits(args: &Args) -> Limits {
    let default = Limits::default();
    let states = args.max_states.and_then(|states| usize::try_from(states).ok());
    let time = args.max_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    Limits { states: states.unwrap_or(default.states), time: time.unwrap_or(default.time) }
}

/// Checks charts, and returns how many of the files could not be read.
fn check(embedded: &[&Embedded], files: &[PathBuf], limits: &Limits) -> (Vec<Checked>, usize) {
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

fn explain(name: &str) -> Result<Output, CliError> {
    let Some(code) = Code::named(name) else {
        let names = Code::ALL.iter().map(|code| code.as_str());
        let help = did_you_mean(name, names.clone())
            .unwrap_or_else(|| format!("the codes are {}", names.collect::<Vec<_>>().join(", ")));
        let message = format!("unknown code `{}`", name.escape_debug());
        return Err(CliError::with_help(message, help).with_code(WRONG_USAGE));
    };
    Ok(Output::text(code.page().trim_end()))
}
