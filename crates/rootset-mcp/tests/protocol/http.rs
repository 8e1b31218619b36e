//! The handler for `/mcp`, mounted as an HTTP server mounts it: rights per request, Host and Origin, both generations.

use std::collections::BTreeSet;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use rootset_api::Effect;
use rootset_mcp::{HttpOptions, McpOptions, SessionLimits, http_service};
use rootset_service::{Caller, FrontEnd, Rights};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::harness::World;

/// Puts rights into requests as authentication does; the header stands for the token.
async fn authenticate(mut request: Request, next: Next) -> axum::response::Response {
    let rights = match request.headers().get("x-rights").and_then(|value| value.to_str().ok()) {
        Some("all") => Some(Rights::default()),
        Some("read") => Some(Rights { scopes: Some(BTreeSet::from([Effect::Read])), ..Rights::default() }),
        Some("elsewhere") => {
            Some(Rights { workspaces: Some(BTreeSet::from(["other".to_owned()])), ..Rights::default() })
        }
        _ => None,
    };
    if let Some(rights) = rights {
        let caller = Caller::new(FrontEnd::Http, "token-name", "home");
        request.extensions_mut().insert(Caller { rights, ..caller });
    }
    next.run(request).await
}

struct Site {
    world: World,
    address: std::net::SocketAddr,
}

struct Response {
    status: u16,
    session: Option<String>,
    body: String,
}

impl Response {
    /// The message, also when it came as a stream of one event.
    fn message(&self) -> Value {
        let line =
            self.body.lines().rev().find_map(|line| line.strip_prefix("data: ").filter(|data| data.starts_with('{')));
        serde_json::from_str(line.unwrap_or(&self.body)).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Site {
    async fn new() -> Self {
        let world = World::new();
        let options = HttpOptions {
            allowed_hosts: Vec::new(),
            allowed_origins: vec!["http://localhost:7654".to_owned()],
            body_bytes_max: 100_000,
            sessions: SessionLimits::default(),
            stop: Default::default(),
        };
        let handler = http_service(world.server(McpOptions::default()), options);
        let router = Router::new().nest_service("/mcp", handler).layer(from_fn(authenticate));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { world, address }
    }

    async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Response {
        self.post_to("/mcp", headers, message).await
    }

    async fn post_to(&self, place: &str, headers: &[(&str, &str)], message: &Value) -> Response {
        let body = message.to_string();
        let mut request = format!(
            "POST {place} HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n"
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Response { status, session: header("mcp-session-id"), body: body.to_owned() }
    }

    /// A call of revision 2026-07-28, which needs no session.
    async fn call(&self, rights: &str, tool: &str, arguments: Value) -> Value {
        self.call_at("/mcp", rights, tool, arguments).await
    }

    async fn call_at(&self, place: &str, rights: &str, tool: &str, arguments: Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let parameters = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters});
        let headers = [
            ("x-rights", rights),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", tool),
        ];
        self.post_to(place, &headers, &message).await.message()
    }
}

fn initialize() -> Value {
    let parameters = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters})
}

#[tokio::test]
async fn each_request_is_made_with_its_own_rights() {
    let site = Site::new().await;
    let added = site.call("all", "add_memory", json!({"name": "one", "context": "one"})).await;
    assert_eq!(added["result"]["structuredContent"]["created"], true, "{added}");
    assert_eq!(site.world.call("get_memory", json!({"memory_id": "one"}))["written_by"], "token-name");
    let code = |answer: Value| answer["result"]["structuredContent"]["error"]["code"].clone();
    assert_eq!(code(site.call("read", "add_memory", json!({"context": "two"})).await), "forbidden");
    assert_eq!(code(site.call("read", "update_memory", json!({"memory_id": "one", "tags": []})).await), "forbidden");
    assert_eq!(code(site.call("elsewhere", "get_memory", json!({"memory_id": "one"})).await), "not_found");
    let read = site.call("read", "get_memory", json!({"memory_id": "one"})).await;
    assert_eq!(read["result"]["structuredContent"]["name"], "one", "{read}");
}

#[tokio::test]
async fn an_address_names_a_workspace_for_its_session_and_grants_nothing() {
    let site = Site::new().await;
    site.world.call("create_workspace", json!({"workspace_id": "other"}));
    let (here, there) = ("/mcp?workspace=home", "/mcp?x=1&workspace=other");
    for (place, name) in [(here, "in-home"), (there, "in-other")] {
        let added = site.call_at(place, "all", "add_memory", json!({"name": name, "context": name})).await;
        assert_eq!(added["result"]["structuredContent"]["created"], true, "{added}");
    }
    let names = |workspace| {
        let listed = site.world.call("list_memories", json!({"workspace_id": workspace}));
        listed["memories"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((names("home"), names("other")), (vec![json!("in-home")], vec![json!("in-other")]));

    // A request that names another workspace means that one.
    let named = site.call_at(there, "all", "get_memory", json!({"memory_id": "in-home", "workspace_id": "home"})).await;
    assert_eq!(named["result"]["structuredContent"]["name"], "in-home", "{named}");

    let code = |answer: Value| answer["result"]["structuredContent"]["error"]["code"].clone();
    let read =
        |place: &'static str, name: &str| site.call_at(place, "elsewhere", "get_memory", json!({"memory_id": name}));
    assert_eq!(read(there, "in-other").await["result"]["structuredContent"]["name"], "in-other");
    assert_eq!(code(read(here, "in-home").await), "not_found");

    // An earlier generation opens a session at the address and goes on there.
    let begun = site.post_to(there, &[("x-rights", "all")], &initialize()).await;
    let session = begun.session.unwrap();
    let parameters = json!({"name": "get_memory", "arguments": {"memory_id": "in-other"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters});
    let answer = site.post_to(there, &[("x-rights", "all"), ("Mcp-Session-Id", &session)], &message).await.message();
    assert_eq!(answer["result"]["structuredContent"]["name"], "in-other", "{answer}");
}

#[tokio::test]
async fn only_tools_that_the_token_lets_succeed_are_listed() {
    let site = Site::new().await;
    let session = site.post(&[("x-rights", "read")], &initialize()).await.session.unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut listed = Vec::new();
    for rights in ["all", "read"] {
        let answer = site.post(&[("Mcp-Session-Id", &session), ("x-rights", rights)], &list).await.message();
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        listed.push(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>());
    }
    assert!(listed[0].contains(&"gc_apply".to_owned()), "{listed:?}");
    let reading = ["get_memory", "search_memory", "search_code", "get_symbol", "find_references", "context_recall"];
    assert_eq!(listed[1], reading);
}

#[tokio::test]
async fn a_request_without_rights_is_refused_even_in_somebodys_session() {
    let site = Site::new().await;
    assert_eq!(site.call("none", "add_memory", json!({"context": "x"})).await["error"]["code"], -32603);
    let begun = site.post(&[("x-rights", "all")], &initialize()).await;
    assert_eq!(begun.message()["result"]["serverInfo"]["name"], "rootset");
    let session = begun.session.unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/list"});
    let refused = site.post(&[("Mcp-Session-Id", &session)], &list).await;
    assert_eq!(refused.message()["error"]["code"], -32603);
    let heard = site.post(&[("Mcp-Session-Id", &session), ("x-rights", "all")], &list).await;
    assert!(heard.message()["result"]["resources"].is_array());
}

#[tokio::test]
async fn foreign_hosts_and_origins_and_huge_bodies_are_refused() {
    let site = Site::new().await;
    let status = |headers: Vec<(&'static str, &'static str)>, message: Value| {
        let site = &site;
        async move { site.post(&[&[("x-rights", "all")], headers.as_slice()].concat(), &message).await.status }
    };
    assert_eq!(status(vec![], initialize()).await, 200);
    assert_eq!(status(vec![("Origin", "http://localhost:7654")], initialize()).await, 200);
    assert_eq!(status(vec![("Origin", "http://evil.example")], initialize()).await, 403);
    assert_eq!(status(vec![("Origin", "null")], initialize()).await, 403);
    assert_eq!(status(vec![("Host", "evil.example")], initialize()).await, 403);
    let huge = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "x".repeat(200_000)}});
    assert_eq!(status(vec![], huge).await, 413);
}
