//! From a damaged database into a bundle: the roots that can still be read. Everything derived is left out, because it
//! can be rebuilt: salvaged memories are pending, and completing them rebuilds chunks, full text, vectors and graph.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootset_model::Timestamp;

use super::bundle::{TableFile, Written};
use super::folder::{Backup, Partial};
use super::manifest::{BackupKind, BackupReason, FORMAT, Manifest};
use super::rows::{self, Cell};
use super::tables::{self, Table, WORKSPACES, by_name};
use super::verified;
use crate::SCHEMA_VERSION;
use crate::error::StoreError;
use crate::sqlite::salvage::{Key, Wreck};

/// What came out of a damaged database.
#[derive(Clone, Debug)]
pub struct Salvaged {
    pub backup: Backup,
    /// Stretches of tables that could not be read.
    pub damages: i64,
    /// Memories and segments that were found without their text, or texts without them.
    pub incomplete: i64,
}

/// Tables of roots, with the key to walk them by. What is small or can be made from others has none.
const WALKED: [(&str, Key); 12] = [
    ("workspaces", Key::Integer("rowid")),
    ("runs", Key::Id("run")),
    ("memories", Key::Id("memory")),
    ("revisions", Key::Integer("rowid")),
    ("uses", Key::Id("memory")),
    ("sessions", Key::Integer("session")),
    ("segments", Key::Integer("segment")),
    ("segment_texts", Key::Integer("rowid")),
    ("ledger", Key::None),
    ("retention", Key::None),
    ("erasures", Key::Id("erasure")),
    ("erased_contents", Key::None),
];

/// The names and places of the columns that salvaging looks at.
mod column {
    pub const MEMORY: usize = 0;
    pub const NAME: usize = 2;
    pub const REPO: usize = 4;
    pub const STATUS: usize = 7;
    pub const REVISION: usize = 11;
    pub const PENDING_REVISION: usize = 12;
    pub const TAGS: usize = 16;
    pub const MEMORY_TRASHED: [usize; 2] = [26, 27];
    pub const REVISION_TRASHED: [usize; 2] = [11, 12];
    /// Of sessions, and of segments and lines of the ledger.
    pub const SESSION: usize = 0;
    pub const SESSION_TRASHED: [usize; 2] = [11, 12];
    pub const SEGMENT: usize = 1;
    pub const SEGMENT_TRASHED: [usize; 2] = [34, 35];
    pub const SEGMENT_OF_TEXT: usize = 0;
}

/// Sessions or segments, each with its workspace.
type Numbered = HashSet<(i64, i64)>;

/// What is known of all tables before any row is written.
struct Known {
    /// Current revisions of the memories whose row and text can both be read.
    memories: HashMap<(i64, [u8; 16]), i64>,
    runs: HashSet<(i64, [u8; 16])>,
    sessions: Numbered,
    /// Segments whose session, row and text can all be read.
    segments: Numbered,
}

/// Reads what can be read of the database into a new bundle in `folder`. The database is not changed.
pub fn salvage(database: &Path, folder: &Path, id: &str, now: Timestamp) -> Result<Salvaged, StoreError> {
    let wreck = Wreck::open(database)?;
    let mut reading = Reading { wreck, names: BTreeMap::new(), damages: 0 };
    let workspaces = reading.workspaces();
    let partial = Partial::begin(folder, id)?;
    let (written, incomplete) = reading.write(&partial, &workspaces)?;
    let manifest = Manifest {
        format: FORMAT,
        kind: BackupKind::Jsonl,
        reason: BackupReason::Salvage,
        backup_id: id.to_owned(),
        created_at: now,
        schema_version: SCHEMA_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace_id: None,
        ledger_key: STANDARD.encode(reading.ledger_key()),
        has_ledger: false,
        tables: written.tables,
        files: written.files,
        checksum: None,
    };
    let (backup, _) = verified(Backup { path: partial.path.clone(), manifest })?;
    Ok(Salvaged { backup: partial.publish(backup.manifest)?, damages: reading.damages, incomplete })
}

struct Reading {
    wreck: Wreck,
    /// Names of the workspaces, by number.
    names: BTreeMap<i64, String>,
    damages: i64,
}

impl Reading {
    /// Rows of a table with the number of their workspace; those that are no rows are passed over.
    fn rows(&mut self, table: &Table, each: &mut dyn FnMut(i64, Vec<Cell>)) {
        let key = WALKED.iter().find(|(name, _)| *name == table.name).map_or(Key::None, |(_, key)| *key);
        let columns: Vec<&str> =
            std::iter::once("workspace").chain(table.columns.iter().map(|column| column.name)).collect();
        self.damages += self.wreck.walk(table.name, &columns, key, &mut |row| {
            if let (Ok(workspace), Ok(cells)) = (row.get::<i64>(0), rows::read(table, row, 1)) {
                each(workspace, cells);
            }
        });
    }

    /// Workspaces as they were; those whose rows are lost get a name that tells their number.
    fn workspaces(&mut self) -> Vec<Vec<Cell>> {
        let mut found: BTreeMap<i64, Vec<Cell>> = BTreeMap::new();
        self.rows(&WORKSPACES, &mut |number, cells| drop(found.insert(number, cells)));
        let mut numbers: HashSet<i64> = HashSet::new();
        for roots in ["memories", "sessions"] {
            self.rows(table(roots), &mut |number, _| numbers.extend([number]));
        }
        for number in numbers {
            found.entry(number).or_insert_with(|| nameless(number));
        }
        self.names = found.iter().map(|(number, cells)| (*number, name_of(cells))).collect();
        found.into_values().collect()
    }

    fn write(&mut self, partial: &Partial, workspaces: &[Vec<Cell>]) -> Result<(Written, i64), StoreError> {
        let mut written = Written::default();
        let mut file = TableFile::create(partial, &WORKSPACES)?;
        for cells in workspaces {
            file.line(None, cells)?;
        }
        file.finish(&mut written)?;
        let (memories, incomplete_memories) = self.whole_memories();
        let (sessions, segments, incomplete_segments) = self.whole_segments();
        let incomplete = incomplete_memories + incomplete_segments;
        let mut runs = HashSet::new();
        self.rows(table("runs"), &mut |number, cells| runs.extend(cells[0].id().map(|run| (number, run))));
        let known = Known { memories, runs, sessions, segments };
        for table in tables::in_workspace() {
            let mut file = TableFile::create(partial, table)?;
            let mut outcome = Ok(());
            let mut seen: HashSet<(i64, Vec<u8>)> = HashSet::new();
            let names = self.names.clone();
            let source = if table.name == "memory_tags" { self::table("memories") } else { table };
            if WALKED.iter().any(|(name, _)| *name == source.name) {
                self.rows(source, &mut |number, cells| {
                    let Some(name) = names.get(&number) else { return };
                    // A damaged tree may lead to the same row twice.
                    if !seen.insert((number, identity(&cells))) {
                        return;
                    }
                    for cells in salvaged_rows(table, number, cells, &known) {
                        if outcome.is_ok() {
                            outcome = file.line(Some(name), &cells);
                        }
                    }
                });
            }
            outcome?;
            file.finish(&mut written)?;
        }
        Ok((written, incomplete))
    }

    /// Memories whose row and current text can both be read; how many lack one of the two. Indexed files are none of
    /// them: the next scan reads those from where they came, whole.
    fn whole_memories(&mut self) -> (HashMap<(i64, [u8; 16]), i64>, i64) {
        let mut texts: HashSet<(i64, [u8; 16], i64)> = HashSet::new();
        self.rows(table("revisions"), &mut |number, cells| {
            if let (Some(memory), Some(revision)) = (cells[column::MEMORY].id(), cells[1].integer()) {
                texts.insert((number, memory, revision));
            }
        });
        let mut whole = HashMap::new();
        let mut files: HashSet<(i64, [u8; 16])> = HashSet::new();
        let mut without_text = 0;
        self.rows(table("memories"), &mut |number, cells| {
            let revision = cells[column::REVISION].integer();
            let is_file = cells[column::REPO] != Cell::Null && cells[column::NAME] == Cell::Null;
            if let (Some(memory), Some(revision)) = (cells[column::MEMORY].id(), revision) {
                if is_file {
                    files.insert((number, memory));
                    return;
                }
                if texts.contains(&(number, memory, revision)) {
                    whole.insert((number, memory), revision);
                } else {
                    without_text += 1;
                }
            }
        });
        let owners: HashSet<(i64, [u8; 16])> = texts.iter().map(|(number, memory, _)| (*number, *memory)).collect();
        let is_lost = |owner: &&(i64, [u8; 16])| !whole.contains_key(*owner) && !files.contains(*owner);
        let without_memory = owners.iter().filter(is_lost).count() as i64;
        (whole, without_text.max(without_memory))
    }

    /// Sessions, the segments of them whose text can be read, and how many lack one of the three.
    fn whole_segments(&mut self) -> (Numbered, Numbered, i64) {
        let mut sessions: Numbered = HashSet::new();
        self.rows(table("sessions"), &mut |number, cells| {
            sessions.extend(cells[column::SESSION].integer().map(|session| (number, session)));
        });
        let mut texts: Numbered = HashSet::new();
        self.rows(table("segment_texts"), &mut |number, cells| {
            texts.extend(cells[column::SEGMENT_OF_TEXT].integer().map(|segment| (number, segment)));
        });
        let (mut whole, mut broken) = (HashSet::new(), 0);
        self.rows(table("segments"), &mut |number, cells| {
            let (session, segment) = (cells[column::SESSION].integer(), cells[column::SEGMENT].integer());
            if let (Some(session), Some(segment)) = (session, segment) {
                if sessions.contains(&(number, session)) && texts.contains(&(number, segment)) {
                    whole.insert((number, segment));
                } else {
                    broken += 1;
                }
            }
        });
        let without_row = texts.difference(&whole).count() as i64;
        (sessions, whole, without_row.max(broken))
    }

    /// Without the key the ledger's hashes mean nothing, but its ids still do.
    fn ledger_key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        self.wreck.walk("meta", &["key", "value"], Key::None, &mut |row| {
            if row.get::<String>(0).is_ok_and(|name| name == "erasure_key") {
                key = row.get(1).unwrap_or_default();
            }
        });
        key
    }
}

/// What a row of a session becomes: nothing when the rest of it is lost.
fn salvaged_context(table: &Table, number: i64, mut cells: Vec<Cell>, known: &Known) -> Vec<Vec<Cell>> {
    let is_known = |place: usize, of: &Numbered| cells[place].integer().is_some_and(|it| of.contains(&(number, it)));
    let is_whole = match table.name {
        "segments" => is_known(column::SEGMENT, &known.segments),
        "segment_texts" => is_known(column::SEGMENT_OF_TEXT, &known.segments),
        _ => is_known(column::SESSION, &known.sessions),
    };
    match table.name {
        "sessions" => untrash(&mut cells, number, column::SESSION_TRASHED, known),
        "segments" => untrash(&mut cells, number, column::SEGMENT_TRASHED, known),
        _ => {}
    }
    is_whole.then_some(cells).into_iter().collect()
}

/// What a row becomes in the bundle: nothing when its memory is lost, a row per tag for tags, itself otherwise.
fn salvaged_rows(table: &Table, number: i64, mut cells: Vec<Cell>, known: &Known) -> Vec<Vec<Cell>> {
    if matches!(table.name, "sessions" | "segments" | "segment_texts" | "ledger") {
        return salvaged_context(table, number, cells, known);
    }
    let is_of_memory = matches!(table.name, "memories" | "revisions" | "uses" | "memory_tags");
    let whole = cells[column::MEMORY].id().and_then(|memory| known.memories.get(&(number, memory)));
    match (table.name, whole) {
        ("memories", Some(revision)) => {
            untrash(&mut cells, number, column::MEMORY_TRASHED, known);
            // Nobody completes what is in the trash; a repair derives it anew.
            let is_living = cells[column::MEMORY_TRASHED[0]] == Cell::Null;
            let (status, pending) =
                if is_living { ("pending", Cell::Integer(*revision)) } else { ("complete", Cell::Null) };
            cells[column::STATUS] = Cell::Text(status.into());
            cells[column::PENDING_REVISION] = pending;
            vec![cells]
        }
        ("revisions", Some(_)) => {
            untrash(&mut cells, number, column::REVISION_TRASHED, known);
            vec![cells]
        }
        ("memory_tags", Some(_)) => {
            let tags = cells[column::TAGS].text().and_then(|text| serde_json::from_str::<Vec<String>>(text).ok());
            let row = |tag| vec![Cell::Text(tag), cells[column::MEMORY].clone()];
            tags.unwrap_or_default().into_iter().map(row).collect()
        }
        (_, None) if is_of_memory => Vec::new(),
        _ => vec![cells],
    }
}

/// Who cannot say which run put something into the trash keeps it.
fn untrash(cells: &mut [Cell], number: i64, [run, at]: [usize; 2], known: &Known) {
    let is_known = cells[run].id().is_some_and(|run| known.runs.contains(&(number, run)));
    if !is_known {
        (cells[run], cells[at]) = (Cell::Null, Cell::Null);
    }
}

/// What tells a row from the others of its table and workspace.
fn identity(cells: &[Cell]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for cell in cells.iter().take(2) {
        match cell {
            Cell::Blob(id) => bytes.extend(id),
            Cell::Text(text) => bytes.extend(text.as_bytes()),
            Cell::Integer(number) => bytes.extend(number.to_le_bytes()),
            Cell::Null | Cell::Real(_) => bytes.push(0),
        }
        bytes.push(0xFF);
    }
    bytes
}

fn nameless(number: i64) -> Vec<Cell> {
    let mut cells = vec![Cell::Null; WORKSPACES.columns.len()];
    cells[0] = Cell::Text(format!("salvaged-{number}"));
    (cells[5], cells[6]) = (Cell::Integer(0), Cell::Integer(0));
    if let Some(last) = cells.last_mut() {
        *last = Cell::Integer(number);
    }
    cells
}

fn name_of(cells: &[Cell]) -> String {
    cells.first().and_then(Cell::text).unwrap_or_default().to_owned()
}

fn table(name: &str) -> &'static Table {
    by_name(name).expect("a table of this program")
}
