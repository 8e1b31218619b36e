//! Reading an answer of `/embeddings`: as many vectors as texts, each in its place, all of one dimension, all usable.

use serde::Deserialize;

use crate::error::{AnswerFault, AnswerPart};
use crate::unit_length::to_unit_length;

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: u64,
    /// Some servers write `null` where a computation ended in NaN, which JSON cannot write. Read as doubles: what is too
    /// large for us is a fault of the vector, not of the JSON.
    embedding: Vec<Option<f64>>,
}

/// Unit vectors in the order of the texts. The protocol gives every row an index and promises no order.
pub(super) fn read(body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, AnswerFault> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|error| AnswerFault::from_json(AnswerPart::Body, &error))?;
    let found = answer.data.len();
    if found != count {
        return Err(AnswerFault::WrongCount { expected: count, found });
    }
    let mut rows: Vec<Option<Vec<Option<f64>>>> = vec![None; count];
    for row in answer.data {
        let fault = AnswerFault::WrongIndex { index: row.index, count };
        let place = usize::try_from(row.index).ok().and_then(|index| rows.get_mut(index)).ok_or(fault)?;
        if place.replace(row.embedding).is_some() {
            return Err(fault);
        }
    }
    let rows: Vec<Vec<Option<f64>>> =
        rows.into_iter().map(|row| row.expect("as many rows as places, none of them twice")).collect();
    let expected = rows.first().map_or(0, Vec::len);
    rows.into_iter().enumerate().map(|(position, row)| read_vector(position, row, expected)).collect()
}

fn read_vector(position: usize, row: Vec<Option<f64>>, expected: usize) -> Result<Vec<f32>, AnswerFault> {
    if row.len() != expected {
        return Err(AnswerFault::WrongDimension { position, expected, found: row.len() });
    }
    let finite = row.into_iter().enumerate().map(|(component, value)| {
        value
            .map(|value| value as f32)
            .filter(|value| value.is_finite())
            .ok_or(AnswerFault::NotFinite { position, component })
    });
    to_unit_length(finite.collect::<Result<_, _>>()?).ok_or(AnswerFault::ZeroVector { position })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data: &str, count: usize) -> Result<Vec<Vec<f32>>, AnswerFault> {
        read(format!(r#"{{"object": "list", "data": [{data}], "model": "m"}}"#).as_bytes(), count)
    }

    #[test]
    fn rows_are_put_where_their_index_says_and_scaled() {
        let rows = r#"{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3.0, 4.0]}"#;
        assert_eq!(check(rows, 2), Ok(vec![vec![0.6, 0.8], vec![0.0, 1.0]]));
    }

    #[test]
    fn wrong_counts_and_indexes_are_errors() {
        let row = |index: u64| format!(r#"{{"index": {index}, "embedding": [1]}}"#);
        assert_eq!(check(&row(0), 2), Err(AnswerFault::WrongCount { expected: 2, found: 1 }));
        let twice = format!("{}, {}", row(0), row(0));
        assert_eq!(check(&twice, 2), Err(AnswerFault::WrongIndex { index: 0, count: 2 }));
        assert_eq!(check(&row(7), 1), Err(AnswerFault::WrongIndex { index: 7, count: 1 }));
    }

    #[test]
    fn unusable_vectors_are_errors() {
        let one = |values: &str| check(&format!(r#"{{"index": 0, "embedding": {values}}}"#), 1).unwrap_err();
        assert_eq!(one("[1, null]"), AnswerFault::NotFinite { position: 0, component: 1 });
        assert_eq!(one("[1e39]"), AnswerFault::NotFinite { position: 0, component: 0 });
        assert_eq!(one("[0, -0.0]"), AnswerFault::ZeroVector { position: 0 });
        assert_eq!(one("[]"), AnswerFault::ZeroVector { position: 0 });
        for not_json in ["[NaN]", "[Infinity]", "[1e999]"] {
            assert!(matches!(one(not_json), AnswerFault::NotJson { .. }), "{not_json}");
        }
        let uneven = r#"{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}"#;
        assert_eq!(check(uneven, 2), Err(AnswerFault::WrongDimension { position: 1, expected: 2, found: 1 }));
    }
}
