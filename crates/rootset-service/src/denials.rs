//! Requests that were refused because of who asked: counted here and written to the audit trail once a minute, so that
//! refusing costs nothing and whoever keeps asking cannot fill the disk.
//!
//! Kept are the token, the operation, the code and the address: never a secret, and nothing of what was asked.

use std::collections::HashMap;
use std::net::IpAddr;

use parking_lot::Mutex;
use rootset_api::ErrorCode;
use rootset_model::{Channel, TokenId};
use rootset_store::{Denial, Way};

use crate::caller::{Caller, Rights};
use crate::error::ServiceError;
use crate::service::Service;

/// How long denials of one kind are counted before they become an entry.
const WINDOW_MS: i64 = 60_000;
/// Kinds that are told apart within a window; a stranger can make any number of them by changing the address.
const KINDS_MAX: usize = 1_000;
/// Entries for one window. What there is no room for is counted together.
const ENTRIES_MAX: usize = 16;
/// The actor of requests without a token that is known.
const STRANGER: &str = "unknown";
const SEVERAL: &str = "several";

#[derive(Debug, Default)]
pub(crate) struct DenialBuffer(Mutex<Window>);

#[derive(Debug, Default)]
struct Window {
    /// By the clock that nobody sets; `None` while nothing waits.
    began_ms: Option<i64>,
    kinds: HashMap<Kind, i64>,
    others: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    actor: String,
    channel: Channel,
    address: Option<IpAddr>,
    token: Option<TokenId>,
    operation: &'static str,
    code: &'static str,
}

impl DenialBuffer {
    fn note(&self, kind: Kind, now_ms: i64) {
        let mut window = self.0.lock();
        window.began_ms.get_or_insert(now_ms);
        if window.kinds.len() >= KINDS_MAX && !window.kinds.contains_key(&kind) {
            window.others += 1;
            return;
        }
        *window.kinds.entry(kind).or_default() += 1;
    }

    fn take(&self, now_ms: i64, due: Due) -> Vec<Denial> {
        let mut window = self.0.lock();
        let is_over = window.began_ms.is_some_and(|began| now_ms.saturating_sub(began) >= WINDOW_MS);
        if window.began_ms.is_none() || (due == Due::AfterTheWindow && !is_over) {
            return Vec::new();
        }
        std::mem::take(&mut *window).into_denials()
    }

    fn put_back(&self, denials: Vec<Denial>, now_ms: i64) {
        let mut window = self.0.lock();
        window.began_ms.get_or_insert(now_ms);
        window.others += denials.iter().map(|it| it.count).sum::<i64>();
    }
}

/// Whether denials wait until their minute is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    AfterTheWindow,
    Now,
}

impl Window {
    /// Holders of tokens first, then the most frequent: strangers can make any noise they like.
    fn into_denials(self) -> Vec<Denial> {
        let mut kinds: Vec<(Kind, i64)> = self.kinds.into_iter().collect();
        kinds.sort_by_key(|(kind, count)| (kind.token.is_none(), -count, kind.actor.clone(), kind.operation));
        let rest = kinds.split_off(kinds.len().min(ENTRIES_MAX));
        let others = self.others + rest.iter().map(|(_, count)| count).sum::<i64>();
        let mut denials: Vec<Denial> = kinds.into_iter().map(|(kind, count)| kind.denial(count)).collect();
        if others > 0 {
            let (actor, operation, code) = (STRANGER.to_owned(), SEVERAL, SEVERAL);
            denials.push(Denial { actor, way: None, operation, code, count: others });
        }
        denials
    }
}

impl Kind {
    fn denial(self, count: i64) -> Denial {
        let Self { channel, address, token, .. } = self;
        let way = Way { channel, address, token, credential: None };
        Denial { actor: self.actor, way: Some(way), operation: self.operation, code: self.code, count }
    }
}

impl Service {
    /// A request whose sender has no token that is accepted.
    pub fn note_stranger(&self, channel: Channel, address: Option<IpAddr>, operation: &'static str) {
        let (actor, code) = (STRANGER.to_owned(), ErrorCode::Unauthorized.as_str());
        let kind = Kind { actor, channel, address, token: None, operation, code };
        self.denials.note(kind, self.elapsed_ms());
    }

    /// A request that a caller had no right to.
    pub fn note_denial(&self, caller: &Caller, operation: &'static str, code: ErrorCode) {
        let author = caller.author();
        let Some(Way { channel, address, token, .. }) = author.way else { return };
        let kind = Kind { actor: author.actor.to_owned(), channel, address, token, operation, code: code.as_str() };
        self.denials.note(kind, self.elapsed_ms());
    }

    /// Notes a refusal that is about rights: a scope, or a workspace that does not exist for this caller.
    pub(crate) fn note_if_denied(
        &self,
        caller: &Caller,
        operation: &'static str,
        workspace: Option<&str>,
        error: &ServiceError,
    ) {
        let is_denied = match error.code {
            // Others are refused by the file system or by a server, not for want of rights.
            ErrorCode::Forbidden => caller.rights != Rights::default(),
            ErrorCode::NotFound => workspace.is_some_and(|id| !caller.rights.allow_workspace(id)),
            _ => false,
        };
        if is_denied {
            self.note_denial(caller, operation, error.code);
        }
    }

    /// Writes denials whose minute is over. For whoever has time, now and then.
    pub fn flush_denials(&self) -> Result<(), ServiceError> {
        self.write_denials(Due::AfterTheWindow)
    }

    /// Before somebody reads the trail: what cannot be written now is written later.
    pub(crate) fn write_denials_and_log(&self) {
        if let Err(error) = self.write_denials(Due::Now) {
            tracing::warn!(%error, "writing denials failed; the next one tries again");
        }
    }

    fn write_denials(&self, due: Due) -> Result<(), ServiceError> {
        let denials = self.denials.take(self.elapsed_ms(), due);
        if denials.is_empty() {
            return Ok(());
        }
        let written = self.store.note_denials(&denials, self.now());
        written.inspect_err(|_| self.denials.put_back(denials, self.elapsed_ms()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(operation: &'static str, last: u8, token: Option<u8>) -> Kind {
        Kind {
            actor: STRANGER.to_owned(),
            channel: Channel::Http,
            address: Some([192, 0, 2, last].into()),
            token: token.map(|byte| TokenId([byte; 16])),
            operation,
            code: "unauthorized",
        }
    }

    #[test]
    fn a_flood_from_many_addresses_becomes_a_few_entries_and_hides_no_holder_of_a_token() {
        let buffer = DenialBuffer::default();
        for round in 0..100_u8 {
            for last in 0..=255_u8 {
                buffer.note(kind("add_memory", last, None), i64::from(round));
            }
        }
        buffer.note(kind("doctor", 7, Some(1)), 100);
        assert_eq!(buffer.take(WINDOW_MS - 1, Due::AfterTheWindow).len(), 0);
        let denials = buffer.take(WINDOW_MS, Due::AfterTheWindow);
        assert_eq!(denials.len(), ENTRIES_MAX + 1);
        assert_eq!((denials[0].operation, denials[0].count), ("doctor", 1));
        assert_eq!(denials.iter().map(|it| it.count).sum::<i64>(), 100 * 256 + 1);
        assert_eq!(buffer.take(i64::MAX, Due::Now).len(), 0);
    }
}
