//! From a damaged database into a bundle: the roots that can still be read. Everything derived is left out, because it
//! can be rebuilt: salvaged memories are pending, and completing them rebuilds chunks, full text, vectors and graph.

mod column;
mod rewriting;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootset_model::Timestamp;
use rootset_model::content::DocHash;

use super::bundle::{TableFile, Written};
use super::folder::{Backup, Partial};
use super::manifest::{BackupKind, BackupReason, FORMAT, Manifest};
use super::rows::{self, Cell};
use super::tables::{self, Table, WORKSPACES, by_name};
use super::verified;
use crate::SCHEMA_VERSION;
use crate::error::StoreError;
use crate::seals::Sealed;
use crate::sqlite::salvage::{Key, Wreck};
use rewriting::{doc_hash, is_plausible, salvaged_rows};

/// What came out of a damaged database.
#[derive(Clone, Debug)]
pub struct Salvaged {
    pub backup: Backup,
    /// Stretches of tables that could not be read.
    pub damages: i64,
    /// Memories and segments that were found without their text, or texts without them.
    pub incomplete: i64,
    /// Memories and segments that were saved although they are no longer what was written; the tag [`DAMAGED_TAG`] marks
    /// them.
    pub altered: i64,
}

/// What marks a memory or a segment whose seal is broken, or that of its text.
pub const DAMAGED_TAG: &str = "damaged";

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

/// Sessions or segments, each with its workspace.
type Numbered = HashSet<(i64, i64)>;

/// What is known of all tables before any row is written.
#[derive(Default)]
struct Known {
    /// Current revisions of the memories whose row and text can both be read.
    memories: HashMap<(i64, [u8; 16]), i64>,
    runs: HashSet<(i64, [u8; 16])>,
    sessions: Numbered,
    /// Segments whose session, row and text can all be read.
    segments: Numbered,
    /// Memories and segments of which something is no longer what was written.
    altered_memories: HashSet<(i64, [u8; 16])>,
    altered_segments: Numbered,
}

/// Reads what can be read of the database into a new bundle in `folder`. The database is not changed.
pub fn salvage(database: &Path, folder: &Path, id: &str, now: Timestamp) -> Result<Salvaged, StoreError> {
    let wreck = Wreck::open(database)?;
    let damages = i64::from(!wreck.has_schema());
    let mut reading = Reading { wreck, names: BTreeMap::new(), damages, incomplete: 0, altered: 0 };
    let workspaces = reading.workspaces()?;
    if workspaces.is_empty() && !reading.wreck.has_schema() {
        return Err(StoreError::Damaged("nothing in it can be read".to_owned()));
    }
    let partial = Partial::begin(folder, id)?;
    let written = reading.write(&partial, &workspaces)?;
    let manifest = Manifest {
        format: FORMAT,
        kind: BackupKind::Jsonl,
        reason: BackupReason::Salvage,
        backup_id: id.to_owned(),
        created_at: now,
        schema_version: SCHEMA_VERSION,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace_id: None,
        ledger_key: STANDARD.encode(reading.ledger_key()?),
        has_ledger: false,
        tables: written.tables,
        files: written.files,
        checksum: None,
    };
    let (backup, _) = verified(Backup { path: partial.path.clone(), manifest, warnings: Vec::new() })?;
    let backup = partial.publish(backup.manifest)?;
    let Reading { damages, incomplete, altered, .. } = reading;
    Ok(Salvaged { backup, damages, incomplete, altered })
}

struct Reading {
    wreck: Wreck,
    /// Names of the workspaces, by number.
    names: BTreeMap<i64, String>,
    damages: i64,
    incomplete: i64,
    altered: i64,
}

impl Reading {
    /// Rows of a table with the number of their workspace, most of them twice; those that are no rows are passed over.
    fn rows(&mut self, table: &Table, each: &mut dyn FnMut(i64, Vec<Cell>)) -> Result<(), StoreError> {
        let key = WALKED.iter().find(|(name, _)| *name == table.name).map_or(Key::None, |(_, key)| *key);
        let columns: Vec<&str> =
            std::iter::once("workspace").chain(table.columns.iter().map(|column| column.name)).collect();
        self.damages += self.wreck.rows(table.name, &columns, key, &mut |row| {
            if let (Ok(workspace), Ok(cells)) = (row.get::<i64>(0), rows::try_read(table, row, 1))
                && is_plausible(table, &cells)
            {
                each(workspace, cells);
            }
        })?;
        Ok(())
    }

    /// Workspaces as they were; those whose rows are lost get a name that tells their number.
    fn workspaces(&mut self) -> Result<Vec<Vec<Cell>>, StoreError> {
        let mut found: BTreeMap<i64, Vec<Cell>> = BTreeMap::new();
        self.rows(&WORKSPACES, &mut |number, cells| drop(found.insert(number, cells)))?;
        let mut numbers: HashSet<i64> = HashSet::new();
        for roots in ["memories", "sessions"] {
            self.rows(table(roots), &mut |number, _| numbers.extend([number]))?;
        }
        for number in numbers {
            found.entry(number).or_insert_with(|| nameless(number));
        }
        self.names = found.iter().map(|(number, cells)| (*number, name_of(cells))).collect();
        Ok(found.into_values().collect())
    }

    fn write(&mut self, partial: &Partial, workspaces: &[Vec<Cell>]) -> Result<Written, StoreError> {
        let mut written = Written::default();
        let mut file = TableFile::create(partial, &WORKSPACES)?;
        for cells in workspaces {
            file.line(None, cells)?;
        }
        file.finish(&mut written)?;
        let mut known = Known::default();
        self.whole_memories(&mut known)?;
        self.whole_segments(&mut known)?;
        self.rows(table("runs"), &mut |number, cells| known.runs.extend(cells[0].id().map(|run| (number, run))))?;
        self.altered = (known.altered_memories.len() + known.altered_segments.len()) as i64;
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
                })?;
            }
            outcome?;
            file.finish(&mut written)?;
        }
        Ok(written)
    }

    /// Memories whose row and current text can both be read; the others are counted. Indexed files are none of them: the
    /// next scan reads those from where they came, whole.
    fn whole_memories(&mut self, known: &mut Known) -> Result<(), StoreError> {
        // With the hash of those that were written before there were seals.
        let mut texts: HashMap<(i64, [u8; 16], i64), Option<DocHash>> = HashMap::new();
        let sealed = sealed("revisions");
        self.rows(table("revisions"), &mut |number, cells| {
            if let (Some(memory), Some(revision)) = (cells[column::MEMORY].id(), cells[1].integer()) {
                let hash = (!sealed.is_sealed(&cells)).then(|| doc_hash(&cells)).flatten();
                texts.insert((number, memory, revision), hash);
                if !sealed.holds(&cells) {
                    known.altered_memories.insert((number, memory));
                }
            }
        })?;
        let mut files: HashSet<(i64, [u8; 16])> = HashSet::new();
        let mut without_text: HashSet<(i64, [u8; 16])> = HashSet::new();
        let sealed = self::sealed("memories");
        self.rows(table("memories"), &mut |number, cells| {
            let revision = cells[column::REVISION].integer();
            let is_file = cells[column::REPO] != Cell::Null && cells[column::NAME] == Cell::Null;
            if let (Some(memory), Some(revision)) = (cells[column::MEMORY].id(), revision) {
                if is_file {
                    files.insert((number, memory));
                } else if texts.contains_key(&(number, memory, revision)) {
                    known.memories.insert((number, memory), revision);
                } else {
                    without_text.insert((number, memory));
                }
                let hashed = cells[column::PENDING_REVISION].integer().unwrap_or(revision);
                let is_of_text = match (texts.get(&(number, memory, hashed)), &cells[column::DOC_HASH]) {
                    (Some(Some(hash)), Cell::Blob(noted)) => hash[..] == noted[..],
                    _ => true,
                };
                if !is_of_text || !sealed.holds(&cells) {
                    known.altered_memories.insert((number, memory));
                }
            }
        })?;
        known.altered_memories.retain(|memory| known.memories.contains_key(memory));
        let owners: HashSet<(i64, [u8; 16])> = texts.keys().map(|(number, memory, _)| (*number, *memory)).collect();
        let is_lost = |owner: &&(i64, [u8; 16])| !known.memories.contains_key(*owner) && !files.contains(*owner);
        self.incomplete += owners.iter().filter(is_lost).count().max(without_text.len()) as i64;
        Ok(())
    }

    /// Sessions, and the segments of them whose text can be read; those that lack one of the three are counted.
    fn whole_segments(&mut self, known: &mut Known) -> Result<(), StoreError> {
        self.rows(table("sessions"), &mut |number, cells| {
            known.sessions.extend(cells[column::SESSION].integer().map(|session| (number, session)));
        })?;
        let mut texts: Numbered = HashSet::new();
        let mut altered: Numbered = HashSet::new();
        let sealed = sealed("segment_texts");
        self.rows(table("segment_texts"), &mut |number, cells| {
            let segment = cells[column::SEGMENT_OF_TEXT].integer().map(|segment| (number, segment));
            texts.extend(segment);
            altered.extend(segment.filter(|_| !sealed.holds(&cells)));
        })?;
        let mut broken: Numbered = HashSet::new();
        let sealed = self::sealed("segments");
        self.rows(table("segments"), &mut |number, cells| {
            let (session, segment) = (cells[column::SESSION].integer(), cells[column::SEGMENT].integer());
            if let (Some(session), Some(segment)) = (session, segment) {
                if known.sessions.contains(&(number, session)) && texts.contains(&(number, segment)) {
                    known.segments.insert((number, segment));
                } else {
                    broken.insert((number, segment));
                }
                if !sealed.holds(&cells) {
                    altered.insert((number, segment));
                }
            }
        })?;
        known.altered_segments = altered.intersection(&known.segments).copied().collect();
        self.incomplete += texts.difference(&known.segments).count().max(broken.len()) as i64;
        Ok(())
    }

    /// Without the key the ledger's hashes mean nothing, but its ids still do.
    fn ledger_key(&self) -> Result<Vec<u8>, StoreError> {
        let mut key = Vec::new();
        self.wreck.rows("meta", &["key", "value"], Key::None, &mut |row| {
            if row.get::<String>(0).is_ok_and(|name| name == "erasure_key") {
                key = row.get(1).unwrap_or_default();
            }
        })?;
        Ok(key)
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

fn sealed(name: &str) -> Sealed {
    Sealed::of(table(name)).expect("a table with seals")
}

fn table(name: &str) -> &'static Table {
    by_name(name).expect("a table of this program")
}
