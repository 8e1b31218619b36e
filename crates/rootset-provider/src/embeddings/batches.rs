//! Which texts go into one request. Pure.

use crate::ProviderError;

/// What common servers accept at once.
pub(super) const BATCH_TEXTS_MAX: usize = 64;
/// Bounds what a server has to hold and compute within one timeout; no sensible text comes near it alone.
pub(super) const BATCH_BYTES_MAX: usize = 256 << 10;

/// The texts in order, in runs that keep both limits. A text that no server takes is refused before anything is sent.
pub(super) fn batches<'a>(texts: &'a [&'a str]) -> Result<Vec<&'a [&'a str]>, ProviderError> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (position, text) in texts.iter().enumerate() {
        if text.trim().is_empty() {
            return Err(ProviderError::BlankText { position });
        }
        if text.len() > BATCH_BYTES_MAX {
            return Err(ProviderError::TextTooLarge { position, bytes: text.len(), limit_bytes: BATCH_BYTES_MAX });
        }
        if position - start == BATCH_TEXTS_MAX || bytes + text.len() > BATCH_BYTES_MAX {
            batches.push(&texts[start..position]);
            (start, bytes) = (position, 0);
        }
        bytes += text.len();
    }
    if start < texts.len() {
        batches.push(&texts[start..]);
    }
    Ok(batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(texts: &[&str]) -> Vec<usize> {
        batches(texts).unwrap().iter().map(|batch| batch.len()).collect()
    }

    #[test]
    fn batches_keep_both_limits() {
        assert_eq!(sizes(&[]), [0; 0]);
        assert_eq!(sizes(&["a"; 64]), [64]);
        assert_eq!(sizes(&["a"; 130]), [64, 64, 2]);
        let half = "a".repeat(BATCH_BYTES_MAX / 2);
        assert_eq!(sizes(&[&half, &half, "b", &half]), [2, 2]);
        let whole = "a".repeat(BATCH_BYTES_MAX);
        assert_eq!(sizes(&["b", &whole, "b"]), [1, 1, 1]);
    }

    #[test]
    fn blank_and_oversized_texts_are_refused_by_position() {
        assert!(matches!(batches(&["a", " \n"]), Err(ProviderError::BlankText { position: 1 })));
        let large = "a".repeat(BATCH_BYTES_MAX + 1);
        assert!(matches!(batches(&[&large]), Err(ProviderError::TextTooLarge { position: 0, .. })));
    }
}
