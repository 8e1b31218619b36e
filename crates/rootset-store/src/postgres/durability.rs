//! Settings of a server that decide whether an acknowledged write survives a crash. The one that a session can set is set
//! for every transaction that writes, because poolers hand sessions on; the others can only be reported.

use crate::driver::DurabilitySetting;
use crate::error::StoreError;

/// Columns of a query, read by [`settings`].
pub const COLUMNS: &str =
    "current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')";

/// Values of `synchronous_commit` that acknowledge what a crash, or a failover to a synchronous standby, can lose. All
/// others are the operator's choice and stay as they are.
const WEAK: [&str; 2] = ["off", "local"];

/// Said in a transaction that writes: its commit is on the disk before it is answered, and on synchronous standbys.
pub const WAIT_FOR_THE_DISK: &str = "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// Reads [`COLUMNS`], the first of which is that column of the row.
pub fn settings(row: &tokio_postgres::Row, first: usize) -> Result<Vec<DurabilitySetting>, StoreError> {
    let text = |index: usize| {
        row.try_get::<_, String>(first + index).map_err(|_| StoreError::UnreadableValue("a setting of the server"))
    };
    let risky = |value: &str, risk| (value == "off").then_some(risk);
    let (fsync, full_page_writes, mut synchronous_commit) = (text(0)?, text(1)?, text(2)?);
    if WEAK.contains(&synchronous_commit.as_str()) {
        synchronous_commit = format!("on (`{synchronous_commit}` on the server; Rootset sets it for its own writes)");
    }
    Ok(vec![
        DurabilitySetting {
            name: "fsync",
            risk: risky(&fsync, "a power cut can lose acknowledged writes and damage the database"),
            value: fsync,
        },
        DurabilitySetting {
            name: "full_page_writes",
            risk: risky(
                &full_page_writes,
                "a power cut can damage the database, unless its storage never tears a page",
            ),
            value: full_page_writes,
        },
        DurabilitySetting { name: "synchronous_commit", value: synchronous_commit, risk: None },
    ])
}
