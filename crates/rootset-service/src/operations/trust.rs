//! `set_trust`.

use std::sync::Arc;

use rootset_api::{ErrorCode, Request, SetTrust, TrustAnswer};
use rootset_model::Trust;
use serde_json::json;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for SetTrust {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<TrustAnswer, ServiceError> {
        let may_change = |before: Trust| may_set(caller, before, self.trust);
        let stamp = service.stamp(caller);
        let again = || serde_json::to_value(&self).unwrap_or_default();
        let changed = service.where_memory_is(caller, self.workspace_id.as_deref(), &self.memory_id, |workspace| {
            let changed = service.store.set_trust(workspace, &self.memory_id, self.trust, &may_change, stamp)?;
            changed.ok_or_else(|| refused(self.trust))
        });
        let changed = changed.map_err(|error| caller.or_ask_person(error, Self::NAME, again))?;
        Ok(TrustAnswer {
            memory_id: changed.memory,
            name: changed.name,
            trust: changed.after,
            previous: changed.before,
            version: changed.version,
        })
    }
}

/// More trust comes from people alone, to whatever level; less may come from anybody who is believed as much.
fn may_set(caller: &Caller, before: Trust, after: Trust) -> bool {
    caller.origin().acts_for_person() || (after <= before && before <= caller.trust)
}

fn refused(wanted: Trust) -> ServiceError {
    let message = format!("only a person can set the trust of this memory to `{}`", wanted.as_str());
    ServiceError::new(ErrorCode::Forbidden, message)
        .with_hint("a person can do it in a terminal: `rootset trust` and `rootset untrust`")
        .with_details(json!({"needs_person": true}))
}
