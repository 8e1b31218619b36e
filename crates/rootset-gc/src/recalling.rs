//! Which memories a prompt clearly calls for, so that they are put beside it unasked.
//!
//! A decision on values, by words alone. Silence is the rule: most prompts need nothing, and a note that nobody needed costs tokens
//! in every later request. A memory must share with the prompt something that identifies a subject (an identifier, or a word that is
//! rare in the store and not one that people use in every prompt), and enough of what the prompt is about.

use crate::brief::BYTES_PER_TOKEN;

pub const MEMORIES_OF_PROMPT_MAX: usize = 3;
/// Of one prompt, the frame included.
pub const RECALL_TOKENS_MAX: usize = 250;
/// Of one window: a long session must not fill up with notes.
pub const WINDOW_TOKENS_MAX: usize = 1_500;

/// Terms of a prompt that count: the heaviest. A long prompt is about the same few things all the same.
const COUNTED_TERMS_MAX: usize = 12;
/// A term is rare that is in no more than this share of the store's texts, or in no more than so many of them.
const RARE_SHARE: f64 = 0.02;
const RARE_TEXTS: i64 = 2;
/// What an ordinary word weighs beside another one, and an identifier.
const ORDINARY_WEIGHT: f64 = 0.15;
const IDENTIFIER_WEIGHT: f64 = 1.5;
/// How much of what a prompt is about has to be in the memory: where one thing that identifies is shared, two, and an identifier.
const SHARE_WITH_ONE: f64 = 0.42;
const SHARE_WITH_TWO: f64 = 0.3;
const SHARE_WITH_IDENTIFIER: f64 = 0.2;
/// Of a memory that is about something else, one word is shared by chance.
const OWN_SHARE_MIN: f64 = 0.08;

/// A word of the prompt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromptTerm {
    /// How many texts of the store hold it.
    pub texts: i64,
    /// People say it in every other prompt.
    pub is_ordinary: bool,
    pub is_identifier: bool,
}

impl PromptTerm {
    fn is_rare(self, all_texts: i64) -> bool {
        self.texts > 0 && (self.texts <= RARE_TEXTS || (self.texts as f64) <= RARE_SHARE * all_texts as f64)
    }

    /// Whether sharing it says what both are about.
    fn identifies(self, all_texts: i64) -> bool {
        !self.is_ordinary && self.is_rare(all_texts)
    }

    fn weight(self, all_texts: i64) -> f64 {
        // A word that nobody wrote down is no rarer than one that stands in one text.
        let texts = self.texts.max(1) as f64;
        let rarity = ((all_texts as f64 + 1.0) / (texts + 0.5)).ln().max(0.0);
        let factor = match self {
            Self { is_ordinary: true, .. } => ORDINARY_WEIGHT,
            Self { is_identifier: true, .. } => IDENTIFIER_WEIGHT,
            _ => 1.0,
        };
        // In a small store every word is frequent: that it is no ordinary one has to count all the same.
        factor * (1.0 + rarity)
    }
}

/// Whether a memory is clearly what the prompt calls for. `shared` are the places of those terms that it holds, and `own_terms` is
/// how many different words it has that are not ordinary.
pub fn is_clearly_relevant(terms: &[PromptTerm], shared: &[usize], own_terms: usize, all_texts: i64) -> bool {
    let mut weights: Vec<f64> = terms.iter().map(|term| term.weight(all_texts)).collect();
    let shared_weight: f64 = shared.iter().filter_map(|place| weights.get(*place)).sum();
    weights.sort_by(|a, b| b.total_cmp(a));
    let whole: f64 = weights.iter().take(COUNTED_TERMS_MAX).sum();
    if whole <= 0.0 {
        return false;
    }
    let share = shared_weight / whole;
    let telling: Vec<PromptTerm> = shared
        .iter()
        .filter_map(|place| terms.get(*place))
        .copied()
        .filter(|term| term.identifies(all_texts))
        .collect();
    let is_about_it = telling.len() as f64 >= OWN_SHARE_MIN * own_terms as f64;
    let needed = match telling.len() {
        0 => return false,
        _ if telling.iter().any(|term| term.is_identifier) => SHARE_WITH_IDENTIFIER,
        1 => SHARE_WITH_ONE,
        _ => SHARE_WITH_TWO,
    };
    is_about_it && share >= needed
}

/// How many of these lines, in their order, fit into one prompt and into what is left of the window; `overhead` is the frame's.
pub fn fitting(lines: &[usize], overhead: usize, window_tokens_used: usize) -> usize {
    let left = WINDOW_TOKENS_MAX.saturating_sub(window_tokens_used).min(RECALL_TOKENS_MAX) * BYTES_PER_TOKEN;
    let mut bytes = overhead;
    let fits = lines.iter().take(MEMORIES_OF_PROMPT_MAX).take_while(|line| {
        bytes += **line;
        bytes <= left
    });
    fits.count()
}

/// What a text costs, as every hook counts it.
pub fn tokens_of(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: i64 = 500;

    fn word(texts: i64) -> PromptTerm {
        PromptTerm { texts, is_ordinary: false, is_identifier: false }
    }

    fn ordinary(texts: i64) -> PromptTerm {
        PromptTerm { is_ordinary: true, ..word(texts) }
    }

    #[test]
    fn ordinary_and_common_words_call_for_nothing() {
        let terms = [ordinary(1), ordinary(2), ordinary(0)];
        assert!(!is_clearly_relevant(&terms, &[0, 1], 3, STORE));
        assert!(!is_clearly_relevant(&[word(200), word(150)], &[0, 1], 3, STORE), "in every other memory");
        assert!(!is_clearly_relevant(&[], &[], 0, 0));
        assert!(!is_clearly_relevant(&[word(1)], &[7], 1, STORE), "a place that is none");
    }

    #[test]
    fn a_rare_word_has_to_be_most_of_what_a_prompt_is_about() {
        assert!(is_clearly_relevant(&[ordinary(9), word(3)], &[1], 5, STORE));
        let about_others = [word(0), word(0), word(0), word(3)];
        assert!(!is_clearly_relevant(&about_others, &[3], 5, STORE));
        let two_of_them = [word(0), word(0), word(3), word(5)];
        assert!(is_clearly_relevant(&two_of_them, &[2, 3], 5, STORE));
        assert!(!is_clearly_relevant(&two_of_them, &[2, 3], 60, STORE), "by chance in a long text");
    }

    #[test]
    fn an_identifier_needs_less_around_it() {
        let identifier = PromptTerm { is_identifier: true, ..word(1) };
        let terms = [word(0), word(0), word(0), identifier];
        assert!(is_clearly_relevant(&terms, &[3], 5, STORE));
    }

    #[test]
    fn no_prompt_and_no_window_gets_more_than_its_share() {
        assert_eq!(fitting(&[200, 200, 200, 200], 100, 0), MEMORIES_OF_PROMPT_MAX);
        assert_eq!(fitting(&[600, 600], 100, 0), 1);
        assert_eq!(fitting(&[100], 100, WINDOW_TOKENS_MAX), 0);
        assert_eq!(fitting(&[100, 100], 100, WINDOW_TOKENS_MAX - 50), 1);
        assert_eq!(fitting(&[2_000], 100, 0), 0);
    }
}
