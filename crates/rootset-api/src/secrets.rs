//! Secrets that are already stored: where they are, and how they go.

use rootset_model::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::collector::ReceiptAnswer;

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! secret_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        ScanSecrets => SecretsFound {
            name: "scan_secrets",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {},
        }
        RedactSecrets => SecretsRedacted {
            name: "redact_secrets",
            effect: Purge,
            is: [idempotent, open_world, in_workspace],
            needs_person: [always Permanent],
            profiles: [Admin],
            example: {"memory_ids": ["deploys"], "confirm": true},
        }
    } };
}

/// Look for values that look like secrets in what is stored, revisions and trash included. Lists where they are, never the values.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ScanSecrets {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    /// The `next_cursor` of the answer before, to go on.
    pub cursor: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecretsFound {
    pub findings: Vec<StoredSecret>,
    /// The number of revisions, entities and segments that were looked at in this call.
    pub looked_at: usize,
    /// Where to go on; absent at the end.
    pub next_cursor: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StoredSecret {
    /// The kind of thing: `memory`, `file`, `entity` or `segment`.
    pub kind: String,
    /// The id to give to `redact_secrets`, if it is a memory.
    pub id: String,
    /// The session of a segment.
    pub session_id: Option<String>,
    /// The revision of a memory.
    pub revision: Option<i64>,
    /// The field that holds the value.
    pub field: String,
    /// What the value looks like, such as `github_token`.
    pub secret: String,
    /// How many such values the field holds.
    pub count: usize,
    /// Whether it is in the trash.
    pub in_trash: bool,
    /// How to get rid of it.
    pub remedy: String,
}

/// Replace secrets in stored memories by `[redacted:kind]` and erase all their earlier revisions permanently. Find them with
/// `scan_secrets`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RedactSecrets {
    /// The workspace they are in; default: the current one.
    pub workspace_id: Option<String>,
    /// The ids or names of the memories, at most 100.
    pub memory_ids: Vec<String>,
    /// Must be true: what is erased cannot be restored.
    pub confirm: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SecretsRedacted {
    /// The results, one per memory, in the same order.
    pub results: Vec<RedactedMemory>,
    pub failed: usize,
}

/// What became of one memory.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RedactedMemory {
    pub memory_id: Option<MemoryId>,
    /// The number of values that were replaced or erased; 0 if there were none, and then nothing changed.
    pub erased: usize,
    /// What was erased, and whether any of it is still in the files.
    pub receipt: Option<ReceiptAnswer>,
    /// The reasons why extraction is still pending: until then the old text stays.
    pub errors: Option<Vec<String>>,
    /// Why nothing changed.
    pub error: Option<Value>,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}
