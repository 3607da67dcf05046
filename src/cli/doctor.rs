//! `taskie doctor`: prints what was found and what to do, one row each.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::json;

use super::error::CliError;
use super::output::{exit, say_json};
use super::place;
use crate::chart::Chart;
use crate::chart::choice::Choice;
use crate::doctor::{self, Diagnosis, Level};
use crate::page::{self, ALERT, BAD, FAINT, GOOD, Page, counted, paint};

/// Checks everything and prints what was found.
pub(crate) fn run(
    choice: &Choice<'_>,
    chart: &Arc<Chart>,
    refused: Option<&str>,
    matches: &ArgMatches,
) -> Result<ExitCode, CliError> {
    let session = place::session(matches)?;
    let (place, warnings) = place::find(chart, matches, session.as_deref())?;
    let found = doctor::examine(choice, chart, place.as_ref(), warnings, refused);
    let count = |level: Level| found.iter().filter(|found| found.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    if matches.get_flag("json") {
        let lines = found.iter().map(|found| {
            json!({ "level": found.level.name(), "about": found.about, "text": found.text, "help": found.help })
        });
        let lines = lines.collect::<Vec<_>>();
        say_json(json!({ "problems": problems, "warnings": warnings, "lines": lines }));
    } else {
        print(&found, problems, warnings);
    }
    Ok(exit(problems == 0))
}

fn print(found: &[Diagnosis], problems: usize, warnings: usize) {
    let mut page = page(found, |found| found.level.name());
    page.blank();
    page.text(page::PLAIN, &summary(problems, warnings));
    page.print();
}

/// Returns a row for each check, followed by what to do about it.
pub(super) fn page(found: &[Diagnosis], label: fn(&Diagnosis) -> &'static str) -> Page {
    let mut page = Page::labeled(found.iter().map(label));
    for found in found {
        let style = match found.level {
            Level::Ok => GOOD,
            Level::Warning => ALERT,
            Level::Problem => BAD,
        };
        page.styled_row(style, label(found), &found.text);
        if let Some(help) = &found.help {
            page.row("", &format!("{} {help}", paint(FAINT, "→")));
        }
    }
    page
}

fn summary(problems: usize, warnings: usize) -> String {
    let parts = [(problems, "problem"), (warnings, "warning")].into_iter();
    let parts = parts.filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| counted(count, what)).collect();
    match parts.is_empty() {
        true => "No problems found.".to_owned(),
        false => format!("{}.", parts.join(", ")),
    }
}
