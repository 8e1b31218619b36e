//! Which workspace a folder on this machine uses. Not an operation: no request from elsewhere may name a folder.

use std::path::Path;

use rootset_model::names::check_workspace_id;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

impl Service {
    /// The workspace of a folder, made under this name where neither the folder nor the name has one yet. A workspace of
    /// that name that may be another folder's is a `conflict`.
    pub fn workspace_of_folder(&self, caller: &Caller, folder: &Path, name: &str) -> Result<String, ServiceError> {
        check_workspace_id(name).map_err(|error| ServiceError::invalid(format!("`workspace_id`: {error}")))?;
        let workspace = self.store.workspace_of_folder(&folder.to_string_lossy(), name, self.stamp(caller))?;
        Ok(workspace.id)
    }

    /// Links a folder to an existing workspace, because a person said so.
    pub fn link_folder(&self, caller: &Caller, folder: &Path, workspace_id: &str) -> Result<(), ServiceError> {
        let workspace = self.workspace(caller, Some(workspace_id))?;
        Ok(self.store.link_folder(&folder.to_string_lossy(), &workspace, self.stamp(caller))?)
    }
}
