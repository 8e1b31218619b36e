//! The floor: one row of a note's size in one durable transaction of SQLite, with the settings Rootset writes with.

use std::path::Path;

use rusqlite::Connection;

use crate::latency::Taken;

pub struct RawFile {
    connection: Connection,
}

impl RawFile {
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT NOT NULL);",
        )?;
        Ok(Self { connection })
    }

    pub fn insert(&self, text: &str) -> anyhow::Result<Taken> {
        let mut statement = self.connection.prepare_cached("INSERT INTO notes (text) VALUES (?1)")?;
        let mut begin = self.connection.prepare_cached("BEGIN IMMEDIATE")?;
        let mut commit = self.connection.prepare_cached("COMMIT")?;
        let (done, taken) = Taken::measure(|| {
            begin.execute([])?;
            statement.execute([text])?;
            commit.execute([])
        });
        done?;
        Ok(taken)
    }
}
