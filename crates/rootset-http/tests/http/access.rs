//! Who may call: tokens and what they are for, and the names and pages a server answers to.

use rootset_api::{Effect, catalogue};
use rootset_http::{Access, ServerSettings};
use rootset_service::{Caller, FrontEnd};
use serde_json::json;

use crate::harness::{START_MS, Served};

const DAY_MS: i64 = 24 * 3_600_000;

const ROUTES: [(&str, &str); 9] = [
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("POST", "/v1/get_stats"),
    ("POST", "/v1/no_such_operation"),
    ("GET", "/v1/get_stats"),
    ("GET", "/no/such/route"),
];

#[test]
fn every_operation_asks_for_a_token() {
    let served = Served::new();
    for operation in catalogue() {
        let path = format!("/v1/{}", operation.name);
        let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
        for authorization in ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic cnN0\r\n"] {
            let reply = served.raw(format!("{head}{authorization}Content-Length: 2\r\n\r\n{{}}").as_bytes());
            assert_eq!((reply.status, reply.code().as_str()), (401, "unauthorized"), "{path}: {reply:?}");
            assert_eq!(reply.header("www-authenticate"), "Bearer");
        }
    }
}

#[test]
fn strangers_learn_nothing_from_bad_requests() {
    let served = Served::new();
    for body in ["{", "[1]", "{\"nonsense\": 1}"] {
        let length = body.len();
        let request =
            format!("POST /v1/add_memory HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}");
        assert_eq!(served.raw(request.as_bytes()).status, 401, "{body}");
    }
    let unknown = "POST /v1/nonsense HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(served.raw(unknown.as_bytes()).status, 401);
}

#[test]
fn reading_token_can_call_no_operation_of_another_effect() {
    let served = Served::new();
    let mut refused = 0;
    for operation in catalogue() {
        let reply = served.post_as(&served.tokens.reader, operation.name, &json!({}), &[]);
        if operation.effect == Effect::Read {
            assert!(reply.status != 401 && reply.status != 403, "{}: {reply:?}", operation.name);
        } else {
            assert_eq!((reply.status, reply.code().as_str()), (403, "forbidden"), "{}", operation.name);
            refused += 1;
        }
    }
    assert!(refused > 10, "the list has operations that change something");
    assert_eq!(served.get("/metrics", Some(&served.tokens.reader)).status, 403);
    assert_eq!(served.get("/metrics", None).status, 401);
    assert_eq!(served.get("/metrics", Some(&served.tokens.admin)).status, 200);
}

#[test]
fn token_of_one_workspace_sees_others_as_not_found() {
    let served = Served::new();
    served.world.call("create_workspace", json!({"workspace_id": "theirs"}));
    served.world.call("add_memory", json!({"workspace_id": "theirs", "context": "a secret", "name": "secret"}));
    let ask = |request| served.post_as(&served.tokens.of_one_workspace, "get_memory", &request, &[]);
    let theirs = ask(json!({"workspace_id": "theirs", "memory_id": "secret"}));
    let nowhere = ask(json!({"workspace_id": "nowhere", "memory_id": "secret"}));
    assert_eq!((theirs.status, theirs.code().as_str()), (404, "not_found"));
    assert_eq!(theirs.text.replace("theirs", "nowhere"), nowhere.text, "as if it did not exist");
    let mine = served.post_as(&served.tokens.of_one_workspace, "list_memories", &json!({"workspace_id": "mine"}), &[]);
    assert_eq!(mine.status, 200, "{mine:?}");
    assert_eq!(served.get("/metrics", Some(&served.tokens.of_one_workspace)).status, 403);
}

#[test]
fn foreign_host_and_origin_are_refused_on_every_route() {
    let served = Served::new();
    for (method, path) in ROUTES {
        let send = |headers: &str| {
            let token = format!("Authorization: Bearer {}\r\n", served.tokens.admin);
            served.raw(format!("{method} {path} HTTP/1.1\r\n{headers}{token}Content-Length: 0\r\n\r\n").as_bytes())
        };
        for headers in [
            "Host: evil.example\r\n",
            "Host: evil.example:7654\r\n",
            "Host: localhost\r\nOrigin: https://evil.example\r\n",
            "Host: localhost\r\nOrigin: null\r\n",
            "Host: localhost\r\nOrigin: http://localhost.evil.example\r\n",
            "",
        ] {
            let reply = send(headers);
            assert_eq!((reply.status, reply.code().as_str()), (403, "forbidden"), "{method} {path} {headers}");
        }
        for headers in ["Host: localhost\r\n", "Host: [::1]:1\r\nOrigin: http://127.0.0.1:3000\r\n"] {
            assert_ne!(send(headers).status, 403, "{method} {path} {headers}");
        }
    }
}

#[test]
fn listed_hosts_are_answered() {
    let hosts = vec!["memory.example.org".to_owned()];
    let served = Served::with_settings(ServerSettings { hosts, ..ServerSettings::default() });
    let reply = served.raw(b"GET /healthz HTTP/1.1\r\nHost: Memory.example.org:443\r\n\r\n");
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
}

#[test]
fn server_without_tokens_still_refuses_foreign_pages() {
    let anybody = Caller::new(FrontEnd::Http, "http", "home");
    let served = Served::with(ServerSettings::default(), Access::Open(anybody));
    let send = |origin: &str| {
        let head = "POST /v1/list_memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n";
        served.raw(format!("{head}{origin}\r\n").as_bytes()).status
    };
    assert_eq!(send(""), 200);
    assert_eq!(send("Origin: https://evil.example\r\n"), 403);
}

#[test]
fn actor_of_the_audit_is_the_name_of_the_token() {
    let served = Served::new();
    served.post("add_memory", &json!({"context": "falcons fly"}));
    let entries = served.world.call("list_memories", json!({"written_by": "admin"}));
    assert_eq!(entries["total"], 1, "{entries}");
}

#[test]
fn a_token_that_ends_soon_says_so_with_every_answer_and_metrics_name_no_token() {
    let served = Served::new();
    let cli = Caller::new(FrontEnd::CommandLine, "cli", "home");
    let request =
        json!({"name": "ending", "scopes": ["read"], "workspaces": ["*"], "expires_at": START_MS + 13 * DAY_MS});
    let created = served.world.service.call(&cli, "create_token", request).expect("a token");
    let secret = created["token"].as_str().expect("a secret");
    let warned = |token: &str| {
        served.post_as(token, "list_memories", &json!({}), &[]).header("rootset-token-expires").to_owned()
    };
    assert_eq!(warned(secret), created["expires_at"].as_str().expect("a time"));
    assert_eq!(warned(&served.tokens.reader), "");
    let metrics = served.get("/metrics", Some(&served.tokens.admin)).text;
    assert!(metrics.contains(&format!("rootset_token_expires_in_seconds {}", 13 * DAY_MS / 1_000)), "{metrics}");
    assert!(!metrics.contains("ending"), "{metrics}");
}

#[test]
fn refused_requests_are_in_the_audit_with_the_address_they_came_from() {
    let served = Served::new();
    served.post_as("rst_guess", "add_memory", &json!({}), &[]);
    served.post_as(&served.tokens.reader, "add_memory", &json!({"context": "x"}), &[]);
    served.post_as(&served.tokens.of_one_workspace, "list_memories", &json!({"workspace_id": "home"}), &[]);
    served.get("/metrics", None);
    served.get("/metrics", Some(&served.tokens.reader));
    let audit = served.post("list_audit", &json!({"database": true, "operation": "access_denied"})).json();
    let mut told: Vec<String> = audit["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|it| format!("{} {} {} {}", it["actor"], it["origin"], it["details"]["operation"], it["details"]["code"]))
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            r#""one" "http 127.0.0.1" "list_memories" "not_found""#,
            r#""reader" "http 127.0.0.1" "/metrics" "forbidden""#,
            r#""reader" "http 127.0.0.1" "add_memory" "forbidden""#,
            r#""unknown" "http 127.0.0.1" "/metrics" "unauthorized""#,
            r#""unknown" "http 127.0.0.1" "add_memory" "unauthorized""#,
        ]
    );
}
