//! Threads beside the main one, until they are told to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rootset_service::delivery::Delivery;

use crate::deliveries;

#[derive(Debug)]
pub struct Background {
    pub is_ending: Arc<AtomicBool>,
    workers: Vec<(Sender<()>, JoinHandle<()>)>,
}

impl Background {
    /// Delivers events, each place in a thread of its own: one that is slow holds up no other.
    pub fn delivering(deliveries: Vec<Delivery>) -> Self {
        let mut background = Self { is_ending: Arc::new(AtomicBool::new(false)), workers: Vec::new() };
        for delivery in deliveries {
            let delivery = delivery.with_stop(background.is_ending.clone());
            background.spawn(move |asked| deliveries::until_stopped(delivery, |time| is_asked_within(&asked, time)));
        }
        background
    }

    pub fn spawn(&mut self, work: impl FnOnce(Receiver<()>) + Send + 'static) {
        let (sender, asked) = channel();
        self.workers.push((sender, std::thread::spawn(move || work(asked))));
    }

    /// Waits until what is under way is done.
    pub fn stop(self) {
        self.is_ending.store(true, Ordering::SeqCst);
        let threads: Vec<_> = self.workers.into_iter().map(|(sender, thread)| (drop(sender), thread).1).collect();
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a background thread panicked");
            }
        }
    }
}

/// A closed channel is the word to end.
pub fn is_asked_within(asked: &Receiver<()>, time: Duration) -> bool {
    !matches!(asked.recv_timeout(time), Err(RecvTimeoutError::Timeout))
}
