//! A server on its own threads: it accepts, serves, and ends on request.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::body::Incoming;
use hyper::service::Service as HyperService;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rootset_api::ErrorCode;
use rootset_service::{Service, ServiceError};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::connections::{Connection, Connections};
use crate::routes;
use crate::settings::ServerSettings;
use crate::unstalled::Unstalled;
use crate::workers::THREADS_MAX;

/// Bytes of a request's head; more is refused by the parser.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// After an error of `accept` that is not about one connection: no descriptors left, most of the time.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);
/// What an idle thread keeps waiting for work before it ends.
const THREADS_KEPT_FOR: Duration = Duration::from_secs(10);

/// What a server is made of.
#[derive(Debug)]
pub struct Parts {
    pub service: Arc<Service>,
    pub access: Access,
    pub settings: ServerSettings,
    /// Cancelled as soon as the server has to end: streams that would otherwise never end watch it.
    pub stopping: CancellationToken,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every running request got its answer.
    Well,
    /// Time was over before all of them had one. Every change is one transaction: none of them is half-done.
    Cut,
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    address: SocketAddr,
    stopping: CancellationToken,
    shutdown_timeout: Duration,
    accepting: JoinHandle<GracefulShutdown>,
}

impl Server {
    pub fn start(listener: TcpListener, parts: Parts, mcp: Option<Router>) -> Result<Self, ServiceError> {
        let failed = |what: &str, error: std::io::Error| {
            ServiceError::new(ErrorCode::Internal, format!("cannot {what}: {error}"))
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("rootset-http")
            .max_blocking_threads(THREADS_MAX)
            .thread_keep_alive(THREADS_KEPT_FOR)
            .build()
            .map_err(|error| failed("start threads", error))?;
        let address = listener.local_addr().map_err(|error| failed("learn the address", error))?;
        listener.set_nonblocking(true).map_err(|error| failed("listen", error))?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener).map_err(|error| failed("listen", error))?
        };
        let router = routes::router(&parts, mcp);
        let (stopping, shutdown_timeout) = (parts.stopping.clone(), parts.settings.shutdown_timeout);
        let accepting = runtime.spawn(accept(listener, router, parts));
        Ok(Self { runtime, address, stopping, shutdown_timeout, accepting })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// No new requests from now on; running ones have the configured time to finish. The service is left to the caller.
    pub fn stop(self) -> Ended {
        let until = Instant::now() + self.shutdown_timeout;
        self.stopping.cancel();
        let accepting = self.accepting;
        let drained = self.runtime.block_on(async {
            let Ok(connections) = accepting.await else { return false };
            tokio::time::timeout_at(until.into(), connections.shutdown()).await.is_ok()
        });
        // Work whose caller went away still ends in its own time, as far as there is any left.
        self.runtime.shutdown_timeout(until.saturating_duration_since(Instant::now()));
        if drained { Ended::Well } else { Ended::Cut }
    }
}

/// Accepts until the server has to end; returns the connections that are still open.
async fn accept(listener: tokio::net::TcpListener, router: Router, parts: Parts) -> GracefulShutdown {
    let connections = GracefulShutdown::new();
    let places = Connections::new(&parts.settings);
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(parts.settings.read_timeout).max_buf_size(HEAD_BYTES_MAX);
    let stopping = parts.stopping.clone();
    loop {
        let (stream, from) = match stopping.run_until_cancelled(listener.accept()).await {
            None => return connections,
            Some(Ok(accepted)) => accepted,
            Some(Err(error)) => {
                tracing::warn!(target: "rootset::http", %error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                continue;
            }
        };
        let Some(place) = places.enter(from.ip()) else {
            tracing::debug!(target: "rootset::http", "no room for one more connection");
            continue;
        };
        prepare(&stream, parts.settings.read_timeout);
        let stream = Unstalled::new(stream, parts.settings.read_timeout, parts.settings.request_timeout);
        let requests =
            OfConnection { router: TowerToHyperService::new(router.clone()), connection: place.connection.clone() };
        let watched = connections.watch(http.serve_connection(TokioIo::new(stream), requests));
        tokio::spawn(async move {
            tokio::select! {
                biased;
                served = watched => if let Err(error) = served {
                    tracing::debug!(target: "rootset::http", %error, "a connection ended badly");
                },
                () = place.connection.given_up() => {}
            }
            drop(place);
        });
    }
}

/// Best effort: a connection works without.
fn prepare(stream: &TcpStream, patience: Duration) {
    // Answers are short and whole: waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let socket = socket2::SockRef::from(stream);
    // Somebody who vanished without a word is noticed, and so is somebody who leaves in the system's buffer what we sent.
    let _ = socket.set_tcp_keepalive(&socket2::TcpKeepalive::new().with_time(patience));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(patience));
}

/// Tells each request the connection it came on.
struct OfConnection {
    router: TowerToHyperService<Router>,
    connection: Arc<Connection>,
}

impl HyperService<http::Request<Incoming>> for OfConnection {
    type Response = <TowerToHyperService<Router> as HyperService<http::Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as HyperService<http::Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as HyperService<http::Request<Incoming>>>::Future;

    fn call(&self, mut request: http::Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.connection.clone());
        self.router.call(request)
    }
}
