//! What becomes of a row that was found: kept, mended, marked as damaged, or passed over.

use rootset_model::Content;
use rootset_model::content::DocHash;

use super::super::rows::Cell;
use super::super::tables::Table;
use super::{DAMAGED_TAG, Known, Numbered, column, sealed, table};

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
        "segments" => {
            if cells[column::SEGMENT].integer().is_some_and(|it| known.altered_segments.contains(&(number, it))) {
                mark(table, &mut cells, column::SEGMENT_TAGS);
            }
            untrash(&mut cells, number, column::SEGMENT_TRASHED, known);
        }
        "segment_texts" => renew_broken(table, &mut cells),
        _ => {}
    }
    is_whole.then_some(cells).into_iter().collect()
}

/// What a row becomes in the bundle: nothing when its memory is lost, a row per tag for tags, itself otherwise.
pub fn salvaged_rows(table: &Table, number: i64, mut cells: Vec<Cell>, known: &Known) -> Vec<Vec<Cell>> {
    if matches!(table.name, "sessions" | "segments" | "segment_texts" | "ledger") {
        return salvaged_context(table, number, cells, known);
    }
    let is_of_memory = matches!(table.name, "memories" | "revisions" | "uses" | "memory_tags" | "memory_names");
    let memory = cells[column::MEMORY].id().filter(|_| is_of_memory);
    let whole = memory.and_then(|memory| known.memories.get(&(number, memory)));
    if source_has_tags(table) && memory.is_some_and(|memory| known.altered_memories.contains(&(number, memory))) {
        mark(self::table("memories"), &mut cells, column::TAGS);
    }
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
            renew_broken(table, &mut cells);
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

pub fn doc_hash(revision: &[Cell]) -> Option<DocHash> {
    let text = |place: usize| revision[place].text();
    let list = |place: usize| serde_json::from_str(text(place)?).ok();
    let (topic, context) = (text(2)?.to_owned(), text(3)?.to_owned());
    Some(Content { topic, context, decisions: list(4)?, rationale: list(5)? }.doc_hash())
}

/// Rows of memories, which tags are made from as well.
fn source_has_tags(table: &Table) -> bool {
    matches!(table.name, "memories" | "memory_tags")
}

/// Adds the tag that says what happened, and seals the row as it is now.
fn mark(table: &Table, cells: &mut [Cell], tags: usize) {
    let stored = cells[tags].text().and_then(|text| serde_json::from_str::<Vec<String>>(text).ok());
    let mut list = stored.unwrap_or_default();
    if !list.iter().any(|tag| tag == DAMAGED_TAG) {
        list.push(DAMAGED_TAG.to_owned());
    }
    cells[tags] = Cell::Text(serde_json::to_string(&list).expect("strings always serialise"));
    sealed(table.name).renew(cells);
}

/// A text that is no longer what was written is marked at its memory or segment; what is saved is sealed as it is.
fn renew_broken(table: &Table, cells: &mut [Cell]) {
    let sealed = sealed(table.name);
    if !sealed.holds(cells) {
        sealed.renew(cells);
    }
}

/// Entries of some indexes look like rows of other tables. Times are those of this century, and hashes have their length.
pub fn is_plausible(table: &Table, cells: &[Cell]) -> bool {
    const HASH_BYTES: usize = 32;
    const FIRST_TIME_MS: i64 = 946_684_800_000;
    match (table.name, cells) {
        ("uses", [_, _, last_used_at]) => last_used_at.integer().is_some_and(|at| at >= FIRST_TIME_MS),
        ("erased_contents", [Cell::Blob(hash), ..]) => hash.is_empty() || hash.len() == HASH_BYTES,
        _ => true,
    }
}

/// Who cannot say which run put something into the trash keeps it.
fn untrash(cells: &mut [Cell], number: i64, [run, at]: [usize; 2], known: &Known) {
    let is_known = cells[run].id().is_some_and(|run| known.runs.contains(&(number, run)));
    if !is_known {
        (cells[run], cells[at]) = (Cell::Null, Cell::Null);
    }
}
