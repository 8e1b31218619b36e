//! The last row of each bucket that has a place, found by selection: the order of the others is nobody's business.

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

impl CutOff {
    pub(super) fn holds(&self, root: &Root, root_stamp: Timestamp) -> bool {
        match self {
            Self::Everything => true,
            Self::Nothing => false,
            Self::At { stamp, id } => root_stamp > *stamp || (root_stamp == *stamp && root.id <= *id),
        }
    }
}

/// A row that competes. Its id is looked up where stamps are equal, which keeps what is selected from small.
#[derive(Clone, Copy, Debug)]
struct Competitor {
    stamp: Timestamp,
    place: u32,
}

/// Finds the cut-offs of all buckets whose policy has places to give.
pub(super) fn cut(rules: &mut [Rules], roots: &[Root], now: Timestamp) {
    let mut competitors = gather(rules, roots, now);
    let mut rest = competitors.as_mut_slice();
    for rules in rules.iter_mut().filter(|rules| is_ranked(rules)) {
        let (bucket, others) = rest.split_at_mut(rules.competing);
        rest = others;
        if let Some(count) = rules.policy.max_count {
            rules.within_count = cut_off(bucket, count, roots);
        }
        rules.within_keep = cut_off(bucket, rules.policy.min_keep, roots);
    }
}

/// Whether any row of the bucket can lose its place, or owe its life to it.
fn is_ranked(rules: &Rules) -> bool {
    rules.policy.max_count.is_some() || (rules.policy.min_keep != 0 && !rules.policy.is_empty())
}

/// Competitors of all ranked buckets in one list, those of a bucket side by side, buckets in their order.
fn gather(rules: &[Rules], roots: &[Root], now: Timestamp) -> Vec<Competitor> {
    let mut length = 0;
    let mut ends: Vec<Option<usize>> = Vec::with_capacity(rules.len());
    for rules in rules {
        ends.push(is_ranked(rules).then_some(length));
        length += if is_ranked(rules) { rules.competing } else { 0 };
    }
    let mut competitors = vec![Competitor { stamp: Timestamp(0), place: 0 }; length];
    if length == 0 {
        return competitors;
    }
    for (place, root) in roots.iter().enumerate().filter(|(_, root)| competes(root)) {
        let bucket = root.bucket as usize;
        if let (Some(end), Some(stamp)) = (&mut ends[bucket], rules[bucket].stamp(root, now)) {
            competitors[*end] = Competitor { stamp, place: place as u32 };
            *end += 1;
        }
    }
    competitors
}

fn cut_off(bucket: &mut [Competitor], places: i64, roots: &[Root]) -> CutOff {
    // Nobody can set a negative number; like every doubt, it keeps.
    let Ok(places) = usize::try_from(places) else { return CutOff::Everything };
    if places == 0 {
        return CutOff::Nothing;
    }
    if places >= bucket.len() {
        return CutOff::Everything;
    }
    let id = |competitor: &Competitor| roots[competitor.place as usize].id;
    let newest_first = |a: &Competitor, b: &Competitor| b.stamp.cmp(&a.stamp).then_with(|| id(a).cmp(&id(b)));
    let (_, last, _) = bucket.select_nth_unstable_by(places - 1, newest_first);
    CutOff::At { stamp: last.stamp, id: id(last) }
}
