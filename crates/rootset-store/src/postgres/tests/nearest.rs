//! The index over vectors: as good as comparing all of them, for each workspace its own.

use std::collections::HashSet;

use rootset_testing::Dice;

use super::*;
use crate::postgres::vectors::{GRAPH_SETTINGS, nearest_text};
use crate::statements::vectors as sql;

const DIMENSION: usize = 8;
const SPACE: &str = "space";
/// Beyond the number up to which all are compared.
const MANY: i64 = 10_050;
const WANTED: usize = 10;

/// Unit vectors, the same in every run.
struct Directions(Dice);

impl Directions {
    fn next(&mut self, dimension: usize) -> Vec<f32> {
        let mut number = || (self.0.throw() >> 40) as f32 / (1 << 24) as f32 - 0.5;
        let raw: Vec<f32> = (0..dimension).map(|_| number()).collect();
        let length = raw.iter().map(|it| it * it).sum::<f32>().sqrt();
        raw.iter().map(|it| it / length).collect()
    }
}

/// The rows that the index refers to, and the index.
fn insert(
    engine: &PostgresEngine,
    database: &TestDatabase,
    workspace: i64,
    space: &str,
    first_chunk: i64,
    vectors: &[Vec<f32>],
) {
    let last_chunk = first_chunk + vectors.len() as i64 - 1;
    database.execute_raw(&format!(
        "INSERT INTO vectors (workspace, chunk, space, number, scale, codes)
         SELECT {workspace}, chunk, '{space}', chunk, 1, '' FROM generate_series({first_chunk}, {last_chunk}) AS chunk"
    ));
    let numbered: Vec<(i64, &[f32])> = (first_chunk..).zip(vectors.iter().map(Vec::as_slice)).collect();
    let workspace = WorkspaceKey(workspace);
    engine.write(Tenant::Workspace(workspace), &mut |tx| tx.vectors_insert(workspace, space, &numbered)).unwrap();
}

fn nearest(engine: &PostgresEngine, workspace: i64, space: &str, query: &[f32]) -> Vec<i64> {
    let workspace = WorkspaceKey(workspace);
    let mut found = Vec::new();
    engine
        .read(Tenant::Workspace(workspace), &mut |tx| {
            found = tx.vectors_nearest(workspace, space, query, WANTED)?.expect("this engine has an index");
            Ok(())
        })
        .unwrap();
    assert!(found.is_sorted_by(|a, b| a.1 >= b.1), "{found:?}");
    found.into_iter().map(|(chunk, _)| chunk).collect()
}

fn exact(vectors: &[Vec<f32>], query: &[f32]) -> HashSet<i64> {
    let cosine = |vector: &[f32]| vector.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
    let mut scored: Vec<(i64, f32)> = (1..).zip(vectors.iter().map(|vector| cosine(vector))).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1));
    scored.into_iter().take(WANTED).map(|(chunk, _)| chunk).collect()
}

fn recall(engine: &PostgresEngine, workspace: i64, vectors: &[Vec<f32>], directions: &mut Directions) -> f64 {
    const QUERIES: usize = 30;
    let mut found = 0;
    for _ in 0..QUERIES {
        let query = directions.next(DIMENSION);
        let wanted = exact(vectors, &query);
        let nearest = nearest(engine, workspace, SPACE, &query);
        assert_eq!(nearest.len(), WANTED);
        found += nearest.iter().filter(|chunk| wanted.contains(chunk)).count();
    }
    found as f64 / (QUERIES * WANTED) as f64
}

#[test]
fn neighbours_come_from_the_index_or_from_comparing_all_and_are_each_workspaces_own() {
    let database = database();
    let engine = open(&database, &settings());
    assert!(!engine.lacks_vectors());
    let mut directions = Directions(Dice(0x5EED));
    let mut make = |count: i64| (0..count).map(|_| directions.next(DIMENSION)).collect::<Vec<_>>();
    let (large, second, small) = (make(MANY), make(MANY), make(40));
    for (workspace, vectors) in [(1, &large), (2, &second), (3, &small)] {
        insert(&engine, &database, workspace, SPACE, 1, vectors);
    }
    // Whatever the server's statistics make of the table.
    for prelude in ["", "ANALYZE embeddings", "UPDATE pg_class SET reltuples = 100 WHERE relname = 'embeddings'"] {
        database.execute_raw(prelude);
        let plan = plan_as_application(&database, 1, &large[0]);
        assert!(plan.contains("embeddings_8"), "{prelude}: {plan}");
    }
    for (workspace, vectors, least) in [(1, &large, 0.95), (2, &second, 0.95), (3, &small, 1.0)] {
        let recall = recall(&engine, workspace, vectors, &mut directions);
        assert!(recall >= least, "{recall} in workspace {workspace}");
    }
    // What is deleted is found no more, and the place beside it moves up.
    let best = nearest(&engine, 1, SPACE, &large[7])[0];
    assert_eq!(best, 8);
    engine
        .write(Tenant::Workspace(WorkspaceKey(1)), &mut |tx| {
            tx.execute(&sql::DELETE, &[Value::Integer(1), Value::IntegerList(&[best])]).map(drop)
        })
        .unwrap();
    let after = nearest(&engine, 1, SPACE, &large[7]);
    assert!(after.len() == WANTED && !after.contains(&best), "{after:?}");
    assert!(nearest(&engine, 2, SPACE, &second[7]).contains(&8));
    // Another model, another dimension, another index.
    let narrow: Vec<Vec<f32>> = (0..20).map(|_| directions.next(4)).collect();
    insert(&engine, &database, 1, "narrow", MANY + 1, &narrow);
    assert_eq!(nearest(&engine, 1, "narrow", &narrow[3])[0], MANY + 4);
    let indexes = "SELECT indexrelid::regclass::TEXT FROM pg_index WHERE indrelid = 'embeddings'::regclass ORDER BY 1";
    let indexes: Vec<String> = database.sql().rows(indexes, &[], |row| row.get(0)).unwrap();
    assert_eq!(indexes, ["embeddings_4", "embeddings_8", "embeddings_pkey"]);
}

/// How the server would look for neighbours, asked as the engine asks.
fn plan_as_application(database: &TestDatabase, workspace: i64, query: &[f32]) -> String {
    let sql = database.sql();
    let numbers: Vec<String> = query.iter().map(f32::to_string).collect();
    sql.execute_batch(&format!(
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
         SET SESSION AUTHORIZATION rootset_application; BEGIN; SET rootset.workspace = '{workspace}';
         {GRAPH_SETTINGS};
         PREPARE nearest (BIGINT, TEXT, BIGINT, TEXT, BIGINT) AS {}",
        nearest_text(DIMENSION as i64)
    ))
    .unwrap();
    let explain =
        format!("EXPLAIN EXECUTE nearest ({workspace}, '{SPACE}', {DIMENSION}, '[{}]', {WANTED})", numbers.join(","));
    sql.rows(&explain, &[], |row| row.get::<String>(0)).unwrap().join("\n")
}

#[test]
fn an_index_that_was_rolled_back_with_its_first_vectors_is_made_by_the_next() {
    let database = database();
    let engine = open(&database, &PostgresSettings { pool_size: 1, ..settings() });
    let vector = Directions(Dice(1)).next(DIMENSION);
    database.execute_raw("INSERT INTO vectors VALUES (1, 1, 'space', 1, 1, '')");
    for comes_to_nothing in [true, false] {
        let outcome = engine.write(Tenant::Workspace(WorkspaceKey(1)), &mut |tx| {
            tx.vectors_insert(WorkspaceKey(1), SPACE, &[(1, &vector)])?;
            if comes_to_nothing { Err(StoreError::TimedOut) } else { Ok(()) }
        });
        assert_eq!(outcome.is_err(), comes_to_nothing);
    }
    let there = "SELECT to_regclass('embeddings_8') IS NOT NULL";
    assert!(database.sql().scalar::<bool>(there, &[]).unwrap());
}

#[test]
fn vectors_of_several_dimensions_in_one_space_are_kept_apart() {
    let database = database();
    let engine = open(&database, &settings());
    let mut directions = Directions(Dice(2));
    let (wide, narrow) = (directions.next(DIMENSION), directions.next(4));
    database.execute_raw("INSERT INTO vectors VALUES (1, 1, 'space', 1, 1, ''), (1, 2, 'space', 2, 1, '')");
    engine
        .write(Tenant::Workspace(WorkspaceKey(1)), &mut |tx| {
            tx.vectors_insert(WorkspaceKey(1), SPACE, &[(1, &wide), (2, &narrow)])
        })
        .unwrap();
    assert_eq!((nearest(&engine, 1, SPACE, &wide), nearest(&engine, 1, SPACE, &narrow)), (vec![1], vec![2]));
}

#[test]
fn vectors_written_before_there_was_an_index_are_brought_into_it_by_the_next_start() {
    let database = database();
    let engine = open(&database, &settings());
    let mut directions = Directions(Dice(0xF111));
    // More than one batch, in two workspaces, of two dimensions.
    let vectors: Vec<Vec<f32>> = (0..1_500).map(|_| directions.next(DIMENSION)).collect();
    let narrow: Vec<Vec<f32>> = (0..5).map(|_| directions.next(4)).collect();
    let sql = database.sql();
    for workspace in 1..=2 {
        sql.execute_batch(&format!(
            "INSERT INTO workspaces (workspace, workspace_id, created_at, last_write_at) VALUES ({workspace}, 'w{workspace}', 0, 0)"
        ))
        .unwrap();
        for (space, first, vectors) in [(SPACE, 1, &vectors), ("narrow", 2_001, &narrow)] {
            for (chunk, vector) in (first..).zip(vectors) {
                let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
                let row = "INSERT INTO vectors (workspace, chunk, space, number, scale, codes) VALUES (?1, ?2, ?3, ?2, 1, '')";
                sql.execute(row, &[workspace.into(), i64::from(chunk).into(), space.into()]).unwrap();
                let original = "INSERT INTO vector_originals (workspace, chunk, vector) VALUES (?1, ?2, ?3)";
                sql.execute(original, &[workspace.into(), i64::from(chunk).into(), bytes.as_slice().into()]).unwrap();
            }
        }
    }
    sql.execute_batch("DROP TABLE embeddings; DROP FUNCTION index_embeddings").unwrap();
    drop(engine);
    let engine = open(&database, &settings());
    assert!(!engine.lacks_vectors());
    for workspace in 1..=2 {
        assert_eq!(nearest(&engine, workspace, SPACE, &vectors[1_234])[0], 1_235);
        assert_eq!(nearest(&engine, workspace, "narrow", &narrow[2])[0], 2_003);
    }
    let marks = "SELECT COUNT(*) FROM meta WHERE key = 'embeddings_to_fill'";
    assert_eq!(sql.scalar::<i64>(marks, &[]).unwrap(), 0);
    // Somebody was killed while he filled it: the mark stands.
    sql.execute_batch("DELETE FROM embeddings WHERE chunk > 700; INSERT INTO meta VALUES ('embeddings_to_fill', '')")
        .unwrap();
    drop(engine);
    let engine = open(&database, &settings());
    assert_eq!(nearest(&engine, 2, SPACE, &vectors[1_234])[0], 1_235);
    assert_eq!(sql.scalar::<i64>(marks, &[]).unwrap(), 0);
}
