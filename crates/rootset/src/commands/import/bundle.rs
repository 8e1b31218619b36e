//! A workspace out of a backup, under its own name or another.

use std::path::Path;

use rootset_api::{BackupRestore, BackupVerify, ListWorkspaces};
use rootset_model::names::meant_workspace;
use rootset_service::ServiceError;
use rootset_store::{Manifest, open_backup};
use serde::Serialize;

use super::ImportMemoriesArguments;
use crate::exit::Failure;
use crate::program::Program;
use crate::prompt;
use crate::render::{counted, escaped, one_line};

/// What is typed before something is replaced.
const RESTORE_WORD: &str = "restore";

pub fn run(folder: &Path, arguments: &ImportMemoriesArguments, program: &Program) -> Result<(), Failure> {
    let manifest = open_backup(folder).map_err(ServiceError::from)?.manifest;
    // Operations tell a path from an id by its separators.
    let reference = folder.join("").display().to_string();
    let verified = program.run(BackupVerify { backup_id: reference.clone() })?;
    if !verified.ok {
        let problem = verified.problems.first().map(String::as_str).unwrap_or_default();
        let message = format!("the backup `{}` cannot be restored: {problem}", folder.display());
        return Err(ServiceError::conflict(message).into());
    }
    let from = source(&manifest, arguments.from.as_deref())?;
    let into =
        program.global.workspace.as_deref().map_or_else(|| from.clone(), |named| meant_workspace(named).to_owned());
    let there = memories_there(&into, program)?;
    let preview = preview(&manifest, &from, &into, there);
    if arguments.dry_run {
        let backup_id = manifest.backup_id;
        let answer =
            Preview { dry_run: true, backup_id, workspace_id: from, into_workspace_id: into, memories_there: there };
        return program.output.answer(&answer, |_| preview);
    }
    if !program.output.in_json() {
        program.output.text(&preview)?;
    }
    match there {
        None | Some(0) => prompt::confirm(program, &format!("import workspace `{from}` as `{into}`"))?,
        Some(_) => {
            let action = format!("replace the workspace `{}` with the backup", one_line(&into, 64));
            prompt::confirm_word(program, &action, RESTORE_WORD)?;
        }
    }
    let restored = program.run(BackupRestore {
        backup_id: reference,
        workspace_id: Some(from),
        into_workspace_id: Some(into.clone()),
        confirm: Some(true),
        ..BackupRestore::default()
    })?;
    program.output.answer(&restored, |answer| {
        let memories = answer.restored.get("memories").copied().unwrap_or_default();
        format!("restored {} in {into}\n", counted(memories, "memory", "memories"))
    })
}

/// What `--json` prints with `--dry-run`.
#[derive(Serialize)]
struct Preview {
    dry_run: bool,
    backup_id: String,
    workspace_id: String,
    into_workspace_id: String,
    memories_there: Option<i64>,
}

fn source(manifest: &Manifest, given: Option<&str>) -> Result<String, ServiceError> {
    match (given, &manifest.workspace_id) {
        (Some(given), _) => Ok(given.to_owned()),
        (None, Some(only)) => Ok(only.clone()),
        (None, None) => Err(ServiceError::invalid("the backup holds a whole database")
            .with_hint("name one of its workspaces with `--from`, or restore all of it: rootset backup restore")),
    }
}

/// How many memories a restore would replace; `None` when there is no such workspace.
fn memories_there(workspace: &str, program: &Program) -> Result<Option<i64>, ServiceError> {
    let there = program.run(ListWorkspaces {})?.workspaces;
    Ok(there.into_iter().find(|it| it.workspace_id == workspace).map(|it| it.memories))
}

fn preview(manifest: &Manifest, from: &str, into: &str, there: Option<i64>) -> String {
    let made = format!("backup {} of {}", escaped(&manifest.backup_id), manifest.created_at);
    let held = manifest.tables.get("memories").copied().unwrap_or(0);
    let held = match manifest.workspace_id {
        Some(_) => counted(held, "memory", "memories"),
        None => format!("one of several workspaces, with {} in total", counted(held, "memory", "memories")),
    };
    let target = match there {
        None => "which is new".to_owned(),
        Some(0) => "which is empty".to_owned(),
        Some(there) => format!("replacing {}", counted(there, "memory", "memories")),
    };
    format!("{made}\n  `{}`: {held}\n  into `{}`, {target}\n", escaped(from), escaped(into))
}
