//! Tokens of the HTTP API: what they allow, whom they act for, and when they end.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rootset_model::{Ahead, DurationMs, Timestamp, TokenId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::effect::Effect;

/// Create a token for the HTTP API. The secret is shown once and never stored.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CreateToken {
    /// The holder of the token, shown as the actor in the audit trail.
    pub name: String,
    /// The effects the token allows; each operation requires one of them.
    pub scopes: BTreeSet<Effect>,
    /// The ids of the workspaces the token may access, or only `*` for all.
    pub workspaces: BTreeSet<String>,
    /// When the token expires, or `never`; default: in 90 days.
    pub expires_at: Option<Expiry<Ahead>>,
    /// The person the token acts for.
    pub owner: Option<String>,
    /// The absolute paths of the folders the token may index; default: those that the server allows.
    pub roots: Option<Vec<String>>,
    /// Who writes with the token (`agent`).
    pub trust: Option<TokenTrust>,
}

/// Replace the secret of a token. The new one is shown once; the old one is accepted for a while.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RotateToken {
    /// The name of the token; give this or `token_id`.
    pub name: Option<String>,
    /// The id of the token.
    pub token_id: Option<TokenId>,
    /// How long the old secret is still accepted (1h), at most 7d; 0: not at all.
    pub overlap: Option<DurationMs>,
    /// When the token expires, or `never`; default: in 90 days.
    pub expires_at: Option<Expiry<Ahead>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedToken {
    pub token_id: TokenId,
    pub name: String,
    /// The secret. Save it now: it cannot be shown again.
    pub token: String,
    pub scopes: Vec<String>,
    pub workspaces: Vec<String>,
    /// When the token expires, or `never`.
    pub expires_at: Expiry,
    /// The person the token acts for.
    pub owner: Option<String>,
    /// The folders the token may index.
    pub roots: Option<Vec<String>>,
    /// Who writes with the token: `person`, `agent` or `untrusted`.
    pub trust: String,
    /// When the old secret of a rotated token ends.
    pub old_secret_ends_at: Option<Timestamp>,
}

/// List the tokens of the HTTP API, newest first. Secrets are never shown.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListTokens {
    /// Include revoked tokens (false).
    pub include_revoked: Option<bool>,
    /// The number to skip (0).
    pub offset: Option<i64>,
    /// The number to show (50, at most 100).
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
    /// The ids of the workspaces, or `*` for all.
    pub workspaces: Vec<String>,
    pub created_at: Timestamp,
    pub created_by: String,
    /// When the token expires, or `never`.
    pub expires_at: Expiry,
    pub revoked_at: Option<Timestamp>,
    /// Whether the token is accepted now.
    pub valid: bool,
    /// Whether the token is valid and expires within 14 days.
    pub expires_soon: bool,
    /// When the token was last used, to the hour; absent: never.
    pub last_used_at: Option<Timestamp>,
    /// The person the token acts for.
    pub owner: Option<String>,
    /// The folders the token may index.
    pub roots: Option<Vec<String>>,
    /// Who writes with the token: `person`, `agent` or `untrusted`.
    pub trust: String,
}

/// Revoke a token permanently: requests with its secret are refused from now on.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RevokeToken {
    /// The name of the token; give this or `token_id`.
    pub name: Option<String>,
    /// The id of the token.
    pub token_id: Option<TokenId>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RevokedToken {
    pub token_id: TokenId,
    pub name: String,
    pub revoked_at: Option<Timestamp>,
}

/// Who writes with a token, from the least trusted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenTrust {
    /// Text from strangers, such as mail or web pages.
    Untrusted,
    /// An agent.
    Agent,
    /// A person.
    Person,
}

impl TokenTrust {
    pub const ALL: [Self; 3] = [Self::Untrusted, Self::Agent, Self::Person];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Untrusted => "untrusted",
            Self::Agent => "agent",
            Self::Person => "person",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trust| trust.as_str() == word)
    }
}

/// When a token ends: a time, or `never`. A request may give the time in more ways than an answer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry<T = Timestamp> {
    Never,
    At(T),
}

const NEVER: &str = "never";

impl<T> Expiry<T> {
    pub fn time(self) -> Option<T> {
        match self {
            Self::Never => None,
            Self::At(time) => Some(time),
        }
    }
}

impl<T> From<Option<T>> for Expiry<T> {
    fn from(time: Option<T>) -> Self {
        time.map_or(Self::Never, Self::At)
    }
}

impl<T: Serialize> Serialize for Expiry<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Never => serializer.serialize_str(NEVER),
            Self::At(time) => time.serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Expiry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        if given.as_str() == Some(NEVER) {
            return Ok(Self::Never);
        }
        serde_json::from_value(given).map(Self::At).map_err(de::Error::custom)
    }
}

impl<T: JsonSchema> JsonSchema for Expiry<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Expiry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() { json_schema!({"type": "string"}) } else { T::json_schema(generator) }
    }
}
