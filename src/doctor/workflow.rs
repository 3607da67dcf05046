//! The chart, the schema of its state, and the instance that is worked on.

use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Access, access};
use serde_json::Value as Json;

use super::diagnosis::Diagnosis;
use crate::chart::Chart;
use crate::chart::embedded::Choice;
use crate::chart::schema;
use crate::engine::context::initial;
use crate::engine::view::View;
use crate::explore::Caps;
use crate::expr::templates::Templates;
use crate::lint;
use crate::shell::perform::{AsWorld as _, Place};
use crate::shell::store::{self, Reading};

/// What is wrong with a chart is told by its text; what only its states can tell is left to `check-chart`.
fn quick() -> Caps {
    Caps {
        states: 1,
        ..Caps::default()
    }
}

/// Whether the chart and the schema of its state are sound.
pub(super) fn chart(choice: &Choice<'_>, chart: &Arc<Chart>) -> Vec<Diagnosis> {
    let text = choice.text().unwrap_or_default();
    let (linted, check) = match choice {
        Choice::Embedded(embedded) => {
            let templates = |_: &[String]| Templates::Embedded(embedded.templates);
            let linted = lint::run(embedded.id, &text, templates, &quick());
            (linted, "check-chart".to_owned())
        }
        Choice::File(path) => {
            let beside = path.parent().unwrap_or(Path::new(""));
            let templates = |folders: &[String]| {
                Templates::Folders(folders.iter().map(|folder| beside.join(folder)).collect())
            };
            let linted = lint::run(&chart.origin, &text, templates, &quick());
            (linted, format!("check-chart {}", path.display()))
        }
    };
    let flaws = linted.flaws;
    let sound = match flaws.len() {
        0 => Diagnosis::ok("chart", format!("the chart {} is sound", chart.origin)),
        1 => Diagnosis::warning(
            "chart",
            format!("the chart {} has a finding", chart.origin),
            format!("`taskie {check}` tells it"),
        ),
        many => Diagnosis::warning(
            "chart",
            format!("the chart {} has {many} findings", chart.origin),
            format!("`taskie {check}` tells them"),
        ),
    };
    vec![sound, state_schema(chart)]
}

/// Whether a new instance fits the schema.
fn state_schema(chart: &Chart) -> Diagnosis {
    let compiled = jsonschema::draft7::new(&schema::state::of(chart));
    let state = Json::Object(initial(chart).into_iter().collect());
    let breach = match &compiled {
        Ok(validator) => validator
            .iter_errors(&state)
            .next()
            .map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    match breach {
        None => Diagnosis::ok("schema", "the schema of state.json is sound"),
        Some(why) => Diagnosis::problem(
            "schema",
            format!(
                "a new {} does not fit the schema of its state.json: {why}",
                chart.scope.noun
            ),
            format!("mend [context] in {}", chart.origin),
        ),
    }
}

/// Whether the instance can be worked on; `warnings` are of those that were passed over.
pub(super) fn instance(
    chart: &Chart,
    place: Option<&Place>,
    warnings: Vec<String>,
) -> Vec<Diagnosis> {
    let noun = &chart.scope.noun;
    let mut found: Vec<Diagnosis> = warnings
        .into_iter()
        .map(|warning| {
            Diagnosis::warning("instance", warning, "see to it, or delete the directory")
        })
        .collect();
    let Some(place) = place else {
        let why = if chart.scope.is_per_session() {
            format!("hooks name the {noun} themselves; `--{noun} ID` looks at one")
        } else {
            format!("there is no {noun} here, so hooks let everything through")
        };
        found.push(Diagnosis::ok("instance", why));
        return found;
    };
    let name = &place.instance.name;
    let snapshot = place.snapshot();
    let file = place.instance.dir.join(store::FILE);
    match &snapshot.state {
        Reading::Sound { absent, .. } if absent.is_empty() => {
            found.push(Diagnosis::ok(
                "instance",
                format!("{noun} {name}: its state.json is sound"),
            ));
        }
        Reading::Sound { absent, .. } => found.push(Diagnosis::warning(
            "instance",
            format!(
                "{noun} {name}: {} lacks {}",
                file.display(),
                absent.join(", ")
            ),
            "nothing, if the defaults are right; the next transition writes them",
        )),
        Reading::Missing if chart.cycles.is_empty() => found.push(Diagnosis::ok(
            "instance",
            format!("{noun} {name} has no state.json yet: it stands where it begins"),
        )),
        Reading::Missing => found.push(Diagnosis::warning(
            "instance",
            format!("{noun} {name} has no state.json, so no review is ever due"),
            format!("`taskie enter PHASE --{noun} {name}` writes it"),
        )),
        Reading::Broken(why) => found.push(Diagnosis::problem(
            "instance",
            format!("{noun} {name}: {} cannot be used: {why}", file.display()),
            chart.scope.remedy(),
        )),
    }
    let view = View::new(&place.chart, &snapshot.as_world());
    let mut count = 0;
    for list in chart.checks.keys() {
        match view.findings(list) {
            Ok(findings) => count += findings.len(),
            Err(fault) => found.push(Diagnosis::problem(
                "instance",
                fault.to_string(),
                format!("mend the chart {}", chart.origin),
            )),
        }
    }
    if count > 0 {
        let findings = if count == 1 {
            "a finding".to_owned()
        } else {
            format!("{count} findings")
        };
        found.push(Diagnosis::warning(
            "instance",
            format!("{noun} {name}: its files have {findings}"),
            format!("`taskie validate {name}` tells more"),
        ));
    }
    if access(place.dir(), Access::WRITE_OK).is_err() {
        found.push(Diagnosis::problem(
            "instance",
            format!("{} cannot be written to", place.instance.dir.display()),
            "give this user the right to",
        ));
    }
    found
}
