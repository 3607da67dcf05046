//! The parts of a change: what it is compared with, and each file; or why it is unknown.

use super::pattern::is_skipped;
use crate::text::shown;

/// What a change is compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Base<'b> {
    /// HEAD, or where the branch began if nothing differs from that.
    AtHand,
    /// The same, or HEAD where the start of the branch is unknown: what is still to come counts, too.
    Coming,
    /// The commit at which HEAD left this one, which the user has named.
    Left(&'b str),
    /// What an earlier change was compared with, a commit or a tree; the coming one if git cannot read that anymore.
    Known(&'b str),
    /// This very commit or tree, such as the tree with which a session's change begins.
    Tree(&'b str),
}

/// A change.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// The commit of HEAD; the empty tree where there is none.
    pub(crate) head: String,
    /// The commit that it starts from; the empty tree where there is none.
    pub(crate) base: String,
    /// What that is, in words: `since HEAD`.
    pub(crate) against: String,
    /// What is in `base`, with nothing in it that does not count.
    pub(crate) before: String,
    /// The tree now, with the same files and folders.
    pub(crate) after: String,
    pub(crate) files: Vec<Changed>,
    /// What it was to be compared with cannot be read anymore.
    pub(crate) is_lost: bool,
}

impl Change {
    /// Returns how many lines have changed in the files that `skip` does not leave out; `None` if there is no such file.
    pub(crate) fn lines(&self, skip: &[String]) -> Option<u64> {
        let files = self.files.iter();
        let counted = files.filter(|file| file.is_readable() && !is_skipped(&file.path, skip));
        counted.fold(None, |sum, file| {
            let lines = file.lines.filter(|_| file.content == Content::InDiff);
            let (added, removed) = lines.unwrap_or((0, 0));
            Some(sum.unwrap_or(0) + added + removed)
        })
    }

    /// Returns the files that no reviewer can read and no pattern in `skip` matches.
    pub(crate) fn unread(&self, skip: &[String]) -> Vec<String> {
        let unread = self.files.iter().filter(|file| !file.is_readable());
        let unread = unread.filter(|file| !is_skipped(&file.path, skip));
        unread.map(ToString::to_string).collect()
    }
}

/// The mode of no file.
pub(super) const NO_FILE: &str = "000000";

/// A file that has changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changed {
    pub(crate) path: String,
    /// How many lines were added and removed; `None` if nobody counts its lines.
    pub(crate) lines: Option<(u64, u64)>,
    pub(crate) content: Content,
    /// The mode and the object that git has for it, before and now; `None` if git stores none.
    pub(crate) objects: Option<[String; 2]>,
}

/// Where the content of a file can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Content {
    #[default]
    InDiff,
    /// There, but nobody has to read it.
    Generated,
    Removed,
    /// Only in the file.
    InFile,
    /// Nowhere, for this reason.
    Unknown(&'static str),
}

impl Changed {
    /// Returns whether a reviewer can read it.
    pub(crate) fn is_readable(&self) -> bool {
        !matches!(self.content, Content::Unknown(_))
    }

    /// Returns whether there was none before.
    pub(super) fn is_new(&self) -> bool {
        self.objects.as_ref().is_some_and(|[before, _]| before.starts_with(NO_FILE))
    }
}

/// Says which file, and how much of it: `src/a.rs (+3 -1)`.
impl std::fmt::Display for Changed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let note = match self.content {
            Content::InDiff => None,
            Content::Generated => Some("generated"),
            Content::Removed => Some("removed"),
            Content::InFile => Some("not shown by `git diff`: read the file"),
            Content::Unknown(why) => Some(why),
        };
        let lines = self.lines.map(|(added, removed)| format!("+{added} -{removed}"));
        let notes: Vec<String> = note.map(str::to_owned).into_iter().chain(lines).collect();
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
