//! What a backup is made of: every table with its columns, in the order in which rows can be inserted.
//!
//! One list feeds the writer, the reader, the check of archives and the restore. What is not in it is not restored: audit,
//! plans, jobs and tokens belong to the database, counters and sums are computed again from the rows.

use rootset_model::limits::COUNT_MAX;
use rootset_model::{Channel, Trust};

use crate::driver::{SearchIndex, Statement};
use crate::kinds::KINDS;
use crate::seals::Sealed;

/// A table of an archive, one file of a bundle.
#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    pub columns: &'static [Column],
    pub rows: Rows,
}

/// Where the rows of a table are kept.
#[derive(Debug)]
pub(crate) enum Rows {
    /// The workspaces themselves: their numbers are drawn, not restored.
    Workspaces,
    Stored {
        read: &'static Statement,
        insert: &'static Statement,
        delete: Option<&'static Statement>,
    },
    /// Full text, which every engine keeps in its own way.
    Search(SearchIndex),
}

#[derive(Debug)]
pub(crate) struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub is_optional: bool,
}

/// What a column holds, and so how it is written and what is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Sixteen bytes, written like a UUID.
    Id,
    /// Bytes, written in base64.
    Bytes,
    /// A time or another number of any sign.
    Integer,
    /// A number from zero to this.
    Count(i64),
    Real,
    Text,
    /// Text that the program has to understand later.
    Checked(fn(&str) -> bool),
    /// Bytes that the program has to understand later, written in base64.
    CheckedBytes(fn(&[u8]) -> bool),
}

pub(crate) const COUNT: Kind = Kind::Count(COUNT_MAX);
const FLAG: Kind = Kind::Count(1);
const CHANNEL: Kind = Kind::Checked(|text| Channel::from_word(text).is_some());
const TRUST: Kind = Kind::Checked(|text| Trust::from_word(text).is_some());
const NUMBER_OF_32_BITS: Kind = Kind::Count(u32::MAX as i64);

pub(crate) const fn needed(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_optional: false }
}

pub(crate) const fn optional(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_optional: true }
}

macro_rules! stored {
    ($name:literal, $read:ident, $insert:ident, $delete:expr, [$($column:expr,)*]) => {
        Table {
            name: $name,
            columns: &[$($column,)*],
            rows: Rows::Stored { read: &sql::$read, insert: &sql::$insert, delete: $delete },
        }
    };
}

mod chunks;
mod context;
mod graph;
mod memories;
mod workspace;

pub(crate) use chunks::CHUNK_TABLES;
pub(crate) use context::CONTEXT_TABLES;
pub(crate) use graph::GRAPH_TABLES;
pub(crate) use memories::MEMORY_TABLES;
pub(crate) use workspace::WORKSPACES;
use workspace::{LAST_TABLES, RUN_TABLES};

/// All tables but the workspaces, each after those it refers to.
pub(crate) fn in_workspace() -> impl DoubleEndedIterator<Item = &'static Table> {
    let of_kinds = KINDS.iter().flat_map(|kind| kind.tables());
    RUN_TABLES.iter().chain(of_kinds).chain(LAST_TABLES)
}

/// Workspaces first, then everything in them.
pub(crate) fn all() -> impl Iterator<Item = &'static Table> {
    std::iter::once(&WORKSPACES).chain(in_workspace())
}

pub(crate) fn by_name(name: &str) -> Option<&'static Table> {
    all().find(|table| table.name == name)
}

/// Tables whose rows are sealed.
pub(crate) fn sealed() -> impl Iterator<Item = (&'static Table, Sealed)> {
    in_workspace().filter_map(|table| Some((table, Sealed::of(table)?)))
}

fn is_json<T: serde::de::DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns that are no part of a backup, with the reason.
    const LEFT_OUT: [(&str, &str); 12] = [
        ("workspaces.next_number", "counters only ever grow"),
        ("workspaces.next_chunk", "counters only ever grow"),
        ("workspaces.next_session", "counters only ever grow"),
        ("workspaces.next_segment", "counters only ever grow"),
        ("workspaces.memory_count", "counted anew"),
        ("workspaces.content_bytes", "counted anew"),
        ("workspaces.look_at", "a restored workspace is looked at anew"),
        ("workspaces.looked_at_write", "a restored workspace is looked at anew"),
        ("vectors.number", "drawn anew"),
        ("memories.ingested_observed_ms", "observed by the database that it is restored into"),
        ("runs.observed_ms", "observed by the database that it is restored into"),
        ("*.workspace", "named, not numbered"),
    ];
    /// What belongs to the database and not to what it remembers; tokens, because a restore must not revive a revoked one.
    const TABLES_LEFT_OUT: [&str; 12] = [
        "audit",
        "counters",
        "jobs",
        "kept_counters",
        "meta",
        "observed_time",
        "outgoing",
        "plan_items",
        "plans",
        "run_skips",
        "sources",
        "tokens",
    ];

    #[test]
    fn every_column_of_the_schema_is_in_a_backup_or_left_out_for_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        crate::Store::open_sqlite(&path).unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        let mut names = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
            .unwrap();
        let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for name in names.iter().filter(|name| !TABLES_LEFT_OUT.contains(&name.as_str())) {
            let table = by_name(name).unwrap_or_else(|| panic!("`{name}` is in no backup"));
            let mut columns = connection.prepare(&format!("SELECT name FROM pragma_table_info('{name}')")).unwrap();
            let columns: Vec<String> = columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            let is_left_out = |column: &str| {
                let known = [format!("{name}.{column}"), format!("*.{column}")];
                let is_named = LEFT_OUT.iter().any(|(left_out, _)| known.iter().any(|it| it == left_out));
                is_named && format!("{name}.{column}") != "workspaces.workspace"
            };
            let wanted: Vec<&str> = columns.iter().map(String::as_str).filter(|it| !is_left_out(it)).collect();
            let mut held: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            let mut sorted = wanted.clone();
            sorted.sort_unstable();
            held.sort_unstable();
            assert_eq!(held, sorted, "{name}");
        }
    }
}
