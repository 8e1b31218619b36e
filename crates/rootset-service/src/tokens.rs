//! Who a secret belongs to. Secrets exist here only during a call: only their hash is kept, in the database and in
//! memory.
//!
//! A token is believed for a moment ([`TOKEN_BELIEVED_MS`]) before its row is read again, so that a busy client does not
//! read it with every request. Unknown secrets are never remembered, so guessing cannot fill the memory.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use parking_lot::Mutex;
use rootset_api::{Effect, ErrorCode, TokenTrust};
use rootset_model::limits::{TOKEN_BELIEVED_MS, TOKEN_WARNING_DAYS};
use rootset_model::names::HOME_WORKSPACE;
use rootset_model::{Channel, Timestamp, TokenId, Trust};
use rootset_store::{BoundWorkspace, Credential, Stamp, StoreError, TokenRow};

use crate::caller::{Caller, CallerToken, FrontEnd, Rights};
use crate::error::ServiceError;
use crate::fields::hex;
use crate::projects::CurrentWorkspace;
use crate::service::Service;

/// What secrets begin with, so that people and scanners of leaked secrets know one when they see it.
const SECRET_PREFIX: &str = "rst_";
const SECRET_BYTES: usize = 32;
pub(crate) const DAY_MS: i64 = 24 * 3_600_000;
/// The last use of a token is written again after so long.
const USE_WRITTEN_EVERY_MS: i64 = 3_600_000;

/// A new secret. It is random enough that its hash needs neither salt nor slowness.
pub(crate) fn new_secret() -> Result<String, ServiceError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        ServiceError::new(ErrorCode::Internal, format!("the system provides no randomness: {error}"))
    })?;
    Ok(format!("{SECRET_PREFIX}{}", hex(&bytes)))
}

pub(crate) fn hash_of(secret: &str) -> Credential {
    Credential(*blake3::hash(secret.as_bytes()).as_bytes())
}

/// By when a token ends that is worth a warning.
pub(crate) fn ends_soon_by(now: Timestamp) -> Timestamp {
    now.saturating_add_ms(TOKEN_WARNING_DAYS * DAY_MS)
}

/// Tokens that were looked up a moment ago.
#[derive(Debug, Default)]
pub(crate) struct BelievedTokens(Mutex<HashMap<Credential, Believed>>);

#[derive(Clone, Debug)]
struct Believed {
    token: TokenRow,
    /// By the clock that nobody sets.
    until_ms: i64,
}

impl BelievedTokens {
    fn get(&self, secret: Credential, now_ms: i64) -> Option<TokenRow> {
        let believed = self.0.lock();
        believed.get(&secret).filter(|it| now_ms < it.until_ms).map(|it| it.token.clone())
    }

    fn put(&self, secret: Credential, token: &TokenRow, now_ms: i64) {
        let mut believed = self.0.lock();
        believed.retain(|_, it| now_ms < it.until_ms);
        believed.insert(secret, Believed { token: token.clone(), until_ms: now_ms + TOKEN_BELIEVED_MS });
    }

    /// After a change in this process, which works at once.
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }
}

/// When tokens were last used: noted with every request, written now and then, so that reading stays reading.
#[derive(Debug, Default)]
pub(crate) struct TokenUses(Mutex<HashMap<TokenId, LastUse>>);

#[derive(Clone, Copy, Debug)]
struct LastUse {
    at: Timestamp,
    written_at: Option<Timestamp>,
}

impl TokenUses {
    fn note(&self, token: TokenId, written_at: Option<Timestamp>, now: Timestamp) {
        let mut uses = self.0.lock();
        let known = uses.entry(token).or_insert(LastUse { at: now, written_at });
        known.at = known.at.max(now);
    }

    /// Those whose written time is too old. They count as written from now on.
    fn take_due(&self, now: Timestamp) -> Vec<(TokenId, Timestamp)> {
        let mut due = Vec::new();
        for (token, last) in self.0.lock().iter_mut() {
            // The clock may have been ahead when it was used.
            let at = last.at.min(now);
            if last.written_at.is_none_or(|written| at.0.saturating_sub(written.0) >= USE_WRITTEN_EVERY_MS) {
                last.written_at = Some(at);
                due.push((*token, at));
            }
        }
        due
    }

    fn put_back(&self, due: &[(TokenId, Timestamp)]) {
        let mut uses = self.0.lock();
        for (token, _) in due {
            if let Some(last) = uses.get_mut(token) {
                last.written_at = None;
            }
        }
    }
}

impl Service {
    /// The caller that a secret belongs to. Unknown, revoked and expired secrets get one and the same answer.
    pub fn authenticate(&self, secret: &str) -> Result<Caller, ServiceError> {
        let caller = self.holder_of(secret)?;
        if let Some(token) = &caller.token {
            self.token_uses.note(token.id, token.last_used_at, self.now());
        }
        Ok(caller)
    }

    /// The same for who only looks: it does not count as a use of the token.
    pub fn holder_of(&self, secret: &str) -> Result<Caller, ServiceError> {
        let hash = hash_of(secret);
        let elapsed_ms = self.elapsed_ms();
        let token = match self.believed_tokens.get(hash, elapsed_ms) {
            Some(token) => token,
            None => {
                let token = self.store.token_by_secret(hash)?.ok_or_else(unauthorized)?;
                self.believed_tokens.put(hash, &token, elapsed_ms);
                if token.scopes.iter().any(|scope| scope != Effect::Read.as_str()) {
                    self.store.act_with(hash);
                }
                token
            }
        };
        self.caller_by(token, hash)
    }

    /// The same without reading a row, so that no thread has to wait: for a secret that was looked up a moment ago, and for
    /// what cannot be one. `None` for any other secret.
    pub fn authenticate_believed(&self, secret: &str) -> Option<Result<Caller, ServiceError>> {
        if !secret.starts_with(SECRET_PREFIX) || secret.len() != SECRET_PREFIX.len() + 2 * SECRET_BYTES {
            return Some(Err(unauthorized()));
        }
        let hash = hash_of(secret);
        let token = self.believed_tokens.get(hash, self.elapsed_ms())?;
        Some(self.caller_by(token, hash))
    }

    fn caller_by(&self, token: TokenRow, hash: Credential) -> Result<Caller, ServiceError> {
        let now = self.now();
        let ends = [token.expires_at, token.secret_ends_at].into_iter().flatten().min();
        if ends.is_some_and(|at| at <= now) {
            return Err(unauthorized());
        }
        let caller = caller_of(token, hash)?;
        let owner = caller.token.as_ref().and_then(|token| token.owner.as_deref());
        let person = owner.map(|owner| self.person_of(owner));
        Ok(Caller { person, ..caller })
    }

    /// The same for a request from elsewhere: who is refused is noted with the address and what was asked for.
    pub fn authenticate_from(
        &self,
        secret: &str,
        address: Option<IpAddr>,
        operation: &'static str,
    ) -> Result<Caller, ServiceError> {
        self.located(self.authenticate(secret), address, operation)
    }

    /// [`Self::authenticate_believed`] for a request from elsewhere.
    pub fn authenticate_believed_from(
        &self,
        secret: &str,
        address: Option<IpAddr>,
        operation: &'static str,
    ) -> Option<Result<Caller, ServiceError>> {
        Some(self.located(self.authenticate_believed(secret)?, address, operation))
    }

    fn located(
        &self,
        found: Result<Caller, ServiceError>,
        address: Option<IpAddr>,
        operation: &'static str,
    ) -> Result<Caller, ServiceError> {
        let caller = found.inspect_err(|error| {
            if error.code == ErrorCode::Unauthorized {
                self.note_stranger(Channel::Http, address, operation);
            }
        })?;
        Ok(Caller { address, ..caller })
    }

    /// From now on this process shows a database that checks tokens itself this one, where a request brings none.
    pub fn act_with(&self, secret: &str) {
        self.store.act_with(hash_of(secret));
    }

    /// Whether there is a token that would be let in. Without one, only the command line can make the first.
    pub fn has_tokens(&self) -> Result<bool, ServiceError> {
        Ok(self.store.has_living_token(self.now())?)
    }

    /// When the token of this caller ends, if that is soon enough to be warned of.
    pub fn ends_soon(&self, caller: &Caller) -> Option<Timestamp> {
        self.ends_within(caller, TOKEN_WARNING_DAYS * DAY_MS)
    }

    /// When the token of this caller ends, if that is within so long.
    pub fn ends_within(&self, caller: &Caller, milliseconds: i64) -> Option<Timestamp> {
        caller.token.as_ref()?;
        caller.rights_expire_at.filter(|at| *at <= self.now().saturating_add_ms(milliseconds))
    }

    /// How long the next of the tokens to end will be accepted; `None` where none ends.
    pub fn soonest_token_end_ms(&self) -> Result<Option<i64>, ServiceError> {
        let now = self.now();
        Ok(self.store.soonest_token_end(now)?.map(|at| at.0.saturating_sub(now.0)))
    }

    /// Writes when tokens were last used, at most once an hour for each.
    pub fn flush_token_uses(&self) -> Result<(), ServiceError> {
        let due = self.token_uses.take_due(self.now());
        self.store.note_token_uses(&due).inspect_err(|_| self.token_uses.put_back(&due))?;
        Ok(())
    }

    /// Before somebody reads it: what cannot be written now is written later.
    pub(crate) fn flush_token_uses_and_log(&self) {
        if let Err(error) = self.flush_token_uses() {
            tracing::warn!(%error, "writing when tokens were used failed; the next one tries again");
        }
    }

    /// Tells once of every token that ends soon.
    pub(crate) fn warn_of_ending_tokens(&self, actor: &str) -> Result<(), ServiceError> {
        let now = self.now();
        let told = self.store.warn_of_ending_tokens(ends_soon_by(now), Stamp::new(now, actor))?;
        if told > 0 {
            tracing::warn!(
                tokens = told,
                "tokens expire within {TOKEN_WARNING_DAYS} days; `rootset token list` names them"
            );
        }
        Ok(())
    }
}

fn unauthorized() -> ServiceError {
    ServiceError::new(ErrorCode::Unauthorized, "the token is missing, unknown, revoked or expired")
        .with_hint("send `Authorization: Bearer <token>`; create one with `rootset token create`")
}

/// What the holder of a token writes is believed as far as the token is.
fn trust_of(trust: TokenTrust) -> Trust {
    match trust {
        TokenTrust::Person => Trust::Person,
        TokenTrust::Agent => Trust::Agent,
        TokenTrust::Untrusted => Trust::Untrusted,
    }
}

/// What a request means that names no workspace. Who may work in one only means that one, and personal memory beside it is
/// not another. Who may work in all of them means the one that always exists: that another one was made must not change
/// what a client does.
fn current_of(bound: Option<&[BoundWorkspace]>) -> CurrentWorkspace {
    let Some(bound) = bound else { return HOME_WORKSPACE.into() };
    let mut shared = bound.iter().filter(|it| !it.is_personal);
    match (shared.next(), shared.next(), bound) {
        (Some(only), None, _) | (None, None, [only]) => only.id.as_str().into(),
        _ => CurrentWorkspace::MustBeNamed,
    }
}

fn caller_of(token: TokenRow, credential: Credential) -> Result<Caller, ServiceError> {
    let scopes: Option<BTreeSet<Effect>> = token.scopes.iter().map(|word| Effect::from_word(word)).collect();
    let scopes = scopes.ok_or(StoreError::UnreadableValue("the scopes of a token"))?;
    let trust = TokenTrust::from_word(&token.trust).ok_or(StoreError::UnreadableValue("the trust of a token"))?;
    let numbers = token.workspaces.as_ref().map(|bound| bound.iter().map(|it| it.key).collect());
    let current = current_of(token.workspaces.as_deref());
    let workspaces: Option<BTreeSet<String>> =
        token.workspaces.map(|bound| bound.into_iter().map(|it| it.id).collect());
    let mut caller = Caller::new(FrontEnd::Http, token.name, current);
    caller.trust = trust_of(trust);
    caller.rights = Rights { scopes: Some(scopes), workspaces, numbers, also_personal: false, roots: token.roots };
    caller.rights_expire_at = [token.expires_at, token.secret_ends_at].into_iter().flatten().min();
    caller.token =
        Some(CallerToken { id: token.id, owner: token.owner, trust, last_used_at: token.last_used_at, credential });
    Ok(caller)
}
