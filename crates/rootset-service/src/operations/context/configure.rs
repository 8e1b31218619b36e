//! `context_gc_configure`.

use std::sync::Arc;

use rootset_gc::context::Weights;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::caller::Caller;
use crate::context::{ContextMode, SettingsChange, SettingsInForce, Tokenizer};
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;

/// Set a session's budget and how it is kept; fields left out stay as they are. Answers the settings in force.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextGcConfigure {
    /// Workspace of the session; absent: the current one.
    workspace_id: Option<String>,
    session_id: String,
    /// What the model's window holds (200,000).
    budget_tokens: Option<i64>,
    /// Of that, what is kept free for answers (0).
    reserved_tokens: Option<i64>,
    /// Above it, a piece of the oldest part leaves (70).
    soft_percent: Option<f64>,
    /// Down to it goes what is above the hard limit (50).
    target_percent: Option<f64>,
    /// Above it, everything is judged (90).
    hard_percent: Option<f64>,
    /// How much a collection frees at least (10).
    min_free_percent: Option<f64>,
    /// `auto` (default) or `advise`: nothing leaves by itself.
    mode: Option<ContextMode>,
    /// How many segments from the end always stay (10).
    recent_segments: Option<i64>,
    /// How long a decision always stays (1h).
    #[schemars(with = "Option<rootset_model::DurationMs>")]
    decision_window: Option<Value>,
    /// After how many steps a message is half as fresh.
    half_life_steps: Option<i64>,
    /// After how long a message is half as fresh.
    #[schemars(with = "Option<rootset_model::DurationMs>")]
    half_life: Option<Value>,
    /// How much each part of a score counts.
    weights: Option<Weights>,
    /// `o200k` (default), `cl100k` or `chars/4`; segments keep the count they were added with.
    tokenizer: Option<Tokenizer>,
}

impl Operation for ContextGcConfigure {
    const NAME: &'static str = "context_gc_configure";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = true;
    type Response = SettingsInForce;

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
        };
        service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let changes = change.clone().over(edit.live.changes.clone());
            let settings = changes.applied_to(&service.settings.context)?;
            if changes != edit.live.changes {
                edit.live.changes = changes;
                edit.change_state();
            }
            Ok(SettingsInForce::new(&self.session_id, &settings))
        })
    }
}
