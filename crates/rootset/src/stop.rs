//! Ctrl-C and SIGTERM for commands that run until they are told to end. All others just end: every change is one
//! transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rootset_api::ErrorCode;
use rootset_service::ServiceError;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::STATUS_CALLER;

#[derive(Debug)]
pub struct Stop {
    is_asked: Arc<AtomicBool>,
    asked: Receiver<()>,
}

impl Stop {
    /// The first signal asks to end, the second ends at once.
    pub fn on_signals() -> Result<Self, ServiceError> {
        let failed = |error: std::io::Error| {
            ServiceError::new(ErrorCode::Internal, format!("cannot listen for signals: {error}"))
        };
        let is_asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset.
            let status = i32::from(STATUS_CALLER);
            signal_hook::flag::register_conditional_shutdown(signal, status, is_asked.clone()).map_err(failed)?;
            signal_hook::flag::register(signal, is_asked.clone()).map_err(failed)?;
        }
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            for _ in signals.forever() {
                // Nobody may be waiting any more: then the flag has said it.
                let _ = sender.send(());
            }
        });
        Ok(Self { is_asked, asked })
    }

    /// For work that looks at it between two steps.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.is_asked.clone()
    }

    /// Waits; `true` as soon as somebody asks to end.
    pub fn wait(&self, time: Duration) -> bool {
        if self.is_asked.load(Ordering::SeqCst) {
            return true;
        }
        !matches!(self.asked.recv_timeout(time), Err(RecvTimeoutError::Timeout))
    }
}
