//! `rootset backup`.

use clap::{Args, Subcommand, ValueEnum};
use rootset_api::{
    BackupCreate, BackupCreated, BackupList, BackupRestore, BackupRestored, BackupVerify, BackupsListed,
};

use crate::arguments::described_by;
use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::prompt;
use crate::render::{self, Column, Table, bytes, counted, escaped, one_line};

/// What is typed before something is replaced.
const RESTORE_WORD: &str = "restore";

#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    Create(CreateBackupArguments),
    /// List the backups, newest first
    List,
    /// Check that a backup can be restored; exits with status 1 if it cannot
    Verify {
        /// The id of the backup, or the path of its folder
        #[arg(value_name = "BACKUP")]
        backup: String,
    },
    Restore(RestoreArguments),
}

/// Create a verified backup of the database, or of one workspace with `--workspace`
#[derive(Debug, Args)]
#[command(defer(described_by::<BackupCreate>))]
pub struct CreateBackupArguments {
    /// [default: snapshot; jsonl with `--workspace`]
    #[arg(long, value_enum)]
    format: Option<BackupFormat>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum BackupFormat {
    Snapshot,
    Jsonl,
}

impl From<BackupFormat> for rootset_api::BackupFormat {
    fn from(format: BackupFormat) -> Self {
        match format {
            BackupFormat::Snapshot => Self::Snapshot,
            BackupFormat::Jsonl => Self::Jsonl,
        }
    }
}

/// Replace the database with a backup, or only one workspace with `--workspace`
#[derive(Debug, Args)]
#[command(defer(described_by::<BackupRestore>))]
pub struct RestoreArguments {
    /// The id of the backup, or the path of its folder
    #[arg(value_name = "BACKUP")]
    backup: String,
    #[arg(id = "into_workspace_id", long = "into", value_name = "ID")]
    into: Option<String>,
    #[arg(long)]
    without_ledger: bool,
}

pub fn run(command: BackupCommand, program: &Program) -> Result<(), Failure> {
    match command {
        BackupCommand::Create(arguments) => {
            let format = arguments.format.map(Into::into);
            let answer = program.run(BackupCreate { format, workspace_id: program.global.workspace.clone() })?;
            program.output.answer(&answer, created)
        }
        BackupCommand::List => {
            let answer = program.run(BackupList {})?;
            program.output.answer(&answer, listed)
        }
        BackupCommand::Verify { backup } => verify(backup, program),
        BackupCommand::Restore(arguments) => restore(&arguments, program),
    }
}

fn created(answer: &BackupCreated) -> String {
    format!(
        "backup {}: {}, {}, verified\n{}\n",
        answer.backup_id,
        counted(answer.rows, "row", "rows"),
        bytes(answer.bytes),
        escaped(&answer.path)
    )
}

fn listed(answer: &BackupsListed) -> String {
    let damaged = answer.damaged.iter().map(|it| {
        let (bad, path, problem) = (render::warning("BAD"), escaped(&it.path), escaped(&it.problem));
        format!("{bad} {path}: {problem}\n")
    });
    if answer.backups.is_empty() && answer.damaged.is_empty() {
        return "no backups; `rootset backup create` makes one\n".to_owned();
    }
    if answer.backups.is_empty() {
        return damaged.collect();
    }
    let mut table = Table::new([
        Column::fixed("ID"),
        Column::time("CREATED"),
        Column::fixed("FORMAT").spare(),
        Column::fixed("MEMORIES"),
        Column::fixed("SIZE"),
        Column::name("WORKSPACE").spare(),
        Column::fixed("REASON").spare(),
    ]);
    for backup in &answer.backups {
        table.row([
            backup.backup_id.clone(),
            backup.created_at.to_string(),
            backup.format.clone(),
            backup.memories.to_string(),
            bytes(backup.bytes),
            one_line(backup.workspace_id.as_deref().unwrap_or_default(), 64),
            backup.reason.as_str().to_owned(),
        ]);
    }
    table.finish() + &damaged.collect::<String>()
}

fn verify(backup: String, program: &Program) -> Result<(), Failure> {
    let answer = program.run(BackupVerify { backup_id: backup })?;
    program.output.answer(&answer, |answer| {
        let problems = answer.problems.iter();
        let lines: String = problems.map(|it| format!("{} {}\n", render::warning("BAD"), escaped(it))).collect();
        if answer.ok { format!("{}\n", render::good("ok")) } else { lines }
    })?;
    if answer.ok { Ok(()) } else { Err(Failure::Said(STATUS_CALLER)) }
}

fn restore(arguments: &RestoreArguments, program: &Program) -> Result<(), Failure> {
    let only = program.global.workspace.as_deref();
    let what = match arguments.into.as_deref().or(only) {
        Some(workspace) => format!("the workspace `{}`", one_line(workspace, 64)),
        None => "the current contents".to_owned(),
    };
    let action = format!("replace {what} with the backup {}", one_line(&arguments.backup, 200));
    prompt::confirm_word(program, &action, RESTORE_WORD)?;
    let answer = program.run(BackupRestore {
        backup_id: arguments.backup.clone(),
        workspace_id: only.map(str::to_owned),
        into_workspace_id: arguments.into.clone(),
        without_ledger: arguments.without_ledger.then_some(true),
        confirm: Some(true),
    })?;
    program.output.answer(&answer, restored)
}

fn restored(answer: &BackupRestored) -> String {
    let names = |ids: &[String]| ids.iter().map(|id| escaped(id)).collect::<Vec<_>>().join(", ");
    let memories = answer.restored.get("memories").copied().unwrap_or_default();
    let memories = counted(memories, "memory", "memories");
    let mut shown = format!("restored {memories} in {}\n", names(&answer.workspaces));
    if answer.replayed_erasures > 0 {
        let again = counted(answer.replayed_erasures, "item", "items");
        shown.push_str(&format!("erased again, because it was erased after the backup: {again}\n"));
    }
    if answer.trashed_again > 0 {
        let again = counted(answer.trashed_again, "item", "items");
        shown.push_str(&format!("moved to the trash, because it was removed after the backup: {again}\n"));
    }
    if !answer.workspaces_removed.is_empty() {
        let removed = names(&answer.workspaces_removed);
        shown.push_str(&format!("removed, because the backup does not contain them: {removed}\n"));
    }
    shown
}
