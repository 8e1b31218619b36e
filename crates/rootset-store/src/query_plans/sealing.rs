//! Whoever writes what a seal covers also writes the seal: otherwise `doctor` would take the new text for rot.

use std::collections::BTreeMap;

use sqlparser::ast::{
    Assignment, AssignmentTarget, Insert, OnConflictAction, OnInsert, Statement as Parsed, TableFactor, TableObject,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use crate::seals::COVERED;
use crate::statements;

fn covered(table: &str) -> Option<&'static [&'static str]> {
    COVERED.iter().find(|(name, _)| *name == table).map(|(_, columns)| *columns)
}

fn targets(assignments: &[Assignment]) -> Vec<String> {
    let columns = assignments.iter().flat_map(|it| match &it.target {
        AssignmentTarget::ColumnName(name) => vec![name.to_string()],
        AssignmentTarget::Tuple(names) => names.iter().map(ToString::to_string).collect(),
    });
    columns.collect()
}

/// A column that is covered and written, while the seal stays as it was.
fn unsealed(table: &str, columns: &[String]) -> Option<String> {
    let covered = covered(table)?;
    let written = columns.iter().find(|column| covered.contains(&column.as_str()))?;
    (!columns.iter().any(|it| it == "seal")).then(|| format!("`{written}` of `{table}` without its seal"))
}

fn of_insert(insert: &Insert) -> Vec<String> {
    let TableObject::TableName(table) = &insert.table else { return Vec::new() };
    let table = table.to_string();
    let columns: Vec<String> = insert.columns.iter().map(ToString::to_string).collect();
    let updated = match &insert.on {
        Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
            OnConflictAction::DoUpdate(update) => targets(&update.assignments),
            OnConflictAction::DoNothing => Vec::new(),
        },
        _ => Vec::new(),
    };
    [columns, updated].iter().filter_map(|columns| unsealed(&table, columns)).collect()
}

fn problems(sql: &str) -> Vec<String> {
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let of_statement = |statement: &Parsed| match statement {
        Parsed::Insert(insert) => of_insert(insert),
        Parsed::Update(update) => match &update.table.relation {
            TableFactor::Table { name, .. } => {
                unsealed(&name.to_string(), &targets(&update.assignments)).into_iter().collect()
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    parsed.iter().flat_map(of_statement).collect()
}

#[test]
fn every_statement_that_writes_what_a_seal_covers_writes_the_seal() {
    let problems = statements::ALL.iter().map(|statement| (statement.name, problems(statement.postgres)));
    let offenders: BTreeMap<&str, Vec<String>> = problems.filter(|(_, problems)| !problems.is_empty()).collect();
    assert!(offenders.is_empty(), "{offenders:#?}");
}

#[test]
fn a_statement_that_forgets_the_seal_is_noticed() {
    for sql in [
        "INSERT INTO segment_texts (workspace, segment, text, raw) VALUES ($1, $2, $3, $4)",
        "UPDATE memories SET name = $3 WHERE workspace = $1 AND memory = $2",
        "UPDATE memories AS m SET (version, tags) = ($3, $4) WHERE workspace = $1 AND memory = $2",
        "INSERT INTO revisions (workspace, memory, topic, seal) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (workspace, memory) DO UPDATE SET topic = excluded.topic",
    ] {
        assert_eq!(problems(sql).len(), 1, "{sql}");
    }
    assert_eq!(problems("UPDATE memories SET version = $3 WHERE workspace = $1 AND memory = $2"), [""; 0]);
}
