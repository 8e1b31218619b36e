//! What happens to every request, on whatever route: it gets an id, its host and origin are checked, it is found out whose
//! it is, it is counted among those that run, and it leaves a line in the log that holds no content.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Method, StatusCode};
use rootset_api::Effect;
use rootset_model::Timestamp;

use crate::access::Credentials;
use crate::admission::Permits;
use crate::answer::{Code, Refusal, with_expiry};
use crate::answer_body::{self, Farewell};
use crate::body::Room;
use crate::connections::{Connection, Running};
use crate::routes::{self, Needs, Shared};
use crate::telemetry::Named;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REQUEST_ID_BYTES_MAX: usize = 64;
/// How long the stream of a token outlives it.
const TOKEN_LOOKED_AT_EVERY: Duration = Duration::from_secs(15);

pub async fn handle(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id = request_id(request.headers());
    let method = request.method().clone();
    let route = routes::named(request.uri().path());
    let mut response = match admit(&shared, &mut request).await {
        Ok(admitted) => {
            let answering = next.run(request);
            // Operations have the same deadline, and say more when it is over.
            let response = match route {
                routes::OPERATION => answering.await,
                _ => shared.within_timeout(started, answering).await.unwrap_or_else(IntoResponse::into_response),
            };
            admitted.answering(&shared, response)
        }
        Err(refusal) => refusal.into_response(),
    };
    log(&shared, &method, route, &request_id, started, &response);
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, request_id);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What a request holds until its answer is sent.
struct Admitted {
    running: Option<Running>,
    permits: Option<Permits>,
    /// Of whoever needed some.
    credentials: Option<Credentials>,
    /// When the token ends, if that is soon.
    ends_at: Option<Timestamp>,
}

async fn admit(shared: &Arc<Shared>, request: &mut Request) -> Result<Admitted, Refusal> {
    shared.known_hosts.check(request.uri(), request.headers())?;
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    // Tests of single routes have no connection.
    let address = connection.as_ref().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |it| it.address());
    let running = connection.as_ref().map(Connection::begin_request);
    match routes::needs(request.method(), request.uri().path()) {
        // A full server is still a healthy one.
        Needs::Nothing => Ok(Admitted { running, permits: None, credentials: None, ends_at: None }),
        Needs::Address => {
            let permits = Some(shared.admission.admit_stranger(address)?);
            Ok(Admitted { running, permits, credentials: None, ends_at: None })
        }
        Needs::Token(takes) => {
            let remote = connection.as_ref().map(|it| it.remote());
            let what = routes::asked_for(request.uri().path());
            let credentials = shared.access.credentials(request.headers(), remote, what);
            let asker = shared.asker(address, credentials.clone()).await?;
            if let Some(connection) = connection {
                connection.token_was_shown();
            }
            let permits = Some(shared.admission.admit(&asker, takes)?);
            let ends_at = shared.service.ends_soon(&asker.caller);
            request.extensions_mut().insert(asker.caller.clone());
            request.extensions_mut().insert(asker);
            Ok(Admitted { running, permits, credentials: Some(credentials), ends_at })
        }
    }
}

impl Admitted {
    fn answering(self, shared: &Arc<Shared>, mut response: Response) -> Response {
        let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|it| it == "text/event-stream");
        let farewell = self.credentials.filter(|_| is_stream).map(|it| farewell(shared.clone(), it));
        let room = response.extensions_mut().remove::<Arc<Option<Room>>>();
        let response = with_expiry(response, self.ends_at);
        answer_body::holding(response, (self.running, self.permits, room), farewell)
    }
}

fn farewell(shared: Arc<Shared>, credentials: Credentials) -> Farewell {
    Box::pin(async move {
        loop {
            tokio::time::sleep(TOKEN_LOOKED_AT_EVERY).await;
            if !shared.is_still_known(&credentials).await {
                return;
            }
        }
    })
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
