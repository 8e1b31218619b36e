//! The limits of a server. Each has a default that suits one machine and a handful of clients.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Names under which the server may be called besides the loopback's, without port.
    pub hosts: Vec<String>,
    /// Bytes of one request's body, for operations that take many things at once; others take less.
    pub body_bytes_max: usize,
    /// Requests that are worked on at the same time; one more is refused as `busy`.
    pub requests_max: usize,
    /// Of these, those of one token; its event streams are counted apart, to the same number.
    pub requests_per_token_max: usize,
    /// Requests without a token that one address may have running.
    pub requests_per_address_max: usize,
    /// Connections that are open at the same time; for one more, the one that is idle the longest is closed.
    pub connections_max: usize,
    /// Of these, those of one address, loopback included.
    pub connections_per_address_max: usize,
    /// Wrong tokens of one address that are looked up, per minute; more are refused without a look.
    pub wrong_tokens_per_minute_max: usize,
    /// For sending a request's head, and again for its body, and how long a client may take nothing of its answer. Also
    /// how long an idle connection is kept.
    pub read_timeout: Duration,
    /// How long a caller is kept waiting for an answer, and how long it may take to receive it.
    pub request_timeout: Duration,
    /// How long running requests may go on after the server was told to end.
    pub shutdown_timeout: Duration,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            // Imports of whole sessions come in one piece.
            body_bytes_max: 64 << 20,
            requests_max: 256,
            // Agents work in parallel, but not all of a server is theirs.
            requests_per_token_max: 64,
            // Probes and pages that describe the API.
            requests_per_address_max: 16,
            connections_max: 1_024,
            // Many times what a person's agents and browsers open. A proxy keeps a pool and may need more.
            connections_per_address_max: 256,
            // A person with an old token tries a few times.
            wrong_tokens_per_minute_max: 60,
            read_timeout: Duration::from_secs(30),
            // Indexing and backups of a large database take minutes.
            request_timeout: Duration::from_secs(300),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}
