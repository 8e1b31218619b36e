//! The last row of each bucket that has a place, found by selection: the order of the others does not matter.

use rootset_model::Timestamp;

use super::{Rules, competes};
use crate::heap::Root;

/// Where the places of a bucket end: newest first, ties by id ascending.
#[derive(Clone, Copy, Debug)]
pub(super) enum CutOff {
    /// There are as many places as rows, or no limit.
    Everything,
    Nothing,
    /// The row with the last place.
    At {
        stamp: Timestamp,
        id: [u8; 16],
    },
}

/// Above or equal to every id.
const LAST_ID: [u8; 16] = [u8::MAX; 16];

impl CutOff {
    pub(super) fn holds(&self, root: &Root, root_stamp: Timestamp) -> bool {
        match self {
            Self::Everything => true,
            Self::Nothing => false,
            Self::At { stamp, id } => root_stamp > *stamp || (root_stamp == *stamp && root.id <= *id),
        }
    }
}

/// More rows of one stamp than places are left for them: their ids decide.
#[derive(Debug)]
struct Tie {
    bucket: usize,
    limit: Limit,
    stamp: Timestamp,
    /// At least one, fewer than rows.
    places: usize,
}

#[derive(Clone, Copy, Debug)]
enum Limit {
    Count,
    Keep,
}

/// Finds the cut-offs of all buckets whose policy has places to give.
pub(super) fn cut(rules: &mut [Rules], roots: &[Root], now: Timestamp) {
    let mut ties = Vec::new();
    for (bucket, rules) in rules.iter_mut().enumerate().filter(|(_, rules)| rules.has_places()) {
        let mut stamps = std::mem::take(&mut rules.stamps);
        let mut cut_off = |limit, places| {
            let (cut_off, places) = cut_off(&mut stamps, places);
            if let (CutOff::At { stamp, .. }, Some(places)) = (cut_off, places) {
                ties.push(Tie { bucket, limit, stamp, places });
            }
            cut_off
        };
        if let Some(count) = rules.policy.max_count {
            rules.within_count = cut_off(Limit::Count, count);
        }
        rules.within_keep = cut_off(Limit::Keep, rules.policy.min_keep);
    }
    if !ties.is_empty() {
        break_ties(&ties, rules, roots, now);
    }
}

/// The cut-off by stamps alone; with it, where not all rows of its stamp have places, how many have.
fn cut_off(stamps: &mut [Timestamp], places: i64) -> (CutOff, Option<usize>) {
    // Nobody can set a negative number; like every doubt, it keeps.
    let Ok(places) = usize::try_from(places) else { return (CutOff::Everything, None) };
    if places == 0 {
        return (CutOff::Nothing, None);
    }
    if places >= stamps.len() {
        return (CutOff::Everything, None);
    }
    let (newer, last, older) = stamps.select_nth_unstable_by(places - 1, |a, b| b.cmp(a));
    let tied_with_place = 1 + newer.iter().filter(|stamp| *stamp == last).count();
    let is_tie = older.contains(last);
    (CutOff::At { stamp: *last, id: LAST_ID }, is_tie.then_some(tied_with_place))
}

/// One pass over the rows for all ties of all buckets.
fn break_ties(ties: &[Tie], rules: &mut [Rules], roots: &[Root], now: Timestamp) {
    // Both limits of a bucket may cut through the same stamp; its ids are gathered once.
    let mut tied: Vec<Vec<(Timestamp, Vec<[u8; 16]>)>> = vec![Vec::new(); rules.len()];
    for tie in ties {
        if tied[tie.bucket].iter().all(|(stamp, _)| *stamp != tie.stamp) {
            tied[tie.bucket].push((tie.stamp, Vec::new()));
        }
    }
    for root in roots.iter().filter(|root| competes(root)) {
        let of_bucket = &mut tied[root.bucket as usize];
        if of_bucket.is_empty() {
            continue;
        }
        let root_stamp = rules[root.bucket as usize].stamp(root, now);
        if let Some((_, ids)) = of_bucket.iter_mut().find(|(stamp, _)| Some(*stamp) == root_stamp) {
            ids.push(root.id);
        }
    }
    for tie in ties {
        let (_, ids) = tied[tie.bucket].iter_mut().find(|(stamp, _)| *stamp == tie.stamp).expect("gathered above");
        let (_, id, _) = ids.select_nth_unstable(tie.places - 1);
        let cut_off = CutOff::At { stamp: tie.stamp, id: *id };
        match tie.limit {
            Limit::Count => rules[tie.bucket].within_count = cut_off,
            Limit::Keep => rules[tie.bucket].within_keep = cut_off,
        }
    }
}
