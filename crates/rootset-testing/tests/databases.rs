//! Databases for tests, on the engine that the run is about.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

use rootset_testing::{Cell, TestDatabase};

#[test]
fn raw_statements_say_the_same_to_both_engines() {
    let database = TestDatabase::new();
    drop(database.open());
    let sql = database.sql();
    let entity = "INSERT INTO entities VALUES (1, X'0102', 7, 'it''s ?1', 'thing', ?1, 1, 0, 0)";
    assert_eq!(sql.execute(entity, &["n".into()]).unwrap(), 1, "no workspace is needed for it");
    let row = "SELECT entity, number, name, name IS NULL FROM entities WHERE number = ?1";
    let cells = sql.row(row, &[7.into()], |row| Ok(row.columns().map(|(_, cell)| cell.clone()).collect::<Vec<_>>()));
    let wanted = [Cell::Blob(vec![1, 2]), Cell::Integer(7), Cell::Text("it's ?1".into()), Cell::Integer(0)];
    assert_eq!(cells.unwrap().unwrap(), wanted);
    assert_eq!(database.places_with(b"it's ?1").len(), 1);
}

#[test]
fn every_database_is_its_own_and_an_empty_one_has_no_tables() {
    let (one, other) = (TestDatabase::new(), TestDatabase::new());
    drop((one.open(), other.open()));
    one.execute_raw("INSERT INTO meta (key, value) VALUES ('own', X'00')");
    let count = "SELECT COUNT(*) FROM meta WHERE key = 'own'";
    assert_eq!((one.sql().scalar::<i64>(count, &[]).unwrap(), other.sql().scalar::<i64>(count, &[]).unwrap()), (1, 0));
    let empty = TestDatabase::empty();
    assert!(empty.location().path().is_none_or(|path| !path.exists()));
    drop(empty.open());
    assert!(empty.sql().tables().unwrap().contains(&"memories".to_owned()));
}
