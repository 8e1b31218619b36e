//! `rootset serve`: the HTTP server, the scheduler and the worker for pending memories in one process.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use rootset_http::{Access, Ended, Parts, Server};
use rootset_service::{Caller, ErrorCode, FrontEnd, ServiceError};
use tokio_util::sync::CancellationToken;

use crate::arguments::ServeArguments;
use crate::background::Background;
use crate::exit::Failure;
use crate::first_token;
use crate::session::Session;
use crate::stop::Stop;

/// The actor of whoever calls a server that asks nobody for a token.
const ANYBODY: &str = "http";
/// Signals wake the wait; this only bounds one round of it.
const WAIT: Duration = Duration::from_secs(3_600);

pub fn run(arguments: ServeArguments, session: &Session) -> Result<(), Failure> {
    // From the first moment: a signal that comes while the database is opened counts too.
    let stop = Stop::on_signals()?;
    let configuration = session.configuration()?;
    let address = arguments.listen.unwrap_or(configuration.server.listen);
    if arguments.no_auth && !address.ip().is_loopback() {
        return Err(open_to_the_world(address).into());
    }
    // Before the database: a port that is taken should leave nothing behind.
    let listener = TcpListener::bind(address).map_err(|error| cannot_listen(address, &error))?;
    let service = session.service()?.clone();
    let access = if arguments.no_auth {
        session.output.talk("WARNING: no token is asked for: every program and user of this machine may do everything");
        Access::Open(Caller::new(FrontEnd::Http, ANYBODY, &configuration.workspace))
    } else {
        first_token::ensure(session)?;
        Access::Tokens
    };
    let parts = Parts {
        service: service.clone(),
        access,
        settings: configuration.server.settings.clone(),
        stopping: CancellationToken::new(),
    };
    let server = Server::start(listener, parts, None)?;
    let background = Background::start(&service, configuration.settings.gc.enabled);
    session.output.text(&format!("listening on http://{}\n", server.address()))?;
    while !stop.wait(WAIT) {}
    session.output.talk("ending: running requests are finished first; again to end at once");
    if server.stop() == Ended::Cut {
        tracing::warn!("time was over before every running request had its answer");
    }
    background.stop();
    session.output.talk("the server has ended");
    Ok(())
}

fn open_to_the_world(address: SocketAddr) -> ServiceError {
    ServiceError::invalid(format!("`--no-auth` is for the loopback only, and `{address}` is not on it"))
        .with_hint("leave `--no-auth` away and give each client a token")
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> ServiceError {
    let code = match error.kind() {
        std::io::ErrorKind::AddrInUse => ErrorCode::Conflict,
        std::io::ErrorKind::PermissionDenied => ErrorCode::Forbidden,
        _ => ErrorCode::InvalidArgument,
    };
    ServiceError::new(code, format!("cannot listen on `{address}`: {error}"))
        .with_hint("choose another address or port with `--listen`")
}
