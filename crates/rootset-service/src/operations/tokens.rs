//! `create_token`, `list_tokens` and `revoke_token`.

use std::collections::BTreeSet;
use std::sync::Arc;

use rootset_model::limits::TOKEN_WORKSPACES_MAX;
use rootset_model::names::check_memory_name;
use rootset_model::{Timestamp, TokenId};
use rootset_store::{NewToken, TokenReference, TokenRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::page;
use crate::tokens::{hash_of, new_secret};

/// What stands for every workspace, also later ones.
const ALL_WORKSPACES: &str = "*";
/// Actors of the audit trail that are no tokens: nobody may sign as one of them.
const OTHER_ACTORS: [&str; 5] = ["cli", "housekeeping", "rootset", "scheduler", "worker"];

/// Make a token for the HTTP API. Its secret is shown once and stored nowhere.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CreateToken {
    /// Who it is for; the audit trail's actor.
    name: String,
    /// The effects it allows; an operation needs the one it has.
    scopes: BTreeSet<Effect>,
    /// Ids of the workspaces it sees, or `*` alone for all of them.
    workspaces: BTreeSet<String>,
    /// When it ends by itself; absent: never.
    expires_at: Option<Timestamp>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedToken {
    pub token_id: TokenId,
    pub name: String,
    /// The secret: keep it now, nobody can show it again.
    pub token: String,
    pub scopes: Vec<String>,
    pub workspaces: Vec<String>,
    pub expires_at: Option<Timestamp>,
}

impl Operation for CreateToken {
    const NAME: &'static str = "create_token";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = false;
    const IS_DATABASE_WIDE: bool = true;
    type Response = CreatedToken;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CreatedToken, ServiceError> {
        check_name(&self.name)?;
        if self.scopes.is_empty() {
            let all = Effect::ALL.map(Effect::as_str).join(", ");
            return Err(ServiceError::invalid("`scopes` is empty").with_hint(format!("allowed: {all}")));
        }
        let workspaces = self.checked_workspaces(service, caller)?;
        self.check_within(caller, service.now())?;
        let token = new_secret()?;
        let new = NewToken {
            id: service.next_token_id(),
            name: self.name,
            secret_hash: hash_of(&token),
            scopes: self.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            workspaces,
            expires_at: self.expires_at,
        };
        service.store.create_token(&new, service.stamp(caller))?;
        Ok(CreatedToken {
            token_id: new.id,
            name: new.name,
            token,
            scopes: new.scopes,
            workspaces: shown_workspaces(new.workspaces),
            expires_at: new.expires_at,
        })
    }
}

impl CreateToken {
    /// Each exists: a token for a misspelt workspace would only show later, as "not found".
    fn checked_workspaces(&self, service: &Service, caller: &Caller) -> Result<Option<Vec<String>>, ServiceError> {
        let count = self.workspaces.len();
        if count == 0 || count > TOKEN_WORKSPACES_MAX {
            return Err(ServiceError::invalid(format!(
                "`workspaces` has {count} items; 1 to {TOKEN_WORKSPACES_MAX} are possible"
            ))
            .with_hint("`*` stands for all of them"));
        }
        if self.workspaces.contains(ALL_WORKSPACES) {
            return match count {
                1 => Ok(None),
                _ => Err(ServiceError::invalid("`workspaces`: `*` stands for all of them and goes with no other")),
            };
        }
        for id in &self.workspaces {
            if id.is_empty() {
                return Err(ServiceError::invalid("`workspaces`: an id is empty"));
            }
            service.workspace(caller, Some(id))?;
        }
        Ok(Some(self.workspaces.iter().cloned().collect()))
    }

    /// Nobody hands on more than they have, nor for longer.
    fn check_within(&self, caller: &Caller, now: Timestamp) -> Result<(), ServiceError> {
        let forbidden = |message: String| Err(ServiceError::new(ErrorCode::Forbidden, message));
        if let Some(scope) = self.scopes.iter().find(|scope| !caller.rights.allow_effect(**scope)) {
            return forbidden(format!("`scopes`: `{}` is more than this token may do itself", scope.as_str()));
        }
        if caller.rights.workspaces.is_some() && self.workspaces.contains(ALL_WORKSPACES) {
            return forbidden("`workspaces`: `*` is more than this token sees itself".to_owned());
        }
        if let Some(end) = caller.rights_expire_at
            && self.expires_at.is_none_or(|at| at > end)
        {
            return forbidden(format!("`expires_at`: this token ends at {end}, and so must what it makes"));
        }
        match self.expires_at {
            Some(at) if at <= now => Err(ServiceError::invalid(format!("`expires_at`: {at} is over"))),
            _ => Ok(()),
        }
    }
}

/// Names are like those of memories: they stand in logs, audit entries and `written_by`.
fn check_name(name: &str) -> Result<(), ServiceError> {
    check_memory_name(name).map_err(|error| ServiceError::invalid(format!("`name`: {error}")))?;
    if OTHER_ACTORS.contains(&name) {
        return Err(ServiceError::invalid(format!("`name`: `{name}` is how Rootset itself signs"))
            .with_hint("choose another name"));
    }
    Ok(())
}

fn shown_workspaces(workspaces: Option<Vec<String>>) -> Vec<String> {
    workspaces.unwrap_or_else(|| vec![ALL_WORKSPACES.to_owned()])
}

/// List the tokens of the HTTP API, newest first. Secrets cannot be shown.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListTokens {
    /// Also those that were revoked (false).
    include_revoked: Option<bool>,
    /// How many to skip (0).
    offset: Option<i64>,
    /// How many to show (50, at most 100).
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenList {
    pub tokens: Vec<TokenAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
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

impl TokenAnswer {
    fn new(token: TokenRow, now: Timestamp) -> Self {
        Self {
            valid: token.revoked_at.is_none() && token.expires_at.is_none_or(|at| at > now),
            token_id: token.id,
            name: token.name,
            scopes: token.scopes,
            workspaces: shown_workspaces(token.workspaces),
            created_at: token.created_at,
            created_by: token.created_by,
            expires_at: token.expires_at,
            revoked_at: token.revoked_at,
        }
    }
}

impl Operation for ListTokens {
    const NAME: &'static str = "list_tokens";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = true;
    const IS_DATABASE_WIDE: bool = true;
    type Response = TokenList;

    fn run(self, service: &Arc<Service>, _caller: &Caller) -> Result<TokenList, ServiceError> {
        let (offset, limit) = page(self.offset, self.limit)?;
        let (tokens, total) = service.store.list_tokens(self.include_revoked.unwrap_or(false), offset, limit)?;
        let now = service.now();
        let tokens = tokens.into_iter().map(|token| TokenAnswer::new(token, now)).collect();
        Ok(TokenList { tokens, total, offset, limit })
    }
}

/// Revoke a token for good: whoever holds its secret is refused from now on.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RevokeToken {
    /// Its name; or `token_id`.
    name: Option<String>,
    token_id: Option<TokenId>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct RevokedToken {
    pub token_id: TokenId,
    pub name: String,
    pub revoked_at: Option<Timestamp>,
}

impl Operation for RevokeToken {
    const NAME: &'static str = "revoke_token";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = true;
    const IS_DATABASE_WIDE: bool = true;
    type Response = RevokedToken;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RevokedToken, ServiceError> {
        let token = match (&self.name, self.token_id) {
            (Some(name), None) => TokenReference::Name(name),
            (None, Some(id)) => TokenReference::Id(id),
            (None, None) => return Err(ServiceError::invalid("one of `name` and `token_id` is needed")),
            (Some(_), Some(_)) => {
                return Err(ServiceError::invalid("`name` and `token_id` are given; one is enough"));
            }
        };
        let revoked = service.store.revoke_token(token, service.stamp(caller))?;
        service.believed_tokens.forget();
        Ok(RevokedToken { token_id: revoked.id, name: revoked.name, revoked_at: revoked.revoked_at })
    }
}
