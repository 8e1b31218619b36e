//! Vectors in a file, by a hash of their embedder and their text: a benchmark that embeds a corpus pays for it once.
//!
//! The file only grows. One process at a time uses it; a record that was cut off when that process was killed is cut away.

use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, ensure};
use rootset_provider::{Embedder, ProviderError};

const MAGIC: &[u8; 8] = b"vectors1";
const HASH_BYTES: usize = 32;
/// Far above any model's; a larger number is damage.
const DIMENSION_MAX: usize = 1 << 16;

type Hash = [u8; HASH_BYTES];

pub struct Vectors {
    known: HashMap<Hash, Vec<f32>>,
    file: File,
}

pub fn open(path: &Path) -> anyhow::Result<Arc<Mutex<Vectors>>> {
    let options = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = options().with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut known = HashMap::new();
    if file.metadata()?.len() == 0 {
        file.write_all(MAGIC)?;
    } else {
        let mut reader = BufReader::new(&file);
        let mut magic = [0; MAGIC.len()];
        let is_ours = reader.read_exact(&mut magic).is_ok() && &magic == MAGIC;
        ensure!(is_ours, "`{}` is not a file of kept vectors", path.display());
        let mut whole = MAGIC.len() as u64;
        while let Some((hash, vector)) = record(&mut reader)? {
            whole += (HASH_BYTES + 4 + 4 * vector.len()) as u64;
            known.insert(hash, vector);
        }
        drop(reader);
        file.set_len(whole)?;
    }
    file.seek(SeekFrom::End(0))?;
    Ok(Arc::new(Mutex::new(Vectors { known, file })))
}

/// `None` at the end, and where the last record is not whole.
fn record(reader: &mut impl Read) -> anyhow::Result<Option<(Hash, Vec<f32>)>> {
    let mut hash = [0; HASH_BYTES];
    let mut dimension = [0; 4];
    let mut read = |bytes: &mut [u8]| match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    };
    if !read(&mut hash)? || !read(&mut dimension)? {
        return Ok(None);
    }
    let dimension = u32::from_le_bytes(dimension) as usize;
    ensure!(dimension <= DIMENSION_MAX, "a kept vector has {dimension} dimensions: the file is damaged");
    let mut bytes = vec![0; 4 * dimension];
    if !read(&mut bytes)? {
        return Ok(None);
    }
    let vector = bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    Ok(Some((hash, vector)))
}

/// An embedder that is asked only for what is not in the file.
pub struct Kept {
    inner: Arc<dyn Embedder>,
    vectors: Arc<Mutex<Vectors>>,
}

impl Kept {
    pub fn new(inner: Arc<dyn Embedder>, vectors: Arc<Mutex<Vectors>>) -> Self {
        Self { inner, vectors }
    }

    fn hash(&self, text: &str) -> Hash {
        let id = self.inner.id();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(id.len() as u64).to_le_bytes()).update(id.as_bytes()).update(text.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

impl Embedder for Kept {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn is_local(&self) -> bool {
        self.inner.is_local()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let hashes: Vec<Hash> = texts.iter().map(|text| self.hash(text)).collect();
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing: Vec<usize> =
            (0..texts.len()).filter(|&place| !vectors.known.contains_key(&hashes[place])).collect();
        missing.sort_by_key(|&place| hashes[place]);
        missing.dedup_by_key(|place| hashes[*place]);
        if !missing.is_empty() {
            let asked: Vec<&str> = missing.iter().map(|&place| texts[place]).collect();
            for (place, vector) in missing.into_iter().zip(self.inner.embed(&asked)?) {
                let mut bytes = hashes[place].to_vec();
                bytes.extend((vector.len() as u32).to_le_bytes());
                bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
                if let Err(error) = vectors.file.write_all(&bytes) {
                    eprintln!("WARNING: a vector could not be kept: {error}");
                }
                vectors.known.insert(hashes[place], vector);
            }
        }
        Ok(hashes.iter().map(|hash| vectors.known[hash].clone()).collect())
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("inner", &self.inner).finish_non_exhaustive()
    }
}
