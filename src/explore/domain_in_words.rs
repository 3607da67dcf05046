//! What was tried, for a person.

use serde_json::{Map, Value as Json};

use super::domain::{Choice, Domain, NO_SLUG};
use super::imagined_world::Question;
use super::moves::Moves;
use super::plain::plain;
use crate::chart::model::FieldType;
use crate::engine::event::Trigger;
use indexmap::IndexSet;

/// Shows a context field that a text is compared with as what it holds.
fn held(field: &str) -> Json {
    Json::from(format!("the value of {field}"))
}

/// Returns lists in words: none, each kind of item, several.
fn lists_in_words(
    values: &[Json],
    nothing: &str,
    items: &dyn Fn(&Map<String, Json>) -> String,
) -> String {
    let lists = values.iter().filter_map(Json::as_array);
    let is_unlike = |list: &[Json]| list.first() != list.last();
    let same = lists.clone().filter(|list| !is_unlike(list));
    let same = same.filter_map(|list| {
        let item = items(list.first()?.as_object()?);
        Some(match list.len() {
            1 => item,
            many => format!("{many} times {item}"),
        })
    });
    let unlike = match lists.filter(|list| is_unlike(list)).map(Vec::len).max() {
        Some(2) => Some("both".to_owned()),
        Some(_) => Some("two of these or all".to_owned()),
        None => None,
    };
    std::iter::once(nothing.to_owned())
        .chain(same)
        .chain(unlike)
        .collect::<Vec<_>>()
        .join("; or ")
}

impl Domain {
    /// Returns the values of `choice` in words.
    pub(crate) fn in_words(&self, choice: &Choice) -> String {
        let values = self.values(choice, &mut held);
        let listed = |null: &str| {
            let one = |value: &Json| match value.is_null() {
                true => null.to_owned(),
                false => plain(value),
            };
            values.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        match choice {
            Choice::Files(name) => format!(
                "files.{name}: {}",
                lists_in_words(&values, "none", &|file| {
                    let name = file.get("name").map(plain).unwrap_or_default();
                    let lines = file.get("lines").and_then(Json::as_array);
                    match lines.is_some_and(|lines| !lines.is_empty()) {
                        true => format!("{name} with such a line"),
                        false => name,
                    }
                })
            ),
            Choice::Rows(name) => {
                let row = |row: &Map<String, Json>| {
                    let own = row
                        .iter()
                        .filter(|(key, _)| !matches!(key.as_str(), "done" | "path"));
                    own.map(|(key, value)| format!("{key} {}", plain(value)))
                        .collect::<Vec<_>>()
                        .join(", ")
                };
                format!(
                    "tables.{name}: no row; or {}",
                    lists_in_words(&values, "", &row).trim_start_matches("; or ")
                )
            }
            Choice::Content { table, key } => format!("tables.{table}.{key}: {}", listed("")),
            Choice::Event(name) if values.iter().any(Json::is_array) => {
                format!("event.{name}: none, or one")
            }
            Choice::Event(name) if values.iter().any(Json::is_string) => {
                format!("event.{name}: {}", self.texts_in_words(choice, &values, ""))
            }
            Choice::Event(name) => format!("event.{name}: {}", listed("none")),
            Choice::Arg(name) => {
                let arg = self.chart.args.get(name);
                let values = match arg.is_some_and(|arg| arg.kind == FieldType::String) {
                    true => self.texts_in_words(choice, &values, "left out"),
                    false => listed("left out"),
                };
                format!("--{}: {values}", name.replace('_', "-"))
            }
            Choice::Session => {
                let values = self.texts_in_words(choice, &values, "unknown");
                format!("the session: {values}")
            }
            Choice::Driver => "driver: nobody, this session, another one".to_owned(),
            Choice::Worst => format!("review.worst: {}", listed("none")),
            Choice::Shown => "review.shown: true, false".to_owned(),
            Choice::Stalled => "cycle.stalled: false, true".to_owned(),
            Choice::Over => "spent.over: none, or a budget".to_owned(),
            Choice::Postponed => "postponed: none, some time".to_owned(),
            Choice::Dirty => "git.dirty: false, true".to_owned(),
            Choice::Siblings => format!("siblings: none, or one of {}", values.len() - 1),
            Choice::Findings(name) => {
                format!("checks.{name}: nothing, or something, whatever else the files hold")
            }
        }
    }
    /// Returns the texts of `choice` in words; `null` stands for none. A text that is not compared with anything is an
    /// example.
    fn texts_in_words(&self, choice: &Choice, values: &[Json], null: &str) -> String {
        let path = choice.root();
        let known = self.known_texts(&path, &mut held);
        let parts = self.parts(&path, &mut held);
        // Where spaces around a text don't count, it is tried with one, too.
        let is_padded = |text: &str| {
            let inner = text.strip_prefix(' ').filter(|_| !known.contains(text));
            inner.is_some_and(|inner| values.contains(&Json::from(inner)))
        };
        let values = values.iter();
        let (padded, values): (Vec<&Json>, Vec<&Json>) =
            values.partition(|value| value.as_str().is_some_and(is_padded));
        let word = |value: &&Json| {
            let Some(text) = value.as_str() else {
                return Some(null.to_owned());
            };
            let has = parts.iter().filter(|part| text.contains(part.as_str()));
            let has: Vec<&str> = has.map(String::as_str).collect();
            match text {
                _ if known.contains(text) => Some(plain(value)),
                NO_SLUG => Some("a text that cannot be a file name".to_owned()),
                _ if !has.is_empty() => Some(format!("a text with {}", has.join(" and "))),
                _ => None,
            }
        };
        let mut words: Vec<String> = values.iter().filter_map(word).collect();
        let others = values.len() - words.len();
        let is_first = words.iter().all(|word| word == null);
        match (others, is_first) {
            (0, _) => {}
            (1, true) => words.push("any text".to_owned()),
            (1, false) => words.push("any other text".to_owned()),
            (_, true) => words.push("any two texts".to_owned()),
            (_, false) => words.push("any two other texts".to_owned()),
        }
        if !padded.is_empty() {
            words.push("each of these after a space".to_owned());
        }
        words.join(", ")
    }
}

impl Moves {
    /// Returns what was tried, one line for each input and each kind of move.
    pub(crate) fn domain_in_words(&self) -> Vec<String> {
        let chart = &self.tree.chart;
        let ground = &self.tree.ground;
        let list = |values: &[Json]| values.iter().map(plain).collect::<Vec<_>>().join(", ");
        let parameters = ground.domain.parameters.iter();
        let mut lines: Vec<String> = parameters
            .map(|(name, values)| format!("{name}: {}, set by the user at any time", list(values)))
            .collect();
        let asked = self
            .tree
            .questions
            .iter()
            .filter_map(|question| match &**question {
                Question::Choice(choice) => Some(choice.clone()),
                _ => None,
            });
        let choices: IndexSet<Choice> = asked.collect();
        lines.extend(choices.iter().map(|choice| ground.domain.in_words(choice)));
        for (name, invoke) in &chart.invoke {
            lines.push(format!(
                "{name}: {}, no verdict, failed",
                invoke.verdicts.join(", ")
            ));
        }
        let times: Vec<String> = (ground.domain.gate())
            .map(|gate| gate.times.to_string())
            .collect();
        if !times.is_empty() {
            let times = times.join(", ");
            lines.push(format!("gates: all pass, one fails ({times} in a row)"));
        }
        let hooks: Vec<&str> = self
            .all
            .iter()
            .filter_map(|one| match &one.trigger {
                Some(Trigger::Hook(name)) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        lines.push(format!("events: {}", hooks.join(", ")));
        let answers = if chart.cycles.is_empty() {
            ""
        } else {
            ", writes the answer to a review or does not"
        };
        lines.push(format!(
            "the agent: enters any phase whose guard holds{answers}, does nothing and stops again"
        ));
        if !chart.commands.is_empty() {
            let commands: Vec<&str> = chart.commands.keys().map(String::as_str).collect();
            lines.push(format!("the user: runs {}", commands.join(", ")));
        }
        lines.push("files and tables: chosen again at every event".to_owned());
        lines
    }
}
