//! What names are worth: how likely it is that somebody needs an identifier or path again, by what was seen so far.
//!
//! The unit of all worth is one name that the assistant used once, lately. See docs/context.md for how the figures were
//! found.

use super::decay::decay;
use super::holders::{Holders, Key};
use super::segment::SegmentIndex;
use super::window::Window;

/// By how many segments of the assistant mention it: none, one, more.
const USE_WORTHS: [f64; 3] = [0.1, 1.0, 2.0];
/// Last mentioned before the user asked for what is being done now.
const EARLIER_EPISODE_SHARE: f64 = 0.25;
/// What is left of a name's worth to a holder for each other active holder.
const OTHER_HOLDER_SHARE: f64 = 0.05;
/// The half-life of a name in half-lives of a segment.
const HALF_LIVES: u64 = 4;

/// The worths of names at one moment, each computed when it is first asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NameWorths {
    now_step: u64,
    episode_start: u64,
    half_life: u64,
    /// By number of the key.
    known: Vec<KnownName>,
}

/// Side by side what is read together.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct KnownName {
    worth: f64,
    /// Zero as long as nobody asked.
    active_holders: u32,
}

impl NameWorths {
    pub fn new(window: &Window, now_step: u64, half_life_steps: u32) -> Self {
        Self {
            now_step,
            episode_start: window.episode_start(),
            half_life: u64::from(half_life_steps) * HALF_LIVES,
            known: vec![KnownName::default(); window.holders().key_count()],
        }
    }

    /// What the names of a segment are worth to the window as it is; those of one that has left, as if it were back.
    pub fn of_segment(&mut self, holders: &Holders, segment: SegmentIndex) -> f64 {
        let mut sum = 0.0;
        for number in holders.keys_of(segment) {
            if self.known[number as usize].active_holders == 0 {
                let key = holders.key(number);
                let active_holders = key.active_holders.max(1);
                self.known[number as usize] = KnownName { worth: self.worth(key), active_holders };
            }
            sum += self.known[number as usize].to_a_holder();
        }
        sum
    }

    fn worth(&self, key: &Key) -> f64 {
        if key.is_common() {
            return 0.0;
        }
        let by_use = USE_WORTHS[(key.uses as usize).min(USE_WORTHS.len() - 1)];
        let is_of_episode = key.last_mention_step >= self.episode_start;
        let by_episode = if is_of_episode { 1.0 } else { EARLIER_EPISODE_SHARE };
        by_use * by_episode * decay(self.now_step.saturating_sub(key.last_mention_step), self.half_life)
    }

    /// The same after others have left, for a segment for which [`Self::of_segment`] was asked.
    pub fn of_segment_now(&self, holders: &Holders, segment: SegmentIndex) -> f64 {
        holders.keys_of(segment).map(|number| self.known[number as usize].to_a_holder()).sum()
    }

    /// A segment leaves: what it held is worth more to the other holders.
    pub fn leave(&mut self, holders: &Holders, segment: SegmentIndex) {
        for number in holders.keys_of(segment) {
            self.known[number as usize].active_holders -= 1;
        }
    }

    pub fn come_back(&mut self, holders: &Holders, segment: SegmentIndex) {
        for number in holders.keys_of(segment) {
            self.known[number as usize].active_holders += 1;
        }
    }
}

impl KnownName {
    fn to_a_holder(self) -> f64 {
        let mut worth = self.worth;
        // What more hold than can be told apart is common, and worth nothing to any of them.
        for _ in 1..self.active_holders.min(HOLDERS_TOLD_APART) {
            worth *= OTHER_HOLDER_SHARE;
        }
        worth
    }
}

const HOLDERS_TOLD_APART: u32 = 16;
