//! `POST /v1/<operation>`: the body is the request, the answer is the operation's.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::header::{HeaderMap, HeaderValue};
use rootset_api::{Effect, OperationInfo, catalogue};
use rootset_service::{Caller, ServiceError};

use crate::access::Access;
use crate::admission::Asker;
use crate::answer::{Answer, Refusal};
use crate::body::{Received, Room};
use crate::idempotency::{self, Claim, Known, RequestKey};
use crate::routes::Shared;
use crate::telemetry::Named;
use crate::workers::Share;

const REPLAYED: &str = "idempotency-replayed";
/// Their answers hold a secret, which is kept nowhere.
const SHOWN_ONCE: [&str; 2] = ["create_token", "rotate_token"];

pub async fn call(State(shared): State<Arc<Shared>>, Path(name): Path<String>, request: Request) -> Response {
    let operation = find(&name);
    let mut response = match answer(&shared, &name, operation, request).await {
        Ok((answer, Origin::Fresh(room))) => {
            let mut response = answer.into_response();
            response.extensions_mut().insert(Arc::new(room));
            response
        }
        Ok((answer, Origin::Replayed)) => {
            let mut response = answer.into_response();
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
            response
        }
        Err(refusal) => refusal.into_response(),
    };
    if let Some(operation) = operation {
        response.extensions_mut().insert(Named(operation));
    }
    response
}

/// Whether an answer was just made or is one of before.
#[derive(Debug)]
enum Origin {
    /// With the room that it takes.
    Fresh(Option<Room>),
    Replayed,
}

/// Everything a worker needs to answer.
struct Job {
    shared: Arc<Shared>,
    caller: Caller,
    operation: Option<&'static OperationInfo>,
    name: String,
    headers: HeaderMap,
    received: Received,
}

async fn answer(
    shared: &Arc<Shared>,
    name: &str,
    operation: Option<&'static OperationInfo>,
    request: Request,
) -> Result<(Answer, Origin), Refusal> {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let headers = parts.headers;
    let asker = parts.extensions.get::<Asker>().cloned().ok_or_else(Refusal::no_token)?;
    let is_kept = |it: &&OperationInfo| it.effect != Effect::Read && !SHOWN_ONCE.contains(&it.name);
    let key = match operation.filter(is_kept) {
        Some(operation) => request_key(operation, &shared.access, &headers)?,
        None => None,
    };
    let received = shared.bodies.read(&asker.key, body, shared.bodies.bounds_of(operation)).await?;
    let claim = match key {
        None => None,
        Some(request_key) => match shared.keys.look_up(request_key, &received.bytes, started) {
            Known::New(claim) => Some(claim),
            Known::Other => return Err(key_taken()),
            Known::Same(mut earlier) => {
                let waiting = earlier.wait_for(Option::is_some);
                let found = shared.within_timeout(started, waiting).await?.map_err(|_| never_answered())?;
                let answer = found.clone().ok_or_else(never_answered)?;
                return Ok((answer, Origin::Replayed));
            }
        },
    };
    let share = match operation {
        _ if received.is_large() => Share::Large,
        Some(operation) if operation.effect != Effect::Read => Share::Writers,
        _ => Share::Readers,
    };
    let Asker { caller, key } = asker;
    let job = Job { shared: shared.clone(), caller, operation, name: name.to_owned(), headers, received };
    let running = shared.workers.run(share, &key, move || job.run(claim));
    let answer = shared.within_timeout(started, running).await??;
    // What was changed is answered in any case; no such answer is large.
    let is_read = operation.is_some_and(|it| it.effect == Effect::Read);
    let room = if is_read { shared.bodies.room_for_answer(&key, answer.body.len())? } else { None };
    Ok((answer, Origin::Fresh(room)))
}

impl Job {
    fn run(self, claim: Option<Claim>) -> Answer {
        let answer = self.answer().unwrap_or_else(Answer::from);
        if let Some(claim) = claim {
            claim.settle(&answer);
        }
        answer
    }

    fn answer(self) -> Result<Answer, Refusal> {
        let service = &self.shared.service;
        if self.operation.is_none() {
            // The service knows the nearest name.
            let refused = service.call(&self.caller, &self.name, serde_json::Value::Null);
            return Err(refused.map_or_else(Refusal::no_operation, |_| Refusal::internal("an unlisted operation")));
        }
        let request = self.received.parse(&self.headers)?;
        drop(self.received);
        Ok(Answer::of(service.call(&self.caller, &self.name, request)))
    }
}

fn request_key(
    operation: &'static OperationInfo,
    access: &Access,
    headers: &HeaderMap,
) -> Result<Option<RequestKey>, Refusal> {
    let Some(value) = headers.get(idempotency::HEADER) else { return Ok(None) };
    let key = idempotency::key(value)?;
    Ok(Some(RequestKey { token: access.fingerprint(headers), operation: operation.name, key }))
}

fn key_taken() -> Refusal {
    ServiceError::conflict("this `Idempotency-Key` was used with another body")
        .with_hint("use a new key for a new request")
        .into()
}

/// The first request under the key ended in a panic.
fn never_answered() -> Refusal {
    Refusal::busy("the first request under this `Idempotency-Key` ended without an answer", "try again")
}

pub fn find(name: &str) -> Option<&'static OperationInfo> {
    static BY_NAME: LazyLock<HashMap<&'static str, &'static OperationInfo>> =
        LazyLock::new(|| catalogue().iter().map(|it| (it.name, it)).collect());
    BY_NAME.get(name).copied()
}
