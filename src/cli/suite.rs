//! `taskie check-chart --scenarios DIR`: writes a scenario for each part of a chart that a walk reaches.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::enter;
use super::error::CliError;
use super::test::uncovered;
use crate::lint::Checked;
use crate::page::{self, PLAIN, Page, counted};
use crate::scenario::coverage::share;
use crate::scenario::walk::Author;

/// Refuses a folder in which something would be overwritten, or mixed with what is there.
pub(super) fn is_free(dir: &Path) -> Result<(), CliError> {
    let unusable = |error: io::Error| {
        let message = format!("scenarios cannot be written to {}: {error}", dir.display());
        CliError::with_help(message, "name a new folder")
    };
    match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unusable(error)),
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(CliError::with_help(
                format!("{} is not empty", dir.display()),
                "name a new folder, or remove the files: scenarios are not overwritten",
            )),
        },
    }
}

/// Writes the scenarios of charts, and returns for each what they cover, and what they don't. Each of several charts has
/// a folder of its own.
pub(super) fn write(dir: &Path, charts: &[Checked]) -> Result<Vec<String>, CliError> {
    let mut folders = HashSet::new();
    let folder = |checked: &Checked| match (&checked.chart, charts) {
        (Some(chart), [_, _, ..]) => dir.join(&chart.id),
        _ => dir.to_owned(),
    };
    let known = charts.iter().filter(|checked| checked.chart.is_some());
    if let Some(twin) = known.map(folder).find(|folder| !folders.insert(folder.clone())) {
        return Err(CliError::with_help(
            format!("two charts have their scenarios in {}", twin.display()),
            "give each chart an `id` of its own, or check one at a time",
        ));
    }
    charts.iter().map(|checked| write_one(&folder(checked), checked)).collect()
}

fn write_one(dir: &Path, checked: &Checked) -> Result<String, CliError> {
    let (Some(chart), Some(explored)) = (&checked.chart, &checked.explored) else {
        let origin = &checked.origin;
        return Ok(format!("No scenarios for {origin}: fix the findings first."));
    };
    let author = Author { chart, typist: enter::typist(chart) };
    let mut missing = Vec::new();
    let mut written = 0_usize;
    for (place, walks) in &explored.walks {
        let scenarios = walks.iter();
        let mut scenarios = scenarios.filter_map(|walk| author.scenario(place, walk));
        match scenarios.next() {
            Some(text) => {
                new_file(&dir.join(file_name(place)), &text)?;
                written += 1;
            }
            None => missing.push(place.clone()),
        }
    }
    let mut page = Page::new(page::width(), 0);
    let covered = share(chart, missing.len());
    page.text(
        PLAIN,
        &format!("{} in {}; covered: {covered}", counted(written, "scenario"), dir.display()),
    );
    let missing = uncovered(chart, "No scenario could be written for:", &missing);
    let lines = page.into_lines().into_iter().chain(missing.into_lines());
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns the name of the scenario of a place: `on.Stop[2]` → `on.Stop.2.toml`.
fn file_name(place: &str) -> PathBuf {
    format!("{}.toml", place.replace('[', ".").replace(']', "")).into()
}

fn new_file(path: &Path, text: &str) -> Result<(), CliError> {
    let write = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::File::create_new(path)?.write_all(text.as_bytes())
    };
    write().map_err(CliError::because(format!("{} cannot be written", path.display())))
}
