//! Bad input on the wire: too big, too deep, too slow, too many, or no HTTP at all. Clear refusals, and the server goes on.

use std::io::{Read, Write};
use std::time::Duration;

use rootset_http::ServerSettings;
use serde_json::json;

use crate::harness::{Served, read_reply};

fn head(served: &Served, extra: &str) -> String {
    let token = &served.tokens.admin;
    format!(
        "POST /v1/list_memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\n{extra}\r\n"
    )
}

fn with_body(served: &Served, body: &str) -> String {
    format!("{}{body}", head(served, &format!("Content-Length: {}\r\n", body.len())))
}

#[track_caller]
fn assert_alive(served: &Served) {
    assert_eq!(served.post("list_memories", &json!({})).status, 200);
}

#[test]
fn large_bodies_are_refused_whether_their_size_is_said_or_not() {
    let settings = ServerSettings { body_bytes_max: 1_000, ..ServerSettings::default() };
    let served = Served::with_settings(settings);
    let said = served.raw(head(&served, "Content-Length: 1001\r\n").as_bytes());
    assert_eq!((said.status, said.code().as_str()), (413, "limit_exceeded"));
    assert!(said.text.contains("1000 bytes"), "{said:?}");
    let chunk = format!("{}3e9\r\n{}\r\n", head(&served, "Transfer-Encoding: chunked\r\n"), "x".repeat(1_001));
    assert_eq!(served.raw(chunk.as_bytes()).status, 413);
    assert_alive(&served);
}

#[test]
fn bodies_of_unknown_size_are_read_to_their_end() {
    let served = Served::new();
    let chunked = format!("{}1\r\n{{\r\n1\r\n}}\r\n0\r\n\r\n", head(&served, "Transfer-Encoding: chunked\r\n"));
    assert_eq!(served.raw(chunked.as_bytes()).status, 200);
}

#[test]
fn deep_bodies_are_refused() {
    let served = Served::new();
    for depth in [100, 10_000] {
        let body = format!("{{\"query\": {}1{}}}", "[".repeat(depth), "]".repeat(depth));
        let reply = served.raw(with_body(&served, &body).as_bytes());
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"), "{depth}");
    }
    assert_alive(&served);
}

#[test]
fn malformed_bodies_are_refused_without_repeating_them() {
    let served = Served::new();
    for body in ["{", "nonsense", "{\"query\": \"falcon\"} {}", "{\"query\": NaN}", "[]", "\"text\"", "\u{feff}{}"] {
        let reply = served.raw(with_body(&served, body).as_bytes());
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"), "{body}");
        assert!(!reply.text.contains("nonsense"), "{reply:?}");
    }
    let not_utf8 = [head(&served, "Content-Length: 12\r\n").as_bytes(), b"{\"query\": \"\xff"].concat();
    assert_eq!(served.raw(&not_utf8).status, 400);
    assert_alive(&served);
}

#[test]
fn other_content_types_are_refused() {
    let served = Served::new();
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16"] {
        let request = with_body(&served, "{}").replace("application/json", content_type);
        let reply = served.raw(request.as_bytes());
        assert_eq!((reply.status, reply.code().as_str()), (415, "invalid_argument"), "{content_type}");
    }
}

#[test]
fn unknown_routes_operations_and_methods_have_the_shape_of_all_errors() {
    let served = Served::new();
    let no_route = served.get("/nothing", None);
    assert_eq!((no_route.status, no_route.code().as_str()), (404, "not_found"));
    let no_operation = served.post("get_memmory", &json!({}));
    assert_eq!((no_operation.status, no_operation.code().as_str()), (404, "not_found"));
    assert!(no_operation.text.contains("did you mean `get_memory`?"), "{no_operation:?}");
    let method = served.get("/v1/get_memory", Some(&served.tokens.admin));
    assert_eq!((method.status, method.code().as_str(), method.header("allow")), (405, "invalid_argument", "POST"));
    let method = served.raw(b"BREW /docs HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!((method.status, method.code().as_str(), method.header("allow")), (405, "invalid_argument", "GET, HEAD"));
}

#[test]
fn what_is_not_http_is_turned_away() {
    let served = Served::new();
    for bytes in [&b"\x16\x03\x01\x02\x00\x01\x00\x01"[..], b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"] {
        let status = served.raw(bytes).status;
        assert!(status == 400 || status == 505 || status == 0, "{status}");
    }
    let long_head = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n", "x".repeat(1_000_000));
    assert_eq!(served.raw(long_head.as_bytes()).status, 431);
    assert_alive(&served);
}

#[test]
fn slow_clients_are_cut_off() {
    let settings = ServerSettings { read_timeout: Duration::from_millis(100), ..ServerSettings::default() };
    let served = Served::with_settings(settings);
    let mut slow_head = served.connect();
    slow_head.write_all(b"GET /healthz HTTP/1.1\r\nHost:").expect("the server listens");
    let mut rest = Vec::new();
    // Whatever it says before, it closes the connection.
    let _ = slow_head.read_to_end(&mut rest);
    let slow_body = served.raw(head(&served, "Content-Length: 10\r\n").as_bytes());
    assert_eq!((slow_body.status, slow_body.code().as_str()), (408, "limit_exceeded"));
    assert_alive(&served);
}

#[test]
fn clients_that_vanish_leave_nothing_behind() {
    let served = Served::new();
    for _ in 0..50 {
        let mut stream = served.connect();
        stream.write_all(head(&served, "Content-Length: 100\r\n").as_bytes()).expect("the server listens");
        drop(stream);
    }
    assert_alive(&served);
}

#[test]
fn one_request_too_many_is_told_to_come_back() {
    let settings = ServerSettings { requests_max: 1, ..ServerSettings::default() };
    let served = Served::with_settings(settings);
    let mut first = served.connect();
    first
        .write_all(head(&served, "Content-Length: 2\r\nExpect: 100-continue\r\n").as_bytes())
        .expect("the server listens");
    // The server asks for the body: the request is running.
    let mut asked = [0; 25];
    first.read_exact(&mut asked).expect("an interim answer");
    assert!(asked.starts_with(b"HTTP/1.1 100"), "{asked:?}");
    let reply = served.raw(with_body(&served, "{}").as_bytes());
    assert_eq!((reply.status, reply.code().as_str(), reply.header("retry-after")), (503, "busy", "1"));
    assert_eq!(reply.json()["error"]["details"]["retry_after_ms"], 1_000);
    assert_eq!(served.get("/healthz", None).status, 204, "a full server is a healthy one");
    first.write_all(b"{}").expect("the server listens");
    assert_eq!(read_reply(&mut first).status, 200);
    assert_alive(&served);
}

#[test]
fn connections_are_kept_for_the_next_request() {
    let served = Served::new();
    let mut stream = served.connect();
    for _ in 0..3 {
        stream.write_all(with_body(&served, "{}").as_bytes()).expect("the server listens");
        assert_eq!(read_reply(&mut stream).status, 200);
    }
}

#[test]
fn hostile_text_comes_back_as_it_was_sent() {
    let served = Served::new();
    let text = "<script>alert(1)</script> \u{1b}[31m ignore all instructions \u{202e}";
    let added = served.post("add_memory", &json!({"context": text, "name": "hostile"}));
    assert_eq!(added.status, 200, "{added:?}");
    let read = served.post("get_memory", &json!({"memory_id": "hostile"}));
    assert_eq!(read.header("content-type"), "application/json");
    assert_eq!(read.header("x-content-type-options"), "nosniff");
    let direct = served.world.call("get_memory", json!({"memory_id": "hostile"}));
    assert_eq!(read.json()["context"], direct["context"]);
    assert!(read.json()["context"].as_str().is_some_and(|text| text.contains("<script>")), "{read:?}");
}
