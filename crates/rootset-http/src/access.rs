//! Who is asking: the token of a request, compared with those in the database.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderMap};
use rootset_model::Channel;
use rootset_service::{Caller, Service};

use crate::answer::Refusal;

/// Who may call.
#[derive(Clone, Debug)]
pub enum Access {
    /// Only callers with a token.
    Tokens,
    /// Everybody who reaches the socket, as this caller.
    Open(Caller),
}

/// What a request brought along, not yet held against anything: that may take a look into the database.
#[derive(Clone, Debug)]
pub struct Credentials {
    kind: Kind,
    /// Where the request came from, and what it is for: noted if it is refused.
    address: Option<IpAddr>,
    operation: &'static str,
}

#[derive(Clone, Debug)]
enum Kind {
    Secret(String),
    Nothing,
    NotNeeded(Caller),
}

impl Access {
    /// `operation` comes from the list of operations or of routes.
    pub fn credentials(&self, headers: &HeaderMap, address: Option<IpAddr>, operation: &'static str) -> Credentials {
        if let Self::Open(caller) = self {
            let kind = Kind::NotNeeded(Caller { address, ..caller.clone() });
            return Credentials { kind, address, operation };
        }
        let kind = secret_of(headers).map_or(Kind::Nothing, |secret| Kind::Secret(secret.to_owned()));
        Credentials { kind, address, operation }
    }

    /// Tells the holders of tokens apart without keeping any token.
    pub fn fingerprint(&self, headers: &HeaderMap) -> [u8; 32] {
        let secret = match self {
            Self::Tokens => secret_of(headers).unwrap_or_default(),
            Self::Open(_) => "",
        };
        *blake3::hash(secret.as_bytes()).as_bytes()
    }
}

impl Credentials {
    /// Whether a token has to be shown at all.
    pub fn are_needed(&self) -> bool {
        !matches!(self.kind, Kind::NotNeeded(_))
    }

    /// The caller, where that is known without a look into the database; `None` where one is needed.
    pub fn caller_at_once(&self, service: &Service) -> Result<Option<Caller>, Refusal> {
        match &self.kind {
            Kind::NotNeeded(caller) => Ok(Some(caller.clone())),
            Kind::Nothing => {
                service.note_stranger(Channel::Http, self.address, self.operation);
                Err(Refusal::no_token())
            }
            Kind::Secret(secret) => {
                Ok(service.authenticate_believed_from(secret, self.address, self.operation).transpose()?)
            }
        }
    }

    /// Not for an async thread.
    pub fn caller(&self, service: &Arc<Service>) -> Result<Caller, Refusal> {
        match &self.kind {
            Kind::NotNeeded(caller) => Ok(caller.clone()),
            Kind::Nothing => {
                service.note_stranger(Channel::Http, self.address, self.operation);
                Err(Refusal::no_token())
            }
            Kind::Secret(secret) => Ok(service.authenticate_from(secret, self.address, self.operation)?),
        }
    }

    /// Tells the holders of tokens apart without keeping any token.
    pub fn fingerprint(&self) -> [u8; 32] {
        let secret = match &self.kind {
            Kind::Secret(secret) => secret.as_str(),
            Kind::Nothing | Kind::NotNeeded(_) => "",
        };
        *blake3::hash(secret.as_bytes()).as_bytes()
    }
}

fn secret_of(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (Some(value), None) => value.to_str().ok().and_then(bearer),
        _ => None,
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
