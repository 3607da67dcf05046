//! `taskie chart draw`: the chart as a picture, with the path of an instance if one is named.

use std::process::ExitCode;
use std::sync::Arc;

use super::error::CliError;
use super::grammar::options::About;
use super::output::say;
use super::place;
use crate::chart::Chart;
use crate::diagram::mermaid;
use crate::diagram::picture::Picture;
use crate::view::path::of_instance;

/// Prints the picture.
pub(crate) fn run(chart: &Arc<Chart>, about: &About) -> Result<ExitCode, CliError> {
    let picture = if about.instance.is_some() || about.of.session.is_some() {
        of_instance(&place::chosen(chart, about)?)
    } else {
        Picture::of(chart)
    };
    say(&mermaid(&picture));
    Ok(ExitCode::SUCCESS)
}
