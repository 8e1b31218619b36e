//! What the scheduler's rounds found and did, as gauges. The class is the only label that says anything about a tenant.

use metrics::{describe_gauge, gauge};
use metrics_exporter_prometheus::PrometheusBuilder;
use rootset_model::Timestamp;
use rootset_service::scheduler::{Overview, SourceState};

const WORKSPACES: &str = "rootset_workspaces";
const GARBAGE: &str = "rootset_garbage_memories";
const SOURCES: &str = "rootset_sources_waiting";
const LAST_ROUND: &str = "rootset_last_round_timestamp_seconds";
const NEXT_ROUND: &str = "rootset_next_round_timestamp_seconds";
const FAILED: &str = "rootset_last_round_failed_workspaces";
const CLOCK: &str = "rootset_clock_in_doubt";
const EVENTS: &str = "rootset_events_waiting";
const TOKENS: &str = "rootset_token_expires_in_seconds";

/// The gauges in the format of Prometheus. Their recorder is made for each request, so that a class that is gone is gone
/// from here, too.
pub fn render(overview: &Overview) -> String {
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, || {
        describe();
        set(overview);
    });
    recorder.handle().render()
}

fn describe() {
    describe_gauge!(WORKSPACES, "Workspaces, by class");
    describe_gauge!(GARBAGE, "Memories that were garbage in the last look at their workspace and are still there");
    describe_gauge!(SOURCES, "Sources whose garbage waits: announced, draining, blocked or stopped");
    describe_gauge!(LAST_ROUND, "When the last round of the scheduler finished");
    describe_gauge!(NEXT_ROUND, "When the next round of the scheduler is due");
    describe_gauge!(FAILED, "Workspaces that failed in the last round");
    describe_gauge!(CLOCK, "1 while the clock is in doubt and nothing is deleted or purged");
    describe_gauge!(EVENTS, "Events that wait to be delivered");
    describe_gauge!(TOKENS, "How long the next of the tokens to expire is still accepted");
}

fn set(overview: &Overview) {
    for (class, figures) in &overview.by_class {
        gauge!(WORKSPACES, "class" => class.clone()).set(figures.workspaces as f64);
        gauge!(GARBAGE, "class" => class.clone()).set(figures.garbage as f64);
        for state in SourceState::ALL {
            let sources = figures.sources.get(&state).copied().unwrap_or_default();
            gauge!(SOURCES, "class" => class.clone(), "state" => state.as_str()).set(sources as f64);
        }
    }
    for (name, at) in [(LAST_ROUND, overview.last_round_at), (NEXT_ROUND, overview.next_round_at)] {
        if let Some(Timestamp(at_ms)) = at {
            gauge!(name).set(at_ms as f64 / 1_000.0);
        }
    }
    gauge!(FAILED).set(overview.last_round_failed as f64);
    gauge!(CLOCK).set(f64::from(u8::from(overview.is_clock_in_doubt)));
    for (sink, events) in &overview.events_waiting {
        gauge!(EVENTS, "sink" => sink.clone()).set(*events as f64);
    }
    if let Some(left_ms) = overview.token_ends_in_ms {
        gauge!(TOKENS).set(left_ms as f64 / 1_000.0);
    }
}
