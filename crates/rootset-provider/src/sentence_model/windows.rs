//! Token ids to what is computed together: windows that the model can read, packed into batches without any padding.

use std::ops::Range;

use super::architecture::Architecture;
use super::fault::ModelFault;
use crate::static_table::Tokenizer;

/// Texts that are cut into tokens and held together.
pub const TEXTS_AT_ONCE: usize = 256;
/// Rows of one matrix product: enough to pay for bringing in the weights, little enough to stay in a processor's cache.
const BATCH_TOKENS: usize = 512;
/// A text longer than this many windows is cut off: chunks and queries are far below.
pub const WINDOWS_MAX: usize = 64;
/// The tokens that begin and end a text, by family.
const SPECIAL: [(&str, &str); 2] = [("[CLS]", "[SEP]"), ("<s>", "</s>")];

pub struct Windows {
    begin: u32,
    end: u32,
    /// Of the text itself in one window.
    tokens: usize,
}

/// Windows whose rows are computed together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub tokens: Vec<u32>,
    /// Of each window; they add up to the tokens.
    pub lengths: Vec<usize>,
}

#[derive(Debug)]
pub struct Cut {
    pub batches: Vec<Batch>,
    /// Which windows belong to each text, counted over all batches.
    pub windows_of_text: Vec<Range<usize>>,
}

impl Windows {
    pub fn new(tokenizer: &Tokenizer, architecture: &Architecture) -> Result<Self, ModelFault> {
        let tokens = architecture.tokens;
        if let Some(id) = tokenizer.id_max().filter(|&id| id as usize >= tokens) {
            return Err(ModelFault::TokenOutOfRange { id, tokens });
        }
        let ids = |(begin, end)| Some((tokenizer.token_id(begin)?, tokenizer.token_id(end)?));
        let (begin, end) = SPECIAL.into_iter().find_map(ids).ok_or(ModelFault::NoSpecialTokens)?;
        Ok(Self { begin, end, tokens: architecture.window_tokens - 2 })
    }

    /// Of each text at most so many windows.
    pub fn cut(&self, texts: &[Vec<u32>], windows_max: usize) -> Cut {
        let mut cut = Cut { batches: Vec::new(), windows_of_text: Vec::with_capacity(texts.len()) };
        let mut windows = 0;
        for text in texts {
            let start = windows;
            // A text without any token still has the two that begin and end it.
            let empty = text.is_empty().then_some(&text[..]);
            for window in empty.into_iter().chain(text.chunks(self.tokens).take(windows_max)) {
                self.add(window, &mut cut.batches);
                windows += 1;
            }
            cut.windows_of_text.push(start..windows);
        }
        cut
    }

    fn add(&self, window: &[u32], batches: &mut Vec<Batch>) {
        let length = window.len() + 2;
        let is_full = batches.last().is_none_or(|batch| batch.tokens.len() + length > BATCH_TOKENS);
        if is_full {
            batches.push(Batch::default());
        }
        let batch = batches.last_mut().expect("one was pushed if there was none");
        batch.tokens.push(self.begin);
        batch.tokens.extend(window);
        batch.tokens.push(self.end);
        batch.lengths.push(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_windows_and_windows_batches() {
        let windows = Windows { begin: 1, end: 2, tokens: 3 };
        let cut = windows.cut(&[vec![], vec![5], vec![6, 7, 8, 9]], WINDOWS_MAX);
        let tokens = vec![1, 2, 1, 5, 2, 1, 6, 7, 8, 2, 1, 9, 2];
        assert_eq!(cut.batches, [Batch { tokens, lengths: vec![2, 3, 5, 3] }]);
        assert_eq!(cut.windows_of_text, [0..1, 1..2, 2..4]);
    }

    #[test]
    fn a_batch_is_full_at_its_limit_and_one_window_may_be_larger() {
        let windows = Windows { begin: 1, end: 2, tokens: BATCH_TOKENS };
        let lengths = |texts: &[usize]| {
            let texts: Vec<Vec<u32>> = texts.iter().map(|&length| vec![7; length]).collect();
            windows.cut(&texts, WINDOWS_MAX).batches.into_iter().map(|batch| batch.lengths).collect::<Vec<_>>()
        };
        assert_eq!(lengths(&[BATCH_TOKENS - 6, 2, 1]), [vec![BATCH_TOKENS - 4, 4], vec![3]]);
        assert_eq!(lengths(&[1, BATCH_TOKENS, 1]), [vec![3], vec![BATCH_TOKENS + 2], vec![3]]);
    }

    #[test]
    fn a_text_without_end_is_cut_off() {
        let windows = Windows { begin: 1, end: 2, tokens: 3 };
        for windows_max in [1, WINDOWS_MAX] {
            let cut = windows.cut(&[vec![7; 1_000]], windows_max);
            assert_eq!(cut.windows_of_text.first(), Some(&(0..windows_max)));
        }
    }
}
