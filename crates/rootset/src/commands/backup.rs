//! `rootset backup`.

use serde_json::{Value, json};

use crate::arguments::{BackupCommand, RestoreArguments};
use crate::exit::{Failure, STATUS_CALLER};
use crate::prompt;
use crate::render::{self, Table, bytes, count, counted, escaped, flag, list, one_line, short, text};
use crate::session::Session;

/// What is typed before something is replaced.
const RESTORE_WORD: &str = "restore";

pub fn run(command: BackupCommand, session: &Session) -> Result<(), Failure> {
    match command {
        BackupCommand::Create(arguments) => {
            let format = arguments.format.map(|format| format.as_str());
            let answer =
                session.call("backup_create", json!({"format": format, "workspace_id": session.global.workspace}))?;
            session.output.answer(&answer, created)
        }
        BackupCommand::List => {
            let answer = session.call("backup_list", json!({}))?;
            session.output.answer(&answer, listed)
        }
        BackupCommand::Verify { backup } => verify(&backup, session),
        BackupCommand::Restore(arguments) => restore(&arguments, session),
    }
}

fn created(answer: &Value) -> String {
    format!(
        "backup {}: {}, {}, verified\n{}\n",
        text(answer, "backup_id"),
        counted(count(answer, "rows"), "row", "rows"),
        bytes(count(answer, "bytes")),
        escaped(text(answer, "path"))
    )
}

fn listed(answer: &Value) -> String {
    let backups = list(answer, "backups");
    if backups.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["ID", "CREATED", "FORMAT", "MEMORIES", "SIZE", "WORKSPACE", "REASON"]);
    for backup in backups {
        table.row([
            text(backup, "backup_id").to_owned(),
            short(text(backup, "created_at")),
            text(backup, "format").to_owned(),
            count(backup, "memories").to_string(),
            bytes(count(backup, "bytes")),
            one_line(text(backup, "workspace_id"), 64),
            text(backup, "reason").to_owned(),
        ]);
    }
    table.finish()
}

fn verify(backup: &str, session: &Session) -> Result<(), Failure> {
    let answer = session.call("backup_verify", json!({ "backup_id": backup }))?;
    session.output.answer(&answer, |answer| {
        let problems = list(answer, "problems").iter().filter_map(Value::as_str);
        let lines: String = problems.map(|it| format!("{} {}\n", render::warning("BAD"), escaped(it))).collect();
        if flag(answer, "ok") { format!("{}\n", render::good("ok")) } else { lines }
    })?;
    if flag(&answer, "ok") { Ok(()) } else { Err(Failure::Said(STATUS_CALLER)) }
}

fn restore(arguments: &RestoreArguments, session: &Session) -> Result<(), Failure> {
    let only = session.global.workspace.as_deref();
    let what = match arguments.into.as_deref().or(only) {
        Some(workspace) => format!("the workspace `{}`", one_line(workspace, 64)),
        None => "what is there now".to_owned(),
    };
    let action = format!("replace {what} by the backup {}", one_line(&arguments.backup, 200));
    prompt::confirm_word(session, &action, RESTORE_WORD)?;
    let request = json!({
        "backup_id": arguments.backup,
        "workspace_id": only,
        "into_workspace_id": arguments.into,
        "confirm": true,
    });
    let answer = session.call("backup_restore", request)?;
    session.output.answer(&answer, restored)
}

fn restored(answer: &Value) -> String {
    let names = |field: &str| {
        let names: Vec<String> = list(answer, field).iter().filter_map(Value::as_str).map(escaped).collect();
        names.join(", ")
    };
    let memories = counted(count(&answer["restored"], "memories"), "memory", "memories");
    let mut shown = format!("restored {memories} in {}\n", names("workspaces"));
    if count(answer, "replayed_erasures") > 0 {
        let again = counted(count(answer, "replayed_erasures"), "thing", "things");
        shown.push_str(&format!("purged again what was purged since: {again}\n"));
    }
    if !list(answer, "workspaces_removed").is_empty() {
        shown.push_str(&format!("removed, because the backup does not know them: {}\n", names("workspaces_removed")));
    }
    shown
}
