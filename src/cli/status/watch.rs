//! `taskie status --watch`: the screen again and again, until the user has seen enough.
//!
//! On a terminal it is drawn in place; elsewhere a line is printed for each change. It looks once a second: nothing
//! tells of a review that ends but the lock that it held.

use std::io::{self, IsTerminal as _, Read as _, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use serde_json::Value as Json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::low_level::pipe;

use super::facts::Facts;
use super::screen;
use crate::chart::Chart;
use crate::cli::error::CliError;
use crate::cli::place;
use crate::page;

/// How long it waits between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// Follows the instance until the user ends it or nobody reads any more.
pub(super) fn run(
    chart: &Arc<Chart>,
    matches: &ArgMatches,
    session: Option<&str>,
    is_json: bool,
) -> Result<ExitCode, CliError> {
    let mut bell = Bell::new()
        .map_err(|error| CliError::new(format!("signals cannot be handled: {error}")))?;
    let is_drawn = !is_json && io::stdout().is_terminal();
    let mut before = String::new();
    let mut drawing = Drawing::default();
    let mut place = place::resolve(chart, matches, session, place::Absent::Refuse)?;
    loop {
        let facts = Facts::gather(&place, session)?;
        let written = if is_drawn {
            drawing.draw(&facts)
        } else {
            let (line, mark) = line(&facts, is_json);
            let is_new = mark != before;
            before = mark;
            match is_new {
                true => writeln!(io::stdout(), "{line}").and_then(|()| io::stdout().flush()),
                false => Ok(()),
            }
        };
        // A reader that has gone away ends it as ctrl-C does.
        if written.is_err() || bell.wait(PAUSE) == Rang::End {
            return Ok(ExitCode::SUCCESS);
        }
        // Another instance may be the most recent one by now. What is wrong with others has been reported.
        let (found, _) = place::find(chart, matches, session)?;
        place = match found {
            Some(place) => place,
            None => place::resolve(chart, matches, session, place::Absent::Refuse)?,
        };
    }
}

/// A line about the facts, and what is compared to see whether they have changed: time passes by itself.
fn line(facts: &Facts, is_json: bool) -> (String, String) {
    if !is_json {
        let line = screen::summary(facts);
        return (line.clone(), line);
    }
    let json = facts.to_json();
    let mut mark = json.clone();
    if let Some(Json::Object(running)) = mark.get_mut("running") {
        running.remove("seconds");
    }
    (json.to_string(), mark.to_string())
}

/// The screen as it stands on the terminal.
#[derive(Debug, Default)]
struct Drawing {
    /// How many lines of it there are.
    height: usize,
    width: usize,
}

impl Drawing {
    /// Draws it over the one before.
    fn draw(&mut self, facts: &Facts) -> io::Result<()> {
        let (columns, rows) = page::terminal().unwrap_or((page::width(), usize::MAX));
        let mut lines = screen::lines(facts, columns.min(page::width()));
        lines.push(String::new());
        lines.push(page::paint(
            page::FAINT,
            fitting("ctrl-C ends this", columns),
        ));
        // What has scrolled away cannot be drawn over.
        lines.truncate(rows.saturating_sub(1).max(1));
        let mut out = anstream::stdout().lock();
        if self.width != columns && self.height > 0 {
            // The terminal has wrapped the old lines again, so nobody knows where they begin.
            write!(out, "\x1b[2J\x1b[H")?;
        } else if self.height > 0 {
            write!(out, "\x1b[{}F", self.height)?;
        }
        for line in &lines {
            writeln!(out, "{line}\x1b[K")?;
        }
        write!(out, "\x1b[J")?;
        (self.height, self.width) = (lines.len(), columns);
        out.flush()
    }
}

fn fitting(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

/// Why a wait was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rang {
    /// The time has passed, or the terminal has another size.
    Look,
    /// This process was asked to end.
    End,
}

/// Signals, as bytes in a stream that a wait can listen to.
#[derive(Debug)]
struct Bell {
    end: UnixStream,
    resize: UnixStream,
    /// Stdout, if it is one that a reader can go away from. (Not every system can poll every kind of file.)
    reader: Option<io::Stdout>,
}

impl Bell {
    fn new() -> io::Result<Self> {
        let (end, sender) = UnixStream::pair()?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            pipe::register(signal, sender.try_clone()?)?;
        }
        let (resize, sender) = UnixStream::pair()?;
        pipe::register(SIGWINCH, sender)?;
        resize.set_nonblocking(true)?;
        let is_pipe = rustix::fs::fstat(io::stdout())
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_fifo());
        Ok(Self {
            end,
            resize,
            reader: is_pipe.then(io::stdout),
        })
    }

    fn wait(&mut self, time: Duration) -> Rang {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds = vec![
            PollFd::new(&self.end, PollFlags::IN),
            PollFd::new(&self.resize, PollFlags::IN),
        ];
        // A reader that has gone away is reported without a request.
        fds.extend(
            self.reader
                .iter()
                .map(|reader| PollFd::new(reader, PollFlags::empty())),
        );
        let timeout = rustix::event::Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(1),
            tv_nsec: 0,
        };
        // An error is a signal's, and its byte is there then.
        let _ = poll(&mut fds, Some(&timeout));
        let is_ended = !fds[0].revents().is_empty()
            || fds
                .get(2)
                .is_some_and(|reader| !reader.revents().is_empty());
        // However often the size has changed, one look is enough.
        let _ = self.resize.read(&mut [0; 256]);
        if is_ended { Rang::End } else { Rang::Look }
    }
}
