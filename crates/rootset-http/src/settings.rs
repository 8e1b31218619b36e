//! The limits of a server. Each has a default that suits one machine and a handful of clients.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Names under which the server may be called besides the loopback's, without port.
    pub hosts: Vec<String>,
    /// Bytes of one request's body.
    pub body_bytes_max: usize,
    /// Requests that are worked on at the same time; one more is refused as `busy`.
    pub requests_max: usize,
    /// Connections that are open at the same time; one more waits to be accepted.
    pub connections_max: usize,
    /// For sending a request's head, and again for its body. Also how long an idle connection is kept.
    pub read_timeout: Duration,
    /// How long a caller is kept waiting for an answer.
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
            connections_max: 1_024,
            read_timeout: Duration::from_secs(30),
            // Indexing and backups of a large database take minutes.
            request_timeout: Duration::from_secs(300),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}
