//! `taskie upgrade`: prints what is installed and how to update it. It changes nothing.

use std::process::ExitCode;

use super::doctor;
use crate::chart::Chart;
use crate::doctor::installed;

/// Prints each part that is installed, and how to update it.
pub(crate) fn run(chart: &Chart) -> ExitCode {
    let found = installed(chart);
    doctor::page(&found, |found| found.about).print();
    ExitCode::SUCCESS
}
