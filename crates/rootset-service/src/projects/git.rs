//! What git's own files say of a working tree, read without git: nothing in a repository is executed or obeyed.
//!
//! A `.git` that points elsewhere counts only if what it points to points back, as git writes it for worktrees and
//! submodules. Anybody can put a pointer to somebody else's repository into an archive.

use std::fs;
use std::path::{Path, PathBuf};

/// Enough for configurations and packed references of large repositories; what is longer is not read.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Parts that decide what a repository is: made of links to another one's, they are that one's.
const PARTS: [&str; 7] = ["HEAD", "config", "objects", "objects/info", "objects/pack", "packed-refs", "refs"];

/// What `.git` of a folder is.
#[derive(Clone, Debug)]
pub struct At(Option<GitFolder>);

impl At {
    /// The repository, unless it only claims to be one that it cannot be shown to belong to.
    pub fn confirmed(self) -> Option<GitFolder> {
        self.0
    }
}

/// A repository's folders, without links.
#[derive(Clone, Debug)]
pub struct GitFolder {
    /// What belongs to this working tree alone: its `HEAD`.
    own: PathBuf,
    /// What all worktrees share.
    pub common: PathBuf,
}

/// `None` where there is no working tree. `root` is absolute and without links.
pub fn at(root: &Path) -> Option<At> {
    let pointer = root.join(".git");
    let kind = fs::symlink_metadata(&pointer).ok()?.file_type();
    if kind.is_symlink() {
        return Some(At(None));
    }
    if kind.is_file() {
        return Some(At(pointed_to(&pointer, root)));
    }
    let is_repository = fs::symlink_metadata(pointer.join("HEAD")).is_ok();
    let own = GitFolder { own: pointer.clone(), common: pointer.clone() };
    is_repository.then(|| At((!pointer.join("commondir").exists()).then_some(own)))
}

fn pointed_to(pointer: &Path, root: &Path) -> Option<GitFolder> {
    let text = read(pointer)?;
    let own = root.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let Some(common) = read(&own.join("commondir")) else {
        // A submodule: its repository knows its working tree.
        let worktree = value(&read(&own.join("config"))?, "core", "worktree")?;
        let is_ours = own.join(worktree).canonicalize().is_ok_and(|worktree| worktree == root);
        return is_ours.then(|| GitFolder { common: own.clone(), own });
    };
    let common = own.join(common.trim()).canonicalize().ok()?;
    let back = PathBuf::from(read(&own.join("gitdir"))?.trim());
    let points_back = own.join(back).canonicalize().is_ok_and(|back| back == pointer);
    (points_back && own.parent() == Some(&common.join("worktrees"))).then_some(GitFolder { own, common })
}

impl GitFolder {
    pub fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    /// Whether everything that it is told apart by is its own.
    pub fn is_self_contained(&self) -> bool {
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_symlink());
        let has_links = |folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.into_iter().any(|it| it.file_type().is_ok_and(|it| it.is_symlink()))
        };
        let objects = self.objects();
        !PARTS.iter().any(|part| is_link(&self.common.join(part)))
            && !objects.join("info/alternates").exists()
            && !has_links(&objects)
            && !has_links(&objects.join("pack"))
    }

    /// Whether it holds only the end of its history, so that the first commit it knows is not the first.
    pub fn is_shallow(&self) -> bool {
        self.common.join("shallow").exists()
    }

    /// The address of `origin`, or else of the remote that is named first.
    pub fn remote_url(&self) -> Option<String> {
        let text = read(&self.common.join("config"))?;
        let origin = value(&text, "remote \"origin\"", "url");
        origin.or_else(|| {
            let section = sections(&text).map(|(name, _)| name).find(|name| name.starts_with("remote \""))?;
            value(&text, &section, "url")
        })
    }

    /// The commit that `HEAD` stands for; `None` before the first one.
    pub fn head_commit(&self) -> Option<String> {
        let head = read(&self.own.join("HEAD"))?;
        let Some(reference) = head.trim().strip_prefix("ref:") else { return commit(head.trim()) };
        let reference = reference.trim();
        if !reference.starts_with("refs/") || reference.split('/').any(|part| part.is_empty() || part == "..") {
            return None;
        }
        let loose = read(&self.common.join(reference)).and_then(|text| commit(text.trim()));
        loose.or_else(|| {
            let packed = read(&self.common.join("packed-refs"))?;
            let found = packed.lines().find_map(|line| line.split_once(' ').filter(|(_, name)| *name == reference));
            found.and_then(|(id, _)| commit(id))
        })
    }
}

/// The id of an object, by SHA-1 or SHA-256.
pub fn commit(text: &str) -> Option<String> {
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then(|| text.to_owned())
}

fn read(path: &Path) -> Option<String> {
    let is_plain = fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= FILE_BYTES_MAX);
    is_plain.then(|| fs::read(path).ok())?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Sections of a configuration, each with its lines. Names of sections are compared as they are written by git.
fn sections(text: &str) -> impl Iterator<Item = (String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, _)) => found.push((name.to_owned(), Vec::new())),
            None => found.iter_mut().last().into_iter().for_each(|(_, lines)| lines.push(line)),
        }
    }
    found.into_iter()
}

/// The first value of a key. Files that are included are not read: they may be anywhere.
fn value(text: &str, section: &str, key: &str) -> Option<String> {
    let lines = sections(text).filter(|(name, _)| name == section).flat_map(|(_, lines)| lines);
    let mut values = lines.filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case(key).then(|| unquoted(value.trim()))
    });
    values.next().filter(|value| !value.is_empty())
}

/// Without quotes, and without a comment where there are none.
fn unquoted(value: &str) -> String {
    match value.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some((inside, _)) => inside.replace("\\\\", "\\"),
        None => value.split([';', '#']).next().unwrap_or_default().trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_read_as_git_writes_them() {
        let text = "[core]\n\tbare = false\n[remote \"upstream\"]\n\turl = https://a/b\n[remote \"origin\"]\n\turl = git@host:o/n.git\n\tfetch = +x:y\n[branch \"main\"]\n\turl = no\n";
        assert_eq!(value(text, "remote \"origin\"", "url").as_deref(), Some("git@host:o/n.git"));
        assert_eq!(value(text, "remote \"upstream\"", "URL").as_deref(), Some("https://a/b"));
        assert_eq!(value(text, "core", "worktree"), None);
        assert_eq!(value("[core]\nworktree = \"../a b\" # x", "core", "worktree").as_deref(), Some("../a b"));
        assert_eq!(value("worktree = before any section", "core", "worktree"), None);
    }

    #[test]
    fn only_ids_are_commits() {
        assert_eq!(commit(&"a1".repeat(20)).map(|it| it.len()), Some(40));
        for bad in ["", "--help", &"A".repeat(40), &"a".repeat(41)] {
            assert_eq!(commit(bad), None, "{bad}");
        }
    }
}
