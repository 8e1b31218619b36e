//! Databases in the states that faults strike in: filled once, copied for every fault.

use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rootset_model::limits::PURGE_BATCH_MEMORIES;
use rootset_service::{Clock, SystemClock};
use rootset_store::Location;
use serde_json::{Value, json};

use crate::dump::Since;
use crate::error::StressError;
use crate::step::{BATCH_MEMORIES, call, call_all};
use crate::texts;

/// The tag of what goes.
pub const OLD: &str = "old";
/// More than one batch of a sweep and of a purge, and a last one that is not full.
pub const OLD_MEMORIES: usize = PURGE_BATCH_MEMORIES + 60;
const _: () = assert!(OLD_MEMORIES > BATCH_MEMORIES && OLD_MEMORIES < 2 * BATCH_MEMORIES);
/// What stays, in both workspaces; it shares entities with what goes.
const KEPT_MEMORIES: usize = 24;
/// As few of each as their names in [`fill`] allow: every write of a disk is looked at.
const FEW_MEMORIES: usize = 10;
const DATABASE: &str = "state.db";
/// Names of memories are `old-7`; texts are theirs alone.
const SEED: u64 = 7;

/// A folder with a database at rest and its backups, and what a step needs to know about it.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
    /// Ids by the word that scenarios know them by.
    pub facts: Value,
}

impl State {
    pub fn database(&self) -> Location {
        Location::File(self.file())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A database that is not there yet.
    pub fn empty(folder: &Path) -> Result<Self, StressError> {
        std::fs::create_dir(folder)?;
        Ok(Self { folder: folder.to_owned(), facts: json!({}) })
    }

    /// The state in this folder, whatever it is.
    pub fn in_folder(&self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), facts: self.facts.clone() }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.join(DATABASE)
    }

    /// What is new in a copy of this state.
    pub fn since(&self) -> Result<Since, StressError> {
        let now = SystemClock.now().0;
        if self.file().exists() { Since::of(&self.database(), now) } else { Ok(Since::nothing(now)) }
    }

    /// A copy to try something on.
    pub fn copy_to(&self, folder: &Path) -> Result<Self, StressError> {
        copy_folder(&self.folder, folder)?;
        Ok(Self { folder: folder.to_owned(), facts: self.facts.clone() })
    }

    /// A copy with a plan of everything old.
    pub fn planned(&self, folder: &Path) -> Result<Self, StressError> {
        self.after(folder, "forget", json!({"tags": [OLD]}), ("plan_id", "plan_id"))
    }

    /// A copy after one more operation; the answer's field becomes a fact.
    fn after(
        &self,
        folder: &Path,
        operation: &str,
        arguments: Value,
        (fact, field): (&str, &str),
    ) -> Result<Self, StressError> {
        let mut next = self.copy_to(folder)?;
        let answer = call(&next.database(), operation, arguments)?;
        next.facts[fact] = answer[field].clone();
        Ok(next)
    }
}

/// All states, each made from the one before it.
#[derive(Clone, Debug)]
pub struct States {
    pub filled: State,
    /// A plan to trash everything old.
    pub planned: State,
    /// A plan to erase it.
    pub erasing: State,
    /// The plan was applied.
    pub trashed: State,
    /// And its trash was purged: free pages, dead full text.
    pub purged: State,
    /// A whole workspace of several batches is in the trash.
    pub workspace_trashed: State,
    /// Three backups were made; then everything old was purged, a memory changed and a workspace was added.
    pub backed_up: State,
    /// A database of the first schema.
    pub first_schema: State,
}

impl States {
    pub fn make(folder: &Path) -> Result<Self, StressError> {
        Self::of_size(folder, OLD_MEMORIES, KEPT_MEMORIES)
    }

    /// The same with as little as possible in them.
    pub fn make_small(folder: &Path) -> Result<Self, StressError> {
        Self::of_size(folder, FEW_MEMORIES, FEW_MEMORIES)
    }

    fn of_size(folder: &Path, old: usize, kept: usize) -> Result<Self, StressError> {
        let at = |name: &str| folder.join(name);
        let filled = fill_with(&at("filled"), old, kept)?;
        let planned = filled.planned(&at("planned"))?;
        let erase = json!({"tags": [OLD], "purge": true});
        let erasing = filled.after(&at("erasing"), "forget", erase, ("plan_id", "plan_id"))?;
        let apply = json!({"plan_id": planned.facts["plan_id"], "allow_large": true});
        let trashed = planned.after(&at("trashed"), "gc_apply", apply, ("run_id", "run_id"))?;
        let purge = json!({"run_id": trashed.facts["run_id"], "confirm": true});
        let purged = trashed.after(&at("purged"), "gc_purge", purge, ("purged", "purged"))?;
        let delete = json!({"workspace_id": "other", "confirm_phrase": "DELETE other"});
        let workspace_trashed =
            filled.after(&at("workspace_trashed"), "delete_workspace", delete, ("run_id", "run_id"))?;
        let backed_up = back_up(&filled, &at("backed_up"))?;
        let first_schema = State { folder: at("first_schema"), facts: json!({}) };
        std::fs::create_dir(&first_schema.folder)?;
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rootset-store/tests/fixtures/schema-0001.db");
        std::fs::copy(fixture, first_schema.file())?;
        Ok(Self { filled, planned, erasing, trashed, purged, workspace_trashed, backed_up, first_schema })
    }
}

/// Memories with everything they can have: tags, names, pins, earlier revisions, uses, successors, shared and imported
/// entities; and a second workspace with the same names.
pub fn fill(folder: &Path) -> Result<State, StressError> {
    fill_with(folder, OLD_MEMORIES, KEPT_MEMORIES)
}

fn fill_with(folder: &Path, old: usize, kept: usize) -> Result<State, StressError> {
    std::fs::create_dir(folder)?;
    let state = State { folder: folder.to_owned(), facts: json!({}) };
    let mut random = StdRng::seed_from_u64(SEED);
    let mut memories = |tag: &str, count: usize| -> Vec<Value> {
        let one = |number: usize| {
            let name = format!("{tag}-{number}");
            json!({"name": name, "context": texts::note(&mut random, &name), "tags": [tag]})
        };
        (0..count).map(one).collect()
    };
    let (old, kept, count) = (memories(OLD, old), memories("kept", kept), old);
    // Other texts: what was erased here must not be found in the file because it is there.
    let others = memories(OLD, count);
    let import = json!({
        "entities": [{"name": "BillingService", "type": "service", "description": "imported"}],
        "relations": [{"source": "BillingService", "source_type": "service", "relation": "calls",
                       "target": "Ledger", "target_type": "service"}],
    });
    call_all(
        &state.database(),
        vec![
            ("add_memories", json!({"memories": old})),
            ("add_memories", json!({"memories": kept})),
            ("update_memory", json!({"memory_id": "old-3", "context": "The third old note says something else."})),
            ("update_memory", json!({"memory_id": "kept-3", "context": "The third kept note says something else."})),
            ("update_memory", json!({"memory_id": "old-4", "pinned": true, "pin_reason": "for the tests"})),
            ("supersede_memory", json!({"memory_id": "old-5", "by": "kept-5"})),
            ("supersede_memory", json!({"memory_id": "kept-6", "by": "old-6"})),
            ("import_graph", import),
            ("create_workspace", json!({"workspace_id": "other"})),
            ("add_memories", json!({"workspace_id": "other", "memories": others})),
            ("delete_memory", json!({"memory_id": "kept-7"})),
        ],
    )?;
    Ok(state)
}

fn back_up(filled: &State, folder: &Path) -> Result<State, StressError> {
    let mut state = filled.copy_to(folder)?;
    let database = state.database();
    for (fact, arguments) in [
        ("snapshot", json!({"format": "snapshot"})),
        ("bundle", json!({"format": "jsonl"})),
        ("other_bundle", json!({"format": "jsonl", "workspace_id": "other"})),
    ] {
        state.facts[fact] = call(&database, "backup_create", arguments)?["backup_id"].clone();
    }
    let plan = call(&database, "forget", json!({"tags": [OLD]}))?;
    let run = call(&database, "gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}))?;
    call_all(
        &database,
        vec![
            ("gc_purge", json!({"run_id": run["run_id"], "confirm": true})),
            ("update_memory", json!({"memory_id": "kept-9", "context": "The ninth kept note was changed since."})),
            ("add_memory", json!({"name": "since", "context": "A note that no backup has."})),
            ("create_workspace", json!({"workspace_id": "later"})),
            ("add_memory", json!({"workspace_id": "later", "context": "A note in a workspace that no backup has."})),
        ],
    )?;
    Ok(state)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), StressError> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
