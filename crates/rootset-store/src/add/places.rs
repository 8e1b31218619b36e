//! Where new memories stand: after the last memory of their thread.
//!
//! A thread is a conversation, a session or a document; search takes the memories before and after one for what it is about.
//! Its number is drawn from its name, which is not stored. Two threads that happen to share a number share their places.

use std::collections::HashMap;

use rootset_model::WorkspaceKey;

use super::insert::Named;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::memories as sql;

/// The number of a thread: the upper half of the places of its memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadNumber(u32);

impl ThreadNumber {
    /// A thread that the caller named.
    pub fn named(name: &str) -> Self {
        Self::of(&["named", name])
    }

    /// The thread of what one writer adds from one source.
    pub fn of_writer(source: &str, writer: &str) -> Self {
        Self::of(&["writer", source, writer])
    }

    fn of(parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let bytes = hasher.finalize();
        let [a, b, c, d] = [0, 1, 2, 3].map(|place| bytes.as_bytes()[place]);
        // Without its first bit, so that places are never negative.
        Self(u32::from_le_bytes([a, b, c, d]) >> 1)
    }

    fn first_place(self) -> i64 {
        i64::from(self.0) << 32
    }
}

/// The places of new memories, in their order.
pub(super) fn next(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[Named<'_>],
) -> Result<Vec<i64>, StoreError> {
    let mut threads: Vec<i64> = memories.iter().map(|it| it.new.thread.first_place()).collect();
    threads.sort_unstable();
    threads.dedup();
    let last = tx.rows(&sql::LAST_PLACES, &[workspace.into(), threads.as_slice().into()], |row| {
        Ok((row.get::<i64>(0)?, row.get::<i64>(1)?))
    })?;
    let mut last: HashMap<i64, i64> = last.into_iter().collect();
    Ok(memories
        .iter()
        .map(|it| {
            let first = it.new.thread.first_place();
            let place = last.entry(first).or_insert(first);
            *place += 1;
            *place
        })
        .collect())
}
