//! A webhook: one URL that is told of events, each in a signed POST request of its own.
//!
//! One call is one attempt; when to try again is the caller's to decide. The answer's body is not read: its status says
//! whether the event arrived.

use std::fmt;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;
use ureq::http::{Uri, header};
use ureq::{Agent, Error as HttpError};

use crate::endpoint::{agent_for, connection_fault};
use crate::error::{ConnectionFault, ProviderError};
use crate::settings::Secret;

/// Seconds since 1970 when the request was signed.
const TIMESTAMP_HEADER: &str = "X-Rootset-Timestamp";
/// `sha256=`, and in hexadecimal the HMAC-SHA256 of the timestamp, a full stop, and the body.
const SIGNATURE_HEADER: &str = "X-Rootset-Signature";

pub struct Webhook {
    agent: Agent,
    url: String,
    /// Host and port, as shown in errors.
    host: String,
    secret: Secret,
}

#[derive(Debug, Error)]
pub enum WebhookError {
    #[error("`{host}` answered with status {status}")]
    Status { host: String, status: u16 },
    #[error("`{host}` did not answer within {limit_ms} ms")]
    TimedOut { host: String, limit_ms: u128 },
    #[error("no usable connection to `{host}`: {fault}")]
    Connection { host: String, fault: ConnectionFault },
}

impl WebhookError {
    /// Whether it will fail again until somebody changes something.
    pub fn lasts(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 300..=499) && !matches!(status, 408 | 425 | 429),
            Self::TimedOut { .. } => false,
            Self::Connection { fault, .. } => *fault == ConnectionFault::Tls,
        }
    }
}

impl Webhook {
    pub fn new(url: &str, secret: Secret) -> Result<Self, ProviderError> {
        let fault = |setting, problem| ProviderError::Setting { setting, problem };
        let uri: Uri = url.parse().map_err(|_| fault("url", "is not a URL"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none_or(str::is_empty) {
            return Err(fault("url", "is not a URL such as `https://ops.example.org/rootset`"));
        }
        if secret.expose().is_empty() {
            return Err(fault("secret", "is empty"));
        }
        let host = uri.authority().map(ToString::to_string).unwrap_or_default();
        Ok(Self { agent: agent_for(&uri), url: url.to_owned(), host, secret })
    }

    /// `Ok` once the other side has answered that it has the event.
    pub fn post(&self, body: &str, unix_seconds: i64, timeout: Duration) -> Result<(), WebhookError> {
        let timestamp = unix_seconds.to_string();
        let request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header(header::CONTENT_TYPE, "application/json")
            .header(SIGNATURE_HEADER, signature(&self.secret, &timestamp, body))
            .header(TIMESTAMP_HEADER, timestamp);
        let host = || self.host.clone();
        match request.send(body.as_bytes()) {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(WebhookError::Status { host: host(), status: response.status().as_u16() }),
            Err(HttpError::Timeout(_)) => Err(WebhookError::TimedOut { host: host(), limit_ms: timeout.as_millis() }),
            Err(error) => Err(WebhookError::Connection { host: host(), fault: connection_fault(&error) }),
        }
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("host", &self.host).finish_non_exhaustive()
    }
}

fn signature(secret: &Secret, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()).expect("HMAC takes keys of any length");
    for part in [timestamp, ".", body] {
        mac.update(part.as_bytes());
    }
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_that_of_other_tools() {
        // printf '1700000000.{"id":"1-2"}' | openssl dgst -sha256 -hmac hunter2
        let signed = signature(&Secret::new("hunter2"), "1700000000", r#"{"id":"1-2"}"#);
        assert_eq!(signed, "sha256=45c1f81df26cfb57815c20fff356e97aa278d7e34ae5928025e4caae6979d9a6");
    }

    #[test]
    fn only_what_somebody_must_change_lasts() {
        let status = |status| WebhookError::Status { host: String::new(), status };
        for lasting in [301, 400, 401, 404, 410] {
            assert!(status(lasting).lasts(), "{lasting}");
        }
        for passing in [408, 425, 429, 500, 503] {
            assert!(!status(passing).lasts(), "{passing}");
        }
    }

    #[test]
    fn neither_url_nor_secret_is_shown() {
        let webhook = Webhook::new("http://localhost:1/hidden", Secret::new("hunter2")).unwrap();
        let shown = format!("{webhook:?}");
        assert!(!shown.contains("hunter2") && !shown.contains("hidden"), "{shown}");
        for url in ["", "localhost", "ftp://host/"] {
            assert!(Webhook::new(url, Secret::new("hunter2")).is_err(), "{url}");
        }
        assert!(Webhook::new("http://localhost", Secret::new(" ")).is_err());
    }
}
