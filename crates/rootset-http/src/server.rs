//! A server on its own threads: it accepts, serves, and ends on request.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rootset_api::ErrorCode;
use rootset_service::{Service, ServiceError};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::routes;
use crate::settings::ServerSettings;
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
    let room = Arc::new(Semaphore::new(parts.settings.connections_max));
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(parts.settings.read_timeout).max_buf_size(HEAD_BYTES_MAX);
    let stopping = parts.stopping.clone();
    loop {
        let accepted = stopping.run_until_cancelled(async {
            let permit = room.clone().acquire_owned().await.expect("the semaphore is never closed");
            listener.accept().await.map(|(stream, _)| (stream, permit))
        });
        let (stream, permit) = match accepted.await {
            None => return connections,
            Some(Ok(accepted)) => accepted,
            Some(Err(error)) => {
                tracing::warn!(target: "rootset::http", %error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                continue;
            }
        };
        // Answers are short and whole: waiting to fill a packet only delays them.
        let _ = stream.set_nodelay(true);
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let watched = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(target: "rootset::http", %error, "a connection ended badly");
            }
            drop(permit);
        });
    }
}
