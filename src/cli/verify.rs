//! `taskie verify`: says whether what is here is what was reviewed, and prints the receipts.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::chart::Chart;
use crate::chart::known::RECEIPTS;
use crate::commands::error::{CliError, WRONG_USAGE};
use crate::commands::output::Output;
use crate::commands::place::{changes_at, cwd, existing};
use crate::page::{self, Page, counted, paint_words};
use crate::project::change::{self, Trees, Unknown};
use crate::project::{find, home};
use crate::receipt::statement::Receipt;
use crate::receipt::verify::{Receipts, Verified};
use crate::run::write::add_receipts;
use crate::store::git_dir;
use crate::text::shown;

/// The exit code if there is no receipt.
const NO_RECEIPT: u8 = 3;

/// How many files and flaws are named.
const MOST: usize = 20;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 verified, 1 not, 2 wrong usage or too little history, 3 no receipt here"
)]
pub(crate) struct Args {
    /// The commits to look at, such as main..HEAD [default: what differs here from the default branch]
    range: Option<String>,
    /// Print the receipts: who reviewed what, and with what result
    #[arg(long, conflicts_with = "range")]
    receipts: bool,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
}

/// Returns what was found.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    let (cwd, scope) = (cwd()?, &chart.scope);
    let root = home::project_root(&cwd, &scope.home);
    let root = root.or_else(|| Some(git_dir::around(&cwd)?.top)).unwrap_or(cwd);
    catch_up(chart, &root);
    let receipts = Receipts::of(&root, scope);
    if receipts.all.is_empty() {
        let message = "there is nothing to verify with yet: no review has been clean in this clone";
        let help = format!(
            "`taskie review` reviews a change; with the setting `{RECEIPTS}`, the receipts of plans come with a clone"
        );
        return Err(CliError::with_help(message, help).with_code(NO_RECEIPT));
    }
    if args.receipts {
        return Ok(match args.json {
            true => Output::json(json!({ "receipts": receipts.all })),
            false => Output::of(listed(&receipts.all)),
        });
    }
    let trees = Trees::of(&root, scope, None);
    let changed = change::in_range(&trees, args.range.as_deref());
    let changed = changed.map_err(|Unknown { message, help }| {
        CliError::with_help(message, help).with_code(WRONG_USAGE)
    })?;
    let verified = receipts.verify(&git_dir::around(&root).map_or(root, |tree| tree.top), &changed);
    let output = match args.json {
        true => Output::json(verified.json()),
        false => Output::of(page(&verified)),
    };
    Ok(output.well(verified.is_clean()))
}

/// Adds the receipts that processes which were killed have left out.
fn catch_up(chart: &Arc<Chart>, root: &Path) {
    let changes = changes_at(root);
    for chart in changes.iter().chain([chart]) {
        for name in find::names(root, &chart.scope).unwrap_or_default() {
            if let Ok(place) = existing(chart, root, &name) {
                // What cannot be added is not verified.
                let _ = add_receipts(&place);
            }
        }
    }
}

/// Returns the result for people.
fn page(verified: &Verified) -> Page {
    let mut page = Page::new(page::width(), 2);
    let files = counted(verified.files, "changed file");
    if verified.files == 0 && verified.is_clean() {
        page.say("Nothing differs there.");
        return page;
    }
    page.styled(&match verified.is_clean() {
        true => format!(
            "{}: {files}, exactly as clean reviews have read them",
            paint_words(page::GOOD, "verified")
        ),
        false => format!("{}: {files}", paint_words(page::BAD, "not verified")),
    });
    let unread = verified.unread.iter();
    let unread = unread
        .map(|file| format!("{}: no clean review has read all that differs in it", shown(file)));
    let lines: Vec<String> = unread.chain(verified.flaws.iter().cloned()).collect();
    lines.iter().take(MOST).for_each(|line| page.row("", line));
    if lines.len() > MOST {
        page.row("", &format!("and {} more: --json has all", lines.len() - MOST));
    }
    page
}

/// Returns the receipts for people.
fn listed(receipts: &[Receipt]) -> Page {
    let mut page = Page::new(page::width(), 2);
    for receipt in receipts {
        let day = receipt.at.get(..10).unwrap_or_default();
        let name = receipt.instance.file_name().unwrap_or_default().to_string_lossy();
        let what = format!("{} {}: {}", shown(&name), shown(&receipt.cycle), shown(&receipt.ended));
        page.styled(&format!("{day} {}", paint_words(page::STRONG, &what)));
        for review in &receipt.reviews {
            let by = shown(review.by.as_deref().unwrap_or("a reviewer"));
            let found = counted(review.findings, "finding");
            let result = match &review.verdict {
                Some(verdict) => format!("{verdict} by {by}, {found}"),
                None => format!("failed, or did not count, by {by}"),
            };
            page.row("", &format!("{}. {result}", review.n));
        }
        receipt.changed().iter().for_each(|changed| page.row("", changed));
    }
    page
}
