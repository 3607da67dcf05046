//! The hash of a reviewer's program. One that is large is read once for each version of its file.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use super::{Store, record};
use crate::hash;
use crate::os::file::Version;
use crate::os::regular::open_to_read;

const KIND: &str = "program";

/// From this size on, reading a file takes longer than a record of it.
const LARGE: u64 = 8 * 1024 * 1024;

/// Returns the hash of a program's file; `None` if it cannot be read. What is found is often a link to it.
pub(crate) fn sha256(store: &Store, file: &Path) -> Option<String> {
    let file = file.canonicalize().ok()?;
    let (opened, meta) = open_to_read(&file).ok()?;
    if meta.len() < LARGE {
        return hash::of_file(opened).ok();
    }
    let mut path = DefaultHasher::new();
    file.hash(&mut path);
    let mut version = path.clone();
    Version::of(&meta).hash(&mut version);
    let version = version.finish();
    // No instance is called that.
    let name = format!("..{:016x}", path.finish());
    let known: Option<(u64, String)> = record::read(store, &name, KIND);
    if let Some((_, sha256)) = known.filter(|(of, _)| *of == version) {
        return Some(sha256);
    }
    let sha256 = hash::of_file(opened).ok()?;
    // Without it, it is read again.
    let _ = record::write_for_now(store, &name, KIND, (version, &sha256));
    Some(sha256)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_large_program_is_read_once_for_each_version() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::of(home.path(), "home");
        let file = home.path().join("program");
        let records = || fs::read_dir(home.path().join("home/.locks")).map_or(0, Iterator::count);
        let mut text = vec![0; usize::try_from(LARGE).unwrap()];
        fs::write(&file, &text[1..]).unwrap();
        assert_eq!(sha256(&store, &file), Some(hash::of(&text[1..])));
        assert_eq!(records(), 0, "a small one is just read");
        for version in 0..2 {
            text[0] = version;
            fs::write(home.path().join("new"), &text).unwrap();
            fs::rename(home.path().join("new"), &file).unwrap();
            for _ in 0..2 {
                assert_eq!(sha256(&store, &file), Some(hash::of(&text)));
            }
        }
        // What is known is not read again.
        let mut name = DefaultHasher::new();
        file.canonicalize().unwrap().hash(&mut name);
        let name = format!("..{:016x}", name.finish());
        let (version, _): (u64, String) = record::read(&store, &name, KIND).unwrap();
        record::write(&store, &name, KIND, (version, "known")).unwrap();
        assert_eq!(sha256(&store, &file).as_deref(), Some("known"));
        assert_eq!(sha256(&store, &home.path().join("none")), None);
    }
}
