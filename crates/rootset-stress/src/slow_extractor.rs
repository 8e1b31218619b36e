//! A stand-in for a hosted model: the built-in rules after some milliseconds, sometimes an error.
//!
//! The delay is the modelled latency, and what makes memories pending; nothing waits for it to pass.

use std::time::Duration;

use rootset_model::{Content, Extraction};
use rootset_provider::{BuiltinExtractor, Extractor, ProviderError};

/// Slower than a writer waits, now and then, and quicker most of the time.
const LATENCY_MS_MAX: u64 = 8;
/// One text in so many fails.
const FAILURE_PERIOD: u64 = 16;

/// How well the model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowExtractor {
    /// Late, and sometimes not at all.
    Overloaded,
    /// At once, but still remote.
    Idle,
}

impl Extractor for SlowExtractor {
    fn id(&self) -> &str {
        "stress:slow"
    }

    fn version(&self) -> i64 {
        1
    }

    fn is_local(&self) -> bool {
        false
    }

    fn extract(&self, content: &Content) -> Result<Extraction, ProviderError> {
        if *self == Self::Overloaded {
            // Taken from the text, so that a seed repeats its latencies and failures.
            let sum: u64 = content.context.bytes().map(u64::from).sum();
            std::thread::sleep(Duration::from_millis(sum % (LATENCY_MS_MAX + 1)));
            if sum.is_multiple_of(FAILURE_PERIOD) {
                return Err(ProviderError::TimedOut { host: "stress".into(), limit_ms: LATENCY_MS_MAX });
            }
        }
        BuiltinExtractor.extract(content)
    }
}
