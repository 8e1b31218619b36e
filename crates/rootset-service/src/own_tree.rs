//! Several trees of one repository: worktrees and clones that are indexed into one workspace, each as a repository of the index.
//!
//! Whoever works in one of them and names no repository is answered from that one: the others hold nearly the same code, on other
//! branches. That holds while the workspace has trees of this repository alone. Beside unrelated repositories nothing is left
//! out: an answer then names the repository of each result.

use std::path::Path;

use rootset_store::Workspace;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::projects::Project;
use crate::service::Service;

impl Service {
    /// The repository that a question is about: the one it names, or the tree that the caller works in.
    pub(crate) fn repo_or_own_tree(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        named: Option<String>,
    ) -> Result<Option<String>, ServiceError> {
        match self.known_repo(workspace, named)? {
            Some(repo) => Ok(Some(repo)),
            None => self.own_tree(caller, workspace),
        }
    }

    /// The tree around the caller, if all others of the workspace are trees of the same repository.
    fn own_tree(&self, caller: &Caller, workspace: &Workspace) -> Result<Option<String>, ServiceError> {
        let Some(root) = caller.workspace.project_root(&workspace.id) else { return Ok(None) };
        let rows = self.completed_repos(workspace, None)?;
        let is_own = |row: &&rootset_store::RepoRow| Path::new(&row.root) == root;
        let Some(own) = rows.iter().find(is_own).filter(|_| rows.len() > 1) else { return Ok(None) };
        let Some(project) = Project::around(root) else { return Ok(None) };
        let is_tree_of_it = |folder: &Path| {
            Project::around(folder).is_some_and(|it| it.root() == folder && it.is_same_repository(&project))
        };
        let is_alone = rows.iter().all(|row| is_own(&row) || is_tree_of_it(Path::new(&row.root)));
        Ok(is_alone.then(|| own.repo.clone()))
    }
}
