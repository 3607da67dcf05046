//! The result of one check.

pub(super) use crate::page::short_path as shown;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Ok,
    /// It works, but something deserves attention.
    Warning,
    /// It does not work.
    Problem,
}

impl Level {
    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    pub(crate) level: Level,
    /// What was found.
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
}

impl Diagnosis {
    pub(super) fn ok(text: impl Into<String>) -> Self {
        Self { level: Level::Ok, text: text.into(), help: None }
    }

    pub(super) fn warning(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { level: Level::Warning, text: text.into(), help: Some(help.into()) }
    }

    pub(super) fn problem(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { level: Level::Problem, ..Self::warning(text, help) }
    }

    /// Returns a problem whose sentence says both what is wrong and what to do, with this between the two.
    pub(super) fn split(sentence: &str, between: &str) -> Self {
        let (text, help) = sentence.split_once(between).unwrap_or((sentence, ""));
        Self {
            help: Some(help.to_owned()).filter(|help| !help.is_empty()),
            ..Self::problem(text, "")
        }
    }

    /// Returns the same as a warning: something else is used in its place.
    pub(super) fn into_warning(self) -> Self {
        Self { level: Level::Warning, ..self }
    }
}
