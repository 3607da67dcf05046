//! `taskie status`: shows the current phase, what it waits for, and what the next stop does. It only reads.

use std::io::{IsTerminal as _, Read as _};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::chart::Chart;
use crate::commands::about::{About, Asking};
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::commands::place;
use crate::files::json;
use crate::host::events::session_of;
use crate::page::Page;
use crate::project::find::{self, Instance};
use crate::project::home;
use crate::run::place::Place;
use crate::store::Store;
use crate::store::journal::{self, Line, ReviewLine};
use crate::view::facts::Facts;
use crate::view::figures::Totals;
use crate::view::{line, list, screen};

/// The most bytes of what a host says about the session.
const MOST: u64 = 1024 * 1024;

/// How long it may take to say it.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A verdict is shown if this machine ran the review and the file has not changed since; `?` means \
    unknown.\ndocs/commands.md describes the JSON."
)]
pub(crate) struct Args {
    #[command(flatten)]
    asking: Asking,
    /// List all plans and changes: progress, whose turn it is, cost
    #[arg(long, group = "what")]
    all: bool,
    /// Sum up the reviews: verdicts, time and cost
    #[arg(long, group = "what")]
    cost: bool,
    /// Print one short line for a status line; the session can come as JSON on stdin
    #[arg(long, group = "what", conflicts_with = "json")]
    line: bool,
}

/// Returns the situation of the instance.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    let Asking { json, about } = &args.asking;
    if args.line {
        return Ok(line(chart, about));
    }
    if args.all {
        return all(chart, *json);
    }
    if args.cost {
        return cost(chart, about.name().map(String::as_str), *json);
    }
    let session = place::session(&about.of)?;
    let place = place::chosen(chart, about)?;
    let facts = Facts::gather(&place, session.as_deref());
    Ok(match json {
        true => Output::json(screen::json(&facts)),
        false => Output::of(screen::screen(&facts)),
    })
}

/// Returns a row for each plan and each change, or for each instance of a chart that the command line names.
fn all(chart: &Arc<Chart>, is_json: bool) -> Result<Output, CliError> {
    let cwd = place::cwd()?;
    let changes = place::changes_at(&cwd).filter(|_| chart.is_default);
    let (mut page, mut all) = (Page::default(), Vec::new());
    for chart in std::iter::once(Arc::clone(chart)).chain(changes) {
        let Some(root) = home::project_root(&cwd, &chart.scope.home) else { continue };
        let noun = chart.scope.noun();
        let names = find::names(&root, &chart.scope);
        let names = names.map_err(CliError::because(format!("the {noun}s cannot be listed")))?;
        // Each is only looked at, so it may be anybody's.
        let folder = find::folder(&chart.scope);
        let places = names.into_iter().map(|name| {
            let instance = Instance { dir: folder.join(&name), name };
            Place::new(Arc::clone(&chart), root.clone(), instance)
        });
        let (mut rows, list): (Vec<Vec<String>>, Vec<Json>) =
            places.map(|place| list::row(&place)).unzip();
        if !rows.is_empty() {
            rows.insert(0, [noun].into_iter().chain(list::HEAD).map(str::to_owned).collect());
            page.table(&rows, 3);
        }
        all.extend(list);
    }
    Ok(match is_json {
        true => Output::json(json!({ "list": all })),
        false if all.is_empty() => Output::text("nothing is under review here yet"),
        false => Output::of(page),
    })
}

/// Returns what the reviews have cost; with a name, those of `only` this instance.
fn cost(chart: &Arc<Chart>, only: Option<&str>, is_json: bool) -> Result<Output, CliError> {
    let store = Store::of(&place::root(chart)?, &chart.scope.home);
    let lines = journal::read_all(&store).into_iter();
    let reviews = lines.filter_map(|line| match line {
        Line::Review(review) => Some(review),
        Line::Decision(_) | Line::Gate(_) => None,
    });
    let is_meant = |review: &ReviewLine| only.is_none_or(|only| review.run.instance == only);
    let reviews: Vec<ReviewLine> = reviews.filter(is_meant).collect();
    let totals = Totals::of(&reviews);
    Ok(match is_json {
        true => Output::json(json!(totals)),
        false => Output::of(totals.page()),
    })
}

/// Returns one line about the instance of the session that a host describes on stdin, or nothing.
fn line(chart: &Arc<Chart>, about: &About) -> Output {
    let host = json::parse(&described()).unwrap_or_default();
    if let Some(cwd) = host["cwd"].as_str() {
        // Else it is the directory in which the host has started this.
        let _ = std::env::set_current_dir(cwd);
    }
    let place = match session_of(&host).ok().flatten() {
        Some(session) => place::of_claim(chart, session),
        None => place::chosen(chart, about).ok(),
    };
    // What a session has claimed may be gone.
    let place = place.filter(|place| place.dir().is_dir());
    place.map_or_else(Output::default, |place| Output::text(&line::line(&place)))
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
        // What was read up to an error may still name the session.
        let _ = std::io::stdin().lock().take(MOST).read_to_end(&mut text);
        // Nobody may wait for it anymore.
        let _ = sender.send(text);
    });
    receiver.recv_timeout(PATIENCE).unwrap_or_default()
}
