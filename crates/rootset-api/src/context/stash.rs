//! What left a window: finding it, restoring it, summaries, and why a segment is where it is.

use rootset_gc::context::{SegmentState, SegmentType};
use rootset_model::{Past, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::context::segment::{SegmentError, UsageAnswer};

/// One row per operation, in the order of the catalogue.
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
        ContextRecall => Recalled {
            name: "context_recall",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Core, Context],
            example: {"query": "parser"},
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
            is: [in_workspace, bulky],
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

/// Find segments that left the window, by words, type, file, tags or time. Without words, the last to leave come first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextSearchStash {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// Words to look for.
    pub query: Option<String>,
    /// The type of the segments.
    #[serde(rename = "type")]
    pub segment_type: Option<SegmentType>,
    /// The file that the segments show.
    pub file_path: Option<String>,
    /// Tags that must all be present.
    pub tags: Option<Vec<String>>,
    /// The earliest creation time.
    pub created_after: Option<Past>,
    /// The latest creation time.
    pub created_before: Option<Past>,
    /// Search the stash of every session in the workspace (false).
    pub all_sessions: Option<bool>,
    /// The number of results (10, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StashResults {
    /// The results, best first.
    pub results: Vec<StashResult>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StashResult {
    pub segment_id: String,
    pub session_id: String,
    #[serde(rename = "type")]
    pub segment_type: SegmentType,
    /// The beginning of the text, at most 200 characters.
    pub preview: String,
    /// The number of characters of the whole text.
    pub full_length: i64,
    pub tokens: u32,
    pub stashed_at: Timestamp,
    pub reason: Option<String>,
}

/// Read what left your window in full, by ids or by its words.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextRecall {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// Ids from an earlier answer.
    pub ids: Option<Vec<String>>,
    /// Words to look for.
    pub query: Option<String>,
    /// Only these lines, such as `10-80`.
    pub lines: Option<String>,
    /// The limit of the answer (2000).
    #[schemars(extend("x-rare" = true))]
    pub max_tokens: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Recalled {
    /// The texts, best first.
    pub results: Vec<RecalledText>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecalledText {
    pub id: String,
    pub text: String,
    /// The number of lines of the whole text, if it was cut.
    pub full_lines: Option<usize>,
}

/// Return stashed segments to their place, or copy them from another session to the end of this one.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextRestore {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The segments to restore; a tool call returns with its result.
    pub segment_ids: Vec<String>,
    /// The session whose stash holds the segments; default: this one.
    pub from_session_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextRestored {
    /// The segments now in the window, including those that already were.
    pub restored: Vec<String>,
    pub errors: Vec<SegmentError>,
    pub usage: UsageAnswer,
}

/// Replace a long segment with your own summary. The original is stashed and can be restored.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextCompress {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The segment to replace; for a tool call and its result, either of them.
    pub segment_id: String,
    /// The text of the summary.
    pub summary: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextCompressed {
    /// The id of the summary.
    pub segment_id: String,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub usage: UsageAnswer,
}

/// Explain why a segment stays or may leave, and how many tokens depend on it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextExplain {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The id of the segment.
    pub segment_id: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextExplained {
    pub segment_id: String,
    pub state: SegmentState,
    /// Whether the segment is reachable from a root.
    pub alive: bool,
    /// The path from a root to the segment; empty if there is none.
    pub path: Vec<String>,
    pub reason: String,
    pub tokens: u32,
    /// The tokens of the segment and of everything reachable only through it.
    pub retained_tokens: u64,
    /// The score from 0 to 1; absent if the segment cannot leave.
    pub score: Option<f64>,
    pub stashed_at: Option<Timestamp>,
    /// When and why the segment left, returned or was compressed; newest first, at most 20.
    pub history: Vec<HistoryEntry>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
    pub at: Timestamp,
    pub actor: String,
    /// The action: `stash`, `restore`, `compress` or `delete`.
    pub action: String,
    pub reason: String,
}
