use proptest::prelude::*;

use super::{EXACT_UNITS_MAX, Unit, cheapest_cover, greedy};

fn unit(place: u32, tokens: u64, loss: f64) -> Unit {
    Unit { first: place, others: Vec::new(), tokens, loss, created_step: 0 }
}

/// Small numbers, so that sums meet targets exactly; losses are eighths, so that they add up without rounding.
fn units(most: usize) -> impl Strategy<Value = Vec<Unit>> {
    prop::collection::vec((0..12_u64, 0..=8_u32), 0..=most).prop_map(|units| {
        let units = (0_u32..).zip(units);
        units.map(|(place, (tokens, loss))| unit(place, tokens, f64::from(loss) / 8.0)).collect()
    })
}

fn sums(units: &[Unit], chosen: &[usize]) -> (u64, f64) {
    (chosen.iter().map(|it| units[*it].tokens).sum(), chosen.iter().map(|it| units[*it].loss).sum())
}

/// The least loss of any combination that frees enough, and the fewest tokens at that loss.
fn optimum(units: &[Unit], target: u64) -> Option<(f64, u64)> {
    let mut best: Option<(f64, u64)> = None;
    for combination in 0..1_usize << units.len() {
        let chosen: Vec<usize> = (0..units.len()).filter(|place| combination >> place & 1 == 1).collect();
        let (tokens, loss) = sums(units, &chosen);
        if tokens >= target && best.is_none_or(|best| (loss, tokens) < best) {
            best = Some((loss, tokens));
        }
    }
    best
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn few_units_are_chosen_as_by_brute_force() {
    proptest!(config(1_000), |(units in units(8), target in 1..50_u64)| {
        let chosen = cheapest_cover(&units, target);
        let (tokens, loss) = sums(&units, &chosen);
        match optimum(&units, target) {
            // What is worth nothing and frees nothing is no difference: only sums are compared.
            Some(best) => prop_assert_eq!((loss, tokens), best),
            None => prop_assert_eq!(tokens, units.iter().map(|unit| unit.tokens).sum::<u64>()),
        }
    });
}

#[test]
fn the_greedy_choice_frees_enough_needs_everything_and_costs_at_most_twice_the_optimum() {
    proptest!(config(1_000), |(units in units(10), target in 1..50_u64)| {
        let Some((best_loss, _)) = optimum(&units, target) else { return Ok(()) };
        let mut order: Vec<usize> = (0..units.len()).filter(|it| units[*it].tokens > 0).collect();
        let per_token = |it: &usize| units[*it].loss / units[*it].tokens as f64;
        order.sort_by(|a, b| per_token(a).total_cmp(&per_token(b)));
        let chosen = greedy(&units, &order, target);
        let (tokens, loss) = sums(&units, &chosen);
        prop_assert!(tokens >= target);
        prop_assert!(loss <= 2.0 * best_loss, "{} against {}", loss, best_loss);
        prop_assert!(chosen.iter().all(|it| tokens - units[*it].tokens < target), "one was needless: {:?}", chosen);
    });
}

#[test]
fn many_small_units_are_not_completed_by_a_needless_big_one() {
    let mut units: Vec<Unit> = (0..40).map(|place| unit(place, 10, 0.5)).collect();
    units.push(unit(40, 10_000, 0.9));
    assert!(units.len() > EXACT_UNITS_MAX);
    // Cheap per token, but dearer than the one small segment that suffices.
    let chosen = cheapest_cover(&units, 10);
    assert_eq!(sums(&units, &chosen), (10, 0.5));
    // For more, the big one is the least loss.
    assert_eq!(cheapest_cover(&units, 30), [40]);
}
