//! When rebuilding the file pays. Pure.

use rootset_store::ChunkTurnover;

/// The share of chunks that were purged since the last defragmentation, of those there would be without it.
pub fn dead_fraction(turnover: ChunkTurnover) -> f64 {
    let all = turnover.chunks.saturating_add(turnover.purged);
    if all <= 0 { 0.0 } else { turnover.purged as f64 / all as f64 }
}

/// A threshold of 0 turns the recommendation off.
pub fn is_defrag_recommended(turnover: ChunkTurnover, threshold: f64) -> bool {
    threshold > 0.0 && dead_fraction(turnover) > threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_recommended(chunks: i64, purged: i64, threshold: f64) -> bool {
        is_defrag_recommended(ChunkTurnover { chunks, purged }, threshold)
    }

    #[test]
    fn a_fifth_of_the_chunks_is_enough_and_a_twentieth_is_not() {
        assert!(is_recommended(80, 20, 0.10));
        assert!(!is_recommended(95, 5, 0.10));
        assert!(!is_recommended(90, 10, 0.10), "above the threshold, not at it");
    }

    #[test]
    fn purges_add_up_until_the_next_defragmentation() {
        assert!(!is_recommended(91, 9, 0.10));
        assert!(is_recommended(83, 17, 0.10));
    }

    #[test]
    fn zero_turns_it_off_and_an_empty_database_needs_nothing() {
        assert!(!is_recommended(0, 100, 0.0));
        assert!(!is_recommended(0, 0, 0.10));
    }
}
