//! `taskie log`: prints what happened to an instance, oldest first.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::Value as Json;

use super::error::CliError;
use super::place;
use crate::chart::Chart;
use crate::os::bell::{Bell, PAUSE};
use crate::page::{Page, STRONG, print, usd, width};
use crate::run::under_way::{KILLED, record_killed};
use crate::store::journal::Line;
use crate::text::{shown, shown_json};
use crate::view::timeline::entries;

/// The width of `12:00:00` and the space after it.
const TIME: usize = 10;

/// Prints the journal of the instance; with `--follow`, also new lines.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let place = place::chosen(chart, matches)?;
    record_killed(&place, KILLED);
    let since = matches.get_one::<String>("since");
    let is_json = matches.get_flag("json");
    let bell = match matches.get_flag("follow") {
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
