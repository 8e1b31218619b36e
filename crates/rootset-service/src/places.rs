//! Which places of this machine a request may name: one rule for every operation that takes a path.
//!
//! - A path is for the command line ([`Caller::need_command_line`]): whoever opens files there has their rights anyway.
//! - Others may name a folder to index, below the folders that somebody configured for their workspace and their token
//!   ([`Service::allowed_folder`]). Without such a setting an agent on this machine may index its working folder, and
//!   nobody over the network anything.
//! - Nobody may have Rootset read its own files ([`OwnPlaces`]): a backup holds the memories of every workspace.
//!
//! Places are compared by their real paths and, where the system has such numbers, by device and inode: a folder that is
//! mounted in a second place is still the same.

use std::collections::HashSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use rootset_api::ErrorCode;
use rootset_store::{Workspace, has_manifest};
use serde_json::json;

use crate::caller::{Caller, FrontEnd, Rights};
use crate::error::ServiceError;
use crate::platform::{device_of, stamp_of};
use crate::service::Service;
use crate::settings::CodeSettings;

/// Why something was left out: stable words, part of the answer.
const DATABASE: &str = "own_database";
const BACKUPS: &str = "own_backups";
const SECRETS: &str = "own_secrets";

impl Caller {
    /// A path in this field is for the command line only.
    pub(crate) fn need_command_line(&self, field: &str, instead: &str) -> Result<(), ServiceError> {
        match self.front_end {
            FrontEnd::CommandLine => Ok(()),
            FrontEnd::Http | FrontEnd::Mcp => {
                Err(ServiceError::invalid(format!("a path in `{field}` works only on the command line"))
                    .with_hint(instead))
            }
        }
    }
}

impl Rights {
    /// Whether a folder, which is absolute and without links, may be indexed with these rights.
    fn allow_folder(&self, folder: &Path) -> bool {
        self.roots.as_ref().is_none_or(|roots| is_below_one_of(folder, roots.iter().map(Path::new)))
    }
}

impl CodeSettings {
    /// Whether somebody configured that this folder may be indexed into the workspace, by others than the command line.
    pub(crate) fn allow_folder(&self, folder: &Path, workspace: &Workspace, is_remote: bool) -> bool {
        match self.workspace_roots.get(&workspace.id).or(self.roots.as_ref()) {
            Some(roots) => is_below_one_of(folder, roots.iter().map(PathBuf::as_path)),
            None if is_remote => false,
            None => {
                let Some(current) = std::env::current_dir().ok().and_then(|it| it.canonicalize().ok()) else {
                    return false;
                };
                let home = std::env::home_dir().and_then(|it| it.canonicalize().ok());
                current.parent().is_some() && home.is_none_or(|home| home != current) && folder.starts_with(&current)
            }
        }
    }
}

fn is_below_one_of<'a>(folder: &Path, mut roots: impl Iterator<Item = &'a Path>) -> bool {
    roots.any(|root| root.canonicalize().is_ok_and(|root| folder.starts_with(root)))
}

impl Service {
    /// The folder that a request names, absolute and without links, if the caller may have it indexed into the workspace.
    pub(crate) fn allowed_folder(
        &self,
        path: &str,
        workspace: &Workspace,
        caller: &Caller,
    ) -> Result<PathBuf, ServiceError> {
        let is_at_terminal = caller.front_end == FrontEnd::CommandLine;
        if path.is_empty() || path.contains('\0') {
            return Err(ServiceError::invalid("`path` is empty or not a path"));
        }
        if !is_at_terminal && !Path::new(path).is_absolute() {
            return Err(ServiceError::invalid(format!("`path` is `{path}`; a server needs an absolute path")));
        }
        let folder = match Path::new(path).canonicalize() {
            Ok(folder) => folder,
            Err(error) if is_at_terminal => {
                return Err(ServiceError::invalid(format!("`path` is `{path}`: {error}"))
                    .with_hint("nothing was changed; a missing folder makes no file stale"));
            }
            // Nobody learns through a server what lies outside the folders it may index.
            Err(_) => return Err(not_allowed(path)),
        };
        let is_configured = is_at_terminal || self.settings.code.allow_folder(&folder, workspace, caller.is_remote);
        if !is_configured || !caller.rights.allow_folder(&folder) {
            return Err(not_allowed(path));
        }
        if self.own_places(caller).hold(&folder) {
            let message = format!("`path` is `{path}`, where Rootset keeps its database, backups or tokens");
            return Err(ServiceError::new(ErrorCode::Forbidden, message).with_hint("these are never indexed"));
        }
        Ok(folder)
    }

    /// Where this database and what belongs to it is.
    pub(crate) fn own_places(&self, caller: &Caller) -> OwnPlaces {
        let files = self.store.own_files();
        let mut places = OwnPlaces::default();
        // At a terminal the database may lie beside the sources: its files alone are left out. Nobody else needs more of
        // its folder than what is below.
        if caller.front_end != FrontEnd::CommandLine
            && let Some(folder) = files.first().and_then(|file| file.parent())
        {
            places.database_folder.add(folder);
        }
        files.iter().for_each(|file| places.files.add(file));
        self.settings.private_files.iter().for_each(|file| places.secrets.add(file));
        self.backup_folder().iter().for_each(|folder| places.backups.add(folder));
        places
    }
}

fn not_allowed(path: &str) -> ServiceError {
    ServiceError::new(ErrorCode::Forbidden, format!("`path` is `{path}`, which is not below a folder of `code.roots`"))
        .with_hint("index it on the command line with `rootset index`, or add its folder to `code.roots`")
        .with_details(json!({"setting": "code.roots"}))
}

/// What nobody may have read: the database, its backups and its secrets, and every folder that holds a backup of one.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnPlaces {
    files: Places,
    secrets: Places,
    backups: Places,
    /// Not what is below it, unless it is one of the others.
    database_folder: Places,
}

impl OwnPlaces {
    /// Whether a folder is one of these places, or lies in one.
    fn hold(&self, folder: &Path) -> bool {
        self.database_folder.have(folder, None)
            || folder.ancestors().any(|folder| self.backups.have(folder, None) || has_manifest(folder))
    }

    /// Why a walk does not enter this folder.
    pub fn reason_to_leave_folder(&self, folder: &Path) -> Option<&'static str> {
        if self.database_folder.have(folder, None) {
            return Some(DATABASE);
        }
        (self.backups.have(folder, None) || has_manifest(folder)).then_some(BACKUPS)
    }

    /// Why a walk leaves this file out. To read the database's files would also take away the locks of this process.
    pub fn reason_to_leave_file(&self, file: &Path, metadata: &Metadata) -> Option<&'static str> {
        if self.files.have(file, Some(metadata)) {
            return Some(DATABASE);
        }
        self.secrets.have(file, Some(metadata)).then_some(SECRETS)
    }
}

/// Files or folders, whatever they are called.
#[derive(Clone, Debug, Default)]
struct Places {
    paths: Vec<PathBuf>,
    identities: HashSet<(u64, i64)>,
}

impl Places {
    fn add(&mut self, path: &Path) {
        self.identities.extend(std::fs::metadata(path).ok().as_ref().and_then(identity));
        self.paths.push(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    }

    /// `metadata` where somebody has it already.
    fn have(&self, path: &Path, metadata: Option<&Metadata>) -> bool {
        if self.paths.is_empty() {
            return false;
        }
        let looked_up = || std::fs::metadata(path).ok().as_ref().and_then(identity);
        let found = metadata.map_or_else(looked_up, identity);
        self.paths.iter().any(|it| it == path) || found.is_some_and(|it| self.identities.contains(&it))
    }
}

/// Device and inode; `None` where the system has no such numbers.
fn identity(metadata: &Metadata) -> Option<(u64, i64)> {
    let inode = stamp_of(metadata).inode;
    (inode != 0).then(|| (device_of(metadata), inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("rootset.db"), folder.path().join("notes.txt"));
        std::fs::write(&file, "x").unwrap();
        std::fs::write(&other, "x").unwrap();
        std::fs::hard_link(&file, folder.path().join("copy.txt")).unwrap();
        let mut places = Places::default();
        places.add(&file);
        for (path, is_own) in [(&file, true), (&folder.path().join("copy.txt"), true), (&other, false)] {
            assert_eq!(places.have(path, None), is_own, "{}", path.display());
            assert_eq!(places.have(path, Some(&path.metadata().unwrap())), is_own, "{}", path.display());
        }
    }
}
