//! The shortest script that still fails: steps are left out, many at a time first, then fewer.

use std::time::{Duration, Instant};

use super::steps::Step;

/// The step and cause of a failure.
type Failing<'a> = dyn Fn(&[Step]) -> Option<(usize, String)> + 'a;

/// `failed` answers the step and cause of a failure. Any failure counts: a shorter life that fails is worth more than the
/// same words.
pub fn shortest(
    mut script: Vec<Step>,
    mut cause: String,
    time_max: Duration,
    failed: &Failing<'_>,
) -> (Vec<Step>, String) {
    let began = Instant::now();
    let mut size = script.len().div_ceil(2);
    while size > 0 && began.elapsed() < time_max {
        let mut from = 0;
        let mut is_shorter = false;
        while from < script.len() && began.elapsed() < time_max {
            let mut fewer = script.clone();
            fewer.drain(from..(from + size).min(script.len()));
            match failed(&fewer) {
                Some((step, why)) => {
                    fewer.truncate(step + 1);
                    (script, cause, is_shorter) = (fewer, why, true);
                }
                None => from += size,
            }
        }
        // As long as single steps can go, others may follow.
        size = if size == 1 && is_shorter { 1 } else { size / 2 };
    }
    (script, cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_left() {
        let script: Vec<Step> = (0..40).map(|ms| Step::Pass { ms }).collect();
        let failed = |some: &[Step]| {
            let first = some.iter().position(|step| *step == Step::Pass { ms: 7 })?;
            let second = some.iter().position(|step| *step == Step::Pass { ms: 31 })?;
            (first < second).then(|| (second, "seen".to_owned()))
        };
        let (script, cause) = shortest(script, "first".to_owned(), Duration::from_secs(60), &failed);
        assert_eq!((script.as_slice(), cause.as_str()), (&[Step::Pass { ms: 7 }, Step::Pass { ms: 31 }][..], "seen"));
    }
}
