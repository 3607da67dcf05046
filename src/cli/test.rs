//! `taskie test FILE…`: plays scenarios in memory, and says what differs from their expectations.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::json;
use walkdir::{DirEntry, WalkDir};

use super::enter;
use super::error::CliError;
use super::output::{WRONG_USAGE, exit, say_json, tell_error};
use crate::chart::Chart;
use crate::page::{self, BAD, GOOD, PLAIN, Page, paint, paint_words};
use crate::receipt::replay::ReceiptReplay;
use crate::receipt::statement::{self, Line};
use crate::scenario::coverage::{Coverage, share};
use crate::scenario::failure::Failure;
use crate::scenario::instance::PlayedInstance;
use crate::scenario::player::Player;
use crate::scenario::script::Script;
use crate::text::shown;

/// Plays the scenarios that the command line names.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    if let Some(files) = matches.get_many::<PathBuf>("journal") {
        let replayed =
            receipts(files).and_then(|files| runs(chart, files, matches.get_flag("json")));
        return Ok(replayed.unwrap_or_else(|error| {
            tell_error(&error);
            ExitCode::from(WRONG_USAGE)
        }));
    }
    let files: Vec<&PathBuf> = matches.get_many("file").into_iter().flatten().collect();
    let mut coverage = Coverage::default();
    let mut page = Page::new(page::width(), "failed  ".len());
    let mut results = Vec::new();
    let mut failed = 0_usize;
    for file in &files {
        let name = file.display().to_string();
        let flaw = match play(chart, file, &mut coverage) {
            Ok(steps) => {
                let steps = page::counted(steps, "step");
                page.styled_row(GOOD, "ok", &format!("{name}  {steps}"));
                None
            }
            Err((failure, shown)) => {
                failed += 1;
                page.styled_row(BAD, "failed", &paint_words(PLAIN, &format!("{name}: {failure}")));
                shown.into_iter().for_each(|line| page.line(line));
                Some(failure.to_string())
            }
        };
        results.push(json!({ "file": name, "ok": flaw.is_none(), "why": flaw }));
    }
    let missing = coverage.missing(chart);
    let code = exit(failed == 0);
    if matches.get_flag("json") {
        let all = Coverage::all(chart).len();
        say_json(json!({
            "chart": chart.id, "scenarios": results,
            "coverage": { "all": all, "covered": all - missing.len(), "missing": missing },
        }));
        return Ok(code);
    }
    page.blank();
    let verdict = match failed {
        0 => paint(GOOD, format!("{} passed", files.len())),
        _ => paint(BAD, format!("{failed} of {} failed", files.len())),
    };
    page.text(PLAIN, &format!("{verdict}; covered: {}", share(chart, missing.len())));
    page.print();
    // After a failure, what is covered says little.
    if failed == 0 {
        uncovered(chart, "Not covered:", &missing).print();
    }
    Ok(code)
}

/// Returns the files of receipts that are meant: those below a folder, or any file that is named itself.
fn receipts<'f>(given: impl Iterator<Item = &'f PathBuf>) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for path in given {
        let below = WalkDir::new(path).sort_by_file_name().into_iter();
        let below = below.flatten().map(DirEntry::into_path);
        let is_run = |file: &PathBuf| file == path || file.ends_with(statement::FILE);
        let before = files.len();
        files.extend(below.filter(|file| file.is_file() && is_run(file)));
        if files.len() == before {
            let message = format!("there is no {} in {}", statement::FILE, path.display());
            let help =
                "name a plan's folder, or its file: it is written when a cycle of reviews ends";
            return Err(CliError::with_help(message, help));
        }
    }
    Ok(files)
}

/// Makes the decisions of real runs again, and prints where this chart would decide otherwise.
fn runs(chart: &Arc<Chart>, files: Vec<PathBuf>, is_json: bool) -> Result<ExitCode, CliError> {
    let mut page = Page::new(page::width(), "differs  ".len());
    let (mut results, mut differing) = (Vec::new(), 0_usize);
    for file in files {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(CliError::because(format!("{name} cannot be read")))?;
        let mut run = ReceiptReplay::with(chart);
        let mut found: Vec<String> = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let read = Line::parse(line).and_then(|line| Ok((line.statement()?, line.sha256)));
            let (statement, sha256) =
                read.map_err(|why| CliError::new(format!("{name}: line {}: {why}", at + 1)))?;
            let differences = run.line(&sha256, &statement.predicate).into_iter();
            found.extend(differences.map(|what| format!("line {}, {what}", at + 1)));
        }
        let decisions = page::counted(run.count, "decision");
        let text = format!("{}  {decisions}", shown(&name));
        match found.is_empty() {
            true => page.styled_row(GOOD, "ok", &text),
            false => {
                differing += 1;
                page.styled_row(BAD, "differs", &text);
                found.iter().for_each(|what| page.row("", &shown(what)));
            }
        }
        results.push(json!({
            "file": name, "ok": found.is_empty(), "decisions": run.count, "differences": found,
        }));
    }
    match is_json {
        true => say_json(json!({ "chart": chart.id, "runs": results })),
        false => page.print(),
    }
    Ok(exit(differing == 0))
}

/// Returns a list of parts of a chart, each with what it is about.
pub(super) fn uncovered(chart: &Chart, heading: &str, places: &[String]) -> Page {
    let labels: Vec<String> = places.iter().map(|place| format!("  {place}")).collect();
    let mut page = Page::labeled(labels.iter().map(String::as_str));
    if !places.is_empty() {
        page.text(PLAIN, heading);
    }
    for (label, place) in labels.iter().zip(places) {
        page.styled_row(PLAIN, label, chart.about(place).unwrap_or_default());
    }
    page
}

/// Plays one scenario, and returns how many steps it has. The error comes with the output of the step that failed.
fn play(
    chart: &Arc<Chart>,
    file: &Path,
    coverage: &mut Coverage,
) -> Result<usize, (Failure, Vec<String>)> {
    let unshown = |failure| (failure, Vec::new());
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| unshown(Failure::Script(error.to_string())))?;
    let script = Script::parse(&text).map_err(unshown)?;
    let instance = PlayedInstance::of(chart, enter::typist(chart), &script).map_err(unshown)?;
    let mut player = Player::new(chart, instance);
    let mut shown: Vec<String> = Vec::new();
    let played = player.play(&script, |player| {
        player.decided.iter().for_each(|decided| coverage.add(decided));
        shown = player.page.take_lines();
    });
    played.map_err(|failure| (failure, shown))?;
    Ok(script.steps.len())
}
