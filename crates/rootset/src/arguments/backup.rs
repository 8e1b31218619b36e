//! Arguments of the commands that keep the database safe.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    Create(CreateBackupArguments),
    /// List the backups, newest first
    List,
    /// Check that a backup can be restored; ends with status 1 when it cannot
    Verify {
        /// Id, or the path of a backup's folder
        #[arg(value_name = "BACKUP")]
        backup: String,
    },
    Restore(RestoreArguments),
}

/// Make a verified backup of the database, or of one workspace with `--workspace`
#[derive(Debug, Args)]
pub struct CreateBackupArguments {
    /// A copy of the file, or JSON lines for any later version [default: snapshot; jsonl with `--workspace`]
    #[arg(long, value_enum)]
    pub format: Option<BackupFormat>,
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

/// Put a backup in the place of what is there; only one workspace with `--workspace`
#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// Id, or the path of a backup's folder
    #[arg(value_name = "BACKUP")]
    pub backup: String,
    /// Restore the workspace under this name instead of its own
    #[arg(long, value_name = "ID")]
    pub into: Option<String>,
}
