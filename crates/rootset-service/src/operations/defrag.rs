//! `defrag`.

use std::sync::Arc;

use rootset_api::{Defrag, DefragAnswer, ErrorCode};
use serde_json::json;

use super::purge::said;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for Defrag {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DefragAnswer, ServiceError> {
        if !caller.confirms_for_good(self.confirm) {
            let error = ServiceError::new(
                ErrorCode::ConfirmationRequired,
                "writers wait while the database is rebuilt; this needs `confirm: true`",
            )
            .with_details(json!({"next": {"operation": "defrag", "arguments": {"confirm": true}}}));
            return Err(caller.unconfirmed_for_good(error));
        }
        let done = service.store.defragment(service.stamp(caller))?;
        Ok(DefragAnswer {
            bytes_before: done.bytes_before,
            bytes_after: done.bytes_after,
            warnings: said(done.warnings),
        })
    }
}
