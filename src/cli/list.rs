//! `taskie list`: lists all instances of a project: where each one is, what its reviews cost, and who drives it.

use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Value as Json, json};

use crate::chart::Chart;
use crate::cli::error::CliError;
use crate::cli::output::{say, say_json, tell};
use crate::cli::place;
use crate::engine::context;
use crate::page::{Page, width};
use crate::project::find;
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::text::shown;
use crate::view::figures::Figures;
use crate::view::progress::{Progress, progress, progress_json};
use crate::view::turn::{Turn, Waits};

/// Prints a row for each instance.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let root = place::root(chart)?;
    let what = format!("the {}s cannot be listed", chart.scope.noun);
    let names = find::names(&root, &chart.scope).map_err(CliError::because(what))?;
    if matches.get_flag("names") {
        names.iter().for_each(|name| say(name));
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for name in names {
        match place::existing(chart, &root, &name) {
            Ok(place) => rows.push(Row::of(&place)),
            Err(why) => tell(&format!("taskie: {why}")),
        }
    }
    if matches.get_flag("json") {
        let list: Vec<Json> = rows.iter().map(|row| row.to_json(chart)).collect();
        say_json(json!({ "list": list }));
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        say(&format!("there is no {} yet", chart.scope.noun));
        return Ok(ExitCode::SUCCESS);
    }
    let noun = chart.scope.noun.as_str();
    let head = [
        noun, "phase", "next", "turn", "done", "reviews", "cost", "driver",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(Row::cells));
    let mut page = Page::new(width(), 0);
    page.table(&lines, 4);
    page.print();
    Ok(ExitCode::SUCCESS)
}

/// An instance.
struct Row {
    name: String,
    /// `None` if there is no usable state.
    phase: Option<String>,
    next: Option<String>,
    waits: Waits,
    progress: Vec<Progress>,
    figures: Figures,
    driver: Option<String>,
}

impl Row {
    fn of(place: &Place) -> Self {
        let chart = &place.chart;
        let snapshot = place.snapshot();
        let turn = Turn::of(place, &snapshot, &place.journal().read(), None);
        let is_sound = matches!(snapshot.state, Reading::Sound { .. });
        let field = |name: Option<&String>| {
            let value = context::text(snapshot.context(), name).filter(|_| is_sound);
            value.map(str::to_owned)
        };
        Self {
            name: place.instance.name.clone(),
            phase: field(Some(&chart.state)),
            next: field(chart.next.as_ref()),
            progress: progress(chart, &snapshot.as_world()),
            figures: Figures::of(chart, place.reviews().iter().map(|review| &review.run)),
            waits: turn.waits,
            driver: turn.driver,
        }
    }

    fn cells(&self) -> Vec<String> {
        let or_none = |text: &Option<String>| shown(text.as_deref().unwrap_or("-")).into_owned();
        let done = self.progress.iter();
        let done = done.map(|part| format!("{}/{}", part.done, part.all));
        let done = Some(done.collect::<Vec<_>>().join(" ")).filter(|done| !done.is_empty());
        let price = (self.figures.reviews > 0).then(|| self.figures.price());
        // The start of a session's id is enough to identify it.
        let driver = self.driver.as_ref().map(|id| id.chars().take(8).collect());
        vec![
            self.name.clone(),
            or_none(&self.phase),
            or_none(&self.next),
            whose(self.waits).to_owned(),
            or_none(&done),
            self.figures.reviews.to_string(),
            or_none(&price),
            or_none(&driver),
        ]
    }

    fn to_json(&self, chart: &Chart) -> Json {
        json!({
            chart.scope.noun.as_str(): self.name, "phase": self.phase, "due": self.next, "waits_for": self.waits,
            "progress": progress_json(&self.progress), "reviews": self.figures, "driver": self.driver,
        })
    }
}

/// Returns whose turn it is, in one word.
fn whose(waits: Waits) -> &'static str {
    match waits {
        Waits::Review => "review",
        Waits::Limit => "limit",
        Waits::Session | Waits::Agent | Waits::Stop => "agent",
        Waits::User => "you",
        Waits::Nothing => "-",
    }
}
