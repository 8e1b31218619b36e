//! Ctrl-C and SIGTERM for commands that run until they are told to end, and for those that say what they leave behind. All
//! others just end: every change is one transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rootset_api::ErrorCode;
use rootset_service::ServiceError;

use crate::exit::STATUS_CALLER;
use crate::output::Output;
use crate::platform::on_end_signals;

/// While it lives, the first signal says what was done and ends the process. For long work that may be cut off anywhere.
#[derive(Debug)]
pub struct Farewell {
    is_over: Arc<AtomicBool>,
}

impl Farewell {
    pub fn saying(output: &Output, words: impl FnOnce() -> String + Send + 'static) -> Result<Self, ServiceError> {
        let (output, is_over) = (output.clone(), Arc::new(AtomicBool::new(false)));
        let over = is_over.clone();
        let tell = move || {
            if !over.load(Ordering::SeqCst) {
                output.talk(&words());
                std::process::exit(i32::from(STATUS_CALLER));
            }
        };
        on_end_signals(i32::from(STATUS_CALLER), &Arc::default(), tell).map_err(|error| failed(&error))?;
        Ok(Self { is_over })
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

fn failed(error: &std::io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::Internal, format!("cannot listen for signals: {error}"))
}

#[derive(Debug)]
pub struct Stop {
    is_asked: Arc<AtomicBool>,
    asked: Receiver<()>,
}

impl Stop {
    /// The first signal asks to end, the second ends at once.
    pub fn on_signals() -> Result<Self, ServiceError> {
        let is_asked = Arc::new(AtomicBool::new(false));
        let (sender, asked) = channel();
        let tell = move || {
            // Nobody may be waiting any more: then the flag has said it.
            let _ = sender.send(());
        };
        on_end_signals(i32::from(STATUS_CALLER), &is_asked, tell).map_err(|error| failed(&error))?;
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
