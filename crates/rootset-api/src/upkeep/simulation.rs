//! What policies of retention would expire on the days to come.

use rootset_model::{DurationMs, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// What all policies of the workspace would expire on the coming days, if nothing were written or used meanwhile. Expired
/// memories leave on their day. Dates of single memories (`expires_at`) are not part of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetentionSimulation {
    /// How far ahead it looks.
    pub horizon: DurationMs,
    /// The days on which something would expire.
    pub days: Vec<SimulatedDay>,
    pub total: SimulatedTotal,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedDay {
    /// The number of days from now; 0 is now.
    pub day: u32,
    pub at: Timestamp,
    pub memories: i64,
    /// The number of them used in the 30 days before now.
    pub recently_used: i64,
    /// By source and repository, most first, at most 20.
    pub by_source: Vec<SimulatedSource>,
    /// The number of further sources, which are not listed.
    pub more_sources: Option<usize>,
}

/// What would expire on all of these days together.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedTotal {
    pub memories: i64,
    /// The share of the workspace's living memories.
    pub fraction: f64,
    /// The number of them used in the 30 days before now.
    pub recently_used: i64,
    /// By source and repository, most first, at most 20.
    pub by_source: Vec<SimulatedSource>,
    /// The number of further sources, which are not listed.
    pub more_sources: Option<usize>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedSource {
    pub source: String,
    /// The repository of indexed files.
    pub repo: Option<String>,
    pub memories: i64,
    pub recently_used: i64,
}
