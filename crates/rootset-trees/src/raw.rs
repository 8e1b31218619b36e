//! Every row of every table as it is, to tell what an operation wrote.

use std::path::Path;

use rusqlite::types::ValueRef;

use crate::difference::Dump;
use crate::logical::open;

/// Tables of full-text indexes are there in the form in which they are stored.
pub fn raw_dump(database: &Path) -> rusqlite::Result<Dump> {
    let connection = open(database)?;
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE%'";
    let tables: Vec<String> =
        connection.prepare(tables)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut dump = Dump::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM \"{table}\""))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([])?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let values =
                columns.iter().enumerate().map(|(at, column)| Ok(format!("{column}={}", shown(row.get_ref(at)?))));
            lines.push(values.collect::<rusqlite::Result<Vec<_>>>()?.join(" "));
        }
        lines.sort();
        dump.insert(table, lines);
    }
    Ok(dump)
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "-".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
