//! Answers from a current index: a question about code first compares its repositories with what is on disk.
//!
//! A question waits at most `code.freshen_ms` for that, and no repository is looked at more than once in
//! [`LOOK_EVERY_MS`]. What takes longer goes on in the background; the answer then says which of its own files changed. A look
//! that finds nothing new writes nothing.
//!
//! Confinement: on behalf of its caller, a question brings up to date what the caller may index with `index_codebase`, by scope
//! and by folder, and nothing else. A project that was never indexed is indexed by its first question if it lies below an
//! allowed root, at a terminal too: there, nobody named the folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rootset_api::Effect;
use rootset_model::{Timestamp, WorkspaceKey};
use rootset_store::{RepoRow, Workspace};

use crate::caller::{Caller, Progress};
use crate::error::ServiceError;
use crate::indexing::{IndexRun, IndexScope};
use crate::platform::stamp_of;
use crate::service::Service;

/// An agent that asks several questions in a row pays for one look.
const LOOK_EVERY_MS: i64 = 2_000;
/// Repositories that one question looks at, the last indexed first: a workspace of hundreds is not walked as a whole.
const REPOS_MAX: usize = 16;

type Key = (WorkspaceKey, String);
/// When it was read, and what it said.
type List = (i64, Arc<Vec<RepoRow>>);

/// What this process knows of how current its repositories are.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    known: Mutex<Known>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    looks: HashMap<Key, Look>,
    /// By the repository asked for, so that questions in a row read the list once.
    lists: HashMap<(WorkspaceKey, Option<String>), List>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    UnderWay,
    Over { at_ms: i64, is_current: bool },
}

impl Looks {
    fn list(&self, of: &(WorkspaceKey, Option<String>), now_ms: i64) -> Option<Arc<Vec<RepoRow>>> {
        let known = self.known.lock();
        known.lists.get(of).filter(|(at_ms, _)| is_recent(*at_ms, now_ms)).map(|(_, rows)| rows.clone())
    }

    fn keep_list(&self, of: (WorkspaceKey, Option<String>), rows: Arc<Vec<RepoRow>>, now_ms: i64) {
        let mut known = self.known.lock();
        known.lists.retain(|_, (at_ms, _)| is_recent(*at_ms, now_ms));
        known.lists.insert(of, (now_ms, rows));
    }

    fn forget_lists_of(&self, workspace: WorkspaceKey) {
        self.known.lock().lists.retain(|(of, _), _| *of != workspace);
    }

    /// Whether nobody looked at it lately; from now on, the caller does.
    fn begin(&self, key: &Key, now_ms: i64) -> bool {
        let mut known = self.known.lock();
        match known.looks.get(key) {
            Some(Look::UnderWay) => return false,
            Some(Look::Over { at_ms, .. }) if is_recent(*at_ms, now_ms) => return false,
            _ => {}
        }
        known.looks.retain(|_, look| !matches!(look, Look::Over { at_ms, .. } if !is_recent(*at_ms, now_ms)));
        known.looks.insert(key.clone(), Look::UnderWay);
        true
    }

    fn end(&self, key: &Key, now_ms: i64, is_current: bool) {
        self.known.lock().looks.insert(key.clone(), Look::Over { at_ms: now_ms, is_current });
        self.ended.notify_all();
    }

    /// Where these looks stand once all are over, or time is up.
    fn wait(&self, keys: &[Key], patience: Duration) -> Vec<Option<Look>> {
        let deadline = Instant::now() + patience;
        let mut known = self.known.lock();
        while keys.iter().any(|key| known.looks.get(key) == Some(&Look::UnderWay)) {
            if self.ended.wait_until(&mut known, deadline).timed_out() {
                break;
            }
        }
        keys.iter().map(|key| known.looks.get(key).copied()).collect()
    }
}

fn is_recent(at_ms: i64, now_ms: i64) -> bool {
    now_ms.saturating_sub(at_ms) < LOOK_EVERY_MS
}

/// One look that has begun. However it ends, those who wait for it hear of it.
struct Begun {
    service: Arc<Service>,
    key: Key,
    run: IndexRun,
    is_current: bool,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.service.looks.end(&self.key, self.service.elapsed_ms(), self.is_current);
    }
}

/// What an answer has to say about its own age.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    /// Repositories that the caller may see the files of, and that nobody could bring up to date in time.
    unsure: Vec<RepoRow>,
    indexing: Vec<String>,
    asked_at: Timestamp,
}

/// The same in the words of the answer.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub changed_files: Option<Vec<String>>,
    pub indexing: Option<Vec<String>>,
}

impl Service {
    /// Brings the repositories of a question up to date, as far as the caller may and time allows.
    pub(crate) fn freshen(
        self: &Arc<Self>,
        caller: &Caller,
        workspace: &Workspace,
        repo: Option<&str>,
    ) -> Result<Freshness, ServiceError> {
        let patience = Duration::from_millis(self.settings.code.freshen_ms);
        if patience.is_zero() {
            return Ok(Freshness::default());
        }
        let asked_at = self.now();
        let may_index = caller.rights.allow_effect(Effect::Write);
        let mut allowed: Vec<(RepoRow, PathBuf)> = Vec::new();
        let rows = self.completed_repos(workspace, repo)?;
        for row in rows.iter().take(REPOS_MAX) {
            if let Ok(root) = self.folder_to_index(&row.root, workspace, caller) {
                allowed.push((row.clone(), root));
            }
        }
        if may_index && repo.is_none() {
            allowed.extend(self.first_asked_about(caller, workspace, &rows)?);
        }
        let keys: Vec<Key> = allowed.iter().map(|(row, _)| (workspace.key, row.repo.clone())).collect();
        if may_index {
            self.look_at(caller, workspace, &allowed);
        }
        let stands = self.looks.wait(&keys, patience);
        let mut freshness = Freshness { asked_at, ..Freshness::default() };
        for ((row, _), look) in allowed.into_iter().zip(stands) {
            if look == Some(Look::UnderWay) {
                freshness.indexing.push(row.repo.clone());
            }
            if !matches!(look, Some(Look::Over { is_current: true, .. })) {
                freshness.unsure.push(row);
            }
        }
        Ok(freshness)
    }

    /// The repositories that a question is about, the last indexed first; known for as long as they are not looked at again.
    pub(crate) fn completed_repos(
        &self,
        workspace: &Workspace,
        repo: Option<&str>,
    ) -> Result<Arc<Vec<RepoRow>>, ServiceError> {
        let of = (workspace.key, repo.map(str::to_owned));
        let now_ms = self.elapsed_ms();
        if let Some(rows) = self.looks.list(&of, now_ms) {
            return Ok(rows);
        }
        let mut rows = match repo {
            Some(repo) => self.store.repo(workspace, repo)?.into_iter().collect(),
            None => self.store.repo_rows(workspace)?,
        };
        // What no run has completed yet is under way elsewhere, or was given up: nobody knows what it should hold.
        rows.retain(|row| row.run > 0);
        rows.sort_by_key(|row| std::cmp::Reverse(row.run_at));
        let rows = Arc::new(rows);
        self.looks.keep_list(of, rows.clone(), now_ms);
        Ok(rows)
    }

    /// The project that the caller works in, if nobody indexed it or a part of it yet and it lies below an allowed root.
    fn first_asked_about(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        known: &[RepoRow],
    ) -> Result<Option<(RepoRow, PathBuf)>, ServiceError> {
        let Some(root) = caller.workspace.project_root(&workspace.id) else { return Ok(None) };
        if known.iter().any(|row| overlap(root, Path::new(&row.root))) {
            return Ok(None);
        }
        let is_configured = self.settings.code.allow_folder(root, workspace, caller.is_remote);
        let Some(folder) = root.to_str().filter(|_| is_configured) else { return Ok(None) };
        let Ok(root) = self.folder_to_index(folder, workspace, caller) else { return Ok(None) };
        // One that is bound and has no completed run was begun by a question like this one.
        let is_begun = |row: &RepoRow| Path::new(&row.root) == root && row.run == 0;
        let rows = self.store.repo_rows(workspace)?;
        if rows.iter().any(|row| overlap(&root, Path::new(&row.root)) && !is_begun(row)) {
            return Ok(None);
        }
        let repo = self.bind_repository(workspace, &root, None, false, self.stamp(caller))?;
        self.looks.forget_lists_of(workspace.key);
        Ok(self.store.repo(workspace, &repo)?.map(|row| (row, root)))
    }

    /// Begins what nobody else began lately.
    fn look_at(self: &Arc<Self>, caller: &Caller, workspace: &Workspace, repos: &[(RepoRow, PathBuf)]) {
        let now_ms = self.elapsed_ms();
        let begun = |(row, root): &(RepoRow, PathBuf)| {
            let key = (workspace.key, row.repo.clone());
            self.looks.begin(&key, now_ms).then(|| Begun {
                service: self.clone(),
                key,
                run: IndexRun {
                    root: root.clone(),
                    repo: row.repo.clone(),
                    scope: IndexScope::of_run(row.scope.as_deref(), self.settings.code.max_file_size),
                    accept_missing: false,
                    notes_nothing_new: false,
                },
                is_current: false,
            })
        };
        let work: Vec<Begun> = repos.iter().filter_map(begun).collect();
        if work.is_empty() {
            return;
        }
        // Nobody waits for this long enough to be told how far it is.
        let caller = Caller { progress: Progress::default(), ..caller.clone() };
        let workspace = workspace.clone();
        self.background.spawn(move || {
            for mut look in work {
                look.is_current = look.service.clone().look_again(&caller, &workspace, &look.run);
            }
        });
    }

    /// Whether the index holds now what the folder holds.
    fn look_again(&self, caller: &Caller, workspace: &Workspace, run: &IndexRun) -> bool {
        match self.index(workspace, run, caller) {
            Ok(report) => {
                if report.run.is_some() {
                    self.has_written.store(true, std::sync::atomic::Ordering::Relaxed);
                }
                // Missing or unreadable files were left as they are.
                report.warnings.is_empty()
            }
            Err(error) => {
                tracing::debug!(repo = %run.repo, code = ?error.code, "a repository could not be brought up to date");
                false
            }
        }
    }

    /// What an answer made of these files, named by repository and path, has to say of them.
    pub(crate) fn tell<'a>(
        &self,
        freshness: &Freshness,
        workspace: &Workspace,
        files: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Result<Told, ServiceError> {
        let mut changed: Vec<String> = Vec::new();
        for row in &freshness.unsure {
            let mut paths: Vec<String> =
                files.clone().filter(|(repo, _)| *repo == row.repo).map(|(_, path)| path.to_owned()).collect();
            paths.sort_unstable();
            paths.dedup();
            if paths.is_empty() {
                continue;
            }
            let served = self.store.served_files(workspace, &row.repo, &paths)?;
            let is_as_answered = |path: &String| {
                // What was written since the question was asked is current now, but the answer may not be.
                let known = served.iter().find(|it| it.path == *path && it.written_at < freshness.asked_at);
                let seen = std::fs::symlink_metadata(Path::new(&row.root).join(path)).ok();
                known.is_some_and(|known| seen.is_some_and(|seen| stamp_of(&seen) == known.stamp))
            };
            changed.extend(paths.into_iter().filter(|path| !is_as_answered(path)));
        }
        let told = |list: Vec<String>| Some(list).filter(|list| !list.is_empty());
        Ok(Told { changed_files: told(changed), indexing: told(freshness.indexing.clone()) })
    }
}

fn overlap(a: &Path, b: &Path) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(repo: &str) -> Key {
        (WorkspaceKey(1), repo.to_owned())
    }

    #[test]
    fn a_repository_is_looked_at_once_in_two_seconds_and_never_twice_at_once() {
        let looks = Looks::default();
        assert!(looks.begin(&key("a"), 0));
        assert!(!looks.begin(&key("a"), 100_000), "the first look is still under way");
        assert!(looks.begin(&key("b"), 0));
        looks.end(&key("a"), 100_000, true);
        assert!(!looks.begin(&key("a"), 100_000 + LOOK_EVERY_MS - 1));
        assert!(looks.begin(&key("a"), 100_000 + LOOK_EVERY_MS));
    }

    #[test]
    fn a_question_waits_no_longer_than_it_has_patience() {
        let looks = Looks::default();
        looks.begin(&key("slow"), 0);
        looks.begin(&key("quick"), 0);
        looks.end(&key("quick"), 1, true);
        let stands = looks.wait(&[key("slow"), key("quick"), key("unknown")], Duration::from_millis(1));
        assert_eq!(stands, [Some(Look::UnderWay), Some(Look::Over { at_ms: 1, is_current: true }), None]);
    }
}
