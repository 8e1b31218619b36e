//! Cosines, so that they can stand beside words: above the median of the candidates, and lent as words are.
//!
//! The median stands for texts that have nothing to do with the query. What is near it says nothing, whatever the model's
//! cosines usually are.

use std::collections::HashMap;

use super::{Found, neighbours};

/// For each memory a value in [0, 1]; 0 without vectors.
pub fn scaled(found: &[Found<'_>], in_place: &HashMap<i64, usize>) -> Vec<f64> {
    let mut cosines: Vec<f64> = found.iter().filter_map(|it| it.similarity).collect();
    if cosines.is_empty() {
        return vec![0.0; found.len()];
    }
    cosines.sort_unstable_by(f64::total_cmp);
    // With a single memory, as with equal ones, there is nothing to be above. Of two in the middle the lower one: of two
    // memories the better one is above.
    let median = if cosines[0] < cosines[cosines.len() - 1] { cosines[(cosines.len() - 1) / 2] } else { 0.0 };
    let above = |it: &Found<'_>| it.similarity.map_or(0.0, |cosine| (cosine - median).max(0.0));
    let lent: Vec<f64> =
        found.iter().map(|it| above(it) + neighbours::lent(it, found, in_place, |other, _| above(other))).collect();
    let largest = lent.iter().copied().fold(0.0, f64::max);
    lent.into_iter().map(|value| if largest > 0.0 { value / largest } else { 0.0 }).collect()
}
