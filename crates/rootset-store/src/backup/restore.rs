//! Restoring: the rows of a verified backup in the place of those that are there, in one transaction of the live
//! database. Other processes go on before and after it, and never see anything in between.
//!
//! Audit, counters and fences are never restored. The erasure ledgers are merged, and what was purged since the backup is
//! purged again before anybody can see it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootset_model::limits::SWEEP_BATCH_MEMORIES;
use rootset_model::{ErasureId, MemoryId, RunId, WorkspaceKey};

use super::archive::Archive;
use super::bundle::ArchivedWorkspace;
use super::folder::Backup;
use super::manifest::BackupReason;
use super::rows::Cell;
use super::tables::{Rows, TABLES, Table, by_name};
use super::verified;
use crate::driver::{SearchIndex, SearchRemoval, SearchRow, Transaction, Value};
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::leases::DATABASE;
use crate::memories::read_content;
use crate::purge::{self, Erased};
use crate::statements::backup as sql;
use crate::statements::{memories as memory_sql, purge as purge_sql, vectors as vector_sql};
use crate::workspaces::{self, Draw};
use crate::{Stamp, Store, audit, doctor, erasure, jobs};

/// Numbers of vectors drawn at a time.
const NUMBERS_DRAWN: usize = 1_000;
/// Full-text rows that wait in memory until they are written.
const SEARCH_ROWS_WAITING_MAX: i64 = 500;

/// What salvaged memories lack until they are completed.
const REBUILT_BY_COMPLETING: [&str; 1] = ["I8.chunks"];

/// What to restore.
#[derive(Clone, Copy, Debug)]
pub enum RestoreTarget<'a> {
    /// Every workspace of the backup; those that it does not know are removed.
    Database,
    /// One workspace of the backup, alive, in the place of one of the database. All others stay as they are.
    Workspace { id: &'a str, into: &'a str },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Names of the workspaces as they are now.
    pub workspaces: Vec<String>,
    /// Workspaces that were made after the backup.
    pub workspaces_removed: Vec<String>,
    /// Rows per table, before the ledger was replayed.
    pub rows: BTreeMap<&'static str, i64>,
    /// Memories, revisions and workspaces of the backup that were purged since, and stay so.
    pub replayed_erasures: i64,
}

impl Store {
    /// Verifies the backup and writes it into the live database. `room` is a folder for a copy, where one is needed.
    pub fn restore_backup(
        &self,
        backup: &Backup,
        target: RestoreTarget<'_>,
        room: &Path,
        stamp: Stamp<'_>,
    ) -> Result<Restored, StoreError> {
        let backup = verified(backup.clone())?;
        failpoint!("restore.verified");
        let archive = Archive::open(&backup, room)?;
        let workspaces = archive.workspaces()?;
        let restored = self.write(|tx| {
            let work = Work { backup: &backup, archive: &archive, stamp };
            work.restore(tx, &workspaces, target)
        })?;
        failpoint!("restore.committed");
        // What was replaced leaves the log too; while a reader holds it, the next purge does it.
        self.empty_log()?;
        Ok(restored)
    }
}

/// A workspace on its way.
#[derive(Debug)]
struct Target<'a> {
    archived: &'a ArchivedWorkspace,
    /// The row of the workspace as it will stand.
    cells: Vec<Cell>,
    key: WorkspaceKey,
    /// Numbers under which this database may have noted erasures of it.
    ledgers: Vec<WorkspaceKey>,
    /// What the counters were when its number was last in use.
    counters: (i64, i64),
    /// Drawn for vectors and not used yet.
    numbers: std::ops::Range<i64>,
}

/// What the ledger of the backup notes about one workspace.
#[derive(Debug, Default)]
struct ArchivedLedger {
    erasures: HashSet<[u8; 16]>,
    contents: HashSet<(Vec<u8>, [u8; 16])>,
}

/// What this database knows of a workspace before it is emptied.
#[derive(Debug, Default)]
struct Since {
    /// Contents (or whole memories) erased since the backup.
    erased: Vec<(Vec<u8>, [u8; 16])>,
    purged_runs: HashSet<[u8; 16]>,
}

struct Work<'a> {
    backup: &'a Backup,
    archive: &'a Archive,
    stamp: Stamp<'a>,
}

impl Work<'_> {
    fn restore(
        &self,
        tx: &mut dyn Transaction,
        archived: &[ArchivedWorkspace],
        target: RestoreTarget<'_>,
    ) -> Result<Restored, StoreError> {
        let mut restored = Restored::default();
        let ledgers = self.archived_ledgers(archived)?;
        let origin = self.origin(tx, target)?;
        let mut targets = match target {
            RestoreTarget::Database => self.all_targets(tx, archived, &ledgers, origin, &mut restored)?,
            RestoreTarget::Workspace { id, into } => vec![self.one_target(tx, archived, id, into, origin)?],
        };
        if let RestoreTarget::Database = target {
            self.remove_others(tx, &targets, &mut restored)?;
        }
        let mut since = HashMap::new();
        for target in &mut targets {
            place(tx, target, self.stamp)?;
            since.insert(target.key, known_since(tx, target, ledgers.get(&target.archived.id))?);
            empty(tx, target.key)?;
        }
        failpoint!("restore.emptied");
        let runs = self.insert(tx, &mut targets, &mut restored)?;
        failpoint!("restore.inserted");
        for target in &targets {
            let known = since.remove(&target.key).unwrap_or_default();
            restored.replayed_erasures += self.replay(tx, target, &known)?;
            self.settle(tx, target, runs.get(&target.key).map_or(&[], Vec::as_slice))?;
            restored.workspaces.push(target.cells[0].text().unwrap_or_default().to_owned());
        }
        failpoint!("restore.replayed");
        tx.execute(&vector_sql::CLEAR_COMPLETE_SPACE, &[])?;
        self.audit(tx, &targets, &restored)?;
        self.check(tx, &targets)?;
        failpoint!("restore.checked");
        Ok(restored)
    }

    /// The ledgers of the backup, to tell what was erased since.
    fn archived_ledgers(&self, archived: &[ArchivedWorkspace]) -> Result<HashMap<String, ArchivedLedger>, StoreError> {
        let all: Vec<&ArchivedWorkspace> = archived.iter().collect();
        let mut ledgers: HashMap<String, ArchivedLedger> = HashMap::new();
        let table = |name| by_name(name).expect("a table of this program");
        self.archive.rows(table("erasures"), &all, &mut |workspace, cells| {
            ledgers.entry(workspace.to_owned()).or_default().erasures.extend(cells[0].id());
            Ok(())
        })?;
        self.archive.rows(table("erased_contents"), &all, &mut |workspace, cells| {
            ledgers.entry(workspace.to_owned()).or_default().contents.extend(noted(&cells[0], &cells[1]));
            Ok(())
        })?;
        Ok(ledgers)
    }

    /// Equal keys of the ledger mean the same database. A database that never held anything takes over the key, and so
    /// becomes the one that was backed up.
    fn origin(&self, tx: &mut dyn Transaction, target: RestoreTarget<'_>) -> Result<Origin, StoreError> {
        let own: Vec<u8> = tx.scalar(&purge_sql::ERASURE_KEY, &[])?;
        let key = STANDARD.decode(&self.backup.manifest.ledger_key).unwrap_or_default();
        if own == key {
            return Ok(Origin::Same);
        }
        let is_new = last_number(tx)? <= 1 && tx.scalar::<i64>(&sql::HAS_ERASED_CONTENTS, &[])? == 0;
        if is_new && key.len() == own.len() && matches!(target, RestoreTarget::Database) {
            tx.execute(&sql::SET_ERASURE_KEY, &[key.as_slice().into()])?;
            return Ok(Origin::Adopted);
        }
        Ok(Origin::Foreign)
    }

    fn all_targets<'a>(
        &self,
        tx: &mut dyn Transaction,
        archived: &'a [ArchivedWorkspace],
        ledgers: &HashMap<String, ArchivedLedger>,
        origin: Origin,
        restored: &mut Restored,
    ) -> Result<Vec<Target<'a>>, StoreError> {
        let mut targets = Vec::new();
        for workspace in archived {
            if origin == Origin::Same && was_purged_since(tx, workspace, ledgers.get(&workspace.id))? {
                restored.replayed_erasures += 1;
                continue;
            }
            targets.push(target(tx, workspace, workspace.cells.clone(), origin)?);
        }
        Ok(targets)
    }

    fn one_target<'a>(
        &self,
        tx: &mut dyn Transaction,
        archived: &'a [ArchivedWorkspace],
        id: &str,
        into: &str,
        origin: Origin,
    ) -> Result<Target<'a>, StoreError> {
        let Some(workspace) = archived.iter().find(|it| it.id == id) else {
            return Err(StoreError::WorkspaceNotInBackup {
                backup: self.backup.manifest.backup_id.clone(),
                workspace: id.to_owned(),
                present: archived.iter().map(|it| it.id.clone()).collect(),
            });
        };
        let mut cells = workspace.cells.clone();
        cells[0] = Cell::Text(into.to_owned());
        // Who asks for a workspace wants it alive.
        (cells[7], cells[8]) = (Cell::Null, Cell::Null);
        let mut found = target(tx, workspace, cells, if id == into { origin } else { Origin::Foreign })?;
        if origin == Origin::Same {
            found.ledgers.push(workspace.number);
            found.ledgers.extend(workspaces::find(tx, id)?.map(|it| it.key));
        }
        Ok(found)
    }

    /// A restore of the whole database takes what was made after the backup.
    fn remove_others(
        &self,
        tx: &mut dyn Transaction,
        targets: &[Target<'_>],
        restored: &mut Restored,
    ) -> Result<(), StoreError> {
        for live in super::bundle::workspaces(tx)? {
            if targets.iter().any(|target| target.key == live.number) {
                continue;
            }
            empty(tx, live.number)?;
            tx.execute(&purge_sql::DELETE_JOBS, &[live.number.into()])?;
            tx.search_drop(live.number)?;
            tx.execute(&sql::KEEP_COUNTERS, &[live.number.into()])?;
            tx.execute(&crate::statements::workspaces::DELETE, &[live.number.into()])?;
            audit::append(tx, live.number, self.stamp, &audit::Entry::of("backup_restore"))?;
            restored.workspaces_removed.push(live.id);
        }
        Ok(())
    }

    /// Writes every row; answers the runs that the backup knows, by workspace.
    fn insert(
        &self,
        tx: &mut dyn Transaction,
        targets: &mut [Target<'_>],
        restored: &mut Restored,
    ) -> Result<HashMap<WorkspaceKey, Vec<[u8; 16]>>, StoreError> {
        let archived: Vec<&ArchivedWorkspace> = targets.iter().map(|it| it.archived).collect();
        let places: HashMap<String, usize> =
            archived.iter().enumerate().map(|(place, it)| (it.id.clone(), place)).collect();
        let mut runs: HashMap<WorkspaceKey, Vec<[u8; 16]>> = HashMap::new();
        for table in TABLES {
            if table.name == "vectors" {
                // Numbers are drawn from here on, beyond those of the rows.
                raise_counters(tx, targets)?;
            }
            let mut count = 0;
            self.archive.rows(table, &archived, &mut |workspace, cells| {
                let target = &mut targets[places[workspace]];
                if table.name == "runs" {
                    runs.entry(target.key).or_default().extend(cells[0].id());
                }
                insert_row(tx, table, target, &cells, self.stamp).map_err(|error| self.refused(table, error))?;
                count += 1;
                match count % SEARCH_ROWS_WAITING_MAX {
                    0 => tx.search_flush().map_err(|error| self.refused(table, error)),
                    _ => Ok(()),
                }
            })?;
            tx.search_flush().map_err(|error| self.refused(table, error))?;
            restored.rows.insert(table.name, count);
        }
        Ok(runs)
    }

    /// A row that breaks a rule of the schema is the archive's fault.
    fn refused(&self, table: &Table, error: StoreError) -> StoreError {
        match error {
            StoreError::Constraint(rule) => self.unusable(vec![format!("a row of `{}`: {rule}", table.name)]),
            other => other,
        }
    }

    fn unusable(&self, problems: Vec<String>) -> StoreError {
        StoreError::BackupUnusable { backup: self.backup.manifest.backup_id.clone(), problems }
    }

    /// Purges again what was purged since the backup.
    fn replay(&self, tx: &mut dyn Transaction, target: &Target<'_>, since: &Since) -> Result<i64, StoreError> {
        let mut erased = Erased::default();
        let mut whole: HashSet<[u8; 16]> = HashSet::new();
        let mut contents: HashMap<[u8; 16], HashSet<&[u8]>> = HashMap::new();
        for (hash, memory) in &since.erased {
            match hash.as_slice() {
                erasure::WHOLE_MEMORY => drop(whole.insert(*memory)),
                hash => drop(contents.entry(*memory).or_default().insert(hash)),
            }
        }
        let mut revisions = 0;
        let partly: Vec<[u8; 16]> = contents.keys().filter(|memory| !whole.contains(*memory)).copied().collect();
        for ids in partly.chunks(SWEEP_BATCH_MEMORIES) {
            revisions += remove_erased_revisions(tx, target.key, ids, &contents, &mut whole)?;
        }
        let whole: Vec<[u8; 16]> = whole.into_iter().collect();
        for ids in whole.chunks(SWEEP_BATCH_MEMORIES) {
            purge::remove_memories(tx, target.key, ids, None, SearchRemoval::AtOnce, &mut erased, self.stamp)?;
        }
        for run in &since.purged_runs {
            purge::remove_untracked(tx, target.key, RunId(*run), &mut erased)?;
        }
        Ok(erased.rows.memories + erased.rows.untracked + revisions)
    }

    /// Everything that follows from the rows: counts, jobs, runs, and the row of the workspace.
    fn settle(&self, tx: &mut dyn Transaction, target: &Target<'_>, runs: &[[u8; 16]]) -> Result<(), StoreError> {
        let (key, now) = (target.key, self.stamp.now);
        tx.execute(&purge_sql::DELETE_SOURCES, &[key.into()])?;
        tx.execute(&sql::COUNT_SOURCES, &[key.into()])?;
        tx.execute(&sql::COUNT_AGAIN, &[key.into()])?;
        tx.execute(&sql::DELETE_IDLE_JOBS, &[key.into(), (&[0; 16]).into()])?;
        let pending: Vec<MemoryId> = tx.rows(&sql::PENDING_MEMORIES, &[key.into()], |row| row.get(0))?;
        for memory in pending {
            jobs::enqueue_completion(tx, key, memory, false, now)?;
        }
        tx.execute(&sql::END_OTHER_RUNS, &[key.into(), runs.into(), now.into()])?;
        tx.execute(&sql::END_UNFINISHED_RUNS, &[key.into(), now.into()])?;
        tx.execute(&sql::FORGET_FOREIGN_PLANS, &[key.into()])?;
        let cells = target.cells.iter().take(target.cells.len() - 1).map(Value::from);
        let parameters: Vec<Value<'_>> = std::iter::once(key.into()).chain(cells).collect();
        tx.execute(&sql::UPDATE_WORKSPACE, &parameters).map(drop)
    }

    fn audit(&self, tx: &mut dyn Transaction, targets: &[Target<'_>], restored: &Restored) -> Result<(), StoreError> {
        let counts = serde_json::json!({
            "workspaces": targets.len(),
            "memories": restored.rows.get("memories"),
            "replayed_erasures": restored.replayed_erasures,
        })
        .to_string();
        let entry = audit::Entry { counts: Some(counts), ..audit::Entry::of("backup_restore") };
        for chain in std::iter::once(DATABASE).chain(targets.iter().map(|it| it.key)) {
            audit::append(tx, chain, self.stamp, &entry)?;
        }
        Ok(())
    }

    /// The invariants hold, or nothing was restored: an archive is not believed.
    fn check(&self, tx: &mut dyn Transaction, targets: &[Target<'_>]) -> Result<(), StoreError> {
        let keys: Vec<WorkspaceKey> = targets.iter().map(|it| it.key).collect();
        let is_salvaged = self.backup.manifest.reason == BackupReason::Salvage;
        let is_awaited = |id: &str| is_salvaged && REBUILT_BY_COMPLETING.contains(&id);
        let checks = doctor::check_workspaces(tx, &keys)?.into_iter();
        let broken = checks.filter(|check| !check.is_ok() && !is_awaited(check.id));
        let problems: Vec<String> =
            broken.map(|check| format!("{}: {} {}", check.id, check.count, check.detail)).collect();
        if problems.is_empty() { Ok(()) } else { Err(self.unusable(problems)) }
    }
}

/// Where a backup comes from, seen from this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Same,
    /// From another one whose place this one takes.
    Adopted,
    Foreign,
}

/// Chooses the number of a workspace: that of the living one of its name; or its old one, when this database gave it and
/// it is free; or a new one.
fn target<'a>(
    tx: &mut dyn Transaction,
    archived: &'a ArchivedWorkspace,
    cells: Vec<Cell>,
    origin: Origin,
) -> Result<Target<'a>, StoreError> {
    let name = cells[0].text().unwrap_or_default();
    let number = archived.number;
    let is_free = tx.row(&sql::FIND_NUMBER, &[number.into()], |_| Ok(()))?.is_none();
    let kept: Option<String> = tx.row(&sql::KEPT_COUNTERS, &[number.into()], |row| row.get(0))?;
    let (key, counters) = match (workspaces::find(tx, name)?, origin) {
        (Some(living), _) => (living.key, (1, 1)),
        (None, Origin::Same) if is_free && kept.is_some() => (number, parsed_counters(kept.as_deref())?),
        (None, Origin::Adopted) if is_free && number.0 > last_number(tx)? => (number, (1, 1)),
        (None, _) => (WorkspaceKey(0), (1, 1)),
    };
    Ok(Target { archived, cells, key, ledgers: Vec::new(), counters, numbers: 0..0 })
}

fn parsed_counters(text: Option<&str>) -> Result<(i64, i64), StoreError> {
    let numbers = text.and_then(|text| text.split_once(' '));
    let parsed = numbers.and_then(|(number, chunk)| Some((number.parse().ok()?, chunk.parse().ok()?)));
    parsed.ok_or(StoreError::UnreadableValue("the counters of a workspace that is gone"))
}

fn last_number(tx: &mut dyn Transaction) -> Result<i64, StoreError> {
    Ok(tx.scalar::<Option<i64>>(&sql::LAST_NUMBER, &[])?.unwrap_or(0))
}

/// Whether this very workspace was purged after the backup.
fn was_purged_since(
    tx: &mut dyn Transaction,
    workspace: &ArchivedWorkspace,
    ledger: Option<&ArchivedLedger>,
) -> Result<bool, StoreError> {
    if tx.row(&sql::FIND_NUMBER, &[workspace.number.into()], |_| Ok(()))?.is_some() {
        return Ok(false);
    }
    let purges: Vec<ErasureId> = tx.rows(&sql::WAS_PURGED, &[workspace.number.into()], |row| row.get(0))?;
    Ok(purges.iter().any(|erasure| ledger.is_none_or(|it| !it.erasures.contains(&erasure.0))))
}

/// Asked before the workspace is emptied and the ledgers are merged.
fn known_since(
    tx: &mut dyn Transaction,
    target: &Target<'_>,
    archived: Option<&ArchivedLedger>,
) -> Result<Since, StoreError> {
    let mut since = Since::default();
    let mut ledgers = target.ledgers.clone();
    ledgers.push(target.key);
    ledgers.sort_unstable();
    ledgers.dedup();
    for ledger in ledgers {
        tx.query(&sql::READ_ERASED_CONTENTS, &[ledger.into()], &mut |row| {
            let content: (Vec<u8>, [u8; 16]) = (row.get(0)?, row.get(1)?);
            if archived.is_none_or(|it| !it.contents.contains(&content)) {
                since.erased.push(content);
            }
            Ok(())
        })?;
        since.purged_runs.extend(tx.rows(&sql::PURGED_RUNS, &[ledger.into()], |row| row.get::<[u8; 16]>(0))?);
    }
    Ok(since)
}

fn noted(hash: &Cell, memory: &Cell) -> Option<(Vec<u8>, [u8; 16])> {
    match hash {
        Cell::Blob(hash) => Some((hash.clone(), memory.id()?)),
        _ => None,
    }
}

/// Makes sure that the workspace has a row, and so a number.
fn place(tx: &mut dyn Transaction, target: &mut Target<'_>, stamp: Stamp<'_>) -> Result<(), StoreError> {
    let name = target.cells[0].text().unwrap_or_default().to_owned();
    if target.key.0 == 0 {
        let new = workspaces::NewWorkspace { id: name, ..workspaces::NewWorkspace::default() };
        target.key = workspaces::create(tx, &new, stamp)?;
        return Ok(());
    }
    if tx.row(&sql::FIND_NUMBER, &[target.key.into()], |_| Ok(()))?.is_none() {
        let cells = target.cells.iter().take(target.cells.len() - 1).map(Value::from);
        let parameters: Vec<Value<'_>> = std::iter::once(target.key.into()).chain(cells).collect();
        tx.execute(&sql::INSERT_WORKSPACE, &parameters)?;
    }
    Ok(())
}

/// Takes everything out of a workspace but its runs, its ledger and its audit, which are history.
fn empty(tx: &mut dyn Transaction, key: WorkspaceKey) -> Result<(), StoreError> {
    tx.execute(&sql::RAISE_FENCES, &[key.into()])?;
    for table in TABLES.iter().rev() {
        if let Rows::Stored { delete: Some(delete), .. } = table.rows {
            tx.execute(delete, &[key.into()])?;
        }
    }
    for statement in
        [&sql::DELETE_RUN_SKIPS, &purge_sql::DELETE_PLAN_ITEMS, &purge_sql::DELETE_PLANS, &purge_sql::DELETE_SOURCES]
    {
        tx.execute(statement, &[key.into()])?;
    }
    tx.search_clear(key)
}

fn raise_counters(tx: &mut dyn Transaction, targets: &[Target<'_>]) -> Result<(), StoreError> {
    for target in targets {
        let (next_number, next_chunk) = target.counters;
        tx.execute(&sql::RAISE_COUNTERS, &[target.key.into(), next_number.into(), next_chunk.into()])?;
    }
    Ok(())
}

fn insert_row(
    tx: &mut dyn Transaction,
    table: &Table,
    target: &mut Target<'_>,
    cells: &[Cell],
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    match &table.rows {
        Rows::Workspaces => Ok(()),
        Rows::Search(index) => insert_search_row(tx, target.key, *index, cells),
        Rows::Stored { insert, .. } => {
            let mut parameters: Vec<Value<'_>> = Vec::with_capacity(cells.len() + 2);
            parameters.push(target.key.into());
            parameters.extend(cells.iter().map(Value::from));
            if table.name == "vectors" {
                parameters.push(next_number(tx, target, stamp)?.into());
            }
            tx.execute(insert, &parameters).map(drop)
        }
    }
}

fn insert_search_row(
    tx: &mut dyn Transaction,
    key: WorkspaceKey,
    index: SearchIndex,
    cells: &[Cell],
) -> Result<(), StoreError> {
    let [Cell::Integer(row), Cell::Text(head), Cell::Text(body)] = cells else {
        return Err(StoreError::UnreadableValue("a full-text row of a backup"));
    };
    tx.search_insert(key, index, &[SearchRow { key: *row, head: head.clone(), body: body.clone() }])
}

fn next_number(tx: &mut dyn Transaction, target: &mut Target<'_>, stamp: Stamp<'_>) -> Result<i64, StoreError> {
    if let Some(number) = target.numbers.next() {
        return Ok(number);
    }
    let draw = Draw { numbers: NUMBERS_DRAWN, ..Draw::default() };
    let first = workspaces::draw(tx, target.key, draw, stamp.now)?.first_number;
    target.numbers = first + 1..first + NUMBERS_DRAWN as i64;
    Ok(first)
}

/// Revisions whose content was erased since go; a memory whose current or pending text it was goes as a whole.
fn remove_erased_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
    contents: &HashMap<[u8; 16], HashSet<&[u8]>>,
    whole: &mut HashSet<[u8; 16]>,
) -> Result<i64, StoreError> {
    let key = [workspace.into(), ids.into()];
    let in_use: HashMap<[u8; 16], (i64, Option<i64>)> = tx
        .rows(&sql::CURRENT_REVISIONS, &key, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
        .into_iter()
        .collect();
    let revisions = tx.rows(&purge_sql::CONTENTS, &key, |row| {
        Ok((row.get::<[u8; 16]>(0)?, row.get::<i64>(1)?, read_content(row, 2)?))
    })?;
    let mut removed = 0;
    for (memory, revision, content) in revisions {
        let hash = erasure::keyed(tx, &content.doc_hash())?;
        if !contents.get(&memory).is_some_and(|erased| erased.contains(&hash[..])) {
            continue;
        }
        match in_use.get(&memory) {
            Some((current, pending)) if *current != revision && *pending != Some(revision) => {
                let key = [workspace.into(), (&memory).into(), revision.into()];
                removed += tx.execute(&memory_sql::DELETE_REVISION, &key)? as i64;
            }
            _ => drop(whole.insert(memory)),
        }
    }
    Ok(removed)
}
