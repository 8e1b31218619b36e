//! The database as a whole: statistics, its health, workspaces and tokens.

use std::collections::{BTreeMap, BTreeSet};

use rootset_model::{RunId, Timestamp, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::effect::Effect;

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! admin_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        GetStats => StatsAnswer {
            name: "get_stats",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {},
        }
        Doctor => DoctorAnswer {
            name: "doctor",
            effect: Admin,
            is: [idempotent, database_wide],
            profiles: [Admin],
            example: {"repair": true},
        }
        CreateWorkspace => CreatedWorkspace {
            name: "create_workspace",
            effect: Admin,
            is: [database_wide, of_workspace],
            profiles: [Admin],
            example: {"workspace_id": "team-a", "name": "Team A", "quota": {"memories": 10000}},
        }
        ListWorkspaces => WorkspaceList {
            name: "list_workspaces",
            effect: Read,
            is: [idempotent],
            profiles: [Admin],
            example: {},
        }
        DeleteWorkspace => DeletedWorkspace {
            name: "delete_workspace",
            effect: Admin,
            is: [of_workspace],
            profiles: [Admin],
            example: {"workspace_id": "team-a", "confirm_phrase": "DELETE team-a"},
        }
        CreateToken => CreatedToken {
            name: "create_token",
            effect: Admin,
            is: [database_wide],
            profiles: [],
            example: {"name": "ci", "scopes": ["read", "write"], "workspaces": ["team-a"]},
        }
        ListTokens => TokenList {
            name: "list_tokens",
            effect: Admin,
            is: [idempotent, database_wide],
            profiles: [Admin],
            example: {"include_revoked": true},
        }
        RevokeToken => RevokedToken {
            name: "revoke_token",
            effect: Admin,
            is: [idempotent, database_wide],
            profiles: [Admin],
            example: {"name": "ci"},
        }
    } };
}

/// Counts by kind and source, sizes, and what the database runs on.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetStats {
    /// Workspace to count; absent: the current one.
    pub workspace_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatsAnswer {
    pub workspace_id: String,
    /// Rows as stored, trash included.
    pub counts: ObjectCounts,
    pub by_source: BTreeMap<String, SourceAnswer>,
    pub sizes: SizesAnswer,
    /// `sqlite`.
    pub engine: String,
    pub schema_version: i64,
    pub extractor: String,
    /// `none`: search is lexical and by graph.
    pub embedder: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ObjectCounts {
    pub memories: i64,
    pub live: i64,
    pub trashed: i64,
    pub pending: i64,
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
    pub vectors: i64,
    pub sessions: i64,
    pub segments: i64,
    /// Living segments that are out of their window.
    pub stashed: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SourceAnswer {
    pub live: i64,
    pub trashed: i64,
    pub pending: i64,
}

/// Bytes; all but the first are of the whole database, and shown to those who may see all of it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizesAnswer {
    pub content_bytes: i64,
    pub database_bytes: Option<i64>,
    pub wal_bytes: Option<i64>,
    pub free_bytes: Option<i64>,
}

/// Check the invariants of the whole database; with `repair`, rebuild what can be rebuilt.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Doctor {
    /// Rebuild derived data: chunks, graph, full text, counters, lost jobs.
    pub repair: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DoctorAnswer {
    /// Whether every check holds.
    pub ok: bool,
    pub checks: Vec<CheckAnswer>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CheckAnswer {
    /// The invariant, as named in the documentation.
    pub id: String,
    pub ok: bool,
    /// Things that break it.
    pub count: i64,
    /// What is counted.
    pub detail: String,
    pub found: Option<Vec<String>>,
}

/// Create a workspace: a tenant that sees nothing of the others.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CreateWorkspace {
    /// Up to 64 of a-z, 0-9, `_` and `-`.
    pub workspace_id: String,
    /// A name for people.
    pub name: Option<String>,
    pub description: Option<String>,
    pub quota: Option<Quota>,
}

/// What the workspace may store, trash included.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// How many memories.
    pub memories: Option<i64>,
    /// How many bytes of text.
    pub bytes: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedWorkspace {
    pub workspace_id: String,
    pub created_at: Timestamp,
}

/// List the workspaces with their sizes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListWorkspaces {}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceList {
    pub workspaces: Vec<WorkspaceAnswer>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceAnswer {
    pub workspace_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub quota: Option<Quota>,
    /// Stored memories, trash included.
    pub memories: i64,
    /// Bytes of text, trash and earlier revisions included.
    pub bytes: i64,
    /// Memories in the trash.
    pub trash: i64,
    pub created_at: Timestamp,
    pub last_write_at: Timestamp,
    pub last_run_at: Option<Timestamp>,
}

/// Move a whole workspace to the trash. `gc_undo` with its id brings all of it back; pins do not hold it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeleteWorkspace {
    pub workspace_id: String,
    /// Exactly `DELETE <workspace_id>`.
    pub confirm_phrase: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeletedWorkspace {
    pub workspace_id: String,
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}

/// Make a token for the HTTP API. Its secret is shown once and stored nowhere.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CreateToken {
    /// Who it is for; the audit trail's actor.
    pub name: String,
    /// The effects it allows; an operation needs the one it has.
    pub scopes: BTreeSet<Effect>,
    /// Ids of the workspaces it sees, or `*` alone for all of them.
    pub workspaces: BTreeSet<String>,
    /// When it ends by itself; absent: never.
    pub expires_at: Option<Timestamp>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedToken {
    pub token_id: TokenId,
    pub name: String,
    /// The secret: keep it now, nobody can show it again.
    pub token: String,
    pub scopes: Vec<String>,
    pub workspaces: Vec<String>,
    pub expires_at: Option<Timestamp>,
}

/// List the tokens of the HTTP API, newest first. Secrets cannot be shown.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListTokens {
    /// Also those that were revoked (false).
    pub include_revoked: Option<bool>,
    /// How many to skip (0).
    pub offset: Option<i64>,
    /// How many to show (50, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    pub tokens: Vec<TokenAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TokenAnswer {
    pub token_id: TokenId,
    pub name: String,
    pub scopes: Vec<String>,
    /// Ids, or `*` for all of them.
    pub workspaces: Vec<String>,
    pub created_at: Timestamp,
    pub created_by: String,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// Whether it is let in now.
    pub valid: bool,
}

/// Revoke a token for good: whoever holds its secret is refused from now on.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RevokeToken {
    /// Its name; or `token_id`.
    pub name: Option<String>,
    pub token_id: Option<TokenId>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevokedToken {
    pub token_id: TokenId,
    pub name: String,
    pub revoked_at: Option<Timestamp>,
}
