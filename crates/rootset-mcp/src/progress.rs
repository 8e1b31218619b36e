//! The progress of long work, reported to a client that asked for it: seldom enough not to be a burden, often enough that
//! nobody takes the server for dead, never less than before, and never after the answer.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use rootset_service::Progress;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Reports are passed on no more often than this.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// Work that does not report is reported as alive once in so many looks.
const ALIVE_EVERY_LOOKS: u32 = 8;
/// A sign of life counts for less than any report, so that it never hides one.
const ALIVE_STEP: f64 = 0.001;

pub struct Teller {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    reports: watch::Receiver<(u64, u64)>,
    looks: Interval,
    looked: u32,
    told: f64,
}

/// What the service reports to, and who passes it on; silent when the client did not ask.
pub fn channel(context: &RequestContext<RoleServer>) -> (Progress, Option<Teller>) {
    let Some(token) = context.meta.get_progress_token() else { return (Progress::default(), None) };
    let (sender, reports) = watch::channel((0, 0));
    let progress = Progress::to(move |done, total| {
        sender.send_replace((done, total));
    });
    let mut looks = interval_at(Instant::now() + TELL_EVERY, TELL_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    (progress, Some(Teller { token, peer: context.peer.clone(), reports, looks, looked: 0, told: 0.0 }))
}

impl Teller {
    /// Until it is time to look again. Giving up the wait loses nothing.
    pub async fn wait(&mut self) {
        self.looks.tick().await;
    }

    pub async fn look(&mut self) {
        self.looked += 1;
        if self.tell_latest().await || self.told >= 1.0 || !self.looked.is_multiple_of(ALIVE_EVERY_LOOKS) {
            return;
        }
        let alive = f64::from(self.looked) * ALIVE_STEP;
        if alive < 1.0 {
            self.told = alive;
            self.send(ProgressNotificationParam::new(self.token.clone(), alive).with_message("working")).await;
        }
    }

    /// The last report, also when it came after the last look. `false`: there is nothing new.
    pub async fn tell_latest(&mut self) -> bool {
        let (done, total) = *self.reports.borrow();
        if done as f64 <= self.told {
            return false;
        }
        self.told = done as f64;
        let progress = ProgressNotificationParam::new(self.token.clone(), done as f64);
        self.send(if total > 0 { progress.with_total(total as f64) } else { progress }).await;
        true
    }

    /// A client that is gone hears nothing, and its work goes on.
    async fn send(&self, progress: ProgressNotificationParam) {
        if let Err(error) = self.peer.notify_progress(progress).await {
            tracing::debug!(%error, "progress could not be told");
        }
    }
}
