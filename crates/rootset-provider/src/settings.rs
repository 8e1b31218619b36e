//! How to reach an endpoint: values that the configuration fills in. Nothing here reads files or the environment.

use std::fmt;

/// Long enough for a small local model on a processor to answer one request.
pub const TIMEOUT_MS_DEFAULT: u64 = 60_000;
/// Three full timeouts and the waits between them: an endpoint that is down is left to the caller's own back-off.
pub const TOTAL_TIMEOUT_MS_DEFAULT: u64 = 200_000;
/// Rides over a restart of the endpoint and ordinary rate limits.
pub const ATTEMPTS_MAX_DEFAULT: u32 = 4;

/// One model behind one OpenAI-compatible endpoint.
#[derive(Clone)]
pub struct EndpointSettings {
    /// What the paths of the protocol are appended to: `http://localhost:11434/v1`.
    pub base_url: String,
    pub model: String,
    pub api_key: Option<Secret>,
    /// One attempt, from name resolution to the last byte of the answer.
    pub timeout_ms: u64,
    /// One request with all its attempts and the waits between them. A text that needs several requests has this much
    /// for each.
    pub total_timeout_ms: u64,
    /// Attempts per request, the first one included.
    pub attempts_max: u32,
}

impl EndpointSettings {
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            timeout_ms: TIMEOUT_MS_DEFAULT,
            total_timeout_ms: TOTAL_TIMEOUT_MS_DEFAULT,
            attempts_max: ATTEMPTS_MAX_DEFAULT,
        }
    }

    pub fn with_api_key(self, api_key: Secret) -> Self {
        Self { api_key: Some(api_key), ..self }
    }
}

impl fmt::Debug for EndpointSettings {
    /// Without the URL: until it is checked it may carry a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointSettings")
            .field("model", &self.model)
            .field("api_key", &self.api_key)
            .field("timeout_ms", &self.timeout_ms)
            .field("total_timeout_ms", &self.total_timeout_ms)
            .field("attempts_max", &self.attempts_max)
            .finish_non_exhaustive()
    }
}

/// A key that is sent and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Trimmed, because keys read from files end in a line break.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// For the one header it belongs in.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_neither_key_nor_url() {
        let settings =
            EndpointSettings::new("http://user:hunter2@host/v1", "m").with_api_key(Secret::new("sk-hunter2\n"));
        assert_eq!(settings.api_key.as_ref().map(Secret::expose), Some("sk-hunter2"));
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
