//! What leaves a list that does not fit: chosen like in any other window, but by whole units, and where the provider's cache is or
//! may be warm, first among what was never sent.

use std::collections::{HashMap, HashSet};

use rootset_api::{CacheState, FitLargest, FitOverLimit};
use rootset_gc::context::{Analysis, Region, SegmentIndex, SegmentState, Target, plan};
use rootset_store::LedgerAction;

use super::adding::unit_of_key;
use super::{Entry, Fitting, Known, Number, Standing, segments_of};
use crate::context::{Edit, analysis, stash_items};
use crate::error::ServiceError;

/// When sent messages have to change, so much of the window becomes free that the next change is some way off.
const FREE_PERCENT: u64 = 30;
/// The largest messages that an answer names when nothing may leave.
const LARGEST: usize = 3;
const KEPT: &str = "kept by the caller";
const NO_ROOM: &str = "the list must fit into its budget";

impl Fitting<'_> {
    /// Stashes until the list fits; tells what must stay if even that does not. Nothing leaves in that case.
    pub(super) fn make_room(
        &self,
        edit: &mut Edit<'_>,
        standing: &mut Standing,
    ) -> Result<Option<FitOverLimit>, ServiceError> {
        if self.fits(standing, &standing.is_out) {
            return Ok(None);
        }
        self.pin_kept(edit, standing);
        let owners = owners(edit, standing);
        let asked = self.asked(edit, standing);
        let droppable = droppable(&self.analysed(edit, &owners, &asked, 0), &owners, edit, standing);
        let mut all_out = standing.is_out.clone();
        droppable.iter().for_each(|number| all_out[*number as usize] = true);
        if !self.fits(standing, &all_out) {
            return Ok(Some(self.over_limit(standing, &all_out)));
        }
        let is_cold = self.list.cache_state == CacheState::Cold;
        let mut first = if is_cold { 0 } else { standing.first_new };
        while !self.fits(standing, &standing.is_out) {
            let analysis = self.analysed(edit, &owners, &asked, first);
            let room = if first > 0 { 0 } else { self.list.available / 100 * FREE_PERCENT };
            let tokens = self.surplus(standing, room);
            let possible: u64 = analysis.candidates.iter().map(|it| u64::from(it.tokens)).sum();
            if first > 0 && possible < tokens {
                first = 0;
                continue;
            }
            let target = Target { tokens, stash_retention_ms: None, region: Region::Anywhere };
            let plan = plan(edit.live.window(), &analysis, target);
            let stashed = stash_items(edit, &plan);
            for (segment, _) in &stashed {
                standing.is_out[owners[segment] as usize] = true;
            }
            if stashed.is_empty() {
                self.stash_all(edit, standing, &droppable);
            }
        }
        edit.live.window_mut().count_collection();
        edit.change_state();
        Ok(None)
    }

    fn fits(&self, standing: &Standing, is_out: &[bool]) -> bool {
        let (_, tokens) = standing.arranged(is_out, self.list);
        standing.history.as_observed(tokens) <= self.list.available
    }

    /// Tokens that have to leave so that so many are free.
    fn surplus(&self, standing: &Standing, room: u64) -> u64 {
        let (_, tokens) = standing.arranged(&standing.is_out, self.list);
        let counted = standing.history.as_observed(tokens);
        counted.saturating_sub(self.list.available.saturating_sub(room)).max(1)
    }

    /// The window, and as candidates only messages of the list whose whole units begin at a number.
    fn analysed(
        &self,
        edit: &Edit<'_>,
        owners: &HashMap<SegmentIndex, Number>,
        asked: &HashSet<Number>,
        first: Number,
    ) -> Analysis {
        let mut analysis = analysis(edit, &self.settings);
        analysis.candidates.retain(|candidate| {
            let unit = edit.live.row(candidate.segment).tool_call_id.as_deref().and_then(unit_of_key);
            let owner = owners.get(&candidate.segment);
            owner.is_some_and(|owner| unit.unwrap_or(*owner).min(*owner) >= first && !asked.contains(owner))
        });
        analysis
    }

    fn pin_kept(&self, edit: &mut Edit<'_>, standing: &Standing) {
        for (place, entry) in standing.entries.iter().enumerate() {
            let Entry::Message(number) = entry else { continue };
            let Known(hash, _) = standing.history.messages[*number as usize];
            let is_kept = self.list.keep.binary_search(&place).is_ok();
            for segment in segments_of(edit.live, *number, hash) {
                let row = edit.live.row(segment);
                let is_ours = row.pin_reason.as_deref() == Some(KEPT);
                if is_kept && !row.is_pinned {
                    edit.set_pinned(segment, true, Some(KEPT));
                } else if !is_kept && row.is_pinned && is_ours {
                    edit.set_pinned(segment, false, None);
                }
            }
        }
    }

    fn stash_all(&self, edit: &mut Edit<'_>, standing: &mut Standing, droppable: &[Number]) {
        for number in droppable {
            let Known(hash, _) = standing.history.messages[*number as usize];
            for segment in segments_of(edit.live, *number, hash) {
                if edit.live.window().graph().state(segment) == SegmentState::Active {
                    edit.stash(segment, NO_ROOM, LedgerAction::Stash);
                }
            }
            standing.is_out[*number as usize] = true;
        }
    }

    fn over_limit(&self, standing: &Standing, all_out: &[bool]) -> FitOverLimit {
        let (shape, tokens) = standing.arranged(all_out, self.list);
        let largest = |entry| match entry {
            Entry::Message(number) => {
                let tokens = u64::from(standing.history.messages[number as usize].1);
                standing.places[number as usize].map(|index| FitLargest { index, tokens })
            }
            Entry::Gap => None,
        };
        let mut largest: Vec<FitLargest> = shape.entries().filter_map(largest).collect();
        largest.sort_by_key(|message| (std::cmp::Reverse(message.tokens), message.index));
        largest.truncate(LARGEST);
        let tokens = standing.history.as_observed(tokens);
        FitOverLimit { tokens, available_tokens: self.list.available, largest }
    }
}

/// Whose the segments of the window are.
fn owners(edit: &Edit<'_>, standing: &Standing) -> HashMap<SegmentIndex, Number> {
    let mut owners = HashMap::new();
    for (number, Known(hash, _)) in standing.history.messages.iter().enumerate() {
        if !standing.is_out[number] {
            let segments = segments_of(edit.live, number as Number, *hash);
            owners.extend(segments.into_iter().map(|segment| (segment, number as Number)));
        }
    }
    owners
}

/// Messages all of whose segments may leave.
fn droppable(
    analysis: &Analysis,
    owners: &HashMap<SegmentIndex, Number>,
    edit: &Edit<'_>,
    standing: &Standing,
) -> Vec<Number> {
    let mut candidates: HashMap<Number, usize> = HashMap::new();
    for candidate in &analysis.candidates {
        if let Some(owner) = owners.get(&candidate.segment) {
            *candidates.entry(*owner).or_default() += 1;
        }
    }
    let is_whole = |(number, count): &(Number, usize)| {
        let Known(hash, _) = standing.history.messages[*number as usize];
        segments_of(edit.live, *number, hash).len() == *count
    };
    let mut numbers: Vec<Number> = candidates.into_iter().filter(is_whole).map(|(number, _)| number).collect();
    numbers.sort_unstable();
    numbers
}
