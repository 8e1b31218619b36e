//! Names for memories that come without one: the topic's slug, or the slug with a number that is free.
//!
//! Numbers are found by doubling and halving, not by counting up: a thousand notes under one topic must not make the next
//! one cost a thousand look-ups.

use std::collections::{HashMap, HashSet};

use rootset_model::{MemoryId, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::memories as sql;

/// The name of a single memory: neither a living nor a trashed one has it.
pub fn free(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    slug: Option<&str>,
) -> Result<String, StoreError> {
    let Some(slug) = slug else { return Ok(without_slug(memory)) };
    if !known(tx, workspace, &[slug.to_owned()])?.contains(slug) {
        return Ok(slug.to_owned());
    }
    let numbers = first_free(tx, workspace, &[slug])?;
    Ok(numbered(slug, numbers[slug]))
}

/// What a memory is called whose topic leaves nothing to call it by.
pub fn without_slug(memory: MemoryId) -> String {
    format!("memory-{}", memory.0[8..].iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

pub fn numbered(slug: &str, number: u64) -> String {
    format!("{slug}-{number}")
}

/// Of these names, those that are taken.
pub fn known(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    names: &[String],
) -> Result<HashSet<String>, StoreError> {
    if names.is_empty() {
        return Ok(HashSet::new());
    }
    let found: Vec<String> = tx.rows(&sql::KNOWN_NAMES, &[workspace.into(), names.into()], |row| row.get(0))?;
    Ok(found.into_iter().collect())
}

/// For each slug a number that is free while the one before it is taken; all slugs are looked up together.
pub fn first_free<'a>(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    slugs: &[&'a str],
) -> Result<HashMap<&'a str, u64>, StoreError> {
    let mut searches: HashMap<&str, Search> = slugs.iter().map(|slug| (*slug, Search::default())).collect();
    loop {
        let asked: Vec<(&str, u64)> =
            searches.iter().filter_map(|(slug, search)| Some((*slug, search.next()?))).collect();
        if asked.is_empty() {
            return Ok(searches
                .into_iter()
                .map(|(slug, search)| (slug, search.free.unwrap_or(search.taken + 1)))
                .collect());
        }
        let names: Vec<String> = asked.iter().map(|(slug, number)| numbered(slug, *number)).collect();
        let taken = known(tx, workspace, &names)?;
        for ((slug, number), name) in asked.iter().zip(&names) {
            if let Some(search) = searches.get_mut(slug) {
                if taken.contains(name) {
                    search.taken = *number;
                } else {
                    search.free = Some(*number);
                }
            }
        }
    }
}

/// Between a number that is taken and one that is free; the slug itself counts as the first.
struct Search {
    taken: u64,
    free: Option<u64>,
}

impl Default for Search {
    fn default() -> Self {
        Self { taken: 1, free: None }
    }
}

impl Search {
    /// The next number to ask for; `None` when the two meet.
    fn next(&self) -> Option<u64> {
        match self.free {
            None => Some(self.taken * 2),
            Some(free) if free - self.taken > 1 => Some(self.taken + (free - self.taken) / 2),
            Some(_) => None,
        }
    }
}
