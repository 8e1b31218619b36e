//! Dumps of databases: their form, every row as it is, and in what two of them differ.

use std::collections::{BTreeMap, BTreeSet};

use rootset_store::Location;
use rootset_testing::SqlError;

use crate::logical::open;

/// Sorted rows per table.
pub type Dump = BTreeMap<String, Vec<String>>;

/// Every row of every table as it is, to tell what an operation wrote. Tables of full-text indexes are there in the form
/// in which they are stored.
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

/// What is shown of one row: enough to know which it is.
const ROW_CHARS_SHOWN: usize = 600;

/// The first differences of two dumps, in words.
pub fn differences(wanted: &Dump, found: &Dump) -> Vec<String> {
    const SHOWN: usize = 6;
    let mut differences = Vec::new();
    let tables: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let none = Vec::new();
    for table in tables {
        let (wanted, found) = (wanted.get(table).unwrap_or(&none), found.get(table).unwrap_or(&none));
        differences.extend(only(table, wanted, found, "lacks"));
        differences.extend(only(table, found, wanted, "has"));
    }
    let more = differences.len().saturating_sub(SHOWN);
    differences.truncate(SHOWN);
    if more > 0 {
        differences.push(format!("and {more} more"));
    }
    differences
}

/// Rows of the first list that the second does not have, or has less often.
fn only(table: &str, these: &[String], those: &[String], word: &str) -> Vec<String> {
    let mut rest: BTreeMap<&str, usize> = BTreeMap::new();
    for row in those {
        *rest.entry(row).or_default() += 1;
    }
    let mut missing = Vec::new();
    for row in these {
        match rest.get_mut(row.as_str()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing.push(format!("{table} {word}: {}", row.chars().take(ROW_CHARS_SHOWN).collect::<String>())),
        }
    }
    missing
}
