//! The charts that a command is about: those that the command line names, or the project's own. `taskie chart print` prints them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::chart::choice::{CHARTS, Choice, Embedded};
use crate::chart::extend::Extended;
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::disk;
use crate::page::Page;
use crate::project::{home, trust};

/// The charts that a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct Charts {
    /// Chart files, or - for stdin [default: the chart of --chart, else the project's own, else all embedded charts]
    pub(super) file: Vec<PathBuf>,
}

impl Charts {
    /// Returns those that are compiled in, and files. `named` is the chart of `--chart`.
    pub(super) fn chosen(&self, named: Option<&str>) -> (Vec<&'static Embedded>, Vec<PathBuf>) {
        match named.map(|name| Choice::of(Some(name))) {
            _ if !self.file.is_empty() => (Vec::new(), self.file.clone()),
            Some(Choice::Embedded(chart)) => (vec![chart], Vec::new()),
            Some(Choice::File(path)) => (Vec::new(), vec![path.to_owned()]),
            None => match own_chart() {
                Some(path) => (Vec::new(), vec![path]),
                None => (CHARTS.iter().collect(), Vec::new()),
            },
        }
    }
}

/// Returns the project's own chart, whether or not the user trusts it.
fn own_chart() -> Option<PathBuf> {
    let cwd = std::env::current_dir().ok()?;
    let home = CHARTS[0].home();
    let root = home::project_root(&cwd, home)?;
    let path = root.join(home).join(trust::CHART);
    let path = path.strip_prefix(&cwd).map_or(path.clone(), Path::to_owned);
    path.is_file().then_some(path)
}

/// Prints charts with what they extend.
pub(super) fn print(named: Option<&str>, charts: &Charts) -> Result<Output, CliError> {
    let (embedded, files) = charts.chosen(named);
    let charts = embedded.iter();
    let mut charts: Vec<(String, String)> =
        charts.map(|chart| (chart.id.to_owned(), chart.text.to_owned())).collect();
    for file in &files {
        let chart = read(file).map(|(origin, text, _)| (origin, text));
        let shown = file.display().to_string();
        charts.push(chart.map_err(CliError::because(shown))?);
    }
    let mut page = Page::default();
    for (origin, text) in &charts {
        let extended = Extended::of(origin, text);
        if !extended.flaws.is_empty() {
            return Err(CliError::Chart(extended.error(extended.flaws.clone())));
        }
        page.say(extended.printed().trim_end());
    }
    Ok(Output::of(page))
}

/// Returns a chart's name, its text, and the folder that contains its template folders.
pub(super) fn read(file: &Path) -> std::io::Result<(String, String, PathBuf)> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text)?;
        return Ok(("stdin".to_owned(), text, PathBuf::new()));
    }
    let text = disk::named_text(file)?;
    // An empty parent stays empty, so that findings name templates like the chart, without a `./`.
    let beside = file.parent().unwrap_or(Path::new(""));
    Ok((file.display().to_string(), text, beside.to_owned()))
}
