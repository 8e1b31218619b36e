//! Roots, mark and scores of a whole window at one moment: everything a plan, a list of candidates or an explanation
//! reads.

use super::bitset::Bitset;
use super::graph::Population;
use super::mark::{Marks, mark};
use super::names::NameWorths;
use super::roots::{Focus, Roots, find_roots};
use super::score::{Scorer, Scoring, Worth};
use super::segment::{Now, SegmentIndex};
use super::views::superseded_views;
use super::window::Window;

/// An active segment that may leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    pub segment: SegmentIndex,
    pub tokens: u32,
    pub is_reachable: bool,
    /// Newer views show all it shows.
    pub is_superseded: bool,
    pub score: f64,
    pub created_step: u64,
    pub(super) worth: Worth,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    pub now: Now,
    pub focus: Focus,
    pub scoring: Scoring,
    pub roots: Roots,
    pub marks: Marks,
    /// Active segments that are no roots, in order of addition; none if there are no roots, because then nothing is
    /// known about what matters.
    pub candidates: Vec<Candidate>,
    pub(super) names: NameWorths,
}

pub fn analyse(window: &Window, focus: &Focus, now: Now, scoring: &Scoring) -> Analysis {
    let graph = window.graph();
    let roots = find_roots(window, focus, now, Population::Active);
    let marks = mark(graph, roots.segments(), Population::Active);
    let mut scorer = Scorer::new(window, focus, now, scoring);
    let mut candidates = Vec::new();
    if !roots.is_empty() {
        let mut superseded = Bitset::zeros(graph.len());
        for segment in superseded_views(graph, window.all_facts()) {
            superseded.insert(segment.place());
        }
        candidates.reserve_exact(graph.population(Population::Active).count() - roots.segments().len());
        let others = graph.segments(Population::Active).filter(|segment| !roots.contains(*segment));
        candidates.extend(others.map(|segment| {
            let is_superseded = superseded.has(segment.place());
            let parts = scorer.parts(segment, is_superseded);
            Candidate {
                segment,
                tokens: window.facts(segment).tokens,
                is_reachable: marks.is_reachable(segment),
                is_superseded,
                score: parts.score(),
                created_step: window.facts(segment).created_step,
                worth: parts.worth(),
            }
        }));
    }
    let names = scorer.into_names();
    Analysis { now, focus: focus.clone(), scoring: *scoring, roots, marks, candidates, names }
}

impl Analysis {
    /// The first candidates in the order in which they should leave: unreachable ones, then reachable but cold ones,
    /// each by falling score; ties by older first.
    pub fn first_candidates(&self, count: usize) -> Vec<Candidate> {
        let order = |a: &Candidate, b: &Candidate| {
            let by_reach = a.is_reachable.cmp(&b.is_reachable);
            let older_first = (a.created_step, a.segment).cmp(&(b.created_step, b.segment));
            by_reach.then(b.score.total_cmp(&a.score)).then(older_first)
        };
        let mut candidates = self.candidates.clone();
        if count < candidates.len() {
            candidates.select_nth_unstable_by(count, order);
            candidates.truncate(count);
        }
        candidates.sort_unstable_by(order);
        candidates
    }
}
