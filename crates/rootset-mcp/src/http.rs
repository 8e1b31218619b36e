//! The handler for `/mcp`: streamable HTTP, to be mounted by an HTTP server that authenticates requests.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::server::McpServer;
use crate::sessions::{OWNER, Owner, SessionLimits, Sessions};
use crate::unreadable::{self, Unreadable};

/// A tower service. It expects the [`Caller`](rootset_service::Caller) among the extensions of every request, put there by
/// whoever authenticated it, and refuses requests without one.
#[derive(Clone)]
pub struct McpHttpService {
    handler: StreamableHttpService<McpServer, Sessions>,
    body_bytes_max: usize,
}

/// What the surrounding HTTP server decides.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// `host` or `host:port`; none stands for loopback only.
    pub allowed_hosts: Vec<String>,
    /// With scheme and port; a request with any other Origin is refused. None: every Origin is.
    pub allowed_origins: Vec<String>,
    /// Larger requests are refused with 413.
    pub body_bytes_max: usize,
    pub sessions: SessionLimits,
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
    let sessions = Arc::new(Sessions::new(options.sessions));
    McpHttpService {
        handler: StreamableHttpService::new(move || Ok(server.clone()), sessions, config),
        body_bytes_max: options.body_bytes_max,
    }
}

impl std::fmt::Debug for McpHttpService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("McpHttpService")
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl<B> tower_service::Service<Request<B>> for McpHttpService
where
    B: Body<Data: Send, Error: std::error::Error + Send + Sync + 'static> + Send + 'static,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        let owner = Owner::of(request.headers());
        Box::pin(OWNER.scope(owner, async move { Ok(service.answer(request).await) }))
    }
}

impl McpHttpService {
    async fn answer<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data: Send, Error: std::error::Error + Send + Sync + 'static> + Send + 'static,
    {
        if request.method() == Method::DELETE {
            return ended(self.handler.handle(request).await);
        }
        if request.method() != Method::POST {
            return self.handler.handle(request).await;
        }
        let (parts, body) = request.into_parts();
        let Ok(body) = Limited::new(body, self.body_bytes_max).collect().await else {
            let message = format!("a message has more than {} bytes, or did not arrive whole", self.body_bytes_max);
            return refused(StatusCode::PAYLOAD_TOO_LARGE, ErrorData::invalid_request(message, None), None);
        };
        let message = body.to_bytes();
        if let Err(Unreadable { error, id }) = unreadable::check(&message) {
            return refused(StatusCode::BAD_REQUEST, error, id);
        }
        self.handler.handle(Request::from_parts(parts, Full::new(message))).await
    }
}

/// A session that has ended has ended: 204. The handler's 202 would say that somebody is still at it, and clients warn.
fn ended(mut answer: Answer) -> Answer {
    if answer.status() == StatusCode::ACCEPTED {
        *answer.status_mut() = StatusCode::NO_CONTENT;
    }
    answer
}

fn refused(status: StatusCode, error: ErrorData, id: Option<rmcp::model::RequestId>) -> Answer {
    let message = TxJsonRpcMessage::<RoleServer>::error(error, id);
    let body = serde_json::to_vec(&message).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
