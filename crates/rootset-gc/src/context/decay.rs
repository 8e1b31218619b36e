//! Halving with age, and other powers, in the same bits on every machine: multiplications, divisions and square roots
//! are exact to the last bit everywhere, the exponential functions of a system's library are not.

use std::sync::LazyLock;

/// After so many half-lives nothing gets smaller: what is ancient still differs from nothing.
const HALF_LIVES_MAX: f64 = 60.0;
const TABLE_BITS: u32 = 8;
const TABLE_SIZE: usize = 1 << TABLE_BITS;

/// Two to the power of minus n/256.
static ROOTS: LazyLock<[f64; TABLE_SIZE]> = LazyLock::new(|| {
    let mut roots = [1.0; TABLE_SIZE];
    let mut root: f64 = 0.5;
    for bit in (0..TABLE_BITS).rev() {
        root = root.sqrt();
        let holding = (0..TABLE_SIZE).filter(|place| place >> bit & 1 == 1);
        holding.for_each(|place| roots[place] *= root);
    }
    roots
});

/// One when new, one half after a half-life. A half-life of zero counts as one.
pub(super) fn decay(age: u64, half_life: u64) -> f64 {
    let half_lives = (age as f64 / half_life.max(1) as f64).min(HALF_LIVES_MAX);
    let whole = half_lives.floor();
    let in_table = (half_lives - whole) * TABLE_SIZE as f64;
    // What the table is too coarse for: at most 1/256 of a half-life, where four terms of the series suffice.
    let rest = (in_table - in_table.floor()) / TABLE_SIZE as f64 * std::f64::consts::LN_2;
    let series = 1.0 - rest * (1.0 - rest / 2.0 * (1.0 - rest / 3.0));
    let halvings = 1_u64 << whole as u32;
    ROOTS[in_table as usize] * series / halvings as f64
}

/// Fractions of an exponent are rounded down to 1/1024.
const EXPONENT_BITS: u32 = 10;

/// A positive number to a power between zero and a few.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    let whole = exponent.floor();
    let mut result = 1.0;
    for _ in 0..whole as u32 {
        result *= base;
    }
    let fraction = ((exponent - whole) * f64::from(1_u32 << EXPONENT_BITS)) as u32;
    let mut root = base;
    if fraction == 0 {
        return result;
    }
    for bit in (0..EXPONENT_BITS).rev() {
        root = root.sqrt();
        if fraction >> bit & 1 == 1 {
            result *= root;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{decay, power};

    #[test]
    fn decay_halves_and_agrees_with_the_library() {
        assert_eq!([decay(0, 32), decay(32, 32), decay(96, 32), decay(5, 0)], [1.0, 0.5, 0.125, 0.03125]);
        for age in 0..10_000 {
            let exact = (-(age as f64) / 171.0).exp2();
            assert!((decay(age, 171) / exact - 1.0).abs() < 1e-11, "{age}");
        }
    }

    #[test]
    fn what_is_ancient_is_worth_little_and_not_nothing() {
        assert!(decay(u64::MAX, 1) > 0.0 && decay(u64::MAX, 1) < 1e-15);
        assert!((1..5_000).all(|age| decay(age, 100) < decay(age - 1, 100)));
    }

    #[test]
    fn powers_agree_with_the_library() {
        assert_eq!([power(7.0, 0.0), power(7.0, 1.0), power(7.0, 2.0), power(16.0, 0.25)], [1.0, 7.0, 49.0, 2.0]);
        for exponent in 0..=2_048 {
            let exponent = f64::from(exponent) / 1_024.0;
            assert!((power(321.0, exponent) / 321_f64.powf(exponent) - 1.0).abs() < 1e-12, "{exponent}");
        }
    }
}
