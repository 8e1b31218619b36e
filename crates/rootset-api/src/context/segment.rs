//! Pieces that several context operations share: segments as given and as answered, how full the window is, what left it.

use rootset_gc::context::{Generation, SegmentState, SegmentType};
use rootset_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::context::collector::WindowPlanAnswer;

/// How full the window is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageAnswer {
    pub tokens: u64,
    pub budget_tokens: u64,
    /// The share of the budget in use, without the reserved tokens.
    pub percent: f64,
    /// Whether the window is over budget and nothing may leave.
    pub over_limit: bool,
}

/// Why one of several segments was skipped.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SegmentError {
    pub segment_id: String,
    pub code: String,
    pub message: String,
}

/// A segment with all its attributes, as also exported.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SegmentAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: SegmentType,
    pub text: String,
    pub role: Option<String>,
    pub tool_call_id: Option<String>,
    pub raw: Option<Value>,
    pub tokens: Option<u32>,
    pub state: Option<SegmentState>,
    /// The line shown instead of the text of a stashed segment.
    pub placeholder: Option<String>,
    pub created_at: Option<Timestamp>,
    pub last_touched_at: Option<Timestamp>,
    pub created_step: Option<u64>,
    pub last_touched_step: Option<u64>,
    #[serde(default)]
    pub pinned: bool,
    pub pin_reason: Option<String>,
    #[serde(default)]
    pub invariant: bool,
    pub generation: Option<Generation>,
    pub gc_survival_count: Option<u32>,
    /// The number of references from active segments.
    pub refcount: Option<u32>,
    pub file_path: Option<String>,
    pub line_range: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub topic_id: Option<String>,
    pub task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    pub reply_to: Option<String>,
    pub derived_from: Option<String>,
    pub stashed_at: Option<Timestamp>,
    pub stash_reason: Option<String>,
}

/// One piece of an agent's context.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SegmentInput {
    /// The id, unique in its session; default: a new one. Adding the same id and text again changes nothing.
    pub segment_id: Option<String>,
    /// The type: `message`, `code`, `log`, `note`, `decision` or `summary`.
    #[serde(rename = "type")]
    pub segment_type: SegmentType,
    /// The text of the segment.
    #[serde(alias = "context", alias = "content")]
    pub text: String,
    /// The role: `system`, `user`, `assistant` or `tool`.
    pub role: Option<String>,
    /// The id shared by a tool call and its result: they leave and return together.
    pub tool_call_id: Option<String>,
    /// The caller's own message block, returned unchanged.
    pub raw: Option<Value>,
    /// The file that the segment shows.
    pub file_path: Option<String>,
    /// The first and last line shown, both included.
    pub line_range: Option<(u32, u32)>,
    /// Labels to filter by.
    pub tags: Option<Vec<String>>,
    /// The topic it belongs to.
    pub topic_id: Option<String>,
    /// The task it belongs to; see `context_set_focus`.
    pub task_id: Option<String>,
    /// The ids of segments it refers to, which may be added later.
    pub references: Option<Vec<String>>,
    /// The id of the segment it answers.
    pub reply_to: Option<String>,
    /// The id of the segment it was made from.
    pub derived_from: Option<String>,
    /// Whether to keep the segment in the window.
    pub pinned: Option<bool>,
    /// Whether this is a rule for the whole session: a root that no plan removes.
    pub invariant: Option<bool>,
}

impl SegmentInput {
    /// A segment with nothing but its text.
    pub fn new(segment_type: SegmentType, text: String) -> Self {
        Self {
            segment_id: None,
            segment_type,
            text,
            role: None,
            tool_call_id: None,
            raw: None,
            file_path: None,
            line_range: None,
            tags: None,
            topic_id: None,
            task_id: None,
            references: None,
            reply_to: None,
            derived_from: None,
            pinned: None,
            invariant: None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RenderFormat {
    #[default]
    Segments,
    Anthropic,
    OpenAi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ran {
    None,
    /// Above the soft limit: at least the smallest amount left, from the oldest part that has it.
    Step,
    /// Above the hard limit: down to the target.
    Full,
}

/// The segments that left because of an addition.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GcAnswer {
    pub ran: Ran,
    /// The segments that left; `context_restore` brings them back by id.
    pub stashed: Vec<StashedAnswer>,
    pub tokens_freed: u64,
    /// The segments that should leave, in the mode `advise`.
    pub plan: Option<WindowPlanAnswer>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StashedAnswer {
    pub segment_id: String,
    pub tokens: u32,
    pub reason: String,
}

/// What the agent works on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FocusInput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_file: Option<String>,
    /// The first and last line, both included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_range: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_files: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_files: Vec<String>,
    /// The files with breakpoints: `path` or `path:line`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breakpoints: Vec<String>,
}
