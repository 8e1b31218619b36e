//! One scan of a repository, from the walk to the row that says it is complete.
//!
//! Invariants: only a completed run calls files stale, only files of its own repository and scope, and only when it
//! knows that they are gone; a run that dies on its way leaves files that are as they are on disk, and nothing else.
//! Nothing is written before there is something to write: an unchanged tree costs one row.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rootset_code::{EXTRACTOR_VERSION, is_test, language_of, needs_first_line};
use rootset_model::code::SymbolKind;
use rootset_model::{MemoryId, RunId};
use rootset_store::{CompletedScan, FileStamp, FileState, Lease, NewFile, RepoRow, StoreError, Work, Workspace};

use super::compare::{self, Comparison};
use super::open::Root;
use super::pipeline::{self, Sink};
use super::read::{Job, Read, ReadyFile, content_hash};
use super::renames::{self, Moved};
use super::scope::Scope;
use super::secret_files::is_secret_file;
use super::skipped::Skipped;
use super::tree::{SeenFile, Tree};
use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::service::Service;

/// How long a second scan of one repository waits for the first.
const SCAN_WAIT: Duration = Duration::from_secs(60);
const SCAN_RETRY: Duration = Duration::from_millis(50);
/// A dead scan's lease; a living one renews it with every batch.
const SCAN_LEASE_MS: i64 = 3_000;
/// Looks at one tree in a row that others overtook.
const ATTEMPTS_MAX: usize = 20;

#[derive(Clone, Debug)]
pub struct IndexRun {
    /// Absolute, without links.
    pub root: PathBuf,
    pub repo: String,
    pub scope: Scope,
    pub accept_missing: bool,
}

/// What a run found and did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub run: Option<RunId>,
    pub files_seen: u64,
    pub files_indexed: u64,
    pub files_unchanged: u64,
    pub files_removed: u64,
    pub functions: i64,
    pub classes: i64,
    pub languages: BTreeMap<String, u64>,
    pub total_lines: i64,
    pub stale_memories: i64,
    pub redacted: usize,
    pub skipped: Skipped,
    pub warnings: Vec<String>,
    /// Names that files of the repository no longer define, and paths that are gone.
    pub vanished_names: BTreeSet<String>,
    pub vanished_paths: Vec<String>,
}

impl Service {
    pub(crate) fn index(&self, workspace: &Workspace, run: &IndexRun, caller: &Caller) -> Result<Report, ServiceError> {
        let mut lease = None;
        let outcome = self.index_under(workspace, run, caller, &mut lease);
        if let (Err(_), Some(lease)) = (&outcome, &lease) {
            // What failed is said; that the lease runs out by itself if this fails, too, is what leases are for.
            let _ = self.store.release_lease(lease);
        }
        outcome
    }

    fn index_under(
        &self,
        workspace: &Workspace,
        run: &IndexRun,
        caller: &Caller,
        lease: &mut Option<Lease>,
    ) -> Result<Report, ServiceError> {
        for _ in 0..ATTEMPTS_MAX {
            let began_at = file_system_now();
            let known = self.known(workspace, run)?;
            let tree = Tree::walk(&run.root, &self.settings.code.exclude)?;
            let mut look = Look::new(run, &known, tree);
            if !look.has_nothing_to_write() {
                if lease.is_none() {
                    *lease = Some(self.wait_for_scan_lease(workspace, &run.repo)?);
                    // Somebody may have written between the look and the lease.
                    if self.known(workspace, run)? != known {
                        continue;
                    }
                }
                let held = lease.as_ref().expect("it was just taken");
                look.read_and_write(self, workspace, caller, held)?;
            }
            match look.complete(self, workspace, caller, lease.as_ref(), began_at) {
                Err(StoreError::ScanOvertaken { .. }) => continue,
                Err(error) => return Err(error.into()),
                Ok(report) => return Ok(report),
            }
        }
        Err(ServiceError::new(ErrorCode::Busy, format!("other scans of `{}` finish first, again and again", run.repo))
            .with_hint("one scan at a time is enough"))
    }

    fn known(&self, workspace: &Workspace, run: &IndexRun) -> Result<Known, ServiceError> {
        let (repo, states) = self
            .store
            .file_states(workspace, &run.repo)?
            .ok_or_else(|| ServiceError::new(ErrorCode::NotFound, format!("no repository `{}`", run.repo)))?;
        Ok(Known { repo, states })
    }

    fn wait_for_scan_lease(&self, workspace: &Workspace, repo: &str) -> Result<Lease, ServiceError> {
        let work = Work { workspace: workspace.key, kind: "index", subject: content_hash(repo.as_bytes()) };
        let deadline = Instant::now() + SCAN_WAIT;
        loop {
            if let Some(lease) = self.store.acquire_lease(work, self.now(), SCAN_LEASE_MS)? {
                return Ok(lease);
            }
            if Instant::now() >= deadline {
                return Err(ServiceError::new(ErrorCode::Busy, format!("another scan of `{repo}` is under way"))
                    .with_hint("try again when it has finished"));
            }
            std::thread::sleep(SCAN_RETRY);
        }
    }
}

/// Nanoseconds of the clock that files are stamped with, which is not the service's.
fn file_system_now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX)
}

/// What the index holds of a repository.
#[derive(Debug, PartialEq)]
struct Known {
    repo: RepoRow,
    states: Vec<FileState>,
}

/// One look at a tree and what follows from it.
struct Look<'a> {
    run: &'a IndexRun,
    known: &'a Known,
    tree: Tree,
    comparison: Comparison,
    /// Files that are as they were, by their place among the states.
    unchanged: Vec<usize>,
    returned: Vec<MemoryId>,
    refreshed: Vec<(String, MemoryId, FileStamp)>,
    /// In the index and in the scope, but not on disk, or no longer fit to be read; by their place among the states.
    gone: Vec<usize>,
    left_alone: Vec<usize>,
    report: Report,
}

impl<'a> Look<'a> {
    fn new(run: &'a IndexRun, known: &'a Known, tree: Tree) -> Self {
        let mut report = Report { skipped: tree.skipped.clone(), ..Report::default() };
        let may_be_read = |file: &SeenFile| match reason_to_skip(file, &run.scope) {
            Some(Skip::Counted(reason)) => {
                report.skipped.add(reason);
                false
            }
            Some(Skip::OutOfScope) => false,
            None => true,
        };
        let trusted_at = known.repo.trusted_at;
        let mut comparison =
            compare::compare(&known.states, &tree, &run.scope, EXTRACTOR_VERSION, trusted_at, may_be_read);
        Self {
            run,
            known,
            unchanged: std::mem::take(&mut comparison.unchanged),
            returned: comparison.returned.iter().map(|&place| known.states[place].memory).collect(),
            refreshed: Vec::new(),
            gone: Vec::new(),
            left_alone: std::mem::take(&mut comparison.left_alone),
            tree,
            comparison,
            report,
        }
    }

    fn has_nothing_to_write(&self) -> bool {
        self.comparison.doubtful.is_empty() && self.comparison.missing.is_empty() && self.returned.is_empty()
    }

    fn read_and_write(
        &mut self,
        service: &Service,
        workspace: &Workspace,
        caller: &Caller,
        lease: &Lease,
    ) -> Result<(), ServiceError> {
        let root = Root::open(&self.run.root)
            .map_err(|error| ServiceError::invalid(format!("`path`: {}: {error}", self.run.root.display())))?;
        let moved = self.moved_files(&root);
        let doubtful = std::mem::take(&mut self.comparison.doubtful);
        let (tree, known) = (std::mem::take(&mut self.tree), self.known);
        let states_of_jobs: Vec<Option<usize>> =
            doubtful.iter().map(|it| it.state.or_else(|| moved.get(&it.seen).copied())).collect();
        let jobs: Vec<Job<'_>> = doubtful
            .iter()
            .zip(&states_of_jobs)
            .map(|(it, state)| Job {
                path: &tree.files[it.seen].path,
                is_mounted: tree.files[it.seen].is_mounted,
                state: state.map(|place| &known.states[place]),
            })
            .collect();
        let moved_away: HashSet<usize> = moved.values().copied().collect();
        self.gone = std::mem::take(&mut self.comparison.missing);
        self.gone.retain(|place| !moved_away.contains(place));
        let total = jobs.len();
        let mut writer =
            Writer { look: self, service, workspace, caller, lease, states_of_jobs: &states_of_jobs, done: 0, total };
        pipeline::run(&writer.look.run.repo, &root, &writer.look.run.scope, &jobs, &mut writer)?;
        drop(jobs);
        self.tree = tree;
        Ok(())
    }

    /// Where missing files went: the place of a new file in the tree, and of the missing one among the states.
    fn moved_files(&self, root: &Root) -> BTreeMap<usize, usize> {
        let states = &self.known.states;
        let missing = &self.comparison.missing;
        let sizes: HashSet<i64> = missing.iter().map(|&place| states[place].stamp.size).collect();
        let same_size = self.comparison.doubtful.iter().filter(|it| it.state.is_none()).map(|it| it.seen);
        let candidates: Vec<(usize, [u8; 16])> = same_size
            .filter(|&seen| sizes.contains(&self.tree.files[seen].stamp.size))
            .filter_map(|seen| {
                let opened = root.read(&self.tree.files[seen].path, self.run.scope.max_file_size).ok()??;
                Some((seen, content_hash(&opened.bytes)))
            })
            .collect();
        let gone: Vec<Moved<'_>> = missing
            .iter()
            .map(|&place| Moved { path: &states[place].path, content_hash: states[place].content_hash })
            .collect();
        let new: Vec<Moved<'_>> = candidates
            .iter()
            .map(|&(seen, content_hash)| Moved { path: &self.tree.files[seen].path, content_hash })
            .collect();
        renames::pair(&gone, &new).into_iter().map(|(from, to)| (candidates[to].0, missing[from])).collect()
    }

    /// Marks what is gone, unless so much is missing that something else must be wrong, and writes the run's row.
    fn complete(
        mut self,
        service: &Service,
        workspace: &Workspace,
        caller: &Caller,
        lease: Option<&Lease>,
        began_at: i64,
    ) -> Result<Report, StoreError> {
        let states = &self.known.states;
        for &place in &self.unchanged {
            let state = &states[place];
            self.report.count(&state.language, state.lines, state.functions, state.classes);
        }
        self.report.files_unchanged = self.unchanged.len() as u64;
        self.report.files_seen = self.report.files_unchanged + self.report.files_indexed;
        self.gone.sort_unstable();
        let newly_gone: Vec<usize> = self.gone.iter().copied().filter(|&place| !states[place].is_stale).collect();
        self.report.files_removed = newly_gone.len() as u64;
        let living = states.iter().filter(|state| !state.is_stale).count();
        let is_suspicious = newly_gone.len() * 2 > living && !self.run.accept_missing;
        if is_suspicious {
            self.report.warnings.push(format!(
                "{} of {living} files are missing, more than half: none of them was marked stale; \
                 if they are really gone, index again with `accept_missing: true`",
                newly_gone.len(),
            ));
        }
        let marked = if is_suspicious { Vec::new() } else { newly_gone };
        let gone: Vec<MemoryId> = marked.iter().map(|&place| states[place].memory).collect();
        if !self.tree.unknown.is_empty() {
            self.report.warnings.push(unknown_warning(&self.tree.unknown));
        }
        if !gone.is_empty() {
            let symbols = service.store.symbols_of_files(workspace, &gone, service.now())?;
            self.report.vanished_names.extend(symbols.into_iter().map(|symbol| symbol.qualified_name));
            self.report.vanished_paths = marked.iter().map(|&place| states[place].path.clone()).collect();
        }
        let left_alone = self.left_alone.iter().map(|&place| &states[place]);
        let run = service.next_run_id();
        let scan = CompletedScan {
            repo: &self.run.repo,
            expected_run: self.known.repo.run,
            run_id: run.0,
            scope: &self.run.scope.to_json(),
            trusted_at: compare::trusted_after(left_alone, self.known.repo.trusted_at, began_at),
            lease,
            refreshed: &self.refreshed,
            returned: &self.returned,
            gone: &gone,
        };
        self.report.stale_memories = service.store.complete_scan(workspace, &scan, service.stamp(caller))?;
        self.report.run = Some(run);
        Ok(self.report)
    }
}

impl Report {
    fn count(&mut self, language: &str, lines: i64, functions: i64, classes: i64) {
        match self.languages.get_mut(language) {
            Some(files) => *files += 1,
            None => drop(self.languages.insert(language.to_owned(), 1)),
        }
        self.total_lines += lines;
        self.functions += functions;
        self.classes += classes;
    }
}

/// Takes what was read and writes it, batch by batch.
struct Writer<'w, 'a> {
    look: &'w mut Look<'a>,
    service: &'w Service,
    workspace: &'w Workspace,
    caller: &'w Caller,
    lease: &'w Lease,
    /// What the index holds of the file of a job.
    states_of_jobs: &'w [Option<usize>],
    done: usize,
    total: usize,
}

impl Sink for Writer<'_, '_> {
    fn done(&mut self, job: usize, read: Read) {
        self.done += 1;
        let state = self.states_of_jobs[job];
        let look = &mut *self.look;
        let was_in_scope = |place: usize| {
            let state = &look.known.states[place];
            look.run.scope.contains(&state.language, state.is_test, state.stamp.size.unsigned_abs())
        };
        match (read, state) {
            (Read::Ready(_), _) => unreachable!("what is ready is written"),
            (Read::Unchanged { stamp }, Some(place)) => {
                let state = &look.known.states[place];
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

    fn write(&mut self, batch: Vec<(usize, Box<ReadyFile>)>) -> Result<(), ServiceError> {
        self.done += batch.len();
        let look = &mut *self.look;
        let files: Vec<NewFile<'_>> = batch
            .iter()
            .map(|(job, file)| NewFile {
                memory: self.service.next_memory_id(),
                replaces: self.states_of_jobs[*job].map(|place| look.known.states[place].memory),
                path: &file.path,
                stamp: file.stamp,
                content_hash: file.content_hash,
                extractor: EXTRACTOR_VERSION,
                language: file.language.name(),
                is_test: file.is_test,
                is_mounted: file.is_mounted,
                lines: file.lines,
                text: &file.text,
                outline: &file.outline,
                terms: &file.terms,
            })
            .collect();
        let stamp = self.service.stamp(self.caller);
        let run = look.known.repo.run + 1;
        let outcomes = self.service.store.write_files(
            self.workspace,
            self.lease,
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
        self.caller.progress.report(self.done as u64, self.total as u64);
        Ok(())
    }
}

enum Skip {
    Counted(&'static str),
    OutOfScope,
}

/// Why a file that the index does not know is not even opened.
fn reason_to_skip(file: &SeenFile, scope: &Scope) -> Option<Skip> {
    let path = &file.path;
    if is_secret_file(path) {
        return Some(Skip::Counted("secret"));
    }
    let size = file.stamp.size.unsigned_abs();
    if needs_first_line(path) {
        return (size > scope.max_file_size).then_some(Skip::Counted("too_large"));
    }
    let Some(language) = language_of(path, "") else { return Some(Skip::Counted("unknown_type")) };
    if size > scope.max_file_size {
        return Some(Skip::Counted("too_large"));
    }
    (!scope.contains(language.name(), is_test(path), size)).then_some(Skip::OutOfScope)
}

fn unknown_warning(unknown: &BTreeSet<String>) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = unknown.iter().take(SHOWN).map(|path| if path.is_empty() { "." } else { path }).collect();
    let more = if unknown.len() > SHOWN { ", …" } else { "" };
    format!(
        "{} places could not be read ({}{more}): what the index holds of them was left as it is",
        unknown.len(),
        shown.join(", "),
    )
}
