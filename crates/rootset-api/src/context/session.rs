//! Context sessions: adding to one, focus, reading, importing, exporting, listing and deleting them.

use rootset_model::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::rust::double_option;
use serde_with::skip_serializing_none;

use crate::context::segment::{FocusInput, GcAnswer, RenderFormat, SegmentAnswer, SegmentInput, UsageAnswer};

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! context_session_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        ContextAdd => ContextAdded {
            name: "context_add",
            effect: Write,
            is: [in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "segments": [{"type": "message", "text": "Please fix the parser.", "role": "user"}]},
        }
        ContextSetFocus => ContextFocus {
            name: "context_set_focus",
            effect: Write,
            is: [idempotent, null_clears, in_workspace],
            profiles: [Context],
            example: {"session_id": "today", "task_id": "parser", "active_file": null},
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
            is: [idempotent, in_workspace],
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

/// Add to an agent's context. What no longer fits is stashed, not lost: the answer says what left and how to get it back.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextAdd {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    /// The session; created where there is none.
    pub session_id: String,
    /// What to add, in order (at most 1,000).
    pub segments: Option<Vec<SegmentInput>>,
    /// Instead of segments: messages as an API takes them.
    #[schemars(with = "Option<Vec<Value>>")]
    pub messages: Option<Value>,
    /// Of `messages`: `anthropic` or `openai`.
    pub format: Option<MessageFormat>,
    /// What the provider counted for the context as it was before: counts here follow it.
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
    /// In the order given; also of those that were there already.
    pub segment_ids: Vec<String>,
    pub usage: UsageAnswer,
    pub gc: GcAnswer,
    /// Where a provider's cached prefix of the prompt ends; absent when all that was there is there as it was.
    pub first_changed_segment_id: Option<String>,
    /// What the new segments name and the window no longer holds.
    pub recall_hints: Vec<RecallHint>,
    pub message: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RecallHint {
    pub segment_id: String,
    pub because: String,
}

/// Tell what the agent works on: the task's segments and those of the active file stay. Fields left out stay as they are, `null` clears.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextSetFocus {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// Segments with this `task_id` stay.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub task_id: Option<Option<String>>,
    /// Segments that show this file stay.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub active_file: Option<Option<String>>,
    /// First and last line the agent looks at.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub line_range: Option<Option<(u32, u32)>>,
    /// Edited lately: dearer, but no roots.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub recent_files: Option<Option<Vec<String>>>,
    /// Open in an editor: dearer, but no roots.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub open_files: Option<Option<Vec<String>>>,
    /// Files with breakpoints, `path` or `path:line`: dearer, but no roots.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub breakpoints: Option<Option<Vec<String>>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextFocus {
    pub session_id: String,
    #[serde(flatten)]
    pub focus: FocusInput,
}

/// The live context in order: as segments, or as the message list of an API with every tool call next to its result.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextGet {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// `segments` (default), `anthropic` or `openai`.
    pub format: Option<RenderFormat>,
    /// One line in the place of what was stashed (false).
    pub placeholders: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextView {
    pub session_id: String,
    pub segments: Option<Vec<SegmentAnswer>>,
    /// The system prompt, where the format has it beside the messages.
    pub system: Option<Value>,
    pub messages: Option<Vec<Value>>,
    pub usage: UsageAnswer,
}

/// Read a whole session: of Claude Code, a message list of an API, or an export. All of it or nothing; nothing leaves the window by it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextImport {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    /// The session; created where there is none.
    pub session_id: String,
    pub format: ImportFormat,
    /// The messages; of Claude Code also the lines of the file as one text, of an export `{"segments": [...]}`.
    pub messages: Option<Value>,
    /// A file instead; on the command line only.
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
    /// Were there already, with the same text.
    pub segments_unchanged: usize,
    pub skipped: SkippedLines,
    pub usage: UsageAnswer,
    pub message: String,
}

/// Lines of a file that could not be read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedLines {
    pub count: usize,
    /// The first twenty.
    pub first: Vec<SkippedLineAnswer>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedLineAnswer {
    pub line: usize,
    pub reason: String,
}

/// All segments of a session as JSON that `context_import` reads again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextExport {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// `session` (default): what is in the window; `stash`; or `both`.
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

/// List the sessions of a workspace, the one used last first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextListSessions {
    /// Workspace to look into; absent: the current one.
    pub workspace_id: Option<String>,
    pub offset: Option<i64>,
    /// How many (50, at most 100).
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
    /// In the window.
    pub segments: i64,
    pub stashed: i64,
    /// In the window.
    pub tokens: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Move a whole session to the trash, its stash included. `gc_undo` brings it back; pins do not hold it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextDeleteSession {
    /// Workspace of the session; absent: the current one.
    pub workspace_id: Option<String>,
    pub session_id: String,
    /// Must be true.
    pub confirm: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeletedSession {
    pub session_id: String,
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}
