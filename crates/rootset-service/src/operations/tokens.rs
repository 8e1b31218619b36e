//! `create_token`, `list_tokens` and `revoke_token`.

use std::sync::Arc;

use rootset_api::{
    CreateToken, CreatedToken, Effect, ErrorCode, ListTokens, RevokeToken, RevokedToken, TokenAnswer, TokenList,
};
use rootset_model::Timestamp;
use rootset_model::limits::TOKEN_WORKSPACES_MAX;
use rootset_model::names::check_memory_name;
use rootset_store::{NewToken, TokenReference, TokenRow};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::page;
use crate::operation::Operation;
use crate::service::Service;
use crate::tokens::{hash_of, new_secret};

/// What stands for every workspace, also later ones.
const ALL_WORKSPACES: &str = "*";
/// Actors of the audit trail that are no tokens: nobody may sign as one of them.
const OTHER_ACTORS: [&str; 5] = ["cli", "housekeeping", "rootset", "scheduler", "worker"];

impl Operation for CreateToken {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CreatedToken, ServiceError> {
        check_name(&self.name)?;
        if self.scopes.is_empty() {
            let all = Effect::ALL.map(Effect::as_str).join(", ");
            return Err(ServiceError::invalid("`scopes` is empty").with_hint(format!("allowed: {all}")));
        }
        let workspaces = checked_workspaces(&self, service, caller)?;
        check_within(&self, caller, service.now())?;
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

/// Each exists: a token for a misspelt workspace would only show later, as "not found".
fn checked_workspaces(
    request: &CreateToken,
    service: &Service,
    caller: &Caller,
) -> Result<Option<Vec<String>>, ServiceError> {
    let count = request.workspaces.len();
    if count == 0 || count > TOKEN_WORKSPACES_MAX {
        return Err(ServiceError::invalid(format!(
            "`workspaces` has {count} items; allowed: 1 to {TOKEN_WORKSPACES_MAX}"
        ))
        .with_hint("use `*` for all workspaces"));
    }
    if request.workspaces.contains(ALL_WORKSPACES) {
        return match count {
            1 => Ok(None),
            _ => Err(ServiceError::invalid("`workspaces`: `*` means all workspaces and must be the only item")),
        };
    }
    for id in &request.workspaces {
        if id.is_empty() {
            return Err(ServiceError::invalid("`workspaces` contains an empty id"));
        }
        service.workspace(caller, Some(id))?;
    }
    Ok(Some(request.workspaces.iter().cloned().collect()))
}

/// Nobody hands on more than they have, nor for longer.
fn check_within(request: &CreateToken, caller: &Caller, now: Timestamp) -> Result<(), ServiceError> {
    let forbidden = |message: String| Err(ServiceError::new(ErrorCode::Forbidden, message));
    if let Some(scope) = request.scopes.iter().find(|scope| !caller.rights.allow_effect(**scope)) {
        return forbidden(format!("`scopes`: this token does not have the scope `{}` itself", scope.as_str()));
    }
    if caller.rights.workspaces.is_some() && request.workspaces.contains(ALL_WORKSPACES) {
        return forbidden("`workspaces`: this token does not have access to all workspaces (`*`) itself".to_owned());
    }
    if let Some(end) = caller.rights_expire_at
        && request.expires_at.is_none_or(|at| at > end)
    {
        return forbidden(format!("`expires_at` must not be after {end}, when this token itself expires"));
    }
    match request.expires_at {
        Some(at) if at <= now => Err(ServiceError::invalid(format!("`expires_at` is {at}, which is in the past"))),
        _ => Ok(()),
    }
}

/// Names are like those of memories: they stand in logs, audit entries and `written_by`.
fn check_name(name: &str) -> Result<(), ServiceError> {
    check_memory_name(name).map_err(|error| ServiceError::invalid(format!("`name`: {error}")))?;
    if OTHER_ACTORS.contains(&name) {
        return Err(
            ServiceError::invalid(format!("`name`: `{name}` is reserved for Rootset")).with_hint("choose another name")
        );
    }
    Ok(())
}

fn shown_workspaces(workspaces: Option<Vec<String>>) -> Vec<String> {
    workspaces.unwrap_or_else(|| vec![ALL_WORKSPACES.to_owned()])
}

fn token_answer(token: TokenRow, now: Timestamp) -> TokenAnswer {
    TokenAnswer {
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

impl Operation for ListTokens {
    fn run(self, service: &Arc<Service>, _caller: &Caller) -> Result<TokenList, ServiceError> {
        let (offset, limit) = page(self.offset, self.limit)?;
        let (tokens, total) = service.store.list_tokens(self.include_revoked.unwrap_or(false), offset, limit)?;
        let now = service.now();
        let tokens = tokens.into_iter().map(|token| token_answer(token, now)).collect();
        Ok(TokenList { tokens, total, offset, limit })
    }
}

impl Operation for RevokeToken {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RevokedToken, ServiceError> {
        let token = match (&self.name, self.token_id) {
            (Some(name), None) => TokenReference::Name(name),
            (None, Some(id)) => TokenReference::Id(id),
            (None, None) => return Err(ServiceError::invalid("either `name` or `token_id` is required")),
            (Some(_), Some(_)) => {
                return Err(ServiceError::invalid("give either `name` or `token_id`, not both"));
            }
        };
        let revoked = service.store.revoke_token(token, service.stamp(caller))?;
        service.believed_tokens.forget();
        Ok(RevokedToken { token_id: revoked.id, name: revoked.name, revoked_at: revoked.revoked_at })
    }
}
