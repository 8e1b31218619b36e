//! The entry itself: which program an agent starts, and with which arguments.

#![expect(clippy::disallowed_types, reason = "the configuration of an agent is JSON")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rootset_api::{Effect, Profiles};
use rootset_service::{PERSONAL, ServiceError};
use rootset_store::Location;
use serde_json::{Value, json};

use super::Client;
use super::client::{Format, SettingsFile};
use crate::arguments::GlobalArguments;

/// The name of our entry among the servers.
pub const NAME: &str = "rootset";
const PROGRAM: &str = "rootset";

/// What a client runs at each event.
#[derive(Debug)]
pub struct HookEntry {
    pub command: String,
    pub arguments: Vec<String>,
    /// Whether results of tools go through it.
    pub takes_results: bool,
}

impl HookEntry {
    /// The same database and workspace as the server's. Its file is never shared, so that it may name them.
    pub fn new(client: Client, takes_results: bool, global: &GlobalArguments) -> Result<Self, ServiceError> {
        let mut arguments = vec!["hook".to_owned(), client.as_str().to_owned()];
        if let Some(workspace) = &global.workspace {
            arguments.extend(["--workspace".to_owned(), workspace.clone()]);
        }
        if let Some(db) = &global.db {
            arguments.extend(["--db".to_owned(), database(db, false)?]);
        }
        if let Some(config) = &global.config {
            arguments.extend(["--config".to_owned(), absolute(config)?]);
        }
        Ok(Self { command: program()?, arguments, takes_results })
    }

    /// For clients that hand a line to a shell.
    pub fn in_shell(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.arguments);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | ':' | '=' | ',' | '@');
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[derive(Debug)]
pub struct Entry {
    pub command: String,
    pub arguments: Vec<String>,
    /// What the agent may do, for the person who installs it.
    pub confinement: String,
}

impl Entry {
    /// A database, configuration or workspace that was named for this command is meant for the agent too. Its rights are
    /// the least with which every tool of its profile works. An entry that is shared names nothing of this machine.
    pub fn new(profiles: Option<&Profiles>, is_shared: bool, global: &GlobalArguments) -> Result<Self, ServiceError> {
        let workspace = global.workspace.as_deref().unwrap_or("auto");
        let mut arguments = vec!["mcp".to_owned(), "--workspace".to_owned(), workspace.to_owned()];
        let offered = profiles.cloned().unwrap_or_default();
        let is_about_database = offered.operations().any(|operation| operation.is_database_wide);
        if !is_about_database {
            for seen in [workspace, PERSONAL] {
                arguments.extend(["--only-workspace".to_owned(), seen.to_owned()]);
            }
        }
        let scopes: BTreeSet<Effect> = offered.operations().map(|operation| operation.effect).collect();
        let scopes: Vec<&str> = scopes.into_iter().map(Effect::as_str).collect();
        arguments.extend(["--scopes".to_owned(), scopes.join(",")]);
        let place = match (is_about_database, workspace) {
            (true, _) => "every workspace".to_owned(),
            (false, "auto") => "only the workspace of the project it works in and your personal memory".to_owned(),
            (false, workspace) => format!("only the workspace `{workspace}` and your personal memory"),
        };
        let confinement = format!("the agent sees {place}, with the scopes {}", scopes.join(", "));
        if let Some(profiles) = profiles {
            arguments.extend(["--profile".to_owned(), profiles.to_string()]);
        }
        if let Some(db) = &global.db {
            arguments.extend(["--db".to_owned(), database(db, is_shared)?]);
        }
        if let Some(config) = &global.config {
            if is_shared {
                return Err(of_this_machine("--config"));
            }
            arguments.extend(["--config".to_owned(), absolute(config)?]);
        }
        let command = if is_shared { PROGRAM.to_owned() } else { program()? };
        Ok(Self { command, arguments, confinement })
    }

    pub fn as_json(&self, file: &SettingsFile) -> Value {
        match file.format {
            Format::Json { has_type: true, .. } => {
                json!({"type": "stdio", "command": self.command, "args": self.arguments})
            }
            _ => json!({"command": self.command, "args": self.arguments}),
        }
    }
}

/// The database as it may be written into a file that is copied, committed and shown.
fn database(db: &str, is_shared: bool) -> Result<String, ServiceError> {
    let location = Location::parse(db).map_err(|allowed| ServiceError::invalid(format!("`--db` must be {allowed}")))?;
    match location {
        Location::File(_) if is_shared => Err(of_this_machine("--db")),
        Location::File(path) => absolute(&as_text(&path)?),
        Location::Postgres(url) if url.holds_password() => {
            Err(ServiceError::invalid(format!("the agent's configuration would contain the password of `{url}`"))
                .with_hint("set `ROOTSET_DB` in the environment that the agent starts in, and drop `--db`"))
        }
        Location::Postgres(url) => Ok(url.without_password()),
    }
}

fn of_this_machine(option: &str) -> ServiceError {
    ServiceError::invalid(format!("`{option}` names a file on this machine, and the file of a project is shared"))
        .with_hint(format!("drop `{option}`, or drop `--project` to install for you alone"))
}

/// Agents start servers in folders of their own.
fn absolute(path: &str) -> Result<String, ServiceError> {
    let absolute =
        std::path::absolute(path).map_err(|error| ServiceError::invalid(format!("cannot find `{path}`: {error}")))?;
    as_text(&absolute)
}

/// This program by its name in the search path, which outlives an upgrade that moves what the name stands for.
fn program() -> Result<String, ServiceError> {
    let this =
        std::env::current_exe().map_err(|error| ServiceError::invalid(format!("cannot find this program: {error}")))?;
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let is_this = |path: &PathBuf| path.is_absolute() && path.canonicalize().is_ok_and(|found| found == this);
    let named = std::env::split_paths(&search_path).map(|folder| folder.join(PROGRAM)).find(is_this);
    as_text(&named.unwrap_or(this))
}

fn as_text(path: &Path) -> Result<String, ServiceError> {
    let text = path.to_str().ok_or_else(|| {
        ServiceError::invalid(format!(
            "`{}` is not UTF-8 text, so it cannot be in a configuration file",
            path.display()
        ))
    })?;
    Ok(text.to_owned())
}
