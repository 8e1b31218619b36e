//! `defrag`.

use std::sync::Arc;

use rootset_api::{Defrag, DefragAnswer};
use serde_json::json;

use super::purge::said;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Operation, confirmation_of};
use crate::service::Service;

impl Operation for Defrag {
    fn unconfirmed(&self, _service: &Service, _caller: &Caller) -> ServiceError {
        let message = "writers wait while the database is rebuilt; this needs `confirm: true`";
        confirmation_of(self, message, json!({"confirm": true}))
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DefragAnswer, ServiceError> {
        if self.confirm != Some(true) {
            return Err(self.unconfirmed(service, caller));
        }
        let done = service.store.defragment(service.stamp(caller))?;
        Ok(DefragAnswer {
            bytes_before: done.bytes_before,
            bytes_after: done.bytes_after,
            warnings: said(done.warnings),
        })
    }
}
