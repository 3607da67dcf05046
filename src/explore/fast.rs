//! A hash for short keys made of small numbers, of which the model checker asks millions of times. The keys
//! come from a chart, not from an attacker, so the hash need not resist one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Fast>>;

/// Multiplies and rotates each word into the hash, as the Rust compiler's own tables do.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Fast(u64);

impl Fast {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Fast {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    /// Tables take the top bits and the bottom ones; multiplying mixes the top ones best.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
