//! What a decision can look at that neither the state nor the chart determines.

use serde_json::{Value as Json, json};

use crate::explore::answer::plain;

/// A value that a decision looks at and that neither the state nor the chart determines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Choice {
    /// `files.NAME`.
    Files(String),
    /// The rows of `tables.NAME`.
    Rows(String),
    /// `exists`, `head`, `prose` or `lines` of `tables.NAME`.
    Content { table: String, key: &'static str },
    /// A field of the event.
    Event(String),
    /// An option; null: it was left out.
    Arg(String),
    /// The session that asks.
    Session,
    /// Until when no reviewer can run.
    Postponed,
    /// The budget that is used up.
    Over,
    /// The worst severity that a review has found.
    Worst,
    /// A review names a command that it ran.
    Ran,
    /// The last reviews agree, and nothing has changed.
    Stalled,
    /// What the checks of `checks.NAME` find.
    Findings(String),
    /// Who drives the instance.
    Driver,
    /// `git.dirty`.
    Dirty,
    /// `siblings`.
    Siblings,
}

impl Choice {
    /// Returns what expressions call it.
    pub fn name(&self) -> String {
        match self {
            Self::Files(name) => format!("files.{name}"),
            Self::Rows(name) => format!("tables.{name}.rows"),
            Self::Content { table, key } => format!("tables.{table}.{key}"),
            Self::Event(name) => format!("event.{name}"),
            Self::Arg(name) => format!("args.{name}"),
            Self::Session => "session".to_owned(),
            Self::Findings(name) => format!("checks.{name}"),
            Self::Driver => "driver".to_owned(),
            Self::Postponed => "postponed".to_owned(),
            Self::Over => "spent.over".to_owned(),
            Self::Worst => "review.worst".to_owned(),
            Self::Ran => "review.ran".to_owned(),
            Self::Stalled => "cycle.stalled".to_owned(),
            Self::Dirty => "git.dirty".to_owned(),
            Self::Siblings => "siblings".to_owned(),
        }
    }

    /// Returns what a person calls it: an option as it is written on the command line.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Arg(name) => format!("--{}", name.replace('_', "-")),
            other => other.name(),
        }
    }

    /// Returns in words that this was chosen.
    pub(crate) fn in_words(&self, value: &Json) -> String {
        let title = self.title();
        match (self, value.as_array().map(|list| list.first())) {
            (Self::Arg(_), _) => format!("{title} {}", plain(value)),
            (_, Some(Some(item))) => format!("{title} has {}", item_in_words(item)),
            (_, Some(None)) => format!("{title} is empty"),
            (_, None) => format!("{title} is {}", plain(value)),
        }
    }
}

/// Returns an item of a list in words: a file or an instance by its name, a row by its columns.
pub(crate) fn item_in_words(item: &Json) -> String {
    let Some(record) = item.as_object() else {
        return plain(item);
    };
    if let Some(name) = record.get("name") {
        let has_lines = record.get("lines").is_some_and(|lines| *lines != json!([]));
        let more = if has_lines { " with such a line" } else { "" };
        return format!("{}{more}", plain(name));
    }
    let own = record.iter();
    let own = own.filter(|(key, _)| !matches!(key.as_str(), "done" | "path"));
    let words: Vec<String> = own.map(|(key, value)| format!("{key} {}", plain(value))).collect();
    match words.is_empty() {
        true => "an item".to_owned(),
        false => words.join(", "),
    }
}
