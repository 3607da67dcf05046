//! Git in a work tree: its commands, and what differs between two trees.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::command::{self, failed, run};
use super::index::Index;
use super::terms::{Changed, Content, NO_FILE, Unknown};
use crate::os::regular::open_to_read;
use crate::text::shown;

/// How much of a file git looks at to find out whether it is text.
const START: u64 = 8000;

/// The mode of a repository in the repository.
pub(super) const GITLINK: &str = "160000";

/// What a text in UTF-16 begins with.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// The ends of the names of files that programs write to pin versions.
const LOCKS: [&str; 5] = [".lock", "-lock.json", "-lock.yaml", ".lockb", "go.sum"];

/// Git in one work tree.
pub(super) struct Repository {
    /// The top of the work tree.
    pub(super) root: PathBuf,
}

impl Repository {
    /// Returns the commit of HEAD; the empty tree where there is none.
    pub(super) fn head(&self) -> Result<String, Unknown> {
        let head = self.id("HEAD^{commit}")?;
        head.map_or_else(|| self.empty_tree(), Ok)
    }

    /// Returns the commit that the user has named.
    pub(super) fn commit(&self, name: &str) -> Result<String, Unknown> {
        self.id(&format!("{name}^{{commit}}"))?.ok_or_else(|| {
            let help = "name a branch, a tag or a commit; in CI, it has to be fetched first";
            Unknown::new(format!("there is no commit `{}`", shown(name)), help)
        })
    }

    /// Returns a tree without any file.
    pub(super) fn empty_tree(&self) -> Result<String, Unknown> {
        let empty = run(&mut self.git(&["hash-object", "-t", "tree", "--stdin"])?)?;
        Ok(empty.map_err(failed)?.trim_end().to_owned())
    }

    /// Returns a command.
    pub(super) fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        command::git(&self.root, args)
    }

    /// Returns what a command prints; `None` if it fails.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<String>, Unknown> {
        let output = run(&mut self.git(args)?)?;
        Ok(output.ok().map(|text| text.trim_end().to_owned()))
    }

    /// Returns the id of what `name` names; `None` if it names nothing.
    pub(super) fn id(&self, name: &str) -> Result<Option<String>, Unknown> {
        self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])
    }

    /// Returns a tree without the files of these names.
    pub(super) fn without(&self, tree: &str, names: &[&str]) -> Result<String, Unknown> {
        let index = Index::new(&self.root)?;
        index.run(&["read-tree", tree])?;
        index.update("--force-remove", names.join("\0").as_bytes())?;
        // What a partial clone lacks, it need not have for this.
        index.run(&["write-tree", "--missing-ok"])
    }

    /// Returns the files that differ between two trees.
    pub(super) fn files(&self, trees: [&str; 2]) -> Result<Vec<Changed>, Unknown> {
        if trees[0] == trees[1] {
            return Ok(Vec::new());
        }
        let mut git = self.git(&[
            "diff",
            "--raw",
            "--numstat",
            "-z",
            "--no-abbrev",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
        ])?;
        let listed = run(git.args(trees).arg("--"))?;
        let listed = listed.map_err(|why| {
            Unknown::new(why, "in a partial clone, `git diff` by hand fetches what it lacks")
        })?;
        // Each entry of the first list is followed by its path.
        let mut lines = listed.split('\0').filter(|line| !line.is_empty()).peekable();
        let mut objects = HashMap::new();
        while let Some(entry) = lines.next_if(|line| line.starts_with(':')) {
            let words: Vec<&str> = entry[1..].split(' ').collect();
            if let ([old_mode, mode, old, new, ..], Some(path)) = (&*words, lines.next()) {
                objects.insert(path, [format!("{old_mode} {old}"), format!("{mode} {new}")]);
            }
        }
        let files = lines.filter_map(|line| {
            let mut parts = line.splitn(3, '\t');
            let (added, removed, path) = (parts.next()?, parts.next()?, parts.next()?);
            let lines = added.parse().ok().zip(removed.parse().ok());
            let objects = objects.remove(path);
            let is_now =
                |mode: &str| objects.as_ref().is_some_and(|[_, now]| now.starts_with(mode));
            let is_submodule = is_now(GITLINK);
            let content = match lines {
                _ if is_submodule => Content::Unknown(match self.root.join(path).is_file() {
                    true => "larger than 4 MB",
                    false => "a repository of its own",
                }),
                None if is_now(NO_FILE) => Content::Removed,
                None if self.is_text(Path::new(path)) => Content::InFile,
                None => Content::Unknown("binary"),
                Some(_) if LOCKS.iter().any(|end| path.ends_with(end)) => Content::Generated,
                Some(_) => Content::InDiff,
            };
            let lines = lines.filter(|_| !is_submodule);
            Some(Changed { path: path.to_owned(), lines, content, objects })
        });
        Ok(files.collect())
    }

    /// Returns whether a file is text, whatever attributes and settings say of it.
    fn is_text(&self, path: &Path) -> bool {
        let mut start = Vec::new();
        let read = open_to_read(&self.root.join(path))
            .and_then(|(file, _)| file.take(START).read_to_end(&mut start));
        let is_utf_16 = || UTF_16.iter().any(|mark| start.starts_with(mark));
        read.is_ok() && (!start.contains(&0) || is_utf_16())
    }
}
