//! Bundles: one file of JSON lines per table. Rows stream through, so that memory does not grow with the database.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rootset_model::WorkspaceKey;
use rootset_model::limits::{CODE_FILE_BYTES_LIMIT, SEGMENT_RAW_BYTES_MAX, SEGMENT_TEXT_BYTES_MAX};

use super::folder::{Partial, trouble};
use super::manifest::ManifestFile;
use super::rows::{self, Cell};
use super::tables::{self, Rows, Table, WORKSPACES};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::backup as sql;

/// The longest line of most tables, and room to spare.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// Of tables with whole texts: a file of the greatest size with every character escaped, and room to spare.
const TEXT_LINE_BYTES_MAX: u64 = 6 * CODE_FILE_BYTES_LIMIT + LINE_BYTES_MAX;
const _: () = assert!(TEXT_LINE_BYTES_MAX as usize > 6 * (SEGMENT_TEXT_BYTES_MAX + SEGMENT_RAW_BYTES_MAX));
const TEXT_TABLES: [&str; 3] = ["revisions", "code_references", "segment_texts"];
/// Full-text rows read at a time.
const SEARCH_ROWS_READ: usize = 500;

/// What is done with a row of an archive and the name of its workspace.
pub(crate) type EachRow<'a> = &'a mut dyn FnMut(&str, Vec<Cell>) -> Result<(), StoreError>;

/// A workspace as a backup holds it, in the order of the columns of its table.
#[derive(Clone, Debug)]
pub(crate) struct ArchivedWorkspace {
    pub id: String,
    pub number: WorkspaceKey,
    pub cells: Vec<Cell>,
}

impl ArchivedWorkspace {
    pub fn new(cells: Vec<Cell>) -> Self {
        let id = cells.first().and_then(Cell::text).unwrap_or_default().to_owned();
        let number = WorkspaceKey(cells.last().and_then(Cell::integer).unwrap_or_default());
        Self { id, number, cells }
    }
}

pub(crate) fn workspaces(tx: &mut dyn Transaction) -> Result<Vec<ArchivedWorkspace>, StoreError> {
    tx.rows(&sql::READ_WORKSPACES, &[], |row| Ok(ArchivedWorkspace::new(rows::read(&WORKSPACES, row, 0)?)))
}

/// Every row of a table that belongs to a workspace, in the order of its key, for whoever looks for damage: a row that is
/// not as the table promises is the name of the first such column.
pub(crate) fn each_readable_row(
    tx: &mut dyn Transaction,
    table: &Table,
    workspace: WorkspaceKey,
    each: &mut dyn FnMut(Result<Vec<Cell>, &'static str>),
) -> Result<(), StoreError> {
    match &table.rows {
        Rows::Stored { read, .. } => tx.query(read, &[workspace.into()], &mut |row| {
            each(rows::try_read(table, row, 0));
            Ok(())
        }),
        Rows::Workspaces | Rows::Search(_) => each_row(tx, table, workspace, &mut |cells| {
            each(Ok(cells));
            Ok(())
        }),
    }
}

/// Every row of a table that belongs to a workspace, in the order of its key.
pub(crate) fn each_row(
    tx: &mut dyn Transaction,
    table: &Table,
    workspace: WorkspaceKey,
    each: &mut dyn FnMut(Vec<Cell>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match &table.rows {
        Rows::Workspaces => Ok(()),
        Rows::Stored { read, .. } => tx.query(read, &[workspace.into()], &mut |row| each(rows::read(table, row, 0)?)),
        Rows::Search(index) => {
            let keys = tx.search_keys(workspace, *index)?;
            for some in keys.chunks(SEARCH_ROWS_READ) {
                let mut found = tx.search_rows(workspace, *index, some)?;
                found.sort_by_key(|row| row.key);
                for row in found {
                    each(vec![Cell::Integer(row.key), Cell::Text(row.head), Cell::Text(row.body)])?;
                }
            }
            Ok(())
        }
    }
}

pub(crate) fn file_name(table: &Table) -> String {
    format!("{}.jsonl", table.name)
}

/// The table that a file of a bundle holds.
pub(crate) fn table_of(file: &str) -> Option<&'static Table> {
    tables::by_name(file.strip_suffix(".jsonl")?)
}

/// What was written: rows per table, and the files.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub tables: BTreeMap<String, i64>,
    pub files: Vec<ManifestFile>,
}

/// Writes every row of the workspaces, from one snapshot.
pub(crate) fn write(
    partial: &Partial,
    tx: &mut dyn Transaction,
    workspaces: &[ArchivedWorkspace],
) -> Result<Written, StoreError> {
    let mut written = Written::default();
    for table in tables::all() {
        let mut file = TableFile::create(partial, table)?;
        for workspace in workspaces {
            if matches!(table.rows, Rows::Workspaces) {
                file.line(None, &workspace.cells)?;
            }
            tx.enter(workspace.number.into())?;
            each_row(tx, table, workspace.number, &mut |cells| file.line(Some(&workspace.id), &cells))?;
        }
        file.finish(&mut written)?;
        crate::failpoints::failpoint!("backup.table");
    }
    Ok(written)
}

/// A file of a bundle in the making: counted and hashed as it is written.
#[derive(Debug)]
pub(crate) struct TableFile {
    table: &'static Table,
    path: PathBuf,
    out: BufWriter<File>,
    hasher: blake3::Hasher,
    bytes: u64,
    rows: i64,
    line: Vec<u8>,
}

impl TableFile {
    pub fn create(partial: &Partial, table: &'static Table) -> Result<Self, StoreError> {
        let name = file_name(table);
        let out = BufWriter::new(partial.create(&name)?);
        let path = partial.path.join(name);
        Ok(Self { table, path, out, hasher: blake3::Hasher::new(), bytes: 0, rows: 0, line: Vec::new() })
    }

    pub fn line(&mut self, workspace: Option<&str>, cells: &[Cell]) -> Result<(), StoreError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, &rows::to_json(self.table, workspace, cells))
            .map_err(|error| trouble(&self.path, &error.into()))?;
        self.line.push(b'\n');
        self.hasher.update(&self.line);
        self.bytes += self.line.len() as u64;
        self.rows += 1;
        self.out.write_all(&self.line).map_err(|error| trouble(&self.path, &error))
    }

    pub fn finish(mut self, written: &mut Written) -> Result<(), StoreError> {
        let flushed = self.out.flush().and_then(|()| self.out.get_ref().sync_all());
        flushed.map_err(|error| trouble(&self.path, &error))?;
        written.tables.insert(self.table.name.to_owned(), self.rows);
        written.files.push(ManifestFile {
            name: file_name(self.table),
            bytes: self.bytes,
            blake3: self.hasher.finalize().to_hex().to_string(),
        });
        Ok(())
    }
}

/// Reads a file of a bundle, at most `rows_max` rows and no line longer than a row can be. What is wrong is said in words.
pub(crate) fn read(
    folder: &Path,
    table: &Table,
    rows_max: i64,
    each: EachRow<'_>,
) -> Result<Result<i64, String>, StoreError> {
    let name = file_name(table);
    let path = folder.join(&name);
    if !std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file()) {
        return Ok(Err(format!("`{name}` is not an ordinary file")));
    }
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) => return Ok(Err(format!("`{name}` cannot be opened: {error}"))),
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut count = 0;
    let bytes_max = if TEXT_TABLES.contains(&table.name) { TEXT_LINE_BYTES_MAX } else { LINE_BYTES_MAX };
    loop {
        line.clear();
        let read = std::io::Read::take(&mut reader, bytes_max).read_until(b'\n', &mut line);
        match read {
            Ok(0) => return Ok(Ok(count)),
            Ok(_) if line.last() != Some(&b'\n') => {
                return Ok(Err(format!("`{name}` line {}: cut off, or longer than {bytes_max} bytes", count + 1)));
            }
            Ok(_) => {}
            Err(error) => return Ok(Err(format!("`{name}` cannot be read: {error}"))),
        }
        count += 1;
        if count > rows_max {
            return Ok(Err(format!("`{name}` has more than the {rows_max} rows of the manifest")));
        }
        let has_workspace = !matches!(table.rows, Rows::Workspaces);
        match rows::from_json(table, &line[..line.len() - 1], has_workspace) {
            Ok((workspace, cells)) => each(&workspace, cells)?,
            Err(problem) => return Ok(Err(format!("`{name}` line {count}: {problem}"))),
        }
    }
}
