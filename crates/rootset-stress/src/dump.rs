//! What a database says, without what differs between two runs of the same operations: new ids, new times, hashes of
//! them, and the order in which equal things were numbered by a repeated attempt.
//!
//! Everything that was there before (known by [`Since`]) is dumped as it is.

use std::collections::HashSet;
use std::path::Path;

use rootset_trees::difference::Dump;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::error::StressError;

/// Columns that follow from new ids and times.
const LEFT_OUT: &[(&str, &str)] =
    &[("audit", "hash"), ("audit", "seq"), ("jobs", "fence"), ("jobs", "lease_until"), ("jobs", "cursor")];
/// Shadow tables of a full-text index that hold its form, not its content.
const FULL_TEXT_FORM: [&str; 4] = ["_data", "_idx", "_docsize", "_config"];

/// The moment before the operation: what is new after it.
#[derive(Clone, Debug)]
pub struct Since {
    ids: HashSet<Vec<u8>>,
    /// Milliseconds.
    time: i64,
}

impl Since {
    /// Takes in every id of the database; `time` is later than every time in it.
    pub fn of(database: &Path, time: i64) -> Result<Self, StressError> {
        let mut ids = HashSet::new();
        each_value(database, &mut |_, _, value| {
            if let ValueRef::Blob(bytes) = value
                && bytes.len() == 16
            {
                ids.insert(bytes.to_vec());
            }
        })?;
        Ok(Self { ids, time })
    }

    pub fn dump(&self, database: &Path) -> Result<Dump, StressError> {
        let connection = open(database)?;
        let mut dump = Dump::new();
        for table in tables(&connection)? {
            let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
            let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let mut rows = statement.query([])?;
            let mut lines = Vec::new();
            while let Some(row) = rows.next()? {
                let mut line = String::new();
                for (index, column) in columns.iter().enumerate() {
                    if !LEFT_OUT.contains(&(table.as_str(), column.as_str())) {
                        line.push_str(&format!("{column}={} ", self.shown(column, row.get_ref(index)?)));
                    }
                }
                lines.push(line);
            }
            lines.sort();
            dump.insert(table, lines);
        }
        Ok(dump)
    }

    fn shown(&self, column: &str, value: ValueRef<'_>) -> String {
        match value {
            ValueRef::Null => "-".into(),
            ValueRef::Integer(number) if number >= self.time => "later".into(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(text) if column == "receipt" => comparable(&String::from_utf8_lossy(text)),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            ValueRef::Blob(bytes) if bytes.len() == 16 && !self.ids.contains(bytes) => "new".into(),
            ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

fn open(database: &Path) -> Result<Connection, StressError> {
    let connection = Connection::open(database)?;
    connection.busy_timeout(std::time::Duration::from_secs(60))?;
    Ok(connection)
}

fn tables(connection: &Connection) -> Result<Vec<String>, StressError> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name NOT LIKE 'sqlite%'",
    )?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(names.into_iter().filter(|name| !FULL_TEXT_FORM.iter().any(|form| name.ends_with(form))).collect())
}

fn each_value(database: &Path, each: &mut dyn FnMut(&str, &str, ValueRef<'_>)) -> Result<(), StressError> {
    let connection = open(database)?;
    for table in tables(&connection)? {
        let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for (index, column) in columns.iter().enumerate() {
                each(&table, column, row.get_ref(index)?);
            }
        }
    }
    Ok(())
}

/// The id of an erasure is drawn anew by every attempt, and samples of what was erased are lost with the process that
/// erased it: then nobody can tell that none of it remains. The rest of a receipt is the same.
fn comparable(receipt: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(receipt) {
        Ok(mut json) => {
            json["erasure"] = serde_json::Value::Null;
            json["text_remains"] = (json["text_remains"] == true).into();
            json.to_string()
        }
        Err(_) => receipt.to_owned(),
    }
}
