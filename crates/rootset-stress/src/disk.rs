//! A disk that loses power and a disk that fails, below SQLite and below our own files alike.
//!
//! A process performs a script of operations ([`script`]) with a library between it and libc ([`shim`]) that records every
//! open, write, sync, truncate, rename and unlink ([`log`]). From that record images are made of what a power cut may leave
//! ([`image`]): what was synced, and of the rest nothing, everything, a part, in any order, torn at sectors. Each image must
//! open as one of the states that were committed since the last acknowledgement ([`power_cuts`]). The same library makes one
//! call fail, or every call from one on; what the process then says must be true ([`faults`]).
//!
//! What this is not: a test of the kernel. Synced bytes are believed to be on the disk.

pub mod faults;
pub mod image;
pub mod log;
pub mod look;
pub mod power_cuts;
pub mod scenarios;
pub mod script;
pub mod shim;
pub mod small_disk;

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::error::StressError;
use crate::failpoints::in_parallel;

/// What a run has to say; its last line is one that a script can add up.
#[derive(Clone, Debug, Default)]
pub struct DiskReport {
    pub name: &'static str,
    pub scenario: String,
    /// Images looked at, or faults injected.
    pub cases: usize,
    /// Moments at which the power fails, or faults there are.
    pub points: usize,
    pub failures: Vec<String>,
    pub seed: u64,
    /// The mistake that was planted: such a run has to fail.
    pub control: Option<String>,
}

impl fmt::Display for DiskReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut result = json!({
            "run": format!("{}/{}", self.name, self.scenario),
            "cases": self.cases,
            "points": self.points,
            "failures": self.failures.len(),
            "seed": self.seed,
        });
        if let Some(control) = &self.control {
            result["control"] = control.as_str().into();
        }
        write!(f, "result: {result}")
    }
}

/// An error with every failure, if there is any.
pub fn judge(reports: &[DiskReport]) -> Result<(), StressError> {
    let failures: Vec<String> = reports.iter().flat_map(|report| report.failures.clone()).collect();
    if failures.is_empty() { Ok(()) } else { Err(StressError::from_failures(failures)) }
}

/// Tries cases in their order until the time is over: how many, and what was wrong with them.
fn try_in_time<T: Send + Sync>(
    cases: Vec<T>,
    time: Option<Duration>,
    each: impl Fn(&T) -> Vec<String> + Sync,
) -> (usize, Vec<String>) {
    let began = Instant::now();
    let is_over = || time.is_some_and(|time| began.elapsed() >= time);
    let tried = in_parallel(cases, |case| Ok::<_, String>((!is_over()).then(|| each(case))));
    let tried: Vec<_> = tried.expect("no case is an error of its own").into_iter().flatten().collect();
    (tried.len(), tried.into_iter().flatten().collect())
}
