//! Workspaces: tenants that never see each other. Their numbers are the first part of every key.

use std::collections::HashMap;

use rootset_model::names::meant_workspace;
use rootset_model::{RunId, Timestamp, WorkspaceKey};

use crate::driver::{Row, Tenant, Transaction};
use crate::error::StoreError;
use crate::statements::workspaces as sql;
use crate::{Stamp, Store};

/// A workspace that was found; the handle that every other call takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    pub key: WorkspaceKey,
    pub id: String,
    /// What kind of tenant it is, in the operator's words: settings can be made for a class.
    pub class: String,
    /// Set when the whole workspace is in the trash.
    pub trashed: Option<(RunId, Timestamp)>,
    /// Whose personal workspace it is; `None`: nobody's, as almost all.
    pub person: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct NewWorkspace {
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub quota_memories: Option<i64>,
    pub quota_bytes: Option<i64>,
    /// Default: [`STANDARD_CLASS`].
    pub class: Option<String>,
    /// Whose personal workspace it is to be.
    pub person: Option<String>,
}

/// The class of workspaces that nobody gave another.
pub const STANDARD_CLASS: &str = "standard";

#[derive(Clone, Debug)]
pub struct WorkspaceView {
    pub id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub quota_memories: Option<i64>,
    pub quota_bytes: Option<i64>,
    pub memories: i64,
    pub bytes: i64,
    pub trashed_memories: i64,
    pub created_at: Timestamp,
    pub last_write_at: Timestamp,
    pub last_run_at: Option<Timestamp>,
    pub trashed_at: Option<Timestamp>,
    pub class: String,
    pub person: Option<String>,
}

impl Store {
    /// Finds a living workspace.
    pub fn workspace(&self, id: &str) -> Result<Workspace, StoreError> {
        let found = self.workspace_or_trashed(id)?;
        if found.trashed.is_none() {
            return Ok(found);
        }
        Err(StoreError::WorkspaceNotFound { name: id.to_owned(), nearest: Vec::new(), trashed: true })
    }

    /// Finds a workspace also when it is in the trash.
    pub fn workspace_or_trashed(&self, id: &str) -> Result<Workspace, StoreError> {
        self.read(Tenant::Database, |tx| match find(tx, id)? {
            Some(workspace) => Ok(workspace),
            None => {
                let nearest = tx.rows(&sql::NAMES, &[], |row| row.get::<String>(0))?;
                Err(StoreError::WorkspaceNotFound { name: id.to_owned(), nearest, trashed: false })
            }
        })
    }

    /// The personal workspace of somebody, if anything was ever written to it, in the trash or not.
    pub fn personal_workspace(&self, person: &str) -> Result<Option<Workspace>, StoreError> {
        self.read(Tenant::Database, |tx| of_person(tx, person))
    }

    /// A living workspace, and the personal one of somebody, where there is one: in one look.
    pub fn workspace_and_personal(
        &self,
        id: &str,
        person: &str,
    ) -> Result<(Option<Workspace>, Option<Workspace>), StoreError> {
        let found =
            self.read(Tenant::Database, |tx| tx.rows(&sql::FIND_WITH_PERSONAL, &[id.into(), person.into()], read))?;
        let living = |is_wanted: &dyn Fn(&Workspace) -> bool| {
            found.iter().find(|it| is_wanted(it) && it.trashed.is_none()).cloned()
        };
        Ok((living(&|it| it.id == id), living(&|it| it.person.as_deref() == Some(person))))
    }

    /// The personal workspace of a person, made under the first of these names that is free if there is none yet. The
    /// person is what it is known by; its name is for reading.
    pub fn ensure_personal_workspace(
        &self,
        new: &NewWorkspace,
        person: &str,
        stamp: Stamp<'_>,
    ) -> Result<Workspace, StoreError> {
        self.write(Tenant::Database, |tx| {
            if let Some(known) = of_person(tx, person)? {
                return Ok(known);
            }
            let mut id = new.id.clone();
            for number in 2.. {
                if find(tx, &id)?.is_none() {
                    break;
                }
                id = format!("{}-{number}", new.id);
            }
            let new = NewWorkspace { id: id.clone(), person: Some(person.to_owned()), ..new.clone() };
            insert(tx, &new, stamp)?;
            let workspace = find(tx, &id)?.ok_or(StoreError::MissingRow { statement: sql::FIND.name })?;
            tx.enter(workspace.key.into())?;
            crate::audit::append(tx, workspace.key, stamp, &crate::audit::Entry::of("create_workspace"))?;
            Ok(workspace)
        })
    }

    pub fn create_workspace(&self, new: &NewWorkspace, stamp: Stamp<'_>) -> Result<Workspace, StoreError> {
        self.write(Tenant::Database, |tx| {
            let created = insert(tx, new, stamp)?;
            let workspace = find(tx, &new.id)?.ok_or(StoreError::MissingRow { statement: "workspaces.find" })?;
            if !created {
                return Err(StoreError::WorkspaceExists { name: new.id.clone(), trashed: workspace.trashed.is_some() });
            }
            tx.enter(workspace.key.into())?;
            crate::audit::append(tx, workspace.key, stamp, &crate::audit::Entry::of("create_workspace"))?;
            Ok(workspace)
        })
    }

    /// Changes what is given; a quota is replaced as a whole.
    pub fn update_workspace(
        &self,
        workspace: &Workspace,
        class: Option<&str>,
        quota: Option<(Option<i64>, Option<i64>)>,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        self.write(workspace, |tx| {
            if let Some(class) = class {
                tx.execute(&sql::SET_CLASS, &[workspace.key.into(), class.into()])?;
            }
            if let Some((memories, bytes)) = quota {
                tx.execute(&sql::SET_QUOTA, &[workspace.key.into(), memories.into(), bytes.into()])?;
            }
            look_again(tx, workspace.key)?;
            crate::audit::append(tx, workspace.key, stamp, &crate::audit::Entry::of("update_workspace"))
        })
    }

    /// Makes sure the workspace exists, as the first use of `home` does.
    pub fn ensure_workspace(&self, id: &str, stamp: Stamp<'_>) -> Result<(), StoreError> {
        if self.read(Tenant::Database, |tx| find(tx, id))?.is_some() {
            return Ok(());
        }
        let new = NewWorkspace { id: id.to_owned(), ..NewWorkspace::default() };
        self.write(Tenant::Database, |tx| insert(tx, &new, stamp).map(|_| ()))
    }

    /// Those that are wanted, by their numbers, their ids and the person whose they are.
    pub fn list_workspaces(
        &self,
        is_wanted: impl Fn(WorkspaceKey, &str, Option<&str>) -> bool,
    ) -> Result<Vec<WorkspaceView>, StoreError> {
        self.read(Tenant::Database, |tx| {
            let mut views: Vec<(WorkspaceKey, WorkspaceView)> =
                tx.rows(&sql::LIST, &[], |row| Ok((row.get(0)?, WorkspaceView::read(row)?)))?;
            views.retain(|(key, view)| is_wanted(*key, &view.id, view.person.as_deref()));
            let keys: Vec<WorkspaceKey> = views.iter().map(|(key, _)| *key).collect();
            let mut activity: HashMap<WorkspaceKey, (i64, Option<Timestamp>)> = HashMap::new();
            tx.query_each(&keys, &sql::ACTIVITY, &[], &mut |key, row| {
                activity.insert(key, (row.get(0)?, row.get(1)?));
                Ok(())
            })?;
            let with_activity = |(key, view)| {
                let (trashed_memories, last_run_at) = activity.get(&key).copied().unwrap_or_default();
                WorkspaceView { trashed_memories, last_run_at, ..view }
            };
            Ok(views.into_iter().map(with_activity).collect())
        })
    }

    /// All of them that live, without looking into them.
    pub fn workspaces(&self) -> Result<Vec<Workspace>, StoreError> {
        let mut all = self.read(Tenant::Database, all)?;
        all.retain(|it| it.trashed.is_none());
        Ok(all)
    }

    /// Those that a round has to look at: something may have become garbage by `now`, or was written since the last look.
    pub fn workspaces_to_look_at(&self, now: Timestamp, all: bool) -> Result<Vec<Workspace>, StoreError> {
        self.read(Tenant::Database, |tx| tx.rows(&sql::TO_LOOK_AT, &[now.into(), all.into()], read))
    }

    /// A round has looked, and found nothing to do before `look_at`, unless somebody writes.
    pub fn note_looked(&self, workspace: &Workspace, look: &NextLook) -> Result<(), StoreError> {
        let parameters = [workspace.key.into(), look.at.into(), look.last_write_at.into()];
        self.touch(workspace.key, |tx| tx.execute(&sql::LOOKED, &parameters).map(drop))
    }

    /// When anybody wrote to any of them.
    pub fn last_write_at(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read(Tenant::Database, |tx| tx.scalar(&sql::LAST_WRITE_AT, &[]))
    }
}

impl WorkspaceView {
    /// What its own row says; the rest is asked in the workspace.
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get(1)?,
            name: row.get(2)?,
            description: row.get(3)?,
            quota_memories: row.get(4)?,
            quota_bytes: row.get(5)?,
            memories: row.get(6)?,
            bytes: row.get(7)?,
            trashed_memories: 0,
            created_at: row.get(8)?,
            last_write_at: row.get(9)?,
            last_run_at: None,
            trashed_at: row.get(10)?,
            class: row.get(11)?,
            person: row.get(12)?,
        })
    }
}

/// When the next round has to look at a workspace that nobody writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextLook {
    pub at: Timestamp,
    /// Of the workspace as it was looked at.
    pub last_write_at: Option<Timestamp>,
}

/// Something has changed without a write to a memory: the next round looks.
pub(crate) fn look_again(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<(), StoreError> {
    tx.execute(&sql::LOOK_AGAIN, &[workspace.into()]).map(drop)
}

pub(crate) fn find(tx: &mut dyn Transaction, id: &str) -> Result<Option<Workspace>, StoreError> {
    tx.row(&sql::FIND, &[meant_workspace(id).into()], read)
}

pub(crate) fn of_person(tx: &mut dyn Transaction, person: &str) -> Result<Option<Workspace>, StoreError> {
    tx.row(&sql::OF_PERSON, &[person.into()], read)
}

fn read(row: &dyn Row) -> Result<Workspace, StoreError> {
    let (run, at): (Option<RunId>, Option<Timestamp>) = (row.get(2)?, row.get(3)?);
    Ok(Workspace { key: row.get(0)?, id: row.get(1)?, class: row.get(4)?, trashed: run.zip(at), person: row.get(5)? })
}

/// `false` when there is one of that name.
fn insert(tx: &mut dyn Transaction, new: &NewWorkspace, stamp: Stamp<'_>) -> Result<bool, StoreError> {
    if find(tx, &new.id)?.is_some() {
        return Ok(false);
    }
    let number: WorkspaceKey = tx.scalar(&sql::DRAW_NUMBER, &[])?;
    let changed = tx.execute(
        &sql::INSERT,
        &[
            number.into(),
            meant_workspace(&new.id).into(),
            new.name.as_ref().into(),
            new.description.as_ref().into(),
            new.quota_memories.into(),
            new.quota_bytes.into(),
            stamp.now.into(),
            new.class.as_deref().unwrap_or(STANDARD_CLASS).into(),
            new.person.as_ref().into(),
        ],
    )?;
    Ok(changed > 0)
}

/// A workspace that must not exist yet; its number.
pub(crate) fn create(
    tx: &mut dyn Transaction,
    new: &NewWorkspace,
    stamp: Stamp<'_>,
) -> Result<WorkspaceKey, StoreError> {
    insert(tx, new, stamp)?;
    find(tx, &new.id)?.map(|it| it.key).ok_or(StoreError::MissingRow { statement: sql::FIND.name })
}

/// The greatest number that a workspace of this database ever had.
pub(crate) fn last_number(tx: &mut dyn Transaction) -> Result<i64, StoreError> {
    tx.scalar(&sql::LAST_NUMBER, &[])
}

/// Numbers drawn for new rows: the first of each, the rest follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub first_number: i64,
    pub first_chunk: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Draw {
    pub numbers: usize,
    pub chunks: usize,
    pub memories: i64,
    pub bytes: i64,
}

/// Draws numbers and counts what they are drawn for; refuses what goes over the workspace's quota.
pub(crate) fn draw(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    draw: Draw,
    now: Timestamp,
) -> Result<Drawn, StoreError> {
    if draw.memories > 0 || draw.bytes > 0 {
        check_quota(tx, workspace, draw)?;
    }
    let parameters = [
        workspace.into(),
        (draw.numbers as i64).into(),
        (draw.chunks as i64).into(),
        draw.memories.into(),
        draw.bytes.into(),
        now.into(),
    ];
    tx.row(&sql::DRAW_NUMBERS, &parameters, |row| Ok(Drawn { first_number: row.get(0)?, first_chunk: row.get(1)? }))?
        .ok_or(StoreError::MissingRow { statement: sql::DRAW_NUMBERS.name })
}

pub(crate) fn check_quota(tx: &mut dyn Transaction, workspace: WorkspaceKey, draw: Draw) -> Result<(), StoreError> {
    let room = room(tx, workspace)?;
    match (room.memories, room.bytes) {
        (Some(left), _) if draw.memories > left => {
            Err(StoreError::QuotaExceeded { unit: "memories", limit: room.memories_max.unwrap_or(0) })
        }
        (_, Some(left)) if draw.bytes > left => {
            Err(StoreError::QuotaExceeded { unit: "bytes", limit: room.bytes_max.unwrap_or(0) })
        }
        _ => Ok(()),
    }
}

/// What a workspace's quota leaves, where it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    pub memories: Option<i64>,
    pub bytes: Option<i64>,
    memories_max: Option<i64>,
    bytes_max: Option<i64>,
}

pub(crate) fn room(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<Room, StoreError> {
    let row = tx.row(&sql::QUOTA, &[workspace.into()], |row| {
        let (memories_max, bytes_max): (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
        let (memories, bytes): (i64, i64) = (row.get(2)?, row.get(3)?);
        let left = |limit: Option<i64>, used: i64| limit.map(|limit| limit - used);
        Ok(Room { memories: left(memories_max, memories), bytes: left(bytes_max, bytes), memories_max, bytes_max })
    })?;
    Ok(row.unwrap_or_default())
}

/// Counts what something there grew by, or shrank by; refuses to grow beyond the quota. Notes the time of a write.
pub(crate) fn count_bytes(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    grown_by: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    if grown_by > 0 {
        check_quota(tx, workspace, Draw { bytes: grown_by, ..Draw::default() })?;
    }
    touch(tx, workspace, 0, grown_by, now)
}

/// Counts what was removed, or merely notes the time of a write.
pub(crate) fn touch(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: i64,
    bytes: i64,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.execute(&sql::TOUCH, &[workspace.into(), memories.into(), bytes.into(), now.into()])?;
    Ok(())
}

/// Every workspace there is, trashed ones included.
pub(crate) fn all(tx: &mut dyn Transaction) -> Result<Vec<Workspace>, StoreError> {
    tx.rows(&sql::ALL, &[], read)
}

/// Their numbers alone.
pub(crate) fn keys(tx: &mut dyn Transaction) -> Result<Vec<WorkspaceKey>, StoreError> {
    tx.rows(&sql::KEYS, &[], |row| row.get(0))
}
