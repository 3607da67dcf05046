//! `taskie status`: shows the current phase, what it waits for, and what the next stop does. It only reads.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use clap::ArgMatches;

use super::error::CliError;
use super::output::{say, say_json};
use super::place;
use crate::chart::Chart;
use crate::files::json;
use crate::host::events::session_of;
use crate::page;
use crate::project::home;
use crate::run::place::Place;
use crate::store::driver;
use crate::view::facts::Facts;
use crate::view::{line, screen};

/// The most bytes of what a host says about the session.
const MOST: u64 = 1024 * 1024;

/// How long it may take to say it.
const PATIENCE: Duration = Duration::from_millis(500);

/// Prints the situation of the instance.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    if matches.get_flag("line") {
        return line(chart, matches);
    }
    let session = place::session(matches)?;
    let place = place::chosen(chart, matches)?;
    let facts = Facts::gather(&place, session.as_deref());
    if matches.get_flag("json") {
        say_json(screen::json(&facts));
        return Ok(ExitCode::SUCCESS);
    }
    // A reader that is gone is not an error.
    page::print(screen::lines(&facts, matches.get_flag("all")));
    Ok(ExitCode::SUCCESS)
}

/// Prints one line about the instance of the session that a host describes on stdin, or nothing.
fn line(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let host = json::parse(&described()).unwrap_or_default();
    if let Some(cwd) = host["cwd"].as_str() {
        // Else it is the directory in which the host has started this.
        let _ = std::env::set_current_dir(cwd);
    }
    let place = match session_of(&host).ok().flatten() {
        Some(session) => of_session(chart, session),
        None => place::chosen(chart, matches).ok(),
    };
    // What a session has claimed may be gone.
    if let Some(place) = place.filter(|place| place.dir().is_dir()) {
        say(&line::line(&place));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what a host says about its session on stdin. What cannot be read, or has not come within [`PATIENCE`], names no
/// session.
fn described() -> Vec<u8> {
    if std::io::stdin().is_terminal() {
        return Vec::new();
    }
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = std::io::stdin().lock().take(MOST).read_to_end(&mut text);
        // Nobody may wait for it anymore.
        let _ = sender.send(text);
    });
    receiver.recv_timeout(PATIENCE).unwrap_or_default()
}

/// Returns the instance that a session drives or has of its own.
fn of_session(chart: &Arc<Chart>, session: &str) -> Option<Place> {
    let scope = &chart.scope;
    let roots = home::roots(&place::cwd().ok()?);
    if scope.is_per_session() {
        let root = home::project_root(roots.first()?, &scope.home)?;
        return place::existing(chart, &root, session).ok();
    }
    let claimed = driver::claimed(&roots, &scope.home, session).ok()??;
    place::existing(chart, &claimed.root, &claimed.instance).ok()
}
