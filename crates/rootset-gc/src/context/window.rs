//! A session's segments: references, holders and facts, changed together so that they never disagree.

use rootset_model::Timestamp;

use super::graph::{Graph, Hub, ReferenceKind};
use super::holders::Holders;
use super::segment::{Facts, Now, SegmentIndex, SegmentState};

#[derive(Clone, Debug, Default)]
pub struct Window {
    graph: Graph,
    holders: Holders,
    facts: Vec<Facts>,
    /// Of active segments.
    tokens: u64,
}

impl Window {
    /// Adds an active segment that holds the given identifiers and paths.
    pub fn add(&mut self, facts: Facts, keys: &[u64]) -> SegmentIndex {
        let segment = self.graph.add_segment();
        let held = self.holders.add_segment(keys);
        assert!(segment == held, "graph and holders count the same segments");
        self.tokens += u64::from(facts.tokens);
        self.facts.push(facts);
        segment
    }

    /// See [`Graph::refer`]. Whether this touches the segment referred to is the caller's decision: [`Self::touch`].
    pub fn refer(&mut self, from: SegmentIndex, to: SegmentIndex, kind: ReferenceKind) {
        self.graph.refer(from, to, kind);
    }

    pub fn add_hub(&mut self) -> Hub {
        self.graph.add_hub()
    }

    pub fn join(&mut self, segment: SegmentIndex, hub: Hub) {
        self.graph.join(segment, hub);
    }

    pub fn touch(&mut self, segment: SegmentIndex, now: Now) {
        let facts = &mut self.facts[segment.place()];
        facts.last_touched_step = now.step;
        facts.last_touched_at = now.at;
    }

    pub fn stash(&mut self, segment: SegmentIndex, at: Timestamp) {
        self.set_state(segment, SegmentState::Stashed);
        self.facts[segment.place()].stashed_at = Some(at);
    }

    /// Back into its place; this touches it, and its survivals count anew.
    pub fn restore(&mut self, segment: SegmentIndex, now: Now) {
        self.set_state(segment, SegmentState::Active);
        self.facts[segment.place()].stashed_at = None;
        self.facts[segment.place()].survival_count = 0;
        self.touch(segment, now);
    }

    pub fn delete(&mut self, segment: SegmentIndex) {
        self.set_state(segment, SegmentState::Deleted);
    }

    fn set_state(&mut self, segment: SegmentIndex, state: SegmentState) {
        let was_active = self.graph.is_active(segment);
        let is_active = state == SegmentState::Active;
        self.graph.set_state(segment, state);
        self.holders.set_active(segment, is_active);
        let tokens = u64::from(self.facts[segment.place()].tokens);
        match (was_active, is_active) {
            (true, false) => self.tokens -= tokens,
            (false, true) => self.tokens += tokens,
            _ => {}
        }
    }

    /// Changes facts other than the number of tokens, which is given once.
    pub fn update(&mut self, segment: SegmentIndex, change: impl FnOnce(&mut Facts)) {
        let facts = &mut self.facts[segment.place()];
        let tokens = facts.tokens;
        change(facts);
        facts.tokens = tokens;
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub fn holders(&self) -> &Holders {
        &self.holders
    }

    pub fn facts(&self, segment: SegmentIndex) -> &Facts {
        &self.facts[segment.place()]
    }

    /// Tokens of all active segments.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
}
