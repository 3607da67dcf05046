//! `taskie report`: writes a page about an instance, for a browser, or prints what a pull request needs.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;

use super::error::CliError;
use super::output::{Target, say};
use super::place;
use crate::chart::Chart;
use crate::page::print;
use crate::text::shown;
use crate::view::facts::Facts;
use crate::view::pull_request::pull_request;
use crate::view::report::page;

/// Writes the page, or prints the text.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let session = place::session(matches)?;
    let target = Target::of(matches, "html")?;
    let place = place::chosen(chart, matches)?;
    let facts = Facts::gather(&place, session.as_deref());
    let Some(target) = target else {
        print([pull_request(&place, &facts, &place.snapshot().ledger())]);
        return Ok(ExitCode::SUCCESS);
    };
    target.write(&page(&place, &facts))?;
    say(&format!("wrote {}", shown(&target.path().to_string_lossy())));
    Ok(ExitCode::SUCCESS)
}
