//! A workspace out of a backup, under its own name or another.

use std::path::Path;

use rootset_service::ServiceError;
use rootset_store::{Manifest, open_backup};
use serde_json::{Value, json};

use crate::arguments::ImportMemoriesArguments;
use crate::exit::Failure;
use crate::prompt;
use crate::render::{count, counted, escaped, flag, list, one_line, text};
use crate::session::Session;

/// What is typed before something is replaced.
const RESTORE_WORD: &str = "restore";

pub fn run(folder: &Path, arguments: &ImportMemoriesArguments, session: &Session) -> Result<(), Failure> {
    let manifest = open_backup(folder).map_err(ServiceError::from)?.manifest;
    // Operations tell a path from an id by its separators.
    let reference = folder.join("").display().to_string();
    let verified = session.call("backup_verify", json!({ "backup_id": reference }))?;
    if !flag(&verified, "ok") {
        let problem = list(&verified, "problems").first().and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = format!("the backup `{}` cannot be restored: {problem}", folder.display());
        return Err(ServiceError::conflict(message).into());
    }
    let from = source(&manifest, arguments.from.as_deref())?;
    let into = session.global.workspace.clone().unwrap_or_else(|| from.clone());
    let there = memories_there(&into, session)?;
    let preview = preview(&manifest, &from, &into, there);
    if arguments.dry_run {
        let answer = json!({
            "dry_run": true, "backup_id": manifest.backup_id, "workspace_id": from, "into_workspace_id": into,
            "memories_there": there,
        });
        return session.output.answer(&answer, |_| preview);
    }
    if !session.output.in_json() {
        session.output.text(&preview)?;
    }
    match there {
        None | Some(0) => prompt::confirm(session, &format!("bring workspace `{from}` as `{into}`"))?,
        Some(_) => {
            let action = format!("replace the workspace `{}` by the backup", one_line(&into, 64));
            prompt::confirm_word(session, &action, RESTORE_WORD)?;
        }
    }
    let request = json!({"backup_id": reference, "workspace_id": from, "into_workspace_id": into, "confirm": true});
    let answer = session.call("backup_restore", request)?;
    session.output.answer(&answer, |answer| {
        let memories = counted(count(&answer["restored"], "memories"), "memory", "memories");
        format!("restored {memories} in {into}\n")
    })
}

fn source(manifest: &Manifest, given: Option<&str>) -> Result<String, ServiceError> {
    match (given, &manifest.workspace_id) {
        (Some(given), _) => Ok(given.to_owned()),
        (None, Some(only)) => Ok(only.clone()),
        (None, None) => Err(ServiceError::invalid("the backup holds a whole database")
            .with_hint("name one of its workspaces with `--from`, or put all of it back: rootset backup restore")),
    }
}

/// How many memories a restore would replace; `None` when there is no such workspace.
fn memories_there(workspace: &str, session: &Session) -> Result<Option<i64>, ServiceError> {
    let answer = session.call("list_workspaces", json!({}))?;
    Ok(list(&answer, "workspaces")
        .iter()
        .find(|it| text(it, "workspace_id") == workspace)
        .map(|it| count(it, "memories")))
}

fn preview(manifest: &Manifest, from: &str, into: &str, there: Option<i64>) -> String {
    let made = format!("backup {} of {}", escaped(&manifest.backup_id), manifest.created_at);
    let held = manifest.tables.get("memories").copied().unwrap_or(0);
    let held = match manifest.workspace_id {
        Some(_) => counted(held, "memory", "memories"),
        None => format!("one of the workspaces with {} together", counted(held, "memory", "memories")),
    };
    let target = match there {
        None => "which is new".to_owned(),
        Some(0) => "which is empty".to_owned(),
        Some(there) => format!("in the place of {}", counted(there, "memory", "memories")),
    };
    format!("{made}\n  `{}`: {held}\n  into `{}`, {target}\n", escaped(from), escaped(into))
}
