//! `rootset mcp`: a server for one agent, until it closes its end or a signal comes. stdout belongs to the protocol.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use rootset_api::{Effect, ErrorCode, Profile, Profiles};
use rootset_mcp::{ByFolders, McpOptions, McpServer, Place};
use rootset_model::names::{HOME_WORKSPACE, check_workspace_id, meant_workspace};
use rootset_service::{PERSONAL, Rights, Service, ServiceError, WorkingFolder};
use rootset_store::Location;
use tokio_util::sync::CancellationToken;

use crate::background::Background;
use crate::configuration::{AUTOMATIC_WORKSPACE, Database};
use crate::embedding;
use crate::exit::Failure;
use crate::program::{Program, person, working_folder};
use crate::stop::Stop;

/// Answering is little work; operations have threads of their own.
const ANSWERING_THREADS: usize = 2;
/// Uses must be written within a second: they save memories from the collector.
const UPKEEP_EVERY: Duration = Duration::from_secs(1);
/// Memories that wait for a model are looked for once in this many rounds.
const PENDING_EVERY_ROUNDS: u32 = 10;
/// Where Claude Code says in which project it works: its servers may be started elsewhere.
const PROJECT_VARIABLE: &str = "CLAUDE_PROJECT_DIR";

/// Serve an agent over stdin and stdout with the Model Context Protocol
///
/// Without `--workspace` the agent works in the workspace of the project around the working folder, like every command
/// that you type there. `--read-only`, `--scopes` and `--only-workspace` confine the agent.
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
    /// The only workspace that the agent can see, `auto` for that of the project, or `personal` for your personal memory;
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
    let (workspace, is_open) = workspace(program)?;
    let Place { workspace, rights } = confined(&arguments.confinement, &[workspace])?;
    let by_folders = is_open.then(|| by_folders(arguments.confinement, &service, program)).transpose()?;
    let options = McpOptions {
        profiles: arguments.profile,
        workspace,
        actor: arguments.actor,
        rights,
        by_folders,
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

/// The rights of the agent, and its current workspace: the first of those of its project, which `auto` stands for.
fn confined(confinement: &Confinement, projects: &[String]) -> Result<Place, ServiceError> {
    let mut current = projects.first().cloned().unwrap_or_else(|| HOME_WORKSPACE.to_owned());
    let mut only = Vec::new();
    let (personal, named): (Vec<&String>, Vec<&String>) =
        confinement.only_workspaces.iter().partition(|name| *name == PERSONAL);
    if named.is_empty() && !personal.is_empty() {
        return Err(ServiceError::invalid("`--only-workspace personal`: personal memory stands beside a project")
            .with_hint("also name the workspace of the project, or `auto`"));
    }
    for name in named {
        if name == AUTOMATIC_WORKSPACE {
            only.extend_from_slice(projects);
            continue;
        }
        check_workspace_id(name).map_err(|error| ServiceError::invalid(format!("`--only-workspace`: {error}")))?;
        only.push(meant_workspace(name).to_owned());
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
    Ok(Place { workspace: current, rights })
}

/// The folders that a client tells later decide as the working folder does.
fn by_folders(confinement: Confinement, service: &Arc<Service>, program: &Program) -> Result<ByFolders, ServiceError> {
    let (service, caller) = (service.clone(), program.caller()?);
    let decide = move |folders: Vec<PathBuf>| -> Result<Place, ServiceError> {
        let mut projects: Vec<String> = Vec::new();
        for folder in folders {
            let decided = service.workspace_around(&WorkingFolder::new(folder), &caller)?.clone();
            if !projects.contains(&decided.workspace_id) {
                projects.push(decided.workspace_id);
            }
        }
        confined(&confinement, &projects)
    };
    Ok(ByFolders::new(move |folders| match decide(folders) {
        Ok(place) => Some(place),
        Err(error) => {
            tracing::warn!(%error, "the client's folders decide nothing");
            None
        }
    }))
}

/// The one that is named, or that of the project: around the folder that the client names, or else around ours. In the last
/// case the client may still tell its folders.
fn workspace(program: &Program) -> Result<(String, bool), ServiceError> {
    if let Some(named) = &program.configuration()?.workspace {
        return Ok((meant_workspace(named).to_owned(), false));
    }
    let named = std::env::var_os(PROJECT_VARIABLE).map(PathBuf::from).filter(|folder| folder.is_dir());
    let is_open = named.is_none();
    let folder = match named {
        Some(folder) => folder,
        None => working_folder()?,
    };
    let decided = program.service()?.workspace_around(&WorkingFolder::new(folder), &program.caller()?)?.clone();
    tracing::info!(workspace = decided.workspace_id, why = decided.reason.word(), "serving an agent");
    Ok((decided.workspace_id, is_open))
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
