//! Arguments of `rootset install`.

use clap::{Args, ValueEnum};

/// Connect an agent: write the MCP entry for this program into its configuration
#[derive(Debug, Args)]
pub struct InstallArguments {
    /// The agent to connect
    #[arg(value_name = "claude-code|cursor|vscode|codex", hide_possible_values = true)]
    pub client: Client,
    /// Take exactly this entry out again
    #[arg(long)]
    pub undo: bool,
    /// Only print what belongs into the file
    #[arg(long, conflicts_with = "undo")]
    pub print: bool,
    /// For the project around the working folder only, instead of everywhere
    #[arg(long)]
    pub project: bool,
    /// Which tools the agent gets [default: core]
    #[arg(long, value_delimiter = ',', conflicts_with = "undo")]
    pub profile: Vec<Profile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
}

impl Client {
    /// As it is typed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
        }
    }

    /// As its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    Core,
    Context,
    Code,
    Admin,
    Full,
}

impl Profile {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Context => "context",
            Self::Code => "code",
            Self::Admin => "admin",
            Self::Full => "full",
        }
    }
}
