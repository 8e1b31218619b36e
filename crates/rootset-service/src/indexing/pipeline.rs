//! Files read on all cores, handed to one writer through a short queue: memory is bounded by the queue and a batch,
//! however large the tree is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::open::Root;
use super::read::{FileReader, Job, Read, ReadyFile};
use super::run::Interrupted;
use super::scope::Scope;
use crate::error::{ErrorCode, ServiceError};

/// Files in the queue: enough that neither side waits for the other's single file.
const QUEUE_FILES: usize = 16;
/// A batch is one transaction: large enough to be worth its commit, short enough that other writers do not wait long.
const BATCH_BYTES: usize = 4 << 20;
const BATCH_FILES: usize = 400;
const BATCH_TIME: Duration = Duration::from_secs(1);
/// Parsers recurse in C now and then.
const STACK_BYTES: usize = 16 << 20;

/// Who takes what was read. Jobs are named by their place.
pub trait Sink {
    fn done(&mut self, job: usize, read: Read);
    /// Called when enough came together, at the end, and at least once in [`BATCH_TIME`]; then with few or none.
    fn write(&mut self, batch: Vec<(usize, Box<ReadyFile>)>) -> Result<(), Interrupted>;
}

pub fn run(repo: &str, root: &Root, scope: &Scope, jobs: &[Job<'_>], sink: &mut dyn Sink) -> Result<(), Interrupted> {
    let next = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = cores.min(jobs.len());
    std::thread::scope(|threads_scope| {
        let (sender, receiver) = sync_channel::<(usize, Read)>(QUEUE_FILES);
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            let work = move || {
                let mut reader = FileReader::new(repo, root, scope);
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(place) else { break };
                    // The writer has gone: it failed, and says so itself.
                    if sender.send((place, reader.read(job))).is_err() {
                        break;
                    }
                }
            };
            let builder = std::thread::Builder::new().name("index".into()).stack_size(STACK_BYTES);
            builder.spawn_scoped(threads_scope, work).map_err(|error| no_thread(&error))?;
        }
        drop(sender);
        let (mut batch, mut bytes, mut since) = (Vec::new(), 0, Instant::now());
        loop {
            let received = receiver.recv_timeout(BATCH_TIME.saturating_sub(since.elapsed()));
            let is_over = match received {
                Ok((place, Read::Ready(file))) => {
                    bytes += file.text.len();
                    batch.push((place, file));
                    false
                }
                Ok((place, read)) => {
                    sink.done(place, read);
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            let is_full = bytes >= BATCH_BYTES || batch.len() >= BATCH_FILES || since.elapsed() >= BATCH_TIME;
            if is_full || (is_over && !batch.is_empty()) {
                sink.write(std::mem::take(&mut batch))?;
                (bytes, since) = (0, Instant::now());
            }
            if is_over {
                return Ok(());
            }
        }
    })
}

fn no_thread(error: &std::io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::Internal, format!("no thread to read files with: {error}"))
}
