//! What a workspace should be, written as plainly as it can be: vectors and sets, everything computed anew each time.
//!
//! It shares nothing with the program but the content's hash and the extractor, which are pure and tested elsewhere.

mod garbage;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

pub use garbage::{Policy, Target, Why};

use rootset_model::slug::is_made_from;
use rootset_model::{Content, EntityId, RelationId};

use crate::harness::DAY_MS;

pub type Id = String;

#[derive(Clone, Debug)]
pub struct Revision {
    pub content: Content,
    pub trashed: Option<Id>,
}

#[derive(Clone, Debug)]
pub struct Memory {
    pub id: Id,
    pub name: String,
    /// Former names, which were made from earlier texts and lead here.
    pub aliases: Vec<String>,
    pub revisions: BTreeMap<i64, Revision>,
    pub current: i64,
    pub version: i64,
    pub tags: Vec<String>,
    pub is_pinned: bool,
    pub source: &'static str,
    /// Set for the memory of an indexed file.
    pub repo: Option<&'static str>,
    pub stale_at: Option<i64>,
    pub source_version: Option<i64>,
    pub updated_at: i64,
    pub ingested_at: i64,
    pub expires_at: Option<i64>,
    pub superseded_by: Option<Id>,
    pub superseded_at: i64,
    /// Run and time.
    pub trashed: Option<(Id, i64)>,
    pub use_count: i64,
    pub last_used_at: Option<i64>,
}

impl Memory {
    pub fn content(&self) -> &Content {
        &self.revisions[&self.current].content
    }

    pub fn is_live(&self) -> bool {
        self.trashed.is_none()
    }

    pub fn is_stale(&self) -> bool {
        self.repo.is_some() && self.stale_at.is_some()
    }

    fn bytes(&self) -> i64 {
        self.revisions.values().map(|it| it.content.byte_len() as i64).sum()
    }
}

/// A row that an import brought: an entity, or a relation with its ends.
#[derive(Clone, Debug)]
pub struct Untracked {
    pub object: Object,
    pub run: Id,
    pub description: Option<String>,
    pub trashed: Option<Id>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    Entity { id: Id, name: String, kind: String },
    Relation { id: Id, source: Id, verb: String, target: Id },
}

impl Object {
    pub fn entity(name: &str, kind: &str) -> Self {
        let id = EntityId::derive(name, kind).to_string();
        Self::Entity { id, name: name.to_owned(), kind: kind.to_owned() }
    }

    pub fn relation(source: &Self, verb: &str, target: &Self) -> Self {
        let parse = |id: &Id| id.parse::<EntityId>().unwrap();
        let id = RelationId::derive(parse(source.id()), verb, parse(target.id())).to_string();
        Self::Relation { id, source: source.id().clone(), verb: verb.to_owned(), target: target.id().clone() }
    }

    pub fn id(&self) -> &Id {
        match self {
            Self::Entity { id, .. } | Self::Relation { id, .. } => id,
        }
    }

    pub fn is_entity(&self) -> bool {
        matches!(self, Self::Entity { .. })
    }
}

#[derive(Clone, Debug)]
pub struct Run {
    pub id: Id,
    pub operation: &'static str,
    pub is_undone: bool,
    pub is_purged: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Memory { id: Id, version: i64, why: Why },
    Revision { memory: Id, revision: i64, version: i64 },
    Untracked { id: Id },
    Orphan(Orphan),
}

/// A derived row that somebody planted: nothing vouches for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Orphan {
    pub kind: OrphanKind,
    pub id: Id,
}

/// In the order in which plans list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrphanKind {
    Chunk,
    Relation,
    Entity,
}

impl Item {
    pub fn shown(&self) -> Id {
        match self {
            Self::Memory { id, .. } | Self::Untracked { id } | Self::Orphan(Orphan { id, .. }) => id.clone(),
            Self::Revision { memory, revision, .. } => format!("{memory}@{revision}"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub id: Id,
    pub items: Vec<Item>,
    pub created_at: i64,
    pub erases: bool,
    /// None for a plan by words.
    pub strategies: Vec<&'static str>,
    /// Names the run, should the plan be applied.
    pub operation: &'static str,
    /// The answer of the first apply, and its run.
    pub outcome: Option<(serde_json::Value, Id)>,
}

impl Plan {
    pub fn is_expired(&self, now: i64) -> bool {
        now > self.created_at + DAY_MS
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub memories: i64,
    pub revisions: i64,
    pub entities: i64,
    pub relations: i64,
    pub untracked: i64,
    pub bytes: i64,
}

#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// In the order of their creation.
    pub memories: Vec<Memory>,
    pub untracked: Vec<Untracked>,
    pub runs: Vec<Run>,
    pub plans: Vec<Plan>,
    pub erased: BTreeSet<[u8; 32]>,
    pub orphans: BTreeSet<Orphan>,
    pub policies: BTreeMap<Target, Policy>,
    /// Rows that the audit trail should have.
    pub audited: usize,
}

/// What a content speaks of; remembered, because it is asked all the time.
pub fn objects_of(content: &Content) -> BTreeSet<Object> {
    static KNOWN: Mutex<BTreeMap<[u8; 32], BTreeSet<Object>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    known.entry(content.doc_hash()).or_insert_with(|| extracted(content)).clone()
}

fn extracted(content: &Content) -> BTreeSet<Object> {
    let extraction = rootset_text::extract::extract(content);
    let entities: Vec<Object> =
        extraction.entities.iter().map(|it| Object::entity(&it.name, &it.entity_type)).collect();
    let relations = extraction
        .relations
        .iter()
        .map(|it| Object::relation(&entities[it.source], &it.relation, &entities[it.target]));
    relations.chain(entities.clone()).collect()
}

pub fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn holds(content: &Content, word: &str) -> bool {
    words_of(&content.context).contains(&word.to_lowercase())
}

pub fn split_counts(objects: &BTreeSet<Object>) -> (i64, i64) {
    let entities = objects.iter().filter(|it| it.is_entity()).count();
    (entities as i64, (objects.len() - entities) as i64)
}

impl Workspace {
    pub fn memory(&self, id: &str) -> Option<&Memory> {
        self.memories.iter().find(|it| it.id == id)
    }

    pub fn memory_mut(&mut self, id: &str) -> &mut Memory {
        self.memories.iter_mut().find(|it| it.id == id).expect("the caller looked before")
    }

    pub fn living(&self, id: &str) -> Result<&Memory, &'static str> {
        self.memory(id).filter(|it| it.is_live()).ok_or("not_found")
    }

    pub fn live(&self) -> impl Iterator<Item = &Memory> {
        self.memories.iter().filter(|it| it.is_live())
    }

    pub fn live_with_content(&self, content: &Content) -> Option<&Memory> {
        self.live().find(|it| it.content().doc_hash() == content.doc_hash())
    }

    pub fn is_superseded(&self, memory: &Memory) -> bool {
        memory.superseded_by.as_ref().is_some_and(|by| self.living(by).is_ok())
    }

    pub fn is_current(&self, memory: &Memory, now: i64) -> bool {
        let has_run_out = memory.expires_at.is_some_and(|at| at <= now);
        memory.is_live() && !self.is_superseded(memory) && !has_run_out && !memory.is_stale()
    }

    /// What a policy took comes back when somebody says it again; what somebody took does not.
    pub fn was_removed_by_somebody(&self, memory: &Memory) -> bool {
        let run = self.runs.iter().find(|run| memory.trashed.as_ref().is_some_and(|(by, _)| *by == run.id));
        run.is_some_and(|run| ["delete_memory", "forget"].contains(&run.operation))
    }

    /// Objects that somebody living vouches for.
    pub fn visible(&self) -> BTreeSet<Object> {
        let derived = self.live().flat_map(|it| objects_of(it.content()));
        let imported = self.untracked.iter().filter(|it| it.trashed.is_none()).map(|it| it.object.clone());
        derived.chain(imported).collect()
    }

    /// Objects that are stored: somebody vouches for them, if only from the trash.
    pub fn stored(&self) -> BTreeSet<Object> {
        let derived = self.memories.iter().flat_map(|it| objects_of(it.content()));
        derived.chain(self.untracked.iter().map(|it| it.object.clone())).collect()
    }

    /// Whether superseding `old` by `by` would close a circle.
    pub fn closes_cycle(&self, old: &str, by: &str) -> bool {
        let mut next = Some(by.to_owned());
        while let Some(id) = next {
            if id == old {
                return true;
            }
            next = self.memory(&id).and_then(|it| it.superseded_by.clone());
        }
        false
    }

    /// Names from the oldest to the newest.
    pub fn chain(&self, id: &str) -> Vec<String> {
        let mut newest = self.memory(id).unwrap();
        while self.is_superseded(newest) {
            newest = self.memory(newest.superseded_by.as_ref().unwrap()).unwrap();
        }
        let mut chain = vec![newest];
        let mut place = 0;
        while place < chain.len() {
            let successor = chain[place].id.clone();
            chain.extend(self.live().filter(|it| it.superseded_by.as_ref() == Some(&successor)));
            place += 1;
        }
        chain.iter().rev().map(|it| it.name.clone()).collect()
    }

    /// Flips a trashed memory back; the reason and the memory in the way when it cannot be.
    pub fn restore(&mut self, id: &str) -> Result<(), (&'static str, Id)> {
        let memory = self.memory(id).unwrap();
        if let Some(other) = self.live().find(|it| it.name == memory.name) {
            return Err(("name_taken", other.id.clone()));
        }
        if let Some(other) = self.live_with_content(memory.content()) {
            return Err(("content_taken", other.id.clone()));
        }
        self.memory_mut(id).trashed = None;
        Ok(())
    }

    /// Items, matched, kept pinned.
    pub fn forget(&self, word: &str, erases: bool) -> (Vec<Item>, usize, Vec<Id>) {
        let (mut items, mut matched, mut kept) = (Vec::new(), 0, Vec::new());
        // Code is forgotten on request only.
        let may_go = |it: &&Memory| it.repo.is_none() && (erases || it.is_live());
        let mut candidates: Vec<&Memory> = self.memories.iter().filter(may_go).collect();
        candidates.sort_by(|a, b| b.id.cmp(&a.id));
        for memory in candidates.iter().filter(|it| holds(it.content(), word)) {
            matched += 1;
            if memory.is_pinned {
                kept.push(memory.id.clone());
            } else {
                let (id, version) = (memory.id.clone(), memory.version);
                items.push(Item::Memory { id, version, why: Why::Asked });
            }
        }
        let going: BTreeSet<Id> = items.iter().map(Item::shown).collect();
        candidates.reverse();
        for memory in candidates.iter().filter(|it| !going.contains(&it.id)) {
            for (revision, it) in memory.revisions.range(..memory.current) {
                if !holds(&it.content, word) || (it.trashed.is_some() && !erases) {
                    continue;
                }
                matched += 1;
                if memory.is_pinned {
                    kept.push(memory.id.clone());
                } else {
                    let (memory, version) = (memory.id.clone(), memory.version);
                    items.push(Item::Revision { memory, revision: *revision, version });
                }
            }
        }
        let rows = || self.untracked.iter().filter(|it| erases || it.trashed.is_none());
        let entities: BTreeSet<Id> = rows()
            .filter(|row| match &row.object {
                Object::Entity { name, .. } => {
                    let text = format!("{name} {}", row.description.as_deref().unwrap_or_default());
                    words_of(&text).contains(&word.to_lowercase())
                }
                Object::Relation { .. } => false,
            })
            .map(|row| row.object.id().clone())
            .collect();
        matched += entities.len();
        let relations: BTreeSet<Id> = rows()
            .filter(|row| match &row.object {
                Object::Relation { source, target, .. } => entities.contains(source) || entities.contains(target),
                Object::Entity { .. } => false,
            })
            .map(|row| row.object.id().clone())
            .collect();
        items.extend(entities.into_iter().chain(relations).map(|id| Item::Untracked { id }));
        (items, matched, kept)
    }

    /// What would go with these items.
    pub fn totals(&self, items: &[Item]) -> Counts {
        let mut after = self.clone();
        let mut counts = Counts::default();
        let mut touched: BTreeSet<Object> = BTreeSet::new();
        let visible = self.visible();
        for item in items {
            match item {
                Item::Memory { id, .. } => {
                    let memory = self.memory(id).unwrap();
                    counts.memories += 1;
                    counts.bytes += memory.bytes();
                    touched.extend(objects_of(memory.content()));
                    after.memories.retain(|it| it.id != *id);
                }
                Item::Revision { memory, revision, .. } => {
                    counts.revisions += 1;
                    counts.bytes += self.memory(memory).unwrap().revisions[revision].content.byte_len() as i64;
                }
                Item::Untracked { id } => {
                    let row = self.untracked.iter().find(|it| it.object.id() == id).unwrap();
                    touched.extend(visible.contains(&row.object).then(|| row.object.clone()));
                    after.untracked.retain(|it| it.object.id() != id);
                }
                Item::Orphan(_) => {}
            }
        }
        let left = after.visible();
        touched.retain(|object| !left.contains(object));
        (counts.entities, counts.relations) = split_counts(&touched);
        counts
    }

    /// The limits that refuse these items, source by source.
    pub fn blocked(&self, items: &[Item]) -> Vec<&'static str> {
        let going: BTreeSet<Id> = items.iter().map(Item::shown).collect();
        let sources: BTreeSet<&str> = self.live().map(|it| it.source).collect();
        let limits = sources.into_iter().filter_map(|source| {
            let living: Vec<&Memory> = self.live().filter(|it| it.source == source).collect();
            let in_plan = living.iter().filter(|it| going.contains(&it.id)).count();
            if in_plan > 5 && in_plan as f64 / living.len() as f64 > 0.20 {
                Some("plan_fraction_max")
            } else if in_plan == living.len() {
                Some("last_memory")
            } else {
                None
            }
        });
        limits.collect()
    }

    /// Why an item is left alone.
    pub fn skip(&self, plan: &Plan, item: &Item, now: i64) -> Option<&'static str> {
        match item {
            Item::Memory { id, version, why } => match self.memory(id) {
                None => Some("gone"),
                Some(it) if !it.is_live() && !plan.erases => Some("trashed"),
                Some(it) if it.is_pinned => Some("pinned"),
                Some(it) if it.version != *version => Some("changed"),
                Some(it) if *why != Why::Asked && self.why_garbage(it, &plan.strategies, now).is_none() => {
                    Some("not_garbage")
                }
                Some(it) if it.last_used_at.is_some_and(|at| at > plan.created_at) => Some("used"),
                Some(it) if *why == Why::Stale && !it.is_stale() => Some("not_garbage"),
                Some(it) if *why == Why::Superseded && !self.is_superseded(it) => Some("not_garbage"),
                Some(_) => None,
            },
            Item::Orphan(orphan) => (!self.orphans.contains(orphan)).then_some("gone"),
            Item::Revision { memory, revision, version } => {
                let memory = self.memory(memory);
                match memory.and_then(|it| it.revisions.get(revision).map(|revision| (it, revision))) {
                    None => Some("gone"),
                    Some((it, of)) if (!it.is_live() || of.trashed.is_some()) && !plan.erases => Some("trashed"),
                    Some((it, _)) if it.is_pinned => Some("pinned"),
                    Some((it, _)) if it.version != *version => Some("changed"),
                    Some(_) => None,
                }
            }
            Item::Untracked { id } => {
                let rows: Vec<&Untracked> = self.untracked.iter().filter(|it| it.object.id() == id).collect();
                if rows.is_empty() {
                    Some("gone")
                } else if rows.iter().all(|it| it.trashed.is_some()) && !plan.erases {
                    Some("trashed")
                } else {
                    None
                }
            }
        }
    }

    /// Puts items that passed into the trash.
    pub fn trash(&mut self, items: &[Item], run: &str, now: i64) {
        for item in items {
            match item {
                Item::Memory { id, .. } => {
                    self.memory_mut(id).trashed.get_or_insert_with(|| (run.to_owned(), now));
                }
                Item::Revision { memory, revision, .. } => {
                    let revision = self.memory_mut(memory).revisions.get_mut(revision).unwrap();
                    revision.trashed.get_or_insert_with(|| run.to_owned());
                }
                Item::Untracked { id } => {
                    for row in self.untracked.iter_mut().filter(|it| it.object.id() == id) {
                        row.trashed.get_or_insert_with(|| run.to_owned());
                    }
                }
                Item::Orphan(orphan) => drop(self.orphans.remove(orphan)),
            }
        }
    }

    /// Removes for good; `noted` contents go into the ledger.
    pub fn remove(
        &mut self,
        noted: bool,
        memory: impl Fn(&Memory) -> bool,
        revision: impl Fn(&Memory, i64, &Revision) -> bool,
        untracked: impl Fn(&Untracked) -> bool,
    ) -> Counts {
        let before = self.stored();
        let mut counts = Counts::default();
        let mut hashes = Vec::new();
        for gone in self.memories.iter().filter(|it| memory(it)) {
            counts.memories += 1;
            counts.revisions += gone.revisions.len() as i64;
            counts.bytes += gone.bytes();
            hashes.extend(gone.revisions.values().map(|it| it.content.doc_hash()));
        }
        let going: BTreeSet<Id> = self.memories.iter().filter(|it| memory(it)).map(|it| it.id.clone()).collect();
        self.memories.retain(|it| !going.contains(&it.id));
        for it in &mut self.memories {
            it.superseded_by = it.superseded_by.take().filter(|by| !going.contains(by));
            let numbers: Vec<i64> = it
                .revisions
                .iter()
                .filter(|(number, of)| revision(it, **number, of))
                .map(|(number, _)| *number)
                .collect();
            let mut topics = Vec::new();
            for number in numbers {
                let gone = it.revisions.remove(&number).unwrap();
                counts.revisions += 1;
                counts.bytes += gone.content.byte_len() as i64;
                hashes.push(gone.content.doc_hash());
                topics.push(gone.content.topic);
            }
            // A name made from an erased text goes with it; the database alone knows the next one.
            let current = it.content().topic.clone();
            let goes =
                |name: &str| topics.iter().any(|topic| is_made_from(name, topic)) && !is_made_from(name, &current);
            if it.repo.is_none() && goes(&it.name) {
                it.name.clear();
            }
            it.aliases.retain(|alias| !goes(alias));
        }
        let rows = self.untracked.len();
        self.untracked.retain(|it| !untracked(it));
        counts.untracked = (rows - self.untracked.len()) as i64;
        let after = self.stored();
        (counts.entities, counts.relations) = split_counts(&before.difference(&after).cloned().collect());
        if noted {
            self.erased.extend(hashes);
        }
        counts
    }
}
