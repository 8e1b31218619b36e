//! Arguments of the server for one agent.

use clap::Args;
use rootset_api::{Profile, Profiles};

/// Serve an agent over stdin and stdout, by the Model Context Protocol
///
/// With `--workspace auto` the workspace is named after the git repository around the working directory, and made when it
/// is missing.
#[derive(Debug, Args)]
pub struct McpArguments {
    #[arg(long, value_name = "NAMES", default_value_t)]
    #[arg(help = format!("Which tools to offer: {}, or several with commas", Profile::names()))]
    pub profile: Profiles,
    /// Name in the audit, instead of the client's own
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
}
