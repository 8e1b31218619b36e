//! `rootset workspace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rootset_api::{
    CreateWorkspace, DeleteWorkspace, DeletedWorkspace, ListWorkspaces, Quota, UpdateWorkspace, WorkspaceAnswer,
    WorkspaceList,
};
use rootset_model::names::meant_workspace;
use serde::Serialize;

use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::{Program, working_folder};
use crate::prompt;
use crate::render::{Column, Table, bytes, counted, escaped, one_line, with_age};

#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// List the workspaces with their sizes
    List,
    Create(CreateWorkspaceArguments),
    Set(SetWorkspaceArguments),
    /// Show the workspace of the working folder, and why it is that one
    Which,
    /// Let the project around the working folder use this workspace, whatever it used before
    Link {
        /// The id of the workspace
        #[arg(value_name = "ID")]
        workspace: String,
    },
    /// Leave the project's workspace as it is, and stop naming another that it may belong to
    Dismiss,
    /// Allow the workspace that the project's own `rootset.toml` names
    Trust,
    /// Move a whole workspace to the trash
    #[command(defer(described_by::<DeleteWorkspace>))]
    Delete {
        /// The id of the workspace
        #[arg(value_name = "ID")]
        workspace: String,
        #[arg(long)]
        backup: bool,
    },
}

/// Create a workspace
#[derive(Debug, Args)]
#[command(defer(described_by::<CreateWorkspace>))]
pub struct CreateWorkspaceArguments {
    #[arg(id = "workspace_id", value_name = "ID")]
    id: String,
    #[arg(long)]
    name: Option<String>,
    #[arg(long)]
    description: Option<String>,
    #[arg(long)]
    class: Option<String>,
    #[command(flatten)]
    quota: QuotaArguments,
}

/// Change the class or the quota of a workspace
#[derive(Debug, Args)]
#[command(defer(described_by::<UpdateWorkspace>))]
#[group(required = true, multiple = true, args = ["class", "max_memories", "max_bytes", "no_quota"])]
pub struct SetWorkspaceArguments {
    #[arg(id = "workspace_id", value_name = "ID")]
    id: String,
    #[arg(long)]
    class: Option<String>,
    #[command(flatten)]
    quota: QuotaArguments,
    /// Remove both limits; `--max-memories` or `--max-bytes` alone removes the other
    #[arg(long, conflicts_with_all = ["max_memories", "max_bytes"])]
    no_quota: bool,
}

#[derive(Debug, Args)]
pub struct QuotaArguments {
    /// The highest number of memories
    #[arg(long, value_name = "COUNT")]
    max_memories: Option<i64>,
    /// The highest number of bytes of text
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<i64>,
}

impl QuotaArguments {
    fn quota(&self) -> Option<Quota> {
        let quota = Quota { memories: self.max_memories, bytes: self.max_bytes };
        (quota.memories.is_some() || quota.bytes.is_some()).then_some(quota)
    }
}

pub fn run(command: WorkspaceCommand, program: &Program) -> Result<(), Failure> {
    match command {
        WorkspaceCommand::List => program.output.answer(&program.run(ListWorkspaces {})?, listed),
        WorkspaceCommand::Create(arguments) => create(arguments, program),
        WorkspaceCommand::Set(arguments) => set(arguments, program),
        WorkspaceCommand::Which => which(program),
        WorkspaceCommand::Link { workspace } => link(workspace, program),
        WorkspaceCommand::Dismiss => dismiss(program),
        WorkspaceCommand::Trust => trust(program),
        WorkspaceCommand::Delete { workspace, backup } => delete(workspace, backup, program),
    }
}

fn create(arguments: CreateWorkspaceArguments, program: &Program) -> Result<(), Failure> {
    let created = program.run(CreateWorkspace {
        workspace_id: arguments.id,
        name: arguments.name,
        description: arguments.description,
        quota: arguments.quota.quota(),
        class: arguments.class,
    })?;
    program.output.answer(&created, |created| format!("created {}\n", created.workspace_id))
}

fn set(arguments: SetWorkspaceArguments, program: &Program) -> Result<(), Failure> {
    let unlimited = arguments.no_quota.then_some(Quota { memories: None, bytes: None });
    let changed = program.run(UpdateWorkspace {
        workspace_id: arguments.id,
        class: arguments.class,
        quota: arguments.quota.quota().or(unlimited),
    })?;
    program.output.answer(&changed, changed_line)
}

fn changed_line(workspace: &WorkspaceAnswer) -> String {
    let quota = workspace.quota.unwrap_or(Quota { memories: None, bytes: None });
    let limits = [
        quota.memories.map(|memories| format!("at most {}", counted(memories, "memory", "memories"))),
        quota.bytes.map(|size| format!("at most {} of text", bytes(size))),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let limits = if limits.is_empty() { "no quota".to_owned() } else { limits.join(", ") };
    format!("{}: class {}, {limits}\n", workspace.workspace_id, workspace.class)
}

/// What people and agents use here from now on. None of this is an operation: agents cannot do it, so its answers are ours.
fn link(workspace: String, program: &Program) -> Result<(), Failure> {
    let folder = program.service()?.link_project(&program.person()?, &working_folder()?, &workspace)?;
    let workspace_id = meant_workspace(&workspace).to_owned();
    program.output.answer(&Linked { workspace_id, folder }, |linked| {
        let folder = escaped(&linked.folder.display().to_string());
        format!("linked {folder} to workspace {}\n", linked.workspace_id)
    })
}

#[derive(Serialize)]
struct Linked {
    workspace_id: String,
    folder: PathBuf,
}

fn trust(program: &Program) -> Result<(), Failure> {
    let folder = working_folder()?;
    let workspace_id = program.service()?.trust_declared_workspace(&program.person()?, &folder)?;
    program.output.answer(&Linked { workspace_id, folder }, |linked| {
        format!("this project uses workspace {}, as its rootset.toml says\n", linked.workspace_id)
    })
}

fn dismiss(program: &Program) -> Result<(), Failure> {
    let workspace_id = program.service()?.dismiss_related(&program.person()?, &working_folder()?)?;
    program.output.answer(&Dismissed { workspace_id }, |dismissed| match &dismissed.workspace_id {
        Some(id) => format!("workspace {id} is not named here any more\n"),
        None => "there is nothing to dismiss\n".to_owned(),
    })
}

#[derive(Serialize)]
struct Dismissed {
    workspace_id: Option<String>,
}

fn which(program: &Program) -> Result<(), Failure> {
    let workspace_id = program.workspace_id()?;
    let why = program.reason_of_workspace()?;
    let folders = program.service()?.folders_of_workspace(&program.person()?, &workspace_id)?;
    program.output.answer(&Which { workspace_id, why, folders }, |which| {
        let mut lines = vec![format!("{} ({})", which.workspace_id, which.why)];
        lines.extend(which.folders.iter().map(|folder| format!("  {}", escaped(folder))));
        lines.join("\n") + "\n"
    })
}

#[derive(Serialize)]
struct Which {
    workspace_id: String,
    why: &'static str,
    folders: Vec<String>,
}

/// The phrase is what the operation wants to hear, from a person as from a program.
fn delete(workspace: String, backup: bool, program: &Program) -> Result<(), Failure> {
    let phrase = format!("DELETE {workspace}");
    prompt::confirm_word(program, &format!("move the whole workspace `{workspace}` to the trash"), &phrase)?;
    let deleted = program.run(DeleteWorkspace {
        workspace_id: workspace,
        confirm_phrase: Some(phrase),
        backup: backup.then_some(true),
    })?;
    program.output.answer(&deleted, trashed)
}

fn trashed(DeletedWorkspace { workspace_id: id, undo_until, .. }: &DeletedWorkspace) -> String {
    let until = undo_until.map(with_age).unwrap_or_default();
    format!("moved to the trash: workspace {id}\nundo until {until}: rootset undo --workspace {id}\n")
}

fn listed(answer: &WorkspaceList) -> String {
    let mut table = Table::new([
        Column::name("ID"),
        Column::fixed("CLASS").spare(),
        Column::fixed("MEMORIES"),
        Column::fixed("TRASH").spare(),
        Column::fixed("TEXT").spare(),
        Column::time("LAST WRITE"),
        Column::text("NAME").spare(),
    ]);
    for workspace in &answer.workspaces {
        table.row([
            workspace.workspace_id.clone(),
            workspace.class.clone(),
            (workspace.memories - workspace.trash).to_string(),
            workspace.trash.to_string(),
            bytes(workspace.bytes),
            workspace.last_write_at.to_string(),
            one_line(workspace.name.as_deref().unwrap_or_default(), 80),
        ]);
    }
    table.finish()
}
