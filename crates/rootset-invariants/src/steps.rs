//! I9, I10, I11, I12: before and after a step of the protocol.

use std::fmt::Debug;

use rootset_gc::invariants::{Broken, I9, I10, I11, I12};

/// I9: the logical dump before trashing and after undoing it.
pub fn undo_is_the_identity<D: PartialEq + Debug>(before: &D, after: &D) -> Result<(), Broken> {
    I9.holds_if(before == after, || format!("{before:02x?} became {after:02x?}"))
}

/// I10: the logical dumps, in the end, of a run that was resumed and of one that was not cut short.
pub fn resuming_changes_nothing<D: PartialEq + Debug>(uninterrupted: &D, resumed: &D) -> Result<(), Broken> {
    I10.holds_if(uninterrupted == resumed, || format!("{resumed:02x?} instead of {uninterrupted:02x?}"))
}

/// A row of an audit chain, as far as chains go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditLink {
    pub seq: i64,
    /// Over the row and the hash before it.
    pub hash: [u8; 32],
    /// Computed anew from the row as it is stored and the hash of the row before it.
    pub expected_hash: [u8; 32],
}

/// I11: how many destructive steps were committed, and the chain that they should be in.
pub fn every_step_is_audited(steps: usize, chain: &[AuditLink]) -> Result<(), Broken> {
    I11.holds_if(chain.len() == steps, || format!("{} audit rows of {steps} steps", chain.len()))?;
    I11.holds_without(first_broken_link(chain))
}

/// The place where a chain breaks.
pub fn first_broken_link(chain: &[AuditLink]) -> Option<i64> {
    let links = chain.iter().zip(1..);
    links.filter(|(link, seq)| link.seq != *seq || link.hash != link.expected_hash).map(|(_, seq)| seq).next()
}

/// Traces of purged things, wherever they were looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    pub tables: usize,
    pub full_text: usize,
    pub vectors: usize,
    /// `None` while a reader still holds the old log.
    pub log: Option<usize>,
}

/// I12.
pub fn purged_means_absent(traces: &Traces) -> Result<(), Broken> {
    let found = traces.tables + traces.full_text + traces.vectors + traces.log.unwrap_or_default();
    I12.holds_if(found == 0, || format!("{traces:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_breaks_at_a_gap_and_at_an_altered_row() {
        let link = |seq| AuditLink { seq, hash: [seq as u8; 32], expected_hash: [seq as u8; 32] };
        assert_eq!(every_step_is_audited(2, &[link(1), link(2)]), Ok(()));
        assert!(every_step_is_audited(3, &[link(1), link(2)]).is_err());
        assert_eq!(first_broken_link(&[link(1), link(3)]), Some(2));
        assert_eq!(first_broken_link(&[link(1), AuditLink { expected_hash: [9; 32], ..link(2) }]), Some(2));
    }

    #[test]
    fn the_log_counts_once_it_is_clean() {
        assert_eq!(purged_means_absent(&Traces::default()), Ok(()));
        for traces in [
            Traces { tables: 1, ..Traces::default() },
            Traces { full_text: 1, ..Traces::default() },
            Traces { vectors: 1, ..Traces::default() },
            Traces { log: Some(1), ..Traces::default() },
        ] {
            assert!(purged_means_absent(&traces).is_err(), "{traces:?}");
        }
    }

    #[test]
    fn dumps_are_compared_as_they_are() {
        assert!(undo_is_the_identity(&[1, 2], &[1, 2]).is_ok() && undo_is_the_identity(&[1, 2], &[2, 1]).is_err());
        assert!(resuming_changes_nothing(&1, &1).is_ok() && resuming_changes_nothing(&1, &2).is_err());
    }
}
