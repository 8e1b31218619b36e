//! What a new segment names that is not in the window: the agent does not have to guess that it forgot.

use std::collections::BTreeMap;

use super::bindings::Bindings;
use super::graph::Graph;
use super::holders::{Holders, is_loose};
use super::segment::{SegmentIndex, SegmentState};
use super::window::NewSegment;

/// More hints than anybody acts on.
const RECALLS_MAX: usize = 20;
/// So many holders of a name are looked at for one that is stashed, the last added first.
const HOLDERS_LOOKED_AT_MAX: usize = 16;

/// Something stashed was named, by an identifier or path that no active segment holds, or by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recall {
    pub segment: SegmentIndex,
    pub because: RecallCause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallCause {
    /// The first of the names.
    Name(u64),
    Reference,
}

/// Before the segment is added. Those named by id come first, then those of which the most names are missed, the last
/// added of equals.
pub(super) fn recalls(new: &NewSegment<'_>, bindings: &Bindings, graph: &Graph, holders: &Holders) -> Vec<Recall> {
    let is_stashed = |segment: &SegmentIndex| graph.state(*segment) == SegmentState::Stashed;
    // By segment: why, and how often.
    let mut named: BTreeMap<SegmentIndex, (RecallCause, u32)> = BTreeMap::new();
    for segment in new.references.iter().filter_map(|id| bindings.segment(*id)).filter(is_stashed) {
        named.insert(segment, (RecallCause::Reference, u32::MAX));
    }
    for name in new.names.iter().filter(|name| !is_loose(**name)) {
        if holders.key_of_name(*name).is_none_or(|key| key.active_holders > 0) {
            continue;
        }
        let mut last_added = holders.holders_newest_first(*name).take(HOLDERS_LOOKED_AT_MAX);
        if let Some(segment) = last_added.find(is_stashed) {
            let (_, count) = named.entry(segment).or_insert((RecallCause::Name(*name), 0));
            *count = count.saturating_add(1);
        }
    }
    let mut named: Vec<(SegmentIndex, (RecallCause, u32))> = named.into_iter().collect();
    named.sort_unstable_by(|(a, (_, a_count)), (b, (_, b_count))| b_count.cmp(a_count).then(b.cmp(a)));
    named.into_iter().take(RECALLS_MAX).map(|(segment, (because, _))| Recall { segment, because }).collect()
}
