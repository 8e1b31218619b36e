//! One client that takes what it can get: slow, silent, wrong or greedy. It is bounded by what is its own, and another client
//! is answered all the while.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rootset_api::catalogue;
use rootset_http::ServerSettings;
use serde_json::{Value, json};

use crate::harness::{Reply, Served, read_reply};

/// Every route but the operations.
const ROUTES: [(&str, &str); 8] = [
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/mcp"),
    ("POST", "/mcp"),
    ("DELETE", "/mcp"),
];
/// As many at a time as one token may have.
const AT_ONCE: usize = 32;

/// Every operation and every other route.
fn all_routes() -> Vec<(&'static str, String)> {
    let operations = catalogue().iter().map(|operation| ("POST", format!("/v1/{}", operation.name)));
    operations.chain(ROUTES.map(|(method, path)| (method, path.to_owned()))).collect()
}

fn head(method: &str, path: &str, token: &str, extra: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{extra}\r\n"
    )
}

fn opened(served: &Served, bytes: &str) -> TcpStream {
    let mut stream = served.connect();
    stream.write_all(bytes.as_bytes()).expect("the server listens");
    stream
}

/// A request that is running: the server asked for its body.
fn running(served: &Served, token: &str, path: &str) -> TcpStream {
    let mut stream = opened(served, &head("POST", path, token, "Expect: 100-continue\r\nContent-Length: 2\r\n"));
    let mut asked = [0; 25];
    stream.read_exact(&mut asked).expect("an interim answer");
    assert!(asked.starts_with(b"HTTP/1.1 100"), "{asked:?}");
    stream
}

fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe),
    }
}

/// Over connections of their own: an impatient server closes those that are kept.
#[track_caller]
fn assert_others_are_answered(served: &Served) {
    let asked = |token: &str, operation: &str, body: &str| {
        let length = format!("Content-Length: {}\r\n", body.len());
        served.raw(format!("{}{body}", head("POST", &format!("/v1/{operation}"), token, &length)).as_bytes())
    };
    let reply = asked(&served.tokens.reader, "list_memories", "{}");
    assert_eq!(reply.status, 200, "{reply:?}");
    let reply = asked(&served.tokens.of_one_workspace, "add_memory", "{\"context\": \"x\"}");
    assert_eq!(reply.status, 200, "{reply:?}");
}

fn impatient() -> ServerSettings {
    ServerSettings { read_timeout: Duration::from_millis(100), ..ServerSettings::default() }
}

#[test]
fn slow_heads_are_cut_off_on_every_route() {
    let served = Served::with_settings(impatient());
    let slow = all_routes().into_iter().map(|(method, path)| {
        let head = head(method, &path, &served.tokens.admin, "");
        (path, opened(&served, &head[..head.len() - 4]))
    });
    let mut slow: Vec<(String, TcpStream)> = slow.collect();
    assert_others_are_answered(&served);
    for (path, stream) in &mut slow {
        assert!(is_closed(stream), "{path}");
    }
}

#[test]
fn slow_bodies_are_cut_off_on_every_route() {
    let served = Served::with_settings(impatient());
    let posts: Vec<_> = all_routes().into_iter().filter(|(method, _)| *method == "POST").collect();
    for some in posts.chunks(AT_ONCE) {
        let slow = some.iter().map(|(method, path)| {
            let token = &served.tokens.admin;
            (path, opened(&served, &format!("{}{{", head(method, path, token, "Content-Length: 1000\r\n"))))
        });
        let slow: Vec<(&String, TcpStream)> = slow.collect();
        assert_others_are_answered(&served);
        for (path, mut stream) in slow {
            let reply = read_reply(&mut stream);
            assert_eq!((reply.status, reply.code().as_str()), (408, "limit_exceeded"), "{path}");
        }
    }
}

#[test]
fn clients_that_read_no_answers_are_cut_off() {
    let served = Served::with_settings(impatient());
    let mut silent = served.connect();
    silent.set_write_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // It asks until the answers fill every buffer on the way. A server that waits for ever would never say no.
    let refused = loop {
        if let Err(error) = silent.write_all(request.as_bytes()) {
            break error;
        }
    };
    assert!(matches!(refused.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{refused}");
    assert_others_are_answered(&served);
}

#[test]
fn one_token_cannot_take_every_place() {
    let settings = ServerSettings { requests_max: 8, requests_per_token_max: 4, ..ServerSettings::default() };
    let served = Served::with_settings(settings);
    let greedy: Vec<TcpStream> = ["/v1/add_memory", "/v1/add_memory", "/mcp", "/v1/list_memories"]
        .into_iter()
        .map(|path| running(&served, &served.tokens.admin, path))
        .collect();
    let one_more = served.post("list_memories", &json!({}));
    assert_eq!((one_more.status, one_more.code().as_str(), one_more.header("retry-after")), (429, "busy", "1"));
    assert_others_are_answered(&served);
    drop(greedy);
}

#[test]
fn wrong_tokens_take_no_place_and_run_out_of_tries() {
    let settings =
        ServerSettings { wrong_tokens_per_minute_max: 5, requests_per_token_max: 1, ..ServerSettings::default() };
    let served = Served::with_settings(settings);
    assert_others_are_answered(&served);
    let asked = |token: &str| {
        let request = head("POST", "/v1/add_memory", token, "Content-Length: 2\r\nExpect: 100-continue\r\n");
        // The answer comes before the body: nothing is read for a stranger.
        served.raw(request.as_bytes()).status
    };
    let wrong = |number: usize| format!("rst_{number:064x}");
    let statuses: Vec<u16> = (0..20).map(|number| asked(&wrong(number))).collect();
    assert_eq!(statuses[..5], [401; 5]);
    assert!(statuses[6..].contains(&429), "{statuses:?}");
    assert_eq!(asked("nonsense"), 401, "what cannot be a token is not looked up");
    assert_others_are_answered(&served);
}

#[test]
fn connections_that_nobody_uses_keep_nobody_out() {
    let settings = ServerSettings { connections_per_address_max: 8, ..ServerSettings::default() };
    let served = Served::with_settings(settings);
    let idle: Vec<TcpStream> = (0..20).map(|_| opened(&served, "GET /healthz HTTP/1.1\r\nHost:")).collect();
    assert_others_are_answered(&served);
    let busy = running(&served, &served.tokens.admin, "/v1/list_memories");
    let more: Vec<TcpStream> = (0..20).map(|_| opened(&served, "GET")).collect();
    assert_others_are_answered(&served);
    let mut busy = busy;
    busy.write_all(b"{}").expect("it was not closed");
    assert_eq!(read_reply(&mut busy).status, 200, "a running request is not given up");
    drop((idle, more));
}

#[test]
fn probes_of_one_address_are_bounded_and_health_is_not() {
    let settings = ServerSettings { requests_per_address_max: 1, ..ServerSettings::default() };
    let served = Served::with_settings(settings);
    assert_eq!(served.get("/readyz", None).status, 204);
    assert_eq!(served.get("/healthz", None).status, 204);
    assert_eq!(served.get("/docs", None).status, 200);
}

fn post(served: &Served, path: &str, body: &[u8]) -> Reply {
    let head = head("POST", path, &served.tokens.admin, &format!("Content-Length: {}\r\n", body.len()));
    served.raw(&[head.as_bytes(), body].concat())
}

/// Requests of a megabyte or more that would be far more in memory.
fn hostile_bodies() -> Vec<(&'static str, Vec<u8>)> {
    let many = |before: &str, item: &str, after: &str| {
        let mut body = before.as_bytes().to_vec();
        while body.len() < 3 << 20 {
            body.extend_from_slice(item.as_bytes());
        }
        body.pop();
        body.extend_from_slice(after.as_bytes());
        body
    };
    let keys = {
        let mut body = b"{".to_vec();
        for number in 0..600_000 {
            body.extend_from_slice(format!("\"{number:x}\":[],").as_bytes());
        }
        body.pop();
        body.push(b'}');
        body
    };
    vec![
        ("empty lists", many("[", "[],", "]")),
        ("empty memories", many("{\"memories\":[", "{},", "]}")),
        ("numbers", many("{\"memories\":[{\"context\":\"x\",\"metadata\":[", "0,", "]}]}")),
        ("many keys", keys),
    ]
}

#[test]
fn bodies_of_countless_values_are_refused_before_anything_is_built() {
    let served = Served::new();
    for (what, body) in hostile_bodies() {
        for path in ["/v1/add_memories", "/v1/list_memories", "/mcp"] {
            let reply = post(&served, path, &body);
            assert_eq!(reply.status, 400, "{what} {path} {}", reply.text);
            // Empty memories that are not too many are told what they lack.
            let is_said = reply.text.contains("values") || reply.text.contains("context");
            assert!(is_said || path == "/mcp", "{what} {path} {}", reply.text);
        }
    }
    let deep = [b"{\"memories\":".as_slice(), &[b'['; 3 << 20]].concat();
    assert_eq!(post(&served, "/v1/add_memories", &deep).status, 400);
    assert_eq!(post(&served, "/mcp", &deep).status, 400);
    assert_others_are_answered(&served);
}

#[test]
fn only_bulky_operations_take_large_bodies() {
    let served = Served::new();
    let body = format!("{{\"context\": \"{}\"}}", "x".repeat(9 << 20));
    for operation in catalogue() {
        // The head is enough.
        let length = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", body.len());
        let mut stream =
            opened(&served, &head("POST", &format!("/v1/{}", operation.name), &served.tokens.admin, &length));
        let mut said = [0; 12];
        stream.read_exact(&mut said).expect("an answer");
        let expected = if operation.is_bulky { b"HTTP/1.1 100" } else { b"HTTP/1.1 413" };
        assert_eq!(&said, expected, "{}", operation.name);
    }
}

#[test]
fn large_bodies_of_one_token_leave_room_for_those_of_others() {
    let served = Served::new();
    let length = "Expect: 100-continue\r\nContent-Length: 60000000\r\n";
    let asked = |token: &str| {
        let mut stream = opened(&served, &head("POST", "/v1/add_memories", token, length));
        let mut said = [0; 12];
        stream.read_exact(&mut said).expect("an answer");
        (stream, said)
    };
    let (first, said) = asked(&served.tokens.admin);
    assert_eq!(&said, b"HTTP/1.1 100");
    assert_eq!(&asked(&served.tokens.admin).1, b"HTTP/1.1 429", "its room is taken");
    let memories: Vec<Value> = (0..10).map(|at| json!({"context": format!("{at} {}", "x".repeat(100_000))})).collect();
    let reply = served.post_as(&served.tokens.of_one_workspace, "add_memories", &json!({"memories": memories}), &[]);
    assert_eq!(reply.status, 200, "{}", reply.text);
    drop(first);
}

#[test]
fn lone_surrogates_are_named_and_answered_under_their_id() {
    let served = Served::new();
    let reply = post(&served, "/v1/add_memory", br#"{"context": "\ud800"}"#);
    assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"));
    assert!(reply.text.contains("surrogate"), "{}", reply.text);
    let message = br#"{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\ud800"}}"#;
    let reply = post(&served, "/mcp", message);
    let answer = reply.json();
    assert_eq!((reply.status, &answer["id"], &answer["error"]["code"]), (400, &json!(7), &json!(-32700)));
}
