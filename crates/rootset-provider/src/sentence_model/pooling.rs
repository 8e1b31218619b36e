//! How the vectors of a text's tokens become one. Only the direction of the result is kept, so a sum is as good as a mean.

use ndarray::{Array2, ArrayView2, Axis, Slice};
use serde_json::Value;

use super::fault::ModelFault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    Mean,
    /// The vector of the token that begins a text.
    First,
    Max,
}

impl Pooling {
    /// From `1_Pooling/config.json`, or `null` where there is none.
    pub fn of(config: &Value) -> Result<Self, ModelFault> {
        let mut chosen = Vec::new();
        for (field, switch) in config.as_object().into_iter().flatten() {
            if switch == &Value::Bool(true)
                && let Some(mode) = field.strip_prefix("pooling_mode_")
            {
                chosen.push(mode);
            }
        }
        match chosen[..] {
            [] | ["mean_tokens"] => Ok(Self::Mean),
            ["cls_token"] => Ok(Self::First),
            ["max_tokens"] => Ok(Self::Max),
            _ => Err(ModelFault::NotSupported {
                field: "pooling_mode",
                value: chosen.join(" and "),
                supported: "one of `mean_tokens`, `cls_token`, `max_tokens`",
            }),
        }
    }

    /// One vector for each window, whose rows follow one another.
    pub fn of_windows(self, rows: &Array2<f32>, lengths: &[usize]) -> Vec<Vec<f32>> {
        let mut start = 0;
        let windows = lengths.iter().map(|&length| {
            let window = rows.slice_axis(Axis(0), Slice::from(start..start + length));
            start += length;
            self.of_window(window)
        });
        windows.collect()
    }

    fn of_window(self, rows: ArrayView2<'_, f32>) -> Vec<f32> {
        match self {
            Self::Mean => rows.sum_axis(Axis(0)).to_vec(),
            Self::First => rows.row(0).to_vec(),
            Self::Max => rows.fold_axis(Axis(0), f32::NEG_INFINITY, |a, b| a.max(*b)).to_vec(),
        }
    }

    /// What the windows of one text come to; there is at least one.
    pub fn of_text(self, windows: &[Vec<f32>]) -> Vec<f32> {
        let mut vector = windows[0].clone();
        for window in &windows[1..] {
            for (component, value) in vector.iter_mut().zip(window) {
                *component = if self == Self::Max { component.max(*value) } else { *component + value };
            }
        }
        vector
    }
}
