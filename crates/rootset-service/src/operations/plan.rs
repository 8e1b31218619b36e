//! `get_plan`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{PlanAnswer, page, parse_plan_id};

/// Read a stored plan, its items page by page.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetPlan {
    /// Workspace it belongs to; absent: the current one.
    workspace_id: Option<String>,
    plan_id: String,
    /// How many items to skip (0).
    offset: Option<i64>,
    /// How many items to show (50, at most 100).
    limit: Option<i64>,
}

impl Operation for GetPlan {
    const NAME: &'static str = "get_plan";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = PlanAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PlanAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (offset, limit) = page(self.offset, self.limit)?;
        let plan = parse_plan_id(&self.plan_id)?;
        Ok(service.store.plan(&workspace, plan, &service.settings.limits, offset, limit)?.into())
    }
}
