//! What real clients never send, and how they leave: lines by hand over the pipes.

use rootset_mcp::McpOptions;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::harness::{Serving, World};

struct Wire {
    read: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: Option<WriteHalf<DuplexStream>>,
    serving: Serving,
}

impl Wire {
    fn new(world: &World) -> Self {
        let (pipe, serving) = world.serve(McpOptions::default());
        let (read, write) = tokio::io::split(pipe);
        Self { read: BufReader::new(read).lines(), write: Some(write), serving }
    }

    async fn begun(world: &World) -> Self {
        let mut wire = Self::new(world);
        wire.send(&initialize(0)).await;
        assert_eq!(wire.next().await["result"]["serverInfo"]["name"], "rootset");
        wire
    }

    async fn send_text(&mut self, text: &str) {
        self.write.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    async fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n")).await;
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.read.next_line().await.unwrap().expect("a line")).unwrap()
    }
}

fn initialize(id: i64) -> Value {
    let parameters = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": parameters})
}

fn call(id: i64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

#[tokio::test]
async fn unreadable_lines_are_answered_and_the_connection_lives() {
    let world = World::new();
    let mut wire = Wire::begun(&world).await;
    let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
    let cases = [
        ("{nonsense", -32700, Value::Null),
        ("\u{0}\u{1}\u{2}", -32700, Value::Null),
        (deep.as_str(), -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("17", -32600, Value::Null),
        (r#"{"id": 5}"#, -32600, json!(5)),
        (r#"{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": 7}}"#, -32602, json!(6)),
        (
            r#"{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "x", "arguments": "y"}}"#,
            -32602,
            json!(7),
        ),
        (r#"{"jsonrpc": "2.0", "id": 8, "method": "no/such"}"#, -32601, json!(8)),
    ];
    for (line, code, id) in cases {
        wire.send_text(&format!("{line}\n")).await;
        let answer = wire.next().await;
        assert_eq!(
            (&answer["error"]["code"], answer.get("id").unwrap_or(&Value::Null)),
            (&json!(code), &id),
            "{line}: {answer}"
        );
    }
    // Notifications are never answered, whatever they are; empty lines are nothing.
    wire.send_text("\n\r\n{\"jsonrpc\": \"2.0\", \"method\": \"no/such\"}\n").await;
    wire.send(&call(9, "add_memory", json!({"context": "still here"}))).await;
    let answer = wire.next().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["created"]),
        (&json!(9), &json!(true)),
        "{answer}"
    );
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_skipped() {
    let world = World::new();
    let mut wire = Wire::begun(&world).await;
    let piece = "x".repeat(1024 * 1024);
    wire.send_text(r#"{"jsonrpc": "2.0", "id": 1, "method": ""#).await;
    for _ in 0..17 {
        wire.send_text(&piece).await;
    }
    wire.send_text("\"}\n").await;
    assert_eq!(wire.next().await["error"]["code"], -32600);
    wire.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
    assert_eq!(wire.next().await["id"], 2);
}

#[tokio::test]
async fn calls_before_the_handshake_are_refused_and_notifications_passed_over() {
    let world = World::new();
    let mut wire = Wire::new(&world);
    wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    wire.send(&call(1, "add_memory", json!({"context": "too early"}))).await;
    let answer = wire.next().await;
    assert_eq!((&answer["id"], answer["error"]["code"].is_number()), (&json!(1), true), "{answer}");
    wire.send(&initialize(2)).await;
    assert_eq!(wire.next().await["id"], 2);
    assert_eq!(world.call("list_memories", json!({}))["total"], 0);
}

#[tokio::test]
async fn a_client_that_stops_writing_still_hears_its_answers() {
    let world = World::new();
    let mut wire = Wire::begun(&world).await;
    for id in 1..=5 {
        wire.send(&call(id, "add_memory", json!({"context": format!("Number {id}.")}))).await;
    }
    // Shutting down is all that half of a pipe can do.
    wire.write.as_mut().unwrap().shutdown().await.unwrap();
    let mut answered = Vec::new();
    while let Some(line) = wire.read.next_line().await.unwrap() {
        answered.push(serde_json::from_str::<Value>(&line).unwrap()["id"].as_i64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4, 5]);
    wire.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_stops_reading_ends_the_connection() {
    let world = World::new();
    // Two pipes, so that one can be closed and the other stay open.
    let (to_server, server_reads) = tokio::io::duplex(1 << 16);
    let (server_writes, from_server) = tokio::io::duplex(1 << 16);
    let server = world.server(McpOptions::default());
    let serving = tokio::spawn(rootset_mcp::serve(server, server_reads, server_writes, Default::default()));
    let mut to_server = to_server;
    drop(from_server);
    to_server.write_all(format!("{}\n", initialize(1)).as_bytes()).await.unwrap();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_before_it_begins_is_no_error() {
    let world = World::new();
    for line in ["", "{nonsense\n", "{\"jsonrpc\": \"2.0\", \"id\": 1"] {
        let mut wire = Wire::new(&world);
        wire.send_text(line).await;
        drop((wire.write.take(), wire.read));
        wire.serving.await.unwrap().unwrap();
    }
}
