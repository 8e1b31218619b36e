//! What is stored of files that are about to be replaced, and which of their chunks can stay.
//!
//! A chunk stays when the same text stands under the same symbol: it keeps its number, and with it its id and vector.

use std::collections::{BTreeSet, HashMap, VecDeque};

use rootset_model::code::{CodeChunk, Symbol, SymbolKind};
use rootset_model::{MemoryId, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::code as sql;

/// A file as it is stored.
#[derive(Debug, Default)]
pub(super) struct Previous {
    text: String,
    pub bytes: i64,
    symbols: Vec<PreviousSymbol>,
    pub chunks: Vec<PreviousChunk>,
    /// Kind and words of each object that it contributes to.
    pub contributions: HashMap<[u8; 16], (i64, Option<String>)>,
}

#[derive(Debug)]
struct PreviousSymbol {
    name: String,
    qualified_name: String,
    is_module: bool,
    parent: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PreviousChunk {
    pub chunk: i64,
    pub ordinal: i64,
    pub start: i64,
    pub length: i64,
    pub symbol: Option<i64>,
}

/// Those of the memories that are living files of the repository.
pub(super) fn load(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    repo: &str,
    memories: &[[u8; 16]],
) -> Result<HashMap<MemoryId, Previous>, StoreError> {
    let mut found: HashMap<MemoryId, Previous> = HashMap::new();
    if memories.is_empty() {
        return Ok(found);
    }
    tx.query(&sql::REPLACED, &[workspace.into(), repo.into(), memories.into()], &mut |row| {
        let previous = Previous { text: row.get(1)?, bytes: row.get(2)?, ..Previous::default() };
        found.insert(row.get(0)?, previous);
        Ok(())
    })?;
    let living: Vec<[u8; 16]> = found.keys().map(|id| id.0).collect();
    let parameters = [workspace.into(), living.as_slice().into()];
    tx.query(&sql::REPLACED_SYMBOLS, &parameters, &mut |row| {
        if let Some(previous) = found.get_mut(&row.get(0)?) {
            previous.symbols.push(PreviousSymbol {
                name: row.get(2)?,
                qualified_name: row.get(3)?,
                is_module: row.get::<String>(4)? == SymbolKind::Module.as_str(),
                parent: row.get(5)?,
            });
        }
        Ok(())
    })?;
    tx.query(&sql::REPLACED_CHUNKS, &parameters, &mut |row| {
        if let Some(previous) = found.get_mut(&row.get(0)?) {
            previous.chunks.push(PreviousChunk {
                chunk: row.get(1)?,
                ordinal: row.get(2)?,
                start: row.get(3)?,
                length: row.get(4)?,
                symbol: row.get(5)?,
            });
        }
        Ok(())
    })?;
    tx.query(&sql::REPLACED_CONTRIBUTIONS, &parameters, &mut |row| {
        if let Some(previous) = found.get_mut(&row.get(0)?) {
            previous.contributions.insert(row.get(1)?, (row.get(2)?, row.get(3)?));
        }
        Ok(())
    })?;
    Ok(found)
}

impl Previous {
    /// For each of the new chunks the stored one that stays for it, if any.
    pub fn matched(&self, text: &str, symbols: &[Symbol], chunks: &[CodeChunk]) -> Vec<Option<PreviousChunk>> {
        let stored_paths = paths(self.symbols.iter().map(|it| (it.name.as_str(), it.is_module, it.parent)));
        let new_paths =
            paths(symbols.iter().map(|it| (it.name.as_str(), it.kind == SymbolKind::Module, it.parent.map(i64::from))));
        let path_of = |paths: &[String], symbol: Option<i64>| -> String {
            symbol.and_then(|symbol| paths.get(usize::try_from(symbol).ok()?).cloned()).unwrap_or_default()
        };
        let mut stored: HashMap<(String, &str), VecDeque<PreviousChunk>> = HashMap::new();
        for chunk in &self.chunks {
            let (start, length) = (chunk.start as usize, chunk.length as usize);
            if let Some(text) = self.text.get(start..start.saturating_add(length)) {
                stored.entry((path_of(&stored_paths, chunk.symbol), text)).or_default().push_back(*chunk);
            }
        }
        chunks
            .iter()
            .map(|chunk| {
                let text = text.get(chunk.start as usize..chunk.end as usize)?;
                stored.get_mut(&(path_of(&new_paths, chunk.symbol.map(i64::from)), text))?.pop_front()
            })
            .collect()
    }

    /// Qualified names that the file had and that are not among these.
    pub fn vanished(&self, symbols: &[Symbol]) -> Vec<String> {
        let mut vanished: BTreeSet<&str> = self.symbols.iter().map(|it| it.qualified_name.as_str()).collect();
        for symbol in symbols {
            vanished.remove(symbol.qualified_name.as_str());
        }
        vanished.into_iter().map(str::to_owned).collect()
    }
}

/// Where each symbol stands in its file. The file's own name is left out: a file that moves keeps its chunks.
fn paths<'a>(symbols: impl Iterator<Item = (&'a str, bool, Option<i64>)>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for (name, is_module, parent) in symbols {
        let parent = parent.and_then(|parent| usize::try_from(parent).ok()).and_then(|parent| paths.get(parent));
        let path = match parent {
            None if is_module => String::new(),
            None => name.to_owned(),
            Some(parent) => format!("{parent}\n{name}"),
        };
        paths.push(path);
    }
    paths
}
