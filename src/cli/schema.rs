//! `taskie schema`: prints the JSON Schemas that editors use.

use clap::ValueEnum;

use crate::chart::Chart;
use crate::chart::schema;
use crate::commands::output::Output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    what: What,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// A chart file
    Statechart,
    /// The chart's state.json
    State,
    /// The chart's config.json
    Config,
}

/// Returns a schema.
pub(crate) fn of(chart: &Chart, args: &Args) -> Output {
    let schema = match args.what {
        What::Statechart => schema::statechart::of_charts(),
        What::State => schema::state::of(chart),
        What::Config => schema::state::of_config(chart),
    };
    // Values of our own making always have a JSON text.
    Output::json_text(serde_json::to_string_pretty(&schema).unwrap_or_default())
}
