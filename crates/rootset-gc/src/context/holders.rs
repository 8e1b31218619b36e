//! Which segments hold which identifiers and paths, who introduced each, how often and when it was last mentioned, and how
//! many of a segment's own no other active segment holds.
//!
//! Keys are hashes that the caller makes; two names with one hash are one key. Next to the number of active holders,
//! a key keeps the exclusive or of their numbers: when one is left, that is its number, so that the count of the
//! last holder is corrected without a search.

use super::hashes::HashedMap;
use super::lists::Lists;
use super::segment::SegmentIndex;

#[derive(Clone, Debug, Default)]
pub struct Holders {
    numbers: HashedMap<u32>,
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
pub(super) struct Key {
    pub introduced_by: SegmentIndex,
    pub active_holders: u32,
    active_holders_xor: u32,
    /// Segments that hold it, whatever their state.
    pub mentions: u32,
    /// Those of them that the assistant said.
    pub uses: u32,
    pub last_mention_step: u64,
}

/// When and by whom the names of a segment are mentioned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention {
    pub step: u64,
    pub is_use: bool,
}

/// The upper sixteen bits of the hash of a loose name, by which callers mark it.
pub const LOOSE: u64 = 0xffff << 48;

/// Whether a name is worth something to who holds it, but ties segments together neither as a reference nor as a hint: the same
/// number means something else somewhere else.
pub fn is_loose(name: u64) -> bool {
    name & LOOSE == LOOSE
}

/// What more segments mention says nothing about any of them: `self`, the project's own name, a test runner.
const COMMON_MENTIONS: u32 = 8;

impl Holders {
    /// The next segment, which is active, with what it holds; a key told twice is held once.
    pub(super) fn add_segment(&mut self, keys: &[u64], mention: Mention) -> SegmentIndex {
        let segment = SegmentIndex(u32::try_from(self.keys_of.len()).expect("the graph has limited them"));
        self.keys_of.add_list();
        self.sole_counts.push(0);
        self.is_counted.push(false);
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let number = self.number(key, segment);
            self.keys[number as usize].count(mention);
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
            self.keys.push(Key::introduced_by(segment));
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

    /// What a segment holds was of interest again at a step.
    pub(super) fn renew(&mut self, segment: SegmentIndex, step: u64) {
        let mut cursor = self.keys_of.cursor(segment.0);
        while let Some(number) = self.keys_of.next(&mut cursor) {
            let last = &mut self.keys[number as usize].last_mention_step;
            *last = (*last).max(step);
        }
    }

    /// Numbers of the keys that a segment holds.
    pub(super) fn keys_of(&self, segment: SegmentIndex) -> impl Iterator<Item = u32> {
        self.keys_of.entries(segment.0)
    }

    /// How many numbers of keys there are.
    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    #[inline]
    pub(super) fn key(&self, number: u32) -> &Key {
        &self.keys[number as usize]
    }

    pub(super) fn key_of_name(&self, name: u64) -> Option<&Key> {
        self.numbers.get(&name).map(|number| self.key(*number))
    }

    /// Who holds a name, whatever their state, the last added first.
    pub(super) fn holders_newest_first(&self, name: u64) -> impl Iterator<Item = SegmentIndex> {
        let number = self.numbers.get(&name);
        number.into_iter().flat_map(|number| self.segments_of.newest_first(*number)).map(SegmentIndex)
    }

    /// Keys that this active segment alone holds.
    pub fn sole_count(&self, segment: SegmentIndex) -> u32 {
        self.sole_counts[segment.place()]
    }

    /// The first segment that held a key, whatever its state now.
    pub fn introduced_by(&self, key: u64) -> Option<SegmentIndex> {
        self.key_of_name(key).map(|key| key.introduced_by)
    }

    /// How many active segments hold a key.
    pub fn active_count(&self, key: u64) -> u32 {
        self.key_of_name(key).map_or(0, |key| key.active_holders)
    }

    /// Who holds a key, whatever their state.
    pub fn holders_of(&self, key: u64) -> impl Iterator<Item = SegmentIndex> {
        let number = self.numbers.get(&key);
        number.into_iter().flat_map(|number| self.segments_of.entries(*number)).map(SegmentIndex)
    }
}

impl Key {
    fn introduced_by(segment: SegmentIndex) -> Self {
        Self {
            introduced_by: segment,
            active_holders: 0,
            active_holders_xor: 0,
            mentions: 0,
            uses: 0,
            last_mention_step: 0,
        }
    }

    fn count(&mut self, mention: Mention) {
        self.mentions += 1;
        self.uses += u32::from(mention.is_use);
        self.last_mention_step = self.last_mention_step.max(mention.step);
    }

    pub fn is_common(&self) -> bool {
        self.mentions > COMMON_MENTIONS
    }

    fn sole_holder(&self) -> Option<SegmentIndex> {
        (self.active_holders == 1).then_some(SegmentIndex(self.active_holders_xor))
    }
}
