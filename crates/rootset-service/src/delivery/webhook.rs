//! Events as requests to a webhook, one event each, so that the other side answers for every one of them.

use std::time::{Duration, Instant};

use rootset_provider::Webhook;

use super::{Delivered, EventPlace, Failure};
use crate::clock::{Clock, SystemClock};

/// The other side should take note and answer, not work.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct EventWebhook {
    webhook: Webhook,
    /// The signature's time is the real one, so that the other side can refuse old requests.
    clock: SystemClock,
}

impl EventWebhook {
    pub const NAME: &str = "webhook";

    pub fn new(webhook: Webhook) -> Self {
        Self { webhook, clock: SystemClock }
    }
}

impl EventPlace for EventWebhook {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn deliver(&mut self, events: &[&str], until: Instant) -> Delivered {
        for (count, event) in events.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Delivered { count, failure: None };
            }
            let sent_at = self.clock.now().0 / 1_000;
            if let Err(error) = self.webhook.post(event, sent_at, left.min(TIMEOUT)) {
                let failure = Failure { problem: error.to_string(), lasts: error.lasts() };
                return Delivered { count, failure: Some(failure) };
            }
        }
        Delivered { count: events.len(), failure: None }
    }
}
