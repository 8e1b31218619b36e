//! Values on their way to a server and back: bound with the types that the server asks for, read as the five kinds of
//! column that the store knows.
//!
//! A text of PostgreSQL cannot hold the character zero, and what an agent remembers may: it travels in the guise of a
//! noncharacter, so that a text comes back as it went.

use std::borrow::Cow;
use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::Row as ServerRow;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::driver::{Column, Row, Value};
use crate::error::StoreError;

/// No text has a reason to hold it; one that does anyway is written so that it can be told from a zero.
const GUISE: char = '\u{10FFFF}';
const GUISE_BYTES: &[u8] = "\u{10FFFF}".as_bytes();

/// A text as a server may hold it.
pub fn disguised(text: &str) -> Cow<'_, str> {
    // By bytes, which is quick: what another character's first byte looks like is copied in vain.
    if !text.bytes().any(|byte| byte == 0 || byte == GUISE_BYTES[0]) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + GUISE_BYTES.len());
    for character in text.chars() {
        match character {
            '\0' => written.extend([GUISE, '0']),
            GUISE => written.extend([GUISE, '1']),
            other => written.push(other),
        }
    }
    Cow::Owned(written)
}

/// The text that [`disguised`] was given; `None` when it is the very same.
fn undisguised(text: &str) -> Option<String> {
    let mut parts = text.split(GUISE);
    let mut read = parts.next()?.to_owned();
    let mut is_changed = false;
    for part in parts {
        is_changed = true;
        match part.split_at_checked(1) {
            Some(("0", rest)) => read.extend(["\0", rest]),
            Some(("1", rest)) => read.extend([GUISE.to_string().as_str(), rest]),
            // Not written by us; left as it is.
            _ => read.extend([GUISE.to_string().as_str(), part]),
        }
    }
    is_changed.then_some(read)
}

/// A parameter, bound as whatever integer or list the server has inferred.
#[derive(Debug)]
pub struct Bound<'a>(pub &'a Value<'a>);

type Bind = Result<IsNull, Box<dyn Error + Sync + Send>>;

impl ToSql for Bound<'_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Bind {
        match *self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(number) => bind_integer(number, wanted, out),
            Value::Real(number) => number.to_sql(wanted, out),
            Value::Text(text) => disguised(text).as_ref().to_sql(wanted, out),
            Value::Blob(bytes) => bytes.to_sql(wanted, out),
            Value::IntegerList(numbers) => numbers.to_sql(wanted, out),
            Value::BlobList(ids) => ids.iter().map(<[u8; 16]>::as_slice).collect::<Vec<_>>().to_sql(wanted, out),
            Value::HashList(hashes) => hashes.iter().map(<[u8; 32]>::as_slice).collect::<Vec<_>>().to_sql(wanted, out),
            Value::TextList(texts) => texts.iter().map(|text| disguised(text)).collect::<Vec<_>>().to_sql(wanted, out),
        }
    }

    /// Checked in `to_sql`, where the value is known: an integer may go into a flag, a text may not.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn bind_integer(number: i64, wanted: &Type, out: &mut BytesMut) -> Bind {
    match *wanted {
        Type::INT8 => number.to_sql(wanted, out),
        Type::INT4 => i32::try_from(number)?.to_sql(wanted, out),
        Type::INT2 => i16::try_from(number)?.to_sql(wanted, out),
        Type::BOOL => (number != 0).to_sql(wanted, out),
        Type::FLOAT8 => (number as f64).to_sql(wanted, out),
        _ => Err(format!("an integer does not go into the type `{wanted}`").into()),
    }
}

/// The same parameter of many rows, as one array.
#[derive(Debug)]
pub struct BoundColumn<'a, 'b> {
    pub rows: &'a [Vec<Value<'b>>],
    pub place: usize,
}

impl ToSql for BoundColumn<'_, '_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Bind {
        self.rows.iter().map(|row| Bound(&row[self.place])).collect::<Vec<_>>().to_sql(wanted, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A row that was read. Texts that held a zero are kept beside it as they were.
#[derive(Debug)]
pub struct PostgresRow {
    row: ServerRow,
    undisguised: Vec<(usize, String)>,
}

impl PostgresRow {
    pub fn new(row: ServerRow) -> Self {
        let texts = row.columns().iter().enumerate().filter(|(_, column)| is_text(column.type_()));
        let undisguised = texts
            .filter_map(|(index, _)| {
                let text: Option<&str> = row.try_get(index).ok()?;
                Some((index, undisguised(text?)?))
            })
            .collect();
        Self { row, undisguised }
    }
}

fn is_text(kind: &Type) -> bool {
    matches!(*kind, Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN)
}

impl Row for PostgresRow {
    fn column(&self, index: usize) -> Result<Column<'_>, StoreError> {
        let unexpected = |_| StoreError::UnexpectedColumn { index };
        let kind = self.row.columns().get(index).ok_or(StoreError::UnexpectedColumn { index })?.type_();
        macro_rules! read {
            ($of:ty, $to:expr) => {
                self.row.try_get::<_, Option<$of>>(index).map_err(unexpected)?.map_or(Column::Null, $to)
            };
        }
        Ok(match *kind {
            Type::INT8 => read!(i64, Column::Integer),
            Type::INT4 => read!(i32, |number| Column::Integer(number.into())),
            Type::INT2 => read!(i16, |number| Column::Integer(number.into())),
            Type::BOOL => read!(bool, |flag| Column::Integer(flag.into())),
            Type::FLOAT8 => read!(f64, Column::Real),
            Type::FLOAT4 => read!(f32, |number| Column::Real(number.into())),
            Type::BYTEA => read!(&[u8], Column::Blob),
            _ if is_text(kind) => match self.undisguised.iter().find(|(at, _)| *at == index) {
                Some((_, text)) => Column::Text(text),
                None => read!(&str, Column::Text),
            },
            _ => return Err(StoreError::UnexpectedColumn { index }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_as_it_went() {
        for text in ["", "plain", "\0", "a\0b\0", "\u{10FFFF}", "\u{10FFFF}0", "\0\u{10FFFF}1\0", "é\0漢"] {
            let written = disguised(text).into_owned();
            assert!(!written.contains('\0'), "{text:?}");
            assert_eq!(undisguised(&written).unwrap_or(written), text, "{text:?}");
        }
    }
}
