//! What is garbage, as the specification says it: one memory at a time, everything counted anew.

use serde_json::{Value, json};

use super::{Item, Memory, OrphanKind, Workspace};
use crate::harness::DAY_MS;

const SUPERSEDED_KEPT_MS: i64 = 30 * DAY_MS;

/// Why a plan names a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Somebody named it, or asked for its words.
    Asked,
    Stale,
    /// By its own date, or by the policy.
    Expired,
    Superseded,
}

/// What a policy is for; the nearest wins as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    Workspace,
    Source(&'static str),
    Repo(&'static str),
}

/// Durations in days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub max_age: Option<i64>,
    pub max_count: Option<i64>,
    pub max_version_gap: Option<i64>,
    pub min_keep: i64,
    pub keep_within: i64,
    pub is_by_use: bool,
}

impl Policy {
    pub fn has_rules(&self) -> bool {
        self.max_age.is_some() || self.max_count.is_some() || self.max_version_gap.is_some()
    }

    /// As it is written in requests and shown in answers: only what is not the default.
    pub fn shown(&self) -> Value {
        let days = |count: i64| json!(format!("{count}d"));
        let fields = [
            ("max_age", self.max_age.map(days)),
            ("max_count", self.max_count.map(Value::from)),
            ("max_version_gap", self.max_version_gap.map(Value::from)),
            ("min_keep", Some(self.min_keep).filter(|count| *count > 0).map(Value::from)),
            ("keep_within", Some(self.keep_within).filter(|count| *count > 0).map(days)),
            ("basis", self.is_by_use.then(|| json!("last_used_at"))),
        ];
        fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
    }

    fn stamp(&self, memory: &Memory) -> i64 {
        if self.is_by_use { memory.last_used_at.unwrap_or(memory.ingested_at) } else { memory.ingested_at }
    }

    /// A stamp that says when: neither negative nor in the future.
    fn valid_stamp(&self, memory: &Memory, now: i64) -> Option<i64> {
        Some(self.stamp(memory)).filter(|stamp| (0..=now).contains(stamp))
    }
}

impl Workspace {
    pub fn policy_of(&self, source: Option<&'static str>, repo: Option<&'static str>) -> Policy {
        let targets = [repo.map(Target::Repo), source.map(Target::Source), Some(Target::Workspace)];
        let nearest = targets.into_iter().flatten().find_map(|target| self.policies.get(&target));
        nearest.copied().unwrap_or_default()
    }

    /// Items of a plan by these strategies: memories newest first, then derived rows.
    pub fn garbage(&self, strategies: &[&str], now: i64) -> Vec<Item> {
        let mut memories: Vec<&Memory> = self.live().collect();
        memories.sort_by(|a, b| b.id.cmp(&a.id));
        let memories = memories.into_iter().filter_map(|it| {
            let why = self.why_garbage(it, strategies, now)?;
            Some(Item::Memory { id: it.id.clone(), version: it.version, why })
        });
        let orphans = self.orphans.iter().filter(|orphan| match orphan.kind {
            OrphanKind::Chunk => selects(strategies, "orphaned_chunks"),
            OrphanKind::Relation | OrphanKind::Entity => selects(strategies, "orphaned_entities"),
        });
        memories.chain(orphans.cloned().map(Item::Orphan)).collect()
    }

    /// The reason of the first strategy that selects the memory.
    pub fn why_garbage(&self, memory: &Memory, strategies: &[&str], now: i64) -> Option<Why> {
        if !memory.is_live() || memory.is_pinned {
            return None;
        }
        let has_run_out = memory.expires_at.is_some_and(|at| at <= now);
        let is_long_superseded = self.is_superseded(memory) && now - memory.superseded_at > SUPERSEDED_KEPT_MS;
        if selects(strategies, "stale_code") && memory.is_stale() {
            Some(Why::Stale)
        } else if selects(strategies, "expired") && (has_run_out || self.is_expired_by_policy(memory, now)) {
            Some(Why::Expired)
        } else if selects(strategies, "superseded") && is_long_superseded {
            Some(Why::Superseded)
        } else {
            None
        }
    }

    pub fn is_expired_by_policy(&self, memory: &Memory, now: i64) -> bool {
        let policy = self.policy_of(Some(memory.source), memory.repo);
        let may_expire = |it: &Memory| {
            let is_in_last_scan = it.repo.is_some() && it.stale_at.is_none();
            it.is_live() && !it.is_pinned && !is_in_last_scan && policy.valid_stamp(it, now).is_some()
        };
        if !policy.has_rules() || !may_expire(memory) {
            return false;
        }
        let stamp = policy.stamp(memory);
        let bucket = || self.live().filter(|it| (it.source, it.repo) == (memory.source, memory.repo));
        let is_before = |it: &Memory| {
            let other = policy.stamp(it);
            other > stamp || (other == stamp && it.id < memory.id)
        };
        let rank = bucket().filter(|it| may_expire(it) && is_before(it)).count() as i64;
        let dated = bucket().filter(|it| policy.valid_stamp(it, now).is_some());
        let newest_version = dated.filter_map(|it| it.source_version).max();
        let gap = newest_version.zip(memory.source_version).map(|(newest, own)| newest - own);
        let age = now - stamp;
        let is_kept = age < policy.keep_within * DAY_MS || rank < policy.min_keep;
        let is_condemned = policy.max_age.is_some_and(|days| age > days * DAY_MS)
            || policy.max_count.is_some_and(|count| rank >= count)
            || policy.max_version_gap.zip(gap).is_some_and(|(max, gap)| gap >= max);
        is_condemned && !is_kept
    }
}

fn selects(strategies: &[&str], name: &str) -> bool {
    strategies.iter().any(|strategy| *strategy == name || *strategy == "all")
}
