use proptest::prelude::*;
use rootset_properties::for_a_while;

use super::{EXACT_UNITS_MAX, Losses, OVERSHOOT_FACTOR, Unit, cheap_cover};

/// Losses that do not depend on who else leaves, by the number of the unit.
#[derive(Clone, Debug)]
struct Fixed(Vec<f64>);

impl Losses for Fixed {
    fn loss(&mut self, unit: &Unit) -> f64 {
        self.0[unit.first as usize]
    }

    fn is_fixed(&self, _: &Unit) -> bool {
        true
    }

    fn leave(&mut self, _: &Unit) {}
}

fn unit(place: u32, tokens: u64) -> Unit {
    Unit { first: place, others: Vec::new(), tokens }
}

/// Small numbers, so that sums meet targets exactly; losses are eighths, so that they add up without rounding.
fn units(most: usize) -> impl Strategy<Value = (Vec<Unit>, Fixed)> {
    prop::collection::vec((0..12_u64, 0..=8_u32), 0..=most).prop_map(|told| {
        let units = (0_u32..).zip(&told).map(|(place, (tokens, _))| unit(place, *tokens)).collect();
        (units, Fixed(told.iter().map(|(_, loss)| f64::from(*loss) / 8.0).collect()))
    })
}

fn sums(units: &[Unit], losses: &Fixed, chosen: &[usize]) -> (u64, f64) {
    (chosen.iter().map(|it| units[*it].tokens).sum(), chosen.iter().map(|it| losses.0[*it]).sum())
}

/// The least loss of any combination that frees enough, and the fewest tokens at that loss.
fn optimum(units: &[Unit], losses: &Fixed, target: u64) -> Option<(f64, u64)> {
    let mut best: Option<(f64, u64)> = None;
    for combination in 0..1_usize << units.len() {
        let chosen: Vec<usize> = (0..units.len()).filter(|place| combination >> place & 1 == 1).collect();
        let (tokens, loss) = sums(units, losses, &chosen);
        if tokens >= target && best.is_none_or(|best| (loss, tokens) < best) {
            best = Some((loss, tokens));
        }
    }
    best
}

#[test]
fn few_units_are_chosen_as_by_brute_force() {
    for_a_while(|config| {
        proptest!(config, |((units, mut losses) in units(EXACT_UNITS_MAX), target in 1..30_u64)| {
            let chosen = cheap_cover(&units, target, &mut losses);
            let (tokens, loss) = sums(&units, &losses, &chosen);
            match optimum(&units, &losses, target) {
                // What is worth nothing and frees nothing is no difference: only sums are compared.
                Some(best) => prop_assert_eq!((loss, tokens), best),
                None => prop_assert_eq!(tokens, units.iter().map(|unit| unit.tokens).sum::<u64>()),
            }
        })
    });
}

#[test]
fn many_units_free_enough_name_nobody_in_vain_and_overshoot_little_unless_that_costs_less() {
    for_a_while(|config| {
        proptest!(config, |((units, mut losses) in units(10), target in 1..50_u64)| {
            let chosen = cheap_cover(&units, target, &mut losses);
            let (tokens, loss) = sums(&units, &losses, &chosen);
            let Some((best_loss, _)) = optimum(&units, &losses, target) else {
                prop_assert_eq!(tokens, units.iter().map(|unit| unit.tokens).sum::<u64>());
                return Ok(());
            };
            prop_assert!(tokens >= target && loss >= best_loss);
            prop_assert!(chosen.iter().all(|it| tokens - units[*it].tokens < target), "one was needless: {:?}", chosen);
            if tokens > target * OVERSHOOT_FACTOR {
                prop_assert!(loss <= 2.0 * best_loss + 1e-9, "{} against {}", loss, best_loss);
            }
        })
    });
}

#[test]
fn many_small_units_are_not_completed_by_a_needless_big_one() {
    let mut units: Vec<Unit> = (0..40).map(|place| unit(place, 10)).collect();
    units.push(unit(40, 10_000));
    let mut losses = Fixed(vec![0.5; 40]);
    losses.0.push(0.9);
    assert!(units.len() > EXACT_UNITS_MAX);
    // Cheap per token, but dearer than the one small segment that suffices.
    let chosen = cheap_cover(&units, 10, &mut losses);
    assert_eq!(sums(&units, &losses, &chosen), (10, 0.5));
    // For more, the big one is the least loss.
    assert_eq!(cheap_cover(&units, 30, &mut losses), [40]);
}

#[test]
fn a_dearer_end_does_not_stop_the_search_for_a_cheaper_one() {
    let tokens = [5, 3, 1, 1, 1];
    let units: Vec<Unit> = (0..).zip(tokens).map(|(place, tokens)| unit(place, tokens)).collect();
    let mut losses = Fixed(vec![0.625, 0.75, 0.25, 0.25, 0.25]);
    assert_eq!(cheap_cover(&units, 1, &mut losses), [2]);
}

/// Everybody's loss doubles whenever somebody leaves, but for the last one's.
struct Rising {
    factor: f64,
    last: u32,
}

impl Losses for Rising {
    fn loss(&mut self, unit: &Unit) -> f64 {
        if unit.first == self.last { 3.0 } else { self.factor * f64::from(unit.first + 1) / 16.0 }
    }

    fn is_fixed(&self, _: &Unit) -> bool {
        false
    }

    fn leave(&mut self, _: &Unit) {
        self.factor *= 2.0;
    }
}

#[test]
fn who_became_dear_because_others_left_is_put_off() {
    let units: Vec<Unit> = (0..20).map(|place| unit(place, 10)).collect();
    // 1/16, 2·2/16, 4·3/16 and 8·4/16 are less than three, 16·5/16 is more.
    let chosen = cheap_cover(&units, 50, &mut Rising { factor: 1.0, last: 19 });
    let chosen: std::collections::BTreeSet<usize> = chosen.into_iter().collect();
    assert_eq!(chosen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 19]);
}
