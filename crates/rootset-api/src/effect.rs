//! What an operation may do: one of five words, which are also the scopes of tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an operation may do. One of five words, also the scopes of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
    /// Removes with undo.
    Destroy,
    /// Removes permanently.
    Purge,
    /// Manages the database, tokens and workspaces.
    Admin,
}

impl Effect {
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Destroy, Self::Purge, Self::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destroy => "destroy",
            Self::Purge => "purge",
            Self::Admin => "admin",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == word)
    }
}
