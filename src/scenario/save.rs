//! Writes a scenario as TOML: the steps that were played, with their results as expectations.

use serde_json::{Map, Value as Json};

use super::script::ScenarioStep;
use super::stage::State;
use crate::engine::context::Context;
use crate::store::journal::{DecisionLine, TriedLine};

/// Returns a step that was played, with its results as expectations.
pub(crate) fn expecting(
    step: &ScenarioStep,
    decided: &[DecisionLine],
    state: &State,
    before: &State,
) -> ScenarioStep {
    let last = decided.last();
    let mut expected = step.clone();
    expected.answer = last.map(|decided| decided.answer.clone());
    let fired = last.into_iter().flat_map(DecisionLine::fired);
    // The `about` of a rule stays the same if another rule is added before it.
    let name = |rule: &TriedLine| rule.about.clone().unwrap_or_else(|| rule.rule.clone());
    expected.rules = Some(fired.map(name).collect());
    let old = |name: &String| before.as_ref().and_then(|before| before.get(name));
    for (name, value) in state.iter().flatten() {
        match value {
            value if old(name) == Some(value) => {}
            Json::Null => expected.null.push(name.clone()),
            value => {
                expected.state.insert(name.clone(), value.clone());
            }
        }
    }
    expected
}

/// Returns the text of a scenario. `about` is a comment above it.
pub(crate) fn write(about: &str, begins: Option<&Context>, steps: &[ScenarioStep]) -> String {
    let about: Vec<String> = about.lines().map(|line| format!("# {line}\n")).collect();
    let mut text = about.concat();
    if let Some(begins) = begins {
        let nulls = begins.iter().filter(|(_, held)| held.is_null());
        let nulls: Vec<String> = nulls.map(|(name, _)| name.clone()).collect();
        text.push_str(&format!("\nnull = {}\n\n[begins]\n", list(&nulls)));
        fields(&mut text, begins);
    }
    for step in steps {
        text.push_str("\n[[step]]\n");
        self::step(&mut text, step);
    }
    text
}

/// Adds the keys of a step that differ from those of an empty one.
fn step(text: &mut String, step: &ScenarioStep) {
    let keys = |step: &ScenarioStep| match serde_json::to_value(step) {
        Ok(Json::Object(keys)) => keys,
        // A step is an object with texts as keys.
        _ => Map::new(),
    };
    let empty = keys(&ScenarioStep::default());
    let mut given = keys(step);
    given.retain(|name, value| empty.get(name) != Some(value));
    fields(text, &given);
    if !step.write.is_empty() {
        text.push_str("\n[step.write]\n");
        for (name, content) in &step.write {
            text.push_str(&format!("{} = {}\n", string(name), block(content)));
        }
    }
}

fn fields<'f>(text: &mut String, fields: impl IntoIterator<Item = (&'f String, &'f Json)>) {
    for (name, held) in fields {
        if let Some(held) = value(held) {
            text.push_str(&format!("{} = {held}\n", key(name)));
        }
    }
}

/// Returns a value as TOML; `None` for null, which TOML doesn't have.
fn value(json: &Json) -> Option<String> {
    Some(match json {
        Json::Null => return None,
        Json::String(text) => string(text),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(value).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(fields) => {
            let fields = fields.iter();
            let fields: Vec<String> = fields
                .filter_map(|(name, held)| Some(format!("{} = {}", key(name), value(held)?)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    })
}

fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| string(word)).collect();
    format!("[{}]", words.join(", "))
}

fn key(name: &str) -> String {
    let is_bare = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => string(name),
    }
}

/// Returns a string on one line. TOML can read JSON's escapes, but has to escape one more character.
fn string(text: &str) -> String {
    Json::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Returns a string, on several lines if that is easier to read.
fn block(text: &str) -> String {
    let is_plain = |sign: char| !sign.is_control() || sign == '\n';
    match text.contains('\n') && text.chars().all(is_plain) && !text.contains(['\\', '"']) {
        true => format!("\"\"\"\n{text}\"\"\""),
        false => string(text),
    }
}
