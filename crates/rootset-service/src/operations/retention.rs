//! `set_retention` and `get_retention`.

mod simulation;

use std::sync::Arc;

use rootset_api::{GetRetention, RetentionAnswer, RetentionSet, SetRetention, WouldExpire};
use rootset_model::RetentionPolicy;
use rootset_model::limits::NAME_CHARS_MAX;
use rootset_model::names::CODE_SOURCE;
use rootset_store::{Findings, RetentionTarget};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::check_short_text;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for SetRetention {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RetentionSet, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let target = target(self.source, self.repo, self.tag)?;
        let days = simulation::days(self.dry_run, self.horizon.as_ref())?;
        let fields = [
            ("max_age", self.max_age),
            ("max_count", self.max_count),
            ("max_version_gap", self.max_version_gap),
            ("min_keep", self.min_keep),
            ("keep_within", self.keep_within),
            ("basis", self.basis),
            ("may_empty", self.may_empty),
            ("final", self.is_final),
        ];
        let given = fields.into_iter().filter_map(|(field, value)| value.map(|value| (field, value)));
        let policy = RetentionPolicy::from_fields(given).map_err(|error| ServiceError::invalid(error.to_string()))?;
        let configured = service.settings.gc.retention_of(&workspace);
        service.flush_uses()?;
        let (replaced, found, simulation) = match days {
            Some(days) => {
                let now = service.now();
                let simulated = service.store.simulate_retention(&workspace, &target, policy, configured, days, now)?;
                (simulated.replaced, simulated.now, Some(simulation::answer(&simulated, days, now)))
            }
            None => {
                let stamp = service.stamp(caller);
                let (replaced, found) = service.store.set_retention(&workspace, &target, policy, configured, stamp)?;
                (replaced, found, None)
            }
        };
        Ok(RetentionSet {
            policy: (&policy).into(),
            replaces: (&replaced).into(),
            would_expire: would_expire(found),
            simulation,
        })
    }
}

fn would_expire(found: Findings) -> WouldExpire {
    WouldExpire {
        memories: found.expired,
        fraction: fraction(found.expired, found.memories),
        recently_used: found.recently_used,
    }
}

/// The share of the workspace's memories; nothing of nothing is nothing.
fn fraction(part: i64, memories: i64) -> f64 {
    if memories == 0 { 0.0 } else { part as f64 / memories as f64 }
}

impl Operation for GetRetention {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RetentionAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let configured = service.settings.gc.retention_of(&workspace);
        let policies = service.store.policies(&workspace, configured)?;
        // Indexed files have one source: naming a repository names it too.
        let source = self.source.as_deref().or(self.repo.as_ref().map(|_| CODE_SOURCE));
        let (policy, origin) = policies.of(source, self.repo.as_deref(), self.tag.as_deref());
        Ok(RetentionAnswer { policy: (&policy).into(), origin })
    }
}

fn target(source: Option<String>, repo: Option<String>, tag: Option<String>) -> Result<RetentionTarget, ServiceError> {
    for (field, name) in [("source", &source), ("repo", &repo), ("tag", &tag)] {
        let Some(name) = name else { continue };
        check_short_text(field, name, NAME_CHARS_MAX)?;
        if name.trim().is_empty() {
            return Err(ServiceError::invalid(format!("`{field}` is blank; omit it for the whole workspace")));
        }
    }
    match (source, repo, tag) {
        (None, None, None) => Ok(RetentionTarget::Workspace),
        (Some(source), None, None) => Ok(RetentionTarget::Source(source)),
        (None, Some(repo), None) => Ok(RetentionTarget::Repo(repo)),
        (None, None, Some(tag)) => Ok(RetentionTarget::Tag(tag)),
        _ => Err(ServiceError::invalid("give only one of `source`, `repo` and `tag`")),
    }
}
