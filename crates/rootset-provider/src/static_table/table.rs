//! The table of `model.safetensors`: rows of F32 or F16, kept as the bytes of the file and decoded where they are read.

use std::fmt;
use std::ops::Range;

use safetensors::{Dtype, SafeTensorError, SafeTensors};

use crate::error::TableFault;

const TENSOR: &str = "embeddings";
/// Later layouts weigh tokens, or let several share a row. Ignoring these would give plausible, wrong vectors.
const TENSORS_UNSUPPORTED: [&str; 2] = ["weights", "mapping"];
/// The length of the header stands in front of it.
const HEADER_LENGTH_BYTES: usize = 8;

pub(super) struct Table {
    bytes: Vec<u8>,
    data: Range<usize>,
    rows: usize,
    dimension: usize,
    number: Number,
}

#[derive(Clone, Copy, Debug)]
enum Number {
    F32,
    F16,
}

impl Number {
    fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }
}

impl Table {
    pub fn parse(bytes: Vec<u8>) -> Result<Self, TableFault> {
        let (header_bytes, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| not_safetensors(&error))?;
        if let Some(name) = TENSORS_UNSUPPORTED.into_iter().find(|name| metadata.info(name).is_some()) {
            return Err(TableFault::UnsupportedTensor(name));
        }
        let info = metadata.info(TENSOR).ok_or(TableFault::NoTensor(TENSOR))?;
        let number = match info.dtype {
            Dtype::F32 => Number::F32,
            Dtype::F16 => Number::F16,
            other => return Err(TableFault::WrongType(format!("{other:?}"))),
        };
        let [rows, dimension] = info.shape[..] else { return Err(TableFault::WrongShape(info.shape.clone())) };
        if rows == 0 || dimension == 0 {
            return Err(TableFault::WrongShape(info.shape.clone()));
        }
        // The library has checked that offsets, shape and the length of the file agree.
        let start = HEADER_LENGTH_BYTES + header_bytes;
        let data = start + info.data_offsets.0..start + info.data_offsets.1;
        Ok(Self { bytes, data, rows, dimension, number })
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds a token's row to `sum`, which has the table's dimension.
    pub fn add_row(&self, id: u32, sum: &mut [f32]) -> Result<(), TableFault> {
        assert_eq!(sum.len(), self.dimension);
        let row = id as usize;
        if row >= self.rows {
            return Err(TableFault::TokenOutOfRange { id, rows: self.rows });
        }
        let row_bytes = self.dimension * self.number.bytes();
        let start = self.data.start + row * row_bytes;
        let numbers = self.bytes[start..start + row_bytes].chunks_exact(self.number.bytes());
        for (component, number) in sum.iter_mut().zip(numbers) {
            *component += match (self.number, number) {
                (Number::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
                (Number::F16, &[a, b]) => half_to_single(u16::from_le_bytes([a, b])),
                _ => unreachable!("chunks_exact gives chunks of exactly the asked size"),
            };
        }
        if sum.iter().all(|component| component.is_finite()) { Ok(()) } else { Err(TableFault::NotFinite { row }) }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("rows", &self.rows)
            .field("dimension", &self.dimension)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

/// IEEE 754 binary16: a sign, five bits of exponent with bias 15, ten bits of fraction. Every such value is an f32.
pub(crate) fn half_to_single(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 0x1f), f32::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    sign * magnitude
}

/// The library passes on the words of its JSON parser, which are not for people.
fn not_safetensors(error: &SafeTensorError) -> TableFault {
    TableFault::NotSafetensors(match error {
        SafeTensorError::InvalidHeaderDeserialization(error) | SafeTensorError::JsonError(error) => {
            format!("its header {}", rootset_model::json::fault(error))
        }
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_values_are_read_exactly() {
        for (half, expected) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            (0x0001, 5.960_464_5e-8),
            (0x0400, 6.103_515_6e-5),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half_to_single(half), expected, "{half:#06x}");
        }
        assert!(half_to_single(0x7e00).is_nan());
        assert!(half_to_single(0x8000).is_sign_negative());
    }
}
