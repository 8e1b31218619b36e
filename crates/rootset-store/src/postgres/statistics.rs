//! What the planner knows of tables that have just been filled: see `0006_create_statistics.sql`.

use super::connection::Connection;
use super::transaction::APPLICATION_ROLE;

/// So many rows make a table worth knowing; fewer are read as quickly without.
const MANY_ROWS: usize = 500;

/// After a transaction that changed many rows. It is over, so nothing that goes wrong here is the caller's concern: the
/// server does the same by itself, only later.
pub fn renew_after(connection: &mut Connection, changed_rows: usize) {
    if changed_rows < MANY_ROWS {
        return;
    }
    let renew = format!("BEGIN; SET LOCAL ROLE {APPLICATION_ROLE}; SELECT analyse_new_tables(); COMMIT");
    if connection.command(&renew).is_err() && connection.command("ROLLBACK").is_err() {
        connection.close();
    }
}
