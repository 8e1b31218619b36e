//! Where each agent keeps its MCP servers, and in what shape.

use std::path::{Path, PathBuf};

use rootset_service::ServiceError;

use super::Client;

/// The file that lists servers, and how.
#[derive(Debug)]
pub struct SettingsFile {
    pub path: PathBuf,
    pub format: Format,
}

impl SettingsFile {
    pub fn is_hooks(&self) -> bool {
        matches!(self.format, Format::Hooks { .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json {
        /// The key of the object with one member per server.
        servers: &'static str,
        /// The agent reads comments and trailing commas.
        has_comments: bool,
        /// An entry says that it is a program.
        has_type: bool,
    },
    Toml {
        servers: &'static str,
    },
    /// Lists of hooks by event.
    Hooks {
        client: Client,
    },
}

/// The file that lists hooks, of clients that have any. A project's own is for this person alone: hooks that a repository
/// brings along would run a program that others do not have.
pub fn hooks_file(client: Client, is_project: bool) -> Result<Option<SettingsFile>, ServiceError> {
    let path = match (client, is_project) {
        (Client::ClaudeCode, true) => project()?.join(".claude/settings.local.json"),
        (Client::ClaudeCode, false) => match set("CLAUDE_CONFIG_DIR") {
            Some(folder) => folder.join("settings.json"),
            None => home()?.join(".claude/settings.json"),
        },
        (Client::Codex, false) => match set("CODEX_HOME") {
            Some(folder) => folder.join("hooks.json"),
            None => home()?.join(".codex/hooks.json"),
        },
        (Client::Cursor, false) => home()?.join(".cursor/hooks.json"),
        (Client::Codex | Client::Cursor, true) | (Client::VsCode, _) => return Ok(None),
    };
    Ok(Some(SettingsFile { path, format: Format::Hooks { client } }))
}

pub fn settings_file(client: Client, is_project: bool) -> Result<SettingsFile, ServiceError> {
    let path = if is_project { project()?.join(in_project(client)) } else { in_home(client)? };
    let format = match client {
        Client::ClaudeCode => Format::Json { servers: "mcpServers", has_comments: false, has_type: true },
        Client::Cursor => Format::Json { servers: "mcpServers", has_comments: true, has_type: false },
        Client::VsCode => Format::Json { servers: "servers", has_comments: true, has_type: true },
        Client::Codex => Format::Toml { servers: "mcp_servers" },
    };
    Ok(SettingsFile { path, format })
}

/// Whether somebody uses the agent here: it has its file, or the folder that it keeps for itself.
pub fn is_there(client: Client) -> Result<bool, ServiceError> {
    let file = in_home(client)?;
    let folder = match client {
        Client::ClaudeCode => home()?.join(".claude"),
        Client::Cursor | Client::VsCode | Client::Codex => file.parent().map(Path::to_owned).unwrap_or_default(),
    };
    Ok(file.exists() || folder.is_dir())
}

fn in_project(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => ".mcp.json",
        Client::Cursor => ".cursor/mcp.json",
        Client::VsCode => ".vscode/mcp.json",
        Client::Codex => ".codex/config.toml",
    }
}

fn in_home(client: Client) -> Result<PathBuf, ServiceError> {
    Ok(match client {
        Client::ClaudeCode => set("CLAUDE_CONFIG_DIR").map_or_else(home, Ok)?.join(".claude.json"),
        Client::Cursor => home()?.join(".cursor/mcp.json"),
        Client::VsCode => editor_settings()?.join("Code/User/mcp.json"),
        Client::Codex => match set("CODEX_HOME") {
            Some(folder) => folder.join("config.toml"),
            None => home()?.join(".codex/config.toml"),
        },
    })
}

/// The folder that editors made with Electron keep their settings in.
fn editor_settings() -> Result<PathBuf, ServiceError> {
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support"));
    }
    let variable = if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" };
    set(variable).map_or_else(|| Ok(home()?.join(".config")), Ok)
}

/// A folder that a variable names. A relative one would mean another file wherever the agent is started.
fn set(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn home() -> Result<PathBuf, ServiceError> {
    std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
        ServiceError::invalid("cannot find the configuration: there is no home folder")
            .with_hint("`--print` shows what belongs in it")
    })
}

/// The root of the repository around the working folder, else the working folder itself.
fn project() -> Result<PathBuf, ServiceError> {
    let here = std::env::current_dir()
        .map_err(|error| ServiceError::invalid(format!("cannot determine the working folder: {error}")))?;
    let root = here.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned);
    Ok(root.unwrap_or(here))
}
