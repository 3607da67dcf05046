//! `taskie config trust`: shows what this project could run, and stores the user's consent.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use crate::chart::Chart;
use crate::chart::choice::{CHARTS, Choice};
use crate::commands::error::CliError;
use crate::commands::output::{Output, of_reviewer, refuse_agents, say, tell};
use crate::commands::place;
use crate::host::events::REVIEWER;
use crate::project::home;
use crate::project::settings;
use crate::project::trust::{self, OwnChart, Part, TrustedPart};
use crate::text::{shown, shown_lines};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Allow it without asking
    #[arg(long)]
    yes: bool,
    /// Withdraw your consent
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
}

/// Asks the user about everything in the project that needs trust.
pub(super) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    if let Some(nothing) = of_reviewer() {
        return Ok(nothing);
    }
    let cwd = place::cwd()?;
    let home = CHARTS[0].home();
    let Some(root) = home::project_root(&cwd, home) else {
        let none = place::no_home(home, &cwd);
        return Ok(Output::text(&format!("Nothing needs trust: {none}.")));
    };
    if args.revoke {
        let was = trust::forget(&root).map_err(CliError::new)?;
        return Ok(Output::text(match was {
            true => "Nothing in this project is trusted anymore.",
            false => "Nothing in this project was trusted.",
        }));
    }
    let own = trust::chart_parts(&root).map_err(CliError::new)?;
    // The project's own chart has settings of its own.
    let path = root.join(home).join(trust::CHART);
    let own_chart = match own.is_empty() {
        true => None,
        false => Some(Choice::File(&path).load()?),
    };
    let chart = own_chart.as_ref().unwrap_or(chart);
    let settings = settings::read(chart, &root, None)
        .map_err(|why| CliError::with_help(why, "fix the file"))?;
    let lists = [(TrustedPart::Chart, own), (TrustedPart::Settings, settings.asked)];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return Ok(Output::text("This project contains nothing that needs trust."));
    }
    let is_trusted = lists
        .iter()
        .all(|(subject, list)| list.is_empty() || trust::is_trusted(&root, *subject, list));
    if !is_trusted {
        refuse_agents("agree", "taskie config trust")?;
    }
    for Part { name, content } in lists.iter().flat_map(|(_, list)| list) {
        // Invisible and harmful characters are escaped.
        say(&format!("── {} ──", shown(name)));
        say(&shown_lines(&String::from_utf8_lossy(content).replace("\r\n", "\n")));
    }
    if is_trusted {
        return Ok(Output::text("All of this is already trusted."));
    }
    if !args.yes && !agrees()? {
        return Ok(Output::text("Nothing was changed.").well(false));
    }
    let file = trust::keep(&root, &lists).map_err(CliError::new)?;
    Ok(Output::text(&format!("Trusted on this machine ({}).", file.display())))
}

fn agrees() -> Result<bool, CliError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::with_help(
            "there is nobody to ask: stdin is not a terminal",
            "run `taskie config trust` in a terminal, or `taskie config trust --yes` after you have read the text above",
        ));
    }
    let mut out = std::io::stderr().lock();
    // If the terminal is gone, there is no answer, which counts as a no.
    let _ = write!(out, "Allow all of this on this machine? [y/N] ").and_then(|()| out.flush());
    let mut answer = String::new();
    stdin.read_line(&mut answer).map_err(CliError::because("the answer cannot be read"))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes" | "Yes"))
}

/// Commands that are about this machine and decide nothing.
const HARMLESS: [&str; 4] = ["config", "demo", "doctor", "schema"];

/// Returns the project's own chart if the user trusts it. Says so if it is ignored. If it has changed, a `command` that
/// needs a chart is refused.
pub(super) fn own_chart(command: Option<&str>) -> Result<Option<PathBuf>, CliError> {
    let is_harmless = command.is_none_or(|command| HARMLESS.contains(&command))
        || std::env::var_os(REVIEWER).is_some();
    match here() {
        OwnChart::Absent => Ok(None),
        OwnChart::Trusted(path) => Ok(Some(path)),
        OwnChart::Changed(why) if !is_harmless => Err(CliError::new(why)),
        OwnChart::Ignored(why) | OwnChart::Changed(why) => {
            tell(&format!("taskie: {why}"));
            Ok(None)
        }
    }
}

/// Returns why no chart decides in this project: the user trusts its own chart in another form.
pub(super) fn refused() -> Option<String> {
    match here() {
        OwnChart::Changed(why) => Some(why),
        _ => None,
    }
}

/// Returns the own chart of the project of the working directory.
fn here() -> OwnChart {
    let root = std::env::current_dir().ok();
    let root = root.and_then(|cwd| home::project_root(&cwd, CHARTS[0].home()));
    root.map_or(OwnChart::Absent, |root| trust::own_chart(&root))
}
