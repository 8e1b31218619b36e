//! A real database in a folder of its own, a clock that moves only when told, ids in a row, and one way to call.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rootset_model::Timestamp;
use rootset_provider::{Embedder, Extractor};
use rootset_service::{Caller, Clock, FrontEnd, Ids, Service, ServiceError, Settings};
use rootset_store::Store;
use rootset_testing::{Sql, TestDatabase, TestEngine};
use serde_json::{Value, json};

/// 2027-01-15T08:00:00Z.
pub const START_MS: i64 = 1_800_000_000_000;
/// What every call takes, so that no two things happen at the same time.
pub const STEP_MS: i64 = 1_000;
pub const HOUR_MS: i64 = 3_600_000;
pub const DAY_MS: i64 = 24 * HOUR_MS;

#[derive(Debug)]
struct SteppedClock {
    wall: AtomicI64,
    elapsed: AtomicI64,
    /// What every reading takes: nothing, unless a test is about long work.
    per_reading: AtomicI64,
}

impl Clock for SteppedClock {
    fn now(&self) -> Timestamp {
        let step = self.per_reading.load(Ordering::SeqCst);
        self.elapsed.fetch_add(step, Ordering::SeqCst);
        Timestamp(self.wall.fetch_add(step, Ordering::SeqCst))
    }

    fn elapsed_ms(&self) -> i64 {
        self.elapsed.load(Ordering::SeqCst)
    }
}

/// UUIDv7-shaped, one after the other.
#[derive(Debug)]
struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn next(&self, _: Timestamp) -> [u8; 16] {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        let mut id = [0; 16];
        id[..8].copy_from_slice(&[0x01, 0x90, 0, 0, 0, 0, 0x70, 0]);
        id[8..].copy_from_slice(&number.to_be_bytes());
        id[8] = 0x80;
        id
    }
}

pub struct World {
    pub database: TestDatabase,
    clock: Arc<SteppedClock>,
    ids: Arc<CountedIds>,
    pub service: Arc<Service>,
    /// Reads for the test's own eyes: its uses are never written.
    reader: OnceLock<Arc<Service>>,
    pub caller: Caller,
}

impl World {
    pub fn new() -> Self {
        Self::with(|service| service)
    }

    pub fn with_extractor(extractor: Arc<dyn Extractor>) -> Self {
        Self::with(|service| service.with_extractor(extractor))
    }

    pub fn with_embedder(embedder: Arc<dyn Embedder>) -> Self {
        Self::with(|service| service.with_embedder(embedder))
    }

    fn with(configure: impl FnOnce(Service) -> Service) -> Self {
        Self::on(TestDatabase::new(), configure)
    }

    pub fn on(database: TestDatabase, configure: impl FnOnce(Service) -> Service) -> Self {
        let clock = Arc::new(SteppedClock {
            wall: AtomicI64::new(START_MS),
            elapsed: AtomicI64::new(0),
            per_reading: AtomicI64::new(0),
        });
        let ids = Arc::new(CountedIds(AtomicU64::new(1)));
        let caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
        let service = open(&database, &clock, &ids, configure);
        Self { database, clock, ids, service, reader: OnceLock::new(), caller }
    }

    /// The database's file: only tests about SQLite's files ask for it.
    pub fn sqlite_file(&self) -> &Path {
        self.database.location().path().expect("tests about files are about SQLite")
    }

    /// For files of the test's own.
    pub fn folder(&self) -> &Path {
        self.database.folder()
    }

    pub fn backup_folder(&self) -> PathBuf {
        backup_folder(&self.database)
    }

    /// The database itself, as another process would open it.
    pub fn store(&self) -> Store {
        self.database.open()
    }

    /// Another process on the same database, with the built-in extractor.
    pub fn second_process(&self) -> Arc<Service> {
        open(&self.database, &self.clock, &self.ids, |service| service)
    }

    /// Another process on the same database, with settings of its own.
    pub fn process_with(&self, settings: Settings) -> Arc<Service> {
        open_with(&self.database, &self.clock, &self.ids, settings, |service| service)
    }

    fn reader(&self) -> &Arc<Service> {
        self.reader.get_or_init(|| self.second_process())
    }

    /// The process ends without a word and starts anew.
    pub fn restart(&mut self, configure: impl FnOnce(Service) -> Service) {
        self.reader = OnceLock::new();
        self.service = open(&self.database, &self.clock, &self.ids, configure);
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.wall.load(Ordering::SeqCst)
    }

    /// Time passes, and somebody uses the database twice a day.
    pub fn advance_ms(&self, milliseconds: i64) {
        let mut left = milliseconds;
        while left > 0 {
            let step = left.min(12 * HOUR_MS);
            self.let_pass_ms(step);
            left -= step;
            if milliseconds >= HOUR_MS {
                self.service.observe_time().unwrap();
            }
        }
    }

    /// Time passes, and nothing runs.
    pub fn let_pass_ms(&self, milliseconds: i64) {
        self.clock.elapsed.fetch_add(milliseconds, Ordering::SeqCst);
        self.set_clock_ahead_ms(milliseconds);
    }

    /// The next ids are none that another world has drawn.
    pub fn skip_ids(&self, count: u64) {
        self.ids.0.fetch_add(count, Ordering::SeqCst);
    }

    /// From now on every look at the clock takes a millisecond.
    pub fn tick_on_every_reading(&self) {
        self.clock.per_reading.store(1, Ordering::SeqCst);
    }

    /// Somebody sets the wall clock; no time passes.
    pub fn set_clock_ahead_ms(&self, milliseconds: i64) {
        self.clock.wall.fetch_add(milliseconds, Ordering::SeqCst);
    }

    pub fn try_call(&self, operation: &str, request: Value) -> Result<Value, ServiceError> {
        self.advance_ms(STEP_MS);
        self.service.call(&self.caller, operation, request)
    }

    #[track_caller]
    pub fn call(&self, operation: &str, request: Value) -> Value {
        match self.try_call(operation, request) {
            Ok(answer) => answer,
            Err(error) => panic!("{operation}: {}", error.to_json()),
        }
    }

    /// The error's code and the whole error.
    #[track_caller]
    pub fn fails(&self, operation: &str, request: Value) -> (&'static str, ServiceError) {
        match self.try_call(operation, request) {
            Ok(answer) => panic!("{operation} answered {answer}"),
            Err(error) => (error.code.as_str(), error),
        }
    }

    #[track_caller]
    pub fn refuses(&self, operation: &str, request: Value) -> ServiceError {
        let (code, error) = self.fails(operation, request);
        assert_eq!(code, "invalid_argument", "{error}");
        error
    }

    /// Adds a text and answers its id.
    #[track_caller]
    pub fn add(&self, text: &str) -> String {
        let added = self.call("add_memory", json!({ "context": text }));
        assert_eq!(added["created"], true, "{added}");
        text_of(&added["memory_id"])
    }

    #[track_caller]
    pub fn add_named(&self, name: &str, text: &str) -> String {
        text_of(&self.call("add_memory", json!({"name": name, "context": text}))["memory_id"])
    }

    #[track_caller]
    pub fn delete(&self, memory: &str) -> String {
        text_of(&self.call("delete_memory", json!({ "memory_id": memory }))["run_id"])
    }

    /// Reads a memory without leaving a use behind.
    #[track_caller]
    pub fn look(&self, memory: &str) -> Value {
        self.look_with(json!({"memory_id": memory, "include": ["ids"]}))
    }

    #[track_caller]
    pub fn look_with(&self, request: Value) -> Value {
        self.look_by("get_memory", request)
    }

    /// Any operation that reads, without leaving a use behind.
    #[track_caller]
    pub fn look_by(&self, operation: &str, request: Value) -> Value {
        self.reader().call(&self.caller, operation, request).unwrap_or_else(|error| panic!("{operation}: {error}"))
    }

    /// Names of memories that a search finds, best first.
    #[track_caller]
    pub fn found(&self, query: &str) -> Vec<String> {
        names(&self.call("search_memory", json!({"query": query, "limit": 100, "max_tokens": 1_000_000}))["results"])
    }

    #[track_caller]
    pub fn listed(&self, request: Value) -> Vec<String> {
        names(&self.call("list_memories", request)["memories"])
    }

    /// Names of all visible entities, sorted.
    #[track_caller]
    pub fn entities(&self) -> Vec<String> {
        let mut found = names(&self.call("export_graph", json!({}))["entities"]);
        found.sort();
        found
    }

    #[track_caller]
    pub fn entity(&self, name: &str) -> Value {
        self.call("get_entity", json!({ "entity_id": name }))
    }

    #[track_caller]
    pub fn assert_doctor_is_content(&self) {
        let answer = self.call("doctor", json!({}));
        let broken: Vec<&Value> = array(&answer["checks"]).iter().filter(|check| check["ok"] == false).collect();
        assert!(answer["ok"] == true && broken.is_empty(), "{broken:#?}");
    }

    /// Ids of the checks that doctor finds broken.
    pub fn complaints(&self) -> Vec<String> {
        let answer = self.call("doctor", json!({}));
        let broken = array(&answer["checks"]).iter().filter(|check| check["ok"] == false);
        let broken: Vec<String> = broken.map(|check| text_of(&check["id"])).collect();
        assert_eq!(answer["ok"] == true, broken.is_empty());
        broken
    }

    /// Everything that the operations tell about a workspace. Read by another process whose uses are never written, so
    /// that looking changes nothing.
    pub fn dump(&self, workspace: &str) -> Value {
        let reader = self.reader();
        let ask = |operation: &str, mut request: Value| {
            request["workspace_id"] = workspace.into();
            reader.call(&self.caller, operation, request).unwrap_or_else(|error| panic!("{operation}: {error}"))
        };
        let mut memories = Vec::new();
        loop {
            let page = ask("list_memories", json!({"lifecycle": "all", "limit": 100, "offset": memories.len()}));
            memories.extend(array(&page["memories"]).iter().cloned());
            if memories.len() as i64 >= page["total"].as_i64().unwrap() {
                break;
            }
        }
        let trashed = names(&ask("list_memories", json!({"lifecycle": "trashed", "limit": 100}))["memories"]);
        let living = memories.iter().filter(|it| !trashed.contains(&text_of(&it["name"])));
        let whole: Vec<Value> = living
            .map(|it| {
                let memory = ask("get_memory", json!({"memory_id": it["memory_id"], "include": ["ids"]}));
                let earlier = (1..memory["revision"].as_i64().unwrap()).map(|revision| {
                    let request =
                        json!({"memory_id": it["memory_id"], "revision": revision, "workspace_id": workspace});
                    let read = reader.call(&self.caller, "get_memory", request);
                    read.map_or_else(|error| error.to_json(), |answer| answer["context"].clone())
                });
                json!({"earlier": earlier.collect::<Vec<_>>(), "memory": memory})
            })
            .collect();
        json!({
            "listed": memories,
            "memories": whole,
            "graph": ask("export_graph", json!({})),
            "trash": ask("list_trash", json!({"limit": 100})),
            "counts": ask("get_stats", json!({}))["counts"],
        })
    }

    /// See [`TestEngine::backup_formats`].
    pub fn backup_formats() -> &'static [&'static str] {
        TestEngine::chosen().backup_formats()
    }

    /// So that nothing is left in the log of what is no longer in the database.
    pub fn empty_log(&self) {
        if self.database.engine() == TestEngine::Sqlite {
            self.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        }
    }

    /// What a receipt says of a purge that left nothing: only files of our own can be searched.
    pub fn clean_scan() -> &'static str {
        if TestEngine::chosen().has_files() { "clean" } else { "not_run" }
    }

    /// As operations tell it.
    pub fn engine_name(&self) -> &'static str {
        match self.database.engine() {
            TestEngine::Sqlite => "sqlite",
            TestEngine::Postgres => "postgres",
        }
    }

    pub fn sql(&self) -> Sql {
        self.database.sql()
    }

    /// Where these bytes still are: in which of SQLite's files, or in rows of which of PostgreSQL's tables.
    pub fn places_with(&self, bytes: &[u8]) -> Vec<String> {
        self.database.places_with(bytes)
    }
}

fn backup_folder(database: &TestDatabase) -> PathBuf {
    database.folder().join("rootset.db.backups")
}

fn open(
    database: &TestDatabase,
    clock: &Arc<SteppedClock>,
    ids: &Arc<CountedIds>,
    configure: impl FnOnce(Service) -> Service,
) -> Arc<Service> {
    // A test that blocks its extractor should not wait as long as a person would.
    let mut settings = Settings { add_wait_ms: 300, ..Settings::default() };
    // Tests say themselves when a tree is looked at; `freshening.rs` lets questions do it.
    settings.code.freshen_ms = 0;
    open_with(database, clock, ids, settings, configure)
}

fn open_with(
    database: &TestDatabase,
    clock: &Arc<SteppedClock>,
    ids: &Arc<CountedIds>,
    mut settings: Settings,
    configure: impl FnOnce(Service) -> Service,
) -> Arc<Service> {
    // Not every engine has a place of its own for them.
    settings.backup.folder.get_or_insert_with(|| backup_folder(database));
    let service = Service::new_at(database.open(), settings, clock.clone()).unwrap();
    Arc::new(configure(service).with_ids(ids.clone()))
}

#[track_caller]
pub fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("`{value}` is not a text")).to_owned()
}

#[track_caller]
pub fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("`{value}` is not a list"))
}

#[track_caller]
pub fn names(list: &Value) -> Vec<String> {
    array(list).iter().map(|it| text_of(&it["name"])).collect()
}

#[track_caller]
pub fn ids(list: &Value) -> Vec<String> {
    array(list).iter().map(text_of).collect()
}
