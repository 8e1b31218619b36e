//! `POST /hooks/<client>`: an event of an agent's client in the body, its answer in the answer; the same as `rootset hook` does on
//! stdin and stdout.
//!
//! Who may not write is refused like anywhere else. From there on it fails open: whatever goes wrong or is late is `{}`, because a
//! person waits for their prompt. Nothing of this machine's files is read for an event that came over the network.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::Uri;
use http::header::{CONTENT_TYPE, HeaderValue};
use rootset_messages::hooks::{HookClient, HookEvent, read_hook_event};
use rootset_model::{Channel, Trust};
use rootset_service::hooks::Surroundings;
use rootset_service::{Caller, Service, ServiceError};

use crate::admission::Asker;
use crate::answer::Refusal;
use crate::routes::Shared;
use crate::workers::Share;

/// An answer that says nothing.
const NOTHING: &str = "{}";
/// Names the workspace, where the token's own is not meant.
const WORKSPACE: &str = "workspace=";

pub async fn answer(State(shared): State<Arc<Shared>>, Path(client): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(asker) = parts.extensions.get::<Asker>().cloned() else { return Refusal::no_token().into_response() };
    let Some(client) = HookClient::from_word(&client) else {
        return Refusal::no_route(parts.uri.path()).into_response();
    };
    let caller = caller(asker.caller, &parts.uri);
    if let Err(error) = shared.service.may_hook(&caller) {
        return Refusal::from(error).into_response();
    }
    let said = said(&shared, client, caller, &asker.key, body).await;
    let json = HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, json)], said.unwrap_or_else(|| NOTHING.to_owned())).into_response()
}

/// `None` where nothing is said, for whatever reason.
async fn said(shared: &Arc<Shared>, client: HookClient, caller: Caller, key: &str, body: Body) -> Option<String> {
    let received = shared.bodies.read(key, body, shared.bodies.bounds_of_message()).await.ok()?;
    let event = read_hook_event(&received.bytes)?;
    let deadline = event.happening.deadline();
    let service = shared.service.clone();
    let work = move || hooked(&service, client, &caller, &event);
    let answer = tokio::time::timeout(deadline, shared.workers.run(Share::Writers, key, work)).await.ok()?.ok()?;
    match answer {
        Ok(printed) => Some(printed).filter(|printed| !printed.is_empty()),
        Err(error) => {
            tracing::debug!(target: "rootset::http", ?error, "no answer to an event");
            None
        }
    }
}

fn hooked(
    service: &Arc<Service>,
    client: HookClient,
    caller: &Caller,
    event: &HookEvent,
) -> Result<String, ServiceError> {
    // What the client gives its model by itself lies on another machine.
    let surroundings = Surroundings { client, own_files: Vec::new() };
    Ok(service.hook(caller, &surroundings, event)?.printed(client, &event.happening))
}

/// Nobody speaks through a hook: what it writes is a client's, whoever the token belongs to.
fn caller(caller: Caller, uri: &Uri) -> Caller {
    let named = uri.query().into_iter().flat_map(|query| query.split('&')).find_map(|it| it.strip_prefix(WORKSPACE));
    let workspace = match named.filter(|name| !name.is_empty()) {
        Some(name) => name.into(),
        None => caller.workspace,
    };
    Caller { workspace, channel: Channel::Hook, trust: caller.trust.min(Trust::Agent), ..caller }
}
