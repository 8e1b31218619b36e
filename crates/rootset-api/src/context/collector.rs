//! What leaves a window: analysis, pruning, pins and settings.

use std::collections::BTreeMap;

use rootset_gc::context::Weights;
use rootset_model::{DurationMs, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::context::segment::{SegmentError, UsageAnswer};

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! context_collector_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        ContextGcAnalyze => ContextAnalysis {
            name: "context_gc_analyze",
            effect: Write,
            is: [in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "target_tokens": 20000},
        }
        ContextGcPrune => ContextPruned {
            name: "context_gc_prune",
            effect: Destroy,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "plan_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11"},
        }
        ContextGcPin => ContextPinned {
            name: "context_gc_pin",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "segment_ids": ["s1"], "reason": "the task"},
        }
        ContextGcUnpin => ContextUnpinned {
            name: "context_gc_unpin",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "segment_ids": ["s1"]},
        }
        ContextGcConfigure => SettingsInForce {
            name: "context_gc_configure",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "budget_tokens": 100000, "mode": "advise"},
        }
    } };
}

/// Show how a session uses its tokens, what may leave and why, and make a plan. Nothing changes.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcAnalyze {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The number of tokens to free; default: enough to reach the window's target.
    pub target_tokens: Option<i64>,
    /// The number of candidates to list (20).
    pub max_candidates: Option<i64>,
    /// Show scores and their parts (true).
    pub include_scores: Option<bool>,
    /// The number of segments to list that keep the most tokens reachable (0).
    pub max_retainers: Option<i64>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextAnalysis {
    pub usage: UsageAnswer,
    /// The number of segments that must stay, by what keeps them.
    pub roots: BTreeMap<String, u64>,
    /// The segments that may leave, in the order in which they should.
    pub candidates: Vec<CandidateAnswer>,
    /// The total number of candidates.
    pub candidates_total: usize,
    pub plan: WindowPlanAnswer,
    /// The segments that retain the most tokens, if requested.
    pub retainers: Option<Vec<RetainerAnswer>>,
    /// The number of tokens in the window, by type.
    pub tokens_by_type: BTreeMap<String, u64>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetainerAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: String,
    pub tokens: u32,
    /// The tokens of the segment and of everything reachable only through it.
    pub retained_tokens: u64,
    /// What makes the segment a root, if it is one.
    pub root: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CandidateAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: String,
    pub tokens: u32,
    /// The score from 0 to 1; higher leaves first.
    pub score: Option<f64>,
    /// The parts of the score, each from 0 to 1; higher is more dispensable.
    pub parts: Option<BTreeMap<String, f64>>,
    /// Whether the segment is reachable from a root.
    pub reachable: bool,
    pub reason: String,
}

/// Remove segments from the window, by a plan from `context_gc_analyze` or by id. `context_restore` brings back stashed segments; `gc_undo` brings back deleted ones.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcPrune {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The segments to remove; a tool call leaves with its result.
    pub segment_ids: Option<Vec<String>>,
    /// The plan to carry out as previewed, instead of `segment_ids`.
    pub plan_id: Option<String>,
    /// The strategy: `auto` (default) follows the plan but stashes instead of deleting without `confirm`; `stash`; `delete`.
    pub strategy: Option<PruneMode>,
    /// Required to delete (false).
    pub confirm: Option<bool>,
    /// Create a verified backup first (false).
    pub backup: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PruneMode {
    #[default]
    Auto,
    Stash,
    Delete,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextPruned {
    pub stashed: Vec<String>,
    pub deleted: Vec<String>,
    pub errors: Vec<SegmentError>,
    pub tokens_freed: u64,
    pub usage_before: UsageAnswer,
    pub usage_after: UsageAnswer,
    /// The id to give to `gc_undo`, if something left the window.
    pub run_id: Option<RunId>,
    /// When deletions can no longer be undone; a stash can always be undone.
    pub undo_until: Option<Timestamp>,
}

/// Keep segments in the window, and what they refer to reachable.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcPin {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The ids of the segments.
    pub segment_ids: Vec<String>,
    /// The reason for the pin, for later readers.
    pub reason: Option<String>,
}

/// Remove the pin, so that segments may leave the window again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcUnpin {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The ids of the segments.
    pub segment_ids: Vec<String>,
    /// The reason; accepted for symmetry, not stored.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextPinned {
    pub pinned: Vec<String>,
    pub errors: Vec<SegmentError>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextUnpinned {
    pub unpinned: Vec<String>,
    pub errors: Vec<SegmentError>,
}

/// Set the budget of a session and how it is enforced. Omitted fields stay as they are. Returns the settings in force.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcConfigure {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The number of tokens in the model's window (200,000).
    pub budget_tokens: Option<i64>,
    /// The part of the budget kept free for answers (0).
    pub reserved_tokens: Option<i64>,
    /// The soft limit: above it, some of the oldest segments leave (70).
    pub soft_percent: Option<f64>,
    /// The target: above the hard limit, segments leave down to it (50).
    pub target_percent: Option<f64>,
    /// The hard limit: above it, every segment is considered (90).
    pub hard_percent: Option<f64>,
    /// The least that a collection frees (10).
    pub min_free_percent: Option<f64>,
    /// The mode: `auto` (default), or `advise`, where nothing leaves automatically.
    pub mode: Option<ContextMode>,
    /// The number of newest segments that always stay (10).
    pub recent_segments: Option<i64>,
    /// How long a decision always stays (1h).
    #[schemars(with = "Option<rootset_model::DurationMs>")]
    pub decision_window: Option<Value>,
    /// The number of steps after which a message counts as half as fresh.
    pub half_life_steps: Option<i64>,
    /// The time after which a message counts as half as fresh.
    #[schemars(with = "Option<rootset_model::DurationMs>")]
    pub half_life: Option<Value>,
    /// The weight of each part of a score.
    pub weights: Option<Weights>,
    /// The tokenizer: `o200k` (default), `cl100k` or `chars/4`. Existing segments keep their counts.
    pub tokenizer: Option<Tokenizer>,
}

/// The segments that should leave, and what that costs.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WindowPlanAnswer {
    /// The id to give to `context_gc_prune`.
    pub plan_id: Option<String>,
    pub expires_at: Option<Timestamp>,
    pub target_tokens: u64,
    pub tokens_freed: u64,
    /// The tokens short of the target, because roots and pins keep them.
    pub shortfall: u64,
    pub stash_segments: Vec<String>,
    /// The unreachable segments stashed for longer than the stash's retention.
    pub delete_segments: Vec<String>,
    /// The long, cold segments that are reachable; shorten them with `context_compress`.
    pub compress_candidates: Vec<String>,
    /// The number of tokens that the provider's prompt cache loses.
    pub cache_tokens_lost: u64,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Tokenizer {
    #[default]
    #[serde(rename = "o200k")]
    O200k,
    #[serde(rename = "cl100k")]
    Cl100k,
    /// The number of characters divided by four: needs no table, and is close enough for prose.
    #[serde(rename = "chars/4")]
    CharsBy4,
}

impl Tokenizer {
    pub const ALL: [Self; 3] = [Self::O200k, Self::Cl100k, Self::CharsBy4];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::CharsBy4 => "chars/4",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// Segments that should leave are stashed at once.
    #[default]
    Auto,
    /// Nothing leaves automatically; answers contain the plan.
    Advise,
}

/// The settings of a session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettingsInForce {
    pub session_id: String,
    pub budget_tokens: u64,
    pub reserved_tokens: u64,
    pub soft_percent: f64,
    pub target_percent: f64,
    pub hard_percent: f64,
    pub min_free_percent: f64,
    pub mode: ContextMode,
    pub recent_segments: usize,
    pub decision_window: DurationMs,
    pub half_life_steps: u32,
    pub half_life: DurationMs,
    pub weights: Weights,
    pub tokenizer: Tokenizer,
}
