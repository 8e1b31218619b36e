//! `rootset workspace`.

use rootset_api::{CreateWorkspace, DeleteWorkspace, ListWorkspaces, Quota, WorkspaceList};
use rootset_service::ServiceError;
use serde_json::json;

use super::mcp::project;
use crate::arguments::{CreateWorkspaceArguments, WorkspaceCommand};
use crate::exit::Failure;
use crate::prompt;
use crate::render::{Table, bytes, escaped, one_line, short, with_age};
use crate::session::Session;

pub fn run(command: WorkspaceCommand, session: &Session) -> Result<(), Failure> {
    match command {
        WorkspaceCommand::List => {
            let answer = session.run(ListWorkspaces {})?;
            session.output.answer(&answer, render)
        }
        WorkspaceCommand::Create(arguments) => create(arguments, session),
        WorkspaceCommand::Link { workspace } => link(&workspace, session),
        WorkspaceCommand::Delete { workspace } => delete(&workspace, session),
    }
}

fn create(arguments: CreateWorkspaceArguments, session: &Session) -> Result<(), Failure> {
    let has_quota = arguments.max_memories.is_some() || arguments.max_bytes.is_some();
    let quota = Quota { memories: arguments.max_memories, bytes: arguments.max_bytes };
    let answer = session.run(CreateWorkspace {
        workspace_id: arguments.id,
        name: arguments.name,
        description: arguments.description,
        quota: has_quota.then_some(quota),
    })?;
    session.output.answer(&answer, |answer| format!("created {}\n", answer.workspace_id))
}

/// What `rootset mcp --workspace auto` uses in this repository from now on.
fn link(workspace: &str, session: &Session) -> Result<(), Failure> {
    let Some((folder, _)) = project()? else {
        let error = ServiceError::invalid("there is no git repository around the working folder");
        return Err(error.with_hint("run this inside the repository to link").into());
    };
    session.service()?.link_folder(&session.caller()?, &folder, workspace)?;
    let answer = json!({"workspace_id": workspace, "folder": folder});
    session
        .output
        .answer(&answer, |_| format!("linked {} to workspace {workspace}\n", escaped(&folder.display().to_string())))
}

/// The phrase is what the operation wants to hear, from a person as from a program.
fn delete(workspace: &str, session: &Session) -> Result<(), Failure> {
    let phrase = format!("DELETE {workspace}");
    prompt::confirm_word(session, &format!("move the whole workspace `{workspace}` to the trash"), &phrase)?;
    let request = DeleteWorkspace { workspace_id: workspace.to_owned(), confirm_phrase: Some(phrase) };
    let answer = session.run(request)?;
    session.output.answer(&answer, |answer| {
        let id = &answer.workspace_id;
        let until = answer.undo_until.map(with_age).unwrap_or_default();
        format!("moved to the trash: workspace {id}\nundo until {until}: rootset undo --workspace {id}\n")
    })
}

fn render(answer: &WorkspaceList) -> String {
    let mut table = Table::new(["ID", "MEMORIES", "TRASH", "TEXT", "LAST WRITE", "NAME"]);
    for workspace in &answer.workspaces {
        table.row([
            workspace.workspace_id.clone(),
            (workspace.memories - workspace.trash).to_string(),
            workspace.trash.to_string(),
            bytes(workspace.bytes),
            short(workspace.last_write_at),
            one_line(workspace.name.as_deref().unwrap_or_default(), 80),
        ]);
    }
    table.finish()
}
