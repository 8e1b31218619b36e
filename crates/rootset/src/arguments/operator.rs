//! Arguments of the commands for operators and programs.

use clap::{Args, Subcommand};
use clap_complete::Shell;

/// Run any operation: JSON in, JSON out
#[derive(Debug, Args)]
pub struct CallArguments {
    /// Name of the operation, such as `search_memory`
    pub operation: String,
    /// The request as a JSON object, or `-` to read it from stdin [default: {}]
    pub request: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// List the workspaces with their sizes
    List,
    Create(CreateWorkspaceArguments),
    /// Let agents in the repository around the working folder use this workspace
    Link {
        #[arg(value_name = "ID")]
        workspace: String,
    },
    /// Move a whole workspace to the trash
    Delete {
        #[arg(value_name = "ID")]
        workspace: String,
    },
}

/// Create a workspace
#[derive(Debug, Args)]
pub struct CreateWorkspaceArguments {
    /// Up to 64 of a-z 0-9 _ -
    #[arg(value_name = "ID")]
    pub id: String,
    /// A name for people
    #[arg(long)]
    pub name: Option<String>,
    #[arg(long)]
    pub description: Option<String>,
    /// How many memories it may hold
    #[arg(long, value_name = "COUNT")]
    pub max_memories: Option<i64>,
    /// How many bytes of text it may hold
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<i64>,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    Create(CreateTokenArguments),
    /// List the tokens; secrets cannot be shown
    List {
        /// Also those that were revoked
        #[arg(long)]
        revoked: bool,
    },
    /// Revoke a token for good
    Revoke {
        /// Its name, or the id that `list --json` shows
        #[arg(value_name = "NAME")]
        token: String,
    },
}

/// Make a token for the HTTP API and print its secret, once
#[derive(Debug, Args)]
pub struct CreateTokenArguments {
    /// Who it is for: the actor in the audit trail
    pub name: String,
    /// What it allows, comma-separated: read, write, destroy, purge, admin
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "read,write,destroy")]
    pub scopes: Vec<String>,
    /// Workspaces it sees, comma-separated, or `*` for all of them [default: the current one]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub workspaces: Vec<String>,
    /// When it ends by itself: a day, a time, or a while such as `90d` [default: never]
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
}

/// Check the database; ends with status 1 when something is wrong
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Rebuild what can be rebuilt
    #[arg(long)]
    pub repair: bool,
    /// Save what can still be read of a damaged database into a new bundle in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "repair")]
    pub salvage: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting with its origin
    Show,
    /// Print a configuration file with every key and default
    Example,
}

/// Print a completion script
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    pub shell: Shell,
}

/// Print a manual page, for `man -l -`
#[derive(Debug, Args)]
pub struct ManArguments {
    /// A command, such as `gc plan`; without one, the page of the program
    pub command: Vec<String>,
}
