//! A small database in a known state, the same for every input: a few memories, a plan, a session, a backup of each kind.
//!
//! Made once and copied: an input never meets what another one left. A copy that an input did not change serves the next.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use rootset_model::Timestamp;
use rootset_service::{Caller, Clock, CodeSettings, FrontEnd, Ids, Service, ServiceError, Settings};
use rootset_testing::{TestDatabase, TestEngine};
use serde_json::{Value, json};

/// 2027-01-15T08:00:00Z.
const NOW_MS: i64 = 1_800_000_000_000;
/// Ids of what an input makes begin here, above those of the world itself.
const FIRST_ID_OF_INPUT: u64 = 1_000;
/// An error goes to a model or a terminal; whatever was sent, it is short.
const ERROR_BYTES_MAX: usize = 16 << 10;

#[derive(Debug)]
struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        Timestamp(NOW_MS)
    }

    fn elapsed_ms(&self) -> i64 {
        0
    }
}

/// `01900000-0000-7000-8000-…`, one after the other: files of a corpus can name them.
#[derive(Debug)]
struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn next(&self, _: Timestamp) -> [u8; 16] {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&[0x01, 0x90, 0, 0, 0, 0, 0x70, 0]);
        id[8..].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        id[8] = 0x80;
        id
    }
}

/// A file of a database or of a backup.
#[derive(Clone, Debug)]
pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// What a world begins with.
#[derive(Debug)]
pub struct Beginning {
    database: Vec<File>,
    pub bundle: Vec<File>,
    pub snapshot: Vec<File>,
}

pub static BEGINNING: LazyLock<Beginning> = LazyLock::new(|| {
    let database = TestDatabase::on(TestEngine::Sqlite);
    let service = service(&database, 1);
    let call = |operation: &str, request: Value| {
        let answer = service.call(&caller(), operation, request);
        answer.unwrap_or_else(|error| panic!("{operation}: {error}"))
    };
    call("add_memory", json!({"name": "falcon", "context": "Project Falcon uses PostgreSQL.", "tags": ["old"]}));
    call("add_memory", json!({"name": "alice", "context": "Alice owns Project Falcon.", "decisions": ["Use SQLite."]}));
    call("add_memory", json!({"name": "gateway", "context": "AuthGateway calls RetryPolicy::wait().", "pinned": true}));
    call("update_memory", json!({"memory_id": "alice", "context": "Alice owned Project Falcon until May."}));
    call(
        "context_add",
        json!({"session_id": "s", "segments": [
            {"segment_id": "one", "type": "message", "role": "user", "text": "Where is the gateway?"},
            {"segment_id": "two", "type": "message", "role": "assistant", "text": "In src/gateway.rs."},
        ]}),
    );
    call("forget", json!({"tags": ["old"]}));
    let files_of = |format: &str| {
        let made = call("backup_create", json!({ "format": format }));
        files_in(Path::new(made["path"].as_str().expect("a backup has a path")))
    };
    let (bundle, snapshot) = (files_of("jsonl"), files_of("snapshot"));
    drop(service);
    let stored = database.storage().into_iter().filter(|(_, bytes)| !bytes.is_empty());
    Beginning { database: stored.map(|(name, bytes)| File { name, bytes }).collect(), bundle, snapshot }
});

fn files_in(folder: &Path) -> Vec<File> {
    let entries = std::fs::read_dir(folder).expect("the folder of a backup");
    let read = |path: PathBuf| File {
        name: path.file_name().expect("a name").to_string_lossy().into_owned(),
        bytes: std::fs::read(&path).expect("a file of a backup"),
    };
    entries.map(|entry| read(entry.expect("an entry of a folder").path())).collect()
}

fn service(database: &TestDatabase, first_id: u64) -> Arc<Service> {
    let mut settings = Settings {
        code: CodeSettings { roots: Some(vec![database.folder().to_owned()]), ..CodeSettings::default() },
        ..Settings::default()
    };
    settings.backup.folder = Some(database.folder().join("rootset.db.backups"));
    let service = Service::new_at(database.open(), settings, Arc::new(StoppedClock));
    let service = service.expect("a service on a new database");
    Arc::new(service.with_ids(Arc::new(CountedIds(AtomicU64::new(first_id)))))
}

/// Somebody far away: paths of this machine are not theirs to name.
pub fn caller() -> Caller {
    Caller::new(FrontEnd::Http, "stranger", "home")
}

#[derive(Debug)]
pub struct World {
    database: TestDatabase,
    pub service: Arc<Service>,
    untouched: Traces,
}

impl World {
    fn new() -> Self {
        let database = TestDatabase::on(TestEngine::Sqlite);
        for File { name, bytes } in &BEGINNING.database {
            std::fs::write(database.folder().join(name), bytes).expect("a file in a folder of our own");
        }
        let service = service(&database, FIRST_ID_OF_INPUT);
        let untouched = Traces::in_folder(database.folder());
        Self { database, service, untouched }
    }

    pub fn folder(&self) -> &Path {
        self.database.folder()
    }

    /// Whatever an operation says is right, unless it blames the program or does not come to an end.
    ///
    /// # Panics
    /// If it does.
    pub fn call(&self, operation: &str, request: Value) -> Result<Value, ServiceError> {
        let answer = self.service.call(&caller(), operation, request);
        if let Err(error) = &answer {
            assert_ne!(error.code.as_str(), "internal", "{operation}: {error}");
            let bytes = error.to_json().to_string().len();
            assert!(bytes <= ERROR_BYTES_MAX, "{operation}: an error of {bytes} bytes");
        }
        answer
    }

    /// Looks through the database if anything was written.
    fn check(&self) {
        if self.is_untouched() {
            return;
        }
        let answer = self.service.call(&caller(), "doctor", json!({})).expect("doctor answers");
        assert_eq!(answer["ok"], true, "{:#}", answer["checks"]);
    }

    fn is_untouched(&self) -> bool {
        Traces::in_folder(self.database.folder()) == self.untouched
    }
}

/// Lets an input do what it wants with a world, and looks at the world afterwards.
pub fn with_world(act: impl FnOnce(&World)) {
    thread_local!(static SPARE: RefCell<Option<World>> = const { RefCell::new(None) });
    let world = SPARE.take().unwrap_or_else(World::new);
    act(&world);
    world.check();
    if world.is_untouched() {
        SPARE.set(Some(world));
    }
}

/// Sizes and times of everything in a folder: nothing is written without leaving one.
#[derive(Debug, PartialEq, Eq)]
struct Traces(Vec<(PathBuf, u64, Option<SystemTime>)>);

impl Traces {
    fn in_folder(folder: &Path) -> Self {
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(seen) = entry.metadata() else { continue };
                // What readers note there is nobody's content.
                let is_shared_memory = entry.file_name().to_string_lossy().ends_with("-shm");
                if seen.is_dir() {
                    open.push(entry.path());
                }
                if !is_shared_memory {
                    found.push((entry.path(), seen.len(), seen.modified().ok()));
                }
            }
        }
        found.sort();
        Self(found)
    }
}
