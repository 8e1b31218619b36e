//! What goes into statements and comes out of rows, and how our types become either.

use rootset_model::WorkspaceKey;

use crate::error::StoreError;

/// A bound parameter.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
    IntegerList(&'a [i64]),
    BlobList(&'a [[u8; 16]]),
    HashList(&'a [[u8; 32]]),
    TextList(&'a [String]),
}

/// A column of a result row.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// One result row, valid until the next.
pub trait Row {
    fn column(&self, index: usize) -> Result<Column<'_>, StoreError>;
}

// Conversions that keep call sites short: `&[workspace.into(), id.into()]`.

impl From<WorkspaceKey> for Value<'_> {
    fn from(workspace: WorkspaceKey) -> Self {
        Self::Integer(workspace.0)
    }
}

impl From<rootset_model::ChunkKey> for Value<'_> {
    fn from(chunk: rootset_model::ChunkKey) -> Self {
        Self::Integer(chunk.0)
    }
}

impl From<rootset_model::Timestamp> for Value<'_> {
    fn from(time: rootset_model::Timestamp) -> Self {
        Self::Integer(time.0)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Integer(i64::from(flag))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'a> From<&'a [[u8; 16]]> for Value<'a> {
    fn from(ids: &'a [[u8; 16]]) -> Self {
        Self::BlobList(ids)
    }
}

impl<'a> From<&'a [[u8; 32]]> for Value<'a> {
    fn from(hashes: &'a [[u8; 32]]) -> Self {
        Self::HashList(hashes)
    }
}

impl<'a> From<&'a [i64]> for Value<'a> {
    fn from(numbers: &'a [i64]) -> Self {
        Self::IntegerList(numbers)
    }
}

impl<'a> From<&'a [String]> for Value<'a> {
    fn from(texts: &'a [String]) -> Self {
        Self::TextList(texts)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! value_from_id {
    ($($id:ident),*) => {
        $(
            impl<'a> From<&'a rootset_model::$id> for Value<'a> {
                fn from(id: &'a rootset_model::$id) -> Self {
                    Self::Blob(&id.0)
                }
            }

            impl FromColumn for rootset_model::$id {
                fn from_column(column: Column<'_>) -> Option<Self> {
                    match column {
                        Column::Blob(bytes) => Self::from_slice(bytes),
                        _ => None,
                    }
                }
            }
        )*
    };
}
value_from_id!(MemoryId, EntityId, RelationId, PlanId, RunId, ErasureId, TokenId, DrainId);

macro_rules! value_from_word {
    ($($word:ident),*) => {
        $(
            impl From<rootset_model::$word> for Value<'_> {
                fn from(word: rootset_model::$word) -> Self {
                    Self::Text(word.as_str())
                }
            }

            impl FromColumn for rootset_model::$word {
                fn from_column(column: Column<'_>) -> Option<Self> {
                    match column {
                        Column::Text(text) => Self::from_word(text),
                        _ => None,
                    }
                }
            }
        )*
    };
}
value_from_word!(Channel, Trust, PinnedBy);

/// What a column can be read as; `None` is a type the schema does not promise.
pub trait FromColumn: Sized {
    fn from_column(column: Column<'_>) -> Option<Self>;
}

impl FromColumn for i64 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Integer(number) => Some(number),
            _ => None,
        }
    }
}

impl FromColumn for u32 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).and_then(|number| Self::try_from(number).ok())
    }
}

impl FromColumn for bool {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(|number| number != 0)
    }
}

impl FromColumn for f64 {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Real(number) => Some(number),
            Column::Integer(number) => Some(number as f64),
            _ => None,
        }
    }
}

impl FromColumn for String {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Text(text) => Some(text.to_owned()),
            _ => None,
        }
    }
}

impl FromColumn for Vec<u8> {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Blob(bytes) => Some(bytes.to_vec()),
            _ => None,
        }
    }
}

impl<const N: usize> FromColumn for [u8; N] {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Blob(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }
}

impl FromColumn for rootset_model::Timestamp {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Self)
    }
}

impl FromColumn for WorkspaceKey {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Self)
    }
}

impl FromColumn for rootset_model::ChunkKey {
    fn from_column(column: Column<'_>) -> Option<Self> {
        i64::from_column(column).map(Self)
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(column: Column<'_>) -> Option<Self> {
        match column {
            Column::Null => Some(None),
            other => T::from_column(other).map(Some),
        }
    }
}

impl dyn Row + '_ {
    /// Reads a column as the type the schema promises; anything else means a damaged or hand-edited row.
    pub fn get<T: FromColumn>(&self, index: usize) -> Result<T, StoreError> {
        T::from_column(self.column(index)?).ok_or(StoreError::UnexpectedColumn { index })
    }
}
