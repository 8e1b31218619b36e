//! Answers and refusals on the wire: one shape for every error, wherever it was found.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use rootset_api::ErrorCode;
use rootset_model::Timestamp;
use rootset_service::ServiceError;
use serde_json::{Value, json};

pub const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// When the token of the request ends, sent only if that is soon.
const TOKEN_EXPIRES: HeaderName = HeaderName::from_static("rootset-token-expires");
/// How long a caller should wait when the server itself is the one that is busy.
const RETRY_AFTER_MS: u64 = 1_000;

/// What an operation answered, ready to be sent, and to be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: StatusCode,
    /// The error's code, or `ok`: for logs and counts.
    pub code: &'static str,
    pub body: Bytes,
    pub retry_after_s: Option<u64>,
}

impl Answer {
    pub fn of(outcome: Result<Value, ServiceError>) -> Self {
        match outcome {
            Ok(value) => {
                Self { status: StatusCode::OK, code: "ok", body: Bytes::from(value.to_string()), retry_after_s: None }
            }
            Err(error) => Refusal::from(error).into(),
        }
    }

    /// Whether the same request would get another answer later: such an answer is not worth keeping.
    pub fn is_passing(&self) -> bool {
        self.status.is_server_error()
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, JSON);
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Code(self.code));
        response
    }
}

/// Warns the holder of a token that ends soon.
pub fn with_expiry(mut response: Response, ends_at: Option<Timestamp>) -> Response {
    if let Some(at) = ends_at
        && let Ok(value) = HeaderValue::from_str(&at.to_string())
    {
        response.headers_mut().insert(TOKEN_EXPIRES, value);
    }
    response
}

/// Carried by a response, for the log and the counters.
#[derive(Clone, Copy, Debug)]
pub struct Code(pub &'static str);

/// An error with the status it is sent with, which for trouble on the wire is finer than the table of codes.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    error: ServiceError,
    header: Option<(HeaderName, Cow<'static, str>)>,
}

impl From<ServiceError> for Refusal {
    fn from(error: ServiceError) -> Self {
        let status = StatusCode::from_u16(error.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, error, header: None }
    }
}

impl Refusal {
    fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { status, error: ServiceError::new(code, message), header: None }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.error = self.error.with_hint(hint);
        self
    }

    pub fn no_route(path: &str) -> Self {
        let shown: String = path.chars().take(80).collect();
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, format!("no route `{shown}`"))
            .with_hint("operations are `POST /v1/<operation>`; `/openapi.json` lists them")
    }

    pub fn no_operation(mut error: ServiceError) -> Self {
        error.code = ErrorCode::NotFound;
        Self { error, status: StatusCode::NOT_FOUND, header: None }
    }

    pub fn wrong_method(method: &Method, path: &str) -> Self {
        let allowed = if path.starts_with("/v1/") { "POST" } else { "GET, HEAD" };
        let shown: String = method.as_str().chars().take(20).collect();
        let mut refusal = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::InvalidArgument,
            format!("the method is `{shown}`; allowed here: {allowed}"),
        );
        refusal.header = Some((ALLOW, allowed.into()));
        refusal
    }

    pub fn foreign(header: &str, value: &str) -> Self {
        let shown: String = value.chars().take(80).collect();
        Self::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, format!("`{header}` is `{shown}`, which is not allowed"))
            .with_hint("list the name in `server.hosts` if it is yours")
    }

    pub fn no_token() -> Self {
        let error = ServiceError::new(ErrorCode::Unauthorized, "there is no token");
        error.with_hint("send `Authorization: Bearer <token>`").into()
    }

    pub fn wrong_content_type(given: Option<&str>) -> Self {
        let message = match given {
            Some(given) => {
                let shown: String = given.chars().take(80).collect();
                format!("`Content-Type` is `{shown}`; allowed: `application/json`")
            }
            None => "`Content-Type` is missing; allowed: `application/json`".to_owned(),
        };
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::InvalidArgument, message)
    }

    pub fn not_json(error: &serde_json::Error) -> Self {
        let message = format!("the body {}", rootset_model::json::fault(error));
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, message)
    }

    /// Only the largest bodies have a limit that can be set.
    pub fn too_large(limit: usize, can_be_raised: bool) -> Self {
        let message = format!("the body has more than {limit} bytes");
        let refusal = Self::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::LimitExceeded, message);
        refusal.with_hint(if can_be_raised {
            "send less at once, or raise `server.max_body`"
        } else {
            "send less at once"
        })
    }

    pub fn too_many_wrong_tokens() -> Self {
        Self::too_many("too many wrong tokens came from this address", "check the token, and wait a minute")
    }

    pub fn own_share_taken(what: &str, limit: usize) -> Self {
        let message = format!("{limit} {what} of this caller are running, as many as one may have");
        Self::too_many(message, "wait for an answer before you send more")
    }

    pub fn own_room_taken() -> Self {
        let message = "too much of this caller's large requests and answers is in memory";
        Self::too_many(message, "send large requests one by one, and read the answers")
    }

    /// The limit is one of the caller's own: others are served.
    fn too_many(message: impl Into<String>, hint: &str) -> Self {
        Self { status: StatusCode::TOO_MANY_REQUESTS, ..Self::busy(message, hint) }
    }

    pub fn too_slow(seconds: u64) -> Self {
        let message = format!("the body did not arrive within {seconds} s");
        Self::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::LimitExceeded, message)
    }

    pub fn broken_body() -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, "the body cannot be read to its end")
    }

    pub fn bad_header(name: &str, allowed: &str) -> Self {
        let message = format!("`{name}` cannot be used; allowed: {allowed}");
        Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, message)
    }

    pub fn busy(message: impl Into<String>, hint: &str) -> Self {
        let error = ServiceError::new(ErrorCode::Busy, message).with_hint(hint);
        error.with_details(json!({"retry_after_ms": RETRY_AFTER_MS})).into()
    }

    pub fn internal(message: &str) -> Self {
        ServiceError::new(ErrorCode::Internal, message).into()
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let after_ms = refusal.error.details.as_ref().and_then(|it| it.get("retry_after_ms")).and_then(Value::as_u64);
        Self {
            status: refusal.status,
            code: refusal.error.code.as_str(),
            body: Bytes::from(refusal.error.to_json().to_string()),
            retry_after_s: after_ms.map(|ms| ms.div_ceil(1_000)),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(mut self) -> Response {
        let header = self.header.take();
        let mut response = Answer::from(self).into_response();
        if let Some((name, value)) = header
            && let Ok(value) = HeaderValue::from_str(&value)
        {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
