//! What leaves a window: analysis, pruning, pins and settings.

use std::collections::BTreeMap;

use rootset_gc::context::Weights;
use rootset_model::{DurationMs, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::context::segment::{SegmentError, UsageAnswer};

/// What is said of each, in the order of the catalogue.
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

/// Say where the tokens of a session are, what may leave and why, and make a plan. Nothing changes.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcAnalyze {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// How many tokens should become free; absent: what brings the window down to its target.
    pub target_tokens: Option<i64>,
    /// How many candidates to list (20).
    pub max_candidates: Option<i64>,
    /// With scores and their parts (true).
    pub include_scores: Option<bool>,
    /// How many of those to list that keep most others within reach (0).
    pub max_retainers: Option<i64>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextAnalysis {
    pub usage: UsageAnswer,
    /// How many segments must stay, by what keeps them.
    pub roots: BTreeMap<String, u64>,
    /// What may leave, in the order in which it should.
    pub candidates: Vec<CandidateAnswer>,
    /// How many there are in all.
    pub candidates_total: usize,
    pub plan: WindowPlanAnswer,
    /// Where asked for: the most retained tokens first.
    pub retainers: Option<Vec<RetainerAnswer>>,
    /// Tokens in the window, by type.
    pub tokens_by_type: BTreeMap<String, u64>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetainerAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: String,
    pub tokens: u32,
    /// Its own tokens and those of all that would be out of reach without it.
    pub retained_tokens: u64,
    /// What keeps it, where it is a root.
    pub root: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CandidateAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: String,
    pub tokens: u32,
    /// From 0 to 1; higher leaves first.
    pub score: Option<f64>,
    /// What the score is made of; each from 0 to 1, higher is more dispensable.
    pub parts: Option<BTreeMap<String, f64>>,
    /// Whether a root leads to it.
    pub reachable: bool,
    pub reason: String,
}

/// Let segments leave the window: by a plan of `context_gc_analyze`, or by name. Stashed ones come back with `context_restore`; deleted ones with `gc_undo`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcPrune {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// What should leave; the other half of a tool call goes along.
    pub segment_ids: Option<Vec<String>>,
    /// Instead: a plan, carried out as previewed.
    pub plan_id: Option<String>,
    /// `auto` (default): as the plan proposes, but stash instead of delete without `confirm`; `stash`; `delete`.
    pub strategy: Option<PruneStrategy>,
    /// Needed to delete (false).
    pub confirm: Option<bool>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PruneStrategy {
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
    /// Handle for `gc_undo`, where something left the window.
    pub run_id: Option<RunId>,
    /// Until when deletions can be undone; a stash always can.
    pub undo_until: Option<Timestamp>,
}

/// Keep segments in the window whatever happens, and what they refer to within reach.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcPin {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    pub segment_ids: Vec<String>,
    /// Why, for whoever wonders later.
    pub reason: Option<String>,
}

/// Let segments leave again when their time comes.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcUnpin {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    pub segment_ids: Vec<String>,
    /// Accepted for symmetry; not stored.
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

/// Set a session's budget and how it is kept; fields left out stay as they are. Answers the settings in force.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGcConfigure {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// What the model's window holds (200,000).
    pub budget_tokens: Option<i64>,
    /// Of that, what is kept free for answers (0).
    pub reserved_tokens: Option<i64>,
    /// Above it, a piece of the oldest part leaves (70).
    pub soft_percent: Option<f64>,
    /// Down to it goes what is above the hard limit (50).
    pub target_percent: Option<f64>,
    /// Above it, everything is judged (90).
    pub hard_percent: Option<f64>,
    /// How much a collection frees at least (10).
    pub min_free_percent: Option<f64>,
    /// `auto` (default) or `advise`: nothing leaves by itself.
    pub mode: Option<ContextMode>,
    /// How many segments from the end always stay (10).
    pub recent_segments: Option<i64>,
    /// How long a decision always stays (1h).
    #[schemars(with = "Option<rootset_model::DurationMs>")]
    pub decision_window: Option<Value>,
    /// After how many steps a message is half as fresh.
    pub half_life_steps: Option<i64>,
    /// After how long a message is half as fresh.
    #[schemars(with = "Option<rootset_model::DurationMs>")]
    pub half_life: Option<Value>,
    /// How much each part of a score counts.
    pub weights: Option<Weights>,
    /// `o200k` (default), `cl100k` or `chars/4`; segments keep the count they were added with.
    pub tokenizer: Option<Tokenizer>,
}

/// What should leave, and what that costs.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WindowPlanAnswer {
    /// Handle for `context_gc_prune`.
    pub plan_id: Option<String>,
    pub expires_at: Option<Timestamp>,
    pub target_tokens: u64,
    pub tokens_freed: u64,
    /// Tokens of the target that roots and pins keep.
    pub shortfall: u64,
    pub stash_segments: Vec<String>,
    /// Stashed for longer than the stash's retention, and out of reach.
    pub delete_segments: Vec<String>,
    /// Reachable, cold and long: `context_compress` with a summary frees more than it loses.
    pub compress_candidates: Vec<String>,
    /// Tokens that a provider's cache of the prompt loses.
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
    /// Characters divided by four: no table to load, and close enough for prose.
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
    /// What should leave is stashed at once.
    #[default]
    Auto,
    /// Nothing leaves by itself; answers carry the plan.
    Advise,
}

/// As answered.
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
