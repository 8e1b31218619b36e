//! `rootset workspace`.

use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::mcp::project;
use crate::arguments::{CreateWorkspaceArguments, WorkspaceCommand};
use crate::exit::Failure;
use crate::prompt;
use crate::render::{Table, bytes, count, escaped, list, one_line, short, text, with_age};
use crate::session::Session;

pub fn run(command: WorkspaceCommand, session: &Session) -> Result<(), Failure> {
    match command {
        WorkspaceCommand::List => {
            let answer = session.call("list_workspaces", json!({}))?;
            session.output.answer(&answer, render)
        }
        WorkspaceCommand::Create(arguments) => create(arguments, session),
        WorkspaceCommand::Link { workspace } => link(&workspace, session),
        WorkspaceCommand::Delete { workspace } => delete(&workspace, session),
    }
}

fn create(arguments: CreateWorkspaceArguments, session: &Session) -> Result<(), Failure> {
    let has_quota = arguments.max_memories.is_some() || arguments.max_bytes.is_some();
    let mut quota = serde_json::Map::new();
    quota.extend(arguments.max_memories.map(|count| ("memories".to_owned(), count.into())));
    quota.extend(arguments.max_bytes.map(|count| ("bytes".to_owned(), count.into())));
    let request = json!({
        "workspace_id": arguments.id,
        "name": arguments.name,
        "description": arguments.description,
        "quota": has_quota.then_some(quota),
    });
    let answer = session.call("create_workspace", request)?;
    session.output.answer(&answer, |answer| format!("created {}\n", text(answer, "workspace_id")))
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
    let answer = session.call("delete_workspace", json!({"workspace_id": workspace, "confirm_phrase": phrase}))?;
    session.output.answer(&answer, |answer| {
        let id = text(answer, "workspace_id");
        let until = with_age(text(answer, "undo_until"));
        format!("moved to the trash: workspace {id}\nundo until {until}: rootset undo --workspace {id}\n")
    })
}

fn render(answer: &Value) -> String {
    let mut table = Table::new(["ID", "MEMORIES", "TRASH", "TEXT", "LAST WRITE", "NAME"]);
    for workspace in list(answer, "workspaces") {
        table.row([
            text(workspace, "workspace_id").to_owned(),
            (count(workspace, "memories") - count(workspace, "trash")).to_string(),
            count(workspace, "trash").to_string(),
            bytes(count(workspace, "bytes")),
            short(text(workspace, "last_write_at")),
            one_line(text(workspace, "name"), 80),
        ]);
    }
    table.finish()
}
