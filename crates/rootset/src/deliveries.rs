//! Events on their way out: which places the configuration names, the loop of a thread that delivers to one of them, and
//! the single look of a process that ends.

use std::time::{Duration, Instant};

use rootset_provider::Webhook;
use rootset_service::ServiceError;
use rootset_service::delivery::{Delivery, EventFile, EventPlace, EventWebhook, Look};

use crate::configuration::EventConfiguration;
use crate::program::Program;

/// How often a thread looks for new events.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// One look of a thread ends after this time, so that it hears when it should end.
const LOOK_TIME: Duration = Duration::from_secs(600);
/// What a process that ends gives each place.
const FLUSH_TIME: Duration = Duration::from_secs(5);

/// The names of the places, as rows of waiting events carry them.
pub fn places(events: &EventConfiguration) -> Vec<String> {
    let file = events.file.as_ref().map(|_| EventFile::NAME.to_owned());
    let webhook = events.webhook.as_ref().map(|_| EventWebhook::NAME.to_owned());
    file.into_iter().chain(webhook).collect()
}

/// The way to every place.
pub fn all(program: &Program) -> Result<Vec<Delivery>, ServiceError> {
    let events = &program.configuration()?.events;
    let mut places: Vec<Box<dyn EventPlace>> = Vec::new();
    if let Some(path) = &events.file {
        places.push(Box::new(EventFile::new(path.clone())));
    }
    if let Some(webhook) = &events.webhook {
        let opened = Webhook::new(&webhook.url, webhook.secret()?);
        let opened = opened.map_err(|error| ServiceError::invalid(format!("`events.webhook`: {error}")))?;
        places.push(Box::new(EventWebhook::new(opened)));
    }
    let service = program.service()?;
    Ok(places.into_iter().map(|place| Delivery::new(service.clone(), place)).collect())
}

/// `wait` waits for so long, and answers `true` as soon as somebody asks to end.
pub fn until_stopped(mut delivery: Delivery, wait: impl Fn(Duration) -> bool) {
    loop {
        let pause = match delivery.look(Instant::now() + LOOK_TIME) {
            Ok(look) => {
                let pause = delivery.wait_after(&look);
                if let (Look::Failed(failure), Some(pause)) = (&look, pause) {
                    tracing::warn!(
                        target: "rootset::events", place = delivery.place(), problem = failure.problem,
                        "events were not delivered; trying again in {} s", pause.as_secs()
                    );
                }
                pause
            }
            // The database may be busy, or its disk full: the next look tries again.
            Err(error) => {
                tracing::warn!(target: "rootset::events", place = delivery.place(), %error, "looking for events failed");
                None
            }
        };
        if wait(pause.unwrap_or(LOOK_EVERY)) {
            return;
        }
    }
}

/// Delivers what can be delivered in a short time. What cannot stays in the database for the next process.
pub fn flush(deliveries: Vec<Delivery>, program: &Program) {
    for mut delivery in deliveries {
        let problem = match delivery.look(Instant::now() + FLUSH_TIME) {
            Ok(Look::Done | Look::HeldElsewhere) => continue,
            Ok(Look::Unfinished) => format!("not all within {} s", FLUSH_TIME.as_secs()),
            Ok(Look::Failed(failure)) => failure.problem,
            Err(error) => error.to_string(),
        };
        let place = delivery.place();
        program
            .output
            .talk(&format!("events for `{place}` were not delivered ({problem}); they wait for the next run"));
    }
}
