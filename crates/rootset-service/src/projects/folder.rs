//! The project around a folder: a git working tree, or else the nearest folder with a `rootset.toml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rootset_model::limits::WORKSPACE_ID_CHARS_MAX;

use super::git::{self, GitFolder};
use super::{remote, root_commit};

const FILE: &str = "rootset.toml";
/// Of a project whose folder's name has nothing that an id may hold.
const NAMELESS: &str = "project";

#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
    git: Option<GitFolder>,
}

impl Project {
    pub fn around(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let in_git = folder.ancestors().find_map(|root| {
            let git = git::at(root)?;
            Some(Self { root: root.to_owned(), git: git.confirmed() })
        });
        in_git.or_else(|| {
            let root = folder.ancestors().find(|it| it.join(FILE).is_file())?;
            Some(Self { root: root.to_owned(), git: None })
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it is a repository that can be told apart from others.
    pub fn is_git(&self) -> bool {
        self.git.is_some()
    }

    /// Whether both are working trees of one repository: worktrees of it, or clones with the same remote.
    pub(crate) fn is_same_repository(&self, other: &Self) -> bool {
        let common = |it: &Self| it.git.as_ref().map(|git| git.common.clone());
        let is_same = |a: Option<_>, b: Option<_>| a.is_some() && a == b;
        is_same(common(self), common(other)) || self.remote().is_some_and(|remote| other.remote() == Some(remote))
    }

    /// What it is recognised by, the strongest first.
    pub(super) fn places(&self) -> Vec<String> {
        let paths = self.git.iter().map(|git| git.common.as_path()).chain([self.root.as_path()]);
        paths.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    pub(super) fn remote(&self) -> Option<String> {
        let git = self.git.as_ref().filter(|git| git.is_self_contained())?;
        remote::normalised(&git.remote_url()?, &self.root)
    }

    /// Whether there is anything to have a first commit.
    pub(super) fn has_commits(&self) -> bool {
        self.git.as_ref().is_some_and(|git| git.head_commit().is_some())
    }

    /// The first commit of its history, if `git` is there and finds it in time.
    pub(super) fn root_commit(&self) -> Option<String> {
        let git = self.git.as_ref().filter(|git| git.is_self_contained() && !git.is_shallow())?;
        root_commit::find(&git.objects(), &git.head_commit()?)
    }

    /// The name of the folder, of the repository's own where this is a worktree of it, with what an id may hold.
    pub(super) fn slug(&self) -> String {
        let common = self.git.as_ref().map(|git| git.common.as_path());
        let of_repository = common.and_then(|common| match common.file_name()?.to_str()? {
            ".git" => common.parent()?.file_name(),
            // A bare repository with worktrees; anything else lies inside another repository's.
            _ if common.join("worktrees").is_dir() && !self.root.starts_with(common) => common.file_name(),
            _ => None,
        });
        let name = of_repository.or_else(|| self.root.file_name());
        slug(&name.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default())
    }
}

fn slug(name: &str) -> String {
    let name = name.to_lowercase();
    let name = name.strip_suffix(".git").unwrap_or(&name);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let id: String = name.chars().map(|c| if plain(c) || c == '_' { c } else { '-' }).collect();
    let id: String = id.trim_start_matches(['-', '_']).chars().take(WORKSPACE_ID_CHARS_MAX).collect();
    let id = id.trim_end_matches('-');
    if id.is_empty() { NAMELESS.to_owned() } else { id.to_owned() }
}

/// A word for this machine: paths are names on one machine only. Not the machine's id itself, which is nobody's business.
pub(super) fn machine() -> &'static str {
    const SOURCES: [&str; 3] = ["/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/hostname"];
    static MACHINE: OnceLock<String> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let ids = SOURCES.iter().filter_map(|path| fs::read_to_string(path).ok());
        let id = ids.map(|id| id.trim().to_owned()).find(|id| !id.is_empty());
        let id = id.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
        blake3::hash(format!("rootset machine {id}").as_bytes()).to_hex()[..12].to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_become_ids() {
        assert_eq!(slug("rootset"), "rootset");
        assert_eq!(slug("My Project.rs"), "my-project-rs");
        assert_eq!(slug("falcon.git"), "falcon");
        assert_eq!(slug("_private"), "private");
        assert_eq!(slug("日本"), "project");
        assert_eq!(slug(&"x".repeat(100)).len(), WORKSPACE_ID_CHARS_MAX);
    }
}
