//! Pages for people: `/docs` lists the operations, `/` says what answers here. No scripts, nothing from elsewhere.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use base64::Engine;
use bytes::Bytes;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY};
use rootset_api::{Effect, OperationInfo, catalogue};
use serde_json::Value;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("docs.css");
const EXAMPLE: &str = r#"curl -s http://127.0.0.1:7654/v1/add_memory \
  -H "Authorization: Bearer $(cat rootset.db.token)" \
  -H 'Content-Type: application/json' \
  -d '{"context": "The office moved to Lyon."}'"#;

const FRONT: &str = "<p>Memory for AI agents, with a garbage collector. This is its server.</p><dl>\
    <dt><a href=\"/docs\">/docs</a></dt><dd>every operation, with its fields</dd>\
    <dt><a href=\"/openapi.json\">/openapi.json</a></dt><dd>the same for programs</dd>\
    <dt><code>POST /v1/&lt;operation&gt;</code></dt><dd>the HTTP API; it needs a token</dd>\
    <dt><code>/mcp</code></dt><dd>the same operations as tools for agents (MCP over HTTP); it needs a token</dd>\
    <dt><code>/healthz</code>, <code>/readyz</code>, <code>/metrics</code></dt><dd>for those who run it</dd></dl>\
    <p>On the machine where it runs, <code>rootset token create</code> makes a token, and \
    <code>rootset list</code> shows what is stored.</p>";

pub async fn serve() -> Response {
    static PAGE: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(page()));
    html(PAGE.clone())
}

/// Somebody typed the address into a browser: it names no database and no workspace, because it asks for no token.
pub async fn serve_front() -> Response {
    static PAGE: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(document("Rootset", FRONT)));
    html(PAGE.clone())
}

fn html(page: Bytes) -> Response {
    static POLICY: LazyLock<HeaderValue> = LazyLock::new(policy);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, POLICY.clone()),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, page).into_response()
}

/// Our own style by its hash, and nothing else.
fn policy() -> HeaderValue {
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("a policy is plain ASCII")
}

fn page() -> String {
    let mut contents = String::new();
    let mut operations = String::new();
    for effect in Effect::ALL {
        let names: Vec<_> = catalogue().iter().filter(|it| it.effect == effect).collect();
        let links: String = names.iter().map(|it| format!("<a href=\"#{0}\">{0}</a> ", it.name)).collect();
        write!(contents, "<dt>{}</dt><dd>{links}</dd>", effect.as_str()).expect("writing to a string cannot fail");
    }
    for operation in catalogue() {
        operations.push_str(&section(operation));
    }
    let body = format!(
        "<p>Every operation is <code>POST /v1/&lt;operation&gt;</code> with a JSON object and a token. \
         The same for programs: <a href=\"/openapi.json\">openapi.json</a>.</p>\
         <pre>{}</pre><h2>Operations by what they do</h2><dl class=\"contents\">{contents}</dl>{operations}",
        escaped(EXAMPLE)
    );
    document("Rootset: HTTP API", &body)
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style></head><body><main><h1>Rootset</h1>{body}</main></body></html>\n"
    )
}

fn section(operation: &OperationInfo) -> String {
    let schema = operation.input_schema();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut fields = String::new();
    for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let mark = if required.contains(&name.as_str()) { " <b>required</b>" } else { "" };
        let about = field.get("description").and_then(Value::as_str).unwrap_or_default();
        write!(
            fields,
            "<dt><code>{}</code> <i>{}</i>{mark}</dt><dd>{}</dd>",
            escaped(name),
            kind(field),
            escaped(about)
        )
        .expect("writing to a string cannot fail");
    }
    let (name, effect) = (operation.name, operation.effect.as_str());
    format!(
        "<section id=\"{name}\"><h3>{name} <small>{effect}</small></h3><p>{}</p><dl>{fields}</dl></section>",
        escaped(operation.description())
    )
}

/// The type of a field in a word or two.
fn kind(field: &Value) -> String {
    let types: Vec<&str> = match field.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).filter(|it| *it != "null").collect(),
        _ => Vec::new(),
    };
    match field.get("enum").and_then(Value::as_array) {
        Some(words) => escaped(&words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")),
        None => escaped(&types.join(" or ")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
