//! Where the files that were read end up: in the index, or in the report of a look that writes nothing.

use rootset_code::EXTRACTOR_VERSION;
use rootset_model::code::SymbolKind;
use rootset_store::NewFile;

use super::look::Look;
use super::pipeline::Sink;
use super::read::{Read, ReadyFile};
use super::run::{Interrupted, SCAN_LEASE_MS, Scan};

/// Takes what was read and writes it, batch by batch.
pub struct Writer<'w, 'a, 's> {
    look: &'w mut Look<'a>,
    scan: &'w mut Scan<'s>,
    /// What the index holds of the file of a job.
    states_of_jobs: &'w [Option<usize>],
    done: usize,
}

impl<'w, 'a, 's> Writer<'w, 'a, 's> {
    pub fn new(look: &'w mut Look<'a>, scan: &'w mut Scan<'s>, states_of_jobs: &'w [Option<usize>]) -> Self {
        Self { look, scan, states_of_jobs, done: 0 }
    }
}

impl Sink for Writer<'_, '_, '_> {
    fn done(&mut self, job: usize, read: Read) {
        self.done += 1;
        let state = self.states_of_jobs[job];
        let look = &mut *self.look;
        let was_in_scope = |place: usize| {
            let state = &look.known.states[place];
            look.run.scope.contains(&state.path, &state.language, state.is_test, state.stamp.size.unsigned_abs())
        };
        match (read, state) {
            (Read::Ready(_), _) => unreachable!("what is ready is written"),
            (Read::Unchanged { stamp }, Some(place)) => {
                let state = &look.known.states[place];
                look.was_reread = true;
                if state.stamp != stamp {
                    look.refreshed.push((state.path.clone(), state.memory, stamp));
                }
                if state.is_stale {
                    look.returned.push(state.memory);
                }
                look.unchanged.push(place);
            }
            (Read::LeftOut { reason }, state) => {
                look.report.skipped.add(reason);
                look.gone.extend(state);
            }
            (Read::OutOfScope, Some(place)) if was_in_scope(place) => look.gone.push(place),
            (Read::Unknown, state) => {
                look.report.skipped.add("unreadable");
                look.left_alone.extend(state);
            }
            (Read::OutOfScope | Read::Unchanged { .. }, state) => look.left_alone.extend(state),
        }
    }

    fn write(&mut self, batch: Vec<(usize, Box<ReadyFile>)>) -> Result<(), Interrupted> {
        if batch.is_empty() && self.scan.held().is_none() {
            return Ok(());
        }
        self.done += batch.len();
        let lease = self.scan.hold(self.look.known)?;
        let service = self.scan.service;
        let look = &mut *self.look;
        let files: Vec<NewFile<'_>> = batch
            .iter()
            .map(|(job, file)| NewFile {
                memory: service.next_memory_id(),
                replaces: self.states_of_jobs[*job].map(|place| look.known.states[place].memory),
                path: &file.path,
                stamp: file.stamp,
                content_hash: file.content_hash,
                extractor: EXTRACTOR_VERSION,
                language: file.language.name(),
                is_test: file.is_test,
                is_mounted: file.is_mounted,
                is_generated: file.is_generated,
                lines: file.lines,
                text: &file.text,
                outline: &file.outline,
                terms: &file.terms,
            })
            .collect();
        let stamp = service.stamp(self.scan.caller);
        let run = look.known.repo.run + 1;
        let outcomes = service.store.write_files(
            self.scan.workspace,
            &lease,
            SCAN_LEASE_MS,
            &look.run.repo,
            run,
            &files,
            stamp,
        )?;
        for ((_, file), outcome) in batch.iter().zip(outcomes) {
            let (functions, classes) =
                (file.outline.count(SymbolKind::is_function), file.outline.count(SymbolKind::is_type));
            look.report.count(file.language.name(), file.lines, functions, classes);
            look.report.files_indexed += 1;
            look.report.redacted += file.redacted;
            if file.is_read_as_text {
                look.report.skipped.add("parsed_as_text");
            }
            look.report.vanished_names.extend(outcome.vanished);
        }
        self.scan.caller.progress.report(self.done as u64, self.states_of_jobs.len() as u64);
        Ok(())
    }
}
