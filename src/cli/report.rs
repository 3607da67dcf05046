//! `taskie report`: writes a page about an instance, for a browser.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;

use super::error::CliError;
use super::output::{Target, say};
use super::place;
use crate::chart::Chart;
use crate::text::shown;
use crate::view::facts::Facts;
use crate::view::report::page;

/// Writes the page.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let session = place::session(matches)?;
    let Some(target) = Target::of(matches, "html")? else {
        return Err(CliError::new("no file is named"));
    };
    let place = place::chosen(chart, matches)?;
    let facts = Facts::gather(&place, session.as_deref());
    target.write(&page(&place, &facts))?;
    say(&format!(
        "wrote {}",
        shown(&target.path().to_string_lossy())
    ));
    Ok(ExitCode::SUCCESS)
}
