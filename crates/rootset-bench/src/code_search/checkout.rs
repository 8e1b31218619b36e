//! A tree of a repository's history on disk, and what git says of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use super::history::is_source;

/// A source file of a commit: its path and the name of its content, which is the same for the same content.
pub struct Source {
    pub path: String,
    pub content: String,
    pub file: PathBuf,
}

pub struct Checkout {
    folder: PathBuf,
}

impl Checkout {
    /// A clone that shares the objects of the repository, without a tree yet.
    pub fn create(repository: &Path, folder: PathBuf) -> anyhow::Result<Self> {
        let from = repository.canonicalize().with_context(|| format!("no `{}`", repository.display()))?;
        let (from, to) = (from.display().to_string(), folder.display().to_string());
        git(Path::new("."), &["clone", "--quiet", "--shared", "--no-checkout", &from, &to])?;
        Ok(Self { folder })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn switch(&self, commit: &str) -> anyhow::Result<()> {
        git(&self.folder, &["checkout", "--quiet", "--force", "--detach", commit]).map(drop)
    }

    pub fn sources(&self, commit: &str) -> anyhow::Result<Vec<Source>> {
        let list = git(&self.folder, &["ls-tree", "-r", "-z", commit])?;
        let list = String::from_utf8_lossy(&list);
        let files = list.split('\0').filter_map(|line| {
            let (about, path) = line.split_once('\t')?;
            let content = about.rsplit(' ').next()?.to_owned();
            let is_file = about.starts_with("100");
            (is_file && is_source(path)).then(|| Source {
                path: path.to_owned(),
                content,
                file: self.folder.join(path),
            })
        });
        Ok(files.collect())
    }
}

pub fn git(folder: &Path, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().context("cannot start git")?;
    if !output.status.success() {
        bail!("`git {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}
