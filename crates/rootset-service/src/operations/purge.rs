//! `gc_purge`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rootset_model::Timestamp;
use rootset_model::time::parse_duration_ms;
use rootset_store::PurgeTarget;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{ReceiptAnswer, parse_run_id, purged_rows};

/// Remove trash for good: a run's, or everything that has been in the trash for longer than a while.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GcPurge {
    /// Workspace, also one that is in the trash itself; absent: the current one.
    workspace_id: Option<String>,
    /// The run whose trash to remove.
    run_id: Option<String>,
    /// Everything trashed longer ago than this: `7d`, `24h`, or milliseconds.
    older_than: Option<Value>,
    /// Must be true: nothing brings purged things back.
    confirm: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PurgeAnswer {
    /// Rows removed, by kind.
    pub purged: BTreeMap<String, i64>,
    /// Bytes of text removed.
    pub bytes_freed: i64,
    /// False while a reader still holds the old log: it is emptied later by itself, or by purging again.
    pub wal_clean: bool,
    pub receipt: ReceiptAnswer,
}

impl Operation for GcPurge {
    const NAME: &'static str = "gc_purge";
    const EFFECT: Effect = Effect::Purge;
    const IS_IDEMPOTENT: bool = true;
    type Response = PurgeAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PurgeAnswer, ServiceError> {
        let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
        let now = service.now();
        let target = match (&self.run_id, &self.older_than) {
            (Some(run), None) => PurgeTarget::Run(parse_run_id(run)?),
            (None, Some(age)) => PurgeTarget::TrashedBefore(Timestamp(now.0.saturating_sub(duration(age)?))),
            (None, None) => return Err(ServiceError::invalid("one of `run_id` and `older_than` is needed")),
            (Some(_), Some(_)) => {
                return Err(ServiceError::invalid("`run_id` and `older_than` are given; one is enough"));
            }
        };
        if !caller.confirms_for_good(self.confirm) {
            let error = ServiceError::new(
                ErrorCode::ConfirmationRequired,
                "purging removes for good: it needs `confirm: true`",
            )
            .with_details(json!({"next": {"operation": "gc_purge", "arguments": {
                "run_id": self.run_id, "older_than": self.older_than, "confirm": true,
            }}}));
            return Err(caller.unconfirmed_for_good(error));
        }
        let receipt = service.store.purge(&workspace, target, service.next_erasure_id(), service.stamp(caller))?;
        Ok(PurgeAnswer {
            purged: purged_rows(&receipt),
            bytes_freed: receipt.rows.bytes,
            wal_clean: receipt.log_is_clean,
            receipt: ReceiptAnswer::new(
                &receipt,
                service.backups_that_may_hold(&workspace.id, now)?,
                service.store.has_file(),
            ),
        })
    }
}

fn duration(value: &Value) -> Result<i64, ServiceError> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    parse_duration_ms(&text).map_err(|error| ServiceError::invalid(format!("`older_than`: {error}")))
}
