//! Which policy of retention is in force for a bucket, and where it comes from.

use std::collections::BTreeMap;

use rootset_model::RetentionPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every policy that concerns one workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    pub repos: BTreeMap<String, RetentionPolicy>,
    pub sources: BTreeMap<String, RetentionPolicy>,
    pub workspace: Option<RetentionPolicy>,
    /// What the configuration file says where the database says nothing.
    pub configured: RetentionPolicy,
}

/// Where a policy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyOrigin {
    /// Stored for the repository.
    Repo,
    /// Stored for the source.
    Source,
    /// Stored for the workspace.
    Workspace,
    /// The configuration file; without one, its defaults.
    Configuration,
}

impl Policies {
    /// The nearest policy wins as a whole: rules of several are never mixed.
    pub fn of(&self, source: Option<&str>, repo: Option<&str>) -> (RetentionPolicy, PolicyOrigin) {
        if let Some(policy) = repo.and_then(|repo| self.repos.get(repo)) {
            (*policy, PolicyOrigin::Repo)
        } else if let Some(policy) = source.and_then(|source| self.sources.get(source)) {
            (*policy, PolicyOrigin::Source)
        } else if let Some(policy) = self.workspace {
            (policy, PolicyOrigin::Workspace)
        } else {
            (self.configured, PolicyOrigin::Configuration)
        }
    }

    /// Whether any of them could expire anything.
    pub fn have_rules(&self) -> bool {
        let stored = self.repos.values().chain(self.sources.values()).chain(&self.workspace);
        stored.chain([&self.configured]).any(|policy| !policy.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_policy_wins_as_a_whole() {
        let counted = |count| RetentionPolicy { max_count: Some(count), ..RetentionPolicy::default() };
        let policies = Policies {
            repos: BTreeMap::from([("web".into(), counted(1))]),
            sources: BTreeMap::from([("agent".into(), counted(2))]),
            workspace: None,
            configured: counted(4),
        };
        assert_eq!(policies.of(Some("agent"), Some("web")), (counted(1), PolicyOrigin::Repo));
        assert_eq!(policies.of(Some("agent"), Some("other")), (counted(2), PolicyOrigin::Source));
        assert_eq!(policies.of(Some("user"), None), (counted(4), PolicyOrigin::Configuration));
        let policies = Policies { workspace: Some(RetentionPolicy::default()), ..policies };
        assert_eq!(policies.of(Some("user"), None), (RetentionPolicy::default(), PolicyOrigin::Workspace));
    }
}
