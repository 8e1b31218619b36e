//! Why something is alive, or why it is not: the collector's answer for one id.

use rootset_model::{EntityId, MemoryId, RelationId, RetentionPolicy, RunId, Timestamp, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::kinds::{KINDS, When};
use crate::runs;
use crate::statements::explain as sql;
use crate::{Store, Workspace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The word of its kind.
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
            for kind in KINDS {
                let found = match id.parse::<MemoryId>() {
                    Ok(bytes) => kind.explain(tx, workspace.key, bytes.0, &when)?,
                    Err(_) => kind.explain_named(tx, workspace.key, id, &when)?,
                };
                if let Some(explanation) = found {
                    return Ok(explanation);
                }
            }
            Err(StoreError::NothingFound(id.to_owned()))
        })
    }
}

pub(crate) fn in_trash(
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

/// Who vouches for an entity or a relation.
pub(crate) fn of_graph_row(
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
        (true, "untracked: it was imported, and no strategy ever removes it".to_owned(), Some("import".to_owned()))
    } else if let Some(first) = living.first() {
        let few: Vec<String> = living.iter().take(ROOTS_SHOWN).map(|name| format!("`{name}`")).collect();
        let noun = if living.len() == 1 { "memory" } else { "memories" };
        let reason = format!("contributed by {} living {noun}: {}", living.len(), few.join(", "));
        (true, reason, Some(format!("memory {first}")))
    } else if contributors.is_empty() {
        (false, "no memory contributes to it any more".to_owned(), None)
    } else {
        let reason = match contributors.len() {
            1 => "its only contributing memory is in the trash".to_owned(),
            count => format!("all {count} contributing memories are in the trash"),
        };
        (false, reason, None)
    };
    let path = root.into_iter().chain([this]).collect();
    Ok(Explanation { kind, id: shown_id, is_alive, reason, path })
}
