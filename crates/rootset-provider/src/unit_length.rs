//! Scaling a vector to length one, so that a product of two vectors is their cosine.

/// `None` for the zero vector, which has no direction. The components must be finite.
pub(crate) fn to_unit_length(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    // Summed in f64: the squares of large f32 values overflow f32, those of small ones vanish.
    let length = vector.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    if length == 0.0 {
        return None;
    }
    for value in &mut vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_finite_length_becomes_one() {
        assert_eq!(to_unit_length(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
        assert_eq!(to_unit_length(vec![0.0, f32::MAX]), Some(vec![0.0, 1.0]));
        assert_eq!(to_unit_length(vec![0.0, f32::MIN_POSITIVE]), Some(vec![0.0, 1.0]));
        assert_eq!(to_unit_length(vec![0.0, 0.0]), None);
        assert_eq!(to_unit_length(vec![]), None);
    }
}
