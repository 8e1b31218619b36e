//! Settings of `rootset serve`.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use rootset_http::ServerSettings;
use rootset_service::ServiceError;

use super::Reader;

const PORT: u16 = 7654;

#[derive(Clone, Debug)]
pub struct ServerConfiguration {
    pub listen: SocketAddr,
    pub settings: ServerSettings,
}

impl Reader {
    pub(super) fn server(&self) -> Result<ServerConfiguration, ServiceError> {
        let defaults = ServerSettings::default();
        let listen = self.text("server.listen").and_then(|text| text.parse().ok());
        Ok(ServerConfiguration {
            listen: listen.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, PORT).into()),
            settings: ServerSettings {
                hosts: self.texts("server.hosts").unwrap_or(defaults.hosts),
                body_bytes_max: self.size("server.max_body", defaults.body_bytes_max),
                requests_max: self.size("server.max_requests", defaults.requests_max),
                connections_max: self.size("server.max_connections", defaults.connections_max),
                read_timeout: self.duration("server.read_timeout", defaults.read_timeout)?,
                request_timeout: self.duration("server.request_timeout", defaults.request_timeout)?,
                shutdown_timeout: self.duration("server.shutdown_timeout", defaults.shutdown_timeout)?,
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
