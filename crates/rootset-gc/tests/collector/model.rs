//! A workspace in memory, as plain as it can be: what a store keeps, the writes of its users, and nothing of SQL.
//!
//! The protocol (`protocol.rs`) uses the crate's real functions for every decision; what is modelled is only the keeping
//! of rows. Counts and indexes are kept step by step, as a store keeps them, so that the invariants have something to
//! find; `evidence.rs` shows the rows in the form that the invariants ask for.

pub mod evidence;
pub mod protocol;

use std::collections::{BTreeMap, BTreeSet};

use rootset_gc::heap::{Bucket, Derived, DerivedKind, Root};
use rootset_model::{RetentionPolicy, Timestamp};

pub use protocol::{ApplyOptions, Fault, Plan, Run};

pub type Id = [u8; 16];

/// Place of each in [`Workspace::buckets`].
pub const USER: u32 = 0;
pub const CODE: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    Entity(u8),
    Relation(u8, u8),
}

impl Object {
    pub fn id(self) -> Id {
        match self {
            Self::Entity(number) => id(0xE0, u64::from(number)),
            Self::Relation(source, target) => id(0xF0, u64::from(source) << 8 | u64::from(target)),
        }
    }

    /// What speaks of it also speaks of these.
    fn with_ends(self) -> Vec<Self> {
        match self {
            Self::Entity(_) => vec![self],
            Self::Relation(source, target) => vec![self, Self::Entity(source), Self::Entity(target)],
        }
    }
}

/// Ids say what they are of.
pub fn id(kind: u8, number: u64) -> Id {
    let mut id = [kind; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    id
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub version: i64,
    pub bucket: u32,
    /// Of an indexed file.
    pub path: Option<u8>,
    pub ingested_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub superseded_by: Option<(Id, Timestamp)>,
    pub stale_at: Option<Timestamp>,
    pub source_version: Option<i64>,
    pub is_pinned: bool,
    pub is_in_flight: bool,
    /// Stands for the words; no two are alike.
    pub text: u64,
    /// The run, and when.
    pub trashed: Option<(usize, Timestamp)>,
    /// When it was last created or changed, and used, for those who check: the program goes by versions and recorded uses.
    pub written_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    pub key: i64,
    pub buckets: Vec<Bucket>,
    pub memories: BTreeMap<Id, Memory>,
    pub chunks: BTreeMap<Id, Id>,
    pub objects: BTreeSet<Object>,
    pub contributions: BTreeSet<(Object, Id)>,
    pub refcounts: BTreeMap<Object, i64>,
    pub untracked: BTreeSet<Object>,
    /// Rows without contributors that no protocol leaves behind: an older version, a hand edit.
    pub planted: Vec<Derived>,
    pub full_text: BTreeMap<Id, u64>,
    pub vectors: BTreeMap<Id, u64>,
    /// Texts that the write-ahead log may still hold.
    pub log: BTreeSet<u64>,
    pub plans: Vec<Plan>,
    pub runs: Vec<Run>,
    pub audit: Vec<protocol::AuditRow>,
    /// Destructive transactions that were committed.
    pub destructive_steps: usize,
    next_number: u64,
}

/// What somebody writes down.
#[derive(Clone, Debug)]
pub struct NewMemory {
    pub objects: Vec<Object>,
    pub path: Option<u8>,
    pub expires_at: Option<Timestamp>,
    pub source_version: Option<i64>,
    pub is_dated: bool,
}

impl Workspace {
    pub fn new(key: i64) -> Self {
        let bucket = |source: &str, repo: Option<&str>| Bucket {
            source: source.to_owned(),
            repo: repo.map(str::to_owned),
            policy: RetentionPolicy::default(),
        };
        Self {
            key,
            buckets: vec![bucket("user", None), bucket("code", Some("app"))],
            memories: BTreeMap::new(),
            chunks: BTreeMap::new(),
            objects: BTreeSet::new(),
            contributions: BTreeSet::new(),
            refcounts: BTreeMap::new(),
            untracked: BTreeSet::new(),
            planted: Vec::new(),
            full_text: BTreeMap::new(),
            vectors: BTreeMap::new(),
            log: BTreeSet::new(),
            plans: Vec::new(),
            runs: Vec::new(),
            audit: Vec::new(),
            destructive_steps: 0,
            next_number: 0,
        }
    }

    fn draw(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    pub fn living(&self) -> impl Iterator<Item = (&Id, &Memory)> {
        self.memories.iter().filter(|(_, memory)| memory.trashed.is_none())
    }

    fn living_at_path(&self, path: u8) -> Option<Id> {
        self.living().find(|(_, memory)| memory.path == Some(path)).map(|(id, _)| *id)
    }

    /// A file that is there already gets new content instead.
    pub fn add(&mut self, new: &NewMemory, now: Timestamp) {
        if let Some(known) = new.path.and_then(|path| self.living_at_path(path)) {
            self.update(known, &new.objects, now);
            return;
        }
        let number = self.draw();
        let memory = Memory {
            version: 1,
            bucket: if new.path.is_some() { CODE } else { USER },
            path: new.path,
            ingested_at: new.is_dated.then_some(now),
            last_used_at: None,
            expires_at: new.expires_at,
            superseded_by: None,
            stale_at: None,
            source_version: new.source_version,
            is_pinned: false,
            is_in_flight: false,
            text: 0,
            trashed: None,
            written_at: now,
            used_at: None,
        };
        let id = id(0x10, number);
        self.memories.insert(id, memory);
        self.write_content(id, &new.objects);
    }

    pub fn update(&mut self, id: Id, objects: &[Object], now: Timestamp) {
        self.remove_content(id);
        let memory = self.memories.get_mut(&id).expect("the caller chose a living one");
        memory.version += 1;
        memory.written_at = now;
        memory.stale_at = None;
        self.write_content(id, objects);
    }

    pub fn pin(&mut self, id: Id, is_pinned: bool, now: Timestamp) {
        let memory = self.memories.get_mut(&id).expect("the caller chose a living one");
        if memory.is_pinned != is_pinned {
            (memory.is_pinned, memory.written_at) = (is_pinned, now);
            memory.version += 1;
        }
    }

    pub fn serve(&mut self, id: Id, now: Timestamp) {
        let memory = self.memories.get_mut(&id).expect("the caller chose a living one");
        (memory.last_used_at, memory.used_at) = (Some(now), Some(now));
    }

    pub fn supersede(&mut self, id: Id, by: Id, now: Timestamp) {
        let memory = self.memories.get_mut(&id).expect("the caller chose a living one");
        if id != by {
            (memory.superseded_by, memory.written_at) = (Some((by, now)), now);
            memory.version += 1;
        }
    }

    /// A completed scan of the repository: what it does not see becomes stale, what it sees is not.
    pub fn scan(&mut self, sees: impl Fn(u8) -> bool, now: Timestamp) {
        for memory in self.memories.values_mut() {
            if let Some(path) = memory.path {
                memory.stale_at = if sees(path) { None } else { memory.stale_at.or(Some(now)) };
            }
        }
    }

    pub fn import(&mut self, object: Object) {
        for object in object.with_ends() {
            self.objects.insert(object);
            self.refcounts.entry(object).or_default();
            self.untracked.insert(object);
        }
    }

    pub fn plant(&mut self, kind: DerivedKind) {
        let number = self.draw();
        self.planted.push(Derived { kind, id: id(0x70, number), contributors: 0, is_untracked: false });
    }

    fn write_content(&mut self, memory: Id, objects: &[Object]) {
        let text = self.draw();
        self.memories.get_mut(&memory).expect("written just before").text = text;
        self.log.insert(text);
        self.full_text.insert(memory, text);
        for _ in 0..2 {
            let chunk = id(0x20, self.draw());
            self.chunks.insert(chunk, memory);
            self.vectors.insert(chunk, text);
        }
        for object in objects.iter().flat_map(|object| object.with_ends()) {
            self.objects.insert(object);
            let is_new = self.contributions.insert((object, memory));
            *self.refcounts.entry(object).or_default() += i64::from(is_new);
        }
    }

    /// Everything derived from a memory, which may be in the trash.
    fn remove_content(&mut self, memory: Id) {
        let is_living = self.memories[&memory].trashed.is_none();
        self.full_text.remove(&memory);
        let vectors = &mut self.vectors;
        self.chunks.retain(|chunk, of| {
            if *of == memory {
                vectors.remove(chunk);
            }
            *of != memory
        });
        for object in self.contributed_by(memory) {
            self.contributions.remove(&(object, memory));
            *self.refcounts.get_mut(&object).expect("counted since it was written") -= i64::from(is_living);
            let is_vouched_for = self.contributions.iter().any(|(of, _)| *of == object);
            if !is_vouched_for && !self.untracked.contains(&object) {
                self.objects.remove(&object);
                self.refcounts.remove(&object);
            }
        }
    }

    fn contributed_by(&self, memory: Id) -> Vec<Object> {
        self.contributions.iter().filter(|(_, of)| *of == memory).map(|(object, _)| *object).collect()
    }

    /// Living memories as strategies see them. What `own_run` trashed counts as living: a run must not change its mind
    /// because of what it did itself.
    fn roots(&self, own_run: Option<usize>) -> Vec<Root> {
        let counts = |memory: &Memory| memory.trashed.is_none_or(|(run, _)| Some(run) == own_run);
        let of_counted = self.memories.iter().filter(|(_, memory)| counts(memory));
        of_counted.map(|(id, memory)| self.root(*id, memory, own_run)).collect()
    }

    fn root(&self, id: Id, memory: &Memory, own_run: Option<usize>) -> Root {
        Root {
            id,
            version: memory.version,
            bucket: memory.bucket,
            ingested_at: memory.ingested_at,
            last_used_at: memory.last_used_at,
            expires_at: memory.expires_at,
            superseded_at: self.superseded_at(memory, own_run),
            stale_at: memory.stale_at,
            source_version: memory.source_version,
            is_pinned: memory.is_pinned,
            is_indexed_file: memory.path.is_some(),
            is_in_flight: memory.is_in_flight,
            observed_age_ms: i64::MAX,
        }
    }

    /// Only a living memory supersedes.
    fn superseded_at(&self, memory: &Memory, own_run: Option<usize>) -> Option<Timestamp> {
        let (by, at) = memory.superseded_by?;
        let successor = self.memories.get(&by)?;
        successor.trashed.is_none_or(|(run, _)| Some(run) == own_run).then_some(at)
    }
}
