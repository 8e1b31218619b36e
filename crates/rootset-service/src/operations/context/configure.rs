//! `context_gc_configure`.

use std::sync::Arc;

use rootset_api::{ContextGcConfigure, SettingsInForce};

use crate::caller::Caller;
use crate::context::{SettingsChange, settings_in_force};
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ContextGcConfigure {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SettingsInForce, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let change = SettingsChange {
            budget_tokens: self.budget_tokens,
            reserved_tokens: self.reserved_tokens,
            soft_percent: self.soft_percent,
            target_percent: self.target_percent,
            hard_percent: self.hard_percent,
            min_free_percent: self.min_free_percent,
            mode: self.mode,
            recent_segments: self.recent_segments,
            decision_window: self.decision_window,
            half_life_steps: self.half_life_steps,
            half_life: self.half_life,
            weights: self.weights,
            tokenizer: self.tokenizer,
            calibration: None,
            fitting: None,
        };
        service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let changes = change.clone().over(edit.live.changes.clone());
            let settings = changes.applied_to(&service.settings.context)?;
            if changes != edit.live.changes {
                edit.live.changes = changes;
                edit.change_state();
            }
            Ok(settings_in_force(&self.session_id, &settings))
        })
    }
}
