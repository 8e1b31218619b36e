//! Which units leave so that enough becomes free: the knapsack problem from the other side.
//!
//! A few units are tried in every combination, for the least loss. For many there is a walk by loss per token: it takes
//! units while they do not suffice, and the first that completes the set ends it. That may free more than was asked
//! for, which is not wasted: a window that is full now is full again at the next turn, and replays of sessions lose
//! less this way than with the cheapest end (docs/context.md). But a segment that frees many times what was asked for
//! ends the walk only if no other end costs less. Finally, whatever turned out needless is dropped.
//!
//! Losses only rise as others leave. So the walk asks again for the loss of a unit when its turn comes, and puts it off if
//! it is no longer the cheapest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::leaving::{Losses, Unit};

/// Up to this many units, every combination is tried.
const EXACT_UNITS_MAX: usize = 4;
/// What frees more than this many times the target is too big to be taken without looking for another end.
const OVERSHOOT_FACTOR: u64 = 4;

/// Numbers of units that together free at least the target at little loss; all that free anything if even they do not
/// suffice. Of equals, the first.
pub(super) fn cheap_cover(units: &[Unit], target: u64, losses: &mut impl Losses) -> Vec<usize> {
    if target == 0 {
        return Vec::new();
    }
    let freeing = || (0..units.len()).filter(|unit| units[*unit].tokens > 0);
    if freeing().map(|unit| units[unit].tokens).sum::<u64>() <= target {
        return freeing().collect();
    }
    let turns: Vec<Turn> = freeing().map(|unit| Turn::of(units, unit, losses)).collect();
    if turns.len() <= EXACT_UNITS_MAX {
        every_combination(units, turns, target, losses)
    } else {
        walk_by_loss(units, turns, target, losses)
    }
}

/// When a unit's turn comes: by loss per token, then by its place. Bits of numbers that are not negative are in their
/// order; small keys beside each other sort faster than units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    loss_per_token_bits: u64,
    unit: u32,
    /// See [`Losses::is_fixed`].
    is_fixed: bool,
}

impl Turn {
    fn of(units: &[Unit], unit: usize, losses: &mut impl Losses) -> Self {
        let loss_per_token = losses.loss(&units[unit]).max(0.0) / units[unit].tokens as f64;
        let is_fixed = losses.is_fixed(&units[unit]);
        Self { loss_per_token_bits: loss_per_token.to_bits(), unit: unit as u32, is_fixed }
    }

    fn unit(self) -> usize {
        self.unit as usize
    }

    fn loss_per_token(self) -> f64 {
        f64::from_bits(self.loss_per_token_bits)
    }

    fn loss(self, units: &[Unit]) -> f64 {
        self.loss_per_token() * units[self.unit()].tokens as f64
    }
}

/// What is compared: the loss, then what leaves for nothing.
type Cost = (f64, u64);

fn is_cheaper(one: Cost, other: Cost) -> bool {
    one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)).is_lt()
}

fn every_combination(units: &[Unit], mut turns: Vec<Turn>, target: u64, losses: &mut impl Losses) -> Vec<usize> {
    turns.sort_unstable();
    let priced: Vec<(usize, f64)> = turns.iter().map(|turn| (turn.unit(), losses.loss(&units[turn.unit()]))).collect();
    let members = |combination: usize| (0..priced.len()).filter(move |place| combination >> place & 1 == 1);
    let mut best: Option<(Cost, usize)> = None;
    // Combinations of what is cheap per token come first, and the first of equals stays.
    for combination in 1..1_usize << priced.len() {
        let tokens: u64 = members(combination).map(|place| units[priced[place].0].tokens).sum();
        let loss: f64 = members(combination).map(|place| priced[place].1).sum();
        if tokens >= target && best.is_none_or(|(cost, _)| is_cheaper((loss, tokens), cost)) {
            best = Some(((loss, tokens), combination));
        }
    }
    let (_, best) = best.expect("all together free more than the target");
    members(best).map(|place| priced[place].0).collect()
}

fn walk_by_loss(units: &[Unit], turns: Vec<Turn>, target: u64, losses: &mut impl Losses) -> Vec<usize> {
    let mut walk = Walk::new(turns);
    let mut taken: Vec<Turn> = Vec::new();
    let (mut loss, mut tokens) = (0.0, 0);
    // How many of the taken, and who completes them.
    let mut best: Option<(Cost, usize, Turn)> = None;
    while let Some(turn) = walk.next(units, losses) {
        // Every token from here on costs at least this much, so that no later end is cheaper.
        if best.is_some_and(|(cost, _, _)| loss + turn.loss_per_token() * (target - tokens) as f64 > cost.0) {
            break;
        }
        let together = (loss + turn.loss(units), tokens + units[turn.unit()].tokens);
        if together.1 < target {
            (loss, tokens) = together;
            taken.push(turn);
            if !turn.is_fixed {
                losses.leave(&units[turn.unit()]);
                walk.someone_left();
            }
            continue;
        }
        if best.is_none_or(|(cost, _, _)| is_cheaper(together, cost)) {
            best = Some((together, taken.len(), turn));
            if together.1 <= target.saturating_mul(OVERSHOOT_FACTOR) {
                break;
            }
        }
    }
    let ((_, freed), count, last) = best.expect("all together free more than the target");
    taken.truncate(count);
    taken.push(last);
    drop_needless(units, taken, freed - target)
}

/// Units in the order of their losses as they are when their turn comes.
struct Walk {
    /// The first ones last.
    order: Vec<Turn>,
    /// Put off, with a loss that was right when so many had left.
    put_off: BinaryHeap<Reverse<(Turn, usize)>>,
    left: usize,
}

impl Walk {
    fn new(mut turns: Vec<Turn>) -> Self {
        turns.sort_unstable_by(|a, b| b.cmp(a));
        Self { order: turns, put_off: BinaryHeap::new(), left: 0 }
    }

    fn someone_left(&mut self) {
        self.left += 1;
    }

    fn next(&mut self, units: &[Unit], losses: &mut impl Losses) -> Option<Turn> {
        loop {
            let (turn, known_when) = self.pop()?;
            if turn.is_fixed || known_when == self.left {
                return Some(turn);
            }
            let now = Turn::of(units, turn.unit(), losses);
            let is_still_first = self.peek().is_none_or(|next| now <= next);
            if is_still_first {
                return Some(now);
            }
            self.put_off.push(Reverse((now, self.left)));
        }
    }

    fn pop(&mut self) -> Option<(Turn, usize)> {
        let is_put_off_first = match (self.order.last(), self.put_off.peek()) {
            (Some(turn), Some(Reverse((put_off, _)))) => put_off < turn,
            (turn, _) => turn.is_none(),
        };
        if is_put_off_first {
            self.put_off.pop().map(|Reverse(put_off)| put_off)
        } else {
            self.order.pop().map(|turn| (turn, 0))
        }
    }

    fn peek(&self) -> Option<Turn> {
        let put_off = self.put_off.peek().map(|Reverse((turn, _))| *turn);
        self.order.last().copied().into_iter().chain(put_off).min()
    }
}

/// The dearest first, as long as what they free is not needed.
fn drop_needless(units: &[Unit], mut taken: Vec<Turn>, mut spare: u64) -> Vec<usize> {
    taken.sort_by(|a, b| b.loss(units).total_cmp(&a.loss(units)));
    taken.retain(|turn| {
        let tokens = units[turn.unit()].tokens;
        let is_needless = tokens <= spare;
        spare -= if is_needless { tokens } else { 0 };
        !is_needless
    });
    taken.into_iter().map(Turn::unit).collect()
}

#[cfg(test)]
mod tests;
