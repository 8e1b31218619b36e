//! Physical removal, batch by batch and kind by kind: each kind knows what goes with its rows.
//!
//! Only what is in the trash, or what a confirmed plan erases, ever comes here. What somebody removed on purpose is noted
//! in the erasure ledger on its way out.

use rootset_model::plan::PlanItem;
use rootset_model::{Counts, ErasureId, RunId, Timestamp, WorkspaceKey};
use serde::{Deserialize, Serialize};

use crate::driver::{SearchRemoval, Transaction};
use crate::erasure::Class;
use crate::error::StoreError;
use crate::failpoints::{failpoint, purge_batch_memories};
use crate::kinds::{self, Emptying, Erasing, KINDS, Ledger, Progress, Purging};
use crate::statements::purge as sql;
use crate::statements::runs as run_sql;
use crate::sweep::ConfirmedPlan;
use crate::{Stamp, Store, Workspace, audit, runs};

/// What the run of a restore is called that puts into the trash again what somebody had removed.
pub(crate) const REMOVED_AGAIN: &str = "backup_restore";
/// Causes whose contents are noted in the ledger: somebody wanted them gone, so they must not come back by themselves.
pub(crate) const NOTED_CAUSES: [&str; 4] = ["delete_memory", "forget", "update_memory", REMOVED_AGAIN];
/// Further causes by which a person or an agent removes something. Everything else follows a policy.
const OTHER_REMOVALS: [&str; 4] = ["context_delete_session", "context_gc_prune", "delete_workspace", "import_graph"];
/// Byte strings looked for after an erasure; enough to notice a leak, few enough for one pass over the file.
pub(crate) const PROBES_MAX: usize = 16;
/// By how much a batch shrinks that did not fit on the disk.
pub(crate) const BATCH_DIVISOR: usize = 8;
/// Of a set's digest: enough to tell sets apart, few enough to be copied.
const DIGEST_CHARS: usize = 16;
const PROBE_BYTES_MIN: usize = 16;
/// Long enough that another memory with the same beginning is not taken for a leak, short enough to stand in one page.
const PROBE_BYTES_MAX: usize = 160;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PurgeTarget {
    Run(RunId),
    /// Everything trashed at or before this time.
    TrashedBefore(Timestamp),
}

/// Kinds that the count of every removal names, and the bytes of text that went with them.
pub(crate) const NAMED_BY_PURGES: [&str; 10] = [
    "memories",
    "revisions",
    "chunks",
    "entities",
    "relations",
    "untracked",
    "segments",
    "sessions",
    "workspaces",
    "bytes",
];

/// What an erasure did, for whoever asked for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub erasure: ErasureId,
    /// Rows removed, and bytes of text.
    pub rows: Counts,
    /// `Some(true)` when a piece of the erased text is still in the files, `None` when that could not be found out.
    pub text_remains: Option<bool>,
    pub log_is_clean: bool,
    /// Why the erasure is not noted beside the backups, where it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger_problem: Option<String>,
    /// Whether some of what was to go is still there, because something went wrong on the way.
    #[serde(skip)]
    pub is_unfinished: bool,
    /// What went wrong after something was removed; told once, not kept.
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// What was looked for; never kept, so that nothing of the text is.
    #[serde(skip)]
    samples: Samples,
}

/// Pieces of erased text, which nobody may print.
#[derive(Clone, Default)]
struct Samples(Vec<Vec<u8>>);

impl std::fmt::Debug for Samples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} samples", self.0.len())
    }
}

/// What a batch removed, with samples of its text for the byte scan.
#[derive(Clone, Debug)]
pub(crate) struct Erased {
    pub rows: Counts,
    pub probes: Vec<Vec<u8>>,
}

impl Default for Erased {
    fn default() -> Self {
        Self { rows: Counts::zero(&NAMED_BY_PURGES), probes: Vec::new() }
    }
}

impl Erased {
    pub fn add(&mut self, other: Self) {
        self.rows.add_all(&other.rows);
        self.probes.extend(other.probes);
        self.probes.truncate(PROBES_MAX);
    }

    pub fn probe(&mut self, text: &str) {
        self.probe_bytes(text.as_bytes());
    }

    /// A sample of a text of which others keep a part: from where it differs from the one most like it.
    pub fn probe_unlike(&mut self, text: &str, kept: &[&str]) {
        let piece = unlike(text.as_bytes(), kept);
        let is_kept = |it: &&str| it.as_bytes().windows(piece.len().max(1)).any(|window| window == piece);
        if !kept.iter().any(is_kept) {
            self.probe_bytes(piece);
        }
    }

    fn probe_bytes(&mut self, bytes: &[u8]) {
        if self.probes.len() < PROBES_MAX && bytes.len() >= PROBE_BYTES_MIN {
            self.probes.push(bytes[..bytes.len().min(PROBE_BYTES_MAX)].to_vec());
        }
    }
}

/// What a text has and the kept one most like it has not, with enough around it to be looked for.
fn unlike<'a>(text: &'a [u8], kept: &[&str]) -> &'a [u8] {
    let prefix = |it: &[u8]| text.iter().zip(it).take_while(|(a, b)| a == b).count();
    let Some(nearest) = kept.iter().map(|it| it.as_bytes()).max_by_key(|it| prefix(it)) else {
        return &text[..text.len().min(PROBE_BYTES_MAX)];
    };
    let start = prefix(nearest);
    let suffix = text[start..].iter().rev().zip(nearest.iter().rev()).take_while(|(a, b)| a == b).count();
    let end = text.len() - suffix;
    let margin = (2 * PROBE_BYTES_MIN).saturating_sub(end - start).div_ceil(2);
    let (start, end) = (start.saturating_sub(margin), (end + margin).min(text.len()));
    &text[start..end.min(start + PROBE_BYTES_MAX)]
}

/// Who wants trash removed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purger {
    Somebody,
    /// Nobody: the grace is over.
    Housekeeping,
}

impl Purger {
    /// What the ledger notes of trash that this operation made.
    fn class(self, cause: &str) -> Option<Class> {
        match self {
            Self::Somebody => Some(Class::Erased),
            Self::Housekeeping if NOTED_CAUSES.contains(&cause) || OTHER_REMOVALS.contains(&cause) => {
                Some(Class::Removed)
            }
            Self::Housekeeping => None,
        }
    }
}

/// What a purge would remove, for whoever has to agree to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeSet {
    /// Roots by kind.
    pub counts: Counts,
    /// Of the runs and what each has in the trash. A run's trash only shrinks once it has ended, so an equal digest is an
    /// equal set.
    pub digest: String,
}

impl Store {
    /// What a purge of this target would remove now.
    pub fn purge_set(&self, workspace: &Workspace, target: PurgeTarget) -> Result<PurgeSet, StoreError> {
        let takes_workspace = takes_workspace(workspace, target);
        self.read(workspace, |tx| {
            let runs = runs_of(tx, workspace.key, target)?;
            let runs: Vec<[u8; 16]> = runs.into_iter().map(|run| run.0).collect();
            let trash = tx.rows(&run_sql::TRASH_OF_RUNS, &[workspace.key.into(), runs.as_slice().into()], |row| {
                Ok((row.get::<String>(0)?, row.get::<RunId>(1)?, row.get::<i64>(2)?))
            })?;
            let (mut counts, mut hasher) = (Counts::default(), blake3::Hasher::new());
            for (kind, run, count) in &trash {
                counts.add(counted_as(kind), *count);
                hasher.update(format!("{kind} {run} {count}\n").as_bytes());
            }
            if takes_workspace {
                counts.add("workspaces", 1);
                hasher.update(b"workspace\n");
            }
            Ok(PurgeSet { counts, digest: hasher.finalize().to_hex()[..DIGEST_CHARS].to_owned() })
        })
    }

    /// Removes trash for good because somebody asks for it: it never comes back.
    pub fn purge(
        &self,
        workspace: &Workspace,
        target: PurgeTarget,
        erasure: ErasureId,
        stamp: Stamp<'_>,
    ) -> Result<Receipt, StoreError> {
        self.purge_by(Purger::Somebody, workspace, target, erasure, stamp)
    }

    /// Removes the trash of a run whose grace is over. A restore may bring it back: into the trash what somebody had
    /// removed, as it was in the backup what a policy had.
    pub fn purge_past_grace(
        &self,
        workspace: &Workspace,
        run: RunId,
        erasure: ErasureId,
        stamp: Stamp<'_>,
    ) -> Result<Receipt, StoreError> {
        self.purge_by(Purger::Housekeeping, workspace, PurgeTarget::Run(run), erasure, stamp)
    }

    fn purge_by(
        &self,
        purger: Purger,
        workspace: &Workspace,
        target: PurgeTarget,
        erasure: ErasureId,
        stamp: Stamp<'_>,
    ) -> Result<Receipt, StoreError> {
        let runs = self.read(workspace, |tx| runs_of(tx, workspace.key, target))?;
        let mut erased = Erased::default();
        let removed = self.purge_all(purger, workspace, target, &runs, erasure, &mut erased, stamp);
        if let Err(error) = removed {
            if erased.rows.is_nothing() {
                return Err(error);
            }
            // What is gone is gone, so the outcome is told; the rest waits in the trash.
            let mut receipt = self.receipt(workspace.key, Some(&workspace.id), erasure, erased);
            receipt.is_unfinished = true;
            receipt.warnings.insert(0, format!("stopped before the end, purge again for the rest: {error}"));
            return Ok(receipt);
        }
        let receipt = self.receipt(workspace.key, Some(&workspace.id), erasure, erased);
        self.engine.keep_reserve();
        Ok(receipt)
    }

    #[expect(clippy::too_many_arguments, reason = "a purge has this many sides")]
    fn purge_all(
        &self,
        purger: Purger,
        workspace: &Workspace,
        target: PurgeTarget,
        runs: &[RunId],
        erasure: ErasureId,
        erased: &mut Erased,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        for run in runs {
            self.purge_run(purger, workspace.key, *run, erasure, erased, stamp)?;
        }
        if takes_workspace(workspace, target) {
            // A workspace is deleted by somebody, never by a policy.
            let class = purger.class("delete_workspace").unwrap_or(Class::Erased);
            self.purge_workspace(workspace.key, erasure, class, erased, stamp)?;
        }
        failpoint!("purge.removed");
        Ok(())
    }

    /// Notes the erasure beside the backups, empties the log and looks for what was erased. Nothing here can undo the
    /// erasure, so nothing here fails.
    pub(crate) fn receipt(
        &self,
        workspace: WorkspaceKey,
        name: Option<&str>,
        erasure: ErasureId,
        erased: Erased,
    ) -> Receipt {
        let ledger_problem = self.note_beside(workspace, name, erasure);
        let mut warnings = Vec::new();
        let log_is_clean = self.empty_log_after(&mut warnings);
        let texts: i64 = KINDS.iter().flat_map(|kind| kind.texts()).map(|word| erased.rows.get(word)).sum();
        let samples = Samples(erased.probes);
        let text_remains = match (samples.0.is_empty(), texts) {
            (false, _) => self.look_for(&samples.0, &mut warnings),
            (true, 0) => Some(false),
            // The samples died with the process that erased, or the texts were too short to look for.
            (true, _) => None,
        };
        let rows = erased.rows;
        Receipt { erasure, rows, text_remains, log_is_clean, ledger_problem, is_unfinished: false, warnings, samples }
    }

    /// Looks once more for text that was found after an erasure: it may have gone with another one since. What is clean
    /// now is kept as such.
    pub fn look_again(&self, workspace: &Workspace, run: RunId, receipt: &mut Receipt) {
        if receipt.text_remains != Some(true) || receipt.samples.0.is_empty() {
            return;
        }
        receipt.text_remains = self.look_for(&receipt.samples.0, &mut receipt.warnings);
        if receipt.text_remains != Some(true)
            && receipt.log_is_clean
            && let Err(error) = self.store_receipt(workspace.key, run, receipt)
        {
            receipt.warnings.push(format!("the receipt was not stored: {error}"));
        }
    }

    fn look_for(&self, probes: &[Vec<u8>], warnings: &mut Vec<String>) -> Option<bool> {
        let found = self.after_log_emptied().and_then(|()| self.engine.contains_bytes(probes));
        found.unwrap_or_else(|error| {
            warnings.push(format!("the files could not be searched for what was removed: {error}"));
            None
        })
    }

    fn after_log_emptied(&self) -> Result<(), StoreError> {
        failpoint!("purge.log_emptied");
        Ok(())
    }

    fn purge_run(
        &self,
        purger: Purger,
        workspace: WorkspaceKey,
        run: RunId,
        erasure: ErasureId,
        erased: &mut Erased,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let (size_max, mut size) = (purge_batch_memories(), purge_batch_memories());
        let large: Vec<SearchRemoval> =
            self.read(workspace, |tx| KINDS.iter().map(|kind| kind.search_removal(tx, workspace, run)).collect())?;
        loop {
            // Marking rows needs room, removing them does not.
            let at_once: Vec<SearchRemoval> = large.iter().map(|_| SearchRemoval::AtOnce).collect();
            let removals = if size < size_max { &at_once } else { &large };
            let batch = self.write_to_free_room(workspace, |tx| {
                let batch = purge_batch(tx, purger, workspace, run, erasure, size, removals, stamp)?;
                failpoint!("purge.batch");
                Ok(batch)
            });
            let Some((is_last, of_batch)) = self.unless_full(batch, &mut size, size_max)? else { continue };
            erased.add(of_batch);
            failpoint!("purge.batch_committed");
            if is_last {
                return Ok(());
            }
        }
    }

    /// Purging is how room is made, so it has to work where there is hardly any: `None` when a batch did not fit on the
    /// disk and a smaller one should be tried. The log is what grows; emptied after every batch, it needs room for the
    /// pages of one batch only.
    fn unless_full<T>(
        &self,
        batch: Result<T, StoreError>,
        size: &mut usize,
        size_max: usize,
    ) -> Result<Option<T>, StoreError> {
        let outcome = match batch {
            Err(StoreError::DiskFull) if *size > 1 => {
                *size = (*size / BATCH_DIVISOR).max(1);
                None
            }
            batch => Some(batch?),
        };
        if *size < size_max {
            // If this fails, the next batch says what is wrong.
            let _ = self.engine.shrink_log();
        }
        Ok(outcome)
    }

    fn purge_workspace(
        &self,
        workspace: WorkspaceKey,
        erasure: ErasureId,
        class: Class,
        erased: &mut Erased,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let (size_max, mut size) = (purge_batch_memories(), purge_batch_memories());
        loop {
            let batch = self.write_to_free_room(workspace, |tx| {
                let mut of_batch = Erased::default();
                // The indexes are dropped as a whole in the end.
                let removal = if size < size_max { SearchRemoval::AtOnce } else { SearchRemoval::Marked };
                let emptying = Emptying { workspace, erasure, class, size, removal, stamp };
                let mut is_last = true;
                for kind in KINDS {
                    if kind.empty(tx, &emptying, &mut of_batch)? == Progress::More {
                        is_last = false;
                        break;
                    }
                }
                let counts = audit::json(&of_batch.rows);
                let entry = audit::Entry { counts: Some(counts), ..audit::Entry::of("gc_purge") };
                audit::append(tx, workspace, stamp, &entry)?;
                failpoint!("purge.workspace_batch");
                Ok((is_last, of_batch))
            });
            let Some((is_last, of_batch)) = self.unless_full(batch, &mut size, size_max)? else { continue };
            erased.add(of_batch);
            failpoint!("purge.workspace_batch_committed");
            if is_last {
                return Ok(());
            }
        }
    }
}

fn runs_of(tx: &mut dyn Transaction, workspace: WorkspaceKey, target: PurgeTarget) -> Result<Vec<RunId>, StoreError> {
    match target {
        PurgeTarget::Run(run) => Ok(vec![runs::find(tx, workspace, run)?.id]),
        PurgeTarget::TrashedBefore(time) => {
            tx.rows(&run_sql::RUNS_WITH_TRASH_BEFORE, &[workspace.into(), time.into()], |row| row.get(0))
        }
    }
}

fn takes_workspace(workspace: &Workspace, target: PurgeTarget) -> bool {
    match (target, workspace.trashed) {
        (PurgeTarget::Run(run), Some((trashed_run, _))) => run == trashed_run,
        (PurgeTarget::TrashedBefore(time), Some((_, trashed_at))) => trashed_at <= time,
        (_, None) => false,
    }
}

/// The word under which purges count rows of this kind.
fn counted_as(kind: &str) -> &'static str {
    let is_of = |many: &&&str| {
        let one =
            many.strip_suffix("ies").map_or_else(|| many.trim_end_matches('s').to_owned(), |stem| format!("{stem}y"));
        one == kind
    };
    match kind {
        // Entities and relations have no life of their own in the trash: these came with an import.
        "entity" | "relation" => "untracked",
        _ => NAMED_BY_PURGES.iter().find(is_of).copied().unwrap_or("untracked"),
    }
}

/// Up to `size` rows of the first kind that the run has any of in the trash, then of the next; `true` when that was all.
#[expect(clippy::too_many_arguments, reason = "one call, each argument a different thing")]
fn purge_batch(
    tx: &mut dyn Transaction,
    purger: Purger,
    workspace: WorkspaceKey,
    run: RunId,
    erasure: ErasureId,
    size: usize,
    removals: &[SearchRemoval],
    stamp: Stamp<'_>,
) -> Result<(bool, Erased), StoreError> {
    runs::end(tx, workspace, run, stamp.now)?;
    let cause = runs::find(tx, workspace, run)?.operation;
    let purging =
        Purging { workspace, ledger: Ledger { erasure, cause: &cause, run, class: purger.class(&cause) }, size, stamp };
    let mut erased = Erased::default();
    let mut is_last = true;
    for (kind, removal) in KINDS.iter().zip(removals) {
        if kind.purge(tx, &purging, *removal, &mut erased)? == Progress::More {
            is_last = false;
            break;
        }
    }
    if !erased.rows.is_nothing() {
        // A run with nothing in the trash stays as it is: there may still be something to undo.
        tx.execute(&run_sql::SET_PURGED, &[workspace.into(), (&run).into(), stamp.now.into()])?;
        append_audit(tx, workspace, run, &erased, stamp)?;
    }
    Ok((is_last, erased))
}

/// Removes what a batch of an erasing plan has just trashed, in the same transaction.
pub(crate) fn erase_items(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    items: &[PlanItem],
    stamp: Stamp<'_>,
) -> Result<Erased, StoreError> {
    let ledger = Ledger {
        erasure: confirmed.erasure(),
        cause: confirmed.operation(),
        run: confirmed.run(),
        class: Some(Class::Erased),
    };
    let planned = &confirmed.planned().counts;
    let erasing = Erasing { workspace: confirmed.workspace(), ledger, planned, stamp };
    let mut erased = Erased::default();
    for (kind, items) in kinds::by_kind(items) {
        kind.erase(tx, &erasing, &items, &mut erased)?;
    }
    Ok(erased)
}

/// What a defragmentation would win back is known by this.
pub(crate) fn count_purged_chunks(tx: &mut dyn Transaction, chunks: usize) -> Result<(), StoreError> {
    tx.execute(&sql::COUNT_PURGED_CHUNKS, &[(chunks as i64).into()]).map(drop)
}

fn append_audit(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    erased: &Erased,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let counts = audit::json(&erased.rows);
    let entry = audit::Entry { counts: Some(counts), run: Some(run), ..audit::Entry::of("gc_purge") };
    audit::append(tx, workspace, stamp, &entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_for_after_an_erasure_is_not_in_what_stays() {
        let check = |text: &str, kept: &[&str], expected: Option<&str>| {
            let mut erased = Erased::default();
            erased.probe_unlike(text, kept);
            let probes: Vec<&[u8]> = erased.probes.iter().map(Vec::as_slice).collect();
            assert_eq!(probes, expected.map(str::as_bytes).into_iter().collect::<Vec<_>>(), "{text}");
        };
        check("the whole of a text", &[], Some("the whole of a text"));
        check(
            "the password is hunter2, do not tell",
            &["the password is ***, do not tell"],
            Some(" password is hunter2, do not tell"),
        );
        check("a text that only grew", &["a text that only grew, at its end"], None);
        check("too short", &[], None);
        let long = format!("same beginning {}", "x".repeat(500));
        check(&long, &["same beginning and another end"], Some(&long[15..15 + PROBE_BYTES_MAX]));
    }
}
