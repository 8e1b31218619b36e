//! Which folder uses which workspace, so that two folders of one name never share a memory by accident.
//!
//! A folder is linked to the workspace that was made for it, or to one that a person named. It never joins an existing
//! workspace because their names are alike. Only the database's own notes know of it: a workspace moves to another
//! machine without the folders of the first.

use std::path::Path;

use rootset_model::WorkspaceKey;

use crate::audit;
use crate::driver::{Tenant, Transaction};
use crate::error::StoreError;
use crate::statements::code as code_sql;
use crate::statements::folders as sql;
use crate::workspaces::{self, NewWorkspace, Workspace};
use crate::{STANDARD_CLASS, Stamp, Store};

impl Store {
    /// The workspace of a folder. Where it has none yet, one is made under the name, unless another folder's data may
    /// be in a workspace of that name.
    pub fn workspace_of_folder(&self, folder: &str, name: &str, stamp: Stamp<'_>) -> Result<Workspace, StoreError> {
        // Reading first: nobody waits for the write lock to hear that the folder is known.
        if let Some(known) = self.read(Tenant::Database, |tx| linked(tx, folder))? {
            return Ok(known);
        }
        self.write(Tenant::Database, |tx| {
            if let Some(known) = linked(tx, folder)? {
                return Ok(known);
            }
            let workspace = match workspaces::find(tx, name)? {
                None => {
                    let key =
                        workspaces::create(tx, &NewWorkspace { id: name.to_owned(), ..Default::default() }, stamp)?;
                    tx.enter(key.into())?;
                    audit::append(tx, key, stamp, &audit::Entry::of("create_workspace"))?;
                    Workspace {
                        key,
                        id: name.to_owned(),
                        class: STANDARD_CLASS.to_owned(),
                        trashed: None,
                        person: None,
                    }
                }
                Some(found) if found.person.is_none() && may_claim(tx, &found, folder)? => found,
                Some(found) => return Err(StoreError::WorkspaceOfAnotherFolder { name: found.id }),
            };
            link(tx, folder, workspace.key)?;
            Ok(workspace)
        })
    }

    /// A person says that the folder uses this workspace, whatever it used before.
    pub fn link_folder(&self, folder: &str, workspace: &Workspace, stamp: Stamp<'_>) -> Result<(), StoreError> {
        self.write(workspace, |tx| {
            link(tx, folder, workspace.key)?;
            audit::append(tx, workspace.key, stamp, &audit::Entry::of("link_workspace"))
        })
    }
}

fn key(folder: &str) -> String {
    format!("folder/{folder}")
}

fn link(tx: &mut dyn Transaction, folder: &str, workspace: WorkspaceKey) -> Result<(), StoreError> {
    let number = workspace.0.to_string();
    tx.execute(&sql::LINK, &[(&key(folder)).into(), number.as_bytes().into()]).map(drop)
}

/// Numbers are never given twice, so the link of a purged workspace leads nowhere.
fn linked(tx: &mut dyn Transaction, folder: &str) -> Result<Option<Workspace>, StoreError> {
    let value: Option<Vec<u8>> = tx.row(&sql::FIND, &[(&key(folder)).into()], |row| row.get(0))?;
    let Some(workspace) = value.as_deref().and_then(number) else { return Ok(None) };
    Ok(workspaces::all(tx)?.into_iter().find(|it| it.key == workspace))
}

fn number(value: &[u8]) -> Option<WorkspaceKey> {
    std::str::from_utf8(value).ok()?.parse().ok().map(WorkspaceKey)
}

/// A workspace from before folders were noted belongs to the folder that a repository indexed in it lies in. Every other
/// one needs a person's word: what is in it may be somebody else's.
fn may_claim(tx: &mut dyn Transaction, workspace: &Workspace, folder: &str) -> Result<bool, StoreError> {
    let claims: Vec<Vec<u8>> = tx.rows(&sql::ALL, &[], |row| row.get(1))?;
    let is_claimed = claims.iter().any(|value| number(value) == Some(workspace.key));
    if is_claimed || workspace.trashed.is_some() {
        return Ok(false);
    }
    tx.enter(workspace.key.into())?;
    let roots: Vec<String> = tx.rows(&code_sql::REPOS, &[workspace.key.into()], |row| row.get(1))?;
    Ok(!roots.is_empty() && roots.iter().all(|root| Path::new(root).starts_with(folder)))
}
