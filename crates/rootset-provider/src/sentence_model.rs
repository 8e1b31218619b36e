//! Vectors from a sentence transformer of the BERT family that runs in this process: MiniLM and its relatives.
//!
//! A folder holds `config.json`, `model.safetensors` and `tokenizer.json` (or `vocab.txt`), as they are published, and may
//! say in `modules.json`, `1_Pooling/config.json` and `sentence_bert_config.json` how tokens become one vector. The
//! forward pass is written out here over one matrix product; it trains nothing and reads no other family of models: what it
//! does not know is an error that names the file. A text that is longer than the model reads at once is read in windows,
//! and all of its tokens are pooled together.

mod architecture;
mod arithmetic;
mod encoder;
mod fault;
mod files;
mod pooling;
mod weights;
mod windows;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use self::architecture::Architecture;
use self::encoder::Encoder;
pub use self::fault::ModelFault;
pub use self::files::MODEL_FILES;
use self::files::ModelFolder;
use self::windows::{Batch, Windows};
use crate::static_table::Tokenizer;
use crate::unit_length::to_unit_length;
use crate::{Embedder, ProviderError};

/// Enough to tell the versions of one model apart, short enough to read.
const ID_HASH_CHARS: usize = 16;
/// More threads than this take more memory than they save time.
const THREADS_MAX: usize = 8;

pub struct LocalEmbedder {
    id: String,
    folder: PathBuf,
    tokenizer: Tokenizer,
    windows: Windows,
    encoder: Encoder,
    architecture: Architecture,
}

/// What there is to know about a model that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSummary {
    pub dimension: usize,
    pub layers: usize,
    /// Tokens that the model reads at once.
    pub window_tokens: usize,
    pub parameters: usize,
}

impl LocalEmbedder {
    /// Reads the whole model into memory.
    pub fn load(path: &Path) -> Result<Self, ProviderError> {
        let folder = ModelFolder::open(path)?;
        let architecture = Architecture::read(&folder)?;
        let (tokenizer, tokenizer_hash) = folder.tokenizer()?;
        let windows = folder.about_tokenizer(Windows::new(&tokenizer, &architecture))?;
        let (weights, weights_hash) = weights::read(&folder, &architecture)?;
        let id = identity(&folder, &architecture, [weights_hash, tokenizer_hash]);
        let encoder = Encoder::new(weights, &architecture);
        Ok(Self { id, folder: folder.into_path(), tokenizer, windows, encoder, architecture })
    }

    pub fn summary(&self) -> ModelSummary {
        ModelSummary {
            dimension: self.architecture.hidden,
            layers: self.architecture.layers,
            window_tokens: self.architecture.window_tokens,
            parameters: self.encoder.parameters(),
        }
    }

    fn fault(&self, fault: ModelFault) -> ProviderError {
        ProviderError::Model { path: self.folder.clone(), fault }
    }

    /// What the windows of a batch add up to, in their order.
    fn pooled(&self, batch: &Batch) -> Vec<Vec<f32>> {
        let hidden = self.encoder.encode(&batch.tokens, &batch.lengths);
        self.architecture.pooling.of_windows(&hidden, &batch.lengths)
    }

    /// Batches are worked off by as many threads as there are processors; one batch needs no thread.
    fn all_pooled(&self, batches: &[Batch]) -> Vec<Vec<f32>> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = processors.min(THREADS_MAX).min(batches.len());
        if threads < 2 {
            return batches.iter().flat_map(|batch| self.pooled(batch)).collect();
        }
        let next = AtomicUsize::new(0);
        let take = || {
            let mut done = Vec::new();
            while let Some((place, batch)) = at(batches, next.fetch_add(1, Ordering::Relaxed)) {
                done.push((place, self.pooled(batch)));
            }
            done
        };
        let mut done: Vec<(usize, Vec<Vec<f32>>)> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
            let mut done = take();
            for thread in others {
                done.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        });
        done.sort_by_key(|(place, _)| *place);
        done.into_iter().flat_map(|(_, pooled)| pooled).collect()
    }
}

fn at(batches: &[Batch], place: usize) -> Option<(usize, &Batch)> {
    batches.get(place).map(|batch| (place, batch))
}

impl Embedder for LocalEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    /// Milliseconds for a short text, but a second for a long one: too much for a request that adds it.
    fn is_local(&self) -> bool {
        false
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        self.embed_up_to(texts, windows::WINDOWS_MAX)
    }
}

impl LocalEmbedder {
    /// The vectors of what the model reads at once, of each text its beginning: for comparison with programs that do no more.
    pub fn embed_beginnings(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        self.embed_up_to(texts, 1)
    }

    fn embed_up_to(&self, texts: &[&str], windows_max: usize) -> Result<Vec<Vec<f32>>, ProviderError> {
        let mut vectors = Vec::with_capacity(texts.len());
        // Some at a time: tokens of a whole corpus need not be in memory together.
        for texts in texts.chunks(windows::TEXTS_AT_ONCE) {
            let tokens: Option<Vec<Vec<u32>>> = texts.iter().map(|text| self.tokenizer.encode(text)).collect();
            let tokens = tokens.ok_or(ModelFault::Tokenization).map_err(|fault| self.fault(fault))?;
            let cut = self.windows.cut(&tokens, windows_max);
            let pooled = self.all_pooled(&cut.batches);
            for windows in &cut.windows_of_text {
                let vector = self.architecture.pooling.of_text(&pooled[windows.clone()]);
                if vector.iter().any(|value| !value.is_finite()) {
                    return Err(self.fault(ModelFault::NotFinite));
                }
                let zero = || vec![0.0; self.architecture.hidden];
                vectors.push(to_unit_length(vector).unwrap_or_else(zero));
            }
        }
        Ok(vectors)
    }
}

impl fmt::Debug for LocalEmbedder {
    /// Without weights and vocabulary, which are millions of numbers and words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEmbedder")
            .field("id", &self.id)
            .field("architecture", &self.architecture)
            .finish_non_exhaustive()
    }
}

/// Everything counts that changes a vector: weights, tokenizer and how tokens are pooled.
fn identity(folder: &ModelFolder, architecture: &Architecture, hashes: [blake3::Hash; 2]) -> String {
    let mut hasher = blake3::Hasher::new();
    for hash in hashes {
        hasher.update(hash.as_bytes());
    }
    // The revision of this code's own vectors, for the day on which it makes others from the same files.
    hasher.update(format!("1 {architecture:?}").as_bytes());
    let hash = hasher.finalize().to_hex();
    format!("local:{}:{}", folder.name(), &hash[..ID_HASH_CHARS])
}
