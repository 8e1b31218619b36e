//! What is around the operations: health, metrics, the description and the page.

use rootset_api::{Effect, catalogue};
use serde_json::{Value, json};

use crate::harness::Served;

#[test]
fn health_is_a_status_and_nothing_else() {
    let served = Served::new();
    for path in ["/healthz", "/readyz"] {
        let reply = served.get(path, None);
        assert_eq!((reply.status, reply.text.as_str()), (204, ""), "{path}");
    }
}

#[test]
fn metrics_count_by_operation_and_code_and_name_no_workspace() {
    let served = Served::new();
    served.world.call("create_workspace", json!({"workspace_id": "secret-project"}));
    served.post("list_memories", &json!({"workspace_id": "secret-project"}));
    served.post("list_memories", &json!({"workspace_id": "nowhere"}));
    served.get("/a/strangers/path", None);
    let text = served.get("/metrics", Some(&served.tokens.admin)).text;
    assert!(text.contains(r#"rootset_http_requests_total{operation="list_memories",code="ok"} 1"#), "{text}");
    assert!(text.contains(r#"rootset_http_requests_total{operation="list_memories",code="not_found"} 1"#), "{text}");
    assert!(text.contains(r#"rootset_http_request_duration_seconds_count{operation="list_memories"} 2"#), "{text}");
    assert!(text.contains(r#"operation="unknown",code="not_found"} 1"#), "{text}");
    assert!(!text.contains("secret-project") && !text.contains("strangers"), "{text}");
}

#[test]
fn metrics_tell_of_rounds_by_class_and_name_no_workspace() {
    let served = Served::new();
    for (workspace, class) in [("secret-project", "pro"), ("secret-plan", "pro"), ("third", "free")] {
        served.world.call("create_workspace", json!({"workspace_id": workspace, "class": class}));
    }
    let metrics = || served.get("/metrics", Some(&served.tokens.admin)).text;
    let text = metrics();
    for line in [
        r#"rootset_workspaces{class="pro"} 2"#,
        r#"rootset_workspaces{class="free"} 1"#,
        r#"rootset_garbage_memories{class="pro"} 0"#,
        r#"rootset_sources_waiting{class="pro",state="announced"} 0"#,
        r#"rootset_sources_waiting{class="pro",state="stopped"} 0"#,
        "rootset_last_round_failed_workspaces 0",
        "rootset_clock_in_doubt 0",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
    assert!(!text.contains("secret"), "{text}");
    served.world.call("update_workspace", json!({"workspace_id": "third", "class": "pro"}));
    let text = metrics();
    assert!(text.contains(r#"rootset_workspaces{class="pro"} 3"#) && !text.contains("free"), "{text}");
}

#[test]
fn openapi_describes_every_operation_and_points_nowhere_else() {
    let served = Served::new();
    let reply = served.get("/openapi.json", None);
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"));
    let document = reply.json();
    assert_eq!(document, rootset_http::openapi_document());
    assert_eq!(document["openapi"], "3.1.0");
    for operation in catalogue() {
        let described = &document["paths"][format!("/v1/{}", operation.name)]["post"];
        assert_eq!(described["operationId"], operation.name, "{described}");
        let input = &described["requestBody"]["content"]["application/json"]["schema"];
        let names = |schema: &Value| -> Vec<String> {
            schema["properties"].as_object().map(|it| it.keys().cloned().collect()).unwrap_or_default()
        };
        assert_eq!(names(input), names(operation.input_schema()), "{}", operation.name);
        assert_eq!(input["additionalProperties"], false, "{}: unknown fields are refused", operation.name);
        let has_key = described["parameters"].to_string().contains("IdempotencyKey");
        assert_eq!(has_key, operation.effect != Effect::Read, "{}", operation.name);
    }
    for pointer in references(&document) {
        let inside = pointer.strip_prefix('#').unwrap_or_else(|| panic!("{pointer} is elsewhere"));
        assert!(document.pointer(inside).is_some(), "{pointer} is nowhere");
    }
}

/// Every `$ref` of a document.
fn references(document: &Value) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![document]);
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

#[test]
fn every_status_that_errors_have_is_described() {
    let document = rootset_http::openapi_document();
    let described = &document["paths"]["/v1/get_memory"]["post"]["responses"];
    for status in [400, 401, 403, 404, 408, 409, 410, 413, 415, 422, 426, 428, 500, 503] {
        assert!(described[status.to_string()].is_object(), "{status}");
    }
}

#[test]
fn front_page_says_what_this_is_and_leads_to_the_documentation() {
    let served = Served::new();
    served.world.call("create_workspace", json!({"workspace_id": "secret-project"}));
    let page = served.get("/", None);
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    for link in ["/docs", "/openapi.json"] {
        assert!(page.text.contains(&format!("href=\"{link}\"")), "{}", page.text);
        assert_eq!(served.get(link, None).status, 200);
    }
    assert!(page.text.contains("Memory for AI agents") && !page.text.contains("secret-project"), "{}", page.text);
}

#[test]
fn docs_page_lists_every_operation_and_loads_nothing() {
    let served = Served::new();
    let page = served.get("/docs", None);
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for operation in catalogue() {
        assert!(page.text.contains(&format!("<section id=\"{}\">", operation.name)), "{}", operation.name);
    }
    assert!(!page.text.contains("<script") && !page.text.contains("src="), "it needs no other file");
}
