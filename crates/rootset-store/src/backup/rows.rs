//! One row of an archive: read from an engine or from a line of JSON, checked against its table, and written as either.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootset_model::MemoryId;
use serde_json::{Map, Value as Json};

use super::tables::{Column, Kind, Table};
use crate::driver::{Column as Read, Row, Value};
use crate::error::StoreError;

/// The field that names the workspace of a row, in every file but that of the workspaces.
const WORKSPACE: &str = "workspace";

/// A value on its way from one database to another.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl<'a> From<&'a Cell> for Value<'a> {
    fn from(cell: &'a Cell) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Integer(number) => Self::Integer(*number),
            Cell::Real(number) => Self::Real(*number),
            Cell::Text(text) => Self::Text(text),
            Cell::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl Cell {
    pub fn id(&self) -> Option<[u8; 16]> {
        match self {
            Self::Blob(bytes) => bytes.as_slice().try_into().ok(),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

/// The row's columns from `first` on, as the table promises them.
pub(crate) fn read(table: &Table, row: &dyn Row, first: usize) -> Result<Vec<Cell>, StoreError> {
    try_read(table, row, first).map_err(|column| {
        StoreError::Damaged(format!(
            "a row of `{}` holds a `{column}` that cannot be read or is out of range",
            table.name
        ))
    })
}

/// The same; or the name of the first column that is not as promised.
pub(crate) fn try_read(table: &Table, row: &dyn Row, first: usize) -> Result<Vec<Cell>, &'static str> {
    let mut cells = Vec::with_capacity(table.columns.len());
    for (place, column) in table.columns.iter().enumerate() {
        let cell = match row.column(first + place).map_err(|_| column.name)? {
            Read::Null => Cell::Null,
            Read::Integer(number) => Cell::Integer(number),
            Read::Real(number) => Cell::Real(number),
            Read::Text(text) => Cell::Text(text.to_owned()),
            Read::Blob(bytes) => Cell::Blob(bytes.to_vec()),
        };
        if !fits(column, &cell) {
            return Err(column.name);
        }
        cells.push(cell);
    }
    Ok(cells)
}

fn fits(column: &Column, cell: &Cell) -> bool {
    match (column.kind, cell) {
        (_, Cell::Null) => column.is_optional,
        (Kind::Id, Cell::Blob(bytes)) => bytes.len() == 16,
        (Kind::Count(max), Cell::Integer(number)) => (0..=max).contains(number),
        (Kind::Bytes, Cell::Blob(_))
        | (Kind::Integer, Cell::Integer(_))
        | (Kind::Real, Cell::Integer(_))
        | (Kind::Text, Cell::Text(_)) => true,
        // JSON has no other numbers.
        (Kind::Real, Cell::Real(number)) => number.is_finite(),
        (Kind::Checked(is_valid), Cell::Text(text)) => is_valid(text),
        (Kind::CheckedBytes(is_valid), Cell::Blob(bytes)) => is_valid(bytes),
        _ => false,
    }
}

/// One line of a bundle; nulls are left out.
pub(crate) fn to_json(table: &Table, workspace: Option<&str>, cells: &[Cell]) -> Json {
    let mut fields = Map::new();
    if let Some(name) = workspace {
        fields.insert(WORKSPACE.into(), name.into());
    }
    for (column, cell) in table.columns.iter().zip(cells) {
        let value = match cell {
            Cell::Null => continue,
            Cell::Integer(number) => (*number).into(),
            Cell::Real(number) => (*number).into(),
            Cell::Text(text) => text.as_str().into(),
            Cell::Blob(bytes) => match (column.kind, <[u8; 16]>::try_from(bytes.as_slice())) {
                (Kind::Id, Ok(id)) => MemoryId(id).to_string().into(),
                _ => STANDARD.encode(bytes).into(),
            },
        };
        fields.insert(column.name.into(), value);
    }
    Json::Object(fields)
}

/// A row of a bundle with the workspace it belongs to (its own name, in the file of the workspaces); or what is wrong
/// with it. A column that a later version added may be missing where it is optional; a field nobody knows is refused.
pub(crate) fn from_json(table: &Table, line: &[u8], has_workspace: bool) -> Result<(String, Vec<Cell>), String> {
    let row =
        serde_json::from_slice(line).map_err(|error| format!("it {}", rootset_model::json::fault_in_line(&error)))?;
    let Json::Object(mut fields) = row else { return Err("it is not a JSON object".to_owned()) };
    let workspace = match has_workspace.then(|| fields.remove(WORKSPACE)) {
        Some(Some(Json::String(name))) => name,
        Some(_) => return Err(format!("`{WORKSPACE}` is missing")),
        None => String::new(),
    };
    let mut cells = Vec::with_capacity(table.columns.len());
    for column in table.columns {
        let cell = match fields.remove(column.name) {
            None => Cell::Null,
            Some(value) => decoded(column, value).ok_or_else(|| format!("`{}` cannot be read", column.name))?,
        };
        if !fits(column, &cell) {
            return Err(format!("`{}` is missing or out of range", column.name));
        }
        cells.push(cell);
    }
    match fields.keys().next() {
        Some(unknown) => Err(format!("unknown field `{}`", unknown.chars().take(80).collect::<String>())),
        None if has_workspace => Ok((workspace, cells)),
        None => Ok((cells[0].text().unwrap_or_default().to_owned(), cells)),
    }
}

fn decoded(column: &Column, value: Json) -> Option<Cell> {
    match (column.kind, value) {
        (_, Json::Null) => Some(Cell::Null),
        (Kind::Id, Json::String(text)) => text.parse::<MemoryId>().ok().map(|id| Cell::Blob(id.0.to_vec())),
        (Kind::Bytes | Kind::CheckedBytes(_), Json::String(text)) => STANDARD.decode(text).ok().map(Cell::Blob),
        (Kind::Integer | Kind::Count(_), Json::Number(number)) => number.as_i64().map(Cell::Integer),
        (Kind::Real, Json::Number(number)) => number.as_f64().map(Cell::Real),
        (Kind::Text | Kind::Checked(_), Json::String(text)) => Some(Cell::Text(text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables::by_name;
    use super::*;

    #[test]
    fn a_row_survives_its_line() {
        let table = by_name("vectors").unwrap();
        let cells = vec![
            Cell::Integer(7),
            Cell::Text("space \u{1}".into()),
            Cell::Real(0.1 + 0.2),
            Cell::Blob(vec![0, 255, 10]),
        ];
        let line = to_json(table, Some("w"), &cells).to_string();
        assert_eq!(from_json(table, line.as_bytes(), true), Ok(("w".to_owned(), cells)));
    }

    #[test]
    fn what_a_table_does_not_promise_is_refused() {
        let table = by_name("uses").unwrap();
        let id = MemoryId([7; 16]);
        let line = |rest: &str| format!(r#"{{"workspace": "w", "memory": "{id}", {rest}}}"#);
        let good = line(r#""use_count": 1, "last_used_at": -5"#);
        assert!(from_json(table, good.as_bytes(), true).is_ok());
        for bad in [
            line(r#""use_count": -1, "last_used_at": 5"#),
            line(r#""use_count": 1.5, "last_used_at": 5"#),
            line(r#""use_count": "1", "last_used_at": 5"#),
            line(r#""use_count": 1"#),
            line(r#""use_count": 1, "last_used_at": 5, "extra": 1"#),
            good.replace(&id.to_string(), "x"),
            good.replace(r#""workspace": "w","#, ""),
            "[]".to_owned(),
            good[..good.len() - 1].to_owned(),
        ] {
            assert!(from_json(table, bad.as_bytes(), true).is_err(), "{bad}");
        }
    }
}
