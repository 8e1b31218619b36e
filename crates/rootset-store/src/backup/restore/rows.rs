//! Writing the rows of a backup, many at a time, under the number that their workspace has here.

use super::super::rows::Cell;
use super::super::tables::{Rows, Table};
use super::targets::Target;
use crate::Stamp;
use crate::driver::{SearchRow, Transaction, Value};
use crate::error::StoreError;
use crate::statements::backup as sql;
use crate::vectors;
use crate::workspaces::{self, Draw};

/// Numbers of vectors drawn at a time.
const NUMBERS_DRAWN: usize = 1_000;
/// Tables whose rows keep the observed time of their writing.
const STAMPED: [&str; 2] = ["memories", "runs"];

pub(super) fn raise_counters(tx: &mut dyn Transaction, targets: &[Target<'_>]) -> Result<(), StoreError> {
    for target in targets {
        tx.enter(target.key.into())?;
        let mut parameters = vec![target.key.into()];
        parameters.extend(target.counters.map(Value::Integer));
        tx.execute(&sql::RAISE_COUNTERS, &parameters)?;
    }
    Ok(())
}

/// Rows of one table that belong to one workspace, all together.
pub(super) fn insert_rows(
    tx: &mut dyn Transaction,
    table: &Table,
    target: &mut Target<'_>,
    rows: Vec<Vec<Cell>>,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    tx.enter(target.key.into())?;
    let insert = match &table.rows {
        Rows::Workspaces => return Ok(()),
        Rows::Search(index) => {
            let rows = rows.into_iter().map(search_row).collect::<Result<Vec<_>, _>>()?;
            tx.search_insert(target.key, *index, rows)?;
            // What an engine keeps back must not grow with the backup.
            return tx.search_flush();
        }
        Rows::Stored { insert, .. } => insert,
    };
    let mut numbers = Vec::new();
    if table.name == "vectors" {
        for _ in &rows {
            numbers.push(next_number(tx, target, stamp)?);
        }
    }
    let observed = match STAMPED.contains(&table.name) {
        true => Some(Value::Integer(tx.observed_time()?.observed_ms)),
        false => None,
    };
    let parameters: Vec<Vec<Value<'_>>> = rows
        .iter()
        .enumerate()
        .map(|(place, cells)| {
            let last = numbers.get(place).map(|number| Value::Integer(*number)).or(observed);
            std::iter::once(target.key.into()).chain(cells.iter().map(Value::from)).chain(last).collect()
        })
        .collect();
    tx.execute_many(insert, &parameters)?;
    if table.name == "vector_originals" {
        let chunks: Vec<i64> = rows.iter().filter_map(|cells| cells[0].integer()).collect();
        vectors::index_again(tx, target.key, &chunks)?;
    }
    Ok(())
}

fn search_row(cells: Vec<Cell>) -> Result<SearchRow, StoreError> {
    match <[Cell; 3]>::try_from(cells) {
        Ok([Cell::Integer(key), Cell::Text(head), Cell::Text(body)]) => Ok(SearchRow { key, head, body }),
        _ => Err(StoreError::UnreadableValue("a full-text row of a backup")),
    }
}

fn next_number(tx: &mut dyn Transaction, target: &mut Target<'_>, stamp: Stamp<'_>) -> Result<i64, StoreError> {
    if let Some(number) = target.numbers.next() {
        return Ok(number);
    }
    let draw = Draw { numbers: NUMBERS_DRAWN, ..Draw::default() };
    let first = workspaces::draw(tx, target.key, draw, stamp.now)?.first_number;
    target.numbers = first + 1..first + NUMBERS_DRAWN as i64;
    Ok(first)
}
