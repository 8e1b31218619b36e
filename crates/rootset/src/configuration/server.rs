//! Settings of `rootset serve`.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use rootset_http::ServerSettings;
use rootset_mcp::SessionLimits;
use rootset_service::ServiceError;

use super::Reader;

const PORT: u16 = 7654;

#[derive(Clone, Debug)]
pub struct ServerConfiguration {
    pub listen: SocketAddr,
    pub settings: ServerSettings,
    pub sessions: SessionLimits,
}

impl Reader {
    pub(super) fn server(&self) -> Result<ServerConfiguration, ServiceError> {
        let (defaults, sessions) = (ServerSettings::default(), SessionLimits::default());
        let listen = self.text("server.listen").and_then(|text| text.parse().ok());
        Ok(ServerConfiguration {
            listen: listen.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, PORT).into()),
            settings: ServerSettings {
                hosts: self.texts("server.hosts").unwrap_or(defaults.hosts),
                body_bytes_max: self.size("server.max_body", defaults.body_bytes_max),
                requests_max: self.size("server.max_requests", defaults.requests_max),
                requests_per_token_max: self.size("server.max_requests_per_token", defaults.requests_per_token_max),
                requests_per_address_max: self
                    .size("server.max_requests_per_address", defaults.requests_per_address_max),
                connections_max: self.size("server.max_connections", defaults.connections_max),
                connections_per_address_max: self
                    .size("server.max_connections_per_address", defaults.connections_per_address_max),
                wrong_tokens_per_minute_max: self
                    .size("server.max_wrong_tokens_per_minute", defaults.wrong_tokens_per_minute_max),
                read_timeout: self.duration("server.read_timeout", defaults.read_timeout)?,
                request_timeout: self.duration("server.request_timeout", defaults.request_timeout)?,
                shutdown_timeout: self.duration("server.shutdown_timeout", defaults.shutdown_timeout)?,
            },
            sessions: SessionLimits {
                max: self.size("server.max_sessions", sessions.max),
                per_token_max: self.size("server.max_sessions_per_token", sessions.per_token_max),
                idle_max: self.duration("server.session_timeout", sessions.idle_max)?,
            },
        })
    }

    fn size(&self, key: &str, default: usize) -> usize {
        self.count(key).and_then(|count| usize::try_from(count).ok()).unwrap_or(default)
    }

    fn duration(&self, key: &str, default: Duration) -> Result<Duration, ServiceError> {
        let default_ms = i64::try_from(default.as_millis()).unwrap_or(i64::MAX);
        Ok(Duration::from_millis(self.duration_ms(key, default_ms)?.unsigned_abs()))
    }
}
