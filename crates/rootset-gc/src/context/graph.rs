//! Who refers to whom: references in both directions, hubs for shared topics and tags, states, and reference counts that
//! are kept up to date with every change.
//!
//! There is one reference from a segment to another, of the strongest kind that was reported. References are never removed:
//! those of a segment that is not active do not count. A hub is not a segment: it cannot be a root, and nothing is
//! reached through it.

use std::collections::BTreeSet;

use super::bitset::Bitset;
use super::lists::{Cursor, Lists};
use super::segment::{SegmentIndex, SegmentState};

/// Two bits of an entry hold the kind of the reference.
const SEGMENTS_MAX: u32 = 1 << KIND_SHIFT;
const KIND_SHIFT: u32 = 30;

/// In order of strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReferenceKind {
    /// Same lines or function, an identifier or path that the earlier segment introduced.
    Implicit,
    /// Named by the caller.
    Explicit,
    /// A tool call and its result: they live and die together.
    Pair,
}

/// A topic or a tag that segments share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hub(pub u32);

/// Which segments count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// What is in the window.
    Active,
    /// What is in the window or may come back.
    ActiveAndStashed,
}

impl Population {
    pub fn holds(self, state: SegmentState) -> bool {
        match state {
            SegmentState::Active => true,
            SegmentState::Stashed => self == Self::ActiveAndStashed,
            SegmentState::Deleted => false,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    outgoing: Lists,
    /// Without kinds, so that a reference may become stronger without a search among everybody else's.
    incoming: Lists,
    states: Vec<SegmentState>,
    /// The same as bits, by population: what has left costs a bit where segments are walked.
    active: Bitset,
    active_and_stashed: Bitset,
    /// Incoming references from active segments.
    refcounts: Vec<u32>,
    /// Those of them that come from the other half of a pair.
    pair_refcounts: Vec<u32>,
    hubs_of: Lists,
    /// Active members of each hub.
    hub_members: Vec<u32>,
}

impl Graph {
    pub(super) fn add_segment(&mut self) -> SegmentIndex {
        let index = u32::try_from(self.states.len()).ok().filter(|index| *index < SEGMENTS_MAX);
        let index = index.expect("a session has fewer than a billion segments");
        self.outgoing.add_list();
        self.incoming.add_list();
        self.hubs_of.add_list();
        self.states.push(SegmentState::Active);
        self.active.push(true);
        self.active_and_stashed.push(true);
        self.refcounts.push(0);
        self.pair_refcounts.push(0);
        SegmentIndex(index)
    }

    pub(super) fn add_hub(&mut self) -> Hub {
        self.hub_members.push(0);
        Hub(u32::try_from(self.hub_members.len() - 1).expect("fewer hubs than segments have tags"))
    }

    /// `from` refers to `to`. Nobody refers to himself; of two references between the same, the stronger stays.
    pub(super) fn refer(&mut self, from: SegmentIndex, to: SegmentIndex, kind: ReferenceKind) {
        if kind == ReferenceKind::Pair {
            self.refer_one_way(to, from, kind);
        }
        self.refer_one_way(from, to, kind);
    }

    fn refer_one_way(&mut self, from: SegmentIndex, to: SegmentIndex, kind: ReferenceKind) {
        assert!(to.place() < self.states.len(), "references to unknown segments wait elsewhere");
        if from == to {
            return;
        }
        let mut becomes_pair = kind == ReferenceKind::Pair;
        if self.has_reference(from, to) {
            let entry = self.outgoing.find_mut(from.0, |entry| target_of(entry) == to);
            let entry = entry.expect("what comes in goes out somewhere");
            let known = kind_of(*entry);
            *entry = entry_of(to, known.max(kind));
            becomes_pair &= known != ReferenceKind::Pair;
        } else {
            self.outgoing.push(from.0, entry_of(to, kind));
            self.incoming.push(to.0, from.0);
            self.refcounts[to.place()] += u32::from(self.is_active(from));
        }
        self.pair_refcounts[to.place()] += u32::from(becomes_pair && self.is_active(from));
    }

    /// Looks at both ends at once and stops with the shorter list: one of them may be as long as the session.
    fn has_reference(&self, from: SegmentIndex, to: SegmentIndex) -> bool {
        let (mut outgoing, mut incoming) = (self.outgoing.cursor(from.0), self.incoming.cursor(to.0));
        while let (Some(entry), Some(referrer)) = (self.outgoing.next(&mut outgoing), self.incoming.next(&mut incoming))
        {
            if target_of(entry) == to || referrer == from.0 {
                return true;
            }
        }
        false
    }

    pub(super) fn join(&mut self, segment: SegmentIndex, hub: Hub) {
        if !self.hubs_of.entries(segment.0).any(|joined| joined == hub.0) {
            self.hub_members[hub.0 as usize] += u32::from(self.is_active(segment));
            self.hubs_of.push(segment.0, hub.0);
        }
    }

    pub(super) fn set_state(&mut self, segment: SegmentIndex, state: SegmentState) {
        let before = std::mem::replace(&mut self.states[segment.place()], state);
        let (was_active, is_active) = (before == SegmentState::Active, state == SegmentState::Active);
        self.active.set(segment.place(), Population::Active.holds(state));
        self.active_and_stashed.set(segment.place(), Population::ActiveAndStashed.holds(state));
        if was_active == is_active {
            return;
        }
        let count = |counter: &mut u32| if is_active { *counter += 1 } else { *counter -= 1 };
        for entry in self.outgoing.entries(segment.0) {
            count(&mut self.refcounts[target_of(entry).place()]);
            if kind_of(entry) == ReferenceKind::Pair {
                count(&mut self.pair_refcounts[target_of(entry).place()]);
            }
        }
        for hub in self.hubs_of.entries(segment.0) {
            count(&mut self.hub_members[hub as usize]);
        }
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    pub fn state(&self, segment: SegmentIndex) -> SegmentState {
        self.states[segment.place()]
    }

    pub fn is_active(&self, segment: SegmentIndex) -> bool {
        self.state(segment) == SegmentState::Active
    }

    /// All segments of a population, in order of addition.
    pub fn segments(&self, population: Population) -> impl Iterator<Item = SegmentIndex> {
        self.population(population).places().map(SegmentIndex)
    }

    /// Incoming references from active segments.
    pub fn refcount(&self, segment: SegmentIndex) -> u32 {
        self.refcounts[segment.place()]
    }

    /// The same without the other half of a pair, which leaves with it and so is no reason to stay.
    pub fn refcount_from_others(&self, segment: SegmentIndex) -> u32 {
        self.refcounts[segment.place()] - self.pair_refcounts[segment.place()]
    }

    /// Active members of a hub.
    fn hub_members(&self, hub: Hub) -> u32 {
        self.hub_members[hub.0 as usize]
    }

    /// Other active members of its most crowded hub.
    pub fn companions(&self, segment: SegmentIndex) -> u32 {
        let members = self.hubs_of.entries(segment.0).map(|hub| self.hub_members(Hub(hub))).max().unwrap_or(0);
        members.saturating_sub(u32::from(self.is_active(segment)))
    }

    /// Whom a segment refers to, whatever their state.
    pub fn references_of(&self, segment: SegmentIndex) -> impl Iterator<Item = (SegmentIndex, ReferenceKind)> {
        self.outgoing.entries(segment.0).map(|entry| (target_of(entry), kind_of(entry)))
    }

    /// Who refers to a segment, whatever their state.
    pub fn referrers_of(&self, segment: SegmentIndex) -> impl Iterator<Item = SegmentIndex> {
        self.incoming.entries(segment.0).map(SegmentIndex)
    }

    /// The segment and all of the population that are paired with it, directly or through each other, ascending.
    pub fn pair_group(&self, segment: SegmentIndex, population: Population) -> Vec<SegmentIndex> {
        let mut group = BTreeSet::from([segment]);
        let mut waiting = vec![segment];
        while let Some(member) = waiting.pop() {
            waiting.extend(self.pairs_of(member, population).filter(|other| group.insert(*other)));
        }
        group.into_iter().collect()
    }

    /// By place: the first segment of the group, for all groups in one pass. Who has no pair leads himself.
    pub(super) fn pair_leaders(&self, population: Population) -> Vec<SegmentIndex> {
        let mut leaders: Vec<SegmentIndex> = (0..self.len() as u32).map(SegmentIndex).collect();
        let mut waiting = Vec::new();
        // Ascending, so that the first to reach a group is its first segment.
        for leader in self.segments(population) {
            // Nobody in the window has a pair there whom no pair refers to.
            let is_alone = population == Population::Active && self.pair_refcounts[leader.place()] == 0;
            if is_alone || leaders[leader.place()] != leader {
                continue;
            }
            waiting.push(leader);
            while let Some(member) = waiting.pop() {
                for other in self.pairs_of(member, population) {
                    if other != leader && leaders[other.place()] == other {
                        leaders[other.place()] = leader;
                        waiting.push(other);
                    }
                }
            }
        }
        leaders
    }

    /// The other halves of a segment's pairs.
    pub fn pairs_of(&self, segment: SegmentIndex, population: Population) -> impl Iterator<Item = SegmentIndex> {
        let pairs = self.references_of(segment).filter(|(_, kind)| *kind == ReferenceKind::Pair);
        pairs.map(|(other, _)| other).filter(move |other| population.holds(self.state(*other)))
    }

    pub(super) fn population(&self, population: Population) -> &Bitset {
        match population {
            Population::Active => &self.active,
            Population::ActiveAndStashed => &self.active_and_stashed,
        }
    }

    pub(super) fn references_cursor(&self, segment: SegmentIndex) -> Cursor {
        self.outgoing.cursor(segment.0)
    }

    #[inline]
    pub(super) fn next_reference(&self, cursor: &mut Cursor) -> Option<SegmentIndex> {
        self.outgoing.next(cursor).map(target_of)
    }
}

fn entry_of(to: SegmentIndex, kind: ReferenceKind) -> u32 {
    to.0 | (kind as u32) << KIND_SHIFT
}

fn target_of(entry: u32) -> SegmentIndex {
    SegmentIndex(entry & (SEGMENTS_MAX - 1))
}

fn kind_of(entry: u32) -> ReferenceKind {
    match entry >> KIND_SHIFT {
        0 => ReferenceKind::Implicit,
        1 => ReferenceKind::Explicit,
        _ => ReferenceKind::Pair,
    }
}
