//! Files read on all cores, handed to one writer through a short queue: memory is bounded by the queue and a batch,
//! however large the tree is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rootset_api::ErrorCode;
use rootset_text::secrets::SecretScan;

use super::open::Root;
use super::read::{FileReader, Job, Read, ReadyFile};
use super::room::Room;
use super::run::Interrupted;
use super::scope::IndexScope;
use crate::error::ServiceError;

/// Text in the queue: enough that nobody waits for the other while a batch is written to disk. What is stored about a
/// text takes several times its room.
const QUEUE_BYTES: usize = 8 << 20;
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

pub fn run(
    repo: &str,
    root: &Root,
    scope: &IndexScope,
    secrets: SecretScan,
    jobs: &[Job<'_>],
    sink: &mut dyn Sink,
) -> Result<(), Interrupted> {
    let (next, room) = (AtomicUsize::new(0), Room::new(QUEUE_BYTES));
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|threads| {
        let (sender, receiver) = channel();
        for _ in 0..cores.min(jobs.len()) {
            let (sender, next, room) = (sender.clone(), &next, &room);
            let work = move || {
                let mut reader = FileReader::new(repo, root, scope, secrets);
                while let Some((place, job)) = next_job(next, jobs) {
                    let read = reader.read(job);
                    // The writer has gone: it failed, and says so itself.
                    if !room.enter(size_of(&read)) || sender.send((place, read)).is_err() {
                        break;
                    }
                }
            };
            let builder = std::thread::Builder::new().name("index".into()).stack_size(STACK_BYTES);
            builder.spawn_scoped(threads, work).map_err(|error| no_thread(&error))?;
        }
        drop(sender);
        let outcome = write(&receiver, &room, sink);
        room.close();
        outcome
    })
}

fn next_job<'j, 'f>(next: &AtomicUsize, jobs: &'j [Job<'f>]) -> Option<(usize, &'j Job<'f>)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(place).map(|job| (place, job))
}

fn size_of(read: &Read) -> usize {
    match read {
        Read::Ready(file) => file.text.len(),
        _ => 0,
    }
}

/// Hands what was read to the sink until nobody reads any more.
fn write(receiver: &Receiver<(usize, Read)>, room: &Room, sink: &mut dyn Sink) -> Result<(), Interrupted> {
    let (mut batch, mut bytes, mut since) = (Vec::new(), 0, Instant::now());
    loop {
        let is_over = match receiver.recv_timeout(BATCH_TIME.saturating_sub(since.elapsed())) {
            Ok((place, Read::Ready(file))) => {
                room.leave(file.text.len());
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
}

fn no_thread(error: &std::io::Error) -> ServiceError {
    ServiceError::new(ErrorCode::Internal, format!("cannot start a thread to read files: {error}"))
}
