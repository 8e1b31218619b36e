//! Arguments of `rootset install`.

use clap::{Args, ValueEnum};
use rootset_api::{Profile, Profiles};

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
    #[arg(long, value_name = "NAMES", conflicts_with = "undo")]
    #[arg(help = format!("Which tools the agent gets: {}, or several with commas [default: core]", Profile::names()))]
    pub profile: Option<Profiles>,
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
