//! What should leave so that a number of tokens becomes free.
//!
//! Unreachable segments first; only if all of them do not suffice, reachable but cold ones. Within each, the choice with
//! the least expected loss (one minus the score, summed up). Halves of a pair leave together. The action is `stash`;
//! `delete` is proposed only for what was stashed long ago and nothing that might come back leads to.

mod choice;
mod reason;

use super::analysis::{Analysis, Candidate};
use super::graph::Population;
use super::mark::mark;
use super::roots::find_roots;
use super::segment::{SegmentIndex, SegmentState};
use super::window::Window;
use choice::{Unit, cheapest_cover};
pub use reason::Reason;

/// How long a stashed segment can be restored before a plan may propose to delete it: 30 days.
pub const STASH_RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// At least so many tokens should leave the window.
    pub tokens: u64,
    /// `None` proposes no deletion at all.
    pub stash_retention_ms: Option<i64>,
}

impl Target {
    pub fn tokens(tokens: u64) -> Self {
        Self { tokens, stash_retention_ms: Some(STASH_RETENTION_MS) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Stash,
    Delete,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlanItem {
    pub segment: SegmentIndex,
    pub action: Action,
    pub tokens: u32,
    /// `None` for what is already stashed.
    pub score: Option<f64>,
    pub reason: Reason,
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
pub struct Plan {
    /// What to stash, unreachable first and then in order of addition; then what to delete, in order of addition.
    pub items: Vec<PlanItem>,
    /// Tokens that leave the window: deletions free none, what they take is out already.
    pub freed_tokens: u64,
    /// Tokens of the target that roots and pins keep.
    pub shortfall: u64,
    pub empty: Option<EmptyPlan>,
}

/// A plan for the window as it was analysed; it must not have changed since.
pub fn plan(window: &Window, analysis: &Analysis, target: Target) -> Plan {
    if target.tokens == 0 {
        return Plan { empty: Some(EmptyPlan::NothingAsked), ..Plan::default() };
    }
    let (unreachable, cold) = units(window, analysis);
    let mut places = Vec::new();
    let mut freed_tokens = 0;
    for tier in [&unreachable, &cold] {
        let missing = target.tokens.saturating_sub(freed_tokens);
        let mut chosen: Vec<u32> = Vec::new();
        for unit in cheapest_cover(tier, missing) {
            freed_tokens += tier[unit].tokens;
            chosen.extend(tier[unit].candidates());
        }
        chosen.sort_unstable();
        places.extend(chosen);
    }
    let mut items: Vec<PlanItem> =
        places.into_iter().map(|place| stash(window, analysis, &analysis.candidates[place as usize])).collect();
    let empty =
        items.is_empty().then_some(if analysis.roots.is_empty() { EmptyPlan::NoRoots } else { EmptyPlan::OnlyRoots });
    items.extend(deletions(window, analysis, target));
    Plan { items, freed_tokens, shortfall: target.tokens.saturating_sub(freed_tokens), empty }
}

fn stash(window: &Window, analysis: &Analysis, candidate: &Candidate) -> PlanItem {
    PlanItem {
        segment: candidate.segment,
        action: Action::Stash,
        tokens: candidate.tokens,
        score: Some(candidate.score),
        reason: Reason::of_candidate(window, candidate, analysis.now),
    }
}

/// Candidates that leave together, unreachable ones and the others.
fn units(window: &Window, analysis: &Analysis) -> (Vec<Unit>, Vec<Unit>) {
    let leaders = window.graph().pair_leaders(Population::Active);
    let (mut unreachable, mut cold): (Vec<Unit>, Vec<Unit>) = (Vec::new(), Vec::new());
    // By place, for leaders: where in its tier the unit is.
    let mut unit_of: Vec<u32> = vec![0; leaders.len()];
    for (place, candidate) in (0_u32..).zip(&analysis.candidates) {
        let tier = if candidate.is_reachable { &mut cold } else { &mut unreachable };
        let leader = leaders[candidate.segment.place()];
        // Pairs of roots are roots and pairs reach each other: leaders are candidates of the same tier, and came first.
        if leader == candidate.segment {
            unit_of[leader.place()] = tier.len() as u32;
            tier.push(Unit::of(place, candidate));
        } else {
            tier[unit_of[leader.place()] as usize].add(place, candidate);
        }
    }
    (unreachable, cold)
}

/// Stashed for longer than the retention, and out of reach even if everything stashed came back.
fn deletions(window: &Window, analysis: &Analysis, target: Target) -> Vec<PlanItem> {
    let (Some(retention_ms), false) = (target.stash_retention_ms, analysis.roots.is_empty()) else {
        return Vec::new();
    };
    let graph = window.graph();
    let stashed_ms = |segment| {
        let since = window.facts(segment).stashed_at.filter(|_| graph.state(segment) == SegmentState::Stashed)?;
        Some(analysis.now.at.0.saturating_sub(since.0)).filter(|stashed_ms| *stashed_ms > retention_ms)
    };
    let all = || graph.segments(Population::ActiveAndStashed);
    if !all().any(|segment| stashed_ms(segment).is_some()) {
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
        .map(|segment| PlanItem {
            segment,
            action: Action::Delete,
            tokens: window.facts(segment).tokens,
            score: None,
            reason: Reason::of_stashed(window, segment, analysis.now),
        })
        .collect()
}
