//! What happens to every request, on whatever route: it gets an id, its host and origin are checked, it is counted among
//! those that run, and it leaves a line in the log that holds no content.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Method, StatusCode};
use rootset_api::Effect;

use crate::answer::{Code, Refusal};
use crate::routes::{self, Shared};
use crate::telemetry::Named;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_BYTES_MAX: usize = 64;

pub async fn handle(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id = request_id(request.headers());
    let method = request.method().clone();
    let route = routes::named(request.uri().path());
    let mut response = match admit(&shared, &request, route) {
        Ok(_permit) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    log(&shared, &method, route, &request_id, started, &response);
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, request_id);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn admit(
    shared: &Shared,
    request: &Request,
    route: &'static str,
) -> Result<Option<tokio::sync::OwnedSemaphorePermit>, Refusal> {
    shared.known_hosts.check(request.uri(), request.headers())?;
    // A full server is still a healthy one.
    if route == routes::HEALTHZ || route == routes::READYZ {
        return Ok(None);
    }
    match shared.requests.clone().try_acquire_owned() {
        Ok(permit) => Ok(Some(permit)),
        Err(_) => {
            let limit = shared.settings.requests_max;
            Err(Refusal::busy(format!("{limit} requests are running, as many as allowed"), "try again"))
        }
    }
}

/// The sender's, if it can stand in a log, or a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let is_sane = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        (1..=REQUEST_ID_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(is_plain)
    };
    match headers.get(REQUEST_ID).filter(is_sane) {
        Some(given) => given.clone(),
        None => HeaderValue::from_str(&uuid::Uuid::now_v7().to_string()).expect("an id is plain ASCII"),
    }
}

fn log(
    shared: &Shared,
    method: &Method,
    route: &'static str,
    request_id: &HeaderValue,
    started: Instant,
    response: &Response,
) {
    let took = started.elapsed();
    let status = response.status();
    let operation = response.extensions().get::<Named>().map(|it| it.0);
    let code = response.extensions().get::<Code>().map_or_else(|| plain_code(status), |code| code.0);
    let what = operation.map_or(route, |operation| operation.name);
    shared.telemetry.answered(what, code, took);
    let request_id = request_id.to_str().unwrap_or_default();
    let (status, took_us) = (status.as_u16(), u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    let is_quiet = operation.is_some_and(|it| it.effect == Effect::Read) || operation.is_none();
    match status {
        500.. => tracing::warn!(target: "rootset::http", request_id, %method, what, status, code, took_us, "answered"),
        ..400 if is_quiet => {
            tracing::debug!(target: "rootset::http", request_id, %method, what, status, code, took_us, "answered");
        }
        _ => tracing::info!(target: "rootset::http", request_id, %method, what, status, code, took_us, "answered"),
    }
}

/// For responses that are not ours to name.
fn plain_code(status: StatusCode) -> &'static str {
    match status.as_u16() {
        ..400 => "ok",
        400..500 => "refused",
        _ => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sane_request_ids_are_kept_and_others_replaced() {
        let with = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(value).expect("a header"));
            request_id(&headers)
        };
        assert_eq!(with(b"trace-7_a.b"), "trace-7_a.b");
        for bad in [&b""[..], b"a b", b"a\"b", b"\xff", &[b'a'; REQUEST_ID_BYTES_MAX + 1]] {
            let made = with(bad);
            assert_eq!(made.len(), 36, "{made:?}");
        }
    }
}
