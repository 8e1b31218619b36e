//! What a writer says on its standard output, one JSON line each, flushed.
//!
//! `Begin` goes out before an operation is called and `Done` after it returned, so a dead writer's last `Begin` without
//! its `Done` is the one operation that may have happened or not. Lines stay below `PIPE_BUF`, so that a kill never
//! leaves half of one in the pipe.

use std::io::Write;

use serde::{Deserialize, Serialize};

/// Writes of up to this many bytes into a pipe are all or nothing (POSIX promises 512, Linux 4,096).
const LINE_BYTES_MAX: usize = 4_096;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The process runs and waits for a line on its standard input before it opens the database.
    Started,
    /// The database is open; it waits for another line before it works.
    Ready,
    Begin {
        operation: Change,
    },
    Done {
        operation: Change,
        outcome: Outcome,
    },
    Failed {
        code: String,
        message: String,
    },
    /// It was told to stop, or had nothing left to do, and ended in good order.
    Stopped,
}

/// A change of one memory, which is known by its name: a name is there before the id is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    Add { name: String, text: String },
    Update { name: String, text: String },
    Delete { name: String },
    Undo { name: String },
    Purge { name: String },
}

impl Change {
    pub fn name(&self) -> &str {
        match self {
            Self::Add { name, .. }
            | Self::Update { name, .. }
            | Self::Delete { name }
            | Self::Undo { name }
            | Self::Purge { name } => name,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Add { .. } => "add",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
            Self::Undo { .. } => "undo",
            Self::Purge { .. } => "purge",
        }
    }
}

/// What the operation answered, as far as the parent checks it. Empty when it was acknowledged without being called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub memory_id: Option<String>,
    pub version: Option<i64>,
    pub is_pending: bool,
    /// How long the operation took.
    pub micros: u64,
}

/// Writes one line in one piece.
pub fn say(line: &Line) -> std::io::Result<()> {
    let mut json = serde_json::to_vec(line)?;
    json.push(b'\n');
    assert!(json.len() <= LINE_BYTES_MAX, "a line of {} bytes could be cut by a kill", json.len());
    let mut out = std::io::stdout().lock();
    out.write_all(&json)?;
    out.flush()
}
