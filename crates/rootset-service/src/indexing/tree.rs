//! What is on disk: one walk over a folder that honours its ignore files, opens nothing else and follows no link.
//!
//! Anything that cannot be read is reported as unknown, never silently left out: only a walk that saw a folder may say
//! that a file is not in it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};
use parking_lot::Mutex;
use rootset_store::FileStamp;

use super::large_rules::{LARGE_BYTES, TreeRules, has_large_rules, is_rules_file};
use super::repositories::empty_folder;
use super::skipped::Skipped;
use crate::error::ServiceError;
use crate::places::OwnPlaces;
use crate::platform::{device_of, stamp_of};

/// Rules of our own beside `.gitignore`.
pub const IGNORE_FILE: &str = ".rootsetignore";
/// Histories, and what package managers and tools put beside the sources; nobody keeps sources there.
const NEVER_ENTERED: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "__pycache__",
    ".venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
];

/// A regular file below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// Relative to the root, with `/`.
    pub path: String,
    pub stamp: FileStamp,
    /// On another device than the root.
    pub is_mounted: bool,
}

/// What one walk saw.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// In the order of their paths' bytes.
    pub files: Vec<SeenFile>,
    /// Files and folders that could not be looked at, relative to the root; the empty path is the root itself.
    pub unknown: BTreeSet<String>,
    pub skipped: Skipped,
    pub(super) root: PathBuf,
    pub(super) root_device: u64,
}

/// What one thread of the walk saw.
#[derive(Default)]
struct Part {
    files: Vec<SeenFile>,
    unknown: BTreeSet<String>,
    skipped: BTreeMap<&'static str, u64>,
    other_entries: u64,
}

impl Tree {
    /// Walks the folder; `exclude` are patterns of paths to leave out, in the language of ignore files. What is our own is
    /// left out whatever its name looks like.
    pub fn walk(root: &Path, exclude: &[String], own: OwnPlaces) -> Result<Self, ServiceError> {
        let top = top_of_rules(root);
        let above = root.ancestors().take_while(|folder| folder.starts_with(top));
        if !above.into_iter().any(has_large_rules) {
            let tree = Self::walk_by(root, exclude, own.clone(), None)?;
            let is_large = |file: &SeenFile| is_rules_file(&file.path) && file.stamp.size.unsigned_abs() > LARGE_BYTES;
            if !tree.files.iter().any(is_large) {
                return Ok(tree);
            }
        }
        Self::walk_by(root, exclude, own, Some(Arc::new(TreeRules::new(top.to_owned()))))
    }

    /// By these rules, or by those of the walker itself.
    fn walk_by(
        root: &Path,
        exclude: &[String],
        own: OwnPlaces,
        rules: Option<Arc<TreeRules>>,
    ) -> Result<Self, ServiceError> {
        let metadata = std::fs::metadata(root).map_err(|error| unreadable_root(root, &error))?;
        let root_device = device_of(&metadata);
        let parts: Arc<Mutex<Vec<Part>>> = Arc::default();
        let is_below_a_repository = is_below_a_repository(root);
        let has_own_rules = rules.is_some();
        let mut walker = WalkBuilder::new(root);
        if !has_own_rules {
            walker.add_custom_ignore_filename(IGNORE_FILE);
        }
        let walker = walker
            .hidden(false)
            .ignore(false)
            .git_global(false)
            .git_ignore(!has_own_rules)
            .git_exclude(!has_own_rules)
            // Of the rules above the root, those count that git itself would heed: up to the top of the repository.
            .require_git(is_below_a_repository)
            .parents(is_below_a_repository)
            .follow_links(false)
            .overrides(overrides(root, exclude)?)
            .filter_entry(move |entry| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let is_left_out = || rules.as_ref().is_some_and(|rules| rules.leave_out(entry.path(), is_folder));
                entry.depth() == 0 || !is_never_entered(entry) && !is_left_out()
            })
            .threads(std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 8)))
            .build_parallel();
        walker.run(|| {
            let mut collected = Collector { part: Part::default(), parts: parts.clone() };
            let (root, own) = (root.to_owned(), own.clone());
            Box::new(move |entry| collected.part.see(&root, root_device, &own, entry))
        });
        let mut tree = Self { root: root.to_owned(), root_device, ..Self::default() };
        let mut other_entries = 0;
        for part in std::mem::take(&mut *parts.lock()) {
            tree.files.extend(part.files);
            tree.unknown.extend(part.unknown);
            tree.skipped.add_all(part.skipped);
            other_entries += part.other_entries;
        }
        tree.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        if tree.files.is_empty() && other_entries == 0 && tree.unknown.is_empty() {
            return Err(empty_folder(root));
        }
        Ok(tree)
    }

    /// Whether the walk cannot tell if this file is there. A file that was on another device than the root is unknown
    /// while that device is not there: an empty mount point looks like a folder that lost its files.
    pub fn is_unknown(&self, path: &str, was_mounted: bool) -> bool {
        let is_below = |unknown: &String| {
            unknown.is_empty()
                || path.strip_prefix(unknown.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.unknown.iter().any(is_below) || (was_mounted && !self.is_mounted_now(path))
    }

    fn is_mounted_now(&self, path: &str) -> bool {
        let mut folder = self.root.join(path);
        while folder.pop() && folder.starts_with(&self.root) {
            match std::fs::symlink_metadata(&folder) {
                Ok(metadata) => return device_of(&metadata) != self.root_device,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => return false,
            }
        }
        false
    }
}

/// Hands over what its thread saw when the thread is done.
struct Collector {
    part: Part,
    parts: Arc<Mutex<Vec<Part>>>,
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.parts.lock().push(std::mem::take(&mut self.part));
    }
}

impl Part {
    fn see(
        &mut self,
        root: &Path,
        root_device: u64,
        own: &OwnPlaces,
        entry: Result<DirEntry, ignore::Error>,
    ) -> WalkState {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                self.unknown.insert(unknown_path(root, &error));
                return WalkState::Continue;
            }
        };
        if entry.depth() == 0 {
            return WalkState::Continue;
        }
        self.other_entries += 1;
        match entry.file_type() {
            Some(kind) if kind.is_dir() => {
                if let Some(reason) = own.reason_to_leave_folder(entry.path()) {
                    self.skip(reason);
                    return WalkState::Skip;
                }
            }
            Some(kind) if kind.is_file() => self.see_file(root, root_device, own, &entry),
            Some(kind) => self.skip(if kind.is_symlink() { "symlink" } else { "special_file" }),
            None => {}
        }
        WalkState::Continue
    }

    fn see_file(&mut self, root: &Path, root_device: u64, own: &OwnPlaces, entry: &DirEntry) {
        let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let Some(path) = relative.to_str() else { return self.skip("unreadable_name") };
        let Ok(metadata) = entry.metadata() else {
            self.unknown.insert(path.to_owned());
            return;
        };
        match own.reason_to_leave_file(entry.path(), &metadata) {
            Some(reason) => self.skip(reason),
            None => self.files.push(SeenFile {
                path: path.to_owned(),
                stamp: stamp_of(&metadata),
                is_mounted: device_of(&metadata) != root_device,
            }),
        }
    }

    fn skip(&mut self, reason: &'static str) {
        *self.skipped.entry(reason).or_default() += 1;
    }
}

fn unreadable_root(root: &Path, error: &io::Error) -> ServiceError {
    ServiceError::invalid(format!("`path`: {} cannot be read: {error}", root.display()))
        .with_hint("nothing was changed; a missing folder makes no file stale")
}

/// The path that an error of the walk is about; without one, nothing about the tree is certain.
fn unknown_path(root: &Path, error: &ignore::Error) -> String {
    fn path_of(error: &ignore::Error) -> Option<&Path> {
        match error {
            ignore::Error::WithPath { path, .. } => Some(path),
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
            _ => None,
        }
    }
    let relative = path_of(error).and_then(|path| path.strip_prefix(root).ok()).and_then(Path::to_str);
    relative.unwrap_or_default().to_owned()
}

fn is_never_entered(entry: &DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(|name| NEVER_ENTERED.contains(&name))
}

/// Rules above the root count only inside one repository: a stray ignore file in a home folder has no say.
fn is_below_a_repository(root: &Path) -> bool {
    top_of_rules(root) != root
}

/// The folder whose rules are the first to count: the top of the repository around the root, or else the root.
fn top_of_rules(root: &Path) -> &Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}

fn overrides(root: &Path, exclude: &[String]) -> Result<Override, ServiceError> {
    let mut builder = OverrideBuilder::new(root);
    let bad = |error: ignore::Error| ServiceError::invalid(format!("`code.exclude`: {error}"));
    for pattern in exclude {
        builder.add(&format!("!{pattern}")).map_err(bad)?;
    }
    builder.build().map_err(bad)
}
