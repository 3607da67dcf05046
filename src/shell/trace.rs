//! `TASKIE_TRACE=FILE`: one JSON line for each decision, for a person who asks why a stop went as it did.
//!
//! A debugging aid. It changes no decision, and without the variable nothing of it is computed. A relative
//! FILE is taken from where the command works, which for a hook is the session's directory.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::effects::in_words;
use super::performed::Performed;
use super::place::Place;
use super::stuck::Stuck;
use crate::engine::decision::{Answer, Decision, Ended, Outcome};
use crate::engine::event::{Event, Trigger};

/// Names the file; unset, there is no trace.
pub(crate) const VARIABLE: &str = "TASKIE_TRACE";

/// Appends what was decided about `event`, or why nothing could be.
pub(crate) fn append(
    file: &Path,
    place: &Place,
    event: &Event,
    result: &Result<Performed, Stuck>,
) -> io::Result<()> {
    let mut text = line(place, event, result).to_string();
    text.push('\n');
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    // One write: the lines of two hooks at once do not mix.
    file.write_all(text.as_bytes())
}

fn line(place: &Place, event: &Event, result: &Result<Performed, Stuck>) -> Json {
    let what = match &event.trigger {
        Trigger::Hook(name) => name.clone(),
        Trigger::Enter { phase, .. } => format!("enter {phase}"),
        Trigger::Command(name) => format!("run {name}"),
    };
    let mut line = Map::new();
    line.insert("event".to_owned(), json!(what));
    line.insert("session".to_owned(), json!(event.session));
    line.insert("dir".to_owned(), json!(place.instance.dir));
    match result {
        Ok(performed) => decided(&mut line, place, performed),
        Err(stuck) => {
            line.insert("stuck".to_owned(), json!(stuck.to_string()));
        }
    }
    Json::Object(line)
}

fn decided(line: &mut Map<String, Json>, place: &Place, performed: &Performed) {
    let Decision {
        fired,
        patch,
        effects,
        messages,
        says,
        ended,
        answer,
    } = &performed.decision;
    let rules: Vec<Json> = fired
        .iter()
        .map(|fired| json!({ "rule": fired.place, "about": place.chart.about(&fired.place) }))
        .collect();
    let (answer, text) = match answer {
        Answer::Pass => ("pass", None),
        Answer::Allow => ("allow", None),
        Answer::Block(reason) => ("block", Some(reason.clone())),
        Answer::Action { action, why } => ("action", Some(format!("{action}: {why}"))),
        Answer::Refuse(why) => ("refuse", Some(why.clone())),
    };
    line.insert("fired".to_owned(), json!(rules));
    line.insert("run".to_owned(), json!(ended.as_ref().map(run)));
    line.insert("patch".to_owned(), json!(patch));
    if !effects.is_empty() {
        let effects: Vec<String> = effects.iter().map(in_words).collect();
        line.insert("files".to_owned(), json!(effects));
    }
    line.insert("messages".to_owned(), json!(messages));
    line.insert("says".to_owned(), json!(says));
    line.insert("answer".to_owned(), json!(answer));
    line.insert("text".to_owned(), json!(text));
}

fn run(ended: &Ended) -> Json {
    let invocation = &ended.invocation;
    let (verdict, error) = match &ended.outcome {
        Outcome::Ran { verdict } => (verdict.as_ref(), None),
        Outcome::Failed(why) => (None, Some(why)),
    };
    json!({
        "name": invocation.name,
        "cycle": invocation.cycle,
        "n": invocation.n,
        "file": invocation.file,
        "verdict": verdict,
        "error": error,
        "superseded": ended.superseded,
    })
}
