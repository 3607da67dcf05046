//! `taskie findings`: lists what reviews found and what became of it. `taskie findings accept`: records what the user decides.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::chart::Chart;
use crate::cli::error::CliError;
use crate::cli::grammar::options::Asking;
use crate::cli::output::{is_reviewer, refuse_agents, say, say_json};
use crate::cli::place;
use crate::diagnostic::quote::quoted;
use crate::hash::IndexMap;
use crate::page::{self, FAINT, Page};
use crate::project::ledger::{self, LedgerEntry};
use crate::reviewer::finding::Ran;
use crate::run::place::Place;
use crate::store::once::CALL;
use crate::text::shown;
use crate::view::facts::Facts;
use crate::view::screen::turn_in_words;
use crate::view::turn::Waits;

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "taskie findings [OPTIONS]\n       taskie findings accept|reject ID --reason WHY"
)]
pub(crate) struct Args {
    /// Decide about a finding; later reviewers will know: accept or reject
    #[arg(requires = "finding", requires = "reason")]
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

/// Prints the findings, the open ones first.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<ExitCode, CliError> {
    if let Some(ruling) = &args.ruling {
        return resolve(chart, args, ruling);
    }
    let place = place::chosen(chart, &args.asking.about)?;
    let snapshot = place.snapshot();
    let mut entries = snapshot.ledger();
    let runs = snapshot.all_runs().into_iter();
    let ran = runs.filter(|run| !run.found.ran.is_empty()).map(|run| (run.file, run.found.ran));
    let ran: IndexMap<String, Vec<Ran>> = ran.collect();
    if args.asking.json {
        let entries = entries.iter().map(|entry| to_json(&place, entry));
        let entries: Vec<Json> = entries.collect();
        say_json(json!({ "findings": entries, "ran": ran }));
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        say("no finding is recorded");
    }
    let words = &chart.findings;
    let states: Vec<&str> = std::iter::once(ledger::OPEN)
        .chain(words.answers.iter().map(String::as_str))
        .chain(words.unanswered.as_deref())
        .chain(words.rulings.values().map(String::as_str))
        .collect();
    let order = |entry: &LedgerEntry| states.iter().position(|state| *state == entry.state);
    entries.sort_by_key(|entry| order(entry).unwrap_or(usize::MAX));
    let reviews = ran.keys().map(|file| file.trim_end_matches(".md"));
    let ids = entries.iter().map(|entry| entry.id.as_str());
    let mut page = Page::labeled(ids.chain(reviews));
    for group in entries.chunk_by(|a, b| a.state == b.state) {
        let Some(first) = group.first() else { continue };
        // What an answer says, no reviewer has confirmed.
        let is_claim = words.answers.contains(&first.state);
        let head = if is_claim { "answered: " } else { "" };
        page.text(FAINT, &format!("{head}{}", shown(&first.state)));
        for entry in group {
            let finding = &entry.finding;
            let of = finding.place().map(|place| format!(", {place}"));
            let why = entry.why.iter().cloned().chain(by(&place, entry));
            let why: Vec<String> = why.collect();
            let why = (!why.is_empty()).then(|| format!(" ({})", why.join("; ")));
            let text = format!(
                "{}{}: {}{}",
                finding.severity,
                of.unwrap_or_default(),
                finding.title,
                why.unwrap_or_default()
            );
            page.row(&shown(&entry.id), &shown(&text));
        }
    }
    if !ran.is_empty() {
        page.text(FAINT, "ran");
    }
    for (file, ran) in &ran {
        let ran = ran.iter().map(|Ran { command, exit }| match exit {
            Some(exit) => format!("{command} (exit {exit})"),
            None => command.clone(),
        });
        page.row(&shown(file.trim_end_matches(".md")), &shown(&ran.collect::<Vec<_>>().join("; ")));
    }
    page.print();
    Ok(ExitCode::SUCCESS)
}

/// Returns who has ruled about a finding, if someone has.
fn by(place: &Place, entry: &LedgerEntry) -> Option<String> {
    let line = entry.ruling.as_ref()?;
    let mut made = ledger::made((&place.store, &*place.instance.name));
    Some(made.swap_remove(line).unwrap_or_else(|| ledger::BY_HAND.to_owned()))
}

fn to_json(place: &Place, entry: &LedgerEntry) -> Json {
    let finding = &entry.finding;
    json!({
        "id": entry.id, "state": entry.state, "why": entry.why, "by": by(place, entry), "severity": finding.severity,
        "file": finding.file, "line": finding.line, "title": finding.title,
    })
}

/// Records a ruling.
fn resolve(chart: &Arc<Chart>, args: &Args, ruling: &str) -> Result<ExitCode, CliError> {
    if is_reviewer() {
        return Ok(ExitCode::SUCCESS);
    }
    let program = format!("{} findings", chart.program());
    refuse_agents("decide", &format!("{program} {ruling}"))?;
    let Some(word) = chart.findings.rulings.get(ruling) else {
        let known: Vec<&str> = chart.findings.rulings.keys().map(String::as_str).collect();
        let message = format!("`{}` is no decision about a finding", shown(ruling));
        return Err(CliError::with_help(message, format!("expected {}", known.join(" or "))));
    };
    let id = args.finding.as_deref().unwrap_or_default();
    let reason = args.reason.as_deref().unwrap_or_default();
    if reason.trim().is_empty() {
        let help = "say in a few words why: reviewers read it";
        return Err(CliError::with_help("the reason is empty", help));
    }
    let place = place::chosen(chart, &args.asking.about)?;
    let entries = place.snapshot().ledger();
    let Some(entry) = entries.iter().find(|entry| entry.id == id) else {
        let help = format!("`{program}` lists the findings");
        return Err(CliError::with_help(format!("there is no finding `{}`", shown(id)), help));
    };
    let is_it = |entry: &LedgerEntry| entry.id == id;
    let call = format!("{program} {ruling} {} --reason {}", quoted(id), quoted(reason));
    place::refuse_ambiguous(&place, &args.asking.about, (id, &call), |other| {
        other.snapshot().ledger().iter().any(is_it)
    })?;
    let by = match page::columns().is_some() {
        true => "in a terminal",
        false => "without a terminal",
    };
    let said = (word.as_str(), reason, by);
    let _lock = place.lock().map_err(CliError::because("the ruling cannot be written"))?;
    let instance = (&place.store, &*place.instance.name);
    ledger::rule(chart, (&place.root, &place.dir()), instance, entry, said)
        .map_err(CliError::because("the ruling cannot be written"))?;
    say(&format!("{} is {word}: later reviewers will know.", entry.id));
    // What stood in the way of a review may not anymore.
    CALL.forget(place.journal());
    let facts = Facts::gather(&place, None);
    if facts.waits == Waits::User && facts.cycle.is_some() {
        say(&turn_in_words(&facts));
    }
    place::name_choice(&place, &args.asking.about);
    Ok(ExitCode::SUCCESS)
}
