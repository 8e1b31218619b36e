//! What a server's refusals mean here, and which of them are worth another try.

use tokio_postgres::error::SqlState;

use crate::error::StoreError;
use rootset_model::limits::WRITE_WAIT_MS;

/// How a piece of work ended that did not end well.
#[derive(Debug)]
pub enum Failure {
    /// The same again will fail again.
    Final(StoreError),
    /// Nothing was changed, and another try may well succeed: a conflict with somebody else.
    Conflict(StoreError),
    /// The connection is gone. Nothing was changed, unless it went while the commit was on its way.
    Disconnected(StoreError),
}

/// The error of a statement. Serialisation failures and lost connections keep their nature on their way through the
/// store's logic.
pub fn statement_error(error: &tokio_postgres::Error) -> StoreError {
    let Some(database) = error.as_db_error() else {
        return if error.is_closed() || is_io(error) {
            StoreError::Disconnected(describe(error))
        } else {
            StoreError::Engine(describe(error))
        };
    };
    let code = database.code();
    // Only the server's own sentence: details and contexts quote values.
    let message = database.message().to_owned();
    match *code {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => StoreError::Conflicted(message),
        SqlState::LOCK_NOT_AVAILABLE => StoreError::Busy { waited_ms: WRITE_WAIT_MS },
        SqlState::QUERY_CANCELED => StoreError::TimedOut,
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            StoreError::Disconnected(message)
        }
        SqlState::INSUFFICIENT_PRIVILEGE => StoreError::PermissionDenied(message),
        SqlState::DISK_FULL => StoreError::DiskFull,
        SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnly,
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StoreError::Damaged(message),
        _ if code.code().starts_with("23") => StoreError::Constraint(message),
        _ if code.code().starts_with("08") => StoreError::Disconnected(message),
        _ => StoreError::Engine(format!("{message} ({})", code.code())),
    }
}

pub fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Conflicted(_) => Failure::Conflict(error),
        StoreError::Disconnected(_) => Failure::Disconnected(error),
        other => Failure::Final(other),
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// The client's sentence with its cause; it never holds a password or a parameter.
pub fn describe(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(database), _) => database.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
