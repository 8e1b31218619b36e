//! How a server ends: what is running gets its answer, what comes later gets none.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rootset_http::{Ended, ServerSettings};
use serde_json::json;

use crate::harness::{Served, read_reply};

/// A request that is running: its head is read, its body is still to come.
fn started(served: &Served, body: &str) -> TcpStream {
    let mut stream = served.connect();
    let head = format!(
        "POST /v1/add_memory HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        served.tokens.admin,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("the server listens");
    let mut asked = [0; 25];
    stream.read_exact(&mut asked).expect("an interim answer");
    assert!(asked.starts_with(b"HTTP/1.1 100"), "{asked:?}");
    stream
}

#[test]
fn running_requests_are_finished_and_new_ones_not_taken() {
    let mut served = Served::new();
    let body = json!({"context": "falcons fly"}).to_string();
    let mut running = started(&served, &body);
    let idle = served.connect();
    let address = served.address;
    std::thread::scope(|scope| {
        let ending = scope.spawn(|| served.stop());
        // The listener is gone as soon as the server was told to end.
        while TcpStream::connect(address).is_ok() {
            std::thread::yield_now();
        }
        running.write_all(body.as_bytes()).expect("the server still listens to it");
        let reply = read_reply(&mut running);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(ending.join().expect("it ends"), Ended::Well);
    });
    drop(idle);
    assert_eq!(served.world.call("list_memories", json!({}))["total"], 1);
}

#[test]
fn requests_that_never_end_do_not_keep_a_server_alive() {
    let settings = ServerSettings { shutdown_timeout: Duration::from_millis(50), ..ServerSettings::default() };
    let mut served = Served::with_settings(settings);
    let _running = started(&served, "{}");
    assert_eq!(served.stop(), Ended::Cut);
}

#[test]
fn server_ends_at_once_when_nothing_is_running() {
    let mut served = Served::new();
    served.post("list_memories", &json!({}));
    assert_eq!(served.stop(), Ended::Well);
}
