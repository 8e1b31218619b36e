//! The thread of a process that runs on in which vectors are made: a model may take minutes over a database that is new to
//! it, and nothing else waits for that.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rootset_service::{Service, ServiceError};

use crate::background::{Background, is_asked_within};

/// How often vectors that are missing are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// `embed_some` makes one batch and answers whether there may be another.
pub fn start(
    service: &Arc<Service>,
    embed_some: fn(&Service) -> Result<bool, ServiceError>,
    background: &mut Background,
) {
    let (service, is_ending) = (service.clone(), background.is_ending.clone());
    background.spawn(move |asked| {
        loop {
            // The database may be busy, or its disk full: the next look tries again.
            while !is_ending.load(Ordering::SeqCst) && is_more(embed_some(&service)) {}
            if is_asked_within(&asked, LOOK_EVERY) {
                return;
            }
        }
    });
}

fn is_more(outcome: Result<bool, ServiceError>) -> bool {
    outcome.unwrap_or_else(|error| {
        tracing::warn!(%error, "storing vectors failed; trying again later");
        false
    })
}
