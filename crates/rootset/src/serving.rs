//! What a server does besides answering: it completes pending memories, makes vectors, writes uses and denials, renews the first token, runs
//! the scheduler and delivers events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rootset_service::delivery::Delivery;
use rootset_service::scheduler::Scheduler;
use rootset_service::{Housekeeper, Service, ServiceError};

use crate::background::{Background, is_asked_within};
use crate::first_token::Renewal;
use crate::{embedding, rounds};

/// Uses are written within this time, and pending memories looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often what is due once a day is looked for.
const TIDY_EVERY: Duration = Duration::from_secs(60);
/// How often the end of the first token is looked at.
const RENEW_EVERY: Duration = Duration::from_secs(3_600);

pub fn start(
    service: &Arc<Service>,
    is_scheduler_enabled: bool,
    deliveries: Vec<Delivery>,
    renewal: Option<Renewal>,
) -> Background {
    let mut background = Background::delivering(deliveries);
    let pending = Pending {
        service: service.clone(),
        is_ending: background.is_ending.clone(),
        // With a scheduler, the day's housekeeping is the scheduler's.
        keeps_house: !is_scheduler_enabled,
        renewal,
    };
    background.spawn(move |asked| pending.work(&asked));
    embedding::start(service, Service::embed_some, &mut background);
    if is_scheduler_enabled {
        let scheduler = Scheduler::new(service.clone()).with_stop(background.is_ending.clone());
        background.spawn(move |asked| rounds::until_stopped(&scheduler, |time| is_asked_within(&asked, time)));
    }
    background
}

struct Pending {
    service: Arc<Service>,
    is_ending: Arc<AtomicBool>,
    keeps_house: bool,
    /// Of the first token, where tokens are asked for.
    renewal: Option<Renewal>,
}

impl Pending {
    fn work(&self, asked: &Receiver<()>) {
        let mut tidied_at = Instant::now();
        let mut renewed_at = Instant::now();
        loop {
            self.log("writing uses", self.service.flush_uses());
            self.log("writing denials", self.service.flush_denials());
            self.service.flush_visits_and_log();
            self.log("writing uses of tokens", self.service.flush_token_uses());
            if renewed_at.elapsed() >= RENEW_EVERY {
                self.renewal.iter().for_each(Renewal::renew_and_log);
                renewed_at = Instant::now();
            }
            self.log("completing memories", self.repeat(Service::complete_one_pending));
            if tidied_at.elapsed() >= TIDY_EVERY {
                self.service.empty_old_log_and_log();
                if self.keeps_house {
                    self.log("housekeeping", self.service.housekeep(Housekeeper::Writer).map(drop));
                }
                tidied_at = Instant::now();
            }
            if is_asked_within(asked, LOOK_EVERY) {
                return;
            }
        }
    }

    /// Until there is nothing left to do, or somebody asks to end.
    fn repeat(&self, work: impl Fn(&Service) -> Result<bool, ServiceError>) -> Result<(), ServiceError> {
        while !self.is_ending.load(Ordering::SeqCst) && work(&self.service)? {}
        Ok(())
    }

    /// The database may be busy, or its disk full: the next look tries again.
    fn log(&self, what: &str, outcome: Result<(), ServiceError>) {
        if let Err(error) = outcome {
            tracing::warn!(%error, "{what} failed; trying again later");
        }
    }
}
