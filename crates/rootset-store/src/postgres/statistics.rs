//! What the planner knows of tables that have just been filled: see `0006_3_create_statistics.sql`.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::connection::Connection;
use super::transaction::APPLICATION_ROLE;

/// So many changed rows are a load, between one and two thousand memories. Smaller tables are read quickly in any way.
const LOAD_ROWS: usize = 20_000;

/// The rows that a process has changed since it last asked whether there are tables to be analysed.
#[derive(Debug, Default)]
pub struct ChangedRows(AtomicUsize);

impl ChangedRows {
    /// After a transaction. It is over, so nothing that goes wrong here is the caller's concern: the server does the same
    /// by itself, only later.
    pub fn add(&self, changed_rows: usize, connection: &mut Connection) {
        let before = self.0.fetch_add(changed_rows, Ordering::Relaxed);
        if before + changed_rows < LOAD_ROWS {
            return;
        }
        self.0.store(0, Ordering::Relaxed);
        let analyse = format!("BEGIN; SET LOCAL ROLE {APPLICATION_ROLE}; SELECT analyse_new_tables(); COMMIT");
        if connection.command(&analyse).is_err() && connection.command("ROLLBACK").is_err() {
            connection.close();
        }
    }
}
