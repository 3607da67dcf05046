//! `taskie report`: prints what a pull request needs.

use std::sync::Arc;

use crate::chart::Chart;
use crate::commands::about::About;
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::commands::place;
use crate::view::facts::Facts;
use crate::view::pull_request::pull_request;

/// Returns the text.
pub(crate) fn run(chart: &Arc<Chart>, about: &About) -> Result<Output, CliError> {
    let session = place::session(&about.of)?;
    let place = place::chosen(chart, about)?;
    let facts = Facts::gather(&place, session.as_deref());
    Ok(Output::text(&pull_request(&place, &facts, &place.snapshot().ledger())))
}
