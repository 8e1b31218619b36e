//! What makes a batch quick: memories that nothing is known of need no look at one another, and are written together.

use std::collections::{HashMap, HashSet};

use rootset_model::WorkspaceKey;

use super::insert::Named;
use super::{NewMemory, names};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::memories as sql;
use crate::{erasure, workspaces};

/// Memories that are looked at together.
const WINDOW: usize = 1_000;

/// The leading memories that can be written together, with their names; and how many after them have to be added one by
/// one, each looking at what is there by then.
pub fn leading<'a>(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    batch: &'a [NewMemory<'a>],
) -> Result<(Vec<Named<'a>>, usize), StoreError> {
    let window = &batch[..batch.len().min(WINDOW)];
    let known = known_contents(tx, workspace, window)?;
    let mut seen = HashSet::new();
    let is_plain: Vec<bool> = window
        .iter()
        .map(|new| {
            let hash = &new.prepared.doc_hash;
            new.supersedes.is_empty() && new.key.is_none() && !known.contains(hash) && seen.insert(*hash)
        })
        .collect();
    let count = is_plain.iter().take_while(|plain| **plain).count();
    let mut plain = named(tx, workspace, &window[..count])?;
    plain.truncate(within_quota(tx, workspace, &plain)?);
    // Whoever stopped it goes alone, and with him all that are no better.
    let others = is_plain[plain.len()..].iter().take_while(|plain| !**plain).count();
    let is_stopped_by_name = plain.len() < count;
    Ok((plain, if is_stopped_by_name { 1 } else { others }))
}

fn known_contents(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    window: &[NewMemory<'_>],
) -> Result<HashSet<[u8; 32]>, StoreError> {
    let hashes: Vec<[u8; 32]> = window.iter().map(|new| new.prepared.doc_hash).collect();
    let stored: Vec<[u8; 32]> =
        tx.rows(&sql::KNOWN_CONTENTS, &[workspace.into(), hashes.as_slice().into()], |row| row.get(0))?;
    let mut known: HashSet<[u8; 32]> = stored.into_iter().collect();
    known.extend(erasure::erased_among(tx, workspace, &hashes)?);
    Ok(known)
}

/// The memories up to the first whose name is not plainly free.
fn named<'a>(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &'a [NewMemory<'a>],
) -> Result<Vec<Named<'a>>, StoreError> {
    let wanted: Vec<String> = memories.iter().filter_map(|new| new.name.or(new.slug)).map(str::to_owned).collect();
    let taken = names::known(tx, workspace, &wanted)?;
    let numbers = Numbers::find(tx, workspace, memories, &taken)?;
    let mut used: HashSet<String> = HashSet::new();
    let mut next: HashMap<&str, u64> = HashMap::new();
    let mut plain = Vec::with_capacity(memories.len());
    for new in memories {
        let name = match (new.name, new.slug) {
            (Some(given), _) if taken.contains(given) => break,
            (Some(given), _) => given.to_owned(),
            (None, None) => names::without_slug(new.id),
            (None, Some(slug)) => match numbers.first.get(slug) {
                Some(first) if taken.contains(slug) || used.contains(slug) => {
                    let number = next.entry(slug).or_insert(*first);
                    *number += 1;
                    names::numbered(slug, *number - 1)
                }
                _ => slug.to_owned(),
            },
        };
        if numbers.taken.contains(&name) || !used.insert(name.clone()) {
            break;
        }
        plain.push(Named { new, name });
    }
    Ok(plain)
}

/// Where the numbers of slugs begin that several memories share, or that are taken.
struct Numbers<'a> {
    first: HashMap<&'a str, u64>,
    /// Numbered names from there on that are taken all the same.
    taken: HashSet<String>,
}

impl<'a> Numbers<'a> {
    fn find(
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        memories: &'a [NewMemory<'a>],
        taken: &HashSet<String>,
    ) -> Result<Self, StoreError> {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for slug in memories.iter().filter(|new| new.name.is_none()).filter_map(|new| new.slug) {
            *counts.entry(slug).or_default() += 1;
        }
        counts.retain(|slug, count| *count > 1 || taken.contains(*slug));
        let slugs: Vec<&str> = counts.keys().copied().collect();
        let first = names::first_free(tx, workspace, &slugs)?;
        let numbered: Vec<String> = first
            .iter()
            .flat_map(|(slug, first)| (*first..first + counts[slug]).map(|number| names::numbered(slug, number)))
            .collect();
        Ok(Self { taken: names::known(tx, workspace, &numbered)?, first })
    }
}

/// How many of the memories the workspace still has room for.
fn within_quota(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[Named<'_>],
) -> Result<usize, StoreError> {
    if memories.is_empty() {
        return Ok(0);
    }
    let room = workspaces::room(tx, workspace)?;
    let mut bytes = 0;
    let fitting = memories.iter().zip(1..).take_while(|(named, count)| {
        bytes += named.new.bytes();
        room.memories.is_none_or(|room| *count <= room) && room.bytes.is_none_or(|room| bytes <= room)
    });
    Ok(fitting.count())
}
