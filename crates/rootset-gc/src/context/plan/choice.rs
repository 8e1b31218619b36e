//! The cheapest set of units that frees enough: the knapsack problem from the other side.
//!
//! A few units are tried in every combination. For many there is a greedy walk by loss per token: what does not suffice
//! yet is taken; what would complete the set is noted as one possible end, and passed by. The best end costs at most
//! twice the optimum (Csirik, Frenk, Labbé and Zhang, 1991). Finally, whatever turned out needless is dropped.

use crate::context::analysis::Candidate;

/// Up to so many units every combination is tried: 4,096 sums.
const EXACT_UNITS_MAX: usize = 12;

/// Segments that leave together. Most units are one segment: only more need a list.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Place among the candidates; the oldest of the unit.
    first: u32,
    others: Vec<u32>,
    pub tokens: u64,
    pub loss: f64,
    created_step: u64,
}

impl Unit {
    pub fn of(place: u32, candidate: &Candidate) -> Self {
        Self {
            first: place,
            others: Vec::new(),
            tokens: u64::from(candidate.tokens),
            loss: 1.0 - candidate.score,
            created_step: candidate.created_step,
        }
    }

    pub fn add(&mut self, place: u32, candidate: &Candidate) {
        self.others.push(place);
        self.tokens += u64::from(candidate.tokens);
        self.loss += 1.0 - candidate.score;
    }

    /// Places among the candidates.
    pub fn candidates(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

/// Places of units that together free at least the target at the least loss; all that free anything if even they do
/// not suffice.
pub(super) fn cheapest_cover(units: &[Unit], target: u64) -> Vec<usize> {
    if target == 0 {
        return Vec::new();
    }
    let freeing = || (0..units.len()).filter(|unit| units[*unit].tokens > 0);
    if freeing().map(|unit| units[unit].tokens).sum::<u64>() <= target {
        return freeing().collect();
    }
    // Keys beside each other sort faster than units. Bits of numbers that are not negative are in their order.
    let loss_per_token = |unit: &Unit| (unit.loss.max(0.0) / unit.tokens as f64).to_bits();
    let mut keys: Vec<(u64, u64, usize)> =
        freeing().map(|unit| (loss_per_token(&units[unit]), units[unit].created_step, unit)).collect();
    keys.sort_unstable();
    let order: Vec<usize> = keys.into_iter().map(|(_, _, unit)| unit).collect();
    if order.len() <= EXACT_UNITS_MAX {
        every_combination(units, &order, target)
    } else {
        greedy(units, &order, target)
    }
}

/// What is compared: the loss, then what leaves for nothing.
type Cost = (f64, u64);

fn is_cheaper(one: Cost, other: Cost) -> bool {
    one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)).is_lt()
}

fn every_combination(units: &[Unit], order: &[usize], target: u64) -> Vec<usize> {
    let members = |combination: usize| (0..order.len()).filter(move |place| combination >> place & 1 == 1);
    let mut best: Option<(Cost, usize)> = None;
    // Combinations of what is cheap per token come first, and the first of equals stays.
    for combination in 1..1_usize << order.len() {
        let tokens: u64 = members(combination).map(|place| units[order[place]].tokens).sum();
        let loss: f64 = members(combination).map(|place| units[order[place]].loss).sum();
        if tokens >= target && best.is_none_or(|(cost, _)| is_cheaper((loss, tokens), cost)) {
            best = Some(((loss, tokens), combination));
        }
    }
    let (_, best) = best.expect("all together free more than the target");
    members(best).map(|place| order[place]).collect()
}

fn greedy(units: &[Unit], order: &[usize], target: u64) -> Vec<usize> {
    let mut taken: Vec<usize> = Vec::new();
    let (mut loss, mut tokens) = (0.0, 0);
    // How many of the taken, and who completes them.
    let mut best: Option<(Cost, usize, usize)> = None;
    for &unit in order {
        let together = (loss + units[unit].loss, tokens + units[unit].tokens);
        if together.1 < target {
            (loss, tokens) = together;
            taken.push(unit);
        } else if best.is_none_or(|(cost, _, _)| is_cheaper(together, cost)) {
            best = Some((together, taken.len(), unit));
        }
    }
    let ((_, freed), count, last) = best.expect("all together free more than the target");
    taken.truncate(count);
    taken.push(last);
    drop_needless(units, taken, freed - target)
}

/// The dearest first, as long as what they free is not needed.
fn drop_needless(units: &[Unit], mut taken: Vec<usize>, mut spare: u64) -> Vec<usize> {
    taken.sort_by(|a, b| units[*b].loss.total_cmp(&units[*a].loss));
    taken.retain(|unit| {
        let is_needless = units[*unit].tokens <= spare;
        spare -= if is_needless { units[*unit].tokens } else { 0 };
        !is_needless
    });
    taken
}

#[cfg(test)]
mod tests;
