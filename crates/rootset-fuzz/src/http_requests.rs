//! What a client writes to the socket of a server: heads and bodies, one request after the other.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rootset_http::{Access, Parts, Server, ServerSettings};
use tokio_util::sync::CancellationToken;

use crate::world::{World, caller, with_world};

/// Nothing that fits in an input takes a hundredth of it: whoever waits so long waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a server may be silent before it is taken to wait for more.
const PAUSE: Duration = Duration::from_millis(50);
const LAST_REQUEST: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
/// As an error has it; within a text of somebody's its quotes would be escaped.
const BLAME: &[u8] = br#""code":"internal""#;

pub fn run(input: &[u8]) {
    with_world(|world| {
        let server = serve(world, access(input));
        let answers = talk(server.address(), input);
        server.stop();
        let is_to_blame = answers.windows(BLAME.len()).any(|bytes| bytes == BLAME);
        assert!(!is_to_blame, "{}", String::from_utf8_lossy(&answers));
    });
}

/// Tokens are secrets that no input can know: who sends any is turned away, everybody else is let in.
fn access(input: &[u8]) -> Access {
    const HEADER: &[u8] = b"authorization";
    let has_credentials = input.windows(HEADER.len()).any(|bytes| bytes.eq_ignore_ascii_case(HEADER));
    if has_credentials { Access::Tokens } else { Access::Open(caller()) }
}

fn serve(world: &World, access: Access) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let (service, settings) = (world.service.clone(), ServerSettings::default());
    Server::start(listener, Parts { service, access, settings, stopping: CancellationToken::new() }, None)
        .expect("a server")
}

/// Writes everything and a last request, after which a server hangs up, and reads to the end. Where the last one was taken for
/// a part of the input, the server waits for more: then this end hangs up.
fn talk(address: SocketAddr, input: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    // A server may refuse before it has everything, and hang up.
    let _ = stream.write_all(&[input, LAST_REQUEST].concat());
    stream.set_read_timeout(Some(PAUSE)).expect("a limit");
    let mut answers = Vec::new();
    if is_waiting(stream.read_to_end(&mut answers)) {
        let _ = stream.shutdown(Shutdown::Write);
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let still_waits = is_waiting(stream.read_to_end(&mut answers));
        assert!(!still_waits, "the server neither answers nor hangs up");
    }
    answers
}

fn is_waiting(read: std::io::Result<usize>) -> bool {
    read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}
