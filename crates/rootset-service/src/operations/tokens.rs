//! `create_token`, `rotate_token`, `list_tokens` and `revoke_token`.

use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::sync::Arc;

use rootset_api::{
    CreateToken, CreatedToken, Effect, ErrorCode, Expiry, ListTokens, RevokeToken, RevokedToken, RotateToken,
    TokenAnswer, TokenList, TokenTrust,
};
use rootset_model::limits::{
    NAME_CHARS_MAX, PATH_BYTES_MAX, TOKEN_LIFETIME_DAYS, TOKEN_OVERLAP_MS, TOKEN_OVERLAP_MS_MAX, TOKEN_ROOTS_MAX,
    TOKEN_WORKSPACES_MAX,
};
use rootset_model::names::{check_memory_name, is_reserved_actor};
use rootset_model::{Ahead, Timestamp, TokenId, WorkspaceKey};
use rootset_store::{BoundWorkspace, NewToken, Rotation, TokenReference, TokenRow};

use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::fields::{check_short_text, page};
use crate::operation::Operation;
use crate::personal::{PERSONAL, Person};
use crate::service::Service;
use crate::tokens::{DAY_MS, ends_soon_by, hash_of, new_secret};

/// What stands for every workspace, also later ones.
const ALL_WORKSPACES: &str = "*";

impl Operation for CreateToken {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CreatedToken, ServiceError> {
        check_name(&self.name)?;
        if self.scopes.is_empty() {
            let all = Effect::ALL.map(Effect::as_str).join(", ");
            return Err(ServiceError::invalid("`scopes` is empty").with_hint(format!("allowed: {all}")));
        }
        let bound = checked_workspaces(&self, service, caller)?;
        if caller.rights.workspaces.is_some() && bound.is_none() {
            return Err(forbidden("`workspaces`: this token does not have access to all workspaces (`*`) itself"));
        }
        let trust = self.trust.unwrap_or(TokenTrust::Agent);
        let roots = checked_roots(self.roots)?;
        if let Some(owner) = &self.owner {
            check_memory_name(owner).map_err(|error| ServiceError::invalid(format!("`owner`: {error}")))?;
            check_owner(owner, service, caller)?;
        }
        check_within(caller, &self.scopes, trust, roots.as_deref())?;
        let expires_at = checked_expiry(self.expires_at, caller, service.now())?;
        let secret = new_secret()?;
        let keys = bound.as_ref().map(|bound| bound.iter().map(|it| it.key).collect::<Vec<WorkspaceKey>>());
        let new = NewToken {
            id: service.next_token_id(),
            name: self.name,
            secret: hash_of(&secret),
            scopes: self.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            workspaces: keys,
            expires_at,
            owner: self.owner,
            roots,
            trust: trust.as_str().to_owned(),
        };
        service.store.create_token(&new, service.stamp(caller))?;
        Ok(CreatedToken {
            token_id: new.id,
            name: new.name,
            token: secret,
            scopes: new.scopes,
            workspaces: shown_workspaces(bound),
            expires_at: new.expires_at.into(),
            owner: new.owner,
            roots: new.roots,
            trust: new.trust,
            old_secret_ends_at: None,
        })
    }
}

/// Each exists: a token for a misspelt workspace would only show later, as "not found".
fn checked_workspaces(
    request: &CreateToken,
    service: &Service,
    caller: &Caller,
) -> Result<Option<Vec<BoundWorkspace>>, ServiceError> {
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
    let find = |id: &String| {
        if id.is_empty() {
            return Err(ServiceError::invalid("`workspaces` contains an empty id"));
        }
        let found = match &request.owner {
            Some(owner) if id == PERSONAL => service.personal_of_owner(caller, owner)?,
            _ => service.workspace(caller, Some(id))?,
        };
        if let Some(person) = &found.person
            && request.owner.as_deref().is_none_or(|owner| service.person_of(owner).as_str() != person)
        {
            let message =
                format!("`workspaces`: `{id}` is the personal workspace of somebody else than the token's owner");
            return Err(ServiceError::invalid(message).with_hint("give the token the `owner` whose memory it is"));
        }
        Ok(BoundWorkspace { id: found.id, key: found.key, is_personal: found.person.is_some() })
    };
    request.workspaces.iter().map(find).collect::<Result<Vec<_>, _>>().map(Some)
}

/// Absolute, and without steps that lead elsewhere.
fn checked_roots(roots: Option<Vec<String>>) -> Result<Option<Vec<String>>, ServiceError> {
    let Some(roots) = roots else { return Ok(None) };
    if roots.len() > TOKEN_ROOTS_MAX {
        return Err(ServiceError::invalid(format!("`roots` has {} items, more than {TOKEN_ROOTS_MAX}", roots.len())));
    }
    for root in &roots {
        check_short_text("roots", root, PATH_BYTES_MAX)?;
        let path = Path::new(root);
        let is_plain = path.components().all(|it| !matches!(it, Component::ParentDir | Component::CurDir));
        if !path.is_absolute() || !is_plain || root.len() > PATH_BYTES_MAX {
            let shown: String = root.chars().take(NAME_CHARS_MAX).collect();
            return Err(ServiceError::invalid(format!("`roots`: `{shown}` is not an absolute path of a folder")));
        }
    }
    Ok(Some(roots))
}

/// A token of somebody hands on their own memory, and nobody else's. The user of this machine, and who acts for nobody, manage
/// the tokens of others.
fn check_owner(owner: &str, service: &Service, caller: &Caller) -> Result<(), ServiceError> {
    match &caller.person {
        None => Ok(()),
        Some(person) if *person == Person::LOCAL || *person == service.person_of(owner) => Ok(()),
        Some(_) if caller.front_end == FrontEnd::CommandLine => Ok(()),
        Some(_) => Err(forbidden(format!("`owner`: this token acts for somebody else than `{owner}`"))),
    }
}

/// Nobody hands on more than they have.
fn check_within(
    caller: &Caller,
    scopes: &BTreeSet<Effect>,
    trust: TokenTrust,
    roots: Option<&[String]>,
) -> Result<(), ServiceError> {
    if let Some(scope) = scopes.iter().find(|scope| !caller.rights.allow_effect(**scope)) {
        return Err(forbidden(format!("`scopes`: this token does not have the scope `{}` itself", scope.as_str())));
    }
    if let Some(own) = caller.token.as_ref().map(|token| token.trust)
        && trust > own
    {
        return Err(forbidden(format!("`trust` must not be above that of this token, which is `{}`", own.as_str())));
    }
    if let Some(own) = &caller.rights.roots {
        let is_within = |root: &String| own.iter().any(|own| Path::new(root).starts_with(own));
        if !roots.is_some_and(|roots| roots.iter().all(is_within)) {
            return Err(forbidden("`roots` must be within the folders of this token itself"));
        }
    }
    Ok(())
}

/// Nobody hands on anything for longer than they have it. Who does not say gets the default, or what is left.
fn checked_expiry(
    wanted: Option<Expiry<Ahead>>,
    caller: &Caller,
    now: Timestamp,
) -> Result<Option<Timestamp>, ServiceError> {
    let end = caller.rights_expire_at;
    let Some(wanted) = wanted else {
        let default = now.saturating_add_ms(TOKEN_LIFETIME_DAYS * DAY_MS);
        return Ok(Some(end.map_or(default, |end| end.min(default))));
    };
    let wanted = wanted.time().map(|it| it.at(now));
    if let Some(end) = end
        && wanted.is_none_or(|at| at > end)
    {
        return Err(forbidden(format!("`expires_at` must not be after {end}, when this token itself expires")));
    }
    match wanted {
        Some(at) if at <= now => Err(ServiceError::invalid(format!("`expires_at` is {at}, which is in the past"))),
        _ => Ok(wanted),
    }
}

fn forbidden(message: impl Into<String>) -> ServiceError {
    ServiceError::new(ErrorCode::Forbidden, message)
}

/// Names are like those of memories: they stand in logs, audit entries and `written_by`.
fn check_name(name: &str) -> Result<(), ServiceError> {
    check_memory_name(name).map_err(|error| ServiceError::invalid(format!("`name`: {error}")))?;
    if is_reserved_actor(name) {
        return Err(
            ServiceError::invalid(format!("`name`: `{name}` is reserved for Rootset")).with_hint("choose another name")
        );
    }
    Ok(())
}

fn shown_workspaces(workspaces: Option<Vec<BoundWorkspace>>) -> Vec<String> {
    let ids = |bound: Vec<BoundWorkspace>| bound.into_iter().map(|it| it.id).collect();
    workspaces.map_or_else(|| vec![ALL_WORKSPACES.to_owned()], ids)
}

/// The token that a request names in one of two ways.
fn named(name: &Option<String>, token_id: Option<TokenId>) -> Result<TokenReference<'_>, ServiceError> {
    match (name, token_id) {
        (Some(name), None) => Ok(TokenReference::Name(name)),
        (None, Some(id)) => Ok(TokenReference::Id(id)),
        (None, None) => Err(ServiceError::invalid("either `name` or `token_id` is required")),
        (Some(_), Some(_)) => Err(ServiceError::invalid("give either `name` or `token_id`, not both")),
    }
}

impl Operation for RotateToken {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CreatedToken, ServiceError> {
        let overlap_ms = self.overlap.map_or(TOKEN_OVERLAP_MS, |overlap| overlap.0);
        if !(0..=TOKEN_OVERLAP_MS_MAX).contains(&overlap_ms) {
            return Err(ServiceError::invalid("`overlap` must be from 0 to 7d"));
        }
        let found = service.store.token(named(&self.name, self.token_id)?, service.stamp(caller))?;
        let now = service.now();
        if found.revoked_at.is_some() || found.expires_at.is_some_and(|at| at <= now) {
            return Err(ServiceError::conflict(format!("the token `{}` is revoked or has expired", found.name))
                .with_hint("create another one with `create_token`"));
        }
        // Whoever has the new secret has the token's rights.
        let scopes = found.scopes.iter().filter_map(|word| Effect::from_word(word)).collect();
        let trust = TokenTrust::from_word(&found.trust).unwrap_or(TokenTrust::Person);
        check_within(caller, &scopes, trust, found.roots.as_deref())?;
        if let Some(owner) = &found.owner {
            check_owner(owner, service, caller)?;
        }
        // Also where a token renews itself: an end that somebody set stays one.
        let expires_at = checked_expiry(self.expires_at, caller, now)?;
        let secret = new_secret()?;
        let previous_until = now.saturating_add_ms(overlap_ms);
        let rotation = Rotation { secret: hash_of(&secret), previous_until, expires_at };
        let rotated = service.store.rotate_token(found.id, rotation, service.stamp(caller))?;
        service.believed_tokens.forget();
        Ok(CreatedToken {
            token_id: rotated.id,
            name: rotated.name,
            token: secret,
            scopes: rotated.scopes,
            workspaces: shown_workspaces(rotated.workspaces),
            expires_at: rotated.expires_at.into(),
            owner: rotated.owner,
            roots: rotated.roots,
            trust: rotated.trust,
            old_secret_ends_at: Some(previous_until),
        })
    }
}

fn token_answer(token: TokenRow, now: Timestamp) -> TokenAnswer {
    let is_valid = token.revoked_at.is_none() && token.expires_at.is_none_or(|at| at > now);
    TokenAnswer {
        valid: is_valid,
        expires_soon: is_valid && token.expires_at.is_some_and(|at| at <= ends_soon_by(now)),
        token_id: token.id,
        name: token.name,
        scopes: token.scopes,
        workspaces: shown_workspaces(token.workspaces),
        created_at: token.created_at,
        created_by: token.created_by,
        expires_at: token.expires_at.into(),
        revoked_at: token.revoked_at,
        last_used_at: token.last_used_at,
        owner: token.owner,
        roots: token.roots,
        trust: token.trust,
    }
}

impl Operation for ListTokens {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<TokenList, ServiceError> {
        let (offset, limit) = page(self.offset, self.limit)?;
        service.flush_token_uses_and_log();
        let with_revoked = self.include_revoked.unwrap_or(false);
        let (tokens, total) = service.store.list_tokens(with_revoked, offset, limit, service.stamp(caller))?;
        let now = service.now();
        let tokens = tokens.into_iter().map(|token| token_answer(token, now)).collect();
        Ok(TokenList { tokens, total, offset, limit })
    }
}

impl Operation for RevokeToken {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RevokedToken, ServiceError> {
        let revoked = service.store.revoke_token(named(&self.name, self.token_id)?, service.stamp(caller))?;
        service.believed_tokens.forget();
        // This process may have shown the revoked one for its own work.
        if let Some(token) = &caller.token {
            service.store.act_with(token.credential);
        }
        Ok(RevokedToken { token_id: revoked.id, name: revoked.name, revoked_at: revoked.revoked_at })
    }
}
