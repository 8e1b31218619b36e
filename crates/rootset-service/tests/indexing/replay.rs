//! The history of a real repository, this one's: after each commit the index is that of a fresh one.
//!
//! A clone may be shallow, then as many commits as there are are replayed; without git or a history there is nothing to
//! replay, which is said. `ROOTSET_REPLAY_COMMITS` sets how many, `ROOTSET_REPLAY_EVERY` how often they are compared.

use std::path::{Path, PathBuf};
use std::process::Command;

use rootset_testing::temporary_folder;
use rootset_trees::dump::differences;
use rootset_trees::{IndexScope, logical_dump};
use serde_json::json;

use crate::harness::World;
use crate::place::{let_time_pass, request};

const COMMITS_DEFAULT: usize = 100;
/// A fresh index of the whole repository takes far longer than a step from one commit to the next.
const EVERY_DEFAULT: usize = 25;

/// Searches whose results have to be the same, in the same order.
const QUERIES: [&str; 4] = [
    "Store",
    "search_code",
    "how is a stale file marked",
    "fix: a second scan of the same repository waits\n\nTwo runs at once wrote the same chunks twice.",
];

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("`{name}` is `{text}`")))
}

/// A folder that is brought from commit to commit as a checkout does it: only files that differ are written. It has an
/// index file of its own, so that nothing of the repository itself changes.
struct Checkout {
    repository: PathBuf,
    folder: PathBuf,
    index: PathBuf,
}

impl Checkout {
    fn git(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new("git");
        command.current_dir(&self.repository).args(arguments);
        command.env_remove("GIT_DIR").env("GIT_INDEX_FILE", &self.index).env("GIT_WORK_TREE", &self.folder);
        let output = command.output().map_err(|error| format!("git does not run: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// The last commits by date, oldest first: where branches were merged, a step from one to the next is a switch of
    /// branches.
    fn commits(&self, count: usize) -> Result<Vec<String>, String> {
        let listed = self.git(&["rev-list", "-n", &count.to_string(), "HEAD"])?;
        let mut commits: Vec<String> = listed.lines().map(str::to_owned).collect();
        commits.reverse();
        Ok(commits)
    }

    fn go_to(&self, commit: &str) -> Result<(), String> {
        self.git(&["read-tree", "--reset", "-u", commit]).map(drop)
    }
}

/// For the merge ring.
mod at_length {
    use super::*;

    #[test]
    fn the_index_follows_the_history_of_a_repository_commit_by_commit() {
        let place = temporary_folder();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let checkout = Checkout { repository, folder: place.path().join("history"), index: place.path().join("index") };
        std::fs::create_dir(&checkout.folder).unwrap();
        let commits = match checkout.commits(setting("ROOTSET_REPLAY_COMMITS", COMMITS_DEFAULT)) {
            Ok(commits) if commits.len() > 1 => commits,
            other => return eprintln!("SKIPPED: no history to replay here: {other:?}"),
        };
        if commits.len() < COMMITS_DEFAULT {
            eprintln!("only {} commits are replayed: the clone has no more", commits.len());
        }
        let (world, every) = (World::new(), setting("ROOTSET_REPLAY_EVERY", EVERY_DEFAULT));
        let asked = request(&checkout.folder, json!({"accept_missing": true}));
        for (number, commit) in commits.iter().enumerate() {
            checkout.go_to(commit).unwrap();
            world.call("index_codebase", asked.clone());
            let is_last = number + 1 == commits.len();
            if (number + 1) % every == 0 || is_last {
                let fresh = World::new();
                fresh.call("index_codebase", asked.clone());
                let [wanted, found] = [&fresh, &world]
                    .map(|it| logical_dump(it.database.location(), "home", &IndexScope::default()).unwrap());
                assert!(!wanted["files"].is_empty() && !wanted["symbols"].is_empty(), "commit {commit} has no code");
                let differences = differences(&wanted, &found);
                assert!(differences.is_empty(), "commit {commit}, number {number}:\n{}", differences.join("\n"));
                for query in QUERIES {
                    let asked = json!({"query": query, "limit": 50});
                    let [wanted, found] = [&fresh, &world].map(|it| it.call("search_code", asked.clone()));
                    assert_eq!(wanted, found, "commit {commit}, number {number}: order of `{query}`");
                }
            }
            let_time_pass(&world, place.path());
        }
        world.assert_doctor_is_content();
    }
}
