//! The numbers of `model.safetensors`, read tensor by tensor: the file is never in memory as a whole, and nothing is
//! allocated that the file does not hold.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};

use ndarray::Array2;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::architecture::Architecture;
use super::fault::ModelFault;
use super::files::{ModelFolder, WEIGHTS_FILE, unreadable};
use crate::ProviderError;
use crate::static_table::half_to_single;

/// `bert-large` in single precision takes 1.3 GB.
const FILE_BYTES_MAX: u64 = 2 << 30;
/// The names, shapes and places of some hundred tensors.
const HEADER_BYTES_MAX: u64 = 4 << 20;
/// The length of the header stands in front of it.
const HEADER_LENGTH_BYTES: u64 = 8;
/// A multiple of the size of every number.
const READ_BYTES: usize = 64 << 10;

pub struct Weights {
    pub words: Array2<f32>,
    pub positions: Array2<f32>,
    /// Of the first type: a text alone has no other.
    pub token_type: Vec<f32>,
    pub norm: Norm,
    pub layers: Vec<Layer>,
}

pub struct Layer {
    /// Queries, keys and values as one product.
    pub attention: Linear,
    pub attention_output: Linear,
    pub attention_norm: Norm,
    pub up: Linear,
    pub down: Linear,
    pub norm: Norm,
}

/// One row per output.
pub struct Linear {
    pub weight: Array2<f32>,
    pub bias: Vec<f32>,
}

pub struct Norm {
    pub weight: Vec<f32>,
    pub bias: Vec<f32>,
}

/// With the hash of the whole file.
pub fn read(folder: &ModelFolder, architecture: &Architecture) -> Result<(Weights, blake3::Hash), ProviderError> {
    let (file, bytes) = folder.file(WEIGHTS_FILE, FILE_BYTES_MAX)?;
    let mut source = Hashed { reader: BufReader::with_capacity(READ_BYTES, file), hasher: blake3::Hasher::new() };
    read_all(&mut source, bytes, architecture)
        .map(|weights| (weights, source.hasher.finalize()))
        .map_err(folder.about(WEIGHTS_FILE))
}

fn read_all<R: Read>(source: &mut Hashed<R>, bytes: u64, architecture: &Architecture) -> Result<Weights, ModelFault> {
    let header = read_header(source, bytes)?;
    let prefix = if header.info("bert.embeddings.word_embeddings.weight").is_some() { "bert." } else { "" };
    let wanted = shapes(architecture);
    for (name, expected) in &wanted {
        let name = format!("{prefix}{name}");
        let info = header.info(&name).ok_or_else(|| ModelFault::NoTensor(name.clone()))?;
        if info.shape != *expected {
            return Err(ModelFault::WrongShape { name, found: info.shape.clone(), expected: expected.clone() });
        }
    }
    let mut tensors = HashMap::new();
    for name in header.offset_keys() {
        let info = header.info(&name).expect("the header listed it");
        match name.strip_prefix(prefix).filter(|short| wanted.contains_key(*short)) {
            Some(short) => {
                let number = Number::of(info).ok_or_else(|| wrong_type(&name, info))?;
                tensors.insert(short.to_owned(), source.numbers(info, number)?);
            }
            None => source.skip(info.data_offsets.1 - info.data_offsets.0)?,
        }
    }
    Ok(Tensors { by_name: tensors, shapes: wanted }.into_weights(architecture))
}

fn read_header<R: Read>(source: &mut Hashed<R>, bytes: u64) -> Result<Metadata, ModelFault> {
    let broken = |problem: String| ModelFault::NotSafetensors(problem);
    if bytes < HEADER_LENGTH_BYTES {
        return Err(broken(format!("it has only {bytes} bytes")));
    }
    let mut length = [0; HEADER_LENGTH_BYTES as usize];
    source.read(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > HEADER_BYTES_MAX.min(bytes - HEADER_LENGTH_BYTES) {
        return Err(broken(format!("its header would have {length} bytes")));
    }
    let mut header = vec![0; length as usize];
    source.read(&mut header)?;
    let header: Metadata = serde_json::from_slice(&header)
        .map_err(|error| broken(format!("its header {}", rootset_model::json::fault(&error))))?;
    let expected = HEADER_LENGTH_BYTES + length + header.data_len() as u64;
    if bytes == expected { Ok(header) } else { Err(broken(format!("it has {bytes} bytes instead of {expected}"))) }
}

/// The tensors that are used, and what `config.json` makes of their shapes.
fn shapes(architecture: &Architecture) -> HashMap<String, Vec<usize>> {
    let Architecture { hidden, intermediate, tokens, positions, token_types, layers, .. } = *architecture;
    let mut shapes = HashMap::new();
    let mut add = |name: String, shape: &[usize]| drop(shapes.insert(name, shape.to_vec()));
    add("embeddings.word_embeddings.weight".into(), &[tokens, hidden]);
    add("embeddings.position_embeddings.weight".into(), &[positions, hidden]);
    add("embeddings.token_type_embeddings.weight".into(), &[token_types, hidden]);
    let mut add_pair = |name: String, shape: &[usize]| {
        add(format!("{name}.weight"), shape);
        add(format!("{name}.bias"), &shape[..1]);
    };
    add_pair("embeddings.LayerNorm".into(), &[hidden]);
    for layer in 0..layers {
        let layer = format!("encoder.layer.{layer}");
        for part in ["query", "key", "value"] {
            add_pair(format!("{layer}.attention.self.{part}"), &[hidden, hidden]);
        }
        add_pair(format!("{layer}.attention.output.dense"), &[hidden, hidden]);
        add_pair(format!("{layer}.attention.output.LayerNorm"), &[hidden]);
        add_pair(format!("{layer}.intermediate.dense"), &[intermediate, hidden]);
        add_pair(format!("{layer}.output.dense"), &[hidden, intermediate]);
        add_pair(format!("{layer}.output.LayerNorm"), &[hidden]);
    }
    shapes
}

/// All that [`shapes`] names, each with as many numbers as its shape says.
struct Tensors {
    by_name: HashMap<String, Vec<f32>>,
    shapes: HashMap<String, Vec<usize>>,
}

impl Tensors {
    fn into_weights(mut self, architecture: &Architecture) -> Weights {
        let layers = (0..architecture.layers).map(|layer| self.layer(&format!("encoder.layer.{layer}"))).collect();
        let mut token_type = self.take("embeddings.token_type_embeddings.weight");
        token_type.truncate(architecture.hidden);
        Weights {
            words: self.matrix(&["embeddings.word_embeddings.weight".to_owned()]),
            positions: self.matrix(&["embeddings.position_embeddings.weight".to_owned()]),
            token_type,
            norm: self.norm("embeddings.LayerNorm"),
            layers,
        }
    }

    fn layer(&mut self, layer: &str) -> Layer {
        let attention = ["query", "key", "value"].map(|part| format!("{layer}.attention.self.{part}"));
        Layer {
            attention: self.linear(&attention),
            attention_output: self.linear(&[format!("{layer}.attention.output.dense")]),
            attention_norm: self.norm(&format!("{layer}.attention.output.LayerNorm")),
            up: self.linear(&[format!("{layer}.intermediate.dense")]),
            down: self.linear(&[format!("{layer}.output.dense")]),
            norm: self.norm(&format!("{layer}.output.LayerNorm")),
        }
    }

    fn take(&mut self, name: &str) -> Vec<f32> {
        self.by_name.remove(name).expect("every tensor that is wanted was read")
    }

    /// The rows of one tensor below those of the one before.
    fn matrix(&mut self, names: &[String]) -> Array2<f32> {
        let columns = self.shapes[&names[0]][1];
        let mut numbers = self.take(&names[0]);
        for name in &names[1..] {
            numbers.extend(self.take(name));
        }
        Array2::from_shape_vec((numbers.len() / columns, columns), numbers).expect("rows of so many columns")
    }

    fn linear(&mut self, names: &[String]) -> Linear {
        let weights: Vec<String> = names.iter().map(|name| format!("{name}.weight")).collect();
        let bias = names.iter().flat_map(|name| self.take(&format!("{name}.bias"))).collect();
        Linear { weight: self.matrix(&weights), bias }
    }

    fn norm(&mut self, name: &str) -> Norm {
        Norm { weight: self.take(&format!("{name}.weight")), bias: self.take(&format!("{name}.bias")) }
    }
}

#[derive(Clone, Copy)]
enum Number {
    F32,
    F16,
    Bf16,
}

impl Number {
    fn of(info: &TensorInfo) -> Option<Self> {
        match info.dtype {
            Dtype::F32 => Some(Self::F32),
            Dtype::F16 => Some(Self::F16),
            Dtype::BF16 => Some(Self::Bf16),
            _ => None,
        }
    }

    fn decode(self, bytes: &[u8], numbers: &mut Vec<f32>) {
        match self {
            Self::F32 => numbers.extend(bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four))),
            Self::F16 => {
                numbers.extend(bytes.as_chunks::<2>().0.iter().map(|two| half_to_single(u16::from_le_bytes(*two))));
            }
            Self::Bf16 => numbers.extend(bytes.as_chunks::<2>().0.iter().map(|&[low, high]| {
                // The upper half of a single.
                f32::from_le_bytes([0, 0, low, high])
            })),
        }
    }
}

fn wrong_type(name: &str, info: &TensorInfo) -> ModelFault {
    ModelFault::WrongType { name: name.to_owned(), found: format!("{:?}", info.dtype) }
}

/// A file that is hashed while it is read.
struct Hashed<R> {
    reader: R,
    hasher: blake3::Hasher,
}

impl<R: Read> Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<(), ModelFault> {
        self.reader.read_exact(buffer).map_err(|error: io::Error| unreadable(&error))?;
        self.hasher.update(buffer);
        Ok(())
    }

    fn parts(&mut self, mut left: usize, mut each: impl FnMut(&[u8])) -> Result<(), ModelFault> {
        let mut buffer = vec![0; READ_BYTES.min(left)];
        while left > 0 {
            let part = &mut buffer[..READ_BYTES.min(left)];
            self.read(part)?;
            each(part);
            left -= part.len();
        }
        Ok(())
    }

    fn numbers(&mut self, info: &TensorInfo, number: Number) -> Result<Vec<f32>, ModelFault> {
        let mut numbers = Vec::with_capacity(info.shape.iter().product());
        self.parts(info.data_offsets.1 - info.data_offsets.0, |part| number.decode(part, &mut numbers))?;
        Ok(numbers)
    }

    fn skip(&mut self, bytes: usize) -> Result<(), ModelFault> {
        self.parts(bytes, |_| {})
    }
}
