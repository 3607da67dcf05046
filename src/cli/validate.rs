//! `taskie validate`: runs the chart's checks by hand. It only reads.

use std::sync::Arc;

use serde_json::json;

use crate::chart::Chart;
use crate::commands::about::Asking;
use crate::commands::error::CliError;
use crate::commands::output::Output;
use crate::commands::place;
use crate::page::Page;
use crate::project::state_file::Reading;

/// Returns one line per finding.
pub(crate) fn run(chart: &Arc<Chart>, args: &Asking) -> Result<Output, CliError> {
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
    let is_unusable = is_broken || settings.is_err();
    let about_settings = settings.map_or_else(|why| vec![format!("{why}.")], |read| read.warnings);
    for warning in about_settings {
        // A check that looks at a setting has warned of it.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    let is_well = findings.is_empty() && !is_unusable;
    if args.json {
        let findings = findings.iter().map(|(check, text)| json!({ "check": check, "text": text }));
        let output = json!({
            chart.scope.noun(): place.instance.name, "directory": place.instance.dir,
            "findings": findings.collect::<Vec<_>>(), "warnings": warnings,
        });
        return Ok(Output::json(output).well(is_well));
    }
    let mut page = Page::default();
    findings.iter().for_each(|(_, text)| page.say(text));
    warnings.iter().for_each(|warning| page.say(&format!("warning: {warning}")));
    if is_well {
        page.say(&format!("{} {}: no findings", chart.scope.noun(), place.instance.name));
    }
    Ok(Output::of(page).well(is_well))
}
