//! Which segments hold which identifiers and paths, who introduced each, and how many of a segment's own no other active
//! segment holds.
//!
//! Keys are hashes that the caller makes; two names with one hash are one key. Next to the number of active holders,
//! a key keeps the exclusive or of their numbers: when one is left, that is its number, so that the count of the
//! last holder is corrected without a search.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::lists::Lists;
use super::segment::SegmentIndex;

#[derive(Clone, Debug, Default)]
pub struct Holders {
    numbers: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    keys: Vec<Key>,
    /// Segments by key number, whatever their state.
    segments_of: Lists,
    /// Key numbers by segment.
    keys_of: Lists,
    /// Keys that no other active segment holds; kept for active segments, zero for others.
    sole_counts: Vec<u32>,
    is_counted: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    introduced_by: SegmentIndex,
    active_holders: u32,
    active_holders_xor: u32,
}

impl Holders {
    /// The next segment, which is active, with what it holds; a key told twice is held once.
    pub(super) fn add_segment(&mut self, keys: &[u64]) -> SegmentIndex {
        let segment = SegmentIndex(u32::try_from(self.keys_of.len()).expect("the graph has limited them"));
        self.keys_of.add_list();
        self.sole_counts.push(0);
        self.is_counted.push(false);
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let number = self.number(key, segment);
            self.keys_of.push(segment.0, number);
            self.segments_of.push(number, segment.0);
        }
        self.set_active(segment, true);
        segment
    }

    fn number(&mut self, key: u64, segment: SegmentIndex) -> u32 {
        let next = u32::try_from(self.keys.len()).expect("fewer keys than a chunk arena holds");
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(Key { introduced_by: segment, active_holders: 0, active_holders_xor: 0 });
            self.segments_of.add_list();
        }
        number
    }

    /// Counts a segment in or out; the second time does nothing.
    pub(super) fn set_active(&mut self, segment: SegmentIndex, is_active: bool) {
        if std::mem::replace(&mut self.is_counted[segment.place()], is_active) == is_active {
            return;
        }
        let mut cursor = self.keys_of.cursor(segment.0);
        while let Some(number) = self.keys_of.next(&mut cursor) {
            let key = &mut self.keys[number as usize];
            let sole_before = key.sole_holder();
            key.active_holders_xor ^= segment.0;
            key.active_holders = if is_active { key.active_holders + 1 } else { key.active_holders - 1 };
            let sole_after = key.sole_holder();
            if let Some(sole) = sole_before {
                self.sole_counts[sole.place()] -= 1;
            }
            if let Some(sole) = sole_after {
                self.sole_counts[sole.place()] += 1;
            }
        }
    }

    /// Keys that this active segment alone holds.
    pub fn sole_count(&self, segment: SegmentIndex) -> u32 {
        self.sole_counts[segment.place()]
    }

    /// The first segment that held a key, whatever its state now.
    pub fn introduced_by(&self, key: u64) -> Option<SegmentIndex> {
        self.key(key).map(|(_, key)| key.introduced_by)
    }

    /// How many active segments hold a key.
    pub fn active_count(&self, key: u64) -> u32 {
        self.key(key).map_or(0, |(_, key)| key.active_holders)
    }

    /// Who holds a key, whatever their state.
    pub fn holders_of(&self, key: u64) -> impl Iterator<Item = SegmentIndex> {
        let number = self.key(key).map(|(number, _)| number);
        number.into_iter().flat_map(|number| self.segments_of.entries(number)).map(SegmentIndex)
    }

    fn key(&self, key: u64) -> Option<(u32, &Key)> {
        self.numbers.get(&key).map(|number| (*number, &self.keys[*number as usize]))
    }
}

impl Key {
    fn sole_holder(&self) -> Option<SegmentIndex> {
        (self.active_holders == 1).then_some(SegmentIndex(self.active_holders_xor))
    }
}

/// Keys are hashes already, but of the caller's making: one multiplication spreads those that are not.
/// Nothing iterates over the map, so its order never shows.
#[derive(Clone, Copy, Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
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
