//! A session's segments: references, holders and facts, changed together so that they never disagree.
//!
//! Which references an addition makes depends on the additions before it alone, never on what has left since. So a session
//! is loaded by adding its segments again in their order, with the facts of then, and setting states, pins and explicit
//! touches afterwards. The same is true of which instructions of the user are still open.

use rootset_model::Timestamp;

use super::bindings::Bindings;
use super::graph::{Graph, ReferenceKind};
use super::holders::{Holders, Mention, is_loose};
use super::instructions::Instructions;
use super::recall::{Recall, recalls};
use super::segment::{Author, Facts, Generation, Now, SegmentIndex, SegmentState};
use super::views::{Cover, Views};

/// Collections that a segment survives before it is old.
pub const SURVIVALS_FOR_OLD: u32 = 2;
/// What the session began with stays up to this part of the window, even if it was done long ago.
const FIRST_INSTRUCTION_DIVISOR: u64 = 20;
/// Implicit references of one segment; the most recent of those there could be.
const IMPLICIT_REFERENCES_MAX: usize = 32;

#[derive(Clone, Debug, Default)]
pub struct Window {
    graph: Graph,
    holders: Holders,
    views: Views,
    bindings: Bindings,
    facts: Vec<Facts>,
    /// By place: when the segment was last touched by itself (added, restored, pinned) and not through a reference.
    entered_steps: Vec<u64>,
    /// Of active segments.
    tokens: u64,
    collections: u32,
    episode_start: u64,
    instructions: Instructions,
    /// The file that was shown last, and when.
    latest_view: Option<(u64, u64)>,
    /// Nothing was stashed before; what was first may be back by now.
    first_stashed_at: Option<Timestamp>,
}

/// A segment as a caller brings it. All that is text is a hash of the caller's making.
#[derive(Clone, Copy, Debug)]
pub struct NewSegment<'a> {
    /// Of the caller's name for it.
    pub id: u64,
    pub facts: Facts,
    /// Identifiers and paths that it holds, and numbers: those are [loose](super::is_loose).
    pub names: &'a [u64],
    /// The tool call that it is, or the result of.
    pub pair: Option<u64>,
    /// Ids that it names explicitly, also of segments that are still to come.
    pub references: &'a [u64],
    /// Topic and tags.
    pub hubs: &'a [u64],
}

impl NewSegment<'_> {
    /// Holds nothing and refers to nothing; callers change what does.
    pub fn new(id: u64, facts: Facts) -> Self {
        Self { id, facts, names: &[], pair: None, references: &[], hubs: &[] }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    pub segment: SegmentIndex,
    pub recalls: Vec<Recall>,
}

impl Window {
    /// Adds an active segment, binds it to others and touches those it refers to. Who is added under an id that is known
    /// takes the id over.
    pub fn add(&mut self, new: &NewSegment<'_>) -> Added {
        let recalls = recalls(new, &self.bindings, &self.graph, &self.holders);
        let implicit = self.implicit_references(new);
        let segment = self.graph.add_segment();
        let mention = Mention { step: new.facts.last_touched_step, is_use: new.facts.author == Author::Assistant };
        let held = self.holders.add_segment(new.names, mention);
        assert!(segment == held, "graph and holders count the same segments");
        self.facts.push(new.facts);
        self.entered_steps.push(new.facts.last_touched_step);
        self.tokens += u64::from(new.facts.tokens);
        self.note_episode_and_file(segment);
        self.instructions.note(segment, &new.facts, new.pair.is_some());

        for earlier in implicit {
            self.refer_and_touch(segment, earlier, ReferenceKind::Implicit);
        }
        self.bind(segment, new);
        Added { segment, recalls }
    }

    /// Earlier views of the same lines, and whoever introduced a name that is not common; the most recent ones.
    fn implicit_references(&self, new: &NewSegment<'_>) -> Vec<SegmentIndex> {
        let views = self.views.overlapped_by(&new.facts, &self.facts);
        let tying = new.names.iter().filter(|name| !is_loose(**name));
        let keys = tying.filter_map(|name| self.holders.key_of_name(*name));
        let introducers = keys.filter(|key| !key.is_common()).map(|key| key.introduced_by);
        let mut earlier: Vec<SegmentIndex> = views.chain(introducers).collect();
        earlier.sort_unstable_by(|a, b| b.cmp(a));
        earlier.dedup();
        earlier.truncate(IMPLICIT_REFERENCES_MAX);
        earlier
    }

    /// Who stands in the place of something earlier neither begins an episode nor shows anything later.
    fn note_episode_and_file(&mut self, segment: SegmentIndex) {
        let facts = &self.facts[segment.place()];
        let step = facts.created_step;
        if facts.author == Author::User {
            self.episode_start = self.episode_start.max(step);
        }
        if let Some(file) = facts.file.filter(|_| facts.is_view()) {
            self.views.add(segment, file);
            if self.latest_view.is_none_or(|(_, shown_step)| shown_step <= step) {
                self.latest_view = Some((file, step));
            }
        }
    }

    fn bind(&mut self, segment: SegmentIndex, new: &NewSegment<'_>) {
        for referrer in self.bindings.introduce(new.id, segment) {
            self.graph.refer(referrer, segment, ReferenceKind::Explicit);
        }
        for id in new.references {
            match self.bindings.segment(*id) {
                Some(earlier) => self.refer_and_touch(segment, earlier, ReferenceKind::Explicit),
                None => self.bindings.wait_for(*id, segment),
            }
        }
        if let Some(call) = new.pair
            && let Some(other) = self.bindings.pair(call, segment, new.facts.author)
        {
            self.refer_and_touch(segment, other, ReferenceKind::Pair);
        }
        for hub in new.hubs {
            let hub = self.bindings.hub(*hub, || self.graph.add_hub());
            self.graph.join(segment, hub);
        }
    }

    fn refer_and_touch(&mut self, from: SegmentIndex, to: SegmentIndex, kind: ReferenceKind) {
        self.graph.refer(from, to, kind);
        let now = self.facts[from.place()].created();
        self.facts[to.place()].raise_recency(now);
    }

    /// Whoever refers to the original refers to what stands in its place, too.
    pub fn inherit_referrers(&mut self, successor: SegmentIndex, original: SegmentIndex) {
        let referrers: Vec<SegmentIndex> = self.graph.referrers_of(original).collect();
        for referrer in referrers {
            self.graph.refer(referrer, successor, ReferenceKind::Explicit);
        }
    }

    /// The segment that was added under an id, whatever its state.
    pub fn index_of(&self, id: u64) -> Option<SegmentIndex> {
        self.bindings.segment(id)
    }

    pub fn stash(&mut self, segment: SegmentIndex, at: Timestamp) {
        self.set_state(segment, SegmentState::Stashed, Some(at));
    }

    /// Back into its place; this touches it, and its survivals count anew.
    pub fn restore(&mut self, segment: SegmentIndex, now: Now) {
        self.set_state(segment, SegmentState::Active, None);
        self.set_entered_collection(segment, self.collections);
        self.touch(segment, now);
    }

    pub fn delete(&mut self, segment: SegmentIndex) {
        self.set_state(segment, SegmentState::Deleted, self.facts[segment.place()].stashed_at);
    }

    /// As stored, without touching: for loading and undo.
    pub fn set_state(&mut self, segment: SegmentIndex, state: SegmentState, stashed_at: Option<Timestamp>) {
        let was_active = self.graph.is_active(segment);
        let is_active = state == SegmentState::Active;
        self.graph.set_state(segment, state);
        self.holders.set_active(segment, is_active);
        let facts = &mut self.facts[segment.place()];
        facts.stashed_at = stashed_at;
        if let Some(at) = stashed_at {
            self.first_stashed_at = Some(self.first_stashed_at.map_or(at, |first| first.min(at)));
        }
        match (was_active, is_active) {
            (true, false) => self.tokens -= u64::from(facts.tokens),
            (false, true) => self.tokens += u64::from(facts.tokens),
            _ => {}
        }
    }

    pub fn set_pinned(&mut self, segment: SegmentIndex, is_pinned: bool) {
        self.facts[segment.place()].is_pinned = is_pinned;
    }

    pub fn set_invariant(&mut self, segment: SegmentIndex, is_invariant: bool) {
        self.facts[segment.place()].is_invariant = is_invariant;
    }

    /// The segment itself is of interest: what it holds and shows belongs to the present again. Never lowers recency.
    pub fn touch(&mut self, segment: SegmentIndex, now: Now) {
        self.facts[segment.place()].raise_recency(now);
        let entered = &mut self.entered_steps[segment.place()];
        *entered = (*entered).max(now.step);
        self.holders.renew(segment, now.step);
    }

    pub fn set_entered_collection(&mut self, segment: SegmentIndex, collection: u32) {
        self.facts[segment.place()].entered_collection = collection;
    }

    /// How many collections the session has seen.
    pub fn collections(&self) -> u32 {
        self.collections
    }

    /// As stored: for loading.
    pub fn set_collections(&mut self, collections: u32) {
        self.collections = collections;
    }

    /// Every active segment survived one more.
    pub fn count_collection(&mut self) {
        self.collections = self.collections.saturating_add(1);
    }

    /// Collections that an active segment survived since it was added or restored.
    pub fn survival_count(&self, segment: SegmentIndex) -> u32 {
        let survived = self.collections.saturating_sub(self.facts(segment).entered_collection);
        if self.graph.is_active(segment) { survived } else { 0 }
    }

    pub fn generation(&self, segment: SegmentIndex) -> Generation {
        if self.survival_count(segment) >= SURVIVALS_FOR_OLD { Generation::Old } else { Generation::Young }
    }

    /// Whether newer active views of the same file show all its lines. Reads the views of that file.
    pub fn is_superseded(&self, segment: SegmentIndex) -> bool {
        let facts = self.facts(segment);
        let (Some(file), Some(lines), true) = (facts.file, facts.lines, facts.is_view()) else { return false };
        let mut cover = Cover::default();
        for other in self.views.of_file(file).filter(|other| self.graph.is_active(*other)) {
            let newer = self.facts(other);
            if newer.place_of(other) > facts.place_of(segment)
                && let Some(lines) = newer.lines
            {
                cover.add(lines);
            }
        }
        cover.has(lines)
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

    pub(super) fn all_facts(&self) -> &[Facts] {
        &self.facts
    }

    /// When a segment was added, or last restored or pinned.
    pub(super) fn entered_step(&self, segment: SegmentIndex) -> u64 {
        self.entered_steps[segment.place()]
    }

    /// The step at which somebody asked for what is being done now.
    pub(super) fn episode_start(&self) -> u64 {
        self.episode_start
    }

    /// What the user asked for and has not got yet; and what the session began with, unless it is so long that it would be most of
    /// a small window.
    pub(super) fn instructions(&self) -> impl Iterator<Item = SegmentIndex> {
        let is_short =
            |first: &SegmentIndex| u64::from(self.facts(*first).tokens) <= self.tokens / FIRST_INSTRUCTION_DIVISOR;
        let current = self.instructions.current();
        let first = self.instructions.first().filter(|first| !current.contains(first)).filter(is_short);
        first.into_iter().chain(current.iter().copied())
    }

    /// What the user asked for and has not got yet in a conversation that is made of these segments, in order, each with whether
    /// it is a tool call or the result of one.
    pub fn open_instructions(&self, segments: impl Iterator<Item = (SegmentIndex, bool)>) -> Vec<SegmentIndex> {
        let mut told = Instructions::default();
        segments.for_each(|(segment, is_half)| told.note(segment, &self.facts[segment.place()], is_half));
        told.current().to_vec()
    }

    /// No segment is stashed for longer.
    pub(super) fn first_stashed_at(&self) -> Option<Timestamp> {
        self.first_stashed_at
    }

    /// The file that was shown last.
    pub(super) fn latest_file(&self) -> Option<u64> {
        self.latest_view.map(|(file, _)| file)
    }

    /// For tests of what does not depend on why a reference was made.
    #[cfg(test)]
    pub(super) fn refer(&mut self, from: SegmentIndex, to: SegmentIndex, kind: ReferenceKind) {
        self.graph.refer(from, to, kind);
    }
}
