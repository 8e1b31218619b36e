//! Seals: by its seal a row shows that it still says what was written. The seal is in the row itself, so that one row is
//! enough to check it: in the database, in a copy of it, in a line of a bundle.
//!
//! Sealed is what people and agents have said: texts, names, tags, metadata. What changes with every use is not, nor what is
//! derived, nor the version of a source, which grows with every sight of it, nor times of memories, which are stamped anew
//! after a clock was wrong, nor provenance, which has few words that are checked as such. A seal finds bits that rotted, not
//! people who mean harm: whoever writes a row can seal it.

use rootset_model::{MemoryId, WorkspaceKey};

use crate::backup::{Cell, Table, each_readable_row, sealed_tables};
use crate::driver::{Transaction, Value};
use crate::error::StoreError;
use crate::memories::read_content;
use crate::statements::doctor as sql;

/// Rows named in a report; all of them are counted.
const ROWS_SHOWN: usize = 20;

pub(crate) type Seal = [u8; 16];

/// The columns that a seal covers, by table, in the order in which whoever writes a row gives them.
pub(crate) const COVERED: [(&str, &[&str]); 4] = [
    (
        "memories",
        &["memory", "sequence", "name", "source", "repo", "written_by", "metadata", "tags", "pinned", "pin_reason"],
    ),
    ("revisions", &["memory", "topic", "context", "decisions", "rationale", "bytes", "created_at"]),
    (
        "segments",
        &[
            "segment",
            "segment_id",
            "type",
            "role",
            "tool_call_id",
            "tokens",
            "created_at",
            "created_step",
            "file_path",
            "first_line",
            "last_line",
            "tags",
            "topic_id",
            "task_id",
            "refs",
            "reply_to",
            "derived_from",
            "names",
            "text_hash",
            "text_chars",
            "bytes",
            "written_by",
        ],
    ),
    ("segment_texts", &["segment", "text", "raw"]),
];

/// The seal of a row with these values in the covered columns.
pub(crate) fn seal(values: &[Value<'_>]) -> Seal {
    let mut hasher = blake3::Hasher::new();
    let mut add = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    for value in values {
        match value {
            Value::Null => add(0, &[]),
            Value::Integer(number) => add(1, &number.to_le_bytes()),
            Value::Real(number) => add(2, &number.to_le_bytes()),
            Value::Text(text) => add(3, text.as_bytes()),
            Value::Blob(bytes) => add(4, bytes),
            Value::IntegerList(_) | Value::BlobList(_) | Value::HashList(_) | Value::TextList(_) => {
                unreachable!("no column holds a list")
            }
        }
    }
    let mut short = Seal::default();
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}

/// How the rows of one table are sealed.
#[derive(Debug)]
pub(crate) struct Sealed {
    table: &'static str,
    covered: Vec<usize>,
    seal: usize,
}

impl Sealed {
    /// `None` for a table without seals.
    pub fn of(table: &Table) -> Option<Self> {
        let (_, columns) = COVERED.iter().find(|(name, _)| *name == table.name)?;
        let place = |name: &str| table.columns.iter().position(|column| column.name == name);
        let covered = columns.iter().map(|name| place(name)).collect::<Option<Vec<usize>>>();
        let covered = covered.expect("a seal covers columns of its table");
        Some(Self { table: table.name, covered, seal: place("seal").expect("a sealed table has a seal") })
    }

    /// Whether the row is what was written; rows without a seal are taken at their word.
    pub fn holds(&self, cells: &[Cell]) -> bool {
        match &cells[self.seal] {
            Cell::Blob(seal) => seal == &self.computed(cells),
            _ => true,
        }
    }

    pub fn is_sealed(&self, cells: &[Cell]) -> bool {
        cells[self.seal] != Cell::Null
    }

    /// Seals the row as it is.
    pub fn renew(&self, cells: &mut [Cell]) {
        cells[self.seal] = Cell::Blob(self.computed(cells).to_vec());
    }

    fn computed(&self, cells: &[Cell]) -> Seal {
        let values: Vec<Value<'_>> = self.covered.iter().map(|place| Value::from(&cells[*place])).collect();
        seal(&values)
    }

    /// The row as a report names it, without anything it says.
    pub fn name_of(&self, cells: &[Cell]) -> String {
        let id = |cell: &Cell| cell.id().map_or_else(|| "?".to_owned(), |id| MemoryId(id).to_string());
        let number = |cell: &Cell| cell.integer().unwrap_or_default();
        match self.table {
            "memories" => format!("memory {}", id(&cells[0])),
            "revisions" => revision_name(&id(&cells[0]), number(&cells[1])),
            "segments" => format!("segment {} of session {}", number(&cells[1]), number(&cells[0])),
            _ => format!("the text of segment {}", number(&cells[0])),
        }
    }
}

fn revision_name(memory: &str, revision: i64) -> String {
    format!("revision {revision} of memory {memory}")
}

/// Rows that are no longer what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Altered {
    pub count: i64,
    /// The first of them.
    pub found: Vec<String>,
}

impl Altered {
    pub fn note(&mut self, row: impl FnOnce() -> String) {
        self.count += 1;
        if self.found.len() < ROWS_SHOWN {
            self.found.push(row());
        }
    }

    pub fn add(&mut self, others: Self) {
        self.count += others.count;
        self.found.extend(others.found);
        self.found.truncate(ROWS_SHOWN);
    }

    /// For a list of problems: nothing where all is well.
    pub fn in_words(&self) -> Option<String> {
        let more = if self.count > self.found.len() as i64 { ", …" } else { "" };
        let rows = if self.count == 1 { "row is" } else { "rows are" };
        (self.count > 0)
            .then(|| format!("{} {rows} no longer what was written: {}{more}", self.count, self.found.join(", ")))
    }
}

/// Every sealed row of a workspace, one after the other.
pub(crate) fn check(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<Altered, StoreError> {
    let mut altered = Altered::default();
    for (table, sealed) in sealed_tables() {
        each_readable_row(tx, table, workspace, &mut |row| match row {
            Ok(cells) if sealed.holds(&cells) => {}
            Ok(cells) => altered.note(|| sealed.name_of(&cells)),
            Err(column) => altered.note(|| format!("a row of `{}` with an unreadable `{column}`", table.name)),
        })?;
    }
    altered.add(check_unsealed(tx, workspace)?);
    Ok(altered)
}

/// Texts without a seal that have a hash, as memories always had.
pub(crate) fn check_unsealed(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<Altered, StoreError> {
    let mut altered = Altered::default();
    tx.query(&sql::UNSEALED_CONTENTS, &[workspace.into()], &mut |row| {
        let (memory, revision): (MemoryId, i64) = (row.get(0)?, row.get(1)?);
        let hash: Vec<u8> = row.get(2)?;
        if !read_content(row, 3).is_ok_and(|content| content.doc_hash()[..] == hash) {
            altered.note(|| revision_name(&memory.to_string(), revision));
        }
        Ok(())
    })?;
    Ok(altered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_take_each_others_place() {
        let seals = [
            seal(&[Value::Text("ab"), Value::Text("c")]),
            seal(&[Value::Text("a"), Value::Text("bc")]),
            seal(&[Value::Text("ab"), Value::Blob(b"c")]),
            seal(&[Value::Text("ab"), Value::Text("c"), Value::Null]),
            seal(&[Value::Integer(0)]),
            seal(&[Value::Null]),
        ];
        for (place, one) in seals.iter().enumerate() {
            assert!(!seals[place + 1..].contains(one), "{place}");
        }
    }
}
