//! `/openapi.json`: the routes as an OpenAPI 3.1 document, generated from the same list as the routes themselves.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use rootset_api::{Effect, OperationInfo, catalogue};
use serde_json::{Map, Value, json};

use crate::answer::JSON;

/// What every operation may answer besides its own answer: status, name among the components, when.
const REFUSALS: [(&str, &str, &str); 15] = [
    ("400", "InvalidArgument", "`invalid_argument`: the request is not what the operation takes"),
    ("401", "Unauthorized", "`unauthorized`: there is no token, or it is unknown, revoked or expired"),
    ("403", "Forbidden", "`forbidden`: the token lacks the scope, or `Host` or `Origin` is not allowed"),
    ("404", "NotFound", "`not_found`: no such thing, or none that this token may see"),
    ("408", "TooSlow", "`limit_exceeded`: the body did not arrive in time"),
    ("409", "Conflict", "`conflict`: it contradicts what is stored, or the key was used with another body"),
    ("410", "PlanExpired", "`plan_expired`: make a new plan and review it"),
    ("413", "TooLarge", "`limit_exceeded`: the body is too large"),
    ("415", "WrongContentType", "`invalid_argument`: bodies are `application/json`"),
    ("422", "LimitExceeded", "`limit_exceeded`: a limit or a quota is exceeded"),
    ("426", "UpgradeRequired", "`upgrade_required`: a newer version changed the database; restart this one"),
    (
        "428",
        "ConfirmationRequired",
        "`confirmation_required`: `details.next` is the call to make once a person has agreed",
    ),
    ("429", "TooMany", "`busy`: as much of this caller is running as one may have; others are served"),
    ("500", "Internal", "`internal`: an internal error; see the log of the server"),
    ("503", "Busy", "`busy`: try again after `details.retry_after_ms`"),
];
const ABOUT: &str = "Memory for AI agents, with a garbage collector. Every operation is one POST with a JSON object; the \
    answer is the same JSON that `rootset call` prints and MCP tools return. Errors have one shape.";

/// The whole document.
pub fn document() -> Value {
    let mut paths = Map::new();
    for operation in catalogue() {
        paths.insert(format!("/v1/{}", operation.name), json!({"post": described(operation)}));
    }
    paths.insert("/healthz".into(), status_only("healthz", "The process serves connections"));
    paths.insert("/readyz".into(), status_only("readyz", "The database answers, too"));
    paths.insert("/metrics".into(), metrics());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Rootset",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Memory for AI agents, with a garbage collector",
            "description": ABOUT,
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "Where this document came from"}],
        "security": [{"token": []}],
        "tags": tags(),
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of `create_token`. Its scopes are the effects it may have: read, write, destroy \
                    (what undo can restore), purge (what it cannot), admin (the database, tokens and workspaces).",
            }},
            "schemas": {"Error": error_schema()},
            "responses": refusals(),
            "headers": headers(),
            "parameters": parameters(),
        },
    })
}

pub async fn serve() -> Response {
    static TEXT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(document().to_string()));
    ([(CONTENT_TYPE, JSON)], TEXT.clone()).into_response()
}

fn described(operation: &OperationInfo) -> Value {
    let input = operation.input_schema();
    let is_body_required = input.get("required").and_then(Value::as_array).is_some_and(|fields| !fields.is_empty());
    let description = operation.description();
    let summary = description.split(['.', '\n', ';']).next().unwrap_or_default().trim().to_owned();
    let mut parameters = vec![json!({"$ref": "#/components/parameters/RequestId"})];
    if operation.effect != Effect::Read {
        parameters.push(json!({"$ref": "#/components/parameters/IdempotencyKey"}));
    }
    let mut responses = Map::new();
    responses.insert(
        "200".into(),
        json!({
            "description": "The operation's answer",
            "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
            "content": {"application/json": {"schema": schema(operation.output_schema().clone())}},
        }),
    );
    for (status, name, _) in REFUSALS {
        responses.insert(status.into(), json!({"$ref": format!("#/components/responses/{name}")}));
    }
    json!({
        "operationId": operation.name,
        "tags": [operation.effect.as_str()],
        "summary": summary,
        "description": description,
        "parameters": parameters,
        "requestBody": {
            "required": is_body_required,
            "content": {"application/json": {"schema": request_schema(input.clone())}},
        },
        "responses": responses,
        "x-rootset-effect": operation.effect.as_str(),
        "x-rootset-idempotent": operation.is_idempotent,
        "x-rootset-open-world": operation.is_open_world,
    })
}

/// The document says once which dialect its schemas speak. Pairs of equal things are lists of two of them: the same, and
/// more tools understand it.
fn schema(mut schema: Value) -> Value {
    if let Value::Object(fields) = &mut schema {
        fields.remove("$schema");
        fields.remove("title");
    }
    every_object(&mut schema, |fields| {
        let one = match fields.get("prefixItems") {
            Some(Value::Array(items)) if items.windows(2).all(|pair| pair[0] == pair[1]) => items.first().cloned(),
            _ => None,
        };
        if let Some(one) = one {
            fields.remove("prefixItems");
            fields.insert("items".into(), one);
        }
    });
    schema
}

/// What a request may hold, said in full: unknown fields are errors wherever fields are listed, and what need not be there
/// may also be `null`.
fn request_schema(input: Value) -> Value {
    let mut input = schema(input);
    every_object(&mut input, |fields| {
        let is_object = fields.get("type").is_some_and(|it| it == "object");
        let required = fields.get("required").cloned().unwrap_or_default();
        if let Some(Value::Object(properties)) = fields.get_mut("properties") {
            let is_required = |name: &String| required.as_array().is_some_and(|it| it.iter().any(|it| it == name));
            for (_, property) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
                allow_null(property);
            }
            fields.entry("additionalProperties").or_insert(Value::Bool(false));
        } else if is_object {
            fields.entry("additionalProperties").or_insert(Value::Bool(false));
        }
    });
    // A request without fields may be nothing at all.
    let is_needed = input.get("required").and_then(Value::as_array).is_some_and(|fields| !fields.is_empty());
    if !is_needed {
        allow_null(&mut input);
    }
    input
}

fn allow_null(property: &mut Value) {
    let Value::Object(fields) = property else { return };
    match fields.get_mut("type") {
        Some(Value::Array(types)) if !types.iter().any(|it| it == "null") => types.push("null".into()),
        Some(Value::String(one)) => {
            let both = json!([one, "null"]);
            fields.insert("type".into(), both);
        }
        _ => {}
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum")
        && !words.contains(&Value::Null)
    {
        words.push(Value::Null);
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.push(json!({"type": "null"}));
    }
}

fn every_object(schema: &mut Value, mut change: impl FnMut(&mut Map<String, Value>)) {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                change(fields);
                open.extend(fields.values_mut());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

fn tags() -> Value {
    let about = |effect| match effect {
        Effect::Read => "Changes nothing",
        Effect::Write => "Adds and changes",
        Effect::Destroy => "Removes what undo can restore",
        Effect::Purge => "Removes for good",
        Effect::Admin => "The database, tokens and workspaces",
    };
    Effect::ALL.into_iter().map(|effect| json!({"name": effect.as_str(), "description": about(effect)})).collect()
}

fn status_only(id: &str, about: &str) -> Value {
    json!({"get": {
        "operationId": id,
        "summary": about,
        "security": [],
        "responses": {
            "204": {"description": "Yes"},
            "403": {"$ref": "#/components/responses/Forbidden"},
            "503": {"description": "No"},
        },
    }})
}

fn metrics() -> Value {
    json!({"get": {
        "operationId": "metrics",
        "summary": "Counts and times by operation and code, for Prometheus; needs the scope `admin`",
        "responses": {
            "200": {"description": "Metrics", "content": {"text/plain": {"schema": {"type": "string"}}}},
            "401": {"$ref": "#/components/responses/Unauthorized"},
            "403": {"$ref": "#/components/responses/Forbidden"},
            "503": {"$ref": "#/components/responses/Busy"},
        },
    }})
}

fn error_schema() -> Value {
    let codes = [
        "invalid_argument",
        "not_found",
        "conflict",
        "confirmation_required",
        "plan_expired",
        "limit_exceeded",
        "upgrade_required",
        "unauthorized",
        "forbidden",
        "busy",
        "internal",
    ];
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "enum": codes},
                "message": {"type": "string", "description": "Names the field, the value and the limit."},
                "hint": {"type": "string", "description": "What to do next."},
                "details": {"type": "object", "description": "`next` is the call to make next, where there is one."},
            },
        }},
    })
}

fn refusals() -> Value {
    let mut responses = Map::new();
    for (status, name, about) in REFUSALS {
        let mut headers = json!({"X-Request-Id": {"$ref": "#/components/headers/RequestId"}});
        match status {
            "401" => headers["WWW-Authenticate"] = json!({"$ref": "#/components/headers/Authenticate"}),
            "429" | "503" => headers["Retry-After"] = json!({"$ref": "#/components/headers/RetryAfter"}),
            _ => {}
        }
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}});
        responses.insert(name.into(), json!({"description": about, "headers": headers, "content": content}));
    }
    Value::Object(responses)
}

fn headers() -> Value {
    json!({
        "RequestId": {
            "description": "The id of this request in the server's log",
            "schema": {"type": "string"},
            "example": "01997f3e-2c1a-7c3e-9d0a-5b7d6c1f2a34",
        },
        "Authenticate": {"description": "How to authenticate", "schema": {"type": "string"}, "example": "Bearer"},
        "RetryAfter": {
            "description": "Seconds after which to try again",
            "schema": {"type": "integer"},
            "example": 1,
        },
    })
}

fn parameters() -> Value {
    json!({
        "RequestId": {
            "name": "X-Request-Id",
            "in": "header",
            "description": "An id of your own, returned and logged if it is 1 to 64 of A-Z a-z 0-9 - _ .",
            "schema": {"type": "string"},
            "example": "import-2027-01-15.7",
        },
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "A request sent again with the same key and body within 24 hours gets the first answer; \
                with another body, `conflict`. Kept in memory, per token and operation.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
            "example": "6f1c2f0e-4b7d-4e0a-8a51-0c5f7d1b9e42",
        },
    })
}
