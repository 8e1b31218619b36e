//! `rootset mcp`: a server for one agent, until it closes its end or a signal comes. stdout belongs to the protocol.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rootset_mcp::{McpOptions, McpServer};
use rootset_model::limits::WORKSPACE_ID_CHARS_MAX;
use rootset_service::{ErrorCode, Rights, Service, ServiceError};
use rootset_store::Location;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::McpArguments;
use crate::configuration::Database;
use crate::exit::Failure;
use crate::session::Session;
use crate::stop::Stop;

/// Answering is little work; operations have threads of their own.
const ANSWERING_THREADS: usize = 2;
/// Uses must be written within a second: they save memories from the collector.
const UPKEEP_EVERY: Duration = Duration::from_secs(1);
/// Memories that wait for a model are looked for with every so-manieth round.
const PENDING_EVERY_ROUNDS: u32 = 10;
const AUTO: &str = "auto";
const DEFAULT: &str = "default";

pub fn run(arguments: McpArguments, session: &Session) -> Result<(), Failure> {
    let stop = Stop::on_signals()?;
    let service = session.service()?.clone();
    let options = McpOptions {
        profiles: arguments.profile,
        workspace: workspace(session)?,
        actor: arguments.actor,
        rights: Rights::default(),
        terminal_command: terminal_command(session)?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ANSWERING_THREADS)
        .enable_all()
        .build()
        .map_err(|error| ServiceError::new(ErrorCode::Internal, format!("cannot start threads: {error}")))?;
    let stopped = CancellationToken::new();
    pass_on(stop, stopped.clone());
    runtime.spawn(keep_up(service.clone()));
    let served = runtime.block_on(rootset_mcp::serve_stdio(McpServer::new(service, options), stopped));
    // What still runs now was told to stop: it commits as a whole or not at all.
    runtime.shutdown_background();
    served.map_err(|error| ServiceError::invalid(format!("the client does not speak the protocol: {error}")).into())
}

fn pass_on(stop: Stop, stopped: CancellationToken) {
    const LONG: Duration = Duration::from_secs(3_600);
    std::thread::spawn(move || {
        while !stop.wait(LONG) {}
        stopped.cancel();
    });
}

/// What a process that runs on owes between two answers.
async fn keep_up(service: Arc<Service>) {
    let mut rounds = tokio::time::interval(UPKEEP_EVERY);
    let mut round = 0_u32;
    loop {
        rounds.tick().await;
        round = round.wrapping_add(1);
        let service = service.clone();
        let work = tokio::task::spawn_blocking(move || {
            service.flush_uses()?;
            if round.is_multiple_of(PENDING_EVERY_ROUNDS) {
                while service.complete_one_pending()? {}
            }
            Ok::<(), ServiceError>(())
        });
        if let Ok(Err(error)) = work.await {
            tracing::warn!(%error, "upkeep failed; it is tried again");
        }
    }
}

/// The configured one, or with `auto` that of the repository around us, made when it is missing.
fn workspace(session: &Session) -> Result<String, ServiceError> {
    let configured = session.configuration()?.workspace.clone();
    if configured != AUTO {
        return Ok(configured);
    }
    let folder = std::env::current_dir().map_err(|error| {
        ServiceError::invalid(format!("`--workspace auto`: there is no working directory: {error}"))
    })?;
    let workspace = git_root(&folder).and_then(workspace_id).unwrap_or_else(|| DEFAULT.to_owned());
    // Reading first: nobody waits for the write lock to hear that the workspace is there.
    let request = json!({ "workspace_id": workspace });
    match session.call("get_retention", request.clone()) {
        Err(error) if error.code == ErrorCode::NotFound => match session.call("create_workspace", request) {
            // Another process was quicker, or it is in the trash, which calls will be told.
            Err(error) if error.code == ErrorCode::Conflict => Ok(workspace),
            created => created.map(|_| workspace),
        },
        found => found.map(|_| workspace),
    }
}

/// The nearest folder with a `.git`, which is a file in work trees.
fn git_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// The folder's name with what a workspace id may hold; `None` when nothing is left of it.
fn workspace_id(root: &Path) -> Option<String> {
    let name = root.file_name()?.to_string_lossy().to_lowercase();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let id: String = name.chars().map(|c| if plain(c) || c == '_' { c } else { '-' }).collect();
    let id: String = id.trim_start_matches(['-', '_']).chars().take(WORKSPACE_ID_CHARS_MAX).collect();
    let id = id.trim_end_matches('-');
    (!id.is_empty()).then(|| id.to_owned())
}

/// What a person types for the same database.
pub fn terminal_command(session: &Session) -> Result<String, ServiceError> {
    Ok(match &session.configuration()?.database {
        Database::Default => "rootset".to_owned(),
        Database::Named(Location::File(path)) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            format!("rootset --db {}", quoted(&path.display().to_string()))
        }
        Database::Named(Location::Postgres(url)) => format!("rootset --db {}", quoted(&url.without_password())),
    })
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_workspace_ids() {
        let id = |name: &str| workspace_id(Path::new("/home/alice").join(name).as_path());
        assert_eq!(id("rootset").as_deref(), Some("rootset"));
        assert_eq!(id("My Project.rs").as_deref(), Some("my-project-rs"));
        assert_eq!(id("_private").as_deref(), Some("private"));
        assert_eq!(id("日本").as_deref(), None);
        assert_eq!(id(&"x".repeat(100)).map(|id| id.len()), Some(WORKSPACE_ID_CHARS_MAX));
    }
}
