//! Counts and times for `/metrics`: by operation and code, or by class of workspaces; never by workspace, memory or caller.

mod rounds;

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use metrics::{Level, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusRecorder};
use rootset_api::{Effect, ErrorCode, OperationInfo};
use rootset_service::ServiceError;

use crate::admission::Asker;
use crate::answer::Refusal;
use crate::routes::{self, Shared};
use crate::workers::Share;

const REQUESTS: &str = "rootset_http_requests_total";
const SECONDS: &str = "rootset_http_request_duration_seconds";
const RUNNING: &str = "rootset_http_requests_running";
/// From what a read takes to what a caller is ever kept waiting.
const SECONDS_BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 5.0, 30.0, 300.0];

/// Carried by a response: the operation it answers.
#[derive(Clone, Copy, Debug)]
pub struct Named(pub &'static OperationInfo);

/// A recorder of this server alone: there may be several in one process.
pub struct Telemetry(PrometheusRecorder);

impl std::fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Telemetry")
    }
}

impl Telemetry {
    pub fn new() -> Self {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Full(SECONDS.to_owned()), &SECONDS_BUCKETS)
            .expect("there are buckets");
        let telemetry = Self(builder.build_recorder());
        metrics::with_local_recorder(&telemetry.0, || {
            describe_counter!(REQUESTS, "Requests answered, by operation (or route) and error code");
            describe_histogram!(SECONDS, metrics::Unit::Seconds, "Time from a request's head to its answer");
            describe_gauge!(RUNNING, "Requests that are being answered");
        });
        telemetry
    }

    /// `what` comes from the list of operations or of routes: a stranger's path must not become a label.
    pub fn answered(&self, what: &'static str, code: &'static str, took: Duration) {
        metrics::with_local_recorder(&self.0, || {
            counter!(target: "rootset", level: Level::INFO, REQUESTS, "operation" => what, "code" => code).increment(1);
            histogram!(SECONDS, "operation" => what).record(took.as_secs_f64());
        });
    }

    fn render(&self, running: usize) -> String {
        metrics::with_local_recorder(&self.0, || gauge!(RUNNING).set(running as f64));
        self.0.handle().render()
    }
}

/// `/metrics`, for tokens with the scope `admin`.
pub async fn metrics(State(shared): State<Arc<Shared>>, Extension(asker): Extension<Asker>) -> Response {
    let caller = &asker.caller;
    if !caller.rights.allow_effect(Effect::Admin) || caller.rights.workspaces.is_some() {
        shared.service.note_denial(caller, routes::METRICS, ErrorCode::Forbidden);
        let message = "`/metrics` needs the scope `admin` in all workspaces, which this token does not have";
        return Refusal::from(ServiceError::new(ErrorCode::Forbidden, message)).into_response();
    }
    let service = shared.service.clone();
    let overview = match shared.workers.run(Share::Readers, &asker.key, move || service.rounds_overview()).await {
        Ok(Ok(overview)) => overview,
        Ok(Err(error)) => return Refusal::from(error).into_response(),
        Err(refusal) => return refusal.into_response(),
    };
    let text = shared.telemetry.render(shared.admission.running()) + &rounds::render(&overview);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
