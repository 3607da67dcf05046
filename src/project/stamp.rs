//! Whether nothing in a work tree has changed, found out without git: from what the file system says of each file.
//!
//! A stop that has changed nothing is to cost little. What differs here may still be the same for git, and then git is asked;
//! what is the same here is the same. So what git ignores counts too: only git knows what that is by now.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::os::file::Version;

/// The folder of git's own files. Where it is elsewhere, as in a linked work tree, git is asked.
const GIT: &str = ".git";

/// What says in it which files are tracked or ignored, and how they are read.
const RULES: [&str; 4] = ["index", "config", "info/exclude", "info/attributes"];

/// The clock of a file system can be as coarse as this: what has changed since then can change again and look the same.
const COARSE: Duration = Duration::from_millis(20);

/// What the file system said of a work tree.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Returns that of the work tree at `root`; `None` if it would not show each change.
    pub(crate) fn of(root: &Path) -> Option<Self> {
        let settled = SystemTime::now().checked_sub(COARSE)?;
        let git = root.join(GIT);
        if !git.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return None;
        }
        let mut hash = DefaultHasher::new();
        for file in RULES {
            let meta = git.join(file).symlink_metadata().ok();
            if meta.as_ref().is_some_and(|meta| !is_settled(meta, settled)) {
                return None;
            }
            meta.as_ref().map(Version::of).hash(&mut hash);
        }
        let mut sum = hash.finish();
        add(root, 0, settled, &mut sum).then_some(Self(sum))
    }

    /// Returns whether nothing has changed since then.
    pub(crate) fn is_of(&self, root: &Path) -> bool {
        Self::of(root).as_ref() == Some(self)
    }
}

/// Adds what is in a folder, in any order; false if that says too little. `folder` is the number of its path.
fn add(dir: &Path, folder: u64, settled: SystemTime, sum: &mut u64) -> bool {
    let Ok(entries) = fs::read_dir(dir) else {
        return false;
    };
    let mut add_entry = |entry: fs::DirEntry| {
        let name = entry.file_name();
        if name == GIT {
            // A repository in the repository may have another commit, which no file shows.
            return folder == 0;
        }
        let path = step(folder, &name);
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => add(&entry.path(), path, settled, sum),
            Ok(meta) => {
                let mut hash = DefaultHasher::new();
                (path, Version::of(&meta)).hash(&mut hash);
                *sum = sum.wrapping_add(hash.finish());
                is_settled(&meta, settled)
            }
            Err(_) => false,
        }
    };
    entries.into_iter().all(|entry| entry.is_ok_and(&mut add_entry))
}

/// Returns the number of a path whose parent has the number `folder`.
fn step(folder: u64, name: &OsStr) -> u64 {
    let mut hash = DefaultHasher::new();
    (folder, name).hash(&mut hash);
    hash.finish()
}

fn is_settled(meta: &Metadata, settled: SystemTime) -> bool {
    Version::of(meta).changed_at().is_some_and(|at| at < settled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::thread::sleep;

    /// Runs git in a folder.
    fn git(dir: &Path, args: &[&str]) {
        let status = Command::new("git").args(args).current_dir(dir).status();
        assert!(status.unwrap().success(), "{args:?}");
    }

    #[test]
    fn each_change_shows() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, &["init", "-q"]);
        fs::create_dir_all(root.join("a/empty")).unwrap();
        fs::create_dir_all(root.join("target")).unwrap();
        for (file, text) in [("a/x", "1"), (".gitignore", "target\n*.log\n"), ("b.log", "")] {
            fs::write(root.join(file), text).unwrap();
        }
        assert_eq!(Stamp::of(root), None, "it may change at the same time again");
        sleep(COARSE * 2);
        let stamp = || {
            sleep(COARSE * 2);
            Stamp::of(root).unwrap()
        };
        let before = stamp();
        fs::create_dir(root.join("a/more")).unwrap();
        assert!(before.is_of(root), "a folder is nothing");

        let changes: [(&str, &dyn Fn()); 8] = [
            ("what is ignored", &|| fs::write(root.join("b.log"), "more").unwrap()),
            ("another kind", &|| {
                fs::remove_dir(root.join("target")).unwrap();
                fs::write(root.join("target"), "").unwrap();
            }),
            ("what is tracked", &|| git(root, &["add", "-f", "b.log"])),
            ("content", &|| fs::write(root.join("a/x"), "2").unwrap()),
            ("a new file", &|| fs::write(root.join("a/empty/y"), "").unwrap()),
            ("a name", &|| fs::rename(root.join("a/x"), root.join("a/z")).unwrap()),
            ("a file less", &|| fs::remove_file(root.join("a/z")).unwrap()),
            ("an old time", &|| {
                let path = root.join("a/empty/y");
                let time = path.metadata().unwrap().modified().unwrap();
                fs::write(&path, "").unwrap();
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(time).unwrap();
            }),
        ];
        for (what, change) in changes {
            let before = stamp();
            change();
            sleep(COARSE * 2);
            assert!(!before.is_of(root), "{what}");
        }
        git(root, &["init", "-q", "part"]);
        sleep(COARSE * 2);
        assert_eq!(Stamp::of(root), None);
    }
}
