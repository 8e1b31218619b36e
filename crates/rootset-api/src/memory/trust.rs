//! Saying how far a memory is believed.

use rootset_model::{MemoryId, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// Say who answers for a memory. Only a person can raise trust, e.g. approve what is `untrusted`; the answer gives the
/// previous value, and setting that again takes the change back.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SetTrust {
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The id or name of the memory.
    pub memory_id: String,
    /// The new trust: `person` (a person approves it), `agent`, `imported`, or `untrusted` (never shown unasked).
    pub trust: Trust,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrustAnswer {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    pub trust: Trust,
    /// The trust it had before.
    pub previous: Trust,
    pub version: i64,
}
