//! Hashes that the caller ties segments together with: ids, also of segments that are still to come, tool calls, topics
//! and tags. Tells who belongs to whom; references are the graph's.

use super::graph::Hub;
use super::hashes::HashedMap;
use super::segment::{Author, SegmentIndex};

#[derive(Clone, Debug, Default)]
pub(super) struct Bindings {
    segments: HashedMap<SegmentIndex>,
    /// By the id they named: who waits for it.
    waiting: HashedMap<Vec<SegmentIndex>>,
    calls: HashedMap<ToolCall>,
    hubs: HashedMap<Hub>,
}

/// Segments that share the id of a tool call.
#[derive(Clone, Copy, Debug)]
struct ToolCall {
    /// The others are paired with this one.
    first: SegmentIndex,
    is_asked: bool,
    is_answered: bool,
}

impl Bindings {
    pub fn segment(&self, id: u64) -> Option<SegmentIndex> {
        self.segments.get(&id).copied()
    }

    /// From now on, the id stands for this segment. Answers who named it before it was there.
    pub fn introduce(&mut self, id: u64, segment: SegmentIndex) -> Vec<SegmentIndex> {
        self.segments.insert(id, segment);
        self.waiting.remove(&id).unwrap_or_default()
    }

    pub fn wait_for(&mut self, id: u64, referrer: SegmentIndex) {
        self.waiting.entry(id).or_default().push(referrer);
    }

    /// With whom a segment of a tool call is paired. Harnesses that number their calls anew every turn use an id again:
    /// an assistant who asks under an id that was asked and answered makes another call.
    pub fn pair(&mut self, call: u64, segment: SegmentIndex, author: Author) -> Option<SegmentIndex> {
        let (is_asked, is_answered) = (author == Author::Assistant, author != Author::Assistant);
        let known = self.calls.entry(call).or_insert(ToolCall { first: segment, is_asked, is_answered });
        if is_asked && known.is_asked && known.is_answered && known.first != segment {
            *known = ToolCall { first: segment, is_asked, is_answered };
        }
        known.is_asked |= is_asked;
        known.is_answered |= is_answered;
        (known.first != segment).then_some(known.first)
    }

    /// The hub of a topic or tag; `make` makes one that is new.
    pub fn hub(&mut self, hub: u64, make: impl FnOnce() -> Hub) -> Hub {
        *self.hubs.entry(hub).or_insert_with(make)
    }
}
