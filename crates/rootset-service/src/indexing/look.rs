//! One look at a tree, and what follows from it for the index.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use rootset_code::{EXTRACTOR_VERSION, Reader, is_test, language_of, needs_first_line};
use rootset_model::MemoryId;
use rootset_store::{ChunkOrigin, CompletedScan, FileStamp};

use super::compare::{self, Comparison};
use super::open::Root;
use super::pipeline;
use super::read::{Job, content_hash};
use super::renames::{self, Moved};
use super::report::Report;
use super::run::{IndexRun, Interrupted, Known, Scan};
use super::scope::IndexScope;
use super::secret_files::is_secret_file;
use super::tree::{SeenFile, Tree};
use super::writer::Writer;
use crate::chunk_terms::chunk_terms;
use crate::error::ServiceError;

pub struct Look<'a> {
    pub run: &'a IndexRun,
    pub known: &'a Known,
    tree: Tree,
    comparison: Comparison,
    /// Files that are as they were, by their place among the states.
    pub unchanged: Vec<usize>,
    pub returned: Vec<MemoryId>,
    pub refreshed: Vec<(String, MemoryId, FileStamp)>,
    /// Whether a known file had to be read to see that nothing changed: the next run trusts its times.
    pub was_reread: bool,
    /// In the index and in the scope, but not on disk, or no longer fit to be read; by their place among the states.
    pub gone: Vec<usize>,
    /// Neither seen nor known to be gone, or outside the scope.
    pub left_alone: Vec<usize>,
    pub report: Report,
}

impl<'a> Look<'a> {
    pub fn new(run: &'a IndexRun, known: &'a Known, tree: Tree) -> Self {
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
            was_reread: false,
            gone: Vec::new(),
            left_alone: std::mem::take(&mut comparison.left_alone),
            tree,
            comparison,
            report,
        }
    }

    /// Reads every file in doubt, and writes those that changed. Without any, this does nothing.
    pub fn read_and_write(&mut self, scan: &mut Scan<'_>) -> Result<(), Interrupted> {
        let root = Root::open(&self.run.root)
            .map_err(|error| ServiceError::invalid(format!("`path`: {}: {error}", self.run.root.display())))?;
        let moved = self.moved_files(&root);
        let moved_away: HashSet<usize> = moved.values().copied().collect();
        self.gone = std::mem::take(&mut self.comparison.missing);
        self.gone.retain(|place| !moved_away.contains(place));
        let doubtful = std::mem::take(&mut self.comparison.doubtful);
        let (files, known, run) = (std::mem::take(&mut self.tree.files), self.known, self.run);
        let states_of_jobs: Vec<Option<usize>> =
            doubtful.iter().map(|it| it.state.or_else(|| moved.get(&it.seen).copied())).collect();
        let jobs: Vec<Job<'_>> = doubtful
            .iter()
            .zip(&states_of_jobs)
            .map(|(it, state)| Job {
                path: &files[it.seen].path,
                is_mounted: files[it.seen].is_mounted,
                state: state.map(|place| &known.states[place]),
            })
            .collect();
        let secrets = scan.service.settings.secrets.scan();
        let mut writer = Writer::new(self, scan, &states_of_jobs);
        pipeline::run(&run.repo, &root, &run.scope, secrets, &jobs, &mut writer)
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
    pub fn complete(mut self, scan: &mut Scan<'_>, began_at: i64) -> Result<Report, Interrupted> {
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
        if !gone.is_empty() || !self.returned.is_empty() {
            // Files that another scan may be writing at this moment.
            scan.hold(self.known)?;
        }
        if !gone.is_empty() {
            let symbols = scan.service.store.symbols_of_files(scan.workspace, &gone, scan.service.now())?;
            self.report.vanished_names.extend(symbols.into_iter().map(|symbol| symbol.qualified_name));
            self.report.vanished_paths = marked.iter().map(|&place| states[place].path.clone()).collect();
        }
        if !self.run.notes_nothing_new && self.found_nothing_new(scan, &gone) {
            return Ok(self.report);
        }
        let left_alone = self.left_alone.iter().map(|&place| &states[place]);
        let run = scan.service.next_run_id();
        let completed = CompletedScan {
            repo: &self.run.repo,
            expected_run: self.known.repo.run,
            run_id: run.0,
            scope: &self.run.scope.to_json(),
            trusted_at: compare::trusted_after(left_alone, self.known.repo.trusted_at, began_at),
            lease: scan.held(),
            refreshed: &self.refreshed,
            returned: &self.returned,
            gone: &gone,
        };
        // A transaction that is tried again asks again.
        let reader = RefCell::new(Reader::new());
        let terms_of = |it: &ChunkOrigin<'_>| chunk_terms(&mut reader.borrow_mut(), it.path, it.symbol, it.text);
        let stamp = scan.service.stamp(scan.caller);
        let (stale, warnings) = scan.service.store.complete_scan(scan.workspace, &completed, &terms_of, stamp)?;
        self.report.stale_memories = stale;
        self.report.warnings.extend(warnings);
        self.report.run = Some(run);
        Ok(self.report)
    }
}

impl Look<'_> {
    fn found_nothing_new(&self, scan: &Scan<'_>, gone: &[MemoryId]) -> bool {
        let is_first = self.known.repo.run == 0;
        let changes_nothing = gone.is_empty() && self.returned.is_empty() && self.refreshed.is_empty();
        changes_nothing && !self.was_reread && !is_first && scan.held().is_none()
    }
}

enum Skip {
    Counted(&'static str),
    OutOfScope,
}

/// Why a file that the index does not know is not even opened.
fn reason_to_skip(file: &SeenFile, scope: &IndexScope) -> Option<Skip> {
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
    (!scope.contains(path, language.name(), is_test(path), size)).then_some(Skip::OutOfScope)
}

fn unknown_warning(unknown: &BTreeSet<String>) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = unknown.iter().take(SHOWN).map(|path| if path.is_empty() { "." } else { path }).collect();
    let more = if unknown.len() > SHOWN { ", …" } else { "" };
    format!(
        "{} could not be read ({}{more}): what the index has of it was kept",
        if unknown.len() == 1 { "1 path".to_owned() } else { format!("{} paths", unknown.len()) },
        shown.join(", "),
    )
}
