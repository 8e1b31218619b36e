//! The forward pass: token ids to one vector per token. Windows of any lengths are computed together and see only
//! themselves; there is no padding and no mask.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Axis, Slice};

use super::architecture::Architecture;
use super::arithmetic::{activate, normalise, softmax};
use super::weights::{Layer, Linear, Norm, Weights};

pub struct Encoder {
    weights: Weights,
    architecture: Architecture,
}

impl Encoder {
    pub fn new(mut weights: Weights, architecture: &Architecture) -> Self {
        // Every token of every text gets it.
        for mut position in weights.positions.rows_mut() {
            position.iter_mut().zip(&weights.token_type).for_each(|(value, add)| *value += add);
        }
        Self { weights, architecture: *architecture }
    }

    pub fn parameters(&self) -> usize {
        let linear = |it: &Linear| it.weight.len() + it.bias.len();
        let norm = |it: &Norm| it.weight.len() + it.bias.len();
        let layer = |it: &Layer| {
            let linears = [&it.attention, &it.attention_output, &it.up, &it.down];
            linears.map(linear).iter().sum::<usize>() + norm(&it.attention_norm) + norm(&it.norm)
        };
        let weights = &self.weights;
        let tables = weights.words.len() + weights.positions.len() + weights.token_type.len();
        tables + norm(&weights.norm) + weights.layers.iter().map(layer).sum::<usize>()
    }

    /// The rows of windows that follow one another; `lengths` add up to the tokens, and no window is longer than the
    /// model has positions.
    pub fn encode(&self, tokens: &[u32], lengths: &[usize]) -> Array2<f32> {
        assert_eq!(tokens.len(), lengths.iter().sum::<usize>());
        let mut rows = self.embedded(tokens, lengths);
        for layer in &self.weights.layers {
            self.attend(layer, &mut rows, lengths);
            self.think(layer, &mut rows);
        }
        rows
    }

    fn embedded(&self, tokens: &[u32], lengths: &[usize]) -> Array2<f32> {
        let mut rows = Array2::zeros((tokens.len(), self.architecture.hidden));
        let positions = lengths.iter().flat_map(|&length| 0..length);
        for ((mut row, &token), position) in rows.rows_mut().into_iter().zip(tokens).zip(positions) {
            row += &self.weights.words.row(token as usize);
            row += &self.weights.positions.row(position);
        }
        self.normalise(&mut rows, &self.weights.norm);
        rows
    }

    fn attend(&self, layer: &Layer, rows: &mut Array2<f32>, lengths: &[usize]) {
        let Architecture { hidden, heads, .. } = self.architecture;
        let size = hidden / heads;
        let scale = 1.0 / (size as f32).sqrt();
        let projected = apply(&layer.attention, rows.view());
        let mut seen = Array2::zeros(rows.raw_dim());
        let mut start = 0;
        for &length in lengths {
            let window = projected.slice_axis(Axis(0), Slice::from(start..start + length));
            let mut scores = Array2::zeros((length, length));
            for head in 0..heads {
                let columns = |part: usize| {
                    let first = part * hidden + head * size;
                    window.slice_axis(Axis(1), Slice::from(first..first + size))
                };
                general_mat_mul(scale, &columns(0), &columns(1).t(), 0.0, &mut scores);
                scores.rows_mut().into_iter().for_each(|mut row| softmax(contiguous(row.as_slice_mut())));
                let first = head * size;
                let mut target = seen.slice_axis_mut(Axis(0), Slice::from(start..start + length));
                let mut target = target.slice_axis_mut(Axis(1), Slice::from(first..first + size));
                general_mat_mul(1.0, &scores, &columns(2), 0.0, &mut target);
            }
            start += length;
        }
        *rows += &apply(&layer.attention_output, seen.view());
        self.normalise(rows, &layer.attention_norm);
    }

    fn think(&self, layer: &Layer, rows: &mut Array2<f32>) {
        let mut wide = apply(&layer.up, rows.view());
        activate(self.architecture.activation, contiguous(wide.as_slice_mut()));
        *rows += &apply(&layer.down, wide.view());
        self.normalise(rows, &layer.norm);
    }

    fn normalise(&self, rows: &mut Array2<f32>, norm: &Norm) {
        for mut row in rows.axis_iter_mut(Axis(0)) {
            let row = contiguous(row.as_slice_mut());
            normalise(row, &norm.weight, &norm.bias, self.architecture.norm_epsilon);
        }
    }
}

fn apply(linear: &Linear, rows: ArrayView2<'_, f32>) -> Array2<f32> {
    let mut result = Array2::zeros((rows.nrows(), linear.bias.len()));
    for mut row in result.rows_mut() {
        contiguous(row.as_slice_mut()).copy_from_slice(&linear.bias);
    }
    general_mat_mul(1.0, &rows, &linear.weight.t(), 1.0, &mut result);
    result
}

fn contiguous(row: Option<&mut [f32]>) -> &mut [f32] {
    row.expect("rows of a matrix of our own are contiguous")
}
