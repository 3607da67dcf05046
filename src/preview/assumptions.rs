//! `--set NAME=VALUE`: the assumptions of a preview. Values that are computed from the state or read from files
//! cannot be set.

use indexmap::IndexSet;
use serde_json::{Map, Value as Json};

use super::error::RenderError;
use crate::chart::Chart;
use crate::chart::model::FieldType;
use crate::diagnostic::suggest::did_you_mean;
use crate::engine::context::Context;
use crate::engine::decision::{FailedGate, Outcome};
use crate::engine::event::Event;
use crate::hash::IndexMap;
use crate::reviewer::finding::{Found, Ran};

/// The event that the host sends when the agent wants to stop.
pub(crate) const STOP: &str = "Stop";

/// What a preview assumes.
#[derive(Debug, Default)]
pub(crate) struct Assumptions {
    /// Fields of the state.
    pub(crate) fields: Context,
    /// How the review that is due is assumed to end.
    pub(crate) outcome: Option<Outcome>,
    event: Map<String, Json>,
    args: IndexMap<String, Json>,
}

impl Assumptions {
    /// Reads NAME=VALUE pairs.
    pub(crate) fn read<'p>(
        chart: &Chart,
        pairs: impl Iterator<Item = &'p (String, String)>,
    ) -> Result<Self, RenderError> {
        let mut assumed = Self::default();
        for (name, value) in pairs {
            assumed.set(chart, name, value)?;
        }
        Ok(assumed)
    }

    fn set(&mut self, chart: &Chart, name: &str, text: &str) -> Result<(), RenderError> {
        let misfit = |expected: &str| {
            let message =
                format!("`{name}` cannot be set to `{}`: expected {expected}", text.escape_debug());
            RenderError::new(message, None)
        };
        if let Some(field) = chart.context.get(name) {
            let is_text = matches!(field.kind, FieldType::String | FieldType::Phase);
            let value = match text {
                "null" if field.nullable => Json::Null,
                _ if is_text => Json::from(text),
                _ => json_or_text(text),
            };
            field.accepts(&chart.phases, &value).map_err(|expected| misfit(&expected))?;
            self.fields.insert(name.to_owned(), value);
            return Ok(());
        }
        match name.split_once('.') {
            Some(("review", "verdict")) => {
                let verdicts = chart.verdicts();
                if !verdicts.contains(text) {
                    return Err(misfit(&list(verdicts, " or ")));
                }
                let verdict = Some(text.to_owned());
                let found = Found { ran: vec![Ran::some()], ..Found::default() };
                self.outcome = Some(Outcome::Ran { verdict, found });
            }
            Some(("review", "error")) => self.outcome = Some(Outcome::Failed(text.to_owned())),
            Some(("gate", "output")) if chart.gates.is_some() => {
                self.outcome = Some(Outcome::Gate(FailedGate {
                    command: "make check".to_owned(),
                    why: "exited with code 1".to_owned(),
                    output: text.to_owned(),
                    times: 1,
                }));
            }
            Some(("event", key)) => _ = self.event.insert(key.to_owned(), json_or_text(text)),
            Some(("args", key)) if chart.args.contains_key(key) => {
                _ = self.args.insert(key.to_owned(), json_or_text(text));
            }
            _ => return Err(not_settable(chart, name)),
        }
        Ok(())
    }

    /// Returns a stop of the agent in `cwd` with the assumed event fields; `seen` are others.
    pub(crate) fn stop(&self, cwd: &str, session: Option<&str>, seen: Json) -> Event {
        let mut fields = match seen {
            Json::Object(seen) => seen,
            _ => Map::new(),
        };
        fields.insert("hook_event_name".to_owned(), Json::from(STOP));
        fields.insert("cwd".to_owned(), Json::from(cwd));
        fields.extend(session.map(|session| ("session_id".to_owned(), Json::from(session))));
        fields.extend(self.event.clone());
        Event { args: self.args.clone(), ..Event::hook(STOP, Json::Object(fields)) }
    }
}

/// Returns the names that can be set in `chart`, as a list for people.
pub(crate) fn settable(chart: &Chart) -> Vec<String> {
    let fields = chart.context.keys().cloned();
    let review = ["review.verdict", "review.error"].map(str::to_owned);
    let gate = chart.gates.iter().map(|_| "gate.output".to_owned());
    let args = chart.args.keys().map(|name| format!("args.{name}"));
    let event = ["event.NAME".to_owned()];
    let outcomes = review.into_iter().chain(gate);
    fields.chain(outcomes).chain(event).chain(args).collect()
}

/// Returns help for assuming that a cycle is running; `None` if the chart has no cycles.
pub(crate) fn cycle_help(chart: &Chart) -> Option<String> {
    let next = chart.next.as_ref()?;
    let cycles: Vec<&str> = chart.cycles.keys().map(String::as_str).collect();
    (!cycles.is_empty()).then(|| format!("assume one with --set {next}={}", cycles.join("|")))
}

/// Returns help for assuming that a review has ended.
pub(crate) fn review_help(chart: &Chart) -> String {
    format!(
        "assume one with --set review.verdict={} or --set review.error=REASON",
        list(chart.verdicts(), "|")
    )
}

fn list(verdicts: IndexSet<&str>, between: &str) -> String {
    verdicts.into_iter().collect::<Vec<_>>().join(between)
}

fn not_settable(chart: &Chart, name: &str) -> RenderError {
    let names = settable(chart);
    let help = did_you_mean(name, names.iter().map(String::as_str))
        .unwrap_or_else(|| format!("set one of {}", names.join(", ")));
    let message = format!("`{}` cannot be set", name.escape_debug());
    RenderError::new(message, Some(help))
}

fn json_or_text(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::from(text))
}
