//! Who a secret belongs to. Secrets exist here only during a call: only their hash is kept, in the database and in
//! memory.
//!
//! A token is believed for a moment ([`TOKEN_BELIEVED_MS`]) before its row is read again, so that a busy client does not
//! read it with every request. Unknown secrets are never remembered, so guessing cannot fill the memory.

use std::collections::{BTreeSet, HashMap};

use parking_lot::Mutex;
use rootset_api::{Effect, ErrorCode};
use rootset_model::limits::TOKEN_BELIEVED_MS;
use rootset_store::TokenRow;

use crate::caller::{Caller, FrontEnd, Rights};
use crate::error::ServiceError;
use crate::fields::hex;
use crate::service::{DEFAULT_WORKSPACE, Service};

/// What secrets begin with, so that people and scanners of leaked secrets know one when they see it.
const SECRET_PREFIX: &str = "rst_";
const SECRET_BYTES: usize = 32;

pub(crate) type SecretHash = [u8; 32];

/// A new secret. It is random enough that its hash needs neither salt nor slowness.
pub(crate) fn new_secret() -> Result<String, ServiceError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        ServiceError::new(ErrorCode::Internal, format!("the system provides no randomness: {error}"))
    })?;
    Ok(format!("{SECRET_PREFIX}{}", hex(&bytes)))
}

pub(crate) fn hash_of(secret: &str) -> SecretHash {
    *blake3::hash(secret.as_bytes()).as_bytes()
}

/// Tokens that were looked up a moment ago.
#[derive(Debug, Default)]
pub(crate) struct BelievedTokens(Mutex<HashMap<SecretHash, Believed>>);

#[derive(Clone, Debug)]
struct Believed {
    token: TokenRow,
    /// By the clock that nobody sets.
    until_ms: i64,
}

impl BelievedTokens {
    fn get(&self, secret: &SecretHash, now_ms: i64) -> Option<TokenRow> {
        let believed = self.0.lock();
        believed.get(secret).filter(|it| now_ms < it.until_ms).map(|it| it.token.clone())
    }

    fn put(&self, secret: SecretHash, token: &TokenRow, now_ms: i64) {
        let mut believed = self.0.lock();
        believed.retain(|_, it| now_ms < it.until_ms);
        believed.insert(secret, Believed { token: token.clone(), until_ms: now_ms + TOKEN_BELIEVED_MS });
    }

    /// After a revocation in this process, which works at once.
    pub(crate) fn forget(&self) {
        self.0.lock().clear();
    }
}

impl Service {
    /// The caller that a secret belongs to. Unknown, revoked and expired secrets get one and the same answer.
    pub fn authenticate(&self, secret: &str) -> Result<Caller, ServiceError> {
        let hash = hash_of(secret);
        let now_ms = self.elapsed_ms();
        let token = match self.believed_tokens.get(&hash, now_ms) {
            Some(token) => token,
            None => {
                let token = self.store.token_by_secret(&hash)?.ok_or_else(unauthorized)?;
                self.believed_tokens.put(hash, &token, now_ms);
                token
            }
        };
        self.caller_by(token)
    }

    /// The same without reading a row, so that no thread has to wait: for a secret that was looked up a moment ago, and for
    /// what cannot be one. `None` for any other secret.
    pub fn authenticate_believed(&self, secret: &str) -> Option<Result<Caller, ServiceError>> {
        if !secret.starts_with(SECRET_PREFIX) || secret.len() != SECRET_PREFIX.len() + 2 * SECRET_BYTES {
            return Some(Err(unauthorized()));
        }
        let token = self.believed_tokens.get(&hash_of(secret), self.elapsed_ms())?;
        Some(self.caller_by(token))
    }

    fn caller_by(&self, token: TokenRow) -> Result<Caller, ServiceError> {
        match token.expires_at {
            Some(at) if at <= self.now() => Err(unauthorized()),
            _ => caller_of(token),
        }
    }

    /// Whether there is a token that would be let in. Without one, only the command line can make the first.
    pub fn has_tokens(&self) -> Result<bool, ServiceError> {
        Ok(self.store.has_living_token(self.now())?)
    }
}

fn unauthorized() -> ServiceError {
    ServiceError::new(ErrorCode::Unauthorized, "the token is missing, unknown, revoked or expired")
        .with_hint("send `Authorization: Bearer <token>`; create one with `rootset token create`")
}

fn caller_of(token: TokenRow) -> Result<Caller, ServiceError> {
    let scopes: Option<BTreeSet<Effect>> = token.scopes.iter().map(|word| Effect::from_word(word)).collect();
    let scopes = scopes.ok_or(rootset_store::StoreError::UnreadableValue("the scopes of a token"))?;
    let workspaces: Option<BTreeSet<String>> = token.workspaces.map(|ids| ids.into_iter().collect());
    // Who may work in one workspace only means that one.
    let current = match &workspaces {
        Some(ids) if !ids.contains(DEFAULT_WORKSPACE) => ids.first().cloned().unwrap_or_default(),
        _ => DEFAULT_WORKSPACE.to_owned(),
    };
    let mut caller = Caller::new(FrontEnd::Http, token.name, current);
    caller.rights = Rights { scopes: Some(scopes), workspaces, roots: None };
    caller.rights_expire_at = token.expires_at;
    Ok(caller)
}
