//! An index of its own, in which git puts together the tree of what is there now.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::command::{self, LIMIT, OBJECTS, failed, run, unwritable, with};
use super::terms::Unknown;
use crate::os::file::path;
use crate::os::regular::open_to_read;
use crate::project::git::{entries, output_within};

/// How many files a command line names: it has an end.
pub(super) const CHUNK: usize = 500;

/// Of how many files that git cannot store each is found: that takes a few commands.
const REFUSED: usize = 200;

/// Line ends are nobody's business here. Where the program of a filter is missing, files are stored as they are.
pub(super) const UNFILTERED: [&str; 8] = [
    "-c",
    "core.safecrlf=false",
    "-c",
    "filter.lfs.required=false",
    "-c",
    "filter.lfs.process=",
    "-c",
    "filter.lfs.clean=",
];

/// What git replaces in a file with the attribute `ident`, up to the next dollar sign, and how many digits it writes there.
pub(super) const IDENT: &[u8] = b"$Id:";
pub(super) const DIGITS: [usize; 2] = [40, 64];

/// An index of its own, which is removed with this value.
pub(super) struct Index<'r> {
    root: &'r Path,
    /// Where the objects of the change are.
    objects: &'r Path,
    pub(super) folder: TempDir,
    /// Where the repository has its objects.
    stored: PathBuf,
}

impl<'r> Index<'r> {
    /// Returns a new one without any file, whose objects are stored in `objects`.
    pub(super) fn new(root: &'r Path, objects: &'r Path, stored: PathBuf) -> Result<Self, Unknown> {
        let folder = tempfile::Builder::new()
            .prefix(".index-")
            .tempdir_in(objects)
            .map_err(|error| unwritable(objects, &error))?;
        Ok(Self { root, objects, folder, stored })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Returns a command that works on it.
    pub(super) fn git(&self, args: &[&str]) -> Result<Command, Unknown> {
        let mut git = command::git(self.root, self.objects, args)?;
        git.env("GIT_INDEX_FILE", self.path())
            .env("GIT_OBJECT_DIRECTORY", self.objects)
            .env(OBJECTS, with(&self.stored));
        Ok(git)
    }

    /// Runs a command that works on it. Returns what it prints.
    pub(super) fn write(&self, args: &[&str]) -> Result<String, Unknown> {
        let printed = run(&mut self.git(args)?)?.map_err(failed)?;
        Ok(printed.trim_end().to_owned())
    }

    /// Stores all of these files or none; returns whether git can.
    pub(super) fn store(&self, names: &[&[u8]], is_sparse: bool) -> Result<bool, Unknown> {
        let list = self.folder.path().join("names");
        let written = fs::write(&list, names.join(&0));
        written.map_err(|error| unwritable(&list, &error))?;
        let list = format!("--pathspec-from-file={}", list.display());
        let mut add = self.git(&UNFILTERED)?;
        add.args(["add", "--all", "--pathspec-file-nul", &list])
            .args(is_sparse.then_some("--sparse"))
            .env("GIT_LITERAL_PATHSPECS", "1");
        Ok(run(&mut add)?.is_ok())
    }

    /// Takes these names out of it, whatever it says of them. A zero byte is between two of them.
    pub(super) fn remove(&self, names: &[u8]) -> Result<(), Unknown> {
        let list = self.folder.path().join("names");
        let written = fs::write(&list, names).and_then(|()| fs::File::open(&list));
        let list = written.map_err(|error| unwritable(&list, &error))?;
        let mut git = self.git(&["update-index", "-z", "--force-remove", "--stdin"])?;
        run(git.stdin(list))?.map(drop).map_err(failed)
    }

    /// Adds empty files of these names; returns whether a tree can have them.
    pub(super) fn name(&self, names: &[&[u8]]) -> Result<bool, Unknown> {
        let empty = self.write(&["hash-object", "-w", "--stdin"])?;
        let is_named = |some: &[&[u8]]| {
            let names = some.iter().map(|name| std::str::from_utf8(name).ok());
            let lines = names.map(|name| Some(format!("100644,{empty},{}", name?)));
            let lines: Option<Vec<String>> = lines.collect();
            lines.is_some_and(|lines| self.add(lines.into_iter()).is_ok())
        };
        Ok(names.chunks(CHUNK).all(is_named))
    }

    /// Stores a file as it is if git would leave out something in it that it has not written there itself.
    pub(super) fn keep_idents(&self) -> Result<(), Unknown> {
        let root = self.root;
        let mut listed = self.git(&["ls-files", "-z", "--stage", "--", ":(top,attr:ident)"])?;
        let listed = output_within(&mut listed, LIMIT).map_err(failed)?.stdout;
        let is_hiding = |name: &[u8]| {
            let text = open_to_read(&root.join(path(name)));
            let text = text.and_then(|(mut file, _)| {
                let mut text = Vec::new();
                file.read_to_end(&mut text).map(|_| text)
            });
            text.is_ok_and(|text| has_own_ident(&text))
        };
        let hiding: Vec<_> = entries(&listed).filter(|(_, name)| is_hiding(name)).collect();
        for some in hiding.chunks(CHUNK) {
            let mut ids = self.git(&["hash-object", "-w", "--no-filters", "--"])?;
            ids.args(some.iter().map(|(_, name)| path(name)));
            let ids = run(&mut ids)?.map_err(failed)?;
            self.add(some.iter().zip(ids.lines()).map(|((entry, name), id)| {
                let mode = String::from_utf8_lossy(&entry[..entry.len().min(6)]);
                let mut line = OsString::from(format!("{mode},{id},"));
                line.push(path(name));
                line
            }))?;
        }
        Ok(())
    }

    /// Adds entries to it: `MODE,ID,PATH`.
    pub(super) fn add<E: Into<OsString>>(
        &self,
        entries: impl Iterator<Item = E>,
    ) -> Result<(), Unknown> {
        let mut git = self.git(&["update-index", "--add", "--replace"])?;
        git.args(entries.flat_map(|entry| [OsString::from("--cacheinfo"), entry.into()]));
        run(&mut git)?.map(drop).map_err(failed)
    }
}

/// Returns the names for which `succeeds` fails: if it does for several, each half is tried. Of too many, nobody tries each.
pub(super) fn failing<'n>(
    names: &[&'n [u8]],
    succeeds: &impl Fn(&[&[u8]]) -> Result<bool, Unknown>,
) -> Result<Vec<&'n [u8]>, Unknown> {
    let mut failing = Vec::new();
    let mut untried = vec![names];
    while let Some(names) = untried.pop() {
        if names.is_empty() || succeeds(names)? {
            continue;
        }
        match names.len() == 1 || failing.len() >= REFUSED {
            true => failing.extend(names),
            false => untried.extend(<[_; 2]>::from(names.split_at(names.len() / 2))),
        }
    }
    Ok(failing)
}

/// Returns whether a text has something else between `$Id:` and the next dollar sign of the line than what git writes there.
fn has_own_ident(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(start) = rest.windows(IDENT.len()).position(|part| part == IDENT) {
        rest = &rest[start + IDENT.len()..];
        let end = rest.iter().position(|byte| matches!(byte, b'$' | b'\n'));
        let ident = end.filter(|end| rest[*end] == b'$');
        let ident = ident.map(|end| rest[..end].trim_ascii());
        let is_gits = |ident: &[u8]| {
            let has_length = ident.is_empty() || DIGITS.contains(&ident.len());
            has_length && ident.iter().all(u8::is_ascii_hexdigit)
        };
        if ident.is_some_and(|ident| !is_gits(ident)) {
            return true;
        }
    }
    false
}
