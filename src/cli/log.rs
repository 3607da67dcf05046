//! `taskie log`: prints what happened to an instance, oldest first.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value as Json;

use super::error::CliError;
use super::grammar::options::{About, WhichStop, since, which_stop};
use super::{place, why};
use crate::chart::Chart;
use crate::os::bell::{Bell, PAUSE};
use crate::page::{Page, STRONG, print, usd, width};
use crate::run::under_way::{KILLED, record_killed};
use crate::store::journal::Line;
use crate::text::{shown, shown_json};
use crate::view::timeline::entries;

/// The width of `12:00:00` and the space after it.
const TIME: usize = 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Start here: 2h, 3days, 2026-01-31, 2026-01-31T12:00:00Z (times are UTC)
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<String>,
    /// Keep printing new lines until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Explain a stop, rule by rule: 1, the last one [default], 2, … or next
    #[arg(
        long, value_name = "STOP", num_args = 0..=1, default_missing_value = "1", value_parser = which_stop,
        conflicts_with_all = ["since", "follow"]
    )]
    why: Option<WhichStop>,
    /// Print the lines of the journal, one JSON object each, or the explanation
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    about: About,
}

/// Prints the journal of the instance, or explains a stop.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<ExitCode, CliError> {
    match args.why {
        Some(stop) => why::run(chart, &args.about, args.json, stop),
        None => print_lines(chart, args),
    }
}

/// Prints the journal; with `--follow`, also new lines.
fn print_lines(chart: &Arc<Chart>, args: &Args) -> Result<ExitCode, CliError> {
    let place = place::chosen(chart, &args.about)?;
    record_killed(&place, KILLED);
    let since = args.since.as_ref();
    let is_json = args.json;
    let bell = match args.follow {
        true => Some(Bell::new().map_err(CliError::because("signals cannot be handled"))?),
        false => None,
    };
    let mut day = String::new();
    let mut last: Option<Line> = None;
    loop {
        let mut lines = place.journal().read();
        // Continue after the last printed line; if that is gone, start from the beginning.
        let printed = last.as_ref().and_then(|last| lines.iter().rposition(|line| line == last));
        lines.drain(..printed.map_or(0, |at| at + 1));
        lines.retain(|line| since.is_none_or(|since| line.at() >= since.as_str()));
        let is_written = match is_json {
            true => print(lines.iter().filter_map(in_json)),
            false => print(timeline(chart, &mut day, &lines)),
        };
        last = lines.pop().or(last);
        if let Some(bell) = &bell {
            if !is_written || bell.wait(PAUSE) {
                return Ok(ExitCode::SUCCESS);
            }
            continue;
        }
        if last.is_none() && !is_json {
            let noun = &chart.scope.noun;
            let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
            let name = &place.instance.name;
            let none = format!("nothing is recorded about {noun} `{name}`{since}");
            print([none]);
        }
        return Ok(ExitCode::SUCCESS);
    }
}

/// Returns the next lines of the screen; `day` is the one that was printed last.
fn timeline(chart: &Chart, day: &mut String, lines: &[Line]) -> Vec<String> {
    let mut page = Page::new(width(), TIME);
    for entry in entries(chart, lines) {
        if entry.day != *day {
            page.text(STRONG, &format!("{} UTC", shown(entry.day)));
            entry.day.clone_into(day);
        }
        page.row(&shown(&entry.time), &entry.text);
    }
    page.into_lines()
}

/// Returns a line as JSON, for programs: the cost is in dollars there.
fn in_json(line: &Line) -> Option<String> {
    let mut json = serde_json::to_value(line).ok()?;
    if let Some(fields) = json.as_object_mut()
        && let Some(cost) = fields.shift_remove("cost")
    {
        let cost = cost.as_u64().map_or(Json::Null, usd);
        fields.insert("cost_usd".to_owned(), cost);
    }
    Some(shown_json(&json.to_string()).into_owned())
}
