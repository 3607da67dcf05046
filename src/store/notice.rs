//! One thing that is reported to the user at the next stop, and who did it, in words.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::round::Round;
use crate::chart::Chart;
use crate::chart::model::FieldType;
use crate::engine::event::{Event, Trigger};
use crate::text::{in_words, uncapitalized};

/// One thing that is reported to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notice {
    /// The cycle that was left: it is moot when that goes on.
    pub(super) left: Option<Round>,
    /// What came next then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// What has happened, without a full stop.
    pub(super) what: String,
    /// Which fields it was given then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fields: Vec<ChangedField>,
    /// `None` where that is no news.
    pub(super) by: Option<By>,
    /// The phase in which it holds; `None` if that is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<String>,
}

/// A field that is not as the user knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChangedField {
    pub(super) name: String,
    /// As the user knows it.
    pub(super) old: Json,
    pub(super) new: Json,
}

impl ChangedField {
    pub(super) fn in_words(&self, chart: &Chart) -> String {
        let (old, new) = (in_words(&self.old), in_words(&self.new));
        let field = chart.context.get(&self.name);
        let about = field.filter(|field| field.kind != FieldType::Boolean);
        let about = about.and_then(|field| field.about.as_deref());
        match about {
            _ if self.name == chart.state => format!("the phase {new} instead of {old}"),
            _ if Some(&self.name) == chart.next.as_ref() => {
                format!("{new} instead of {old} as the next phase")
            }
            // What follows a semicolon is about its values.
            Some(about) => {
                let about = about.split(';').next().unwrap_or(about);
                format!("{new} instead of {old} as {}", uncapitalized(about))
            }
            None => format!("{} {new} instead of {old}", self.name.replace('_', " ")),
        }
    }
}

/// Who or what did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum By {
    /// The state was written by another program, or by hand.
    Unknown,
    /// So it was removed.
    Removed,
    /// A command of this program.
    Command { line: String, session: Option<String>, is_typed: bool },
}

impl By {
    /// Returns who ran the command that `event` is, if it is one.
    pub(super) fn command(chart: &Chart, event: &Event) -> Option<Self> {
        let program = chart.program();
        let line = match &event.trigger {
            Trigger::Hook(_) => return None,
            trigger @ Trigger::Enter { .. } => format!("{program} {trigger}"),
            Trigger::Command(name) => chart.call(name),
        };
        Some(Self::Command {
            line,
            session: event.session.clone(),
            is_typed: event.fields["terminal"] == true,
        })
    }

    /// Returns it in words, for the user of `session`.
    pub(super) fn in_words(&self, session: Option<&str>) -> String {
        match self {
            Self::Unknown => "state.json was changed, and not by taskie".to_owned(),
            Self::Removed => "state.json was removed, and not by taskie".to_owned(),
            Self::Command { line, session: own, is_typed } => {
                let place = match own.as_deref() {
                    _ if *is_typed => " in a terminal".to_owned(),
                    Some(own) if Some(own) == session => " in this session".to_owned(),
                    Some(other) => format!(" in session {other}"),
                    None => String::new(),
                };
                format!("`{line}`{place}")
            }
        }
    }
}
