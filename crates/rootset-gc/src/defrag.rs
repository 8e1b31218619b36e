//! When rebuilding the file is worth it.

/// Whether so large a share of dead rows is above the operator's threshold; a threshold of 0 turns the advice off.
pub fn is_defrag_recommended(dead_fraction: f64, threshold: f64) -> bool {
    threshold > 0.0 && dead_fraction > threshold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_the_threshold_and_never_at_zero() {
        let of = |purged: f64, kept: f64| purged / (purged + kept);
        assert!(is_defrag_recommended(of(20.0, 80.0), 0.10));
        assert!(!is_defrag_recommended(of(5.0, 95.0), 0.10));
        // Nine per cent a day for two days.
        assert!(is_defrag_recommended(of(9.0 + 9.0, 82.0), 0.10));
        assert!(!is_defrag_recommended(0.99, 0.0));
    }
}
