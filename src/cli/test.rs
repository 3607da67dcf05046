//! `taskie chart test FILE…`: plays scenarios in memory, and says what differs from their expectations.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::json;

use super::enter::Typist;
use super::error::CliError;
use super::output::{exit, say_json};
use crate::chart::Chart;
use crate::page::{self, BAD, GOOD, PLAIN, Page, paint, paint_words};
use crate::scenario::coverage::{Coverage, share};
use crate::scenario::failure::Failure;
use crate::scenario::instance::PlayedInstance;
use crate::scenario::player::Player;
use crate::scenario::script::Script;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scenario files
    #[arg(required = true)]
    file: Vec<PathBuf>,
    /// Print one JSON object, for programs
    #[arg(long)]
    json: bool,
}

/// Plays the scenarios that the command line names.
pub(crate) fn run(
    chart: &Arc<Chart>,
    args: &Args,
    typist: &Arc<Typist>,
) -> Result<ExitCode, CliError> {
    let files = &args.file;
    let mut coverage = Coverage::default();
    let mut page = Page::new(page::width(), "failed  ".len());
    let mut results = Vec::new();
    let mut failed = 0_usize;
    for file in files {
        let name = file.display().to_string();
        let flaw = match play(chart, typist, file, &mut coverage) {
            Ok(steps) => {
                let steps = page::counted(steps, "step");
                page.styled_row(GOOD, "ok", &format!("{name}  {steps}"));
                None
            }
            Err(failure) => {
                failed += 1;
                page.styled_row(BAD, "failed", &paint_words(PLAIN, &format!("{name}: {failure}")));
                if let Failure::Unexpected { details, .. } = &failure {
                    page.row("", details);
                }
                Some(failure.to_string())
            }
        };
        results.push(json!({ "file": name, "ok": flaw.is_none(), "why": flaw }));
    }
    let missing = coverage.missing(chart);
    let code = exit(failed == 0);
    if args.json {
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
        uncovered(chart, &missing).print();
    }
    Ok(code)
}

/// Returns the parts of a chart that no scenario has used, each with what it is about.
fn uncovered(chart: &Chart, places: &[String]) -> Page {
    let labels: Vec<String> = places.iter().map(|place| format!("  {place}")).collect();
    let mut page = Page::labeled(labels.iter().map(String::as_str));
    if !places.is_empty() {
        page.text(PLAIN, "Not covered:");
    }
    for (label, place) in labels.iter().zip(places) {
        page.styled_row(PLAIN, label, chart.about(place).unwrap_or_default());
    }
    page
}

/// Plays one scenario, and returns how many steps it has.
fn play(
    chart: &Arc<Chart>,
    typist: &Arc<Typist>,
    file: &Path,
    coverage: &mut Coverage,
) -> Result<usize, Failure> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Failure::Script(error.to_string()))?;
    let script = Script::parse(&text)?;
    let instance = PlayedInstance::of(chart, Arc::clone(typist), &script)?;
    let mut player = Player::new(chart, instance);
    player.play(&script, |player, _, _| {
        player.decided.iter().for_each(|decided| coverage.add(decided));
    })?;
    Ok(script.steps.len())
}
