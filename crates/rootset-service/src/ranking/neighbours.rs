//! What memories lend to those beside them in their thread: a turn of a conversation is about what is said around it.
//!
//! Only memories lend, never the chunks of one memory to each other: a long text would lend itself past the short one that
//! holds the fact.

use std::collections::HashMap;

use rootset_store::NEIGHBOURS;

use super::Found;

/// How much of its score a neighbour lends, per step of distance.
const DECAY: f64 = 0.55;
/// What follows a question is likely to answer it.
const AFTER_QUESTION: f64 = 2.0;
/// How much less a long memory borrows: it says itself what it is about.
const LENGTH_PENALTY: f64 = 0.5;

/// The better of the two neighbours at each distance lends a share of its words' score.
pub fn lent_words(it: &Found<'_>, found: &[Found<'_>], in_place: &HashMap<i64, usize>) -> f64 {
    let lent =
        lent(
            it,
            found,
            in_place,
            |other, is_answered| {
                if is_answered { other.words.body * AFTER_QUESTION } else { other.words.body }
            },
        );
    lent / (1.0 + LENGTH_PENALTY * it.words.excess())
}

/// The sum of what the better neighbour at each distance gives, less with every step. `given` is told whether the
/// neighbour is a question that this memory follows.
pub fn lent(
    it: &Found<'_>,
    found: &[Found<'_>],
    in_place: &HashMap<i64, usize>,
    given: impl Fn(&Found<'_>, bool) -> f64,
) -> f64 {
    let Some(place) = it.row().place else { return 0.0 };
    let neighbour = |offset: i64| in_place.get(&(place + offset)).map(|&number| &found[number]);
    let mut lent = 0.0;
    let mut share = 1.0;
    for distance in 1..=NEIGHBOURS {
        share *= DECAY;
        let before =
            neighbour(-distance).map_or(0.0, |other| given(other, distance == 1 && other.is_asking() && it.is_turn()));
        let after = neighbour(distance).map_or(0.0, |other| given(other, false));
        lent += share * before.max(after);
    }
    lent
}
