//! The same window, remembered as it was told and recounted from the start for every question.

use std::collections::{BTreeMap, BTreeSet};

use rootset_gc::context::{
    Author, Facts, Focus, Now, Population, ReferenceKind, SegmentIndex, SegmentState, SegmentType,
};

use super::edits::{NOW, Told};

#[derive(Debug, Default)]
pub struct Naive {
    pub told: Vec<Told>,
    pub states: Vec<SegmentState>,
    /// As told and changed; recency is recounted.
    pub facts: Vec<Facts>,
    pub collections: u32,
    touches: Vec<(SegmentIndex, Now)>,
    /// From whom to whom, with the strongest kind; both ways for pairs.
    references: BTreeMap<(SegmentIndex, SegmentIndex), ReferenceKind>,
}

/// Limits that these small windows do not reach are left to unit tests.
const COMMON_MENTIONS: usize = 8;

impl Naive {
    pub fn add(&mut self, told: &Told) {
        self.told.push(told.clone());
        self.states.push(SegmentState::Active);
        self.facts.push(told.facts);
    }

    pub fn touch(&mut self, segment: SegmentIndex, now: Now) {
        self.touches.push((segment, now));
    }

    /// Who refers to whom, and when everybody was last touched; after the last edit.
    pub fn recount(&mut self) {
        let bound: Vec<_> = self.all().flat_map(|segment| self.bound(segment)).filter(|it| it.0 != it.1).collect();
        for (from, to, kind) in bound {
            let mut note = |one, other| {
                let known = self.references.entry((one, other)).or_insert(kind);
                *known = kind.max(*known);
            };
            note(from, to);
            if kind == ReferenceKind::Pair {
                note(to, from);
            }
        }
        for segment in self.all() {
            let explicit = self.last_explicit_touch(segment);
            let later = self.referrers_of(segment).into_iter().filter(|from| *from > segment);
            let referrers: Vec<&Facts> = later.map(|from| &self.told[from.0 as usize].facts).collect();
            let step = referrers.iter().map(|it| it.created_step).max().unwrap_or(0).max(explicit.step);
            let at = referrers.iter().map(|it| it.created_at).max().unwrap_or(explicit.at).max(explicit.at);
            self.facts[segment.0 as usize].last_touched_step = step;
            self.facts[segment.0 as usize].last_touched_at = at;
        }
    }

    pub fn last_explicit_touch(&self, segment: SegmentIndex) -> Now {
        let told = &self.told[segment.0 as usize].facts;
        let touches = || self.touches.iter().filter(|(touched, _)| *touched == segment).map(|(_, now)| now);
        let step = touches().map(|now| now.step).max().unwrap_or(0).max(told.last_touched_step);
        let at = touches().map(|now| now.at).max().unwrap_or(told.last_touched_at).max(told.last_touched_at);
        Now { step, at }
    }

    fn bound(&self, segment: SegmentIndex) -> Vec<(SegmentIndex, SegmentIndex, ReferenceKind)> {
        let told = &self.told[segment.0 as usize];
        let mut bound = Vec::new();
        for id in &told.references {
            let has_id = |other: &SegmentIndex| self.told[other.0 as usize].id == *id;
            let known = self.all().filter(|other| *other <= segment).rfind(has_id);
            let later = || self.all().filter(|other| *other > segment).find(has_id);
            bound.extend(known.or_else(later).map(|other| (segment, other, ReferenceKind::Explicit)));
        }
        let first_of_call = told.pair.map(|call| self.first_of_call(call, segment));
        bound.extend(first_of_call.map(|first| (segment, first, ReferenceKind::Pair)));
        let earlier = self.overlapped(segment).into_iter().chain(self.introducers(segment));
        bound.extend(earlier.map(|earlier| (segment, earlier, ReferenceKind::Implicit)));
        bound
    }

    fn first_of_call(&self, call: u64, segment: SegmentIndex) -> SegmentIndex {
        let mut group: Vec<SegmentIndex> = Vec::new();
        for other in self.all().filter(|other| *other <= segment && self.told[other.0 as usize].pair == Some(call)) {
            let asks = |it: &SegmentIndex| self.told[it.0 as usize].facts.author == Author::Assistant;
            if asks(&other) && group.iter().any(asks) && !group.iter().all(asks) {
                group.clear();
            }
            group.push(other);
        }
        group[0]
    }

    fn overlapped(&self, segment: SegmentIndex) -> Vec<SegmentIndex> {
        let view = &self.told[segment.0 as usize].facts;
        let overlaps = |other: &SegmentIndex| {
            let other = &self.told[other.0 as usize].facts;
            let share_lines = match (view.lines, other.lines) {
                (Some(one), Some(other)) => (one.first..=one.last).any(|it| (other.first..=other.last).contains(&it)),
                _ => true,
            };
            is_view(view) && is_view(other) && view.file == other.file && share_lines
        };
        self.all().filter(|other| *other < segment).filter(overlaps).collect()
    }

    fn introducers(&self, segment: SegmentIndex) -> BTreeSet<SegmentIndex> {
        let names = self.told[segment.0 as usize].names.iter();
        let earlier = names.map(|name| self.holders_of(*name).into_iter().filter(|it| *it < segment));
        let uncommon = earlier.filter(|earlier| earlier.clone().count() <= COMMON_MENTIONS);
        uncommon.filter_map(|mut earlier| earlier.next()).collect()
    }

    pub fn is_superseded(&self, segment: SegmentIndex) -> bool {
        let place = |it: SegmentIndex| (self.facts[it.0 as usize].created_step, it);
        let facts = &self.facts[segment.0 as usize];
        let covers = |other: SegmentIndex, line: u32| {
            let newer = &self.facts[other.0 as usize];
            let is_newer = self.is_active(other) && place(other) > place(segment);
            let shows = newer.lines.is_some_and(|lines| (lines.first..=lines.last).contains(&line));
            is_newer && is_view(newer) && newer.file == facts.file && shows
        };
        let is_shown = |line: u32| self.all().any(|other| covers(other, line));
        is_view(facts) && facts.lines.is_some_and(|lines| (lines.first..=lines.last).all(is_shown))
    }

    pub fn survival_count(&self, segment: SegmentIndex) -> u32 {
        let survived = self.collections.saturating_sub(self.facts[segment.0 as usize].entered_collection);
        if self.is_active(segment) { survived } else { 0 }
    }

    /// What is stashed and named by a segment that is about to be added: by id, then by most names, then the last added.
    pub fn recalls(&self, told: &Told) -> Vec<SegmentIndex> {
        let is_stashed = |it: &SegmentIndex| self.states[it.0 as usize] == SegmentState::Stashed;
        let mut counts: BTreeMap<SegmentIndex, usize> = BTreeMap::new();
        for name in told.names.iter().filter(|name| self.active_holders(**name) == 0) {
            if let Some(holder) = self.holders_of(*name).into_iter().rfind(is_stashed) {
                *counts.entry(holder).or_default() += 1;
            }
        }
        for id in &told.references {
            let known = self.all().rfind(|other| self.told[other.0 as usize].id == *id);
            if let Some(named) = known.filter(is_stashed) {
                counts.insert(named, usize::MAX);
            }
        }
        let mut recalled: Vec<(usize, SegmentIndex)> = counts.into_iter().map(|(it, count)| (count, it)).collect();
        recalled.sort_unstable_by(|a, b| b.cmp(a));
        recalled.into_iter().map(|(_, segment)| segment).collect()
    }

    pub fn all(&self) -> impl DoubleEndedIterator<Item = SegmentIndex> + use<> {
        (0..self.states.len() as u32).map(SegmentIndex)
    }

    pub fn is_active(&self, segment: SegmentIndex) -> bool {
        self.states[segment.0 as usize] == SegmentState::Active
    }

    pub fn tokens_of(&self, is_counted: impl Fn(SegmentIndex) -> bool) -> u64 {
        let counted = self.all().filter(|segment| is_counted(*segment));
        counted.map(|segment| u64::from(self.facts[segment.0 as usize].tokens)).sum()
    }

    pub fn references_of(&self, segment: SegmentIndex) -> BTreeSet<(SegmentIndex, ReferenceKind)> {
        let own = self.references.iter().filter(|((from, _), _)| *from == segment);
        own.map(|((_, to), kind)| (*to, *kind)).collect()
    }

    pub fn referrers_of(&self, segment: SegmentIndex) -> BTreeSet<SegmentIndex> {
        self.references.keys().filter(|(_, to)| *to == segment).map(|(from, _)| *from).collect()
    }

    pub fn refcount(&self, segment: SegmentIndex) -> u32 {
        self.referrers_of(segment).into_iter().filter(|other| self.is_active(*other)).count() as u32
    }

    pub fn refcount_from_others(&self, segment: SegmentIndex) -> u32 {
        let is_pair = |other: &SegmentIndex| self.references.get(&(*other, segment)) == Some(&ReferenceKind::Pair);
        let others = self.referrers_of(segment).into_iter().filter(|other| self.is_active(*other));
        others.filter(|other| !is_pair(other)).count() as u32
    }

    pub fn companions(&self, segment: SegmentIndex) -> u32 {
        let hubs = |it: SegmentIndex| &self.told[it.0 as usize].hubs;
        let others = |hub: &u64| {
            let members = self.all().filter(|member| *member != segment && hubs(*member).contains(hub));
            members.filter(|member| self.is_active(*member)).count() as u32
        };
        hubs(segment).iter().map(others).max().unwrap_or(0)
    }

    /// In order of addition.
    pub fn holders_of(&self, key: u64) -> Vec<SegmentIndex> {
        self.all().filter(|segment| self.told[segment.0 as usize].names.contains(&key)).collect()
    }

    pub fn active_holders(&self, key: u64) -> u32 {
        self.holders_of(key).into_iter().filter(|holder| self.is_active(*holder)).count() as u32
    }

    pub fn sole_count(&self, segment: SegmentIndex) -> u32 {
        let names: BTreeSet<&u64> = self.told[segment.0 as usize].names.iter().collect();
        names.into_iter().filter(|key| self.is_active(segment) && self.active_holders(**key) == 1).count() as u32
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
        let (mut type_keep, half_lives) = match facts.segment_type {
            SegmentType::Log => (1.0, 0.5),
            SegmentType::Code => (1.15, 1.0),
            SegmentType::Message => (1.3, 1.0),
            SegmentType::Note => (2.2, 2.0),
            SegmentType::Summary => (3.1, 4.0),
            SegmentType::Decision => (4.0, 8.0),
        };
        if facts.segment_type == SegmentType::Message && facts.author == Author::User {
            type_keep = 2.2;
        }
        let steps = (NOW.step as f64 - facts.last_touched_step as f64).max(0.0);
        let minutes = (NOW.at.0 - facts.last_touched_at.0).max(0) as f64 / 60_000.0;
        let idle = (steps / (steps + half_lives * 32.0) + minutes / (minutes + half_lives * 30.0)) / 2.0;
        let companions = f64::from(self.companions(segment));
        let references = f64::from(self.refcount_from_others(segment)) + companions / (companions + 4.0);
        let survivals = self.survival_count(segment);
        let young = if survivals >= 2 { 0.0 } else { 1.0 / (1.0 + f64::from(survivals)) };
        let keep = type_keep
            * (1.1 - 0.1 / (1.0 + references))
            * (1.1 - 0.1 * young)
            * if self.is_superseded(segment) { 1.0 } else { 1.25 }
            * if focus.warm_files.iter().any(|file| Some(*file) == facts.file) { 2.0 } else { 1.0 };
        let worth = self.names_worth(segment) + self.view_worth(segment) + self.words_worth(segment);
        let worth = (worth + 0.03 * (1.0 - idle)) * keep;
        1.0 / (1.0 + worth / (f64::from(facts.tokens.max(1)) / 200.0))
    }

    fn episode_start(&self) -> u64 {
        let asked = self.told.iter().filter(|told| told.facts.author == Author::User);
        asked.map(|told| told.facts.created_step).max().unwrap_or(0)
    }

    fn names_worth(&self, segment: SegmentIndex) -> f64 {
        let names: BTreeSet<u64> = self.told[segment.0 as usize].names.iter().copied().collect();
        let worth = |name: u64| {
            let holders = self.holders_of(name);
            let last = holders.iter().map(|it| self.last_explicit_touch(*it).step).max().unwrap_or(0);
            let uses = holders.iter().filter(|it| self.told[it.0 as usize].facts.author == Author::Assistant).count();
            let by_use = [0.1, 1.0, 2.0][uses.min(2)];
            let by_episode = if last >= self.episode_start() { 1.0 } else { 0.25 };
            let by_age = 0.5_f64.powf(NOW.step.saturating_sub(last) as f64 / 128.0);
            let shared = 0.05_f64.powf(f64::from(self.active_holders(name)) - 1.0);
            if holders.len() > COMMON_MENTIONS { 0.0 } else { by_use * by_episode * by_age * shared }
        };
        names.into_iter().map(worth).sum()
    }

    /// What the user said since the assistant last answered without a call.
    pub fn instructions(&self) -> BTreeSet<SegmentIndex> {
        let mut said = BTreeSet::new();
        let mut is_answered = false;
        for segment in self.all() {
            let told = &self.told[segment.0 as usize];
            match told.facts.author {
                Author::Assistant => is_answered = told.pair.is_none(),
                Author::User if told.facts.segment_type != SegmentType::Summary => {
                    if is_answered {
                        said.clear();
                    }
                    is_answered = false;
                    said.insert(segment);
                }
                _ => {}
            }
        }
        said
    }

    fn words_worth(&self, segment: SegmentIndex) -> f64 {
        let facts = &self.facts[segment.0 as usize];
        let entered = self.last_explicit_touch(segment).step;
        let age = NOW.step.saturating_sub(entered) as f64;
        let (fresh, half_life) = if facts.author == Author::Assistant { (2.0, 32.0) } else { (0.3, 8.0) };
        let is_of_episode = entered >= self.episode_start();
        if is_of_episode { fresh * 0.5_f64.powf(age / half_life) * f64::from(facts.tokens) / 200.0 } else { 0.0 }
    }

    fn view_worth(&self, segment: SegmentIndex) -> f64 {
        let facts = &self.facts[segment.0 as usize];
        let entered = self.last_explicit_touch(segment).step;
        if !is_view(facts) || self.is_superseded(segment) || entered < self.episode_start() {
            return 0.0;
        }
        let shown = self.all().map(|it| (self.facts[it.0 as usize].created_step, it));
        let latest = shown.filter(|(_, it)| is_view(&self.facts[it.0 as usize])).max();
        let is_latest = latest.is_some_and(|(_, it)| self.facts[it.0 as usize].file == facts.file);
        let age = NOW.step.saturating_sub(entered) as f64;
        if is_latest { 10.0 * 0.5_f64.powf(age / 32.0) } else { 2.5 * 0.5_f64.powf(age / 32.0) }
    }
}

fn is_view(facts: &Facts) -> bool {
    let shows = matches!(facts.segment_type, SegmentType::Code | SegmentType::Log | SegmentType::Message);
    facts.file.is_some() && shows
}
