//! Restoring: the rows of a verified backup replace the existing ones, in one transaction of the live
//! database. Other processes go on before and after it, and never see anything in between.
//!
//! Audit, counters and fences are never restored. The erasure ledgers are merged: what was erased since the backup is purged
//! again before anybody can see it, and what somebody had removed is put into the trash.

mod beside;
mod ledger;
mod removed;
mod rows;
mod targets;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootset_model::names::{HOME_WORKSPACE, meant_workspace};
use rootset_model::{MemoryId, RetentionPolicy, RunId, WorkspaceKey};

use super::archive::Archive;
use super::bundle::ArchivedWorkspace;
use super::folder::Backup;
use super::manifest::BackupReason;
use super::rows::Cell;
use super::tables::{self, Table, by_name};
use super::verified;
use crate::driver::{Tenant, Transaction, Value};
use crate::erasure::Class;
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::kinds::{KINDS, Replaying};
use crate::leases::DATABASE;
use crate::statements::backup as sql;
use crate::statements::{purge as purge_sql, vectors as vector_sql};
use crate::workspaces;
use crate::{Stamp, Store, Workspace, audit, doctor, jobs, time};
use beside::Beside;
pub use beside::LedgerUse;
use ledger::{ArchivedLedger, Since, known_since, noted, purged_since};
use rows::{insert_rows, raise_counters};
use targets::{Origin, PERSON_CELL, Target, empty, place, reserve, target};

/// Rows that wait in memory until they are written together.
const ROWS_AT_ONCE: usize = 500;

/// What salvaged memories lack until they are completed, and salvaged segments until full text is repaired.
const REBUILT_AFTER_SALVAGE: [&str; 2] = ["I8.chunks", "I8.search_missing"];

/// What to restore.
#[derive(Clone, Copy, Debug)]
pub enum RestoreTarget<'a> {
    /// Every workspace of the backup; those that it does not know are removed.
    Database,
    /// One workspace of the backup, alive, in the place of one of the database. All others stay as they are.
    Workspace {
        id: &'a str,
        into: &'a str,
        /// Numbers of the only workspaces that may be restored: a backup may hold another tenant's of the same name.
        bound: Option<&'a BTreeSet<WorkspaceKey>>,
        personal: PersonalOf<'a>,
    },
}

/// Whose personal workspaces may be restored one by one.
#[derive(Clone, Copy, Debug)]
pub enum PersonalOf<'a> {
    /// Everybody's, also under a name that makes them nobody's: the caller can open the file anyway.
    Everybody,
    /// That of one person at most, and only in its place.
    Only(Option<&'a str>),
}

impl PersonalOf<'_> {
    fn allows(self, person: Option<&str>, is_in_place: bool) -> bool {
        match (self, person) {
            (Self::Everybody, _) | (_, None) => true,
            (Self::Only(own), Some(person)) => own == Some(person) && is_in_place,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Names of the workspaces as they are now.
    pub workspaces: Vec<String>,
    /// Workspaces that were made after the backup.
    pub workspaces_removed: Vec<String>,
    /// Rows per table, before the ledger was replayed.
    pub rows: BTreeMap<&'static str, i64>,
    /// Roots and workspaces of the backup that were erased since, and stay so.
    pub replayed_erasures: i64,
    /// The same, of those that somebody had removed and whose grace was over: they are in the trash, with a new grace.
    pub trashed_again: i64,
    /// What else to know about it, also what went wrong after everything was restored.
    pub warnings: Vec<String>,
}

/// How to restore a backup.
#[derive(Clone, Copy, Debug)]
pub struct Restoring<'a> {
    pub target: RestoreTarget<'a>,
    pub ledger: LedgerUse<'a>,
    pub trash: FreshTrash,
    /// What the configuration says about a workspace: rows past a final policy are not served again.
    pub configured: Configured<'a>,
    /// A folder for a copy, where one is needed.
    pub room: &'a Path,
}

/// The policy of the configuration for each workspace.
#[derive(Clone, Copy)]
pub struct Configured<'a>(pub &'a dyn Fn(&Workspace) -> RetentionPolicy);

impl std::fmt::Debug for Configured<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Configured")
    }
}

/// The run that puts into the trash what somebody had removed.
#[derive(Clone, Copy, Debug)]
pub struct FreshTrash {
    pub run: RunId,
    pub grace_ms: i64,
}

fn after_commit() -> Result<(), StoreError> {
    failpoint!("restore.committed");
    Ok(())
}

impl Store {
    /// Verifies the backup and writes it into the live database.
    pub fn restore_backup(
        &self,
        backup: &Backup,
        restoring: Restoring<'_>,
        stamp: Stamp<'_>,
    ) -> Result<Restored, StoreError> {
        // What had rotted before the backup was made comes back as it is, under the seal that tells.
        let (backup, _) = verified(backup.clone())?;
        failpoint!("restore.verified");
        let beside = Beside::find(&backup, restoring.ledger)?;
        let archive = Archive::open(&backup, restoring.room)?;
        let workspaces = archive.workspaces()?;
        let mut restored = self.write(Tenant::Database, |tx| {
            let (engine, trash, configured) = (self.engine.name(), restoring.trash, restoring.configured);
            let work = Work { backup: &backup, archive: &archive, beside: &beside, engine, trash, configured, stamp };
            work.restore(tx, &workspaces, restoring.target)
        })?;
        // What was replaced leaves the log too; while a reader holds it, the next purge does it.
        let committed = after_commit();
        if let Err(error) = committed {
            restored.warnings.push(error.to_string());
        } else {
            self.empty_log_after(&mut restored.warnings);
        }
        Ok(restored)
    }
}

struct Work<'a> {
    backup: &'a Backup,
    archive: &'a Archive,
    beside: &'a Beside,
    engine: &'static str,
    trash: FreshTrash,
    configured: Configured<'a>,
    stamp: Stamp<'a>,
}

fn table(name: &str) -> &'static Table {
    by_name(name).expect("a table of this program")
}

/// The workspace that always exists had another name once, and one that has its name of today gives it up.
fn name_today(workspace: &ArchivedWorkspace, archived: &[ArchivedWorkspace]) -> String {
    let is_taken = |id: &str| archived.iter().any(|it| it.id == id);
    let meant = meant_workspace(&workspace.id);
    let has_old_home = archived.iter().any(|it| it.id != meant_workspace(&it.id));
    if meant != workspace.id || meant != HOME_WORKSPACE || !has_old_home {
        return meant.to_owned();
    }
    let free = (2_u64..).map(|number| format!("{HOME_WORKSPACE}-{number}")).find(|name| !is_taken(name));
    free.expect("there are more numbers than workspaces")
}

impl Work<'_> {
    fn restore(
        &self,
        tx: &mut dyn Transaction,
        archived: &[ArchivedWorkspace],
        target: RestoreTarget<'_>,
    ) -> Result<Restored, StoreError> {
        let mut restored = Restored::default();
        self.stamp.show(tx)?;
        let ledgers = self.archived_ledgers(archived)?;
        let origin = self.origin(tx, target)?;
        restored.warnings.extend(self.beside.refuse_or_warn_if_missing(self.backup, origin)?);
        let mut targets = match target {
            RestoreTarget::Database => self.all_targets(tx, archived, &ledgers, origin, &mut restored)?,
            RestoreTarget::Workspace { id, into, bound, personal } => {
                // Numbers of another database mean nothing here.
                let is_own = |it: &ArchivedWorkspace| {
                    bound.is_none_or(|numbers| origin == Origin::Same && numbers.contains(&it.number))
                        && personal.allows(it.cells[PERSON_CELL].text(), id == into)
                };
                vec![self.one_target(tx, archived, &is_own, id, into, origin)?]
            }
        };
        if let RestoreTarget::Database = target {
            self.remove_others(tx, &targets, &mut restored)?;
        }
        reserve(tx, &targets)?;
        for target in &mut targets {
            place(tx, target, self.stamp)?;
        }
        self.beside.merge(tx, &mut targets, self.stamp)?;
        let mut since = HashMap::new();
        for target in &mut targets {
            tx.enter(target.key.into())?;
            since.insert(target.key, known_since(tx, target, ledgers.get(&target.archived.id))?);
            empty(tx, target.key)?;
        }
        failpoint!("restore.emptied");
        let mut runs = self.insert(tx, &mut targets, &mut restored)?;
        failpoint!("restore.inserted");
        let own_key = self.take_key(tx, origin)?;
        for target in &mut targets {
            tx.enter(target.key.into())?;
            let known = since.remove(&target.key).unwrap_or_default();
            restored.replayed_erasures += self.replay(tx, target, &known)?;
            restored.trashed_again +=
                removed::trash_again(tx, target, &known, self.trash, self.configured, self.stamp)?;
            let runs = runs.entry(target.key).or_default();
            runs.push(self.trash.run.0);
            self.settle(tx, target, runs)?;
            tx.execute(&sql::RAISE_EPOCHS, &[target.key.into(), known.last_epoch.into(), self.stamp.now.into()])?;
            restored.workspaces.push(target.cells[0].text().unwrap_or_default().to_owned());
        }
        if let Some(own) = own_key {
            tx.execute(&sql::SET_ERASURE_KEY, &[own.as_slice().into()])?;
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
        self.archive.rows(table("erasures"), &all, &mut |workspace, cells| {
            ledgers.entry(workspace.to_owned()).or_default().erasures.extend(cells[0].id());
            Ok(())
        })?;
        self.archive.rows(table("erased_contents"), &all, &mut |workspace, cells| {
            ledgers.entry(workspace.to_owned()).or_default().contents.extend(noted(&cells));
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
        if self.is_new(tx)? && key.len() == own.len() && matches!(target, RestoreTarget::Database) {
            tx.execute(&sql::SET_ERASURE_KEY, &[key.as_slice().into()])?;
            return Ok(Origin::Adopted);
        }
        Ok(Origin::Foreign)
    }

    /// Notes about another database's rows are keyed hashes under its key: while they are compared, that is the key.
    /// Answers the own one, to be put back.
    fn take_key(&self, tx: &mut dyn Transaction, origin: Origin) -> Result<Option<Vec<u8>>, StoreError> {
        let key = STANDARD.decode(&self.backup.manifest.ledger_key).unwrap_or_default();
        let own: Vec<u8> = tx.scalar(&purge_sql::ERASURE_KEY, &[])?;
        if origin != Origin::Foreign || key.len() != own.len() {
            return Ok(None);
        }
        tx.execute(&sql::SET_ERASURE_KEY, &[key.as_slice().into()])?;
        Ok(Some(own))
    }

    /// No workspace, or the first one and nothing erased in it.
    fn is_new(&self, tx: &mut dyn Transaction) -> Result<bool, StoreError> {
        let last = WorkspaceKey(workspaces::last_number(tx)?);
        tx.enter(last.into())?;
        let has_erased: bool = tx.scalar(&sql::HAS_ERASED_CONTENTS, &[last.into()])?;
        tx.enter(Tenant::Database)?;
        Ok(last.0 <= 1 && !has_erased)
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
            let ledger = ledgers.get(&workspace.id);
            let purged = match origin {
                Origin::Same => purged_since(tx, workspace, ledger)?,
                Origin::Adopted | Origin::Foreign => self.beside.purged(tx, workspace, ledger, origin)?,
            };
            if purged == Some(Class::Erased) {
                restored.replayed_erasures += 1;
                continue;
            }
            let mut cells = workspace.cells.clone();
            cells[0] = Cell::Text(name_today(workspace, archived));
            let mut found = target(tx, workspace, cells, origin)?;
            found.is_trashed_again = purged == Some(Class::Removed);
            targets.push(found);
        }
        Ok(targets)
    }

    fn one_target<'a>(
        &self,
        tx: &mut dyn Transaction,
        archived: &'a [ArchivedWorkspace],
        is_own: &dyn Fn(&ArchivedWorkspace) -> bool,
        id: &str,
        into: &str,
        origin: Origin,
    ) -> Result<Target<'a>, StoreError> {
        let (id, into) = (meant_workspace(id), meant_workspace(into));
        let Some(workspace) = archived.iter().find(|it| name_today(it, archived) == id && is_own(it)) else {
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
        if id != into {
            cells[PERSON_CELL] = Cell::Null;
        }
        // Nobody's workspace never takes the place of somebody's, nor the other way round.
        let in_its_place = workspaces::find(tx, into)?;
        if in_its_place.is_some_and(|it| it.person.as_deref() != cells[PERSON_CELL].text()) {
            return Err(StoreError::WorkspaceExists { name: into.to_owned(), trashed: false });
        }
        let mut found = target(tx, workspace, cells, if id == into { origin } else { Origin::Foreign })?;
        if origin == Origin::Same {
            found.ledgers.push(workspace.number);
            found.ledgers.extend(workspaces::find(tx, id)?.map(|it| it.key));
        }
        Ok(found)
    }

    /// Folders of another database, or of a workspace that goes by another name here, are not those of this one. A backup from
    /// before places were noted leaves open whose its workspaces are.
    fn settle_places(&self, tx: &mut dyn Transaction, target: &Target<'_>) -> Result<(), StoreError> {
        let is_home = target.cells[0].text() == Some(HOME_WORKSPACE);
        if target.origin == Origin::Foreign || is_home || self.archive.has(table("projects")) {
            return Ok(());
        }
        tx.execute(&sql::NOTE_UNKNOWN_PLACE, &[target.key.into()]).map(drop)
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
            tx.enter(live.number.into())?;
            empty(tx, live.number)?;
            tx.execute(&purge_sql::DELETE_JOBS, &[live.number.into()])?;
            tx.execute(&sql::DELETE_PROJECTS, &[live.number.into()])?;
            tx.search_drop(live.number)?;
            tx.execute(&sql::KEEP_COUNTERS, &[live.number.into()])?;
            audit::append(tx, live.number, self.stamp, &audit::Entry::of("backup_restore"))?;
            tx.enter(Tenant::Database)?;
            tx.execute(&crate::statements::workspaces::DELETE, &[live.number.into()])?;
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
        for table in tables::in_workspace() {
            if table.name == "vectors" {
                // Numbers are drawn from here on, beyond those of the rows.
                raise_counters(tx, targets)?;
            }
            let mut count = 0;
            let mut waiting: (usize, Vec<Vec<Cell>>) = (0, Vec::new());
            self.archive.rows(table, &archived, &mut |workspace, cells| {
                let place = places[workspace];
                if table.name == "projects" && targets[place].origin == Origin::Foreign {
                    return Ok(());
                }
                if waiting.0 != place || waiting.1.len() >= ROWS_AT_ONCE {
                    let (of, rows) = std::mem::replace(&mut waiting, (place, Vec::new()));
                    insert_rows(tx, table, &mut targets[of], rows, self.stamp)
                        .map_err(|error| self.refused(table, error))?;
                }
                if table.name == "runs" {
                    runs.entry(targets[place].key).or_default().extend(cells[0].id());
                }
                waiting.1.push(cells);
                count += 1;
                Ok(())
            })?;
            let (of, rows) = waiting;
            if !rows.is_empty() {
                insert_rows(tx, table, &mut targets[of], rows, self.stamp)
                    .map_err(|error| self.refused(table, error))?;
            }
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

    /// Purges again what was erased since the backup.
    fn replay(&self, tx: &mut dyn Transaction, target: &Target<'_>, since: &Since) -> Result<i64, StoreError> {
        let Since { erased, erased_runs, .. } = since;
        let replaying = Replaying { workspace: target.key, erased, erased_runs, stamp: self.stamp };
        KINDS.iter().map(|kind| kind.replay(tx, &replaying)).sum()
    }

    /// Everything that follows from the rows: counts, jobs, runs, and the row of the workspace.
    fn settle(&self, tx: &mut dyn Transaction, target: &Target<'_>, runs: &[[u8; 16]]) -> Result<(), StoreError> {
        let (key, now) = (target.key, self.stamp.now);
        tx.execute(&purge_sql::DELETE_SOURCES, &[key.into()])?;
        tx.execute(&sql::COUNT_SOURCES, &[key.into()])?;
        tx.execute(&sql::COUNT_AGAIN, &[key.into()])?;
        tx.execute(&sql::DELETE_IDLE_JOBS, &[key.into(), (&[0; 16]).into()])?;
        let pending: Vec<MemoryId> = tx.rows(&sql::PENDING_MEMORIES, &[key.into()], |row| row.get(0))?;
        jobs::enqueue_completions(tx, key, &pending, now)?;
        tx.execute(&sql::END_OTHER_RUNS, &[key.into(), runs.into(), now.into()])?;
        tx.execute(&sql::END_UNFINISHED_RUNS, &[key.into(), now.into()])?;
        tx.execute(&sql::REVIVE_RUNS, &[key.into()])?;
        time::restamp_workspace(tx, key, now)?;
        tx.execute(&sql::FORGET_FOREIGN_PLANS, &[key.into()])?;
        self.settle_places(tx, target)?;
        let cells = target.cells.iter().take(target.cells.len() - 1).map(Value::from);
        let parameters: Vec<Value<'_>> = std::iter::once(key.into()).chain(cells).collect();
        tx.execute(&sql::UPDATE_WORKSPACE, &parameters).map(drop)
    }

    fn audit(&self, tx: &mut dyn Transaction, targets: &[Target<'_>], restored: &Restored) -> Result<(), StoreError> {
        let counts = serde_json::json!({
            "workspaces": targets.len(),
            "memories": restored.rows.get("memories"),
            "replayed_erasures": restored.replayed_erasures,
            "trashed_again": restored.trashed_again,
        })
        .to_string();
        let entry = audit::Entry { counts: Some(counts), ..audit::Entry::of("backup_restore") };
        for chain in std::iter::once(DATABASE).chain(targets.iter().map(|it| it.key)) {
            tx.enter(chain.into())?;
            audit::append(tx, chain, self.stamp, &entry)?;
        }
        Ok(())
    }

    /// The invariants hold, or nothing was restored: an archive is not believed.
    fn check(&self, tx: &mut dyn Transaction, targets: &[Target<'_>]) -> Result<(), StoreError> {
        let keys: Vec<WorkspaceKey> = targets.iter().map(|it| it.key).collect();
        let is_salvaged = self.backup.manifest.reason == BackupReason::Salvage;
        let is_awaited = |id: &str| is_salvaged && REBUILT_AFTER_SALVAGE.contains(&id);
        let checks = doctor::check_workspaces(tx, &keys, self.engine)?.into_iter();
        let broken = checks.filter(|check| !check.is_ok() && !is_awaited(check.id));
        let problems: Vec<String> =
            broken.map(|check| format!("{}: {} {}", check.id, check.count, check.detail)).collect();
        if problems.is_empty() { Ok(()) } else { Err(self.unusable(problems)) }
    }
}
