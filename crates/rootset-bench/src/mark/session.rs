//! A generated session: segments that refer to what is near and, less often, to anything earlier; identifiers that come
//! back; a tool call and its result every few steps.

use rootset_gc::context::{Author, Facts, Lines, NewSegment, Now, Population, SegmentIndex, SegmentType, Window};
use rootset_model::Timestamp;

use crate::random::Random;

/// What was said lately.
const NEAR_SEGMENTS: usize = 50;
const NAMES_PER_SEGMENT: usize = 5;
/// One segment in ten is the result of the call before it.
const PAIR_EVERY: u64 = 10;
/// A user speaks, the assistant and its tools take turns.
const EPISODE_STEPS: u64 = 100;
/// One segment in four shows a file.
const VIEW_EVERY: u64 = 4;
const STEP_MS: i64 = 1_000;

#[derive(Debug)]
pub struct GeneratedSession {
    random: Random,
    references_each: usize,
    near_share: f64,
    window: Window,
}

/// A segment as it is added; made apart from the addition, which is measured.
#[derive(Debug)]
pub struct NextSegment {
    facts: Facts,
    names: Vec<u64>,
    references: Vec<u64>,
    pair: Option<u64>,
}

impl GeneratedSession {
    pub fn new(seed: u64, references_each: usize, near_share: f64) -> Self {
        Self { random: Random::new(seed), references_each, near_share, window: Window::default() }
    }

    pub fn window(&self) -> &Window {
        &self.window
    }

    pub fn next_segment(&mut self) -> NextSegment {
        let count = self.window.graph().len();
        let step = count as u64;
        let references = (0..self.references_each).filter_map(|_| self.earlier(count)).collect();
        // A quarter as many names as segments, the earlier ones more often.
        let names = count / 4 + 10;
        let keys =
            (0..NAMES_PER_SEGMENT).map(|_| self.random.between(0, names) * self.random.between(0, names) / names);
        let names = keys.map(|key| spread(key as u64)).collect();
        let is_pair = step % PAIR_EVERY >= PAIR_EVERY - 2;
        NextSegment { facts: self.facts(step), names, references, pair: is_pair.then_some(step / PAIR_EVERY) }
    }

    fn facts(&mut self, step: u64) -> Facts {
        let author = match step {
            0 => Author::System,
            _ if step % EPISODE_STEPS == 1 => Author::User,
            _ if step.is_multiple_of(2) => Author::Assistant,
            _ => Author::Tool,
        };
        let segment_type = self.random.pick(&SegmentType::ALL);
        let tokens = self.random.between(10, 1_000) as u32;
        let now = Now { step, at: Timestamp(step as i64 * STEP_MS) };
        let first = self.random.between(1, 2_000) as u32;
        let is_view = step.is_multiple_of(VIEW_EVERY);
        let files = step as usize / 100 + 1;
        Facts {
            author,
            file: is_view.then(|| spread(self.random.below(files) as u64)),
            lines: is_view.then_some(Lines { first, last: first + 100 }),
            ..Facts::new(segment_type, tokens, now)
        }
    }

    fn earlier(&mut self, count: usize) -> Option<u64> {
        let near = count.saturating_sub(NEAR_SEGMENTS);
        let first = if self.random.happens(self.near_share) { near } else { 0 };
        (count > 0).then(|| self.random.between(first, count - 1) as u64)
    }

    /// The oldest leave until no more than so many segments and tokens are active.
    pub fn stash_all_but_last(&mut self, segments_max: usize, tokens_max: u64) {
        let active: Vec<SegmentIndex> = self.window.graph().segments(Population::Active).collect();
        for (place, segment) in active.iter().enumerate() {
            if active.len() - place > segments_max || self.window.tokens() > tokens_max {
                self.window.stash(*segment, Timestamp(0));
            }
        }
    }

    pub fn add(&mut self, segment: &NextSegment) {
        self.window.add(&NewSegment {
            id: segment.facts.created_step,
            facts: segment.facts,
            names: &segment.names,
            pair: segment.pair,
            references: &segment.references,
            hubs: &[],
        });
    }
}

fn spread(number: u64) -> u64 {
    number.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
