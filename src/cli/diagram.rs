//! `taskie diagram`: the chart as a picture, with the path of an instance if one is named.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::Value as Json;

use super::error::CliError;
use super::output::say;
use super::place;
use crate::chart::Chart;
use crate::diagram::Format;
use crate::diagram::picture::Picture;
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::store::journal::Line;

/// Prints the picture.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let format = matches.get_one::<String>("format");
    let format = format.and_then(|name| Format::named(name));
    let format = format.ok_or_else(|| CliError::new("unknown format"))?;
    let picture = if place::is_named(matches) {
        of_instance(&place::chosen(chart, matches)?)
    } else {
        Picture::of(chart)
    };
    say(format.write(&picture).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Returns the chart with the path of an instance.
pub(super) fn of_instance(place: &Place) -> Picture {
    let chart = &place.chart;
    let mut picture = Picture::of(chart);
    let path = path(place);
    picture.follow(&path);
    picture.caption = Some(match path.last() {
        Some(phase) => format!("{} {}: {phase}", chart.scope.noun, place.instance.name),
        None => format!("{} {}: not started", chart.scope.noun, place.instance.name),
    });
    picture
}

/// Returns the phases that an instance has been in, according to the journal, and the current one.
fn path(place: &Place) -> Vec<String> {
    let phase = &place.chart.state;
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let mut path: Vec<String> = Vec::new();
    let lines = place.journal().read().into_iter();
    for decided in lines.filter_map(Line::into_decision) {
        if let Some([old, new]) = decided.changed.get(phase) {
            if path.is_empty() {
                path.extend(text(old));
            }
            path.extend(text(new));
        }
    }
    let snapshot = place.snapshot();
    if let Reading::Sound { context, .. } = &snapshot.state {
        let current = context.get(phase).and_then(text);
        path.extend(current.filter(|current| path.last() != Some(current)));
    }
    path
}
