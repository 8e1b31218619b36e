//! What a database says, without what differs between two runs of the same operations: new ids, new times, hashes of
//! them, and the order in which equal things were numbered by a repeated attempt.
//!
//! Everything that was there before (known by [`Since`]) is dumped as it is.

use std::collections::HashSet;

use rootset_store::Location;
use rootset_testing::{Cell, Sql};
use rootset_trees::dump::Dump;

use crate::error::StressError;

/// Columns that follow from new ids and times.
const LEFT_OUT: &[(&str, &str)] = &[
    ("audit", "hash"),
    ("audit", "seq"),
    ("jobs", "fence"),
    ("jobs", "lease_until"),
    ("jobs", "cursor"),
    ("memories", "ingested_observed_ms"),
    ("observed_time", "last_wall_ms"),
    ("observed_time", "observed_ms"),
    ("runs", "observed_ms"),
];
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
    pub fn of(database: &Location, time: i64) -> Result<Self, StressError> {
        let sql = Sql::open(database)?;
        let mut ids = HashSet::new();
        for table in tables(&sql)? {
            for row in sql.rows(&format!("SELECT * FROM \"{table}\""), &[], |row| Ok(row.clone()))? {
                let blobs = row.columns().filter_map(|(_, cell)| match cell {
                    Cell::Blob(bytes) if bytes.len() == 16 => Some(bytes.clone()),
                    _ => None,
                });
                ids.extend(blobs);
            }
        }
        Ok(Self { ids, time })
    }

    /// Nothing was there before.
    pub fn nothing(time: i64) -> Self {
        Self { ids: HashSet::new(), time }
    }

    pub fn dump(&self, database: &Location) -> Result<Dump, StressError> {
        let sql = Sql::open(database)?;
        let mut dump = Dump::new();
        for table in tables(&sql)? {
            let mut lines = sql.rows(&format!("SELECT * FROM \"{table}\""), &[], |row| {
                let columns = row.columns().filter(|(column, _)| !LEFT_OUT.contains(&(table.as_str(), column)));
                Ok(columns.map(|(column, cell)| format!("{column}={} ", self.shown(column, cell))).collect::<String>())
            })?;
            lines.sort();
            dump.insert(table, lines);
        }
        Ok(dump)
    }

    fn shown(&self, column: &str, cell: &Cell) -> String {
        match cell {
            Cell::Integer(number) if *number >= self.time => "later".into(),
            Cell::Text(text) if column == "receipt" => comparable(text),
            Cell::Blob(bytes) if bytes.len() == 16 && !self.ids.contains(bytes) => "new".into(),
            other => other.to_string(),
        }
    }
}

fn tables(sql: &Sql) -> Result<Vec<String>, StressError> {
    let is_form = |name: &String| FULL_TEXT_FORM.iter().any(|form| name.ends_with(form));
    Ok(sql.tables()?.into_iter().filter(|name| !name.starts_with("sqlite") && !is_form(name)).collect())
}

/// Every attempt draws a new id for the erasure, and samples of what was erased are lost with the process that
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
