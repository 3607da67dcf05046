//! A hash of several parts, such as the names and the contents of files, and maps with a fast hash.

use rustc_hash::FxBuildHasher;
use sha2::{Digest as _, Sha256};

/// A map that keeps its order. Every stop looks up hundreds of short keys, which are a chart's: the hash that is safe from
/// a stranger's keys would take 6% of a stop.
pub(crate) type IndexMap<K, V> = indexmap::IndexMap<K, V, FxBuildHasher>;

/// A hash of several parts. It depends on where each of them ends: `ab` and `c` are not `a` and `bc`.
#[derive(Debug, Default)]
pub(crate) struct Hash(Sha256);

impl Hash {
    /// Adds a part.
    pub(crate) fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Returns it as a text.
    pub(crate) fn text(self) -> String {
        hex(&self.0.finalize())
    }

    /// Returns it as a number, which is a part of it.
    pub(crate) fn number(self) -> u64 {
        let hash = self.0.finalize();
        let first = hash.iter().take(8);
        first.fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

/// Returns the hash of one part alone, as a number.
pub(crate) fn number(part: impl AsRef<[u8]>) -> u64 {
    let mut hash = Hash::default();
    hash.add(part);
    hash.number()
}

/// Returns the hash of one part alone, as a text.
pub(crate) fn of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(parts: &[&str]) -> Hash {
        let mut hash = Hash::default();
        parts.iter().for_each(|part| hash.add(part));
        hash
    }

    #[test]
    fn parts_that_run_together_have_different_hashes() {
        let lists: [&[&str]; 4] = [&["a", "bc"], &["ab", "c"], &["a", "b", "c", ""], &[]];
        let hashes = lists.map(|parts| hash(parts).text());
        for (index, hash) in hashes.iter().enumerate() {
            assert!(!hashes[index + 1..].contains(hash), "{index}");
            assert_eq!(hash.len(), 64);
        }
    }

    /// Journals keep numbers, so they must never change.
    #[test]
    fn the_number_of_some_parts() {
        assert_eq!(hash(&["a", "bc"]).number(), 0x9a8a_cca1_b6c6_c0be);
    }
}
