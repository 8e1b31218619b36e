//! One OpenAI-compatible endpoint: posting JSON to it with bounded attempts, bytes and time.
//!
//! It knows no operation of the protocol: the caller gives the path and the reading of the answer. Redirects are not
//! followed, because they would carry the text and the key to a host nobody configured.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderValue, Uri, header};
use ureq::{Agent, Error as HttpError};

use crate::error::{AnswerFault, ConnectionFault, ProviderError};
use crate::settings::{EndpointSettings, Secret};
use crate::timer::{SystemTimer, Timer};

/// The largest honest answer, 64 vectors of 4,096 dimensions at 22 bytes a number, is below 6 MiB.
const ANSWER_BYTES_MAX: u64 = 8 << 20;
/// The first wait; every further one is twice as long.
const BACK_OFF_FIRST_MS: u64 = 500;
/// The longest wait within a call: a longer one should not hold a worker.
const BACK_OFF_MS_MAX: u64 = 10_000;
/// An endpoint that asks for more than this is mistaken or hostile; a job should look again.
const RETRY_AFTER_MS_MAX: u64 = 3_600_000;
/// A model that answered malformed twice has not understood; more of the same only costs.
const MALFORMED_ANSWERS_MAX: u32 = 2;

pub(crate) struct Endpoint {
    agent: Agent,
    url: String,
    /// Host and port, as shown in errors.
    host: String,
    authorization: Option<HeaderValue>,
    timeout_ms: u64,
    total_timeout_ms: u64,
    attempts_max: u32,
    timer: Arc<dyn Timer>,
}

impl Endpoint {
    /// `path` is that of the one operation this endpoint is used for, such as `chat/completions`.
    pub fn new(settings: &EndpointSettings, path: &str) -> Result<Self, ProviderError> {
        let base = checked_base_url(&settings.base_url)?;
        if settings.model.trim().is_empty() {
            return Err(ProviderError::Setting { setting: "model", problem: "is empty" });
        }
        if settings.timeout_ms == 0 || settings.total_timeout_ms == 0 {
            return Err(ProviderError::Setting { setting: "timeout", problem: "is 0" });
        }
        if settings.attempts_max == 0 {
            return Err(ProviderError::Setting { setting: "attempts_max", problem: "is 0" });
        }
        let host = base.authority().map(ToString::to_string).unwrap_or_default();
        Ok(Self {
            agent: agent_for(&base),
            url: format!("{}/{path}", settings.base_url.trim().trim_end_matches('/')),
            host,
            authorization: settings.api_key.as_ref().map(authorization).transpose()?,
            timeout_ms: settings.timeout_ms,
            total_timeout_ms: settings.total_timeout_ms,
            attempts_max: settings.attempts_max,
            timer: Arc::new(SystemTimer),
        })
    }

    pub fn set_timer(&mut self, timer: Arc<dyn Timer>) {
        self.timer = timer;
    }

    pub fn answer_error(&self, fault: AnswerFault) -> ProviderError {
        ProviderError::Answer { host: self.host.clone(), fault }
    }

    /// Posts until an answer can be read or another attempt makes no sense.
    pub fn post<T>(
        &self,
        body: &Value,
        read_answer: impl Fn(&[u8]) -> Result<T, AnswerFault>,
    ) -> Result<T, ProviderError> {
        let body = body.to_string();
        let deadline_ms = self.timer.now_ms().saturating_add(self.total_timeout_ms);
        let mut malformed_answers = 0;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let left_ms = deadline_ms.saturating_sub(self.timer.now_ms()).max(1);
            let answer = self.attempt(body.as_bytes(), self.timeout_ms.min(left_ms));
            let error = match answer.and_then(|bytes| read_answer(&bytes).map_err(|fault| self.answer_error(fault))) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            malformed_answers += u32::from(matches!(error, ProviderError::Answer { .. }));
            let wait_ms = wait_before_next_ms(&error, attempts);
            let over = !error.is_retryable()
                || attempts >= self.attempts_max
                || malformed_answers >= MALFORMED_ANSWERS_MAX
                || wait_ms > BACK_OFF_MS_MAX
                || self.timer.now_ms().saturating_add(wait_ms) >= deadline_ms;
            if over {
                return Err(gave_up(error, attempts));
            }
            tracing::debug!(host = self.host, attempts, wait_ms, %error, "model endpoint failed, trying again");
            self.timer.sleep_ms(wait_ms);
        }
    }

    fn attempt(&self, body: &[u8], timeout_ms: u64) -> Result<Vec<u8>, ProviderError> {
        let mut request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(Duration::from_millis(timeout_ms)))
            .build()
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let mut response = request.send(body).map_err(|error| self.http_error(error, timeout_ms))?;
        let status = response.status().as_u16();
        if status != 200 {
            let retry_after_ms = response.headers().get(header::RETRY_AFTER).and_then(retry_after_ms);
            return Err(ProviderError::Status { host: self.host.clone(), status, retry_after_ms });
        }
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
        body.read_to_vec().map_err(|error| self.http_error(error, timeout_ms))
    }

    /// Reduces the client's error to its kind: its message may quote the URL or a header.
    fn http_error(&self, error: HttpError, limit_ms: u64) -> ProviderError {
        let host = self.host.clone();
        match error {
            HttpError::Timeout(_) => ProviderError::TimedOut { host, limit_ms },
            HttpError::BodyExceedsLimit(limit_bytes) => ProviderError::AnswerTooLarge { host, limit_bytes },
            other => ProviderError::Connection { host, fault: connection_fault(&other) },
        }
    }
}

/// A client that goes to this host and nowhere else.
pub(crate) fn agent_for(uri: &Uri) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("rootset/", env!("CARGO_PKG_VERSION")));
    if is_loopback(uri) {
        // A proxy elsewhere cannot reach this machine's own endpoints, and must not see what is meant for them.
        config = config.proxy(None);
    }
    config.build().new_agent()
}

pub(crate) fn connection_fault(error: &HttpError) -> ConnectionFault {
    match error {
        HttpError::HostNotFound => ConnectionFault::HostNotFound,
        HttpError::ConnectionFailed => ConnectionFault::Io(io::ErrorKind::NotConnected),
        // The TLS library reports a bad certificate as invalid data inside an I/O error.
        HttpError::Io(error) if error.kind() == io::ErrorKind::InvalidData => ConnectionFault::Tls,
        HttpError::Io(error) => ConnectionFault::Io(error.kind()),
        HttpError::Tls(_) | HttpError::Pem(_) | HttpError::Rustls(_) | HttpError::TlsRequired => ConnectionFault::Tls,
        HttpError::InvalidProxyUrl | HttpError::ConnectProxyFailed(_) => ConnectionFault::Proxy,
        _ => ConnectionFault::Protocol,
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url).finish_non_exhaustive()
    }
}

fn wait_before_next_ms(error: &ProviderError, attempts: u32) -> u64 {
    let doublings = (attempts - 1).min(16);
    error.retry_after_ms().unwrap_or((BACK_OFF_FIRST_MS << doublings).min(BACK_OFF_MS_MAX))
}

fn gave_up(last: ProviderError, attempts: u32) -> ProviderError {
    if attempts == 1 { last } else { ProviderError::GaveUp { attempts, last: Box::new(last) } }
}

/// Seconds only. The other form, a date, depends on two clocks agreeing; our own back-off serves as well.
fn retry_after_ms(value: &HeaderValue) -> Option<u64> {
    let seconds: u64 = value.to_str().ok()?.trim().parse().ok()?;
    Some(seconds.saturating_mul(1_000).min(RETRY_AFTER_MS_MAX))
}

/// Refuses what would put a credential into logs, or make appending a path wrong.
fn checked_base_url(base_url: &str) -> Result<Uri, ProviderError> {
    let fault = |problem| ProviderError::Setting { setting: "base_url", problem };
    let uri: Uri = base_url.trim().parse().map_err(|_| fault("is not a URL"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none_or(str::is_empty) {
        return Err(fault("is not a URL such as `http://localhost:11434/v1`"));
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(fault("holds a user name or password, hint: use `api_key_env`"));
    }
    if uri.query().is_some() || base_url.contains('#') {
        return Err(fault("holds a query or fragment, to which no path can be appended"));
    }
    Ok(uri)
}

pub(crate) fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn authorization(key: &Secret) -> Result<HeaderValue, ProviderError> {
    let fault = |problem| ProviderError::Setting { setting: "api_key", problem };
    if key.expose().is_empty() {
        return Err(fault("is empty"));
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose()))
        .map_err(|_| fault("holds characters that no HTTP header may hold"))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(settings: EndpointSettings) -> String {
        Endpoint::new(&settings, "embeddings").unwrap_err().to_string()
    }

    #[test]
    fn a_trailing_slash_of_the_base_url_does_not_matter() {
        for base_url in ["http://localhost:1/v1", "http://localhost:1/v1/", " http://localhost:1/v1// "] {
            let endpoint = Endpoint::new(&EndpointSettings::new(base_url, "m"), "embeddings").unwrap();
            assert_eq!(endpoint.url, "http://localhost:1/v1/embeddings");
            assert_eq!(endpoint.host, "localhost:1");
        }
    }

    #[test]
    fn unusable_settings_are_refused_without_repeating_them() {
        for base_url in ["", "localhost:11434", "ftp://host/v1", "http://", "http://a b/", "http://host/v1?key=hunter2"]
        {
            let problem = problem(EndpointSettings::new(base_url, "m"));
            assert!(problem.starts_with("setting `base_url`") && !problem.contains("hunter2"), "{problem}");
        }
        let with_password = problem(EndpointSettings::new("https://user:hunter2@host/v1", "m"));
        assert!(with_password.contains("password") && !with_password.contains("hunter2"), "{with_password}");
        let good = || EndpointSettings::new("http://localhost", "m");
        assert!(problem(EndpointSettings::new("http://localhost", " ")).contains("`model`"));
        assert!(problem(EndpointSettings { timeout_ms: 0, ..good() }).contains("`timeout`"));
        assert!(problem(EndpointSettings { attempts_max: 0, ..good() }).contains("`attempts_max`"));
        for key in ["", "hunter\n2"] {
            let problem = problem(good().with_api_key(Secret::new(key)));
            assert!(problem.starts_with("setting `api_key`") && !problem.contains("hunter"), "{problem}");
        }
    }

    #[test]
    fn waits_double_up_to_their_limit() {
        let error = ProviderError::TimedOut { host: String::new(), limit_ms: 1 };
        let waits: Vec<u64> = [1, 2, 3, 5, 6, 60].map(|attempts| wait_before_next_ms(&error, attempts)).to_vec();
        assert_eq!(waits, [500, 1_000, 2_000, 8_000, 10_000, 10_000]);
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_limited() {
        let read = |text: &str| retry_after_ms(&HeaderValue::from_str(text).unwrap());
        assert_eq!(read("3"), Some(3_000));
        assert_eq!(read("18446744073709551615"), Some(RETRY_AFTER_MS_MAX));
        assert_eq!(read("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(read("-1"), None);
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for (uri, expected) in [
            ("http://localhost:11434/v1", true),
            ("http://127.0.0.2/v1", true),
            ("http://[::1]:8080/v1", true),
            ("https://api.example.com/v1", false),
            ("http://10.0.0.1/v1", false),
        ] {
            assert_eq!(is_loopback(&uri.parse().unwrap()), expected, "{uri}");
        }
    }
}
