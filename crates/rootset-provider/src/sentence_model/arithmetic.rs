//! The functions between the matrix products, over whole rows: written so that the compiler turns them into vector
//! instructions of any processor. Errors are below 1e-6, a tenth of what single precision loses in a forward pass.

use super::architecture::Activation;

pub fn activate(activation: Activation, values: &mut [f32]) {
    match activation {
        Activation::Gelu => values.iter_mut().for_each(|x| *x = gelu(*x)),
        Activation::GeluTanh => values.iter_mut().for_each(|x| *x = gelu_tanh(*x)),
        Activation::Relu => values.iter_mut().for_each(|x| *x = x.max(0.0)),
    }
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

fn gelu_tanh(x: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    // tanh by the exponential, which is vectorised: 1 - 2 / (e^2y + 1).
    let y = SQRT_2_OVER_PI * (x + 0.044_715 * x * x * x);
    0.5 * x * (2.0 - 2.0 / (exp((2.0 * y).min(EXP_MAX)) + 1.0))
}

/// The error function as a quotient of polynomials, as numerical libraries compute it.
fn erf(x: f32) -> f32 {
    const ABOVE: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const BELOW: [f32; 5] = [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let polynomial = |factors: &[f32]| factors.iter().fold(0.0, |sum, factor| sum * square + factor);
    x * polynomial(&ABOVE) / polynomial(&BELOW)
}

const EXP_MIN: f32 = -87.0;
const EXP_MAX: f32 = 88.0;

/// e^x for x from -87 to 88; below that it is the smallest such value, which is as good as zero.
fn exp(x: f32) -> f32 {
    // Adding it leaves the nearest whole number in the last bits of the fraction.
    const ROUNDING: f32 = 12_582_912.0;
    // ln 2 in two parts, so that the product with a whole number is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const FACTORS: [f32; 6] = [1.987_569_2e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5];
    let x = x.max(EXP_MIN);
    let rounded = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = rounded - ROUNDING;
    let rest = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let tail = FACTORS.iter().fold(0.0, |sum, factor| sum * rest + factor);
    let power = rounded.to_bits().wrapping_sub(ROUNDING.to_bits()).wrapping_add(127) << 23;
    (tail * rest * rest + rest + 1.0) * f32::from_bits(power)
}

/// Each row becomes positive and adds up to one.
pub fn softmax(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, |a, b| if a > b { a } else { b });
    row.iter_mut().for_each(|x| *x = exp(*x - largest));
    let scale = 1.0 / sum(row, |x| x);
    row.iter_mut().for_each(|x| *x *= scale);
}

/// Each row gets mean 0 and variance 1, then the weights and biases of its columns.
pub fn normalise(row: &mut [f32], weight: &[f32], bias: &[f32], epsilon: f32) {
    let count = row.len() as f32;
    let mean = sum(row, |x| x) / count;
    let variance = sum(row, |x| (x - mean) * (x - mean)) / count;
    let scale = 1.0 / (variance + epsilon).sqrt();
    for ((x, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
        *x = (*x - mean) * scale * weight + bias;
    }
}

/// Several sums side by side: a single one has to wait for each addition.
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (wide, rest) = row.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for eight in wide {
        for (sum, x) in sums.iter_mut().zip(eight) {
            *sum += of(*x);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_are_those_of_the_models() {
        // From Python: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), and the form with tanh.
        for (x, exact, by_tanh) in [
            (-6.0_f32, -5.919_526e-9_f32, -8.439_649e-11_f32),
            (-3.0, -0.004_049_694, -0.003_637_392),
            (-0.5, -0.154_268_77, -0.154_286),
            (0.0, 0.0, 0.0),
            (1e-3, 5.003_989e-4, 5.003_989e-4),
            (1.0, 0.841_344_7, 0.841_192),
            (2.5, 2.484_475_8, 2.484_915_7),
            (40.0, 40.0, 40.0),
        ] {
            assert!((gelu(x) - exact).abs() < 1e-6 * x.abs().max(1.0), "{x}: {}", gelu(x));
            assert!((gelu_tanh(x) - by_tanh).abs() < 1e-6 * x.abs().max(1.0), "{x}: {}", gelu_tanh(x));
        }
        let mut row = [-1.0, 2.0];
        activate(Activation::Relu, &mut row);
        assert_eq!(row, [0.0, 2.0]);
    }

    #[test]
    fn powers_of_e_are_right_over_their_range() {
        for step in -870..=880 {
            let x = step as f32 / 10.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) - exact).abs() <= 4e-7 * exact, "{x}");
        }
        assert!(exp(-1e30) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn a_softmax_adds_up_to_one_whatever_the_size_of_its_values() {
        for row in [[0.0, 0.0], [1e4, 1e4], [-1e30, -1e30]] {
            let mut row = row;
            softmax(&mut row);
            assert_eq!(row, [0.5, 0.5]);
        }
        let mut row = [0.0, 3f32.ln()];
        softmax(&mut row);
        assert!((row[0] - 0.25).abs() < 1e-6 && (row[1] - 0.75).abs() < 1e-6, "{row:?}");
    }
}
