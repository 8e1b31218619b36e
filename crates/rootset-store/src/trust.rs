//! Changing how far a memory is believed, by somebody who may: the service decides who that is.

use rootset_model::{MemoryId, Trust};

use crate::add::refuse_persons_pin;
use crate::error::StoreError;
use crate::statements::memories as sql;
use crate::{Stamp, Store, Workspace, audit, memories, workspaces};

/// What became of a memory's trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustChange {
    pub memory: MemoryId,
    pub name: Option<String>,
    pub before: Trust,
    pub after: Trust,
    pub version: i64,
}

impl Store {
    /// Sets a memory's trust, with an audit entry that says what it was, so that setting that again takes the change back.
    /// `None`: `may_change`, told the trust it has now, objects.
    pub fn set_trust(
        &self,
        workspace: &Workspace,
        reference: &str,
        after: Trust,
        may_change: &dyn Fn(Trust) -> bool,
        stamp: Stamp<'_>,
    ) -> Result<Option<TrustChange>, StoreError> {
        self.write(workspace, |tx| {
            let row = memories::living(tx, workspace.key, reference)?;
            if row.repo.is_some() && row.name.is_none() {
                return Err(StoreError::IndexedFile { memory: row.id });
            }
            let is_changed = row.trust != after;
            if is_changed {
                refuse_persons_pin(&row, stamp)?;
            }
            if is_changed && !may_change(row.trust) {
                return Ok(None);
            }
            let version = row.version + i64::from(is_changed);
            let change = TrustChange { memory: row.id, name: row.name, before: row.trust, after, version };
            if is_changed {
                let parameters =
                    [workspace.key.into(), (&row.id).into(), after.into(), version.into(), stamp.now.into()];
                tx.execute(&sql::SET_TRUST, &parameters)?;
                workspaces::touch(tx, workspace.key, 0, 0, stamp.now)?;
                let details = serde_json::json!({
                    "memory_id": row.id.to_string(), "before": change.before, "after": change.after,
                });
                let (details, counts) = (Some(details.to_string()), Some(r#"{"memories":1}"#.to_owned()));
                let entry = audit::Entry { details, counts, ..audit::Entry::of("set_trust") };
                audit::append(tx, workspace.key, stamp, &entry)?;
            }
            Ok(Some(change))
        })
    }
}
