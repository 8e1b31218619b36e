//! Arguments of the server.

use std::net::SocketAddr;

use clap::Args;
use rootset_api::{Profile, Profiles};

/// Serve the operations over HTTP, with the scheduler beside it, until it is stopped
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address and port to listen on; port 0 takes any that is free [default: `server.listen`, 127.0.0.1:7654]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Ask nobody for a token: everybody who reaches this machine's loopback may do everything
    #[arg(long)]
    pub no_auth: bool,
    #[arg(long, value_name = "NAMES", default_value_t)]
    #[arg(help = format!("Which tools to offer to agents at `/mcp`: {}, or several with commas", Profile::names()))]
    pub profile: Profiles,
}
