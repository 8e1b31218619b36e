//! Repositories: a name in a workspace, and the folder that it stands for.

use rootset_model::{Timestamp, WorkspaceKey};

use crate::driver::{Row, Transaction};
use crate::error::StoreError;
use crate::statements::code as sql;
use crate::{Stamp, Store, Workspace};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoRow {
    pub repo: String,
    /// The folder it was last bound to.
    pub root: String,
    /// The number of the last completed run; 0 before the first.
    pub run: i64,
    pub run_at: Option<Timestamp>,
    /// What the last completed run looked for, in the scanner's own words.
    pub scope: Option<String>,
    /// Nanoseconds of the file system's time up to which stamps can be trusted; the scanner's business.
    pub trusted_at: i64,
}

/// A repository with what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoView {
    pub row: RepoRow,
    /// Living files that are not stale.
    pub files: i64,
    pub stale: i64,
}

impl RepoRow {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self {
            repo: row.get(0)?,
            root: row.get(1)?,
            run: row.get(2)?,
            run_at: row.get(3)?,
            scope: row.get(4)?,
            trusted_at: row.get(5)?,
        })
    }
}

impl Store {
    /// All repositories of a workspace, by name.
    pub fn repos(&self, workspace: &Workspace) -> Result<Vec<RepoView>, StoreError> {
        self.read(workspace, |tx| {
            tx.rows(&sql::REPOS, &[workspace.key.into()], |row| {
                Ok(RepoView { row: RepoRow::read(row)?, files: row.get(6)?, stale: row.get(7)? })
            })
        })
    }

    /// The same without counting their files.
    pub fn repo_rows(&self, workspace: &Workspace) -> Result<Vec<RepoRow>, StoreError> {
        self.read(workspace, |tx| tx.rows(&sql::REPO_ROWS, &[workspace.key.into()], RepoRow::read))
    }

    pub fn repo(&self, workspace: &Workspace, repo: &str) -> Result<Option<RepoRow>, StoreError> {
        self.read(workspace, |tx| find(tx, workspace.key, repo))
    }

    /// The repository of a folder; the first by name where several stand for it.
    pub fn repo_rooted_at(&self, workspace: &Workspace, root: &str) -> Result<Option<RepoRow>, StoreError> {
        self.read(workspace, |tx| find_at(tx, workspace.key, root))
    }

    /// Registers a repository or, with `rebind`, points it at another folder. Writes only when something changes.
    pub fn bind_repo(
        &self,
        workspace: &Workspace,
        repo: &str,
        root: &str,
        rebind: bool,
        stamp: Stamp<'_>,
    ) -> Result<RepoRow, StoreError> {
        if let Some(bound) = self.read(workspace, |tx| bound(tx, workspace.key, repo, root, rebind))? {
            return Ok(bound);
        }
        self.write(workspace, |tx| {
            // Asked again: another process may have been quicker.
            if let Some(bound) = bound(tx, workspace.key, repo, root, rebind)? {
                return Ok(bound);
            }
            let parameters = [workspace.key.into(), repo.into(), root.into()];
            if tx.execute(&sql::REBIND_REPO, &parameters)? == 0 {
                tx.execute(&sql::INSERT_REPO, &[&parameters[..], &[stamp.now.into()]].concat())?;
            }
            find(tx, workspace.key, repo)?.ok_or(StoreError::MissingRow { statement: sql::REPO.name })
        })
    }
}

/// The repository if it is bound as wanted, `None` if it can be, and a refusal otherwise.
fn bound(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    repo: &str,
    root: &str,
    rebind: bool,
) -> Result<Option<RepoRow>, StoreError> {
    match find(tx, workspace, repo)? {
        Some(row) if row.root == root => Ok(Some(row)),
        Some(row) if !rebind => Err(StoreError::RepoElsewhere { repo: repo.to_owned(), root: row.root }),
        _ => Ok(None),
    }
}

pub(super) fn find(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    repo: &str,
) -> Result<Option<RepoRow>, StoreError> {
    tx.row(&sql::REPO, &[workspace.into(), repo.into()], RepoRow::read)
}

fn find_at(tx: &mut dyn Transaction, workspace: WorkspaceKey, root: &str) -> Result<Option<RepoRow>, StoreError> {
    tx.row(&sql::REPO_AT, &[workspace.into(), root.into()], RepoRow::read)
}
