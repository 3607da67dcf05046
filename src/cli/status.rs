//! `taskie status`: shows the current phase, what it waits for, and what the next stop does. It only reads.

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::error::CliError;
use super::grammar::options::{About, Asking};
use super::output::{say, say_json};
use super::{list, place, stats};
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

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A verdict is shown if this machine ran the review and the file has not changed since. `PASS?` \
    is what the file itself states; `?` means unknown.\ndocs/commands.md describes the JSON."
)]
pub(crate) struct Args {
    #[command(flatten)]
    asking: Asking,
    /// List all instances: progress, reviews, cost, driver
    #[arg(long, group = "what")]
    all: bool,
    /// Sum up the reviews: verdicts, time and cost
    #[arg(long, group = "what")]
    cost: bool,
    /// Show all reviews, not only the last ones
    #[arg(long, group = "what")]
    reviews: bool,
    /// Print one short line for a status line; the session can come as JSON on stdin
    #[arg(long, group = "what", conflicts_with = "json")]
    line: bool,
}

/// Prints the situation of the instance.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<ExitCode, CliError> {
    let Asking { json, about } = &args.asking;
    if args.line {
        return line(chart, about);
    }
    if args.all {
        return list::run(chart, *json);
    }
    if args.cost {
        return stats::run(chart, about.instance.as_deref(), *json);
    }
    let session = place::session(&about.of)?;
    let place = place::chosen(chart, about)?;
    let facts = Facts::gather(&place, session.as_deref());
    if *json {
        say_json(screen::json(&facts));
        return Ok(ExitCode::SUCCESS);
    }
    // A reader that is gone is not an error.
    page::print(screen::lines(&facts, args.reviews));
    Ok(ExitCode::SUCCESS)
}

/// Prints one line about the instance of the session that a host describes on stdin, or nothing.
fn line(chart: &Arc<Chart>, about: &About) -> Result<ExitCode, CliError> {
    let host = json::parse(&described()).unwrap_or_default();
    if let Some(cwd) = host["cwd"].as_str() {
        // Else it is the directory in which the host has started this.
        let _ = std::env::set_current_dir(cwd);
    }
    let place = match session_of(&host).ok().flatten() {
        Some(session) => of_session(chart, session),
        None => place::chosen(chart, about).ok(),
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
