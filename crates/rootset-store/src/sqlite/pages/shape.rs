//! The shape by which a row of a table is known, learnt from every schema there was.

use super::super::migrate;
use super::{Payload, varint};
use crate::driver::{Column, Row};
use crate::error::StoreError;

/// What the rows of a table look like on a page.
#[derive(Debug)]
pub struct Shape {
    pub has_rowid: bool,
    columns: Vec<ShapeColumn>,
    /// Rows written before later versions added columns have fewer.
    columns_min: usize,
    /// Where each column that somebody wants is in a row.
    wanted: Vec<Option<usize>>,
}

#[derive(Debug)]
struct ShapeColumn {
    name: String,
    kind: String,
    is_optional: bool,
    /// Stored as the row id.
    is_rowid: bool,
}

/// Empty databases of every schema there was, to learn from what rows look like.
#[derive(Debug)]
pub struct Schemas(Vec<rusqlite::Connection>);

impl Schemas {
    pub fn new() -> Result<Self, StoreError> {
        (1..=migrate::SCHEMA_VERSION).map(migrate::fresh).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a database of that version had the table.
    pub fn knew(&self, version: i64, table: &str) -> bool {
        let schema = usize::try_from(version - 1).ok().and_then(|place| self.0.get(place));
        schema.is_some_and(|schema| columns_of(schema, table).is_ok_and(|columns| !columns.is_empty()))
    }
}

impl Shape {
    /// The shape of a table's rows, and the columns that the caller wants of them.
    pub fn of(schemas: &Schemas, table: &str, wanted: &[&str]) -> Result<Self, StoreError> {
        let (mut columns, mut columns_min, mut has_rowid) = (Vec::new(), usize::MAX, true);
        for schema in &schemas.0 {
            columns = columns_of(schema, table)?;
            if !columns.is_empty() {
                columns_min = columns_min.min(columns.len());
            }
            let sql = "SELECT NOT EXISTS (SELECT 1 FROM pragma_table_list WHERE name = ?1 AND wr = 1)";
            has_rowid = schema.query_row(sql, [table], |row| row.get(0))?;
        }
        if !has_rowid {
            // The key comes first, in its own order.
            columns.sort_by_key(|(key, _)| if *key == 0 { i64::MAX } else { *key });
        }
        let keys = columns.iter().filter(|(key, _)| *key > 0).count();
        let columns: Vec<ShapeColumn> = columns
            .into_iter()
            .map(|(key, column)| {
                let is_rowid = has_rowid && key == 1 && keys == 1 && column.kind == "INTEGER";
                ShapeColumn { is_rowid, ..column }
            })
            .collect();
        let place = |name: &&str| columns.iter().position(|column| column.name == *name);
        let wanted = wanted.iter().map(place).collect();
        Ok(Self { has_rowid, columns, columns_min, wanted })
    }

    /// The payload as a row of the table, if it can be one.
    pub(super) fn row(&self, payload: Payload) -> Option<PageRow<'_>> {
        let mut rest = payload.bytes.as_slice();
        let head_bytes = usize::try_from(varint(&mut rest)?).ok()?;
        let taken = payload.bytes.len() - rest.len();
        let mut head = payload.bytes.get(taken..head_bytes)?;
        let mut body = payload.bytes.get(head_bytes..)?;
        let mut values = Vec::with_capacity(self.columns.len());
        while !head.is_empty() {
            values.push(Stored::read(varint(&mut head)?, &mut body)?);
        }
        let is_count = (self.columns_min..=self.columns.len()).contains(&values.len());
        let fits = |(column, value): (&ShapeColumn, &Stored)| column.fits(value);
        if !is_count || !body.is_empty() || !self.columns.iter().zip(&values).all(fits) {
            return None;
        }
        if let Some(place) = self.columns.iter().position(|column| column.is_rowid) {
            values[place] = Stored::Integer(payload.rowid);
        }
        Some(PageRow { shape: self, values })
    }
}

impl ShapeColumn {
    fn fits(&self, value: &Stored) -> bool {
        match (value, self.kind.as_str()) {
            (Stored::Null, _) => self.is_optional || self.is_rowid,
            (Stored::Integer(_), "INTEGER" | "REAL")
            | (Stored::Real(_), "REAL")
            | (Stored::Text(_), "TEXT")
            | (Stored::Blob(_), "BLOB") => true,
            _ => false,
        }
    }
}

/// Columns with their place in the key, 0 for none.
fn columns_of(raw: &rusqlite::Connection, table: &str) -> Result<Vec<(i64, ShapeColumn)>, StoreError> {
    let mut statement = raw.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1) ORDER BY cid")?;
    let rows = statement.query_map([table], |row| {
        let is_optional = !row.get::<_, bool>(2)?;
        Ok((row.get(3)?, ShapeColumn { name: row.get(0)?, kind: row.get(1)?, is_optional, is_rowid: false }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

#[derive(Debug)]
enum Stored {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Stored {
    fn read(kind: u64, body: &mut &[u8]) -> Option<Self> {
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            _ => usize::try_from((kind - 12) / 2).ok()?,
        };
        let (bytes, rest) = body.split_at_checked(length)?;
        *body = rest;
        Some(match kind {
            0 => Self::Null,
            8 => Self::Integer(0),
            9 => Self::Integer(1),
            7 => Self::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
            1..=6 => {
                let sign = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
                Self::Integer(bytes.iter().fold(sign, |number, byte| (number << 8) | i64::from(*byte)))
            }
            _ if kind.is_multiple_of(2) => Self::Blob(bytes.to_vec()),
            _ => Self::Text(String::from_utf8(bytes.to_vec()).ok()?),
        })
    }
}

pub(super) struct PageRow<'a> {
    shape: &'a Shape,
    values: Vec<Stored>,
}

impl Row for PageRow<'_> {
    fn column(&self, index: usize) -> Result<Column<'_>, StoreError> {
        let place = self.shape.wanted.get(index).copied().ok_or(StoreError::UnexpectedColumn { index })?;
        // A row of an older schema is shorter.
        Ok(match place.and_then(|place| self.values.get(place)) {
            None | Some(Stored::Null) => Column::Null,
            Some(Stored::Integer(number)) => Column::Integer(*number),
            Some(Stored::Real(number)) => Column::Real(*number),
            Some(Stored::Text(text)) => Column::Text(text),
            Some(Stored::Blob(bytes)) => Column::Blob(bytes),
        })
    }
}
