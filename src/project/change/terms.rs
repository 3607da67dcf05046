//! The parts of a change: what it is compared with, and each file; or why it is unknown.

use crate::diagnostic::quote::quoted;
use crate::text::shown;

/// What a change is compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Base<'b> {
    /// HEAD, or where the branch began if nothing differs from that.
    AtHand,
    /// The same, or HEAD where nobody knows where the branch began: what is still to come counts, too.
    Coming,
    /// The commit at which HEAD left this one, which the user has named.
    Left(&'b str),
    /// What an earlier change was compared with, a commit or a tree; the coming one if git cannot read that anymore.
    Known(&'b str),
    /// What is there now: nothing has changed yet.
    Now,
}

/// Why the content of a repository in the repository is in no tree.
pub(super) const REPOSITORY: &str = "a repository of its own";
pub(super) const SUBMODULE: &str = "a submodule in which something is not committed";

/// A file that has changed.
#[derive(Debug, Clone)]
pub(crate) struct Changed {
    pub(crate) path: String,
    /// How many lines were added and removed; `None` if nobody counts its lines.
    pub(crate) lines: Option<(u64, u64)>,
    pub(crate) content: Content,
}

/// Where the content of a file can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    InDiff,
    /// There, but nobody has to read it.
    Generated,
    Removed,
    /// Only in the file, for this reason.
    InFile(&'static str),
    /// Nowhere, for this reason.
    Unknown(&'static str),
}

impl Changed {
    /// Returns whether a reviewer can read it.
    pub(crate) fn is_readable(&self) -> bool {
        !matches!(self.content, Content::Unknown(_))
    }

    /// Returns the git command that shows what is not committed in it, if it is a repository of its own.
    pub(crate) fn command(&self) -> Option<String> {
        let is_repository = matches!(self.content, Content::Unknown(REPOSITORY | SUBMODULE));
        is_repository
            .then(|| format!("git -C {} diff --no-ext-diff --no-textconv HEAD", quoted(&self.path)))
    }
}

/// Says which file, and how much of it: `src/a.rs (+3 -1)`.
impl std::fmt::Display for Changed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let note = match self.content {
            Content::InDiff => None,
            Content::Generated => Some("generated".to_owned()),
            Content::Removed => Some("removed".to_owned()),
            Content::InFile(why) => Some(format!("{why}: read the file")),
            Content::Unknown(why) => Some(why.to_owned()),
        };
        let lines = self.lines.map(|(added, removed)| format!("+{added} -{removed}"));
        let notes: Vec<String> = note.into_iter().chain(lines).collect();
        write!(out, "{} ({})", shown(&self.path), notes.join(", "))
    }
}

/// Why a change cannot be found out, and what to do.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

impl Unknown {
    /// Returns it as the end of a sentence.
    pub(crate) fn in_words(self) -> String {
        let Self { message, help } = self;
        format!("what has changed is unknown: {message} ({help})")
    }

    pub(crate) fn new(message: impl Into<String>, help: &'static str) -> Self {
        let message = message.into();
        Self { message, help }
    }
}
