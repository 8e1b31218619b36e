//! Why something is alive, or why it is not: the collector's answer for one id.

use rootset_gc::strategies;
use rootset_model::plan::Reason;
use rootset_model::{
    ChunkKey, EntityId, MemoryId, RelationId, RetentionPolicy, RunId, SegmentKey, SessionKey, Timestamp, WorkspaceKey,
};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::garbage::{self, GarbageRequest};
use crate::memories::{self, MemoryRow};
use crate::runs;
use crate::statements::context as context_sql;
use crate::statements::explain as sql;
use crate::{Store, Workspace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// `memory`, `entity`, `relation`, `chunk`, `segment` or `session`.
    pub kind: &'static str,
    pub id: String,
    pub is_alive: bool,
    pub reason: String,
    /// From the root that keeps it down to the thing itself.
    pub path: Vec<String>,
}

/// Roots listed in an explanation.
const ROOTS_SHOWN: usize = 5;

impl Store {
    /// `configured` is the policy in force where the database has none.
    pub fn explain(
        &self,
        workspace: &Workspace,
        id: &str,
        configured: RetentionPolicy,
        now: Timestamp,
    ) -> Result<Explanation, StoreError> {
        let when = When { configured, now };
        self.read(workspace, |tx| {
            let found = match id.parse::<MemoryId>() {
                Ok(bytes) => explain_id(tx, workspace.key, bytes.0, &when)?,
                Err(_) => match memories::living(tx, workspace.key, id) {
                    Ok(row) => Some(of_memory(tx, workspace.key, &row, &when)?),
                    Err(StoreError::MemoryNotFound { trashed: Some(_), .. }) => {
                        let parameters = [workspace.key.into(), id.into()];
                        let row =
                            tx.row(&crate::statements::memories::TRASHED_BY_NAME, &parameters, MemoryRow::read)?;
                        row.map(|row| of_memory(tx, workspace.key, &row, &when)).transpose()?
                    }
                    Err(StoreError::MemoryNotFound { .. }) => None,
                    Err(error) => return Err(error),
                },
            };
            found.ok_or_else(|| StoreError::NothingFound(id.to_owned()))
        })
    }
}

fn explain_id(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    id: [u8; 16],
    when: &When,
) -> Result<Option<Explanation>, StoreError> {
    if let Some(row) = memories::by_id(tx, workspace, MemoryId(id))? {
        return of_memory(tx, workspace, &row, when).map(Some);
    }
    let name: Option<String> = tx.row(&sql::ENTITY, &[workspace.into(), (&id).into()], |row| row.get(0))?;
    if let Some(name) = name {
        return of_derived(tx, workspace, "entity", id, name).map(Some);
    }
    let verb: Option<String> = tx.row(&sql::RELATION, &[workspace.into(), (&id).into()], |row| row.get(0))?;
    if let Some(verb) = verb {
        return of_derived(tx, workspace, "relation", id, verb).map(Some);
    }
    if let Some(segment) = SegmentKey::from_object(id) {
        return of_segment(tx, workspace, segment);
    }
    if let Some(session) = SessionKey::from_object(id) {
        return of_session(tx, workspace, session);
    }
    let external = rootset_model::MemoryId(id).to_string();
    let Some(chunk) = external.parse().ok().and_then(ChunkKey::from_external) else { return Ok(None) };
    let memory: Option<MemoryId> = tx.row(&sql::CHUNK, &[workspace.into(), chunk.into()], |row| row.get(0))?;
    let Some(row) = memory.map(|memory| memories::by_id(tx, workspace, memory)).transpose()?.flatten() else {
        return Ok(None);
    };
    let of_memory = of_memory(tx, workspace, &row, when)?;
    let reason = format!("a part of the memory `{}`, which is {}", shown(&row), of_memory.reason);
    let path = vec![of_memory.path.first().cloned().unwrap_or_default(), format!("chunk {external}")];
    Ok(Some(Explanation { kind: "chunk", id: external, is_alive: of_memory.is_alive, reason, path }))
}

fn shown(row: &MemoryRow) -> String {
    row.name.clone().or_else(|| row.file_path.clone()).unwrap_or_else(|| row.id.to_string())
}

/// What the answer depends on besides the rows.
struct When {
    configured: RetentionPolicy,
    now: Timestamp,
}

fn of_memory(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: &MemoryRow,
    when: &When,
) -> Result<Explanation, StoreError> {
    let condemned = if row.trashed.is_none() { garbage_reason(tx, workspace, row.id, when)? } else { None };
    let reason = match (row.trashed, condemned) {
        (Some(trashed), _) => in_trash(tx, workspace, trashed)?,
        (None, Some(reason)) => format!("garbage: {}; kept until a plan takes it", reason.in_words()),
        (None, None) => why_alive(tx, workspace, row)?,
    };
    Ok(Explanation {
        kind: "memory",
        id: row.id.to_string(),
        is_alive: row.trashed.is_none() && condemned.is_none(),
        reason,
        path: vec![format!("memory {}", shown(row))],
    })
}

/// Why a plan of all strategies would take the memory now.
fn garbage_reason(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    when: &When,
) -> Result<Option<Reason>, StoreError> {
    let request = GarbageRequest { strategies: &strategies::of_memories(), configured: when.configured, now: when.now };
    let found = garbage::find(tx, workspace, &request)?;
    Ok(found.items.iter().find(|item| item.object == memory.0).map(|item| item.reason))
}

fn why_alive(tx: &mut dyn Transaction, workspace: WorkspaceKey, row: &MemoryRow) -> Result<String, StoreError> {
    if row.is_pinned {
        return Ok(match &row.pin_reason {
            Some(why) => format!("pinned: {why}"),
            None => "pinned".to_owned(),
        });
    }
    if row.is_superseded {
        let successor = row.superseded_by.map(|id| memories::by_id(tx, workspace, id)).transpose()?.flatten();
        let name = successor.as_ref().map_or_else(String::new, shown);
        return Ok(format!("superseded by `{name}`: kept with its history, out of search"));
    }
    Ok(match &row.repo {
        Some(repo) => format!("in the last completed scan of `{repo}`"),
        None => "a memory is a root: it stays until somebody removes it".to_owned(),
    })
}

/// Whether a root of its window leads to it is asked of the window, which is not here.
fn of_segment(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    segment: SegmentKey,
) -> Result<Option<Explanation>, StoreError> {
    let found = tx.row(&context_sql::EXPLAINED_SEGMENT, &[workspace.into(), segment.0.into()], |row| {
        let own: Option<(RunId, Timestamp)> = row.get::<Option<_>>(5)?.zip(row.get(6)?);
        let of_session: Option<(RunId, Timestamp)> = row.get::<Option<_>>(7)?.zip(row.get(8)?);
        let names: (String, String) = (row.get(0)?, row.get(1)?);
        let pin: Option<Option<String>> = row.get::<bool>(3)?.then(|| row.get(4)).transpose()?;
        Ok((names, row.get::<String>(2)?, pin, own, of_session))
    })?;
    let Some(((name, session), state, pin, own, of_session)) = found else { return Ok(None) };
    let reason = match (own, of_session, pin) {
        (Some(trashed), ..) => in_trash(tx, workspace, trashed)?,
        (None, Some(trashed), _) => format!("its session is {}", in_trash(tx, workspace, trashed)?),
        (None, None, Some(Some(why))) => format!("pinned: {why}"),
        (None, None, Some(None)) => "pinned".to_owned(),
        (None, None, None) if state == "stashed" => "in the stash: `context_restore` brings it back".to_owned(),
        (None, None, None) => "in its window: `context_explain` tells which root leads to it".to_owned(),
    };
    Ok(Some(Explanation {
        kind: "segment",
        id: segment.external().to_string(),
        is_alive: own.is_none() && of_session.is_none(),
        reason,
        path: vec![format!("session {session}"), format!("segment {name}")],
    }))
}

fn of_session(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    session: SessionKey,
) -> Result<Option<Explanation>, StoreError> {
    let found = tx.row(&context_sql::SESSION_BY_NUMBER, &[workspace.into(), session.0.into()], |row| {
        let trashed: Option<(RunId, Timestamp)> = row.get::<Option<_>>(4)?.zip(row.get(5)?);
        Ok((row.get::<String>(0)?, trashed))
    })?;
    let Some((name, trashed)) = found else { return Ok(None) };
    let reason = match trashed {
        Some(trashed) => in_trash(tx, workspace, trashed)?,
        None => "a session is a root: it stays until somebody removes it".to_owned(),
    };
    Ok(Some(Explanation {
        kind: "session",
        id: session.external().to_string(),
        is_alive: trashed.is_none(),
        reason,
        path: vec![format!("session {name}")],
    }))
}

fn in_trash(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    (run, at): (RunId, Timestamp),
) -> Result<String, StoreError> {
    Ok(format!("in the trash since {at}, by {} (run {run})", cause(tx, workspace, run)?))
}

fn cause(tx: &mut dyn Transaction, workspace: WorkspaceKey, run: RunId) -> Result<String, StoreError> {
    match runs::find(tx, workspace, run) {
        Ok(run) => Ok(format!("{} of {}", run.operation, run.actor)),
        Err(StoreError::RunNotFound(_)) => Ok("an unknown run".to_owned()),
        Err(error) => Err(error),
    }
}

fn of_derived(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    kind: &'static str,
    id: [u8; 16],
    name: String,
) -> Result<Explanation, StoreError> {
    let is_untracked: bool = tx.scalar(&sql::IS_UNTRACKED, &[workspace.into(), (&id).into()])?;
    let contributors: Vec<(MemoryId, Option<String>, bool)> =
        tx.rows(&sql::CONTRIBUTORS, &[workspace.into(), (&id).into()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let living: Vec<String> = contributors
        .iter()
        .filter(|(.., is_trashed)| !is_trashed)
        .map(|(memory, name, _)| name.clone().unwrap_or_else(|| memory.to_string()))
        .collect();
    let this = format!("{kind} {name}");
    let shown_id = if kind == "entity" { EntityId(id).to_string() } else { RelationId(id).to_string() };
    let (is_alive, reason, root) = if is_untracked {
        (true, "untracked: brought by an import, no strategy ever takes it".to_owned(), Some("import".to_owned()))
    } else if let Some(first) = living.first() {
        let few: Vec<String> = living.iter().take(ROOTS_SHOWN).map(|name| format!("`{name}`")).collect();
        let reason = format!("contributed by {} living memories: {}", living.len(), few.join(", "));
        (true, reason, Some(format!("memory {first}")))
    } else if contributors.is_empty() {
        (false, "no memory contributes to it any more".to_owned(), None)
    } else {
        let reason = format!("every one of its {} contributing memories is in the trash", contributors.len());
        (false, reason, None)
    };
    let path = root.into_iter().chain([this]).collect();
    Ok(Explanation { kind, id: shown_id, is_alive, reason, path })
}
