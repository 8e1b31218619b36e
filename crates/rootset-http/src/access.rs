//! Who is asking: the token of a request, held against those that the database knows.

use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderMap};
use rootset_service::{Caller, ServiceError};

use crate::answer::Refusal;

/// Who knows the tokens.
pub trait Authority: Send + Sync + std::fmt::Debug {
    /// The caller behind a secret, with what it may do.
    fn authenticate(&self, secret: &str) -> Result<Caller, ServiceError>;
}

/// Who may call.
#[derive(Clone, Debug)]
pub enum Access {
    /// Whoever holds a token.
    Tokens(Arc<dyn Authority>),
    /// Everybody who reaches the socket, as this caller.
    Open(Caller),
}

/// What a request brought along, not yet held against anything: that may take a look into the database.
#[derive(Clone, Debug)]
pub struct Credentials {
    access: Access,
    secret: Option<String>,
}

impl Access {
    pub fn credentials(&self, headers: &HeaderMap) -> Credentials {
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let secret = match (given.next(), given.next()) {
            (Some(value), None) => value.to_str().ok().and_then(bearer).map(str::to_owned),
            _ => None,
        };
        Credentials { access: self.clone(), secret }
    }
}

impl Credentials {
    /// Not for an async thread.
    pub fn caller(&self) -> Result<Caller, Refusal> {
        match (&self.access, &self.secret) {
            (Access::Open(caller), _) => Ok(caller.clone()),
            (Access::Tokens(_), None) => Err(Refusal::no_token()),
            (Access::Tokens(authority), Some(secret)) => Ok(authority.authenticate(secret)?),
        }
    }

    /// Tells the holders of tokens apart without keeping any token.
    pub fn fingerprint(&self) -> [u8; 32] {
        *blake3::hash(self.secret.as_deref().unwrap_or_default().as_bytes()).as_bytes()
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, secret) = value.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer")).then_some(secret.trim()).filter(|secret| !secret.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearer_token_is_a_secret() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        for other in ["abc", "Basic abc", "Bearer", "Bearer ", ""] {
            assert_eq!(bearer(other), None, "{other}");
        }
    }
}
