//! What a client writes to the socket of a server: heads and bodies, one request after the other.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rootset_http::{Access, Parts, Server, ServerSettings};
use tokio_util::sync::CancellationToken;

use crate::world::{World, caller, with_world};

/// Nothing that fits in an input takes a hundredth of it: whoever waits so long waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);
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

/// Writes everything, says that this was all, and reads to the end.
fn talk(address: SocketAddr, input: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    // A server may refuse before it has everything, and hang up.
    let _ = stream.write_all(input);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answers = Vec::new();
    match stream.read_to_end(&mut answers) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            panic!("the server neither answers nor hangs up")
        }
        _ => answers,
    }
}
