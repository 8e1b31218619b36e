//! `rootset mcp`: a server for one agent, until it closes its end or a signal comes. stdout belongs to the protocol.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use rootset_api::{Effect, ErrorCode, Profile, Profiles};
use rootset_mcp::{McpOptions, McpServer};
use rootset_model::limits::WORKSPACE_ID_CHARS_MAX;
use rootset_model::names::check_workspace_id;
use rootset_service::{PERSONAL, Rights, Service, ServiceError};
use rootset_store::Location;
use tokio_util::sync::CancellationToken;

use crate::background::Background;
use crate::configuration::Database;
use crate::embedding;
use crate::exit::Failure;
use crate::program::{Program, person};
use crate::stop::Stop;

/// Answering is little work; operations have threads of their own.
const ANSWERING_THREADS: usize = 2;
/// Uses must be written within a second: they save memories from the collector.
const UPKEEP_EVERY: Duration = Duration::from_secs(1);
/// Memories that wait for a model are looked for once in this many rounds.
const PENDING_EVERY_ROUNDS: u32 = 10;
const AUTO: &str = "auto";
const DEFAULT: &str = "default";

/// Serve an agent over stdin and stdout with the Model Context Protocol
///
/// With `--workspace auto` the workspace is named after the git repository around the working directory, and created if
/// it does not exist. `--read-only`, `--scopes` and `--only-workspace` confine the agent.
#[derive(Debug, Args)]
pub struct McpArguments {
    #[arg(long, value_name = "NAMES", default_value_t)]
    #[arg(help = format!("The tools to offer: {}, or several separated by commas", Profile::names()))]
    profile: Profiles,
    /// The name in the audit trail; default: the client's own
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    #[command(flatten)]
    confinement: Confinement,
}

/// How far the agent can go. What it may not do is not offered, and other workspaces do not exist for it.
#[derive(Debug, Args)]
struct Confinement {
    /// Let the agent read and search only: the same as `--scopes read`
    #[arg(long, conflicts_with = "scopes")]
    read_only: bool,
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = scope)]
    #[arg(help = format!("What the agent may do: {}; default: all", scope_words()))]
    scopes: Vec<Effect>,
    /// The only workspace that the agent can see, `auto` for that of the repository, or `personal` for your personal memory;
    /// may be given several times
    #[arg(long = "only-workspace", value_name = "NAME")]
    only_workspaces: Vec<String>,
}

fn scope(word: &str) -> Result<Effect, String> {
    Effect::from_word(word.trim()).ok_or_else(|| format!("allowed: {}", scope_words()))
}

fn scope_words() -> String {
    Effect::ALL.map(Effect::as_str).join(", ")
}

pub fn run(arguments: McpArguments, program: &Program) -> Result<(), Failure> {
    let stop = Stop::on_signals()?;
    let service = program.service()?.clone();
    let (rights, workspace, refusal) = confined(&arguments.confinement, program)?;
    let options = McpOptions {
        profiles: arguments.profile,
        workspace,
        refusal,
        actor: arguments.actor,
        rights,
        person: person(&program.configuration()?.location()?),
        terminal_command: terminal_command(program)?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ANSWERING_THREADS)
        .enable_all()
        .build()
        .map_err(|error| ServiceError::new(ErrorCode::Internal, format!("cannot start threads: {error}")))?;
    let stopped = CancellationToken::new();
    pass_on(stop, stopped.clone());
    runtime.spawn(keep_up(service.clone()));
    let mut background = Background::delivering(Vec::new());
    embedding::start(&service, Service::embed_some_once_owed, &mut background);
    let served = runtime.block_on(rootset_mcp::serve_stdio(McpServer::new(service, options), stopped));
    // What still runs now was told to stop: it commits as a whole or not at all.
    runtime.shutdown_background();
    background.is_ending.store(true, Ordering::SeqCst);
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
            service.flush_visits_and_log();
            service.flush_denials()?;
            if round.is_multiple_of(PENDING_EVERY_ROUNDS) {
                while service.complete_one_pending()? {}
            }
            Ok::<(), ServiceError>(())
        });
        if let Ok(Err(error)) = work.await {
            tracing::warn!(%error, "upkeep failed; trying again later");
        }
    }
}

/// The rights of the agent, its current workspace, and why no call may be carried out, where that is so.
fn confined(
    confinement: &Confinement,
    program: &Program,
) -> Result<(Rights, String, Option<ServiceError>), ServiceError> {
    let (mut current, mut refusal) = workspace(&program.configuration()?.workspace, program)?;
    let mut only = Vec::new();
    let (personal, named): (Vec<&String>, Vec<&String>) =
        confinement.only_workspaces.iter().partition(|name| *name == PERSONAL);
    if named.is_empty() && !personal.is_empty() {
        return Err(ServiceError::invalid("`--only-workspace personal`: personal memory stands beside a project")
            .with_hint("also name the workspace of the project, or `auto`"));
    }
    for name in named {
        if name != AUTO {
            check_workspace_id(name).map_err(|error| ServiceError::invalid(format!("`--only-workspace`: {error}")))?;
        }
        let (name, problem) = workspace(name, program)?;
        refusal = refusal.or(problem);
        only.push(name);
    }
    // Who sees only some workspaces and names none means the first of them.
    if let Some(first) = only.first().filter(|_| !only.contains(&current)) {
        current.clone_from(first);
    }
    let scopes: BTreeSet<Effect> = match confinement.read_only {
        true => [Effect::Read].into(),
        false => confinement.scopes.iter().copied().collect(),
    };
    let rights = Rights {
        scopes: (!scopes.is_empty()).then_some(scopes),
        workspaces: (!only.is_empty()).then(|| only.into_iter().collect()),
        also_personal: !personal.is_empty(),
        ..Rights::default()
    };
    Ok((rights, current, refusal))
}

/// The named one, or with `auto` that of the repository around us, made when it is missing; with the reason why no call
/// may be carried out where the repository's workspace is in doubt.
fn workspace(named: &str, program: &Program) -> Result<(String, Option<ServiceError>), ServiceError> {
    if named != AUTO {
        return Ok((named.to_owned(), None));
    }
    let Some((folder, name)) = project()? else { return Ok((DEFAULT.to_owned(), None)) };
    match program.service()?.workspace_of_folder(&program.caller()?, &folder, &name) {
        Ok(workspace) => Ok((workspace, None)),
        Err(refusal) if refusal.code == ErrorCode::Conflict => {
            tracing::warn!("{refusal}");
            Ok((name, Some(refusal)))
        }
        Err(error) => Err(error),
    }
}

/// The repository around the working directory and the name its workspace would get.
pub fn project() -> Result<Option<(PathBuf, String)>, ServiceError> {
    let folder = std::env::current_dir()
        .and_then(std::fs::canonicalize)
        .map_err(|error| ServiceError::invalid(format!("cannot read the working directory: {error}")))?;
    let Some(root) = git_root(&folder) else { return Ok(None) };
    Ok(workspace_id(root).map(|name| (root.to_owned(), name)))
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
pub fn terminal_command(program: &Program) -> Result<String, ServiceError> {
    Ok(match &program.configuration()?.database {
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
