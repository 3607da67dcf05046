//! `taskie findings`: lists what reviews found, and how each finding was answered. `taskie findings accept`: records what the user decides.

use std::sync::Arc;

use crate::chart::Chart;
use crate::commands::about::{Asking, words};
use crate::commands::error::CliError;
use crate::commands::output::{Output, of_reviewer, refuse_agents};
use crate::commands::place;
use crate::page::Page;
use crate::project::ledger;
use crate::reviewer::finding::RULINGS;
use crate::run::place::Place;
use crate::text::shown;
use crate::view::facts::Facts;
use crate::view::findings;
use crate::view::screen::turn_in_words;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "taskie findings [OPTIONS]\n       taskie findings accept|reject ID --reason WHY"
)]
pub(crate) struct Args {
    /// Say that a finding is right and will be fixed (accept), or wrong (reject): later reviewers will know
    #[arg(requires = "finding", requires = "reason", value_parser = words(RULINGS.map(|(own, _)| own)))]
    ruling: Option<String>,
    /// The finding, as `findings` shows it
    #[arg(value_name = "ID")]
    finding: Option<String>,
    /// Why, for the reviewers
    #[arg(long, value_name = "WHY", requires = "ruling")]
    reason: Option<String>,
    #[command(flatten)]
    asking: Asking,
}

/// Returns the findings, or records a ruling.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    if let Some(ruling) = &args.ruling {
        return rule(chart, args, ruling);
    }
    let place = place::chosen(chart, &args.asking.about)?;
    let entries = place.snapshot().ledger();
    Ok(match args.asking.json {
        true => Output::json(findings::json(&entries)),
        false => Output::of(findings::page(entries)),
    })
}

/// Records a ruling.
fn rule(chart: &Arc<Chart>, args: &Args, ruling: &str) -> Result<Output, CliError> {
    if let Some(nothing) = of_reviewer() {
        return Ok(nothing);
    }
    let program = format!("{} findings", chart.program());
    refuse_agents("decide", &format!("{program} {ruling}"))?;
    let word = RULINGS.into_iter().find(|(own, _)| *own == ruling);
    let word = word.map_or(ruling, |(_, word)| word);
    let id = args.finding.as_deref().unwrap_or_default();
    let reason = args.reason.as_deref().unwrap_or_default();
    if reason.trim().is_empty() {
        let help = "say in a few words why: reviewers read it";
        return Err(CliError::with_help("the reason is empty", help));
    }
    let about = &args.asking.about;
    let place = place::chosen(chart, about)?;
    let has_it = |place: &Place| place.snapshot().ledger().iter().any(|entry| entry.id == id);
    place::refuse_several(&place, about, &format!("{program} {ruling} {}", shown(id)), has_it)?;
    let entries = place.snapshot().ledger();
    let Some(entry) = entries.iter().find(|entry| entry.id == id) else {
        let (id, option) = (shown(id), place.option());
        let message = format!("there is no finding `{id}`");
        return Err(CliError::with_help(message, format!("`{program} {option}` lists them")));
    };
    let _lock = place.lock().map_err(CliError::because("the ruling cannot be written"))?;
    ledger::rule(&place.root, &place.dir(), entry, (word, reason))
        .map_err(CliError::because("the ruling cannot be written"))?;
    let mut page = Page::default();
    page.say(&format!("{} is {word}: later reviewers will know.", entry.id));
    let facts = Facts::gather(&place, None);
    if facts.cycle.is_some() {
        page.say(&turn_in_words(&facts));
    }
    Ok(Output::of(page))
}
