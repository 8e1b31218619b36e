//! What left a window: finding it, bringing it back, summaries, and why a segment is where it is.

use rootset_gc::context::{SegmentState, SegmentType};
use rootset_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::context::segment::{SegmentError, UsageAnswer};

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! context_stash_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        ContextSearchStash => StashResults {
            name: "context_search_stash",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "query": "parser"},
        }
        ContextRestore => ContextRestored {
            name: "context_restore",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "segment_ids": ["s1"]},
        }
        ContextCompress => ContextCompressed {
            name: "context_compress",
            effect: Write,
            is: [in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "segment_id": "s1", "summary": "The parser was fixed."},
        }
        ContextExplain => ContextExplained {
            name: "context_explain",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "segment_id": "s1"},
        }
    } };
}

/// Find what left the window, by words, type, file, tags or time; without words: what left last.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextSearchStash {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    pub query: Option<String>,
    #[serde(rename = "type")]
    pub segment_type: Option<SegmentType>,
    pub file_path: Option<String>,
    /// Tags that all have to be there.
    pub tags: Option<Vec<String>>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    /// In the stash of every session of the workspace (false).
    pub all_sessions: Option<bool>,
    /// How many (10, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StashResults {
    /// Best first.
    pub results: Vec<StashResult>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StashResult {
    pub segment_id: String,
    pub session_id: String,
    #[serde(rename = "type")]
    pub segment_type: SegmentType,
    /// The beginning, at most 200 characters.
    pub preview: String,
    /// Characters of the whole text.
    pub full_length: i64,
    pub tokens: u32,
    pub stashed_at: Timestamp,
    pub reason: Option<String>,
}

/// Bring stashed segments back into their place, or copies of them from another session to the end of this one.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextRestore {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// What to bring back; the other half of a tool call comes along.
    pub segment_ids: Vec<String>,
    /// The session whose stash holds them; absent: this one.
    pub from_session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextRestored {
    /// Also those that were in the window already.
    pub restored: Vec<String>,
    pub errors: Vec<SegmentError>,
    pub usage: UsageAnswer,
}

/// Put a summary of your own in the place of a long segment. The original is stashed and can be restored.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextCompress {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// What the summary stands for; of a tool call and its result, either half.
    pub segment_id: String,
    pub summary: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextCompressed {
    /// Of the summary.
    pub segment_id: String,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub usage: UsageAnswer,
}

/// Say why a segment stays, or why nothing keeps it, and how much hangs on it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextExplain {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    pub segment_id: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextExplained {
    pub segment_id: String,
    pub state: SegmentState,
    /// Whether a root leads to it.
    pub alive: bool,
    /// From a root to it, each referring to the next; empty where none leads there.
    pub path: Vec<String>,
    pub reason: String,
    pub tokens: u32,
    /// Its own tokens and those of all that would be out of reach without it.
    pub retained_tokens: u64,
    /// From 0 to 1; absent for what cannot leave.
    pub score: Option<f64>,
    pub stashed_at: Option<Timestamp>,
    /// When it left, came back or was compressed, and why; newest first, at most twenty.
    pub history: Vec<HistoryEntry>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    pub at: Timestamp,
    pub actor: String,
    /// `stash`, `restore`, `compress` or `delete`.
    pub action: String,
    pub reason: String,
}
