//! `defrag`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::Service;

/// Rebuild the database without the room of what was purged. Writers wait meanwhile, readers go on.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Defrag {
    /// Must be true: nobody can write until it is done.
    confirm: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct DefragAnswer {
    /// The database with its log.
    pub bytes_before: i64,
    pub bytes_after: i64,
}

impl Operation for Defrag {
    const NAME: &'static str = "defrag";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = true;
    const IS_DATABASE_WIDE: bool = true;
    type Response = DefragAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DefragAnswer, ServiceError> {
        if !caller.confirms_for_good(self.confirm) {
            let error = ServiceError::new(
                ErrorCode::ConfirmationRequired,
                "writers wait while the database is rebuilt: it needs `confirm: true`",
            )
            .with_details(json!({"next": {"operation": "defrag", "arguments": {"confirm": true}}}));
            return Err(caller.unconfirmed_for_good(error));
        }
        let done = service.store.defragment(service.stamp(caller))?;
        Ok(DefragAnswer { bytes_before: done.bytes_before, bytes_after: done.bytes_after })
    }
}
