//! Writing new memories: table by table, all memories of a batch together, so that a batch costs as many statements as one
//! memory does.

use std::collections::BTreeMap;

use rootset_model::slug::is_made_from;
use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use super::{AddOutcome, NewMemory, places};
use crate::driver::{SearchIndex, SearchRow, Transaction, Value};
use crate::error::StoreError;
use crate::graph::{self, Contribution};
use crate::memories::{Status, Writer, stored_list};
use crate::other_names::{self, OtherName};
use crate::seals::{Seal, seal};
use crate::statements::memories as sql;
use crate::time::ObservedStamp;
use crate::workspaces::{self, Draw};
use crate::{PreparedContent, Stamp, jobs, vectors};

/// A memory that is known to be new, and its name, which is known to be free.
#[derive(Debug)]
pub struct Named<'a> {
    pub new: &'a NewMemory<'a>,
    pub name: String,
}

/// The numbers that were drawn for a memory.
struct Numbered {
    sequence: i64,
    first_chunk: i64,
}

impl Named<'_> {
    fn entities(&self) -> usize {
        self.new.prepared.derived.as_ref().map_or(0, |it| it.extraction.entities.len())
    }

    fn status(&self) -> Status {
        if self.new.prepared.derived.is_some() { Status::Complete } else { Status::Pending }
    }
}

pub fn insert_all(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[Named<'_>],
    stamp: Stamp<'_>,
) -> Result<Vec<AddOutcome>, StoreError> {
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let numbers = draw(tx, workspace, memories, stamp.now)?;
    let places = places::next(tx, workspace, memories)?;
    insert_rows(tx, workspace, memories, &numbers, &places, stamp.now)?;
    let tags: Vec<(MemoryId, &[String])> = memories.iter().map(|it| (it.new.id, it.new.tags)).collect();
    insert_tags(tx, workspace, &tags)?;
    let others: Vec<(MemoryId, OtherName, &str)> = memories.iter().flat_map(|it| other_names_of(it.new)).collect();
    other_names::insert_all(tx, workspace, &others)?;
    let revisions: Vec<_> = memories
        .iter()
        .map(|it| {
            let new = it.new;
            let writer = Writer { actor: new.written_by.to_owned(), channel: new.channel, trust: new.trust };
            NewRevision { memory: new.id, revision: 1, prepared: new.prepared, writer }
        })
        .collect();
    insert_revisions(tx, workspace, &revisions, stamp.now)?;
    let chunks: Vec<_> =
        memories.iter().zip(&numbers).map(|(it, number)| (it.new.id, it.new.prepared, number.first_chunk)).collect();
    insert_all_chunks(tx, workspace, &chunks)?;
    let derived: Vec<_> = memories
        .iter()
        .zip(&numbers)
        .filter_map(|(it, number)| Some((it, number, it.new.prepared.derived.as_ref()?)))
        .collect();
    let embedded: Vec<_> =
        derived.iter().map(|(it, number, derived)| (it.new.id, number.first_chunk, *derived)).collect();
    vectors::insert_all(tx, workspace, &embedded, stamp.now)?;
    let contributions: Vec<Contribution<'_>> = derived
        .iter()
        .map(|(it, number, derived)| Contribution {
            memory: it.new.id,
            revision: 1,
            derived,
            first_number: number.sequence + 1,
        })
        .collect();
    let mut created = graph::contribute_all(tx, workspace, &contributions, stamp.now)?.into_iter();
    let pending: Vec<MemoryId> =
        memories.iter().filter(|it| it.status() == Status::Pending).map(|it| it.new.id).collect();
    jobs::enqueue_completions(tx, workspace, &pending, stamp.now)?;
    Ok(memories
        .iter()
        .map(|it| {
            let of_graph = match it.status() {
                Status::Complete => created.next().unwrap_or_default(),
                Status::Pending => graph::Created::default(),
            };
            AddOutcome {
                memory: it.new.id,
                name: Some(it.name.clone()),
                created: true,
                restored: false,
                status: it.status(),
                version: 1,
                trust: it.new.trust,
                pinned_by: it.new.is_pinned.then_some(it.new.pinned_by),
                chunks_created: it.new.prepared.chunks.len(),
                entities_created: of_graph.entities,
                relations_created: of_graph.relations,
            }
        })
        .collect())
}

/// Its key, and its name where that reads like one made from the text although somebody gave it.
fn other_names_of<'a>(new: &NewMemory<'a>) -> impl Iterator<Item = (MemoryId, OtherName, &'a str)> {
    let id = new.id;
    let topic = &new.prepared.content.topic;
    let given = new.name.filter(|name| is_made_from(name, topic)).map(|name| (id, OtherName::Given, name));
    given.into_iter().chain(new.key.map(|key| (id, OtherName::Key, key)))
}

/// One number for the memory and one for each of its entities, in the order of the batch.
fn draw(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[Named<'_>],
    now: Timestamp,
) -> Result<Vec<Numbered>, StoreError> {
    let wanted = Draw {
        numbers: memories.iter().map(|it| 1 + it.entities()).sum(),
        chunks: memories.iter().map(|it| it.new.prepared.chunks.len()).sum(),
        memories: memories.len() as i64,
        bytes: memories.iter().map(|it| it.new.bytes()).sum(),
    };
    let drawn = workspaces::draw(tx, workspace, wanted, now)?;
    let (mut sequence, mut first_chunk) = (drawn.first_number, drawn.first_chunk);
    Ok(memories
        .iter()
        .map(|it| {
            let numbered = Numbered { sequence, first_chunk };
            sequence += 1 + it.entities() as i64;
            first_chunk += it.new.prepared.chunks.len() as i64;
            numbered
        })
        .collect())
}

fn insert_rows(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[Named<'_>],
    numbers: &[Numbered],
    places: &[i64],
    now: Timestamp,
) -> Result<(), StoreError> {
    let observed = ObservedStamp::now(tx)?;
    let packed: Vec<(Option<String>, Option<String>)> =
        memories.iter().map(|Named { new, .. }| (new.stored_metadata(), stored_list(new.tags))).collect();
    let seals: Vec<Seal> = memories
        .iter()
        .zip(numbers)
        .zip(&packed)
        .map(|((named, number), (metadata, tags))| {
            let new = named.new;
            seal(&[
                (&new.id).into(),
                number.sequence.into(),
                (&named.name).into(),
                new.source.into(),
                Value::Null,
                new.written_by.into(),
                metadata.as_ref().into(),
                tags.as_ref().into(),
                new.is_pinned.into(),
                new.pin_reason.into(),
            ])
        })
        .collect();
    let rows: Vec<Vec<Value<'_>>> = memories
        .iter()
        .zip(numbers)
        .zip(packed.iter().zip(&seals).zip(places))
        .map(|((named, number), (((metadata, tags), seal), place))| {
            let new = named.new;
            vec![
                workspace.into(),
                (&new.id).into(),
                number.sequence.into(),
                (&named.name).into(),
                new.source.into(),
                new.written_by.into(),
                named.status().as_str().into(),
                (&new.prepared.doc_hash).into(),
                metadata.as_ref().into(),
                tags.as_ref().into(),
                now.into(),
                new.expires_at.into(),
                new.is_pinned.into(),
                new.pin_reason.into(),
                observed.observed_ms.into(),
                observed.doubt(),
                seal.into(),
                new.source_version.into(),
                new.channel.into(),
                new.trust.into(),
                new.is_pinned.then_some(new.pinned_by).into(),
                new.is_pinned.then_some(new.written_by).into(),
                (*place).into(),
                new.occurred.map(|(from, _)| from).into(),
                new.occurred.map(|(_, until)| until).into(),
            ]
        })
        .collect();
    tx.execute_many(&sql::INSERT, &rows)?;
    let mut by_source: BTreeMap<&str, i64> = BTreeMap::new();
    for named in memories {
        *by_source.entry(named.new.source).or_default() += 1;
    }
    let counts: Vec<Vec<Value<'_>>> =
        by_source.into_iter().map(|(source, count)| vec![workspace.into(), source.into(), count.into()]).collect();
    tx.execute_many(&sql::COUNT_SOURCE, &counts).map(drop)
}

pub fn insert_tags(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    tags: &[(MemoryId, &[String])],
) -> Result<(), StoreError> {
    let rows: Vec<Vec<Value<'_>>> = tags
        .iter()
        .flat_map(|(memory, tags)| tags.iter().map(move |tag| vec![workspace.into(), tag.into(), memory.into()]))
        .collect();
    if rows.is_empty() { Ok(()) } else { tx.execute_many(&sql::INSERT_TAG, &rows).map(drop) }
}

/// A text, and who wrote it.
#[derive(Debug)]
pub(crate) struct NewRevision<'a> {
    pub memory: MemoryId,
    pub revision: i64,
    pub prepared: &'a PreparedContent,
    pub writer: Writer,
}

pub(crate) fn insert_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    revisions: &[NewRevision<'_>],
    now: Timestamp,
) -> Result<(), StoreError> {
    let json = |items: &[String]| serde_json::to_string(items).expect("strings always serialise");
    let packed: Vec<(String, String)> = revisions
        .iter()
        .map(|it| (json(&it.prepared.content.decisions), json(&it.prepared.content.rationale)))
        .collect();
    let seals: Vec<Seal> = revisions
        .iter()
        .zip(&packed)
        .map(|(NewRevision { memory, prepared, .. }, (decisions, rationale))| {
            let content = &prepared.content;
            let (topic, context) = ((&content.topic).into(), (&content.context).into());
            let bytes = content.byte_len() as i64;
            seal(&[memory.into(), topic, context, decisions.into(), rationale.into(), bytes.into(), now.into()])
        })
        .collect();
    let rows: Vec<Vec<Value<'_>>> = revisions
        .iter()
        .zip(packed.iter().zip(&seals))
        .map(|(NewRevision { memory, revision, prepared, writer }, ((decisions, rationale), seal))| {
            let content = &prepared.content;
            vec![
                workspace.into(),
                memory.into(),
                (*revision).into(),
                (&content.topic).into(),
                (&content.context).into(),
                decisions.into(),
                rationale.into(),
                (content.byte_len() as i64).into(),
                now.into(),
                (&prepared.extractor_id).into(),
                prepared.extractor_version.into(),
                seal.into(),
                writer.channel.into(),
                writer.trust.into(),
                (&writer.actor).into(),
            ]
        })
        .collect();
    tx.execute_many(&sql::INSERT_REVISION, &rows).map(drop)
}

/// Chunks and their search rows: from here on the text is found.
pub(crate) fn insert_chunks(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    prepared: &PreparedContent,
    first_chunk: i64,
) -> Result<(), StoreError> {
    insert_all_chunks(tx, workspace, &[(memory, prepared, first_chunk)])
}

fn insert_all_chunks(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[(MemoryId, &PreparedContent, i64)],
) -> Result<(), StoreError> {
    let numbered = || {
        memories.iter().flat_map(|(memory, prepared, first_chunk)| {
            (*first_chunk..).zip(0i64..).zip(&prepared.chunks).map(move |(place, chunk)| (memory, place, chunk))
        })
    };
    let rows: Vec<Vec<Value<'_>>> = numbered()
        .map(|(memory, (key, ordinal), chunk)| {
            vec![
                workspace.into(),
                key.into(),
                memory.into(),
                ordinal.into(),
                chunk.part.stored().into(),
                (chunk.start as i64).into(),
                (chunk.length as i64).into(),
                chunk.is_question.into(),
            ]
        })
        .collect();
    tx.execute_many(&sql::INSERT_CHUNK, &rows)?;
    let search_rows: Vec<SearchRow> = numbered()
        .map(|(_, (key, _), chunk)| SearchRow { key, head: chunk.head_terms.clone(), body: chunk.body_terms.clone() })
        .collect();
    tx.search_insert(workspace, SearchIndex::Memories, search_rows)
}
