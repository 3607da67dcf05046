//! `taskie chart test FILE…`: plays scenarios in memory, and says what differs from their expectations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::chart::Chart;
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::page::{self, BAD, GOOD, PLAIN, Page, paint, paint_words};
use crate::scenario::failure::Failure;
use crate::scenario::instance::{PlayedInstance, Typist};
use crate::scenario::player::Player;
use crate::scenario::script::Script;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Scenario files
    #[arg(required = true)]
    file: Vec<PathBuf>,
}

/// Plays the scenarios that the command line names.
pub(crate) fn run(
    chart: &Arc<Chart>,
    args: &Args,
    typist: &Arc<Typist>,
) -> Result<Output, CliError> {
    let files = &args.file;
    let mut page = Page::new(page::width(), "failed  ".len());
    let mut failed = 0_usize;
    for file in files {
        let name = file.display().to_string();
        match play(chart, typist, file) {
            Ok(steps) => {
                let steps = page::counted(steps, "step");
                page.styled_row(GOOD, "ok", &format!("{name}  {steps}"));
            }
            Err(failure) => {
                failed += 1;
                page.styled_row(BAD, "failed", &paint_words(PLAIN, &format!("{name}: {failure}")));
                if let Failure::Unexpected { details, .. } = &failure {
                    page.row("", details);
                }
            }
        }
    }
    page.blank();
    let verdict = match failed {
        0 => paint(GOOD, format!("{} passed", files.len())),
        _ => paint(BAD, format!("{failed} of {} failed", files.len())),
    };
    page.text(PLAIN, &verdict);
    Ok(Output::of(page).well(failed == 0))
}

/// Plays one scenario, and returns how many steps it has.
fn play(chart: &Arc<Chart>, typist: &Arc<Typist>, file: &Path) -> Result<usize, Failure> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| Failure::Script(error.to_string()))?;
    let script = Script::parse(&text)?;
    let instance = PlayedInstance::of(chart, Arc::clone(typist), &script)?;
    let mut player = Player::new(chart, instance);
    player.play(&script, |_, _, _| {})?;
    Ok(script.steps.len())
}
