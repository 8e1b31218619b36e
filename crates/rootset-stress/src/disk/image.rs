//! What is on a disk after a power cut: everything that was synced, and of the rest what chance leaves.
//!
//! Files are inodes with bytes that are synced and changes that are not; a sync of a file makes its changes durable. Names
//! are changes of their folder, durable once that folder is synced, in their order. That is less than common file systems
//! promise, and all that programs may rely on.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::Rng;

use super::log::{Record, What};
use crate::error::StressError;

/// What a disk writes as one.
const SECTOR_BYTES: usize = 512;

/// What happens to changes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// All of them are lost.
    Drop,
    /// None of them is lost, as when a process is killed.
    Keep,
    /// The last ones are lost.
    Prefix,
    /// Some are lost, as when the disk writes in an order of its own.
    Reorder,
    /// Of every write some sectors are lost.
    Tear,
}

impl Damage {
    pub const ALL: [Self; 5] = [Self::Drop, Self::Keep, Self::Prefix, Self::Reorder, Self::Tear];
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, data: Arc<[u8]> },
    Truncate { bytes: usize },
}

/// A name within a folder.
type Entry = (usize, OsString);
type Names = BTreeMap<Entry, usize>;

#[derive(Clone, Debug)]
enum Naming {
    Create { entry: Entry, file: usize },
    Remove { entry: Entry },
    Rename { from: Entry, to: Entry },
}

impl Naming {
    /// The folder whose sync makes it durable.
    fn folder(&self) -> usize {
        let (Self::Create { entry, .. } | Self::Remove { entry } | Self::Rename { to: entry, .. }) = self;
        entry.0
    }
}

#[derive(Clone, Debug, Default)]
struct Inode {
    /// Then it has no bytes.
    is_folder: bool,
    synced: Arc<Vec<u8>>,
    unsynced: Vec<Change>,
}

/// The folder that is recorded.
const ROOT: usize = 0;

/// A disk in the middle of a record. Clones share their bytes, so that every moment of a record can be kept.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    root: PathBuf,
    inodes: Vec<Inode>,
    by_number: HashMap<u64, usize>,
    /// As the running process sees them.
    names: Names,
    synced_names: Names,
    unsynced_names: Vec<Naming>,
}

impl Disk {
    /// A folder whose files are all on the disk.
    pub fn at_rest(root: &Path) -> Result<Self, StressError> {
        let inodes = vec![Inode { is_folder: true, ..Inode::default() }];
        let mut disk = Self { root: root.to_owned(), inodes, ..Self::default() };
        disk.take_in(root, ROOT)?;
        disk.synced_names = disk.names.clone();
        Ok(disk)
    }

    fn take_in(&mut self, path: &Path, folder: usize) -> Result<(), StressError> {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let is_folder = entry.file_type()?.is_dir();
            let synced = if is_folder { Vec::new() } else { std::fs::read(entry.path())? };
            let file = self.inodes.len();
            self.inodes.push(Inode { is_folder, synced: Arc::new(synced), unsynced: Vec::new() });
            self.names.insert((folder, entry.file_name()), file);
            if is_folder {
                self.take_in(&entry.path(), file)?;
            }
        }
        Ok(())
    }

    /// The record goes on by one call.
    pub fn follow(&mut self, record: &Record) {
        match &record.what {
            What::Open { inode: 0, .. } | What::Said { .. } => {}
            What::Open { path, inode, emptied, is_folder, .. } => {
                let file = self.find(path).unwrap_or_else(|| self.create(path, *is_folder));
                self.by_number.insert(*inode, file);
                if *emptied {
                    self.inodes[file].unsynced.push(Change::Truncate { bytes: 0 });
                }
            }
            What::Write { inode, offset, data } => {
                self.change(*inode, Change::Write { offset: *offset as usize, data: data.clone() });
            }
            What::Truncate { inode, bytes } => self.change(*inode, Change::Truncate { bytes: *bytes as usize }),
            What::Sync { inode } => self.sync(*inode),
            What::MakeFolder { path } => drop(self.create(path, true)),
            What::Remove { path } => self.name(Naming::Remove { entry: self.entry(path) }),
            What::Rename { from, to } => self.name(Naming::Rename { from: self.entry(from), to: self.entry(to) }),
        }
    }

    fn find(&self, path: &Path) -> Option<usize> {
        let below = path.strip_prefix(&self.root).expect("only what is below the root was recorded");
        below.iter().try_fold(ROOT, |folder, name| self.names.get(&(folder, name.to_owned())).copied())
    }

    fn entry(&self, path: &Path) -> Entry {
        let folder = path.parent().and_then(|it| self.find(it)).expect("its folder was recorded before it");
        (folder, path.file_name().unwrap_or_default().to_owned())
    }

    fn create(&mut self, path: &Path, is_folder: bool) -> usize {
        let file = self.inodes.len();
        self.inodes.push(Inode { is_folder, ..Inode::default() });
        self.name(Naming::Create { entry: self.entry(path), file });
        file
    }

    fn name(&mut self, naming: Naming) {
        rename(&mut self.names, &naming);
        self.unsynced_names.push(naming);
    }

    fn change(&mut self, inode: u64, change: Change) {
        let file = self.by_number[&inode];
        self.inodes[file].unsynced.push(change);
    }

    fn sync(&mut self, inode: u64) {
        let file = self.by_number[&inode];
        let inode = &mut self.inodes[file];
        let changes = std::mem::take(&mut inode.unsynced);
        if !changes.is_empty() {
            let synced = Arc::make_mut(&mut inode.synced);
            changes.iter().for_each(|change| apply(synced, change));
        }
        let (durable, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unsynced_names).into_iter().partition(|naming| naming.folder() == file);
        self.unsynced_names = rest;
        durable.iter().for_each(|naming| rename(&mut self.synced_names, naming));
    }

    /// Writes what a power cut at this moment leaves into an empty folder.
    pub fn image(&self, to: &Path, damage: Damage, random: &mut impl Rng) -> Result<(), StressError> {
        let names = self.names_after(damage, random);
        let mut folders = vec![(ROOT, to.to_owned())];
        while let Some((folder, path)) = folders.pop() {
            for ((_, name), file) in names.range((folder, OsString::new())..(folder + 1, OsString::new())) {
                let (inode, path) = (&self.inodes[*file], path.join(name));
                if inode.is_folder {
                    std::fs::create_dir(&path)?;
                    folders.push((*file, path));
                } else {
                    std::fs::write(&path, self.bytes_after(inode, damage, random))?;
                }
            }
        }
        Ok(())
    }

    /// What stays of the names: of every folder, the first so many changes.
    fn names_after(&self, damage: Damage, random: &mut impl Rng) -> Names {
        let mut kept: BTreeMap<usize, usize> = BTreeMap::new();
        for naming in &self.unsynced_names {
            *kept.entry(naming.folder()).or_default() += 1;
        }
        for count in kept.values_mut() {
            *count = match damage {
                Damage::Drop => 0,
                Damage::Keep => *count,
                Damage::Prefix | Damage::Reorder | Damage::Tear => random.random_range(0..=*count),
            };
        }
        let mut names = self.synced_names.clone();
        for naming in &self.unsynced_names {
            let left = kept.get_mut(&naming.folder()).expect("every folder was counted");
            if *left > 0 {
                *left -= 1;
                rename(&mut names, naming);
            }
        }
        names
    }

    fn bytes_after(&self, inode: &Inode, damage: Damage, random: &mut impl Rng) -> Vec<u8> {
        let mut bytes = inode.synced.to_vec();
        let changes = &inode.unsynced;
        let first = match damage {
            Damage::Drop => 0,
            Damage::Prefix => random.random_range(0..=changes.len()),
            Damage::Keep | Damage::Reorder | Damage::Tear => changes.len(),
        };
        for change in &changes[..first] {
            match (damage, change) {
                (Damage::Reorder, _) if random.random_bool(0.5) => {}
                (Damage::Tear, Change::Write { offset, data }) => tear(&mut bytes, *offset, data, random),
                (Damage::Tear, _) if random.random_bool(0.5) => {}
                (_, change) => apply(&mut bytes, change),
            }
        }
        bytes
    }
}

fn rename(names: &mut Names, naming: &Naming) {
    match naming {
        Naming::Create { entry, file } => drop(names.insert(entry.clone(), *file)),
        Naming::Remove { entry } => drop(names.remove(entry)),
        Naming::Rename { from, to } => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Truncate { bytes: length } => bytes.resize(*length, 0),
        Change::Write { offset, data } => put(bytes, *offset, data),
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(data);
}

/// Every sector of the write arrives or not.
fn tear(bytes: &mut Vec<u8>, offset: usize, data: &[u8], random: &mut impl Rng) {
    let mut from = 0;
    while from < data.len() {
        let to = (from + SECTOR_BYTES - (offset + from) % SECTOR_BYTES).min(data.len());
        if random.random_bool(0.5) {
            put(bytes, offset + from, &data[from..to]);
        }
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    fn record(what: What) -> Record {
        Record { call: 0, grows: true, what }
    }

    fn image(disk: &Disk, damage: Damage, seed: u64) -> BTreeMap<String, Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        disk.image(folder.path(), damage, &mut StdRng::seed_from_u64(seed)).unwrap();
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap());
        entries
            .map(|it| (it.file_name().into_string().unwrap(), std::fs::read(it.path()).unwrap_or_default()))
            .collect()
    }

    fn disk_with_a_file() -> (tempfile::TempDir, Disk) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), vec![1; 2048]).unwrap();
        let mut disk = Disk::at_rest(folder.path()).unwrap();
        let path = folder.path().join("a");
        let open = What::Open { path, inode: 7, created: false, emptied: false, is_folder: false };
        disk.follow(&record(open));
        (folder, disk)
    }

    #[test]
    fn what_was_synced_survives_every_damage_and_the_rest_only_what_chance_leaves() {
        let (_folder, mut disk) = disk_with_a_file();
        disk.follow(&record(What::Write { inode: 7, offset: 0, data: vec![2; 512].into() }));
        disk.follow(&record(What::Sync { inode: 7 }));
        disk.follow(&record(What::Write { inode: 7, offset: 1024, data: vec![3; 1024].into() }));
        let mut torn = 0;
        for damage in Damage::ALL {
            for seed in 0..20 {
                let bytes = &image(&disk, damage, seed)["a"];
                assert_eq!((&bytes[..512], &bytes[512..1024]), (&[2; 512][..], &[1; 512][..]), "{damage:?}");
                let kept = bytes[1024..].iter().filter(|byte| **byte == 3).count();
                assert!(kept % 512 == 0);
                torn += usize::from(kept == 512);
                match damage {
                    Damage::Drop => assert_eq!(kept, 0),
                    Damage::Keep => assert_eq!(kept, 1024),
                    _ => {}
                }
            }
        }
        assert!(torn > 0, "a write is torn in one of so many images");
    }

    #[test]
    fn truncation_comes_back_until_it_is_synced() {
        let (_folder, mut disk) = disk_with_a_file();
        disk.follow(&record(What::Truncate { inode: 7, bytes: 0 }));
        assert_eq!(image(&disk, Damage::Drop, 1)["a"], [1; 2048]);
        disk.follow(&record(What::Sync { inode: 7 }));
        assert_eq!(image(&disk, Damage::Drop, 1)["a"], [0; 0]);
    }

    #[test]
    fn names_wait_for_their_folder() {
        let (folder, mut disk) = disk_with_a_file();
        let root = folder.path();
        let (made, inside) = (root.join("made"), root.join("made/b"));
        disk.follow(&record(What::MakeFolder { path: made.clone() }));
        let open = |path: &Path, inode, is_folder| {
            record(What::Open { path: path.to_owned(), inode, created: true, emptied: false, is_folder })
        };
        disk.follow(&open(&inside, 8, false));
        disk.follow(&record(What::Write { inode: 8, offset: 0, data: vec![4; 8].into() }));
        disk.follow(&record(What::Sync { inode: 8 }));
        disk.follow(&record(What::Rename { from: made, to: root.join("done") }));
        assert!(!image(&disk, Damage::Drop, 1).contains_key("done"));
        disk.follow(&open(root, 9, true));
        disk.follow(&record(What::Sync { inode: 9 }));
        assert!(image(&disk, Damage::Drop, 1).contains_key("done"));
        let kept = tempfile::tempdir().unwrap();
        disk.image(kept.path(), Damage::Keep, &mut StdRng::seed_from_u64(1)).unwrap();
        assert_eq!(std::fs::read(kept.path().join("done/b")).unwrap(), [4; 8]);
    }
}
