//! A small database with everything in it, at rest and with a full log, and its backups.

use std::path::{Path, PathBuf};

use rootset_model::Timestamp;
use rootset_store::{DAMAGED_TAG, Location, StoreError, salvage};
use serde_json::{Value, json};

use super::answers::Answers;
use super::{Looked, Outcome};
use crate::error::StressError;
use crate::step::{call, call_all};

pub const PAGE_BYTES: usize = 4096;
const NOTES: usize = 12;

/// The files before anything rots, and a folder to try things in.
#[derive(Debug)]
pub struct World {
    pub database: PathBuf,
    /// The log of the same database as a process leaves it that is killed, and what lies under it.
    pub log: PathBuf,
    pub under_log: PathBuf,
    pub backups: PathBuf,
    pub room: PathBuf,
    right: Answers,
    right_with_log: Answers,
    memories: Vec<Memory>,
}

/// A memory that salvaging has to bring back.
#[derive(Debug)]
struct Memory {
    id: [u8; 16],
    shown_id: String,
    text: String,
}

impl World {
    pub fn make(folder: &Path) -> Result<Self, StressError> {
        let (source, room, backups) = (folder.join("source"), folder.join("room"), folder.join("whole.db.backups"));
        for new in [&source, &room] {
            std::fs::create_dir(new)?;
        }
        let database = folder.join("whole.db");
        let location = Location::File(database.clone());
        fill(&location, &source)?;
        for format in ["snapshot", "jsonl"] {
            call(&location, "backup_create", json!({"format": format}))?;
        }
        let (under_log, log) = (folder.join("under.db"), folder.join("under.db-wal"));
        leave_log(&database, &under_log, &log)?;
        let right = Answers::of(&copied(&room, &database, None)?)?;
        let right_with_log = Answers::of(&copied(&room, &under_log, Some(&log))?)?;
        let memories = memories(&location)?;
        Ok(Self { database, log, under_log, backups, room, right, right_with_log, memories })
    }

    pub(super) fn look_at_database(&self, bytes: &[u8]) -> Result<Looked, StressError> {
        let path = cleared(&self.room)?;
        std::fs::write(&path, bytes)?;
        self.right.look(&path)
    }

    pub(super) fn look_at_log(&self, bytes: &[u8]) -> Result<Looked, StressError> {
        let path = copied(&self.room, &self.under_log, None)?;
        std::fs::write(beside(&path, "-wal"), bytes)?;
        self.right_with_log.look(&path)
    }

    /// Salvages a copy with one page overwritten: whatever is not on that page comes back as it was.
    pub(super) fn salvage_without(&self, page: usize) -> Result<Outcome, StressError> {
        let path = cleared(&self.room)?;
        let mut bytes = std::fs::read(&self.database)?;
        let lost = &mut bytes[page * PAGE_BYTES..(page + 1) * PAGE_BYTES];
        let held = lost.to_vec();
        lost.fill(0xAB);
        std::fs::write(&path, bytes)?;
        let salvaged = match salvage(&path, &self.room.join("salvaged"), "20270115-080000-salvage", Timestamp(0)) {
            Ok(salvaged) => salvaged,
            Err(error) => return Ok(Outcome::Failed(format!("nothing was salvaged: {error}"))),
        };
        let lines = |table: &str| json_lines(&salvaged.backup.path.join(format!("{table}.jsonl")));
        let (found, revisions) = (lines("memories")?, lines("revisions")?);
        for memory in self.memories.iter().filter(|memory| !memory.is_on(&held)) {
            let is_it = |row: &&Value| row["memory"] == memory.shown_id.as_str();
            let Some(row) = found.iter().find(is_it) else {
                return Ok(Outcome::Failed(format!("memory {} is lost", memory.shown_id)));
            };
            let is_right = |text: &Value| text["context"] == memory.text.as_str();
            let is_marked = row["tags"].to_string().contains(DAMAGED_TAG);
            if is_marked || !revisions.iter().filter(is_it).any(is_right) {
                return Ok(Outcome::Failed(format!("memory {} is not what it was", memory.shown_id)));
            }
        }
        Ok(Outcome::Reported)
    }
}

impl Memory {
    /// Whether a page holds its row, or any part of its text.
    fn is_on(&self, page: &[u8]) -> bool {
        let holds = |bytes: &[u8]| page.windows(bytes.len()).any(|window| window == bytes);
        holds(&self.id) || self.text.as_bytes().chunks(16).any(holds)
    }
}

fn fill(database: &Location, source: &Path) -> Result<(), StressError> {
    std::fs::write(
        source.join("settings.py"),
        "import json\n\n\ndef parse_settings(text):\n    return json.loads(text)\n\n\ndef load():\n    return parse_settings('{}')\n",
    )?;
    let note = |number: usize| {
        let text = format!("Note {number}: Alice owns the Falcon service and deploys it with tool{number}.");
        // Some texts are longer than a page.
        let text = if number % 4 == 3 { format!("{text} {}", format!("part {number} ").repeat(700)) } else { text };
        let metadata = json!({"ticket": format!("OPS-{number}"), "count": number});
        json!({"name": format!("note-{number}"), "context": text, "tags": ["all", "notes"], "metadata": metadata})
    };
    let notes: Vec<Value> = (0..NOTES).map(note).collect();
    let segment = |number: usize| {
        let text = format!("Segment {number}: the owl sits on branch{number}.");
        json!({"segment_id": format!("s{number}"), "type": "message", "role": "user", "text": text,
               "raw": {"role": "user", "content": text}, "tags": ["owls"]})
    };
    let segments: Vec<Value> = (0..6).map(segment).collect();
    call_all(
        database,
        vec![
            ("add_memories", json!({"memories": notes})),
            (
                "update_memory",
                json!({"memory_id": "note-1", "context": "Note 1 was changed: Bob owns the Falcon now."}),
            ),
            ("update_memory", json!({"memory_id": "note-2", "pinned": true, "pin_reason": "it matters"})),
            ("delete_memory", json!({"memory_id": "note-4"})),
            ("context_add", json!({"session_id": "morning", "segments": segments})),
            ("context_gc_prune", json!({"session_id": "morning", "segment_ids": ["s2"], "strategy": "stash"})),
            ("index_codebase", json!({"path": source, "repo": "settings"})),
        ],
    )?;
    Ok(())
}

/// Copies a database and its log while somebody has both open: nothing moves from one to the other.
fn leave_log(whole: &Path, database: &Path, log: &Path) -> Result<(), StressError> {
    let work = beside(whole, ".work");
    std::fs::copy(whole, &work)?;
    let open = rusqlite::Connection::open(&work)?;
    open.query_row("SELECT COUNT(*) FROM memories", [], |_| Ok(()))?;
    let location = Location::File(work.clone());
    for number in 0..4 {
        let text = format!("Note {number} of the log: Carol owns the Heron service.");
        call(&location, "add_memory", json!({"name": format!("logged-{number}"), "context": text}))?;
    }
    std::fs::copy(&work, database)?;
    std::fs::copy(beside(&work, "-wal"), log)?;
    Ok(())
}

/// Those whose text can be compared: notes that live, and those in the trash.
fn memories(database: &Location) -> Result<Vec<Memory>, StressError> {
    let sql = rootset_testing::Sql::open(database)?;
    let select = "SELECT m.memory, r.context FROM memories m JOIN revisions r ON r.memory = m.memory \
                  AND r.revision = m.revision WHERE m.repo IS NULL";
    Ok(sql.rows(select, &[], |row| {
        let id: Vec<u8> = row.get(0)?;
        let id: [u8; 16] = id.try_into().expect("ids have sixteen bytes");
        Ok(Memory { id, shown_id: rootset_model::MemoryId(id).to_string(), text: row.get(1)? })
    })?)
}

/// The room without anything in it, and the place of a database there.
pub fn cleared(room: &Path) -> Result<PathBuf, StressError> {
    std::fs::remove_dir_all(room)?;
    std::fs::create_dir(room)?;
    Ok(room.join("rotten.db"))
}

fn copied(room: &Path, database: &Path, log: Option<&Path>) -> Result<PathBuf, StressError> {
    let path = cleared(room)?;
    std::fs::copy(database, &path)?;
    if let Some(log) = log {
        std::fs::copy(log, beside(&path, "-wal"))?;
    }
    Ok(path)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

fn json_lines(path: &Path) -> Result<Vec<Value>, StressError> {
    let text = std::fs::read_to_string(path)?;
    let unreadable = |_| StoreError::UnreadableValue("a line of a bundle").into();
    text.lines().map(|line| serde_json::from_str(line).map_err(unreadable)).collect()
}
