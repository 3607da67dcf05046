//! `taskie log`: prints what happened to an instance, newest first, or explains a stop.

use std::sync::Arc;

use clap::value_parser;
use serde_json::Value as Json;

use crate::chart::Chart;
use crate::commands::about::About;
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::commands::place;
use crate::page::usd;
use crate::run::recovery::lost;
use crate::store::journal::Line;
use crate::view::timeline::{explained, timeline};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Explain a stop, rule by rule: 1, the last one [default], 2, …
    #[arg(
        long, value_name = "STOP", num_args = 0..=1, default_missing_value = "1", conflicts_with = "json",
        value_parser = value_parser!(u16).range(1..)
    )]
    why: Option<u16>,
    /// Print the lines of the journal, one JSON object each, oldest first
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    about: About,
}

/// Prints the journal of the instance, or explains a stop.
pub(crate) fn run(chart: &Arc<Chart>, args: &Args) -> Result<Output, CliError> {
    let place = place::chosen(chart, &args.about)?;
    if let Some(n) = args.why {
        let help = format!("`{} status` shows what the next one does", chart.program());
        let page = explained(&place, n.into()).map_err(|why| CliError::with_help(why, help))?;
        return Ok(Output::of(page));
    }
    let mut lines = place.journal().read();
    lines.extend(lost(&place).map(Line::Review));
    if args.json {
        let lines: Vec<String> = lines.iter().filter_map(in_json).collect();
        return Ok(Output::json_text(lines.join("\n")));
    }
    if lines.is_empty() {
        let (noun, name) = (chart.scope.noun(), &place.instance.name);
        return Ok(Output::text(&format!("nothing is recorded about {noun} `{name}`")));
    }
    Ok(Output::of(timeline(&place.chart, &lines)))
}

/// Returns a line as JSON, for programs: the cost is in dollars there.
fn in_json(line: &Line) -> Option<String> {
    let mut json = serde_json::to_value(line).ok()?;
    if let Some(fields) = json.as_object_mut()
        && let Some(cost) = fields.shift_remove("cost")
    {
        let cost = cost.as_u64().map_or(Json::Null, usd);
        fields.insert("cost_usd".to_owned(), cost);
    }
    Some(json.to_string())
}
