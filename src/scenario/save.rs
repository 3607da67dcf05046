//! Writes a scenario as TOML: the steps that were played, with their results as expectations.

use serde_json::{Map, Value as Json};

use super::script::{Review, Sibling, Step};
use super::stage::State;
use crate::shell::journal::{Decided, Tried};

/// Returns a step that was played, with its results as expectations.
pub(crate) fn expecting(step: &Step, decided: &[Decided], state: &State, before: &State) -> Step {
    let last = decided.last();
    let mut expected = step.clone();
    expected.answer = last.map(|decided| decided.answer.clone());
    let fired = last.into_iter().flat_map(Decided::fired);
    // The `about` of a rule stays the same if another rule is added before it.
    let name = |rule: &Tried| rule.about.clone().unwrap_or_else(|| rule.rule.clone());
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

/// Returns the text of a scenario. `about` is a comment above it, and `session` its session, if it has one of its own.
pub(crate) fn write(
    about: &str,
    session: Option<&str>,
    begins: Option<&Map<String, Json>>,
    steps: &[Step],
) -> String {
    let about: Vec<String> = about.lines().map(|line| format!("# {line}\n")).collect();
    let mut text = about.concat();
    if let Some(session) = session {
        text.push_str(&format!("\nsession = {}\n", string(session)));
    }
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

fn step(text: &mut String, step: &Step) {
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            text.push_str(&format!("{key} = {value}\n"));
        }
    };
    let some = |word: &Option<String>| word.as_deref().map(string);
    let filled = |word: &str| (!word.is_empty()).then(|| string(word));
    let listed = |words: &[String]| (!words.is_empty()).then(|| list(words));
    let table = |table: &Map<String, Json>| {
        let table = Json::Object(table.clone());
        (table != Json::Object(Map::new()))
            .then(|| value(&table))
            .flatten()
    };
    line("chapter", some(&step.chapter));
    line("user", some(&step.user));
    line("agent", filled(&step.agent));
    line("remove", listed(&step.remove));
    line("set", table(&step.set));
    line("config", table(&step.config));
    let driver = step.driver.map(|driver| driver.word().unwrap_or("nobody"));
    line("driver", driver.map(string));
    line("dirty", step.dirty.map(|dirty| dirty.to_string()));
    line("postponed", some(&step.postponed));
    line("over", some(&step.over));
    line("stalled", step.stalled.map(|stalled| stalled.to_string()));
    line("run", listed(&step.run));
    line("stdin", filled(&step.stdin));
    line("event", some(&step.event));
    line("session", some(&step.session));
    line("says", table(&step.says));
    line("review", step.review.as_ref().map(review));
    line("stop", step.stop.map(|stop| string(stop.word())));
    line("rules", step.rules.as_deref().map(list));
    line("answer", some(&step.answer));
    line("state", table(&step.state));
    line("null", listed(&step.null));
    let siblings = step.siblings.iter().flatten().map(sibling);
    let siblings: Vec<String> = siblings.collect();
    if step.siblings.is_some() {
        text.push_str(&format!("siblings = [{}]\n", siblings.join(", ")));
    }
    if !step.write.is_empty() {
        text.push_str("\n[step.write]\n");
        for (name, content) in &step.write {
            text.push_str(&format!("{} = {}\n", string(name), block(content)));
        }
    }
}

fn review(review: &Review) -> String {
    let (word, text) = match review {
        Review::Crash(why) => ("crash", why),
        Review::Gate(output) => ("gate", output),
        Review::Verdict { verdict, text, .. } => (verdict.as_deref().unwrap_or("none"), text),
    };
    let more = match review {
        Review::Verdict { findings, cost, .. } => {
            let findings = Some(list(findings)).filter(|list| list != "[]");
            let findings = findings.map(|list| format!(", findings = {list}"));
            #[expect(
                clippy::cast_precision_loss,
                reason = "no review costs a million dollars"
            )]
            let cost = cost.map(|cost| format!(", cost = {:?}", cost as f64 / 1_000_000.0));
            findings.into_iter().chain(cost).collect()
        }
        Review::Crash(_) | Review::Gate(_) => String::new(),
    };
    match (text.as_str(), more.as_str()) {
        ("", "") => string(word),
        (text, more) => format!("{{ {} = {}{more} }}", key(word), string(text)),
    }
}

fn sibling(sibling: &Sibling) -> String {
    let files = sibling.files.iter();
    let files: Vec<String> = files
        .map(|(name, text)| format!("{} = {}", string(name), string(text)))
        .collect();
    let state = sibling
        .state
        .as_ref()
        .map(|state| Json::Object(state.clone()));
    let state = state.and_then(|state| value(&state));
    let state = state.map_or_else(String::new, |state| format!("state = {state}, "));
    format!(
        "{{ name = {}, {state}null = {}, idle_hours = {}, files = {{ {} }} }}",
        string(&sibling.name),
        list(&sibling.null),
        sibling.idle_hours,
        files.join(", ")
    )
}

fn fields(text: &mut String, fields: &Map<String, Json>) {
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
