//! `taskie status --watch`: shows the screen and updates it until the user stops it.
//!
//! On a terminal, it is redrawn in place; otherwise, one line is printed per change. It checks once a second, because
//! only the released lock shows that a review has ended.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::Value as Json;

use crate::chart::Chart;
use crate::cli::error::CliError;
use crate::cli::place;
use crate::files::json::versioned;
use crate::os::bell::{Bell, PAUSE, Rang};
use crate::page;
use crate::text::shown_json;
use crate::view::facts::Facts;
use crate::view::screen;

/// Follows the instance until the user stops it or the reader is gone.
pub(super) fn run(
    chart: &Arc<Chart>,
    matches: &ArgMatches,
    session: Option<&str>,
    is_json: bool,
) -> Result<ExitCode, CliError> {
    let mut bell = Bell::new().map_err(CliError::because("signals cannot be handled"))?;
    let is_drawn = !is_json && io::stdout().is_terminal();
    let mut before = String::new();
    let mut drawing = Drawing { is_whole: matches.get_flag("all"), ..Drawing::default() };
    let mut place = place::chosen(chart, matches)?;
    loop {
        let facts = Facts::gather(&place, session);
        let is_written = if is_drawn {
            drawing.draw(&facts).is_ok()
        } else {
            let (line, mark) = line(&facts, is_json);
            let is_new = mark != before;
            before = mark;
            !is_new || page::print([line])
        };
        // If the reader is gone, this ends, as with Ctrl-C.
        if !is_written || bell.wait(PAUSE) == Rang::End {
            return Ok(ExitCode::SUCCESS);
        }
        // A different instance may be the most recent one by now. Problems with other instances have already been
        // reported.
        let (found, _) = place::find(chart, matches, session)?;
        place = match found {
            Some(place) => place,
            None => place::chosen(chart, matches)?,
        };
    }
}

/// Returns a line about the facts, and a value that shows whether they changed. The value leaves out the time, which
/// always changes.
fn line(facts: &Facts, is_json: bool) -> (String, String) {
    if !is_json {
        let line = screen::summary(facts);
        return (line.clone(), line);
    }
    let json = screen::json(facts);
    let mut mark = json.clone();
    // The sentence says nothing that the other fields don't, apart from the time.
    if let Some(fields) = mark.as_object_mut() {
        fields.remove("sentence");
    }
    if let Some(Json::Object(running)) = mark.get_mut("running") {
        running.remove("seconds");
        running.remove("last_line");
    }
    let line = versioned(json).to_string();
    (shown_json(&line).into_owned(), mark.to_string())
}

/// The screen on the terminal.
#[derive(Debug, Default)]
struct Drawing {
    /// Its number of lines.
    height: usize,
    width: usize,
    /// All reviews are shown.
    is_whole: bool,
}

impl Drawing {
    /// Draws it over the previous one.
    fn draw(&mut self, facts: &Facts) -> io::Result<()> {
        let (columns, rows) = page::terminal().unwrap_or((page::width(), usize::MAX));
        let mut lines = screen::lines(facts, columns.min(page::width()), self.is_whole);
        lines.push(String::new());
        lines.push(page::paint(page::FAINT, fitting("press Ctrl-C to stop", columns)));
        // Lines that have scrolled off the screen cannot be redrawn.
        lines.truncate(rows.saturating_sub(1).max(1));
        // The terminal has rewrapped the old lines, so nobody knows where they start.
        let is_lost = self.width != columns && self.height > 0;
        page::draw(&lines, (!is_lost).then_some(self.height))?;
        (self.height, self.width) = (lines.len(), columns);
        Ok(())
    }
}

fn fitting(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}
