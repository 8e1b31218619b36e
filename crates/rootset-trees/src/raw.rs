//! Every row of every table as it is, to tell what an operation wrote.

use rootset_store::Location;
use rootset_testing::SqlError;

use crate::difference::Dump;
use crate::logical::open;

/// Tables of full-text indexes are there in the form in which they are stored.
pub fn raw_dump(database: &Location) -> Result<Dump, SqlError> {
    let connection = open(database)?;
    let mut dump = Dump::new();
    for table in connection.tables()? {
        let mut lines = connection.rows(&format!("SELECT * FROM \"{table}\""), &[], |row| {
            let values: Vec<String> = row.columns().map(|(column, cell)| format!("{column}={cell}")).collect();
            Ok(values.join(" "))
        })?;
        lines.sort();
        dump.insert(table, lines);
    }
    Ok(dump)
}
