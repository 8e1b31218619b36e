//! Uses that were served but not yet written: collected here, flushed after the answer, so that reading stays reading.
//!
//! What was shown to a model that did not ask for it is counted apart, and is no use: it keeps nothing from the collector. It
//! becomes one when the same process afterwards reads the memory, changes it, or writes its name into another one.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;
use rootset_model::{MemoryId, Timestamp, WorkspaceKey};
use rootset_store::{RecordedUse, Workspace};

use crate::error::ServiceError;
use crate::service::Service;

/// Shown memories that a process still knows by name: as many as some briefs and answers of a long session hold.
const SHOWN_KNOWN_MAX: usize = 1_000;

type Key = (WorkspaceKey, MemoryId);
type Counts = HashMap<Key, (i64, Timestamp)>;

#[derive(Debug, Default)]
pub struct UseBuffer {
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    uses: Counts,
    shown: Counts,
    /// The newest last.
    known: VecDeque<(Key, String)>,
}

impl UseBuffer {
    pub fn record(&self, workspace: &Workspace, memories: impl IntoIterator<Item = MemoryId>, now: Timestamp) {
        let mut pending = self.pending.lock();
        for memory in memories {
            count(&mut pending.uses, (workspace.key, memory), 1, now);
        }
    }

    /// Memories that were put before a model that did not ask for them, with their names.
    pub fn show<'a>(
        &self,
        workspace: &Workspace,
        memories: impl IntoIterator<Item = (MemoryId, &'a str)>,
        now: Timestamp,
    ) {
        let mut pending = self.pending.lock();
        for (memory, name) in memories {
            let key = (workspace.key, memory);
            count(&mut pending.shown, key, 1, now);
            pending.known.retain(|(known, _)| *known != key);
            pending.known.push_back((key, name.to_owned()));
            if pending.known.len() > SHOWN_KNOWN_MAX {
                pending.known.pop_front();
            }
        }
    }

    /// Somebody changed this memory. If it was shown before, that is a use of it.
    pub fn changed(&self, workspace: &Workspace, memory: MemoryId, now: Timestamp) {
        self.use_shown(now, |key, _| key == (workspace.key, memory));
    }

    /// Somebody wrote this. What was shown before and is named in it was used.
    pub fn written<'a>(&self, texts: impl IntoIterator<Item = &'a str>, now: Timestamp) {
        if self.pending.lock().known.is_empty() {
            return;
        }
        let names: Vec<&str> = texts.into_iter().flat_map(cited_names).collect();
        if !names.is_empty() {
            self.use_shown(now, |_, name| names.contains(&name));
        }
    }

    fn use_shown(&self, now: Timestamp, is_used: impl Fn(Key, &str) -> bool) {
        let mut pending = self.pending.lock();
        let Pending { uses, known, .. } = &mut *pending;
        known.retain(|(key, name)| {
            let used = is_used(*key, name);
            if used {
                count(uses, *key, 1, now);
            }
            !used
        });
    }

    fn take(&self) -> (Vec<RecordedUse>, Vec<RecordedUse>) {
        let mut pending = self.pending.lock();
        (recorded(std::mem::take(&mut pending.uses)), recorded(std::mem::take(&mut pending.shown)))
    }

    fn put_back(&self, uses: &[RecordedUse], shown: &[RecordedUse]) {
        let mut pending = self.pending.lock();
        for it in uses {
            count(&mut pending.uses, (it.workspace, it.memory), it.count, it.last_at);
        }
        for it in shown {
            count(&mut pending.shown, (it.workspace, it.memory), it.count, it.last_at);
        }
    }
}

fn count(counts: &mut Counts, key: Key, by: i64, at: Timestamp) {
    let (count, last) = counts.entry(key).or_insert((0, at));
    *count += by;
    *last = at.max(*last);
}

fn recorded(counts: Counts) -> Vec<RecordedUse> {
    let recorded = |((workspace, memory), (count, last_at))| RecordedUse { workspace, memory, count, last_at };
    counts.into_iter().map(recorded).collect()
}

/// Words of a text that can only be names of memories: of several parts, or in backticks. A plain word means itself.
fn cited_names(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '/' | '-');
    text.split(char::is_whitespace).filter_map(move |word| {
        let is_quoted = word.contains('`');
        let name = word.trim_matches(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
        let has_parts = name.contains(['.', '_', '/', '-']);
        (!name.is_empty() && (is_quoted || has_parts) && name.chars().all(is_of_name)).then_some(name)
    })
}

impl Service {
    /// Writes the uses that were served since the last flush. After a failure they wait for the next one: a use must save
    /// its memory from a plan that is applied later.
    pub fn flush_uses(&self) -> Result<(), ServiceError> {
        let (mut uses, mut shown) = self.uses.take();
        // The clock may have been ahead when they were served.
        let now = self.now();
        uses.iter_mut().chain(&mut shown).for_each(|it| it.last_at = it.last_at.min(now));
        self.store.record_uses(&uses, &shown).inspect_err(|_| self.uses.put_back(&uses, &shown))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cited_in_several_parts_or_in_backticks() {
        let cited = |text: &'static str| cited_names(text).collect::<Vec<_>>();
        assert_eq!(cited("As in falcon-deploy, and (docs/api.v2)."), ["falcon-deploy", "docs/api.v2"]);
        assert_eq!(cited("We deploy by `deploys` and not by luck."), ["deploys"]);
        assert!(cited("Deploys happen on Fridays; see Falcon-Deploy").is_empty());
    }
}
