//! The database as a whole: statistics, its health and workspaces; and the rows of operations about tokens.

use std::collections::BTreeMap;

use rootset_model::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! admin_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        GetStats => StatsAnswer {
            name: "get_stats",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefStats,
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
        UpdateWorkspace => WorkspaceAnswer {
            name: "update_workspace",
            effect: Admin,
            is: [idempotent, database_wide, of_workspace],
            profiles: [Admin],
            example: {"workspace_id": "team-a", "class": "pro"},
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
            needs_person: [always Large],
            profiles: [Admin],
            example: {"workspace_id": "team-a", "confirm_phrase": "DELETE team-a"},
        }
        CreateToken => CreatedToken {
            name: "create_token",
            effect: Admin,
            is: [database_wide],
            needs_person: [always Rights],
            profiles: [],
            example: {"name": "ci", "scopes": ["read", "write"], "workspaces": ["team-a"]},
        }
        RotateToken => CreatedToken {
            name: "rotate_token",
            effect: Admin,
            is: [database_wide],
            needs_person: [always Permanent],
            profiles: [],
            example: {"name": "ci", "overlap": "1h"},
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
            needs_person: [always Permanent],
            profiles: [Admin],
            example: {"name": "ci"},
        }
    } };
}

/// Count what is stored by kind and source, and show sizes and the engine of the database.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetStats {
    /// The workspace to count; default: the current one.
    pub workspace_id: Option<String>,
    /// `tags` also counts the memories of each tag.
    pub by: Option<StatsBy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatsBy {
    Tags,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatsAnswer {
    pub workspace_id: String,
    /// The number of stored rows, trash included.
    pub counts: ObjectCounts,
    pub by_source: BTreeMap<String, SourceAnswer>,
    /// With `by: "tags"`: the tags of living memories, the most frequent first, at most 100.
    pub by_tag: Option<Vec<TagCount>>,
    pub sizes: SizesAnswer,
    /// The engine: `sqlite` or `postgres`.
    pub engine: String,
    pub schema_version: i64,
    pub extractor: String,
    /// The name of the embedder, or `none`: search then uses words and the graph.
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
    /// The number of living segments that are outside their window.
    pub stashed: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SourceAnswer {
    pub live: i64,
    pub trashed: i64,
    pub pending: i64,
}

/// How many living memories have a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TagCount {
    pub tag: String,
    pub memories: i64,
}

/// Sizes in bytes. All but `content_bytes` are for the whole database, and shown only to callers who may see all of it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizesAnswer {
    pub content_bytes: i64,
    pub database_bytes: Option<i64>,
    pub wal_bytes: Option<i64>,
    pub free_bytes: Option<i64>,
}

/// Check the invariants of the whole database. With `repair`, rebuild derived data.
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
    /// The number of things that break the invariant.
    pub count: i64,
    /// What the check counts.
    pub detail: String,
    pub found: Option<Vec<String>>,
}

/// Create a workspace: a tenant that is isolated from the others.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CreateWorkspace {
    /// The id of the new workspace: up to 64 of a-z, 0-9, `_` and `-`.
    pub workspace_id: String,
    /// A name for people to read.
    pub name: Option<String>,
    /// What the workspace is for.
    pub description: Option<String>,
    /// How much it may store, trash included; default: what the settings of its class say, or no limit.
    pub quota: Option<Quota>,
    /// The class that settings and metrics go by (`standard`).
    pub class: Option<String>,
}

/// Change the class or the quota of a workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateWorkspace {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The class that settings and metrics go by.
    pub class: Option<String>,
    /// How much it may store, trash included. It replaces the whole quota: what is left out is not limited.
    pub quota: Option<Quota>,
}

/// How much the workspace may store, trash included.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// The highest number of memories.
    pub memories: Option<i64>,
    /// The highest number of bytes of text.
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
    /// The person whose personal memory it is: the owner of tokens, or `@local` for the user of this machine.
    pub person: Option<String>,
    /// The class that settings and metrics go by.
    pub class: String,
    /// The number of stored memories, trash included.
    pub memories: i64,
    /// The bytes of text, trash and earlier revisions included.
    pub bytes: i64,
    /// The number of memories in the trash.
    pub trash: i64,
    pub created_at: Timestamp,
    pub last_write_at: Timestamp,
    pub last_run_at: Option<Timestamp>,
}

/// Move a whole workspace to the trash. `gc_undo` with its id restores it. Pins do not prevent this.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeleteWorkspace {
    /// The id of the workspace.
    pub workspace_id: String,
    /// The confirmation: exactly `DELETE <workspace_id>`.
    pub confirm_phrase: Option<String>,
    /// Create a verified backup first (false).
    pub backup: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeletedWorkspace {
    pub workspace_id: String,
    /// The id to give to `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}
