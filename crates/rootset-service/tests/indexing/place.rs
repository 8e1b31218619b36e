//! A project on disk beside a database, and short ways to change the one and to ask the other.

use std::path::{Path, PathBuf};

use rootset_model::MemoryId;
use rootset_testing::temporary_folder;
use rootset_trees::{indexed_paths, stale_paths};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{World, array, ids, text_of};

/// The project's folder, hence its slug.
pub const SLUG: &str = "shop";

pub const ORDERS: &str = r#""""Orders of the shop."""
from billing import charge


def place_order(item):
    """Places an order for a marmalade."""
    return charge(item)


def cancel_order(item):
    return None


class Basket:
    """What a customer carries."""

    def add_item(self, item):
        return place_order(item)

    def empty_basket(self):
        return []
"#;

pub const BILLING: &str = r#"def charge(item):
    """Takes money."""
    return refund(item)


def refund(item):
    return item
"#;

pub const LIBRARY: &str = r#"//! The warehouse.

pub struct Shelf {
    height: u32,
}

impl Shelf {
    /// Stores a crate of oranges.
    pub fn put(&self) -> u32 {
        measure(self.height)
    }
}

fn measure(height: u32) -> u32 {
    height + 1
}
"#;

pub const README: &str = "# Shop\n\nSells marmalade and oranges.\n\n## Deployment\n\nRuns on a raspberry.\n";

/// Four files: two of Python, one of Rust, one text.
pub const PROJECT: [(&str, &str); 4] =
    [("README.md", README), ("billing.py", BILLING), ("orders.py", ORDERS), ("src/lib.rs", LIBRARY)];

pub struct Place {
    pub world: World,
    folder: TempDir,
}

impl Place {
    /// With these files and no more, not indexed yet.
    pub fn with<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let place = Self { world: World::new(), folder: temporary_folder() };
        std::fs::create_dir(place.root()).unwrap();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    pub fn new() -> Self {
        Self::with(PROJECT)
    }

    /// A project of so many small files, indexed.
    pub fn of_files(count: usize) -> Self {
        let place = Self::with([]);
        for number in 0..count {
            place.write(&format!("f{number}.py"), format!("def function_{number}():\n    return {number}\n"));
        }
        place.index();
        place
    }

    pub fn indexed() -> Self {
        let place = Self::new();
        place.index();
        place
    }

    pub fn root(&self) -> PathBuf {
        self.beside(SLUG)
    }

    /// A path beside the project's folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    #[track_caller]
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.file(path), text);
    }

    #[track_caller]
    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.file(path)).unwrap();
    }

    #[track_caller]
    pub fn rename(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.file(to).parent().unwrap()).unwrap();
        std::fs::rename(self.file(from), self.file(to)).unwrap();
    }

    #[track_caller]
    pub fn index(&self) -> Value {
        self.index_with(json!({}))
    }

    /// With these fields beside the path.
    #[track_caller]
    pub fn index_with(&self, fields: Value) -> Value {
        self.world.call("index_codebase", self.request(fields))
    }

    pub fn request(&self, fields: Value) -> Value {
        request(&self.root(), fields)
    }

    /// Paths of the files that are served, sorted.
    pub fn served(&self) -> Vec<String> {
        own(indexed_paths(self.world.database.location(), "home").unwrap())
    }

    pub fn stale(&self) -> Vec<String> {
        own(stale_paths(self.world.database.location(), "home").unwrap())
    }

    /// Paths that a search finds, each once, sorted.
    #[track_caller]
    pub fn found(&self, query: &str) -> Vec<String> {
        let answer = self.world.call("search_code", json!({"query": query, "limit": 100}));
        let mut paths: Vec<String> = array(&answer["results"]).iter().map(|it| text_of(&it["file_path"])).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    #[track_caller]
    pub fn symbols(&self, qualified_name: &str) -> Vec<Value> {
        let answer = self.world.call("get_symbol", json!({ "qualified_name": qualified_name }));
        array(&answer["results"]).to_vec()
    }

    /// Qualified names of all matches, in the order of the answer.
    #[track_caller]
    pub fn symbol_names(&self, qualified_name: &str) -> Vec<String> {
        qualified_names(&self.symbols(qualified_name))
    }

    #[track_caller]
    pub fn callers(&self, qualified_name: &str) -> Vec<Value> {
        let answer = self.world.call("get_callers", json!({ "qualified_name": qualified_name }));
        array(&answer["results"]).to_vec()
    }

    #[track_caller]
    pub fn callees(&self, qualified_name: &str) -> Vec<Value> {
        let answer = self.world.call("get_callees", json!({ "qualified_name": qualified_name }));
        array(&answer["results"]).to_vec()
    }

    /// The memory of a file that is not in the trash.
    #[track_caller]
    pub fn id_of(&self, path: &str) -> String {
        let sql = "SELECT memory FROM memories
                   WHERE source = 'code_indexer' AND file_path = ?1 AND trashed_run IS NULL";
        self.world.sql().scalar::<MemoryId>(sql, &[path.into()]).unwrap().to_string()
    }

    /// Ids of a file's chunks in the order of its text.
    #[track_caller]
    pub fn chunk_ids(&self, path: &str) -> Vec<String> {
        ids(&self.world.look(&self.id_of(path))["chunk_ids"])
    }

    pub fn let_time_pass(&self) {
        let_time_pass(&self.world, self.folder.path());
    }

    #[track_caller]
    pub fn assert_nothing_stale(&self) {
        assert_eq!(self.stale(), [""; 0]);
    }
}

/// Time passes in which nobody writes: what was indexed is no longer fresh enough to be doubted.
pub fn let_time_pass(world: &World, folder: &Path) {
    const HOUR_NS: i64 = 3_600_000_000_000;
    world.sql().execute("UPDATE repos SET trusted_at = trusted_at + ?1", &[HOUR_NS.into()]).unwrap();
    // The file system's own clock ticks: what is written from now on has another time.
    let probe = folder.join("probe");
    let time_of_a_write = || {
        std::fs::write(&probe, "").unwrap();
        std::fs::metadata(&probe).unwrap().modified().unwrap()
    };
    let before = time_of_a_write();
    while time_of_a_write() == before {
        std::thread::yield_now();
    }
    std::fs::remove_file(&probe).unwrap();
}

pub fn request(root: &Path, mut fields: Value) -> Value {
    fields["path"] = root.to_str().unwrap().into();
    fields
}

#[track_caller]
pub fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Counts of an answer: seen, indexed, unchanged, removed.
pub fn counts(answer: &Value) -> [i64; 4] {
    ["files_seen", "files_indexed", "files_unchanged", "files_removed"]
        .map(|field| answer[field].as_i64().unwrap_or_else(|| panic!("`{field}` in {answer}")))
}

/// What the answer counts as left out, over all reasons.
pub fn skipped(answer: &Value) -> i64 {
    answer["skipped"].as_object().map_or(0, |reasons| reasons.values().filter_map(Value::as_i64).sum())
}

#[track_caller]
pub fn qualified_names(results: &[Value]) -> Vec<String> {
    results.iter().map(|it| text_of(&it["qualified_name"])).collect()
}

/// Paths of the project, without its slug.
fn own(paths: Vec<String>) -> Vec<String> {
    paths.into_iter().map(|path| path.strip_prefix("shop:").map(str::to_owned).unwrap_or(path)).collect()
}
