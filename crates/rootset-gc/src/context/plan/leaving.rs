//! Segments that leave together, and what is lost with them when others have left before.

use crate::context::analysis::{Analysis, Candidate};
use crate::context::graph::Population;
use crate::context::names::NameWorths;
use crate::context::window::Window;

/// Candidates that leave together: a pair, or most often one segment. Only more than one need a list.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Place among the candidates; the oldest of the unit.
    pub first: u32,
    pub others: Vec<u32>,
    pub tokens: u64,
}

impl Unit {
    fn of(place: u32, candidate: &Candidate) -> Self {
        Self { first: place, others: Vec::new(), tokens: u64::from(candidate.tokens) }
    }

    /// Places among the candidates.
    pub fn candidates(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

/// What leaves of the reachable is missed by what stays: it counts so many times. Not more, and no bar that the unreachable
/// must pass first: most of what is needed again is out of reach when it is (docs/context.md has the figures).
const REACHABLE_FACTOR: f64 = 2.0;

/// All candidates as units, in the order of their places in the window.
pub(super) fn units(window: &Window, analysis: &Analysis) -> Vec<Unit> {
    let leaders = window.graph().pair_leaders(Population::Active);
    let mut units: Vec<Unit> = Vec::with_capacity(analysis.candidates.len());
    // By place, for leaders: the number of the unit.
    let mut unit_of: Vec<u32> = vec![0; leaders.len()];
    for (place, candidate) in (0_u32..).zip(&analysis.candidates) {
        let leader = leaders[candidate.segment.place()];
        // Pairs of roots are roots: leaders are candidates, and came first.
        if leader == candidate.segment {
            unit_of[leader.place()] = units.len() as u32;
            units.push(Unit::of(place, candidate));
        } else {
            let unit = &mut units[unit_of[leader.place()] as usize];
            unit.others.push(place);
            unit.tokens += u64::from(candidate.tokens);
        }
    }
    // As good as sorted: only summaries stand elsewhere than in the order of addition.
    units.sort_by_key(|unit| analysis.candidates[unit.first as usize].created_step);
    units
}

/// Tells what is lost with a unit, and is told who leaves.
pub(super) trait Losses {
    fn loss(&mut self, unit: &Unit) -> f64;
    /// Whether that never changes, and nobody else's loss does when this unit leaves.
    fn is_fixed(&self, unit: &Unit) -> bool;
    fn leave(&mut self, unit: &Unit);
}

/// Losses that rise as other holders of the same names leave: of two segments that say the same, one is dispensable.
pub(super) struct Departures<'a> {
    window: &'a Window,
    analysis: &'a Analysis,
    names: NameWorths,
    has_anybody_left: bool,
}

impl<'a> Departures<'a> {
    pub fn new(window: &'a Window, analysis: &'a Analysis) -> Self {
        Self { window, analysis, names: analysis.names.clone(), has_anybody_left: false }
    }

    fn loss_of(&self, candidate: &Candidate) -> f64 {
        let names = self.names.of_segment_now(self.window.holders(), candidate.segment);
        priced(candidate, names)
    }
}

impl Losses for Departures<'_> {
    fn loss(&mut self, unit: &Unit) -> f64 {
        let first = &self.analysis.candidates[unit.first as usize];
        match (unit.others.is_empty(), self.has_anybody_left) {
            // The analysis has summed up its names already.
            (true, false) => return priced(first, first.worth.names),
            (true, true) => return self.loss_of(first),
            (false, _) => {}
        }
        // One after the other: what only the members of the unit hold is lost when the last of them leaves.
        let mut sum = 0.0;
        for place in unit.candidates() {
            let candidate = &self.analysis.candidates[place as usize];
            sum += self.loss_of(candidate);
            self.names.leave(self.window.holders(), candidate.segment);
        }
        for place in unit.candidates() {
            self.names.come_back(self.window.holders(), self.analysis.candidates[place as usize].segment);
        }
        sum
    }

    /// What is worth nothing now stays so, whoever leaves.
    fn is_fixed(&self, unit: &Unit) -> bool {
        unit.candidates().all(|place| self.analysis.candidates[place as usize].worth.names == 0.0)
    }

    fn leave(&mut self, unit: &Unit) {
        self.has_anybody_left = true;
        for place in unit.candidates() {
            self.names.leave(self.window.holders(), self.analysis.candidates[place as usize].segment);
        }
    }
}

fn priced(candidate: &Candidate, names: f64) -> f64 {
    let factor = if candidate.is_reachable { REACHABLE_FACTOR } else { 1.0 };
    factor * candidate.worth.loss(names, candidate.tokens)
}
