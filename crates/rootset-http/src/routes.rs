//! Every route, and what they share.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::{Method, Uri};
use rootset_service::Service;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, Credentials};
use crate::admission::{Admission, Asker, Takes};
use crate::answer::Refusal;
use crate::hosts_and_origins::KnownHosts;
use crate::idempotency::Keys;
use crate::server::Parts;
use crate::settings::ServerSettings;
use crate::telemetry::{self, Telemetry};
use crate::workers::{Share, Workers};
use crate::{body, call, docs, every_request, health, hooks, openapi};

const HEALTHZ: &str = "/healthz";
const READYZ: &str = "/readyz";
pub const METRICS: &str = "/metrics";
const OPENAPI: &str = "/openapi.json";
const DOCS: &str = "/docs";
const FRONT: &str = "/";
const MCP: &str = "/mcp";
const HOOKS: &str = "/hooks/";
const OPERATIONS: &str = "/v1/";
/// How hooks of any client are named in logs.
pub const HOOK: &str = "/hooks";
/// How any of them is named in logs.
pub const OPERATION: &str = "/v1";

/// What every request needs.
#[derive(Debug)]
pub struct Shared {
    pub service: Arc<Service>,
    pub access: Access,
    pub settings: ServerSettings,
    pub stopping: CancellationToken,
    pub known_hosts: KnownHosts,
    pub bodies: body::Reader,
    pub keys: Keys,
    pub workers: Workers,
    pub admission: Admission,
    pub telemetry: Telemetry,
}

impl Shared {
    pub fn new(parts: &Parts) -> Self {
        let settings = parts.settings.clone();
        Self {
            service: parts.service.clone(),
            access: parts.access.clone(),
            stopping: parts.stopping.clone(),
            known_hosts: KnownHosts::new(&settings.hosts),
            bodies: body::Reader::new(settings.body_bytes_max, settings.read_timeout),
            keys: Keys::default(),
            workers: Workers::new(),
            admission: Admission::new(&settings),
            telemetry: Telemetry::new(),
            settings,
        }
    }

    pub async fn asker(&self, address: IpAddr, credentials: Credentials) -> Result<Asker, Refusal> {
        self.admission.asker(&self.service, &self.workers, address, credentials).await
    }

    /// Whether a token that was right still is, for what lasts longer than one request.
    pub async fn is_still_known(&self, credentials: &Credentials) -> bool {
        const STREAMS: &str = "streams";
        match credentials.caller_at_once(&self.service) {
            Ok(Some(_)) => true,
            Err(_) => false,
            Ok(None) => {
                let (service, credentials) = (self.service.clone(), credentials.clone());
                let looking_up = self.workers.run(Share::LookUps, STREAMS, move || credentials.caller(&service));
                matches!(looking_up.await, Ok(Ok(_)))
            }
        }
    }

    /// What is not ready in time goes on; only nobody waits for it any more.
    pub async fn within_timeout<T>(&self, started: Instant, work: impl Future<Output = T>) -> Result<T, Refusal> {
        let timeout = self.settings.request_timeout;
        tokio::time::timeout_at((started + timeout).into(), work).await.map_err(|_| {
            Refusal::busy(
                format!("there was no answer within {} s; the operation continues", timeout.as_secs()),
                "send it again with the same `Idempotency-Key` to get its answer, or raise `server.request_timeout`",
            )
        })
    }
}

/// All routes. `/mcp` is somebody else's: it finds the [`Caller`](rootset_service::Caller) of a request among its
/// extensions, and the whole of its body.
pub fn router(parts: &Parts, mcp: Option<Router>) -> Router {
    let shared = Arc::new(Shared::new(parts));
    let mut router = Router::new()
        .route("/v1/{operation}", post(call::call))
        .route("/hooks/{client}", post(hooks::answer))
        .route(METRICS, get(telemetry::metrics))
        .route(READYZ, get(health::readyz))
        .route(HEALTHZ, get(health::healthz))
        .route(OPENAPI, get(openapi::serve))
        .route(DOCS, get(docs::serve))
        .route(FRONT, get(docs::serve_front))
        .with_state(shared.clone());
    if let Some(mcp) = mcp {
        router = router.nest(MCP, mcp.layer(middleware::from_fn_with_state(shared.clone(), whole_messages)));
    }
    router
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(shared, every_request::handle))
}

/// The name of a path in logs and counts: one of a list, whatever strangers ask for.
pub fn named(path: &str) -> &'static str {
    let known = [HEALTHZ, READYZ, METRICS, OPENAPI, DOCS, FRONT, MCP];
    match known.into_iter().find(|route| *route == path) {
        Some(route) => route,
        None if path.starts_with(OPERATIONS) => OPERATION,
        None if path.starts_with(HOOKS) => HOOK,
        None => "unknown",
    }
}

/// What a request asks for, in the words of the operations and routes, whatever strangers write.
pub fn asked_for(path: &str) -> &'static str {
    match path.strip_prefix(OPERATIONS) {
        Some(name) => call::find(name).map_or("unknown", |operation| operation.name),
        None if path.starts_with(MCP) => MCP,
        None => named(path),
    }
}

/// What a request has to have before anything is done for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// A share of what an address may ask without a token.
    Address,
    Token(Takes),
}

pub fn needs(method: &Method, path: &str) -> Needs {
    let is_mcp = path.strip_prefix(MCP).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match path {
        HEALTHZ => Needs::Nothing,
        _ if is_mcp && method == Method::GET => Needs::Token(Takes::Stream),
        _ if is_mcp || path == METRICS || path.starts_with(OPERATIONS) || path.starts_with(HOOKS) => {
            Needs::Token(Takes::Place)
        }
        _ => Needs::Address,
    }
}

/// Reads what is sent to `/mcp` before it is handed on, with the limits of all bodies.
async fn whole_messages(
    State(shared): State<Arc<Shared>>,
    Extension(asker): Extension<Asker>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let received = match shared.bodies.read(&asker.key, body, shared.bodies.bounds_of_message()).await {
        Ok(received) => received,
        Err(refusal) => return refusal.into_response(),
    };
    let _turn = if received.is_large() { Some(shared.workers.turn(Share::Large, &asker.key).await) } else { None };
    next.run(Request::from_parts(parts, Body::from(received.bytes.clone()))).await
}

async fn no_route(uri: Uri) -> Refusal {
    Refusal::no_route(uri.path())
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    Refusal::wrong_method(&method, uri.path())
}
