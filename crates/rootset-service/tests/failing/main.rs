//! Backups, restores, defragmentation and migrations that fail at the edge of every phase: what was there is still there,
//! nothing half-made is found, and the next try succeeds. Connections to a server that break anywhere.
//!
//! Failpoints belong to the whole process, so these tests have a binary of their own and take turns.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod lost_connections;

use std::path::PathBuf;
use std::sync::Arc;

use fail::FailScenario;
use rootset_service::{Caller, FrontEnd, Service, Settings};
use rootset_store::{SCHEMA_VERSION, Store, failpoints::FAILPOINTS, list_backups};
use rootset_testing::{Sql, TestDatabase, TestEngine, temporary_folder};
use serde_json::{Value, json};

struct Place {
    database: TestDatabase,
    service: Arc<Service>,
}

impl Place {
    fn new() -> Self {
        let database = TestDatabase::new();
        let mut settings = Settings::default();
        settings.backup.folder = Some(backup_folder(&database));
        let service = Arc::new(Service::new(database.open(), settings).unwrap());
        let place = Self { database, service };
        for number in 0..20 {
            place
                .call("add_memory", json!({"name": format!("n{number}"), "context": format!("Note{number} is here.")}));
        }
        place.call("delete_memory", json!({"memory_id": "n7"}));
        place
    }

    fn try_call(&self, operation: &str, request: Value) -> Result<Value, rootset_service::ServiceError> {
        let caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
        self.service.call(&caller, operation, request)
    }

    #[track_caller]
    fn call(&self, operation: &str, request: Value) -> Value {
        self.try_call(operation, request).unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()))
    }

    /// Everything that the operations tell, but for uses.
    fn dump(&self) -> Value {
        json!({
            "memories": self.call("list_memories", json!({"lifecycle": "all", "limit": 100})),
            "graph": self.call("export_graph", json!({})),
            "trash": self.call("list_trash", json!({})),
        })
    }

    #[track_caller]
    fn assert_whole(&self) {
        let answer = self.call("doctor", json!({}));
        assert_eq!(answer["ok"], true, "{answer:#}");
    }

    fn backups(&self) -> usize {
        let backups = list_backups(&backup_folder(&self.database)).unwrap();
        for backup in &backups {
            assert_eq!(rootset_store::verify_backup(backup).unwrap(), [""; 0]);
        }
        backups.len()
    }
}

fn backup_folder(database: &TestDatabase) -> PathBuf {
    database.folder().join("rootset.db.backups")
}

fn points(prefix: &str) -> impl Iterator<Item = &'static str> {
    FAILPOINTS.iter().copied().filter(move |name| name.starts_with(prefix))
}

/// What was carried out is answered, with what failed afterwards.
fn has_warned(answer: &Value, point: &str) -> bool {
    assert!(answer["warnings"].to_string().contains(point) || answer["warnings"].is_null(), "{answer}");
    answer["warnings"].is_array()
}

#[test]
fn a_backup_that_fails_is_not_found_and_the_next_one_is_made() {
    let scenario = FailScenario::setup();
    for format in TestEngine::chosen().backup_formats() {
        let place = Place::new();
        let before = place.dump();
        for point in points("backup.") {
            let found = place.backups();
            fail::cfg(point, "return").unwrap();
            let is_published = point == "backup.published";
            let is_met = !matches!((*format, point), ("snapshot", "backup.table") | ("jsonl", "backup.copied"));
            let said = place.try_call("backup_create", json!({ "format": format }));
            assert_eq!(said.is_err(), is_met && !is_published, "{point}");
            assert_eq!(said.is_ok_and(|answer| has_warned(&answer, point)), is_published, "{point}");
            fail::remove(point);
            assert_eq!(place.backups(), found + usize::from(is_published || !is_met), "{point}");
            place.call("backup_create", json!({ "format": format }));
            assert_eq!(place.dump(), before);
        }
        let folder = std::fs::read_dir(backup_folder(&place.database)).unwrap();
        let hidden = folder.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
        assert_eq!(hidden.count(), 0, "nothing unfinished is left");
        place.assert_whole();
    }
    scenario.teardown();
}

#[test]
fn a_restore_that_fails_changes_nothing_or_everything() {
    let scenario = FailScenario::setup();
    for format in TestEngine::chosen().backup_formats() {
        let place = Place::new();
        let backed_up = place.dump();
        let id = place.call("backup_create", json!({ "format": format }))["backup_id"].clone();
        for point in points("restore.") {
            place.call("add_memory", json!({"name": point.replace('.', "-"), "context": point}));
            let before = place.dump();
            fail::cfg(point, "return").unwrap();
            let request = json!({"backup_id": id, "confirm": true});
            let said = place.try_call("backup_restore", request.clone());
            fail::remove(point);
            let is_committed = point == "restore.committed";
            assert_eq!(said.is_ok_and(|answer| has_warned(&answer, point)), is_committed, "{point}");
            assert_eq!(place.dump(), if is_committed { backed_up.clone() } else { before }, "{point}");
            place.assert_whole();
            place.call("backup_restore", request);
            assert_eq!(place.dump(), backed_up, "{point}");
        }
        place.assert_whole();
    }
    scenario.teardown();
}

/// A backup that is being rewritten is always there, as it was or as it should be, and verifies.
#[test]
fn a_rewritten_backup_is_the_old_one_or_the_new_one_and_the_next_try_completes_it() {
    let scenario = FailScenario::setup();
    for format in TestEngine::chosen().backup_formats() {
        for point in points("rewrite.") {
            let place = Place::new();
            place.call("add_memory", json!({"name": "secret", "context": "The quokka of Wombat Street."}));
            let backup = place.call("backup_create", json!({ "format": format }));
            let plan = place.call("forget", json!({"query": "quokka", "purge": true}));
            let request = json!({"plan_id": plan["plan_id"], "confirm": true, "rewrite_backups": true});
            fail::cfg(point, "return").unwrap();
            let answer = place.call("gc_apply", request.clone());
            fail::remove(point);
            let rewritten = &answer["receipt"]["rewritten"][0];
            assert_eq!(rewritten["outcome"], "failed", "{point}: {answer}");
            assert_eq!(answer["receipt"]["backups"][0]["backup_id"], backup["backup_id"], "{point}");
            assert_eq!(place.backups(), 1, "{format} at {point}: it is found and verifies");

            let answer = place.call("gc_apply", request);
            let outcome = answer["receipt"]["rewritten"][0]["outcome"].as_str().unwrap().to_owned();
            let expected = if point == "rewrite.replaced" { "clean" } else { "rewritten" };
            assert_eq!(outcome, expected, "{format} at {point}: {answer}");
            assert_eq!(place.backups(), 1, "{format} at {point}");
            let folder = std::fs::read_dir(backup_folder(&place.database)).unwrap();
            let hidden = folder.filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
            assert_eq!(hidden.count(), 0, "nothing of the old one is left");
            place.call("backup_restore", json!({"backup_id": backup["backup_id"], "confirm": true}));
            assert!(place.try_call("get_memory", json!({"memory_id": "secret"})).is_err());
            place.assert_whole();
        }
    }
    scenario.teardown();
}

#[test]
fn a_defragmentation_that_fails_loses_nothing() {
    let scenario = FailScenario::setup();
    let place = Place::new();
    let before = place.dump();
    for point in points("defrag.") {
        fail::cfg(point, "return").unwrap();
        let said = place.try_call("defrag", json!({"confirm": true}));
        assert_eq!(said.is_ok_and(|answer| has_warned(&answer, point)), point == "defrag.noted", "{point}");
        fail::remove(point);
        assert_eq!(place.dump(), before, "{point}");
        place.assert_whole();
        place.call("defrag", json!({"confirm": true}));
        assert_eq!(place.dump(), before, "{point}");
    }
    scenario.teardown();
}

#[test]
fn a_migration_of_sqlite_that_fails_leaves_the_old_database_and_its_backup() {
    let scenario = FailScenario::setup();
    let fixture =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../rootset-store/tests/fixtures/schema-0001.db");
    for point in points("migrate.") {
        let folder = temporary_folder();
        let path = folder.path().join("rootset.db");
        std::fs::copy(&fixture, &path).unwrap();
        fail::cfg(point, "return").unwrap();
        assert!(Store::open_sqlite(&path).is_err(), "{point}");
        fail::remove(point);
        let version = |path: &std::path::Path| -> i64 {
            let sql = Sql::open(&path.into()).unwrap();
            sql.scalar("PRAGMA user_version", &[]).unwrap()
        };
        assert_eq!(version(&path), if point == "migrate.committed" { SCHEMA_VERSION } else { 1 }, "{point}");
        let store = Store::open_sqlite(&path).unwrap();
        assert!(store.check().unwrap().iter().all(|check| check.is_ok()), "{point}");
        let backups = list_backups(&folder.path().join("rootset.db.backups")).unwrap();
        assert!(!backups.is_empty());
        for backup in backups {
            assert_eq!(backup.manifest.schema_version, 1);
            assert_eq!(rootset_store::verify_backup(&backup).unwrap(), [""; 0]);
        }
    }
    scenario.teardown();
}

#[test]
fn a_migration_on_a_server_that_fails_leaves_nothing_and_the_next_start_makes_it() {
    let scenario = FailScenario::setup();
    let tables = "SELECT COUNT(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'";
    // An error of ours, and a server that ends the session in the middle.
    for is_cut in [false, true] {
        let database = TestDatabase::empty_on(TestEngine::Postgres);
        if is_cut {
            let location = database.location().clone();
            fail::cfg_callback("migrate.step", move || {
                let others = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                              WHERE datname = current_database() AND pid <> pg_backend_pid()";
                Sql::open(&location).unwrap().rows(others, &[], |_| Ok(())).unwrap();
            })
            .unwrap();
        } else {
            fail::cfg("migrate.step", "return").unwrap();
        }
        assert!(Store::open(database.location(), None).is_err());
        fail::remove("migrate.step");
        assert_eq!(database.sql().scalar::<i64>(tables, &[]).unwrap(), 0);
        let store = database.open();
        assert!(store.is_new());
        assert!(store.check().unwrap().iter().all(|check| check.is_ok()));
    }
    scenario.teardown();
}

#[test]
fn a_backup_of_an_older_schema_is_restored_into_the_new_one() {
    let scenario = FailScenario::setup();
    let fixture =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../rootset-store/tests/fixtures/schema-0001.db");
    let folder = temporary_folder();
    let path = folder.path().join("old.db");
    std::fs::copy(&fixture, &path).unwrap();
    drop(Store::open_sqlite(&path).unwrap());
    let backup = &list_backups(&folder.path().join("old.db.backups")).unwrap()[0];
    let place = Place::new();
    let answer = place.call("backup_restore", json!({"backup_id": backup.path.to_str().unwrap(), "confirm": true}));
    assert!(answer["warnings"][0].as_str().unwrap().contains("no erasure ledger"), "{answer}");
    let memory = place.call("get_memory", json!({"memory_id": "falcon-deploy"}));
    assert_eq!(memory["context"], "Project Falcon uses PostgreSQL. Alice owns scripts/deploy.sh.");
    place.assert_whole();
    scenario.teardown();
}
