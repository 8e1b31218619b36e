//! `rootset watch`: indexes whenever something below the folder changes. The scan decides what that means.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use clap::Args;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use rootset_api::{ErrorCode, IndexCodebase};
use rootset_service::ServiceError;

use super::index::ScopeArguments;
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::counted;
use crate::stop::Stop;

/// Quiet for so long after a change: editors write a file in several steps, a branch switch writes thousands.
const QUIET: Duration = Duration::from_millis(300);
/// If somebody never stops writing, the index is updated this often all the same.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Changes that the system does not report (network file systems, overrun queues) are found so often.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// How often a signal is asked for while waiting.
const STEP: Duration = Duration::from_millis(100);

/// Keep the code index up to date while files change, until Ctrl-C
#[derive(Debug, Args)]
#[command(defer(described_by::<IndexCodebase>))]
pub struct WatchArguments {
    #[command(flatten)]
    scope: ScopeArguments,
}

pub fn run(arguments: WatchArguments, program: &Program) -> Result<(), Failure> {
    let stop = Stop::on_signals()?;
    let request = arguments.scope.into_request();
    // Watched from before the first scan: what changes during it is not lost.
    let (sender, changes) = channel();
    let notice = move |event: notify::Result<notify::Event>| {
        let is_change = !matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_)) || is_history(event));
        if is_change {
            // Whoever watched is gone: then nobody cares.
            let _ = sender.send(());
        }
    };
    let failed = |error: notify::Error| {
        ServiceError::new(ErrorCode::Internal, format!("cannot watch `{}`: {error}", request.path))
            .with_hint("run `rootset index` from time to time instead")
    };
    let mut watcher: RecommendedWatcher = notify::recommended_watcher(notice).map_err(failed)?;
    watcher.watch(Path::new(&request.path), RecursiveMode::Recursive).map_err(failed)?;
    index(&request, program, true)?;
    program.tell_of_workspace();
    program.output.talk(&format!("watching {}; Ctrl-C stops it", request.path));
    loop {
        match wait(&changes, &stop) {
            Waited::Stopped => {
                program.output.talk("stopped watching");
                return Ok(());
            }
            // A folder that is away for a moment comes back; nothing is stale because of it.
            Waited::Changed | Waited::LongEnough => {
                if let Err(Failure::Error(error)) = index(&request, program, false) {
                    program.output.error(&error);
                }
            }
        }
    }
}

/// Git's own files change with every command; the sources among them are never indexed.
fn is_history(event: &notify::Event) -> bool {
    !event.paths.is_empty() && event.paths.iter().all(|path| path.iter().any(|part| part == ".git"))
}

enum Waited {
    Changed,
    LongEnough,
    Stopped,
}

fn wait(changes: &Receiver<()>, stop: &Stop) -> Waited {
    let began = Instant::now();
    let (mut first, mut last) = (None::<Instant>, None::<Instant>);
    loop {
        if stop.wait(Duration::ZERO) {
            return Waited::Stopped;
        }
        match changes.recv_timeout(STEP) {
            Ok(()) => {
                first.get_or_insert_with(Instant::now);
                last = Some(Instant::now());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Waited::Stopped,
        }
        let is_quiet = last.is_some_and(|last| last.elapsed() >= QUIET);
        if is_quiet || first.is_some_and(|first| first.elapsed() >= PATIENCE) {
            return Waited::Changed;
        }
        if first.is_none() && began.elapsed() >= LOOK_EVERY {
            return Waited::LongEnough;
        }
    }
}

/// Says what changed; nothing when nothing did.
fn index(request: &IndexCodebase, program: &Program, is_first: bool) -> Result<(), Failure> {
    let answer = program.run(request.clone())?;
    if is_first || answer.files_indexed + answer.files_removed > 0 {
        program.output.answer(&answer, |answer| {
            let indexed = counted(answer.files_indexed, "file", "files");
            format!("{}: {indexed} indexed, {} gone\n", answer.repo, answer.files_removed)
        })?;
    }
    Ok(())
}
