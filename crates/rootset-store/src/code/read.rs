//! Symbols, texts and references of files that are current. Whom a call reaches is for the caller to find out.

use std::collections::HashSet;
use std::ops::ControlFlow;

use rootset_model::code::{References, SymbolKind};
use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use super::references;
use super::search::CodeFilters;
use crate::driver::{Combine, Row, SearchIndex, SearchQuery, Transaction, Value};
use crate::error::StoreError;
use crate::memories::read_content;
use crate::search::memories_of_chunks;
use crate::statements::symbols as sql;
use crate::{Store, Workspace};

/// Chunks looked at for one term: a name that more of them hold says nothing about who calls it.
const CHUNKS_PER_TERM_MAX: usize = 200_000;

/// Texts that are read with one question: few enough for their room, many enough for its costs.
const TEXTS_AT_ONCE: i64 = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolRow {
    pub memory: MemoryId,
    /// Its place among the symbols of its file.
    pub ordinal: i64,
    pub repo: String,
    pub path: String,
    pub language: String,
    pub qualified_name: String,
    pub name: String,
    pub kind: SymbolKind,
    pub first_line: i64,
    pub last_line: i64,
    /// Bytes of the file's text.
    pub start: usize,
    pub length: usize,
    pub signature: String,
}

/// What a file says about others, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReferences {
    pub memory: MemoryId,
    pub repo: String,
    pub path: String,
    pub language: String,
    pub references: References,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeText {
    pub memory: MemoryId,
    pub repo: String,
    pub path: String,
    pub text: String,
}

impl SymbolRow {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self {
            memory: row.get(0)?,
            ordinal: row.get(1)?,
            repo: row.get(2)?,
            path: row.get(3)?,
            language: row.get(4)?,
            qualified_name: row.get(5)?,
            name: row.get(6)?,
            kind: read_kind(&row.get::<String>(7)?)?,
            first_line: row.get(8)?,
            last_line: row.get(9)?,
            start: row.get::<i64>(10)? as usize,
            length: row.get::<i64>(11)? as usize,
            signature: row.get(12)?,
        })
    }
}

pub(super) fn read_kind(word: &str) -> Result<SymbolKind, StoreError> {
    SymbolKind::from_stored(word).ok_or(StoreError::UnreadableValue("the kind of a symbol"))
}

impl Store {
    /// Symbols whose names end in one of these very words, by repository, path and place.
    pub fn symbols_named(
        &self,
        workspace: &Workspace,
        names: &[String],
        repo: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<SymbolRow>, StoreError> {
        let parameters = [workspace.key.into(), now.into(), names.into(), repo.into()];
        self.read(workspace, |tx| tx.rows(&sql::NAMED, &parameters, SymbolRow::read))
    }

    /// What the files at these paths define, by repository, path and place.
    pub fn symbols_at(
        &self,
        workspace: &Workspace,
        paths: &[String],
        repo: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<SymbolRow>, StoreError> {
        let parameters = [workspace.key.into(), now.into(), paths.into(), repo.into()];
        self.read(workspace, |tx| tx.rows(&sql::AT_PATHS, &parameters, SymbolRow::read))
    }

    /// What some files define, by repository, path and place.
    pub fn symbols_of_files(
        &self,
        workspace: &Workspace,
        memories: &[MemoryId],
        now: Timestamp,
    ) -> Result<Vec<SymbolRow>, StoreError> {
        let ids: Vec<[u8; 16]> = memories.iter().map(|id| id.0).collect();
        let parameters = [workspace.key.into(), now.into(), ids.as_slice().into()];
        self.read(workspace, |tx| tx.rows(&sql::OF_FILES, &parameters, SymbolRow::read))
    }

    /// Texts of files, by repository and path.
    pub fn file_texts(
        &self,
        workspace: &Workspace,
        memories: &[MemoryId],
        now: Timestamp,
    ) -> Result<Vec<(MemoryId, String)>, StoreError> {
        let ids: Vec<[u8; 16]> = memories.iter().map(|id| id.0).collect();
        let parameters = [workspace.key.into(), now.into(), ids.as_slice().into()];
        self.read(workspace, |tx| tx.rows(&sql::TEXTS, &parameters, |row| Ok((row.get(0)?, row.get(1)?))))
    }

    /// Hands out the texts of files that pass the filters, in the order of their repositories and paths, until somebody has had
    /// enough; answers how many were left over. All from one snapshot.
    pub fn each_text(
        &self,
        workspace: &Workspace,
        filters: &CodeFilters<'_>,
        now: Timestamp,
        each: &mut dyn FnMut(CodeText) -> ControlFlow<()>,
    ) -> Result<usize, StoreError> {
        let below = filters.path.map(|path| format!("{path}/"));
        self.read(workspace, |tx| {
            let (mut repo, mut path) = (String::new(), String::new());
            loop {
                let mut texts: Vec<CodeText> = Vec::new();
                {
                    let place = [workspace.key.into(), now.into(), repo.as_str().into(), path.as_str().into()];
                    let mut parameters: Vec<Value<'_>> = place.to_vec();
                    parameters.extend(filters.of_files(&below));
                    parameters.push(TEXTS_AT_ONCE.into());
                    tx.query(&sql::TEXTS_AFTER, &parameters, &mut |row| {
                        let (memory, repo) = (row.get(0)?, row.get(1)?);
                        texts.push(CodeText { memory, repo, path: row.get(2)?, text: row.get(3)? });
                        Ok(())
                    })?;
                }
                let is_last = (texts.len() as i64) < TEXTS_AT_ONCE;
                for text in texts {
                    (repo, path) = (text.repo.clone(), text.path.clone());
                    if each(text).is_break() {
                        let place = [workspace.key.into(), now.into(), repo.as_str().into(), path.as_str().into()];
                        let parameters: Vec<Value<'_>> = place.into_iter().chain(filters.of_files(&below)).collect();
                        let left: i64 = tx.scalar(&sql::COUNT_AFTER, &parameters)?;
                        return Ok(usize::try_from(left).unwrap_or_default());
                    }
                }
                if is_last {
                    return Ok(0);
                }
            }
        })
    }

    /// References of up to `limit` files that hold a term in their text, by repository and path.
    pub fn references_holding(
        &self,
        workspace: &Workspace,
        term: &str,
        repo: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<FileReferences>, StoreError> {
        self.read(workspace, |tx| {
            let terms = [term.to_owned()];
            let chunks = chunks_holding_all(tx, workspace.key, SearchIndex::Code, &terms, CHUNKS_PER_TERM_MAX)?;
            // A file has many chunks: looking at files one by one comes after counting each once.
            let holding = memories_of_chunks(tx, workspace.key, &chunks)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let parameters = [workspace.key.into(), now.into(), holding.as_slice().into(), repo.into(), limit.into()];
            let ids: Vec<[u8; 16]> = tx.rows(&sql::FILES_AMONG, &parameters, |row| row.get(0))?;
            load_references(tx, workspace.key, &ids, now)
        })
    }

    /// References of these files, by repository and path.
    pub fn references_of(
        &self,
        workspace: &Workspace,
        memories: &[MemoryId],
        now: Timestamp,
    ) -> Result<Vec<FileReferences>, StoreError> {
        let ids: Vec<[u8; 16]> = memories.iter().map(|id| id.0).collect();
        self.read(workspace, |tx| load_references(tx, workspace.key, &ids, now))
    }

    /// Of these terms, those that any note holds.
    pub fn terms_of_notes(&self, workspace: &Workspace, terms: &[String]) -> Result<HashSet<String>, StoreError> {
        if terms.is_empty() {
            return Ok(HashSet::new());
        }
        let found = self.read(workspace, |tx| tx.search_statistics(workspace.key, SearchIndex::Memories, terms))?;
        Ok(terms.iter().zip(found.frequencies).filter(|(_, rows)| *rows > 0).map(|(term, _)| term.clone()).collect())
    }

    /// Up to `limit` notes (not files) with their names and texts that hold all terms of one of the phrases, each a list
    /// of terms with blanks between; newest first per phrase.
    pub fn notes_holding(
        &self,
        workspace: &Workspace,
        phrases: &[String],
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<(MemoryId, Option<String>, String)>, StoreError> {
        self.read(workspace, |tx| {
            let mut seen: HashSet<MemoryId> = HashSet::new();
            let mut notes = Vec::new();
            for phrase in phrases {
                let terms: Vec<String> = phrase.split_whitespace().map(str::to_owned).collect();
                let chunks = chunks_holding_all(tx, workspace.key, SearchIndex::Memories, &terms, CHUNKS_PER_TERM_MAX)?;
                let parameters = [workspace.key.into(), now.into(), chunks.as_slice().into(), (limit as i64).into()];
                tx.query(&sql::NOTES_OF_CHUNKS, &parameters, &mut |row| {
                    let memory = row.get(0)?;
                    if notes.len() < limit && seen.insert(memory) {
                        let content = read_content(row, 2)?;
                        let (decisions, rationale) = (content.decisions.join("\n"), content.rationale.join("\n"));
                        let text = [content.topic, content.context, decisions, rationale].join("\n");
                        notes.push((memory, row.get(1)?, text));
                    }
                    Ok(())
                })?;
                if notes.len() >= limit {
                    break;
                }
            }
            Ok(notes)
        })
    }
}

fn chunks_holding_all(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    index: SearchIndex,
    terms: &[String],
    limit: usize,
) -> Result<Vec<i64>, StoreError> {
    let query = SearchQuery { terms, combine: Combine::All, limit, rows_per_term_max: usize::MAX };
    let found = tx.search_match(workspace, index, &query)?;
    Ok(found.into_iter().map(|(key, _)| key).collect())
}

fn load_references(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[[u8; 16]],
    now: Timestamp,
) -> Result<Vec<FileReferences>, StoreError> {
    tx.rows(&sql::REFERENCES_OF, &[workspace.into(), now.into(), memories.into()], |row| {
        Ok(FileReferences {
            memory: row.get(0)?,
            repo: row.get(1)?,
            path: row.get(2)?,
            language: row.get(3)?,
            references: references::unpack(&row.get::<Vec<u8>>(4)?)?,
        })
    })
}
