//! Which folder is meant and what its repository is called.

use std::path::{Path, PathBuf};

use rootset_store::{Stamp, StoreError, Workspace};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

pub const SLUG_CHARS_MAX: usize = 64;

impl Service {
    /// The folder itself, without links; refused to callers that may not look there.
    pub(crate) fn folder_to_index(
        &self,
        path: &str,
        workspace: &Workspace,
        caller: &Caller,
    ) -> Result<PathBuf, ServiceError> {
        let root = self.allowed_folder(path, workspace, caller)?;
        if !root.is_dir() {
            return Err(ServiceError::invalid(format!("`path` is `{path}`, which is not a folder"))
                .with_hint("a repository is a folder with everything below it"));
        }
        // Asked before the folder gets a name: a mount point without its disk is no repository.
        if root.read_dir().is_ok_and(|mut entries| entries.next().is_none()) {
            return Err(empty_folder(&root));
        }
        if root.to_str().is_none() {
            return Err(ServiceError::invalid(format!("`path` is {}, which is not valid UTF-8", root.display())));
        }
        Ok(root)
    }

    /// The repository's slug: the one given, the one that the folder has already, or one made from its name.
    pub(crate) fn bind_repository(
        &self,
        workspace: &Workspace,
        root: &Path,
        given: Option<&str>,
        rebind: bool,
        stamp: Stamp<'_>,
    ) -> Result<String, ServiceError> {
        let folder = root.to_str().expect("asked before");
        if let Some(slug) = given {
            check_slug(slug)?;
            self.store.bind_repo(workspace, slug, folder, rebind, stamp)?;
            return Ok(slug.to_owned());
        }
        if let Some(known) = self.store.repo_rooted_at(workspace, folder)? {
            return Ok(known.repo);
        }
        for slug in slugs_of(root) {
            match self.store.bind_repo(workspace, &slug, folder, false, stamp) {
                Err(StoreError::RepoElsewhere { .. }) => continue,
                Err(error) => return Err(error.into()),
                Ok(bound) => return Ok(bound.repo),
            }
        }
        Err(ServiceError::conflict(format!("every name made from {folder} is taken"))
            .with_hint("choose one with `repo`"))
    }
}

pub fn empty_folder(root: &Path) -> ServiceError {
    ServiceError::invalid(format!("`path`: the folder {} is empty", root.display()))
        .with_hint("nothing was changed; check whether a volume is not mounted")
}

fn check_slug(slug: &str) -> Result<(), ServiceError> {
    if slug.is_empty() || slug.len() > SLUG_CHARS_MAX || slug != as_slug(slug) {
        return Err(ServiceError::invalid(format!(
            "`repo` is `{slug}`; letters, digits, `.`, `_` and `-` are allowed, at most {SLUG_CHARS_MAX}"
        )));
    }
    Ok(())
}

/// `name`, `parent-name`, `grandparent-parent-name`, …, and numbers after the shortest when even the path is taken.
fn slugs_of(root: &Path) -> impl Iterator<Item = String> {
    let parts: Vec<String> =
        root.iter().rev().filter_map(|part| part.to_str()).map(as_slug).filter(|part| !part.is_empty()).collect();
    let mut longer = Vec::new();
    for length in 1..=parts.len() {
        let slug = parts[..length].iter().rev().cloned().collect::<Vec<_>>().join("-");
        if slug.len() <= SLUG_CHARS_MAX {
            longer.push(slug);
        }
    }
    let first: String = parts.first().map_or("root", String::as_str).chars().take(SLUG_CHARS_MAX - 4).collect();
    longer.into_iter().chain((2..1_000).map(move |number| format!("{first}-{number}")))
}

fn as_slug(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let slug: String = name.chars().map(|c| if allowed(c) { c } else { '-' }).collect();
    slug.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_gives_its_name_and_then_its_parents() {
        let slugs: Vec<String> = slugs_of(Path::new("/home/me/My App")).take(4).collect();
        assert_eq!(slugs, ["My-App", "me-My-App", "home-me-My-App", "My-App-2"]);
        assert_eq!(slugs_of(Path::new("/")).next().as_deref(), Some("root-2"));
    }

    #[test]
    fn slug_is_a_plain_word() {
        for slug in ["web", "Django-5.1", "a_b"] {
            assert!(check_slug(slug).is_ok(), "{slug}");
        }
        for slug in ["", "a b", "../x", "a/b", &"x".repeat(65), ".hidden"] {
            assert!(check_slug(slug).is_err(), "{slug}");
        }
    }
}
