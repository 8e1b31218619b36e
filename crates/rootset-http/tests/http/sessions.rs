//! Sessions of the Model Context Protocol, as many clients with few tokens see them.

use std::io::Write;

use rootset_mcp::SessionLimits;
use serde_json::{Value, json};

use crate::harness::{Reply, Served, read_reply};

fn send(served: &Served, token: &str, method: &str, session: Option<&str>, message: Option<&Value>) -> Reply {
    let body = message.map(Value::to_string).unwrap_or_default();
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let length = body.len();
    let request = format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{session}Content-Length: {length}\r\n\r\n{body}"
    );
    let mut stream = served.connect();
    stream.write_all(request.as_bytes()).expect("the server listens");
    read_reply(&mut stream)
}

fn begin(served: &Served, token: &str) -> String {
    let parameters = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"},
    });
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters});
    let reply = send(served, token, "POST", None, Some(&message));
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.header("mcp-session-id").to_owned()
}

fn ping(served: &Served, token: &str, session: &str) -> u16 {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    send(served, token, "POST", Some(session), Some(&message)).status
}

#[test]
fn sessions_of_one_token_end_for_newer_ones_and_those_of_others_stay() {
    let served = Served::new();
    let limit = SessionLimits::default().per_token_max;
    let of_another = begin(&served, &served.tokens.reader);
    let first = begin(&served, &served.tokens.admin);
    let second = begin(&served, &served.tokens.admin);
    for _ in 0..limit - 2 {
        begin(&served, &served.tokens.admin);
    }
    assert_eq!(ping(&served, &served.tokens.admin, &first), 200, "as many as there may be");
    let latest = begin(&served, &served.tokens.admin);
    assert_eq!(ping(&served, &served.tokens.admin, &second), 404, "the least recently used one has ended");
    for session in [&first, &latest] {
        assert_eq!(ping(&served, &served.tokens.admin, session), 200);
    }
    assert_eq!(ping(&served, &served.tokens.reader, &of_another), 200);
}

#[test]
fn session_of_another_token_does_not_exist() {
    let served = Served::new();
    let session = begin(&served, &served.tokens.admin);
    let unknown = "00000000-0000-4000-8000-000000000000";
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for method in ["POST", "GET", "DELETE"] {
        let with = |session: &str| {
            let message = Some(&message).filter(|_| method == "POST");
            let reply = send(&served, &served.tokens.reader, method, Some(session), message);
            (reply.status, reply.text)
        };
        assert_eq!(with(&session), with(unknown), "{method}");
    }
    assert_eq!(ping(&served, &served.tokens.admin, &session), 200, "nobody else could end it");
    let revoked = served.post("revoke_token", &json!({"name": "reader"}));
    assert_eq!(revoked.status, 200, "{revoked:?}");
    assert_eq!(ping(&served, &served.tokens.reader, &session), 401);
}

/// The Python client warns about any other status, at the end of every session.
#[test]
fn session_that_its_client_ends_is_gone_at_once() {
    let served = Served::new();
    let session = begin(&served, &served.tokens.admin);
    let reply = send(&served, &served.tokens.admin, "DELETE", Some(&session), None);
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    assert_eq!(ping(&served, &served.tokens.admin, &session), 404);
}

mod at_length {
    use std::io::Read;

    use super::*;

    #[test]
    fn stream_ends_with_its_token() {
        let served = Served::new();
        let session = begin(&served, &served.tokens.reader);
        let mut stream = served.connect();
        let request = format!(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\n\
             Mcp-Session-Id: {session}\r\nConnection: close\r\n\r\n",
            served.tokens.reader
        );
        stream.write_all(request.as_bytes()).expect("the server listens");
        let mut beginning = [0; 15];
        stream.read_exact(&mut beginning).expect("an answer");
        assert_eq!(&beginning, b"HTTP/1.1 200 OK");
        assert_eq!(served.post("revoke_token", &json!({"name": "reader"})).status, 200);
        stream.read_to_end(&mut Vec::new()).expect("the stream ends");
    }
}
