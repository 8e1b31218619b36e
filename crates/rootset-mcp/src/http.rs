//! The handler for `/mcp`: streamable HTTP, to be mounted by an HTTP server that authenticates requests.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::server::McpServer;

/// A tower service. It expects the [`Caller`](rootset_service::Caller) among the extensions of every request, put there by
/// whoever authenticated it, and refuses requests without one.
pub type McpHttpService = StreamableHttpService<McpServer, LocalSessionManager>;

/// What the surrounding HTTP server decides.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// `host` or `host:port`; none stands for loopback only.
    pub allowed_hosts: Vec<String>,
    /// With scheme and port; a request with any other Origin is refused. None: every Origin is.
    pub allowed_origins: Vec<String>,
    /// Larger requests are refused with 413.
    pub body_bytes_max: usize,
    /// Ends all streams and sessions.
    pub stop: CancellationToken,
}

pub fn http_service(server: McpServer, options: HttpOptions) -> McpHttpService {
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_origins(options.allowed_origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(options.body_bytes_max)
        .with_cancellation_token(options.stop);
    // An empty list would switch the check off.
    if !options.allowed_hosts.is_empty() {
        config = config.with_allowed_hosts(options.allowed_hosts);
    }
    let server = server.over_http();
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config)
}
