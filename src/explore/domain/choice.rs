//! What a decision can look at that neither the state nor the chart determines.

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
    /// A review shows that it ran what it was to run.
    Shown,
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
    /// Returns what expressions call it, down to what is chosen as one.
    pub fn root(&self) -> String {
        match self {
            Self::Files(name) => format!("files.{name}"),
            Self::Rows(name) | Self::Content { table: name, .. } => format!("tables.{name}"),
            Self::Event(name) => format!("event.{name}"),
            Self::Arg(name) => format!("args.{name}"),
            Self::Session => "session".to_owned(),
            Self::Findings(name) => format!("checks.{name}"),
            Self::Driver => "driver".to_owned(),
            Self::Postponed => "postponed".to_owned(),
            Self::Over => "spent.over".to_owned(),
            Self::Worst => "review.worst".to_owned(),
            Self::Shown => "review.shown".to_owned(),
            Self::Stalled => "cycle.stalled".to_owned(),
            Self::Dirty => "git.dirty".to_owned(),
            Self::Siblings => "siblings".to_owned(),
        }
    }
}
