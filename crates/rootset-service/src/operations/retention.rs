//! `set_retention` and `get_retention`.

use std::sync::Arc;

use rootset_gc::PolicyOrigin;
use rootset_model::RetentionPolicy;
use rootset_model::limits::NAME_CHARS_MAX;
use rootset_model::names::CODE_SOURCE;
use rootset_model::retention::fields::{ShownPolicy, Written};
use rootset_model::time::DurationMs;
use rootset_store::RetentionTarget;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::check_short_text;

/// Replace the retention policy of the workspace, of one source or of one repository, and tell what it would expire now.
/// Nothing is removed: a policy only makes plans.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SetRetention {
    /// Workspace of the policy; absent: the current one.
    workspace_id: Option<String>,
    /// Only for memories of this source.
    source: Option<String>,
    /// Only for files of this repository.
    repo: Option<String>,
    /// Expire what is older: `90d`, `24h`, or milliseconds.
    #[schemars(with = "Option<DurationMs>")]
    max_age: Option<Written>,
    /// Expire all but so many newest of each source and repository.
    #[schemars(with = "Option<i64>")]
    max_count: Option<Written>,
    /// Expire what is so many source versions behind the newest.
    #[schemars(with = "Option<i64>")]
    max_version_gap: Option<Written>,
    /// Keep so many newest in any case (0).
    #[schemars(with = "Option<i64>")]
    min_keep: Option<Written>,
    /// Keep what is younger in any case (0).
    #[schemars(with = "Option<DurationMs>")]
    keep_within: Option<Written>,
    /// What age is counted from: `ingested_at` (default) or `last_used_at`.
    #[schemars(with = "Option<String>")]
    basis: Option<Written>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RetentionSet {
    pub policy: ShownPolicy,
    /// What was in force for the same target before.
    pub replaces: ShownPolicy,
    pub would_expire: WouldExpire,
}

/// What all policies of the workspace together would expire now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WouldExpire {
    pub memories: i64,
    /// Of the workspace's living memories.
    pub fraction: f64,
    /// How many of them were used in the last 30 days.
    pub recently_used: i64,
}

impl Operation for SetRetention {
    const NAME: &'static str = "set_retention";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = true;
    type Response = RetentionSet;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RetentionSet, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let target = target(self.source, self.repo)?;
        let fields = [
            ("max_age", self.max_age),
            ("max_count", self.max_count),
            ("max_version_gap", self.max_version_gap),
            ("min_keep", self.min_keep),
            ("keep_within", self.keep_within),
            ("basis", self.basis),
        ];
        let given = fields.into_iter().filter_map(|(field, value)| value.map(|value| (field, value)));
        let policy = RetentionPolicy::from_fields(given).map_err(|error| ServiceError::invalid(error.to_string()))?;
        let configured = service.settings.gc.retention_of(&workspace.id);
        service.flush_uses()?;
        let (replaced, found) =
            service.store.set_retention(&workspace, &target, policy, configured, service.stamp(caller))?;
        Ok(RetentionSet {
            policy: (&policy).into(),
            replaces: (&replaced).into(),
            would_expire: WouldExpire {
                memories: found.expired,
                fraction: if found.memories == 0 { 0.0 } else { found.expired as f64 / found.memories as f64 },
                recently_used: found.recently_used,
            },
        })
    }
}

/// Show the retention policy in force, and where it comes from.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetRetention {
    /// Workspace of the policy; absent: the current one.
    workspace_id: Option<String>,
    /// In force for memories of this source.
    source: Option<String>,
    /// In force for files of this repository.
    repo: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RetentionAnswer {
    pub policy: ShownPolicy,
    /// The nearest that has one: `repo`, `source`, `workspace` or `configuration`.
    pub origin: PolicyOrigin,
}

impl Operation for GetRetention {
    const NAME: &'static str = "get_retention";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = RetentionAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RetentionAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let configured = service.settings.gc.retention_of(&workspace.id);
        let policies = service.store.policies(&workspace, configured)?;
        // Indexed files have one source: naming a repository names it too.
        let source = self.source.as_deref().or(self.repo.as_ref().map(|_| CODE_SOURCE));
        let (policy, origin) = policies.of(source, self.repo.as_deref());
        Ok(RetentionAnswer { policy: (&policy).into(), origin })
    }
}

fn target(source: Option<String>, repo: Option<String>) -> Result<RetentionTarget, ServiceError> {
    for (field, name) in [("source", &source), ("repo", &repo)] {
        let Some(name) = name else { continue };
        check_short_text(field, name, NAME_CHARS_MAX)?;
        if name.trim().is_empty() {
            return Err(ServiceError::invalid(format!("`{field}` is blank; leave it out for the whole workspace")));
        }
    }
    match (source, repo) {
        (None, None) => Ok(RetentionTarget::Workspace),
        (Some(source), None) => Ok(RetentionTarget::Source(source)),
        (None, Some(repo)) => Ok(RetentionTarget::Repo(repo)),
        (Some(_), Some(_)) => Err(ServiceError::invalid("`source` and `repo` are given; a policy is for one of them")),
    }
}
