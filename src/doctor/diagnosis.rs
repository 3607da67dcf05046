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
    /// What was checked: a stable word.
    pub(crate) about: &'static str,
    /// What was found.
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
}

impl Diagnosis {
    pub(super) fn ok(about: &'static str, text: impl Into<String>) -> Self {
        Self { level: Level::Ok, about, text: text.into(), help: None }
    }

    pub(super) fn warning(
        about: &'static str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { level: Level::Warning, about, text: text.into(), help: Some(help.into()) }
    }

    /// Adds what to do about it.
    pub(super) fn and(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub(super) fn problem(
        about: &'static str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { level: Level::Problem, ..Self::warning(about, text, help) }
    }
}
