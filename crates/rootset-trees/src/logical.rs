//! Everything that a code index says about its trees, without what two indexes of the same trees may differ in: ids,
//! numbers, times, uses, runs, versions and vectors.
//!
//! Only what is served is dumped: files that are neither in the trash nor stale. With a scope, only what a run of that
//! scope speaks about, because what earlier runs stored beyond it stays as it was.

use std::collections::BTreeMap;

use rootset_store::Location;
use rootset_store::driver::SearchIndex;
use rootset_testing::{Sql, SqlError, SqlRow};

use crate::dump::Dump;
use crate::scope::IndexScope;

/// A file of the index, with what the other tables need to be told by path.
struct File {
    repo: String,
    path: String,
    text: String,
}

impl File {
    fn place(&self) -> String {
        format!("{}:{}", self.repo, self.path)
    }
}

type Files = BTreeMap<Vec<u8>, File>;

/// Of all repositories of the workspace. A database without the workspace, or without code, has an empty dump.
pub fn logical_dump(database: &Location, workspace: &str, scope: &IndexScope) -> Result<Dump, SqlError> {
    let connection = open(database)?;
    let Some(workspace) = number_of(&connection, workspace)? else { return Ok(Dump::new()) };
    let mut dump = Dump::new();
    let files = files(&connection, workspace, scope, &mut dump)?;
    symbols(&connection, workspace, &files, &mut dump)?;
    chunks(&connection, workspace, &files, &mut dump)?;
    references(&connection, workspace, &files, &mut dump)?;
    graph(&connection, workspace, &files, &mut dump)?;
    dump.values_mut().for_each(|rows| rows.sort());
    Ok(dump)
}

/// Paths of the files that are served, by repository and path.
pub fn indexed_paths(database: &Location, workspace: &str) -> Result<Vec<String>, SqlError> {
    paths(database, workspace, "stale_at IS NULL")
}

/// Paths of the files that a completed run no longer found.
pub fn stale_paths(database: &Location, workspace: &str) -> Result<Vec<String>, SqlError> {
    paths(database, workspace, "stale_at IS NOT NULL")
}

fn paths(database: &Location, workspace: &str, condition: &str) -> Result<Vec<String>, SqlError> {
    let connection = open(database)?;
    let sql = format!(
        "SELECT m.repo || ':' || m.file_path FROM memories m JOIN workspaces w ON w.workspace = m.workspace
         WHERE w.workspace_id = ?1 AND m.source = 'code_indexer' AND m.trashed_run IS NULL AND m.{condition}
         ORDER BY 1"
    );
    connection.rows(&sql, &[workspace.into()], |row| row.get(0))
}

pub(crate) fn open(database: &Location) -> Result<Sql, SqlError> {
    let connection = Sql::open(database)?;
    connection.begin_snapshot()?;
    Ok(connection)
}

fn number_of(connection: &Sql, workspace: &str) -> Result<Option<i64>, SqlError> {
    let sql = "SELECT workspace FROM workspaces WHERE workspace_id = ?1";
    connection.row(sql, &[workspace.into()], |row| row.get(0))
}

fn files(connection: &Sql, workspace: i64, scope: &IndexScope, dump: &mut Dump) -> Result<Files, SqlError> {
    let sql = "SELECT f.memory, f.repo, f.path, f.language, f.is_test, f.size, f.lines, f.content_hash, m.file_path,
                      r.topic, r.context
               FROM files f
               JOIN memories m ON m.workspace = f.workspace AND m.memory = f.memory
               JOIN revisions r ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision
               WHERE f.workspace = ?1 AND m.trashed_run IS NULL AND m.stale_at IS NULL";
    let mut files = Files::new();
    let mut lines = Vec::new();
    for row in &connection.rows(sql, &[workspace.into()], |row| Ok(row.clone()))? {
        let (language, is_test, bytes): (String, bool, i64) = (row.get(3)?, row.get(4)?, row.get(5)?);
        if !scope.holds(&language, is_test, bytes) {
            continue;
        }
        let file = File { repo: row.get(1)?, path: row.get(2)?, text: row.get(10)? };
        let (count, hash): (i64, Vec<u8>) = (row.get(6)?, row.get(7)?);
        let (memory_path, topic): (String, String) = (row.get(8)?, row.get(9)?);
        lines.push(format!(
            "{} ({memory_path}, {topic}) {language} test={is_test} {bytes} bytes, {count} lines, {} {:?}",
            file.place(),
            hexadecimal(&hash),
            file.text
        ));
        files.insert(row.get(0)?, file);
    }
    dump.insert("files".into(), lines);
    Ok(files)
}

fn symbols(connection: &Sql, workspace: i64, files: &Files, dump: &mut Dump) -> Result<(), SqlError> {
    let sql =
        "SELECT memory, ordinal, name, qualified_name, kind, parent, first_line, last_line, start, length, signature
               FROM symbols WHERE workspace = ?1";
    gather(connection, sql, workspace, files, dump, "symbols", |row, file| {
        let (ordinal, name, qualified_name): (i64, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let (kind, parent, first, last): (String, Option<i64>, i64, i64) =
            (row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?);
        let (start, length, signature): (i64, i64, String) = (row.get(8)?, row.get(9)?, row.get(10)?);
        Ok(format!(
            "{} {qualified_name} {ordinal} {name} {kind} in {parent:?}, lines {first}-{last}, {start}+{length}, {signature:?}",
            file.place()
        ))
    })
}

fn chunks(connection: &Sql, workspace: i64, files: &Files, dump: &mut Dump) -> Result<(), SqlError> {
    let terms = search_rows(connection, workspace)?;
    let sql = "SELECT memory, chunk, ordinal, part, start, length, symbol FROM chunks WHERE workspace = ?1";
    gather(connection, sql, workspace, files, dump, "chunks", |row, file| {
        let (chunk, ordinal, part): (i64, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let (start, length, symbol): (u32, u32, Option<i64>) = (row.get(4)?, row.get(5)?, row.get(6)?);
        let text = file.text.get(start as usize..(start + length) as usize);
        let terms = terms.get(&chunk);
        Ok(format!(
            "{} {ordinal} of symbol {symbol:?}, part {part}, {start}+{length}, {text:?}, {terms:?}",
            file.place()
        ))
    })
}

/// Head and body terms by chunk.
fn search_rows(connection: &Sql, workspace: i64) -> Result<BTreeMap<i64, (String, String)>, SqlError> {
    let rows = connection.search_rows(workspace, SearchIndex::Code)?;
    Ok(rows.into_iter().map(|row| (row.key, (row.head, row.body))).collect())
}

fn references(connection: &Sql, workspace: i64, files: &Files, dump: &mut Dump) -> Result<(), SqlError> {
    let sql = "SELECT memory, packed FROM code_references WHERE workspace = ?1";
    gather(connection, sql, workspace, files, dump, "references", |row, file| {
        Ok(format!("{} {}", file.place(), printable(&row.get::<Vec<u8>>(1)?)))
    })
}

fn graph(connection: &Sql, workspace: i64, files: &Files, dump: &mut Dump) -> Result<(), SqlError> {
    let entities = "SELECT c.memory, e.name, e.type, c.text, c.weight FROM contributions c
                    JOIN entities e ON e.workspace = c.workspace AND e.entity = c.object
                    WHERE c.workspace = ?1 AND c.kind = 0";
    gather(connection, entities, workspace, files, dump, "entities", |row, file| {
        let (name, kind, text): (String, String, Option<String>) = (row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(format!("{} says {name} is a {kind}, {text:?}, {}", file.place(), row.get::<f64>(4)?))
    })?;
    let relations = "SELECT c.memory, s.name, s.type, r.verb, t.name, t.type, c.text FROM contributions c
                     JOIN relations r ON r.workspace = c.workspace AND r.relation = c.object
                     JOIN entities s ON s.workspace = r.workspace AND s.entity = r.source
                     JOIN entities t ON t.workspace = r.workspace AND t.entity = r.target
                     WHERE c.workspace = ?1 AND c.kind = 1";
    gather(connection, relations, workspace, files, dump, "relations", |row, file| {
        let (source, source_kind, verb): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let (target, target_kind, text): (String, String, Option<String>) = (row.get(4)?, row.get(5)?, row.get(6)?);
        Ok(format!("{} says {source} ({source_kind}) {verb} {target} ({target_kind}), {text:?}", file.place()))
    })
}

/// One line for every row whose first column is one of the files.
fn gather(
    connection: &Sql,
    sql: &str,
    workspace: i64,
    files: &Files,
    dump: &mut Dump,
    table: &str,
    line: impl Fn(&SqlRow, &File) -> Result<String, SqlError>,
) -> Result<(), SqlError> {
    let mut lines = Vec::new();
    for row in &connection.rows(sql, &[workspace.into()], |row| Ok(row.clone()))? {
        if let Some(file) = files.get(&row.get::<Vec<u8>>(0)?) {
            lines.push(line(row, file)?);
        }
    }
    dump.insert(table.into(), lines);
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Names stay readable in packed rows, and nothing is lost.
fn printable(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| byte.escape_ascii().to_string()).collect()
}
