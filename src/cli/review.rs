//! `taskie review`: has what has changed in the work tree reviewed, without any plan.

use std::sync::Arc;

use clap::builder::ArgPredicate;
use clap::{ArgGroup, ValueEnum, value_parser};

use crate::chart::Chart;
use crate::chart::choice::{Choice, of_changes};
use crate::commands::about::Session;
use crate::commands::error::{CliError, WRONG_USAGE};
use crate::commands::output::{Output, of_reviewer, tell_error};
use crate::commands::review::{Wanted, at_stop, review, stood_in};
use crate::commands::wait;
use crate::diagnostic::code_host;
use crate::os::supervisor;
use crate::view::reviewed::Reviewed;

/// The name of the command.
pub(super) const NAME: &str = wait::COMMAND;

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Human,
    Json,
    Sarif,
    Github,
}

#[derive(Debug, clap::Args)]
#[command(
    group(ArgGroup::new("stops").args(["at_stop", "wait", "detached"])),
    after_help = "Reviews what is not committed; if nothing is, what the branch has changed since it left the default branch. \
        Needs git. `taskie config` shows the settings.\n\
        Exit codes: 0 clean, 1 findings or a gate that failed, 2 wrong usage or nothing to compare with, 3 not reviewed, \
        4 not over yet (--wait)"
)]
pub(crate) struct Args {
    #[command(flatten)]
    wanted: Wanted,
    /// Print the findings in this format
    #[arg(
        long,
        default_value = "human",
        default_value_if("json", ArgPredicate::IsPresent, "json")
    )]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Review it whenever the agent of this session stops, until it is clean
    #[arg(long, conflicts_with_all = OF_THIS_REVIEW)]
    at_stop: bool,
    /// Start the review, or wait for the one that runs, and answer within this time
    #[arg(
        long, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..=600),
        conflicts_with_all = OF_THIS_REVIEW
    )]
    wait: Option<u64>,
    /// Answer for one that waits
    #[arg(long, hide = true)]
    detached: bool,
    #[command(flatten)]
    of: Session,
}

/// The options of a review that runs while this command does.
const OF_THIS_REVIEW: [&str; 7] =
    ["base", "model", "max_cost", "permissions", "format", "json", "print_prompt"];

/// Returns the chart that decides about changes.
pub(super) fn choice() -> Choice<'static> {
    of_changes().map_or_else(|| Choice::of(None), Choice::Embedded)
}

/// Reviews the change, and returns what was found. The exit code is that of the page about this command.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    match args.detached {
        true => supervisor::outlive_host(),
        false => supervisor::remember_host(),
    }
    if let Some(nothing) = of_reviewer() {
        return Ok(nothing);
    }
    let by_hand = |is_detached| {
        review(chart, &args.wanted, is_detached, |found| in_format(found, args.format))
    };
    let reviewed = match args.wait {
        _ if args.at_stop => at_stop(chart, &args.of),
        Some(seconds) => {
            stood_in(chart, &args.of, |place, session| wait::wait(place, session, seconds))
        }
        None if args.detached => stood_in(chart, &args.of, |place, session| {
            wait::answering(place, || match session {
                Some(session) => Ok(wait::stop(place, session)),
                None => by_hand(true),
            })
        }),
        None => by_hand(false),
    };
    let error = match reviewed {
        Ok(output) => return Ok(output),
        Err(error) => error.with_code(WRONG_USAGE),
    };
    if matches!(args.format, Format::Human) {
        return Err(error);
    }
    tell_error(&error);
    let refused = Reviewed::refused(error.in_words());
    Ok(in_format(&refused, args.format).with_code(error.code()))
}

/// Returns the result of a review in a format.
fn in_format(reviewed: &Reviewed<'_>, format: Format) -> Output {
    let output = match format {
        Format::Json => Output::json(reviewed.json()),
        Format::Sarif => Output::json_text(code_host::pretty(&reviewed.sarif())),
        Format::Github => Output::of(reviewed.annotations()),
        Format::Human => Output::of(reviewed.page()),
    };
    output.with_code(reviewed.code)
}
