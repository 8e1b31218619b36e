//! A policy of retention: what a workspace keeps, and for how long. Data only: `rootset-gc` decides by it.
//!
//! [`RetentionPolicy`] is stored as it is; people write and read it by [`fields`].

pub mod fields;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Any rule expires a memory, any keep rule keeps it. Without rules, nothing expires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionPolicy {
    pub max_age_ms: Option<i64>,
    pub max_count: Option<i64>,
    pub max_version_gap: Option<i64>,
    /// So many of the newest in each bucket stay, whatever the rules say.
    pub min_keep: i64,
    /// Younger than this is never expired, so that flooding cannot evict.
    pub keep_within_ms: i64,
    pub basis: Basis,
    /// A scheduled round may take the last memory of a source, too.
    pub may_empty: bool,
    /// A legal period: what it expires is noted as erased when it is purged, and no restore serves it again.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// The time that age is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    #[default]
    IngestedAt,
    /// The last use; a memory that was never used counts from its ingestion.
    LastUsedAt,
}

impl RetentionPolicy {
    /// Whether no rule can expire anything.
    pub fn is_empty(&self) -> bool {
        self.max_age_ms.is_none() && self.max_count.is_none() && self.max_version_gap.is_none()
    }
}
