//! A tree of files on disk and, beside it, what was written there.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::scope::IndexScope;
use crate::source::Source;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Source(Source),
    Bytes(Vec<u8>),
    /// A symbolic link to this.
    Link(String),
}

impl Entry {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Source(source) => source.text().into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
            Self::Link(_) => Vec::new(),
        }
    }
}

pub type Entries = BTreeMap<String, Entry>;

/// A project that changes. Equal seeds make equal trees and equal changes.
#[derive(Debug)]
pub struct Tree {
    pub(crate) root: PathBuf,
    /// By path with `/`, below the root.
    pub(crate) entries: Entries,
    pub(crate) earlier: Vec<Entries>,
    pub(crate) scope: IndexScope,
    pub(crate) random: StdRng,
}

impl Tree {
    /// A new project in a folder that may be there already.
    pub fn create(root: &Path, seed: u64) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let random = StdRng::seed_from_u64(seed);
        let (entries, scope) = (Entries::new(), IndexScope::default());
        let mut tree = Self { root: root.to_owned(), entries, earlier: Vec::new(), scope, random };
        tree.fill()?;
        Ok(tree)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the next run shall look at.
    pub fn scope(&self) -> &IndexScope {
        &self.scope
    }

    pub fn set_scope(&mut self, scope: IndexScope) {
        self.scope = scope;
    }

    /// Names of all functions and types that its sources define.
    pub fn names(&self) -> Vec<String> {
        let sources = self.entries.values().filter_map(|entry| match entry {
            Entry::Source(source) => Some(source),
            _ => None,
        });
        let mut names: Vec<String> = sources
            .flat_map(|source| {
                let methods = source.owner.iter().flat_map(|(_, _, methods)| methods);
                let owner = source.owner.iter().map(|(name, _, _)| name.clone());
                source.functions.iter().chain(methods).map(|it| it.name.clone()).chain(owner)
            })
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Writes a file or link; whatever is in its way goes.
    pub(crate) fn put(&mut self, path: &str, entry: Entry) -> io::Result<()> {
        self.clear(path)?;
        let place = self.root.join(path);
        match &entry {
            Entry::Link(target) => link(target, &place)?,
            other => fs::write(&place, other.bytes())?,
        }
        self.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    /// Writes over a file as editors do that keep the file, with its inode.
    pub(crate) fn overwrite(&mut self, path: &str, entry: Entry) -> io::Result<()> {
        fs::write(self.root.join(path), entry.bytes())?;
        self.entries.insert(path.to_owned(), entry);
        Ok(())
    }

    pub(crate) fn remove(&mut self, path: &str) -> io::Result<()> {
        self.entries.remove(path);
        fs::remove_file(self.root.join(path))
    }

    pub(crate) fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        if from == to || to.starts_with(&format!("{from}/")) {
            return Ok(());
        }
        self.clear(to)?;
        // It may have stood in the way.
        let Some(entry) = self.entries.remove(from) else { return Ok(()) };
        fs::rename(self.root.join(from), self.root.join(to))?;
        self.entries.insert(to.to_owned(), entry);
        Ok(())
    }

    /// Files change places.
    pub(crate) fn swap(&mut self, one: &str, other: &str) -> io::Result<()> {
        let aside = format!("{one}.aside");
        self.rename(one, &aside)?;
        self.rename(other, one)?;
        self.rename(&aside, other)
    }

    /// The same content, modified now.
    pub(crate) fn touch(&self, path: &str) -> io::Result<()> {
        File::options().write(true).open(self.root.join(path))?.set_modified(SystemTime::now())
    }

    /// Other content of the same length under the same time of modification.
    pub(crate) fn overwrite_unnoticed(&mut self, path: &str, entry: Entry) -> io::Result<()> {
        let modified = fs::metadata(self.root.join(path))?.modified()?;
        self.overwrite(path, entry)?;
        let file = File::options().write(true).open(self.root.join(path))?;
        file.set_times(FileTimes::new().set_modified(modified))
    }

    /// Everything as it was, and nothing else.
    pub(crate) fn revert(&mut self, earlier: &Entries) -> io::Result<()> {
        let gone: Vec<String> = self.entries.keys().filter(|path| !earlier.contains_key(*path)).cloned().collect();
        for path in gone {
            self.remove(&path)?;
        }
        for (path, entry) in earlier {
            if self.entries.get(path) != Some(entry) {
                self.put(path, entry.clone())?;
            }
        }
        Ok(())
    }

    /// Makes room for a file: the folder above is there, and nothing is in its place.
    fn clear(&mut self, path: &str) -> io::Result<()> {
        let place = self.root.join(path);
        let below = format!("{path}/");
        self.entries.retain(|other, _| other != path && !other.starts_with(&below));
        match fs::symlink_metadata(&place) {
            Ok(it) if it.is_dir() => fs::remove_dir_all(&place)?,
            Ok(_) => fs::remove_file(&place)?,
            Err(_) => {}
        }
        let parents: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        for at in parents {
            let parent = &path[..at];
            if self.entries.contains_key(parent) {
                self.remove(parent)?;
            }
        }
        fs::create_dir_all(place.parent().expect("every path is below the root"))
    }
}

#[cfg(unix)]
fn link(target: &str, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

/// Where links need a privilege, a file with the target's name does as well: what matters is that something else is
/// there.
#[cfg(not(unix))]
fn link(target: &str, place: &Path) -> io::Result<()> {
    fs::write(place, target)
}
