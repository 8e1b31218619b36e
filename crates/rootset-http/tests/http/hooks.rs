//! Events of clients over HTTP: refused like anything else, answered like on stdin, and `{}` whatever goes wrong after that.

use rootset_service::{Caller, FrontEnd};
use serde_json::{Value, json};

use crate::harness::{Reply, Served};

fn send(served: &Served, token: Option<&str>, path: &str, body: &str) -> Reply {
    let authorization = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Length: {length}\r\n\r\n");
    served.raw(format!("{head}{body}").as_bytes())
}

fn start(session: &str) -> Value {
    json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/nowhere"})
}

fn json_of(reply: &Reply) -> Value {
    serde_json::from_str(&reply.text).unwrap_or_else(|error| panic!("{error}: {reply:?}"))
}

#[test]
fn a_start_is_told_the_brief_of_the_workspace_that_is_meant() {
    let served = Served::new();
    let person = Caller::new(FrontEnd::CommandLine, "cli", "mine");
    let memory = json!({"context": "Never force-push to main.", "name": "no-force", "tags": ["preference"]});
    served.world.service.call(&person, "add_memory", memory).expect("a memory");
    let event = start("s").to_string();
    let own = send(&served, Some(&served.tokens.of_one_workspace), "/hooks/claude-code?workspace=mine", &event);
    assert_eq!(own.status, 200, "{own:?}");
    let context = json_of(&own)["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned();
    assert!(context.contains("Never force-push to main."), "{own:?}");
    // Another workspace has another brief.
    let other = send(&served, Some(&served.tokens.admin), "/hooks/claude-code", &start("t").to_string());
    assert!(!other.text.contains("force-push"), "{other:?}");
}

#[test]
fn who_may_not_write_is_refused() {
    let served = Served::new();
    let event = start("s").to_string();
    assert_eq!(send(&served, None, "/hooks/claude-code", &event).status, 401);
    assert_eq!(send(&served, Some("wrong"), "/hooks/claude-code", &event).status, 401);
    assert_eq!(send(&served, Some(&served.tokens.reader), "/hooks/claude-code", &event).status, 403);
    assert_eq!(send(&served, Some(&served.tokens.admin), "/hooks/netscape", &event).status, 404);
}

#[test]
fn whatever_else_is_wrong_says_nothing() {
    let served = Served::new();
    let of_another = "/hooks/claude-code?workspace=home";
    let event = start("s").to_string();
    let refused = send(&served, Some(&served.tokens.of_one_workspace), of_another, &event);
    assert_eq!((refused.status, json_of(&refused)), (200, json!({})));
    let long = "x".repeat(9 << 20);
    for body in ["", "{", "[]", "null", "{\"session_id\":1}", long.as_str()] {
        let reply = send(&served, Some(&served.tokens.admin), "/hooks/codex", body);
        assert_eq!((reply.status, json_of(&reply)), (200, json!({})), "{} bytes", body.len());
    }
}

#[test]
fn no_file_of_this_machine_is_read_for_somebody_elsewhere() {
    let served = Served::new();
    let transcript = served.world.database.folder().join("t.jsonl");
    let said = json!({"type": "user", "message": {"role": "user", "content": "From now on, use the port 48081."}});
    std::fs::write(&transcript, format!("{said}\n")).expect("a file");
    let token = Some(served.tokens.admin.as_str());
    for event in ["SessionStart", "PreCompact", "Stop", "SessionEnd"] {
        let body = json!({"session_id": "s", "hook_event_name": event, "transcript_path": transcript});
        let reply = send(&served, token, "/hooks/claude-code", &body.to_string());
        assert_eq!(reply.status, 200);
        assert!(!reply.text.contains("48081"), "{event}: {reply:?}");
    }
}
