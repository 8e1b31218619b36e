//! `rootset serve`: the HTTP server, the scheduler and the worker for pending memories in one process.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use axum::Router;
use clap::Args;
use rootset_api::{ErrorCode, Profile, Profiles};
use rootset_http::{Access, Ended, Parts, Server};
use rootset_mcp::{HttpOptions, McpHttpService, McpOptions, McpServer, http_service};
use rootset_model::names::HOME_WORKSPACE;
use rootset_service::{Caller, FrontEnd, ServiceError};
use tokio_util::sync::CancellationToken;

use crate::exit::Failure;
use crate::program::Program;
use crate::stop::Stop;
use crate::{deliveries, first_token, serving};

/// The actor of every caller of a server that requires no token.
const ANYBODY: &str = "http";
/// Signals wake the wait; this only bounds one round of it.
const WAIT: Duration = Duration::from_secs(3_600);

/// Serve the operations over HTTP and run the scheduler, until stopped
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address and port to listen on; port 0 picks a free one [default: `server.listen`, 127.0.0.1:7654]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Require no token: anyone who can reach this machine's loopback address may do everything
    #[arg(long)]
    no_auth: bool,
    #[arg(long, value_name = "NAMES", default_value_t)]
    #[arg(help = format!("The tools to offer to agents at `/mcp`: {}, or several separated by commas", Profile::names()))]
    profile: Profiles,
}

pub fn run(arguments: ServeArguments, program: &Program) -> Result<(), Failure> {
    // From the first moment: a signal that comes while the database is opened counts too.
    let stop = Stop::on_signals()?;
    let configuration = program.configuration()?;
    let address = arguments.listen.unwrap_or(configuration.server.listen);
    if arguments.no_auth && !address.ip().is_loopback() {
        return Err(open_to_the_world(address).into());
    }
    // Before the database: a port that is taken should leave nothing behind.
    let listener = TcpListener::bind(address).map_err(|error| cannot_listen(address, &error))?;
    let service = program.service()?.clone();
    let deliveries = deliveries::all(program)?;
    program.say_durability()?;
    let access = if arguments.no_auth {
        program.output.talk("WARNING: no token is required: every program and user on this machine may do everything");
        // No folder decides for a server: what is named, or what always exists.
        let workspace = configuration.workspace.as_deref().unwrap_or(HOME_WORKSPACE);
        Access::Open(Caller::new(FrontEnd::Http, ANYBODY, workspace))
    } else {
        first_token::ensure(program)?;
        Access::Tokens
    };
    let parts = Parts {
        service: service.clone(),
        access,
        settings: configuration.server.settings.clone(),
        stopping: CancellationToken::new(),
    };
    let mcp = Router::new().fallback_service(agents(arguments.profile, &parts, program)?);
    let server = Server::start(listener, parts, Some(mcp))?;
    let renewal = if arguments.no_auth { None } else { Some(first_token::Renewal::of(program)?) };
    renewal.iter().for_each(first_token::Renewal::renew_and_log);
    let background = serving::start(&service, configuration.settings.gc.enabled, deliveries, renewal);
    program.output.text(&format!("listening on http://{}\n", server.address()))?;
    program.output.talk(&format!("documentation: http://{}/docs", server.address()));
    while !stop.wait(WAIT) {}
    program.output.talk("stopping after the running requests; Ctrl-C again stops at once");
    if server.stop() == Ended::Cut {
        tracing::warn!("some requests were still running at the shutdown timeout");
    }
    background.stop();
    program.output.talk("the server has stopped");
    Ok(())
}

/// What is served at `/mcp`. Host and Origin are checked by the server on every route, and here again by the same names.
fn agents(profiles: Profiles, parts: &Parts, program: &Program) -> Result<McpHttpService, ServiceError> {
    const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
    let named = parts.settings.hosts.iter().map(String::as_str);
    let hosts: Vec<&str> = LOOPBACK.into_iter().chain(named).collect();
    let origins = hosts.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
    let options =
        McpOptions { profiles, terminal_command: super::mcp::terminal_command(program)?, ..McpOptions::default() };
    let http = HttpOptions {
        allowed_origins: origins.collect(),
        allowed_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        body_bytes_max: parts.settings.body_bytes_max,
        sessions: program.configuration()?.server.sessions,
        stop: parts.stopping.clone(),
    };
    Ok(http_service(McpServer::new(parts.service.clone(), options), http))
}

fn open_to_the_world(address: SocketAddr) -> ServiceError {
    ServiceError::invalid(format!("`--no-auth` works only on a loopback address, and `{address}` is not one"))
        .with_hint("drop `--no-auth` and give each client a token")
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
