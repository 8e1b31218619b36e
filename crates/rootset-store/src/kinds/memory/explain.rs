//! Why a memory is alive, or why it is not.

use rootset_gc::strategies;
use rootset_model::plan::Reason;
use rootset_model::{MemoryId, PinnedBy, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::explain::{Explanation, in_trash};
use crate::garbage::{self, GarbageRequest};
use crate::kinds::When;
use crate::memories::{self, MemoryRow};

/// Also for chunks, which live and die with their memories.
pub(crate) fn explain(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: &MemoryRow,
    when: &When,
) -> Result<Explanation, StoreError> {
    let condemned = if row.trashed.is_none() { garbage_reason(tx, workspace, row.id, when)? } else { None };
    let reason = match (row.trashed, condemned) {
        (Some(trashed), _) => in_trash(tx, workspace, trashed)?,
        (None, Some(reason)) => format!("garbage: {}; kept until a plan removes it", reason.in_words()),
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
    let (configured, now) = (when.configured, when.now);
    let request = GarbageRequest { strategies: &strategies::of_memories(), configured, stale_kept_ms: 0, now };
    let found = garbage::find(tx, workspace, &request)?;
    Ok(found.items.iter().find(|item| item.object == memory.0).map(|item| item.reason))
}

fn why_alive(tx: &mut dyn Transaction, workspace: WorkspaceKey, row: &MemoryRow) -> Result<String, StoreError> {
    if row.is_pinned {
        let by = match row.pinned_by {
            Some(PinnedBy::Person) => " by a person",
            Some(PinnedBy::Agent) => " by an agent",
            None => "",
        };
        return Ok(match &row.pin_reason {
            Some(why) => format!("pinned{by}: {why}"),
            None => format!("pinned{by}"),
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

pub(crate) fn shown(row: &MemoryRow) -> String {
    row.name.clone().or_else(|| row.file_path.clone()).unwrap_or_else(|| row.id.to_string())
}
