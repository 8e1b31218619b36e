//! `/healthz` and `/readyz`: a status and nothing else, for a supervisor of the process.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use crate::routes::Shared;
use crate::workers::Share;

/// Probes have a share of the readers, whoever sends them.
const PROBES: &str = "probes";

/// The process serves connections.
pub async fn healthz() -> StatusCode {
    StatusCode::NO_CONTENT
}

/// The database answers, too, and nobody told the server to end.
pub async fn readyz(State(shared): State<Arc<Shared>>) -> StatusCode {
    if shared.stopping.is_cancelled() {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let service = shared.service.clone();
    // Any small question will do; this one reads a row or none.
    let asked = shared.workers.run(Share::Readers, PROBES, move || service.has_tokens());
    match asked.await {
        Ok(Ok(_)) => StatusCode::NO_CONTENT,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the database does not answer");
            StatusCode::SERVICE_UNAVAILABLE
        }
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}
