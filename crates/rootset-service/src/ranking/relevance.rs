//! Whether anything that was found speaks of what is asked. Search answers with nothing rather than with what shares a common
//! word, and names what is nearest instead.
//!
//! Both shares are of what the query tells, by the rarity of its terms: terms that nobody ever wrote tell most. Calibrated
//! with questions asked where their answers are and where they are not (docs/answers.md): silence must cost next to nothing
//! where there is an answer, so it is kept for what is clearly beside the point.

use super::Found;
use super::words::Rarity;

/// The best memory's score, neighbours included, as a share of what the query tells.
const SCORE_SHARE_MIN: f64 = 0.24;
/// Of what the query tells, the share that some memory holds: in a long text a term scores little, and is there all the same.
const HELD_SHARE_MIN: f64 = 0.2;
/// In a smaller workspace shares are coarse, and whoever reads a few notes too many loses little.
const CHUNKS_MIN: f64 = 200.0;

/// Where there are vectors nothing is ruled out by words: a memory may mean the same in other words. Nor is a memory of an
/// entity that the query names, or whose tag or name it says.
pub fn is_nothing_relevant(found: &[Found<'_>], largest_score: f64, rarity: &Rarity<'_>) -> bool {
    let has_vectors = found.iter().any(|it| it.similarity.is_some());
    let is_named = found.iter().any(|it| it.row().linked_entities > 0 || !it.row().labels.is_empty());
    let held = found.iter().map(|it| it.words.held).fold(0.0, f64::max);
    rarity.chunks >= CHUNKS_MIN
        && !has_vectors
        && !is_named
        && largest_score < SCORE_SHARE_MIN * rarity.total()
        && held < HELD_SHARE_MIN
}
