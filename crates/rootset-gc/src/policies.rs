//! Which policy of retention is in force for a bucket, and where it comes from.

use std::collections::BTreeMap;

use rootset_model::RetentionPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every policy that concerns one workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Policies {
    pub repos: BTreeMap<String, StoredPolicy>,
    pub tags: BTreeMap<String, StoredPolicy>,
    pub sources: BTreeMap<String, StoredPolicy>,
    pub workspace: Option<StoredPolicy>,
    /// What the configuration file says where the database says nothing.
    pub configured: RetentionPolicy,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoredPolicy {
    pub policy: RetentionPolicy,
    /// How many memories it was said to expire when it was set: an effect that somebody has seen.
    pub shown: Option<i64>,
}

/// Where a policy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyOrigin {
    /// Stored for the repository.
    Repo,
    /// Stored for a tag.
    Tag,
    /// Stored for the source.
    Source,
    /// Stored for the workspace.
    Workspace,
    /// The configuration file; without one, its defaults.
    Configuration,
}

impl Policies {
    /// The nearest policy wins as a whole: rules of several are never mixed. Of a memory's tags, `tag` is the one that
    /// decides, see [`Self::deciding_tag`].
    pub fn of(&self, source: Option<&str>, repo: Option<&str>, tag: Option<&str>) -> (RetentionPolicy, PolicyOrigin) {
        if let Some(stored) = repo.and_then(|repo| self.repos.get(repo)) {
            (stored.policy, PolicyOrigin::Repo)
        } else if let Some(stored) = tag.and_then(|tag| self.tags.get(tag)) {
            (stored.policy, PolicyOrigin::Tag)
        } else if let Some(stored) = source.and_then(|source| self.sources.get(source)) {
            (stored.policy, PolicyOrigin::Source)
        } else if let Some(stored) = self.workspace {
            (stored.policy, PolicyOrigin::Workspace)
        } else {
            (self.configured, PolicyOrigin::Configuration)
        }
    }

    /// Of several tags with a policy, the one whose policy keeps longest; of equals, the first by name.
    pub fn deciding_tag<'a>(&'a self, tags: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        let known = tags.into_iter().filter_map(|tag| self.tags.get_key_value(tag));
        let keeps = |policy: &RetentionPolicy| {
            let no_rules = policy.is_empty();
            let longest = |limit: Option<i64>| limit.unwrap_or(i64::MAX);
            let (age, count) = (longest(policy.max_age_ms), longest(policy.max_count));
            (no_rules, age, count, longest(policy.max_version_gap), policy.keep_within_ms, policy.min_keep)
        };
        let longest = known.max_by(|(a_name, a), (b_name, b)| {
            keeps(&a.policy).cmp(&keeps(&b.policy)).then_with(|| b_name.cmp(a_name))
        });
        longest.map(|(name, _)| name.as_str())
    }

    /// Whether any of them could expire anything.
    pub fn have_rules(&self) -> bool {
        self.all().any(|policy| !policy.is_empty())
    }

    pub fn all(&self) -> impl Iterator<Item = &RetentionPolicy> {
        self.stored().map(|stored| &stored.policy).chain([&self.configured])
    }

    fn stored(&self) -> impl Iterator<Item = &StoredPolicy> {
        self.repos.values().chain(self.tags.values()).chain(self.sources.values()).chain(&self.workspace)
    }

    /// How many memories of a source somebody has been told would go; `None` where a policy that may expire some of them
    /// was never shown to anybody.
    pub fn shown_of(&self, source: &str, repos: &[&str]) -> Option<i64> {
        let base = match (self.sources.get(source), self.workspace) {
            (Some(stored), _) => *stored,
            (None, Some(stored)) => stored,
            (None, None) => StoredPolicy { policy: self.configured, shown: None },
        };
        let of_repos = repos.iter().filter_map(|repo| self.repos.get(*repo));
        let concerned = of_repos.chain(self.tags.values()).copied().chain([base]);
        concerned.filter(|it| !it.policy.is_empty()).try_fold(0, |most: i64, it| Some(most.max(it.shown?)))
    }

    /// The policies that decide about a source, as one word: equal as long as none of them changes.
    pub fn digest_of(&self, source: &str) -> String {
        let (base, _) = self.of(Some(source), None, None);
        let policies = |stored: &BTreeMap<String, StoredPolicy>| -> BTreeMap<String, RetentionPolicy> {
            stored.iter().map(|(name, it)| (name.clone(), it.policy)).collect()
        };
        let all = (base, policies(&self.tags), policies(&self.repos));
        let json = serde_json::to_vec(&all).expect("numbers always serialise");
        blake3::hash(&json).to_hex()[..16].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(count: i64) -> RetentionPolicy {
        RetentionPolicy { max_count: Some(count), ..RetentionPolicy::default() }
    }

    fn stored(count: i64) -> StoredPolicy {
        StoredPolicy { policy: counted(count), shown: None }
    }

    #[test]
    fn the_nearest_policy_wins_as_a_whole() {
        let policies = Policies {
            repos: BTreeMap::from([("web".into(), stored(1))]),
            tags: BTreeMap::from([("log".into(), stored(5))]),
            sources: BTreeMap::from([("agent".into(), stored(2))]),
            workspace: None,
            configured: counted(4),
        };
        assert_eq!(policies.of(Some("agent"), Some("web"), Some("log")), (counted(1), PolicyOrigin::Repo));
        assert_eq!(policies.of(Some("agent"), None, Some("log")), (counted(5), PolicyOrigin::Tag));
        assert_eq!(policies.of(Some("agent"), Some("other"), None), (counted(2), PolicyOrigin::Source));
        assert_eq!(policies.of(Some("user"), None, Some("other")), (counted(4), PolicyOrigin::Configuration));
        let policies = Policies { workspace: Some(StoredPolicy::default()), ..policies };
        assert_eq!(policies.of(Some("user"), None, None), (RetentionPolicy::default(), PolicyOrigin::Workspace));
    }

    #[test]
    fn of_several_tags_the_one_that_keeps_longest_decides() {
        let aged = |days: i64| StoredPolicy {
            policy: RetentionPolicy { max_age_ms: Some(days), ..RetentionPolicy::default() },
            shown: None,
        };
        let tags = [("short", aged(1)), ("long", aged(9)), ("also-long", aged(9)), ("kept", StoredPolicy::default())];
        let tags = tags.into_iter().map(|(name, policy)| (name.to_owned(), policy)).collect();
        let policies = Policies { tags, ..Policies::default() };
        assert_eq!(policies.deciding_tag(["short", "long", "unknown"]), Some("long"));
        assert_eq!(policies.deciding_tag(["long", "also-long"]), Some("also-long"));
        assert_eq!(policies.deciding_tag(["long", "kept"]), Some("kept"));
        assert_eq!(policies.deciding_tag(["unknown"]), None);
    }

    #[test]
    fn an_effect_was_seen_only_if_every_policy_with_rules_was_shown() {
        let shown = |policy: StoredPolicy, count| StoredPolicy { shown: Some(count), ..policy };
        let configured = Policies { configured: counted(4), ..Policies::default() };
        assert_eq!(configured.shown_of("user", &[]), None);
        let set = Policies { workspace: Some(shown(stored(3), 7)), ..configured.clone() };
        assert_eq!(set.shown_of("user", &[]), Some(7));
        let tagged = Policies { tags: BTreeMap::from([("log".into(), stored(5))]), ..set.clone() };
        assert_eq!(tagged.shown_of("user", &[]), None);
        let tagged = Policies { tags: BTreeMap::from([("log".into(), shown(stored(5), 9))]), ..set };
        assert_eq!(tagged.shown_of("user", &[]), Some(9));
        assert_ne!(tagged.digest_of("user"), configured.digest_of("user"));
    }
}
