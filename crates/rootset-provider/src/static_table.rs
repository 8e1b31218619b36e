//! Vectors from a local table, without a model to run: the model2vec layout.
//!
//! A folder holds `model.safetensors` (one row per token) and `tokenizer.json`. A text's vector is the mean of its
//! tokens' rows, scaled to unit length; so `config.json`, which only says whether to scale, is not read.

mod table;
mod tokenizer;
mod wordpiece;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use self::table::Table;
#[cfg(feature = "local-model")]
pub(crate) use self::table::half_to_single;
pub(crate) use self::tokenizer::Tokenizer;
use crate::Embedder;
use crate::error::{ProviderError, TableFault};
use crate::unit_length::to_unit_length;

const TABLE_FILE: &str = "model.safetensors";
const TOKENIZER_FILE: &str = "tokenizer.json";
/// Enough to tell the versions of one model apart, short enough to read.
const ID_HASH_CHARS: usize = 16;

pub struct StaticEmbedder {
    id: String,
    folder: PathBuf,
    tokenizer: Tokenizer,
    table: Table,
}

impl StaticEmbedder {
    /// Reads the whole model into memory.
    pub fn load(path: &Path) -> Result<Self, ProviderError> {
        let folder = fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
        let (table_path, tokenizer_path) = (folder.join(TABLE_FILE), folder.join(TOKENIZER_FILE));
        let table_bytes = fs::read(&table_path).map_err(|error| unreadable(&table_path, &error))?;
        let tokenizer_bytes = fs::read(&tokenizer_path).map_err(|error| unreadable(&tokenizer_path, &error))?;
        let id = identity(&folder, &table_bytes, &tokenizer_bytes);
        let table = Table::parse(table_bytes).map_err(|fault| ProviderError::Table { path: table_path, fault })?;
        let tokenizer = read_tokenizer(&tokenizer_bytes, table.rows())
            .map_err(|fault| ProviderError::Table { path: tokenizer_path, fault })?;
        Ok(Self { id, folder, tokenizer, table })
    }

    pub fn dimension(&self) -> usize {
        self.table.dimension()
    }

    fn embed_one(&self, position: usize, text: &str) -> Result<Vec<f32>, TableFault> {
        let ids = self.tokenizer.encode(text).ok_or(TableFault::Tokenization { position })?;
        let known = ids.into_iter().filter(|&id| Some(id) != self.tokenizer.unknown_token());
        // The sum points where the mean does, and only the direction is kept.
        let mut sum = vec![0.0; self.table.dimension()];
        for id in known {
            self.table.add_row(id, &mut sum)?;
        }
        Ok(to_unit_length(sum).unwrap_or_else(|| vec![0.0; self.table.dimension()]))
    }
}

impl Embedder for StaticEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let vectors = texts.iter().enumerate().map(|(position, text)| self.embed_one(position, text));
        vectors.collect::<Result<_, _>>().map_err(|fault| ProviderError::Table { path: self.folder.clone(), fault })
    }
}

impl fmt::Debug for StaticEmbedder {
    /// Without the vocabulary, which has tens of thousands of words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticEmbedder").field("id", &self.id).field("table", &self.table).finish_non_exhaustive()
    }
}

/// The tokenizer counts too: the same rows under other token ids are another vector space.
fn identity(folder: &Path, table: &[u8], tokenizer: &[u8]) -> String {
    let name = folder.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(table.len() as u64).to_le_bytes()).update(table).update(tokenizer);
    let hash = hasher.finalize().to_hex();
    format!("static:{name}:{}", &hash[..ID_HASH_CHARS])
}

fn read_tokenizer(bytes: &[u8], rows: usize) -> Result<Tokenizer, TableFault> {
    let tokenizer = Tokenizer::from_bytes(bytes)?;
    match tokenizer.id_max().filter(|&id| id as usize >= rows) {
        Some(id) => Err(TableFault::TokenOutOfRange { id, rows }),
        None => Ok(tokenizer),
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> ProviderError {
    ProviderError::Table { path: path.to_owned(), fault: TableFault::Unreadable(error.kind()) }
}
