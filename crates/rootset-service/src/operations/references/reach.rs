//! What a change of a symbol may reach: callers of callers, by file, and the tests among them.

use std::collections::{BTreeMap, BTreeSet};

use rootset_api::ReachedFile;
use rootset_code::is_test;
use rootset_model::MemoryId;

use crate::error::ServiceError;
use crate::referring::Referring;
use crate::resolving::Sym;

/// Functions whose callers are asked for: what is called from everywhere reaches everything.
const FUNCTIONS_MAX: usize = 300;
/// Functions that are named per file.
const NAMED_MAX: usize = 20;

pub struct Reach {
    pub files: Vec<ReachedFile>,
    /// Calls that could not be placed, and functions that were not followed.
    pub unresolved: usize,
}

pub fn files(
    referring: &mut Referring<'_>,
    targets: &[Sym],
    repo: Option<&str>,
    depth: i64,
) -> Result<Reach, ServiceError> {
    let mut seen: BTreeSet<(MemoryId, i64)> = targets.iter().map(place).collect();
    let mut by_file: BTreeMap<(String, String), ReachedFile> = BTreeMap::new();
    let mut open: Vec<Sym> = targets.to_vec();
    let (mut unresolved, mut followed) = (0, 0);
    for steps in 1..=depth {
        let mut next = Vec::new();
        // Symbols of one name are asked for together.
        let mut by_name: BTreeMap<String, Vec<Sym>> = BTreeMap::new();
        for of in open.drain(..).filter(|of| !of.is_module()) {
            by_name.entry(of.row.name.clone()).or_default().push(of);
        }
        for of in by_name.into_values() {
            followed += of.len();
            if followed > FUNCTIONS_MAX {
                unresolved += of.len();
                continue;
            }
            let calls = referring.callers(&of, repo)?;
            unresolved += calls.unresolved;
            for reached in &calls.reached {
                let caller = &calls.sites[reached.site].caller;
                if !seen.insert(place(caller)) {
                    continue;
                }
                let key = (caller.row.repo.clone(), caller.row.path.clone());
                let file = by_file.entry(key).or_insert_with(|| ReachedFile {
                    repo: caller.row.repo.clone(),
                    file_path: caller.row.path.clone(),
                    steps,
                    is_test: is_test(&caller.row.path),
                    symbols: Vec::new(),
                });
                if file.symbols.len() < NAMED_MAX {
                    file.symbols.push(caller.row.qualified_name.clone());
                }
                next.push(caller.clone());
            }
        }
        open = next;
    }
    let mut files: Vec<ReachedFile> = by_file.into_values().collect();
    files.sort_by(|a, b| (a.steps, &a.repo, &a.file_path).cmp(&(b.steps, &b.repo, &b.file_path)));
    Ok(Reach { files, unresolved })
}

fn place(of: &Sym) -> (MemoryId, i64) {
    (of.row.memory, of.row.ordinal)
}
