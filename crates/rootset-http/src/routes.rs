//! Every route, and what they share.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::{Method, Uri};
use rootset_service::{Caller, Service};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, Credentials};
use crate::answer::Refusal;
use crate::hosts_and_origins::KnownHosts;
use crate::idempotency::Keys;
use crate::server::Parts;
use crate::settings::ServerSettings;
use crate::telemetry::{self, Telemetry};
use crate::workers::{Share, Workers};
use crate::{body, call, docs, every_request, health, openapi};

pub const HEALTHZ: &str = "/healthz";
pub const READYZ: &str = "/readyz";
const METRICS: &str = "/metrics";
const OPENAPI: &str = "/openapi.json";
const DOCS: &str = "/docs";
const MCP: &str = "/mcp";
const OPERATIONS: &str = "/v1/";

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
    pub requests: Arc<Semaphore>,
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
            requests: Arc::new(Semaphore::new(settings.requests_max)),
            telemetry: Telemetry::new(),
            settings,
        }
    }

    pub async fn authenticate(&self, credentials: Credentials) -> Result<Caller, Refusal> {
        let service = self.service.clone();
        self.workers.run(Share::Readers, move || credentials.caller(&service)).await?
    }

    pub fn running(&self) -> usize {
        self.settings.requests_max.saturating_sub(self.requests.available_permits())
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

/// All routes. `/mcp` is somebody else's: it finds the [`Caller`] of a request among its extensions.
pub fn router(parts: &Parts, mcp: Option<Router>) -> Router {
    let shared = Arc::new(Shared::new(parts));
    let mut router = Router::new()
        .route("/v1/{operation}", post(call::call))
        .route(METRICS, get(telemetry::metrics))
        .route(READYZ, get(health::readyz))
        .route(HEALTHZ, get(health::healthz))
        .route(OPENAPI, get(openapi::serve))
        .route(DOCS, get(docs::serve))
        .with_state(shared.clone());
    if let Some(mcp) = mcp {
        router = router.nest(MCP, mcp.layer(middleware::from_fn_with_state(shared.clone(), known_callers_only)));
    }
    router
        .fallback(no_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(shared, every_request::handle))
}

/// The name of a path in logs and counts: one of a list, whatever strangers ask for.
pub fn named(path: &str) -> &'static str {
    let known = [HEALTHZ, READYZ, METRICS, OPENAPI, DOCS, MCP];
    match known.into_iter().find(|route| *route == path) {
        Some(route) => route,
        None if path.starts_with(OPERATIONS) => "/v1",
        None => "unknown",
    }
}

async fn known_callers_only(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    match shared.authenticate(shared.access.credentials(request.headers())).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn no_route(uri: Uri) -> Refusal {
    Refusal::no_route(uri.path())
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    Refusal::wrong_method(&method, uri.path())
}
