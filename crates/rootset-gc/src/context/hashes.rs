//! Maps whose keys are hashes of the caller's making: names, ids, files, tool calls, tags.
//!
//! The order of such a map never shows, because nothing iterates over it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<SpreadingHasher>>;

/// Keys are hashes already, but of the caller's making: one multiplication spreads those that are not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpreadingHasher(u64);

impl Hasher for SpreadingHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        let mixed = (self.0 ^ key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
