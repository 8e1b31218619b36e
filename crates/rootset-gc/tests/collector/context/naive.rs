//! The same window, remembered as it was told and recounted from the start for every question.

use std::collections::BTreeSet;

use rootset_gc::context::{
    Facts, Focus, Generation, Now, Population, ReferenceKind, SegmentIndex, SegmentState, SegmentType,
};

use super::edits::NOW;

#[derive(Debug, Default)]
pub struct Naive {
    pub states: Vec<SegmentState>,
    pub facts: Vec<Facts>,
    keys: Vec<BTreeSet<u64>>,
    /// As told: twice, to oneself, one way for pairs.
    pub references: Vec<(SegmentIndex, SegmentIndex, ReferenceKind)>,
    pub members: BTreeSet<(SegmentIndex, u32)>,
}

impl Naive {
    pub fn add(&mut self, facts: Facts, keys: &[u64]) {
        self.states.push(SegmentState::Active);
        self.facts.push(facts);
        self.keys.push(keys.iter().copied().collect());
    }

    pub fn touch(&mut self, segment: SegmentIndex, now: Now) {
        self.facts[segment.0 as usize].last_touched_step = now.step;
        self.facts[segment.0 as usize].last_touched_at = now.at;
    }

    pub fn all(&self) -> impl Iterator<Item = SegmentIndex> + use<> {
        (0..self.states.len() as u32).map(SegmentIndex)
    }

    pub fn is_active(&self, segment: SegmentIndex) -> bool {
        self.states[segment.0 as usize] == SegmentState::Active
    }

    pub fn tokens_of(&self, is_counted: impl Fn(SegmentIndex) -> bool) -> u64 {
        let counted = self.all().filter(|segment| is_counted(*segment));
        counted.map(|segment| u64::from(self.facts[segment.0 as usize].tokens)).sum()
    }

    /// With the strongest kind that was told.
    pub fn references_of(&self, segment: SegmentIndex) -> BTreeSet<(SegmentIndex, ReferenceKind)> {
        let kind_to = |other| {
            let told = self.references.iter().filter(|(from, to, kind)| {
                let is_back = *kind == ReferenceKind::Pair && (*from, *to) == (other, segment);
                (*from, *to) == (segment, other) || is_back
            });
            told.map(|(_, _, kind)| *kind).max()
        };
        let others = self.all().filter(|other| *other != segment);
        others.filter_map(|other| kind_to(other).map(|kind| (other, kind))).collect()
    }

    pub fn referrers_of(&self, segment: SegmentIndex) -> BTreeSet<SegmentIndex> {
        let refers = |other: &SegmentIndex| self.references_of(*other).iter().any(|(to, _)| *to == segment);
        self.all().filter(refers).collect()
    }

    pub fn refcount(&self, segment: SegmentIndex) -> u32 {
        self.referrers_of(segment).into_iter().filter(|other| self.is_active(*other)).count() as u32
    }

    pub fn refcount_from_others(&self, segment: SegmentIndex) -> u32 {
        let is_pair = |other: &SegmentIndex| self.references_of(*other).contains(&(segment, ReferenceKind::Pair));
        let others = self.referrers_of(segment).into_iter().filter(|other| self.is_active(*other));
        others.filter(|other| !is_pair(other)).count() as u32
    }

    pub fn hub_members(&self, hub: u32) -> u32 {
        self.members.iter().filter(|(member, of)| *of == hub && self.is_active(*member)).count() as u32
    }

    pub fn companions(&self, segment: SegmentIndex) -> u32 {
        let hubs = self.members.iter().filter(|(member, _)| *member == segment).map(|(_, hub)| *hub);
        let others = |hub| {
            let members = self.members.iter().filter(|(member, of)| *of == hub && *member != segment);
            members.filter(|(member, _)| self.is_active(*member)).count() as u32
        };
        hubs.map(others).max().unwrap_or(0)
    }

    /// In order of addition.
    pub fn holders_of(&self, key: u64) -> Vec<SegmentIndex> {
        self.all().filter(|segment| self.keys[segment.0 as usize].contains(&key)).collect()
    }

    pub fn active_holders(&self, key: u64) -> u32 {
        self.holders_of(key).into_iter().filter(|holder| self.is_active(*holder)).count() as u32
    }

    pub fn sole_count(&self, segment: SegmentIndex) -> u32 {
        let keys = self.keys[segment.0 as usize].iter();
        keys.filter(|key| self.is_active(segment) && self.active_holders(**key) == 1).count() as u32
    }

    /// What the roots reach when one segment is taken out, found by trying again until nothing changes.
    pub fn reached(
        &self,
        roots: &[SegmentIndex],
        population: Population,
        without: Option<SegmentIndex>,
    ) -> BTreeSet<SegmentIndex> {
        let counts = |it: &SegmentIndex| population.holds(self.states[it.0 as usize]) && Some(*it) != without;
        let mut reached: BTreeSet<SegmentIndex> = roots.iter().copied().filter(counts).collect();
        loop {
            let next = reached.iter().flat_map(|segment| self.references_of(*segment));
            let next: BTreeSet<SegmentIndex> = next.map(|(other, _)| other).filter(counts).collect();
            if next.is_subset(&reached) {
                return reached;
            }
            reached.extend(next);
        }
    }

    /// The formula once more, with the numbers written out.
    pub fn score(&self, segment: SegmentIndex, focus: &Focus) -> f64 {
        let facts = &self.facts[segment.0 as usize];
        let (type_part, half_steps, half_minutes) = match facts.segment_type {
            SegmentType::Log => (1.0, 10.0, 10.0),
            SegmentType::Code => (0.8, 20.0, 20.0),
            SegmentType::Message => (0.6, 30.0, 30.0),
            SegmentType::Note => (0.4, 60.0, 120.0),
            SegmentType::Summary => (0.2, 80.0, 240.0),
            SegmentType::Decision => (0.0, 120.0, 480.0),
        };
        let steps = (NOW.step as f64 - facts.last_touched_step as f64).max(0.0);
        let minutes = (NOW.at.0 - facts.last_touched_at.0).max(0) as f64 / 60_000.0;
        let idle = (steps / (steps + half_steps) + minutes / (minutes + half_minutes)) / 2.0;
        let companions = f64::from(self.companions(segment));
        let references = f64::from(self.refcount_from_others(segment)) + companions / (companions + 4.0);
        let is_old = facts.generation == Generation::Old;
        let generation = if is_old { 0.0 } else { 1.0 / (1.0 + f64::from(facts.survival_count)) };
        let tokens = f64::from(facts.tokens);
        let is_warm = focus.warm_files.iter().any(|file| Some(*file) == facts.file);
        let sum = 0.4 * idle
            + 0.3 * type_part
            + 0.2 / (1.0 + references)
            + 0.1 * generation
            + if facts.is_superseded { 0.2 } else { 0.0 }
            + 0.4 / (1.0 + f64::from(self.sole_count(segment)))
            + 0.1 * tokens / (tokens + 500.0)
            + if is_warm { 0.0 } else { 0.1 };
        sum / 1.8
    }
}
