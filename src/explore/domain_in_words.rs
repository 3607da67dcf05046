//! What was tried, for a person.

use serde_json::{Map, Value as Json};

use super::domain::{Choice, Domain};
use super::plain::plain;

impl Domain {
    /// The values of `choice` in words.
    pub(crate) fn in_words(&self, choice: &Choice) -> String {
        // A context field that a text is compared with shows up as what it holds.
        let held = |field: &str| format!("what {field} holds");
        let values = self.values(choice, &mut |field| Json::from(held(field)));
        let quiet = |nothing: &str, items: &dyn Fn(&Map<String, Json>) -> String| {
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
        };
        let texts = || {
            values.iter().map(|value| {
                if value.is_null() {
                    "left out".to_owned()
                } else {
                    plain(value)
                }
            })
        };
        match choice {
            Choice::Files(name) => format!(
                "files.{name}: {}",
                quiet("none", &|file| {
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
                    quiet("", &row).trim_start_matches("; or ")
                )
            }
            Choice::Content { table, key } => format!(
                "tables.{table}.{key}: {}",
                texts().collect::<Vec<_>>().join(", ")
            ),
            Choice::Event(name) if values.iter().any(Json::is_array) => {
                format!("event.{name}: none, or one")
            }
            Choice::Event(name) => {
                format!("event.{name}: {}", texts().collect::<Vec<_>>().join(", "))
            }
            Choice::Arg(name) => format!(
                "--{}: {}",
                name.replace('_', "-"),
                texts().collect::<Vec<_>>().join(", ")
            ),
            Choice::Session => format!(
                "the session: {}",
                texts()
                    .collect::<Vec<_>>()
                    .join(", ")
                    .replace("left out", "unknown")
            ),
            Choice::Driver => "driver: nobody, this session, another one".to_owned(),
            Choice::Worst => format!(
                "review.worst: {}",
                texts()
                    .collect::<Vec<_>>()
                    .join(", ")
                    .replace("left out", "none")
            ),
            Choice::Stalled => "cycle.stalled: false, true".to_owned(),
            Choice::Over => "spent.over: none, cycle, instance".to_owned(),
            Choice::Postponed => "postponed: none, some time".to_owned(),
            Choice::Dirty => "git.dirty: false, true".to_owned(),
            Choice::Siblings => format!("siblings: none, or one of {}", values.len() - 1),
            Choice::Findings(name) => {
                format!("checks.{name}: nothing, or something, whatever else the files hold")
            }
        }
    }
}
