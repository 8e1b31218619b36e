//! Sessions over HTTP: whose they are, how many there may be, and which one ends for a new one. What a session is made of is
//! the library's.
//!
//! A session belongs to the token that began it: to any other one it does not exist. Each costs memory until it ends, so
//! one more than a token may have ends that token's least recently used one; its client begins a new one when it comes
//! back, as the protocol wants it.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::Stream;
use http::header::{AUTHORIZATION, HeaderMap};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

/// How long the answer to a call is kept for a client that lost its connection. Each is as long as an answer can be.
const ANSWERS_KEPT_FOR: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    pub max: usize,
    pub per_token_max: usize,
    /// A session that is not used for so long ends.
    pub idle_max: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        // A session takes 80 KB. People have a few agents open, teams a few dozen.
        Self { max: 512, per_token_max: 64, idle_max: Duration::from_secs(300) }
    }
}

/// Tells the holders of tokens apart without keeping any token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner([u8; 32]);

impl Owner {
    pub fn of(headers: &HeaderMap) -> Self {
        let mut hasher = blake3::Hasher::new();
        for value in headers.get_all(AUTHORIZATION) {
            hasher.update(value.as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }
}

tokio::task_local! {
    /// Whose request is being handled: the library does not hand it on. Not set where a session ends by itself.
    pub static OWNER: Owner;
}

#[derive(Debug)]
pub struct Sessions {
    limits: SessionLimits,
    local: LocalSessionManager,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_id: HashMap<SessionId, Session>,
    uses: u64,
}

#[derive(Debug)]
struct Session {
    owner: Option<Owner>,
    last_use: u64,
}

impl Sessions {
    pub fn new(limits: SessionLimits) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(limits.idle_max);
        local.session_config.completed_cache_ttl = ANSWERS_KEPT_FOR;
        Self { limits, local, known: Mutex::default() }
    }
}

impl Known {
    fn begin(&mut self, id: SessionId, owner: Option<Owner>, limits: &SessionLimits) -> Option<SessionId> {
        self.uses += 1;
        let of_owner = self.by_id.values().filter(|it| it.owner == owner).count();
        let ended = if of_owner >= limits.per_token_max {
            self.least_recently_used(|it| it.owner == owner)
        } else if self.by_id.len() >= limits.max {
            self.least_recently_used(|_| true)
        } else {
            None
        };
        if let Some(ended) = &ended {
            self.by_id.remove(ended);
        }
        self.by_id.insert(id, Session { owner, last_use: self.uses });
        ended
    }

    fn least_recently_used(&self, is_meant: impl Fn(&Session) -> bool) -> Option<SessionId> {
        let meant = self.by_id.iter().filter(|(_, it)| is_meant(it));
        meant.min_by_key(|(_, it)| it.last_use).map(|(id, _)| id.clone())
    }

    /// Whether there is such a session for this owner, who uses it then.
    fn is_used(&mut self, id: &SessionId, owner: Option<Owner>) -> bool {
        self.uses += 1;
        let session = self.by_id.get_mut(id).filter(|it| it.owner == owner);
        let Some(session) = session else { return false };
        session.last_use = self.uses;
        true
    }
}

fn asking() -> Option<Owner> {
    OWNER.try_with(|owner| *owner).ok()
}

impl SessionManager for Sessions {
    type Error = <LocalSessionManager as SessionManager>::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.local.create_session().await?;
        let ended = self.known.lock().begin(id.clone(), asking(), &self.limits);
        if let Some(ended) = ended {
            self.local.close_session(&ended).await?;
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.known.lock().is_used(id, asking()) && self.local.has_session(id).await?)
    }

    /// By its owner, or because it is over. For anybody else it does not exist, and nothing happens.
    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        {
            let mut known = self.known.lock();
            if asking().is_some() && !known.is_used(id, asking()) {
                return Ok(());
            }
            known.by_id.remove(id);
        }
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.local.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(known: &mut Known, id: &str, owner: u8) -> Option<String> {
        let limits = SessionLimits { max: 4, per_token_max: 2, ..SessionLimits::default() };
        let ended = known.begin(id.into(), Some(Owner([owner; 32])), &limits);
        ended.map(|id| id.to_string())
    }

    #[test]
    fn one_more_ends_the_owners_least_recently_used_one_and_then_anybodys() {
        let mut known = Known::default();
        assert_eq!(begin(&mut known, "a1", 1), None);
        assert_eq!(begin(&mut known, "a2", 1), None);
        assert!(known.is_used(&"a1".into(), Some(Owner([1; 32]))));
        assert_eq!(begin(&mut known, "a3", 1).as_deref(), Some("a2"), "a1 was used since");
        assert_eq!(begin(&mut known, "b1", 2), None);
        assert_eq!(begin(&mut known, "b2", 2), None);
        assert_eq!(begin(&mut known, "c1", 3).as_deref(), Some("a1"), "there are as many as there may be");
        assert!(!known.is_used(&"b1".into(), Some(Owner([1; 32]))), "it is another token's");
        assert_eq!(known.by_id.len(), 4);
    }
}
