//! A generated session: segments that refer to what is near and, less often, to anything earlier; identifiers that come
//! back; a tool call and its result every few steps.

use rootset_gc::context::{Facts, Now, ReferenceKind, SegmentIndex, SegmentType, Window};
use rootset_model::Timestamp;

use crate::random::Random;

/// What was said lately.
const NEAR_SEGMENTS: usize = 50;
const KEYS_PER_SEGMENT: usize = 5;
/// One segment in ten is the result of the call before it.
const PAIR_EVERY: usize = 10;
const STEP_MS: i64 = 1_000;

#[derive(Debug)]
pub struct Session {
    random: Random,
    references_each: usize,
    near_share: f64,
    window: Window,
}

/// What is told of a segment when it is added; made apart from the addition, which is measured.
#[derive(Debug)]
pub struct NextSegment {
    facts: Facts,
    keys: Vec<u64>,
    references: Vec<(SegmentIndex, ReferenceKind)>,
}

impl Session {
    pub fn new(seed: u64, references_each: usize, near_share: f64) -> Self {
        Self { random: Random::new(seed), references_each, near_share, window: Window::default() }
    }

    pub fn window(&self) -> &Window {
        &self.window
    }

    pub fn next_segment(&mut self) -> NextSegment {
        let count = self.window.graph().len();
        let now = Now { step: count as u64, at: Timestamp(count as i64 * STEP_MS) };
        let segment_type = self.random.pick(&SegmentType::ALL);
        let tokens = self.random.between(10, 1_000) as u32;
        let facts = Facts { is_system: count == 0, ..Facts::new(segment_type, tokens, now) };
        // A quarter as many names as segments, the earlier ones more often.
        let names = count / 4 + 10;
        let keys = (0..KEYS_PER_SEGMENT).map(|_| self.random.between(0, names) * self.random.between(0, names) / names);
        let keys = keys.map(|key| (key as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93)).collect();
        let mut references = Vec::new();
        if count > 0 {
            references.extend((0..self.references_each).map(|_| (self.earlier(count), ReferenceKind::Implicit)));
            if count.is_multiple_of(PAIR_EVERY) {
                references.push((SegmentIndex(count as u32 - 1), ReferenceKind::Pair));
            }
        }
        NextSegment { facts, keys, references }
    }

    fn earlier(&mut self, count: usize) -> SegmentIndex {
        let near = count.saturating_sub(NEAR_SEGMENTS);
        let first = if self.random.happens(self.near_share) { near } else { 0 };
        SegmentIndex(self.random.between(first, count - 1) as u32)
    }

    pub fn add(&mut self, segment: &NextSegment) {
        let now = Now { step: segment.facts.created_step, at: segment.facts.created_at };
        let added = self.window.add(segment.facts, &segment.keys);
        for (to, kind) in &segment.references {
            self.window.refer(added, *to, *kind);
            self.window.touch(*to, now);
        }
    }
}
