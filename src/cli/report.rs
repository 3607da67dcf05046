//! `taskie report`: prints what a pull request needs.

use std::process::ExitCode;
use std::sync::Arc;

use super::error::CliError;
use super::grammar::options::About;
use super::place;
use crate::chart::Chart;
use crate::page::print;
use crate::view::facts::Facts;
use crate::view::pull_request::pull_request;

/// Prints the text.
pub(crate) fn run(chart: &Arc<Chart>, about: &About) -> Result<ExitCode, CliError> {
    let session = place::session(&about.of)?;
    let place = place::chosen(chart, about)?;
    let facts = Facts::gather(&place, session.as_deref());
    print([pull_request(&place, &facts, &place.snapshot().ledger())]);
    Ok(ExitCode::SUCCESS)
}
