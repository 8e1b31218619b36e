//! The hidden command `serve`: the routes of `rootset serve` on one address of this machine, without tokens, until killed.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use clap::Args;
use rootset_http::{Access, Parts, Server, ServerSettings};
use rootset_service::{Caller, CodeSettings, FrontEnd, Service, Settings};
use rootset_store::{Location, Store};
use tokio_util::sync::CancellationToken;

use crate::error::StressError;

#[derive(Clone, Debug, Args)]
pub struct ServeArguments {
    #[arg(long, env = "ROOTSET_DB", hide_env_values = true, value_parser = Location::parse)]
    pub db: Location,
    #[arg(long)]
    pub listen: SocketAddr,
}

pub fn run(arguments: &ServeArguments) -> Result<(), StressError> {
    let listener = TcpListener::bind(arguments.listen)?;
    // As the configuration of a real server says it.
    let code = CodeSettings { roots: Some(vec![std::env::current_dir()?]), ..CodeSettings::default() };
    let settings = Settings { code, ..Settings::default() };
    let service = Arc::new(Service::new(Store::open(&arguments.db, None)?, settings)?);
    let parts = Parts {
        service,
        access: Access::Open(Caller::new(FrontEnd::Http, "stress", "home")),
        settings: ServerSettings::default(),
        stopping: CancellationToken::new(),
    };
    let server = Server::start(listener, parts, None)?;
    println!("listening on http://{}", server.address());
    // Its parent kills it, or ends, and with it this end of the pipe.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
