//! After any sequence of edits, moves, deletions, reverts and changes of scope, the index is that of the tree as it is.
//!
//! Random projects change step by step ([`Tree`]); after every step they are indexed, and everything that is served is
//! compared with a fresh index of the same tree. A failure prints the seed and what happened; `ROOTSET_TEST_CASES` and
//! `ROOTSET_TEST_SEED` set how many lives are tried, and which is the first.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rootset_properties::Budget;
use rootset_testing::temporary_folder;
use rootset_trees::dump::differences;
use rootset_trees::{IndexScope, Tree, logical_dump};
use serde_json::json;

use crate::harness::World;
use crate::place::let_time_pass;

/// A life takes half a second, and there are two kinds of them.
const WEIGHT: u32 = 10;
const STEPS: usize = 12;

/// One project and the database that follows it.
struct Life {
    seed: u64,
    world: World,
    fresh: World,
    folder: tempfile::TempDir,
    told: Vec<String>,
}

impl Life {
    fn new(seed: u64) -> Self {
        let folder = temporary_folder();
        Self { seed, world: World::new(), fresh: World::new(), folder, told: Vec::new() }
    }

    fn live(&mut self) -> Result<(), String> {
        let mut tree = Tree::create(&self.folder.path().join("project"), self.seed).unwrap();
        self.compare(&tree, 0)?;
        for step in 1..=STEPS {
            self.told.push(tree.step().unwrap());
            // Every other life has time between its runs: files that did not change are then not read again.
            if self.seed.is_multiple_of(2) {
                let_time_pass(&self.world, self.folder.path());
            }
            self.compare(&tree, step)?;
        }
        tree.set_scope(IndexScope::default());
        self.told.push("look at everything".into());
        self.compare(&tree, STEPS + 1)?;
        self.compare_answers(&tree)
    }

    /// Indexes both and compares them.
    fn compare(&self, tree: &Tree, step: usize) -> Result<(), String> {
        let request = tree.scope().request(tree.root().to_str().unwrap());
        let answer = self.world.try_call("index_codebase", request.clone());
        let workspace = format!("step-{step}");
        self.fresh.call("create_workspace", json!({ "workspace_id": workspace }));
        let mut fresh = request;
        fresh["workspace_id"] = json!(workspace);
        let wanted = self.fresh.try_call("index_codebase", fresh);
        match (answer, wanted) {
            (Ok(_), Ok(_)) => {}
            // A tree without a file is no tree.
            (Err(one), Err(other)) if one.code == other.code && one.code.as_str() == "invalid_argument" => {
                return Ok(());
            }
            (one, other) => return Err(self.failed(&format!("{one:?} but fresh {other:?}"))),
        }
        let found = logical_dump(self.world.database.location(), "home", tree.scope()).unwrap();
        let wanted = logical_dump(self.fresh.database.location(), &workspace, tree.scope()).unwrap();
        let differences = differences(&wanted, &found);
        if !differences.is_empty() {
            return Err(self.failed(&differences.join("\n")));
        }
        Ok(())
    }

    /// The answers of the reading operations, for every name that the tree knows, and for what doctor says.
    fn compare_answers(&self, tree: &Tree) -> Result<(), String> {
        let workspace = format!("step-{}", STEPS + 1);
        for name in tree.names() {
            for operation in ["get_symbol", "get_callers", "get_callees"] {
                let ask = |world: &World, workspace: &str| {
                    let request = json!({"qualified_name": name, "workspace_id": workspace});
                    world.try_call(operation, request).unwrap_or_else(|error| error.to_json()["error"]["code"].clone())
                };
                let (found, wanted) = (ask(&self.world, "home"), ask(&self.fresh, &workspace));
                if found != wanted {
                    return Err(self.failed(&format!("{operation} {name}: {found} but fresh {wanted}")));
                }
            }
        }
        let complaints = self.world.complaints();
        if complaints.is_empty() { Ok(()) } else { Err(self.failed(&format!("doctor: {complaints:?}"))) }
    }

    fn failed(&self, what: &str) -> String {
        let told: Vec<String> = self.told.iter().enumerate().map(|(at, it)| format!("  {}. {it}", at + 1)).collect();
        format!("ROOTSET_TEST_SEED={} ROOTSET_TEST_CASES=1 repeats this:\n{}\n{what}", self.seed, told.join("\n"))
    }
}

#[test]
fn whatever_happens_to_a_tree_its_index_is_that_of_a_fresh_one() {
    let seeds = Mutex::new(Budget::weighted(WEIGHT).starting_at(1).seeds());
    let (lives, failures) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(seed) = seeds.lock().unwrap().next() else { break };
                    lives.fetch_add(1, Ordering::Relaxed);
                    if let Err(failure) = Life::new(seed).live() {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} of {} lives failed\n{}",
        failures.len(),
        lives.into_inner(),
        failures[..failures.len().min(3)].join("\n\n")
    );
}
