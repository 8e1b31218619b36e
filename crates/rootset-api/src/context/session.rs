//! Context sessions: adding to one, focus, reading, importing, exporting, listing and deleting them.

use rootset_model::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::context::segment::{FocusInput, GcAnswer, RenderFormat, SegmentAnswer, SegmentInput, UsageAnswer};

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! context_session_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        ContextAdd => ContextAdded {
            name: "context_add",
            effect: Write,
            is: [in_workspace, bulky],
            profiles: [Context],
            example: {"session_id": "today", "segments": [{"type": "message", "text": "Please fix the parser.", "role": "user"}]},
        }
        ContextFit => ContextFitted {
            name: "context_fit",
            effect: Write,
            is: [idempotent, in_workspace, bulky],
            profiles: [Context],
            example: {"session_id": "today", "messages": [{"role": "user", "content": "Please fix the parser."}], "budget_tokens": 100000},
        }
        ContextSetFocus => ContextFocus {
            name: "context_set_focus",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "task_id": "parser", "clear": ["active_file"]},
        }
        ContextGet => ContextView {
            name: "context_get",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "format": "anthropic"},
        }
        ContextImport => ContextImported {
            name: "context_import",
            effect: Write,
            is: [idempotent, in_workspace, bulky],
            profiles: [Context],
            example: {"session_id": "today", "format": "openai", "messages": [{"role": "user", "content": "Please fix the parser."}]},
        }
        ContextExport => ContextExported {
            name: "context_export",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {"session_id": "today"},
        }
        ContextListSessions => SessionList {
            name: "context_list_sessions",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Context],
            example: {},
        }
        ContextDeleteSession => DeletedSession {
            name: "context_delete_session",
            effect: Destroy,
            is: [in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "confirm": true},
        }
    } };
}

/// Add to an agent's context. Segments that no longer fit are stashed, not lost; the answer says how to restore them.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextAdd {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The session; created if it does not exist.
    pub session_id: String,
    /// The segments to add, in order (at most 1,000).
    pub segments: Option<Vec<SegmentInput>>,
    /// The messages to add in an API's format, instead of segments.
    #[schemars(with = "Option<Vec<Value>>")]
    pub messages: Option<Value>,
    /// The format of `messages`: `anthropic` or `openai`.
    pub format: Option<MessageFormat>,
    /// The tokens the provider counted for the context before this call; counts are adjusted to it.
    pub observed_input_tokens: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageFormat {
    Anthropic,
    OpenAi,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextAdded {
    /// The ids in the order given, including segments that already existed.
    pub segment_ids: Vec<String>,
    pub usage: UsageAnswer,
    pub gc: GcAnswer,
    /// The segment where the provider's cached prefix ends; absent if no earlier segment changed.
    pub first_changed_segment_id: Option<String>,
    /// The stashed segments that the new ones refer to.
    pub recall_hints: Vec<RecallHint>,
    pub message: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecallHint {
    pub segment_id: String,
    pub because: String,
}

/// Set what the agent works on: segments of the task and the active file stay. What is left out stays as it is.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextSetFocus {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// Segments with this `task_id` stay.
    pub task_id: Option<String>,
    /// Segments that show this file stay.
    pub active_file: Option<String>,
    /// The first and last line the agent looks at.
    pub line_range: Option<(u32, u32)>,
    /// The recently edited files: more likely to stay, but not roots.
    pub recent_files: Option<Vec<String>>,
    /// The files open in an editor: more likely to stay, but not roots.
    pub open_files: Option<Vec<String>>,
    /// The files with breakpoints, `path` or `path:line`: more likely to stay, but not roots.
    pub breakpoints: Option<Vec<String>>,
    /// The fields to empty.
    pub clear: Option<Vec<FocusField>>,
}

/// What can be emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FocusField {
    TaskId,
    ActiveFile,
    LineRange,
    RecentFiles,
    OpenFiles,
    Breakpoints,
}

impl FocusField {
    pub const ALL: [Self; 6] =
        [Self::TaskId, Self::ActiveFile, Self::LineRange, Self::RecentFiles, Self::OpenFiles, Self::Breakpoints];
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextFocus {
    pub session_id: String,
    #[serde(flatten)]
    pub focus: FocusInput,
}

/// Read the live context in order, as segments or as an API's message list with every tool call next to its result.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGet {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The format: `segments` (default), `anthropic` or `openai`.
    pub format: Option<RenderFormat>,
    /// Show one line in place of each stashed segment (false).
    pub placeholders: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextView {
    pub session_id: String,
    pub segments: Option<Vec<SegmentAnswer>>,
    /// The system prompt, if the format keeps it apart from the messages.
    pub system: Option<Value>,
    pub messages: Option<Vec<Value>>,
    pub usage: UsageAnswer,
}

/// Import a whole session: from Claude Code, an API's message list, or an export. It imports all or nothing, and nothing leaves the window.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextImport {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The session; created if it does not exist.
    pub session_id: String,
    /// The format: `claude-code`, `anthropic`, `openai`, or `rootset` for an export.
    pub format: ImportFormat,
    /// The messages; for Claude Code also the file's lines as one string, for an export `{"segments": [...]}`.
    pub messages: Option<Value>,
    /// The file to read instead of `messages`; on the command line only.
    pub path: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImportFormat {
    ClaudeCode,
    Anthropic,
    #[serde(rename = "openai")]
    OpenAi,
    Rootset,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextImported {
    pub session_id: String,
    pub segments_added: usize,
    /// The number of segments that already existed with the same text.
    pub segments_unchanged: usize,
    pub skipped: SkippedLines,
    pub usage: UsageAnswer,
    pub message: String,
}

/// Lines of a file that could not be read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedLines {
    pub count: usize,
    /// The first twenty lines.
    pub first: Vec<SkippedLineAnswer>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedLineAnswer {
    pub line: usize,
    pub reason: String,
}

/// Export all segments of a session as JSON that `context_import` can read.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextExport {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// What to export: `session` (default: the window), `stash` or `both`.
    pub include: Option<ExportedPart>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportedPart {
    #[default]
    Session,
    Stash,
    Both,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextExported {
    pub session_id: String,
    pub segments: Vec<SegmentAnswer>,
}

/// List the sessions of a workspace, most recently used first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextListSessions {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    /// The number to skip (0).
    pub offset: Option<i64>,
    /// The number of sessions (50, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionList {
    pub sessions: Vec<SessionAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionAnswer {
    pub session_id: String,
    /// The number of segments in the window.
    pub segments: i64,
    pub stashed: i64,
    /// The number of tokens in the window.
    pub tokens: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Move a whole session to the trash, with its stash. `gc_undo` restores it. Pins do not prevent this.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextDeleteSession {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the session.
    pub session_id: String,
    /// The confirmation: must be true.
    pub confirm: Option<bool>,
    /// Create a verified backup first (false).
    pub backup: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeletedSession {
    pub session_id: String,
    /// The id to give to `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}
