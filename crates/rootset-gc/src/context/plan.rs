//! What should leave so that a number of tokens becomes free.
//!
//! What is worth least to those that stay leaves, and what a root leads to is worth twice as much as it would be without.
//! Halves of a pair leave together. The action is `stash`; `trash` is proposed only for what was stashed long ago and
//! nothing that might come back leads to.

mod choice;
mod leaving;
mod reason;

use std::cmp::Reverse;

use rootset_model::plan::Action;

use super::analysis::{Analysis, Candidate};
use super::bitset::Bitset;
use super::graph::Population;
use super::mark::mark;
use super::roots::find_roots;
use super::score::is_cold;
use super::segment::{Now, SegmentIndex, SegmentState, SegmentType};
use super::window::Window;
use choice::cheap_cover;
use leaving::{Departures, Unit, units};
pub use reason::LeavingReason;

/// How long a stashed segment can be restored before a plan may propose to delete it: 30 days.
pub const STASH_RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// At least so many tokens should leave the window.
    pub tokens: u64,
    /// `None` proposes no deletion at all.
    pub stash_retention_ms: Option<i64>,
    pub region: Region,
}

/// Where in the window room is made. What leaves from the middle of a prompt costs its cached prefix from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    Anywhere,
    /// In the older half of the window, by tokens, if that suffices; anywhere otherwise.
    Oldest,
}

impl Target {
    pub fn tokens(tokens: u64) -> Self {
        Self { tokens, stash_retention_ms: Some(STASH_RETENTION_MS), region: Region::Anywhere }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct WindowItem {
    pub segment: SegmentIndex,
    pub action: Action,
    pub tokens: u32,
    /// `None` for what is already stashed.
    pub score: Option<f64>,
    pub reason: LeavingReason,
}

/// Why a plan stashes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyPlan {
    NothingAsked,
    NoRoots,
    OnlyRoots,
}

impl std::fmt::Display for EmptyPlan {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::NothingAsked => "the target is 0 tokens: nothing has to leave",
            Self::NoRoots => "there are no roots: nothing is a candidate while nothing is known to matter",
            Self::OnlyRoots => "every segment is a root, pinned or paired with one: nothing may leave",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct WindowPlan {
    /// What to stash, unreachable first and then in order of addition; then what to delete, in order of addition.
    pub items: Vec<WindowItem>,
    /// Tokens that leave the window: deletions free none, what they take is out already.
    pub freed_tokens: u64,
    /// Tokens of the target that roots and pins keep.
    pub shortfall: u64,
    pub empty: Option<EmptyPlan>,
    /// Reachable, cold and long segments that are not in the plan: a summary would do. The largest first, at most
    /// [`COMPRESS_MAX`].
    pub compress: Vec<SegmentIndex>,
    /// Tokens of active segments that stay, from the place of the first one that leaves on: what a cached prefix loses.
    pub cache_tokens_lost: u64,
}

/// So many segments are proposed for compression: each is work for the agent.
pub const COMPRESS_MAX: usize = 20;
/// A summary of less saves little.
pub const COMPRESS_TOKENS_MIN: u32 = 500;

/// A plan for the window as it was analysed; it must not have changed since.
pub fn plan(window: &Window, analysis: &Analysis, target: Target) -> WindowPlan {
    let chosen = if target.tokens > 0 { choose(window, analysis, target) } else { Vec::new() };
    let mut items: Vec<WindowItem> =
        chosen.iter().map(|place| stash(window, analysis, &analysis.candidates[*place as usize])).collect();
    let freed_tokens = items.iter().map(|item| u64::from(item.tokens)).sum();
    let empty = items.is_empty().then_some(match target.tokens {
        0 => EmptyPlan::NothingAsked,
        _ if analysis.roots.is_empty() => EmptyPlan::NoRoots,
        _ => EmptyPlan::OnlyRoots,
    });
    let leaving: Vec<SegmentIndex> = items.iter().map(|item| item.segment).collect();
    if target.tokens > 0 {
        items.extend(deletions(window, analysis, target));
    }
    WindowPlan {
        items,
        freed_tokens,
        shortfall: target.tokens.saturating_sub(freed_tokens),
        empty,
        compress: compressible(window, analysis, &leaving),
        cache_tokens_lost: cache_tokens_lost(window, &leaving),
    }
}

/// Places among the candidates: unreachable ones first, then in order of addition.
fn choose(window: &Window, analysis: &Analysis, target: Target) -> Vec<u32> {
    let mut units = units(window, analysis);
    if target.region == Region::Oldest {
        let older = older_half(window, analysis, &units);
        let is_enough = older.iter().map(|unit| unit.tokens).sum::<u64>() >= target.tokens;
        units = if is_enough { older } else { units };
    }
    let mut departures = Departures::new(window, analysis);
    let chosen = cheap_cover(&units, target.tokens, &mut departures);
    let mut is_chosen = Bitset::zeros(analysis.candidates.len());
    for place in chosen.into_iter().flat_map(|unit| units[unit].candidates()) {
        is_chosen.insert(place as usize);
    }
    let is_reachable = |place: &u32| analysis.candidates[*place as usize].is_reachable;
    let (mut places, reachable): (Vec<u32>, Vec<u32>) = is_chosen.places().partition(|place| !is_reachable(place));
    places.extend(reachable);
    places
}

/// Units that are with all members among the first segments which together are half of the window.
fn older_half(window: &Window, analysis: &Analysis, units: &[Unit]) -> Vec<Unit> {
    let active = window.graph().segments(Population::Active);
    let mut places: Vec<(u64, SegmentIndex)> = active.map(|it| window.facts(it).place_of(it)).collect();
    places.sort_unstable();
    let mut tokens = 0;
    let is_older = |(_, segment): &(u64, SegmentIndex)| {
        tokens += u64::from(window.facts(*segment).tokens);
        tokens <= window.tokens() / 2
    };
    let Some(end) = places.iter().copied().take_while(is_older).last() else { return Vec::new() };
    let place = |candidate: u32| {
        let candidate = &analysis.candidates[candidate as usize];
        (candidate.created_step, candidate.segment)
    };
    units.iter().filter(|unit| unit.candidates().all(|it| place(it) <= end)).cloned().collect()
}

fn stash(window: &Window, analysis: &Analysis, candidate: &Candidate) -> WindowItem {
    WindowItem {
        segment: candidate.segment,
        action: Action::Stash,
        tokens: candidate.tokens,
        score: Some(candidate.score),
        reason: candidate.reason(window, analysis.now),
    }
}

impl Candidate {
    /// Why it may leave.
    pub fn reason(&self, window: &Window, now: Now) -> LeavingReason {
        LeavingReason::of_candidate(window, self, now)
    }
}

fn compressible(window: &Window, analysis: &Analysis, leaving: &[SegmentIndex]) -> Vec<SegmentIndex> {
    let is_long = |candidate: &&Candidate| {
        let facts = window.facts(candidate.segment);
        let is_summary = facts.segment_type == SegmentType::Summary;
        candidate.is_reachable && candidate.tokens >= COMPRESS_TOKENS_MIN && !is_summary
    };
    let long = analysis.candidates.iter().filter(is_long);
    let cold = long.filter(|it| is_cold(window.facts(it.segment), analysis.now, &analysis.scoring));
    let mut largest: Vec<(u32, SegmentIndex)> = cold.map(|it| (it.tokens, it.segment)).collect();
    let mut is_leaving = Bitset::zeros(window.graph().len());
    for segment in leaving {
        is_leaving.insert(segment.place());
    }
    largest.retain(|(_, segment)| !is_leaving.has(segment.place()));
    largest.sort_unstable_by_key(|(tokens, segment)| (Reverse(*tokens), *segment));
    largest.into_iter().take(COMPRESS_MAX).map(|(_, segment)| segment).collect()
}

fn cache_tokens_lost(window: &Window, leaving: &[SegmentIndex]) -> u64 {
    let place = |segment: SegmentIndex| window.facts(segment).place_of(segment);
    let Some(first) = leaving.iter().copied().map(place).min() else { return 0 };
    let tokens = |segment: SegmentIndex| u64::from(window.facts(segment).tokens);
    let behind = window.graph().segments(Population::Active).filter(|segment| place(*segment) >= first);
    behind.map(tokens).sum::<u64>() - leaving.iter().copied().map(tokens).sum::<u64>()
}

/// Stashed for longer than the retention, and out of reach even if everything stashed came back.
fn deletions(window: &Window, analysis: &Analysis, target: Target) -> Vec<WindowItem> {
    let (Some(retention_ms), false) = (target.stash_retention_ms, analysis.roots.is_empty()) else {
        return Vec::new();
    };
    let graph = window.graph();
    let stashed_ms = |segment| {
        let since = window.facts(segment).stashed_at.filter(|_| graph.state(segment) == SegmentState::Stashed)?;
        Some(analysis.now.at.0.saturating_sub(since.0)).filter(|stashed_ms| *stashed_ms > retention_ms)
    };
    // Most windows are too young to hold any: then nothing that has left is looked at.
    let longest_ms = window.first_stashed_at().map(|first| analysis.now.at.0.saturating_sub(first.0));
    let all = || graph.segments(Population::ActiveAndStashed);
    if longest_ms.is_none_or(|longest_ms| longest_ms <= retention_ms)
        || !all().any(|segment| stashed_ms(segment).is_some())
    {
        return Vec::new();
    }
    let roots = find_roots(window, &analysis.focus, analysis.now, Population::ActiveAndStashed);
    let marks = mark(graph, roots.segments(), Population::ActiveAndStashed);
    // Halves of a pair leave together here, too: the youngest of them decides.
    let leaders = graph.pair_leaders(Population::ActiveAndStashed);
    let mut is_held = vec![false; leaders.len()];
    for segment in all().filter(|segment| stashed_ms(*segment).is_none()) {
        is_held[leaders[segment.place()].place()] = true;
    }
    all()
        .filter(|segment| !marks.is_reachable(*segment) && !is_held[leaders[segment.place()].place()])
        .map(|segment| WindowItem {
            segment,
            action: Action::Trash,
            tokens: window.facts(segment).tokens,
            score: None,
            reason: LeavingReason::of_stashed(window, segment, analysis.now),
        })
        .collect()
}
