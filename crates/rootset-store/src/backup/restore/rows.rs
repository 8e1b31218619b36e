//! Writing the rows of a backup, one by one, under the number that their workspace has here.

use super::super::rows::Cell;
use super::super::tables::{Rows, Table};
use super::targets::Target;
use crate::Stamp;
use crate::driver::{SearchIndex, SearchRow, Transaction, Value};
use crate::error::StoreError;
use crate::statements::backup as sql;
use crate::workspaces::{self, Draw};
use rootset_model::WorkspaceKey;

/// Numbers of vectors drawn at a time.
const NUMBERS_DRAWN: usize = 1_000;
pub(super) fn raise_counters(tx: &mut dyn Transaction, targets: &[Target<'_>]) -> Result<(), StoreError> {
    for target in targets {
        let mut parameters = vec![target.key.into()];
        parameters.extend(target.counters.map(Value::Integer));
        tx.execute(&sql::RAISE_COUNTERS, &parameters)?;
    }
    Ok(())
}

pub(super) fn insert_row(
    tx: &mut dyn Transaction,
    table: &Table,
    target: &mut Target<'_>,
    cells: &[Cell],
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    match &table.rows {
        Rows::Workspaces => Ok(()),
        Rows::Search(index) => insert_search_row(tx, target.key, *index, cells),
        Rows::Stored { insert, .. } => {
            let mut parameters: Vec<Value<'_>> = Vec::with_capacity(cells.len() + 2);
            parameters.push(target.key.into());
            parameters.extend(cells.iter().map(Value::from));
            if table.name == "vectors" {
                parameters.push(next_number(tx, target, stamp)?.into());
            }
            tx.execute(insert, &parameters).map(drop)
        }
    }
}

fn insert_search_row(
    tx: &mut dyn Transaction,
    key: WorkspaceKey,
    index: SearchIndex,
    cells: &[Cell],
) -> Result<(), StoreError> {
    let [Cell::Integer(row), Cell::Text(head), Cell::Text(body)] = cells else {
        return Err(StoreError::UnreadableValue("a full-text row of a backup"));
    };
    tx.search_insert(key, index, vec![SearchRow { key: *row, head: head.clone(), body: body.clone() }])
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
