//! Who does something, when, and how they came: every change carries it into the audit trail.
//!
//! Nothing here decides what somebody may do.

use std::fmt;
use std::net::IpAddr;

use rootset_model::{Channel, Origin, Timestamp, TokenId};

use crate::driver::Transaction;
use crate::error::StoreError;

/// Who does something, and when.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    pub now: Timestamp,
    pub actor: &'a str,
    /// `None` for work that nobody asked for, like [`Self::way`].
    pub origin: Option<Origin>,
    pub way: Option<Way>,
}

impl<'a> Stamp<'a> {
    pub fn new(now: Timestamp, author: impl Into<Author<'a>>) -> Self {
        let Author { actor, origin, way } = author.into();
        Self { now, actor, origin, way }
    }

    /// Shows an engine that checks tokens itself whose request this is.
    pub(crate) fn show(self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        self.way.and_then(|way| way.credential).map_or(Ok(()), |credential| tx.show(credential))
    }
}

/// Who does something, at times that others know.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub actor: &'a str,
    pub origin: Option<Origin>,
    pub way: Option<Way>,
}

impl<'a> From<&'a str> for Author<'a> {
    fn from(actor: &'a str) -> Self {
        Self { actor, origin: None, way: None }
    }
}

/// How a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub channel: Channel,
    /// The other end of the connection, where there is one.
    pub address: Option<IpAddr>,
    pub token: Option<TokenId>,
    /// What shows an engine that checks tokens itself whose request this is.
    pub credential: Option<Credential>,
}

impl Way {
    /// As the audit trail keeps it: `http 192.0.2.7`.
    pub(crate) fn in_words(&self) -> String {
        match self.address {
            Some(address) => format!("{} {address}", self.channel.as_str()),
            None => self.channel.as_str().to_owned(),
        }
    }
}

/// The hash of a token's secret. Whoever has it can act as the token inside the database, so it is never shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Credential(pub [u8; 32]);

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential")
    }
}
