//! `taskie status --reviews`: lists all instances of a project: where each one is, what its reviews cost, and who drives it.

use std::process::ExitCode;
use std::sync::Arc;

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
use crate::view::progress::progress;
use crate::view::turn::{Turn, Waits};

/// Prints a row for each instance.
pub(crate) fn run(chart: &Arc<Chart>, is_json: bool) -> Result<ExitCode, CliError> {
    let root = place::root(chart)?;
    let what = format!("the {}s cannot be listed", chart.scope.noun);
    let names = find::names(&root, &chart.scope).map_err(CliError::because(what))?;
    let mut rows = Vec::new();
    for name in names {
        match place::existing(chart, &root, &name) {
            Ok(place) => rows.push(row(&place)),
            Err(why) => tell(&format!("taskie: {why}")),
        }
    }
    if is_json {
        let list: Vec<Json> = rows.into_iter().map(|(_, json)| json).collect();
        say_json(json!({ "list": list }));
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        say(&format!("there is no {} yet", chart.scope.noun));
        return Ok(ExitCode::SUCCESS);
    }
    let noun = chart.scope.noun.as_str();
    let head = [noun, "phase", "next", "turn", "done", "reviews", "cost", "driver"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(rows.into_iter().map(|(cells, _)| cells));
    let mut page = Page::new(width(), 0);
    page.table(&lines, 4);
    page.print();
    Ok(ExitCode::SUCCESS)
}

/// Returns the row of an instance, and the same as JSON.
fn row(place: &Place) -> (Vec<String>, Json) {
    let chart = &place.chart;
    let snapshot = place.snapshot();
    let turn = Turn::of(place, &snapshot, &place.journal().read(), None);
    let is_sound = matches!(snapshot.state, Reading::Sound { .. });
    let field = |name| context::text(snapshot.context(), name).filter(|_| is_sound);
    let (phase, next) = (field(Some(&chart.state)), field(chart.next.as_ref()));
    let progress = progress(chart, &snapshot.as_world());
    let figures = Figures::of(chart, place.journal().reviews().iter().map(|review| &review.run));
    let name = &place.instance.name;
    let json = json!({
        chart.scope.noun.as_str(): name, "phase": phase, "due": next, "waits_for": turn.waits,
        "progress": progress, "reviews": figures, "driver": turn.driver,
    });
    let or_none = |text: Option<&str>| shown(text.unwrap_or("-")).into_owned();
    let done = progress.values();
    let done: Vec<String> = done.map(|part| format!("{}/{}", part.done, part.all)).collect();
    let done = Some(done.join(" ")).filter(|done| !done.is_empty());
    let price = (figures.reviews > 0).then(|| figures.price());
    // The start of a session's id is enough to identify it.
    let driver = turn.driver.map(|id| id.chars().take(8).collect::<String>());
    let cells = vec![
        name.clone(),
        or_none(phase),
        or_none(next),
        whose(turn.waits).to_owned(),
        or_none(done.as_deref()),
        figures.reviews.to_string(),
        or_none(price.as_deref()),
        or_none(driver.as_deref()),
    ];
    (cells, json)
}

/// Returns whose turn it is, in one word.
fn whose(waits: Waits) -> &'static str {
    match waits {
        Waits::Review => "review",
        Waits::Session | Waits::Agent | Waits::Stop => "agent",
        Waits::User => "you",
        Waits::Nothing => "-",
    }
}
