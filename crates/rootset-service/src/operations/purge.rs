//! `gc_purge`.

use std::sync::Arc;

use rootset_api::{ErrorCode, GcPurge, HoldingBackup, PurgeAnswer, ReceiptAnswer};
use rootset_model::time::parse_duration_ms;
use rootset_model::{Counts, Timestamp};
use rootset_store::{PurgeTarget, Receipt};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::parse_run_id;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for GcPurge {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PurgeAnswer, ServiceError> {
        let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
        let now = service.now();
        let target = match (&self.run_id, &self.older_than) {
            (Some(run), None) => PurgeTarget::Run(parse_run_id(run)?),
            (None, Some(age)) => PurgeTarget::TrashedBefore(Timestamp(now.0.saturating_sub(duration(age)?))),
            (None, None) => return Err(ServiceError::invalid("either `run_id` or `older_than` is required")),
            (Some(_), Some(_)) => {
                return Err(ServiceError::invalid("give either `run_id` or `older_than`, not both"));
            }
        };
        if !caller.confirms_for_good(self.confirm) {
            let error = ServiceError::new(
                ErrorCode::ConfirmationRequired,
                "purging cannot be undone and needs `confirm: true`",
            )
            .with_details(json!({"next": {"operation": "gc_purge", "arguments": {
                "run_id": self.run_id, "older_than": self.older_than, "confirm": true,
            }}}));
            return Err(caller.unconfirmed_for_good(error));
        }
        let receipt = service.store.purge(&workspace, target, service.next_erasure_id(), service.stamp(caller))?;
        let mut warnings = receipt.warnings.clone();
        let backups = service.holding_backups(&workspace.id, now, &mut warnings);
        Ok(PurgeAnswer {
            purged: purged_rows(&receipt),
            bytes_freed: receipt.rows.get("bytes"),
            wal_clean: receipt.log_is_clean,
            unfinished: receipt.is_unfinished.then_some(true),
            receipt: receipt_answer(&receipt, backups, service.store.has_file()),
            warnings: said(warnings),
        })
    }
}

/// Warnings as answers carry them: not at all where there are none.
pub fn said(warnings: Vec<String>) -> Option<Vec<String>> {
    (!warnings.is_empty()).then_some(warnings)
}

fn duration(value: &Value) -> Result<i64, ServiceError> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    parse_duration_ms(&text).map_err(|error| ServiceError::invalid(format!("`older_than`: {error}")))
}

pub fn receipt_answer(receipt: &Receipt, backups: Vec<HoldingBackup>, has_file: bool) -> ReceiptAnswer {
    ReceiptAnswer {
        erasure_id: receipt.erasure.to_string(),
        rows: purged_rows(receipt),
        byte_scan: match receipt.text_remains {
            Some(false) => "clean",
            Some(true) => "found",
            None => "not_run",
        }
        .to_owned(),
        backups,
        ledger_problem: receipt.ledger_problem.clone(),
        left_to_operator: (!has_file).then(|| LEFT_TO_OPERATOR.map(str::to_owned).to_vec()),
    }
}

/// Where PostgreSQL keeps what was removed.
const LEFT_TO_OPERATOR: [&str; 3] = [
    "dead tuples of the tables, until VACUUM has run and their pages are used again",
    "the write-ahead log with its archives and replicas, until they are recycled or expire",
    "dumps and copies of the server that were made before",
];

/// Rows by kind, zeroes left out.
fn purged_rows(receipt: &Receipt) -> Counts {
    receipt.rows.without(&["bytes"]).naming(&["memories"])
}
