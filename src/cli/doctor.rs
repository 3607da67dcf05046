//! `taskie doctor`: prints what was found and what to do, one row each.

use std::sync::Arc;

use serde_json::json;

use crate::chart::Chart;
use crate::chart::choice::Choice;
use crate::commands::about::Asking;
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::commands::place;
use crate::doctor::{Level, Subject, examine};
use crate::page::{ALERT, BAD, FAINT, GOOD, Page, paint};

/// Checks everything and prints what was found.
pub(crate) fn run(
    choice: &Choice<'_>,
    chart: &Arc<Chart>,
    refused: Option<&str>,
    args: &Asking,
) -> Result<Output, CliError> {
    let place = place::find(chart, &args.about)?;
    let found = examine(&Subject::new(choice, chart, place.as_ref(), refused));
    let count = |level: Level| found.iter().filter(|(_, found)| found.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    if args.json {
        let lines = found.iter().map(|(about, found)| {
            json!({ "level": found.level.name(), "about": about, "text": found.text, "help": found.help })
        });
        let lines = lines.collect::<Vec<_>>();
        let output = json!({ "problems": problems, "warnings": warnings, "lines": lines });
        return Ok(Output::json(output).well(problems == 0));
    }
    let mut page = Page::labeled(found.iter().map(|(_, found)| found.level.name()));
    for (_, found) in &found {
        let style = match found.level {
            Level::Ok => GOOD,
            Level::Warning => ALERT,
            Level::Problem => BAD,
        };
        page.styled_row(style, found.level.name(), &found.text);
        if let Some(help) = &found.help {
            page.row("", &format!("{} {help}", paint(FAINT, "→")));
        }
    }
    Ok(Output::of(page).well(problems == 0))
}
