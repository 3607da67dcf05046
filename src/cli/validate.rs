//! `taskie validate`: runs the chart's checks by hand. It only reads.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::error::CliError;
use super::grammar::options::Asking;
use super::output::{exit, say, say_json};
use super::place;
use crate::chart::Chart;
use crate::project::state_file::{self, Reading};
use crate::text::full_stop;

/// Prints one line per finding.
pub(crate) fn run(chart: &Arc<Chart>, args: &Asking) -> Result<ExitCode, CliError> {
    let place = place::chosen(chart, &args.about)?;
    let snapshot = place.snapshot();
    let view = snapshot.view();
    let mut findings = Vec::new();
    for name in chart.checks.keys() {
        let found = view.findings(name)?;
        // A finding with several lines would look like several findings.
        findings.extend(found.into_iter().map(|text| (name.clone(), text.replace('\n', " "))));
    }
    let mut warnings = snapshot.warnings();
    let is_broken = matches!(snapshot.state, Reading::Broken(_));
    let settings = place.settings();
    if is_broken {
        let file = place::state_file(&place);
        // The first one is among them, with its consequences.
        let more = state_file::breaches(chart, &place.dir()).into_iter().skip(1);
        warnings.extend(more.map(|breach| {
            let stop = full_stop(&breach);
            format!("{}: {breach}{stop}", file.display())
        }));
    }
    let is_unusable = is_broken || settings.is_err();
    let about_settings = settings.map_or_else(|why| vec![format!("{why}.")], |read| read.warnings);
    for warning in about_settings {
        // A check that looks at a setting has warned of it.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let code = exit(findings.is_empty() && !is_unusable);
    if args.json {
        let mut object = Map::new();
        object.insert(chart.scope.noun.clone(), json!(place.instance.name));
        object.insert("directory".to_owned(), json!(place.instance.dir));
        let findings = findings.iter().map(|(check, text)| json!({ "check": check, "text": text }));
        object.insert("findings".to_owned(), findings.collect());
        object.insert("warnings".to_owned(), json!(warnings));
        say_json(Json::Object(object));
        return Ok(code);
    }
    for (_, text) in &findings {
        say(text);
    }
    for warning in &warnings {
        say(&format!("warning: {warning}"));
    }
    if findings.is_empty() && !is_unusable {
        say(&format!("{} {}: no findings", chart.scope.noun, place.instance.name));
    }
    Ok(code)
}
