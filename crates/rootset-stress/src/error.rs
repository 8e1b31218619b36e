//! What a run can fail with.

use rootset_service::ServiceError;
use rootset_store::StoreError;
use rootset_testing::SqlError;
use thiserror::Error;

use crate::model::Violation;

#[derive(Debug, Error)]
pub enum StressError {
    #[error("{}", listed(.0))]
    Violated(Vec<Violation>),
    #[error("writer {writer} got `{code}`: {message}")]
    WriterFailed { writer: usize, code: String, message: String },
    #[error("writer {writer} ended before it said `{awaited}`")]
    WriterEnded { writer: usize, awaited: &'static str },
    #[error("writer {writer} was silent for {seconds} s")]
    WriterSilent { writer: usize, seconds: u64 },
    #[error("writer {writer} wrote a line that is not part of the protocol: {line}")]
    Garbled { writer: usize, line: String },
    #[error("a process committed {least} times where the median is {median}: {distribution}")]
    Starved { least: usize, median: usize, distribution: String },
    #[error("a step ended {ended}")]
    StepEnded { ended: String },
    #[error("`{operation}` was refused with {status}: {body}")]
    Refused { operation: &'static str, status: u16, body: String },
    #[error("`{operation}` got no answer in {seconds} s, the last was: {last}")]
    NoAnswer { operation: &'static str, seconds: u64, last: String },
    #[error("a server did not say where it listens, but `{said}`")]
    ServerSilent { said: String },
    #[error("not as writers were told: {0}")]
    Lost(String),
    #[error("nothing was lost although {0}, so this run proves nothing")]
    ControlLostNothing(String),
    #[error("{awaited} was waited for in vain")]
    NeverCame { awaited: &'static str },
    #[error(
        "the library below the disk cannot be used, which needs a C compiler (`cc`, or `CC` in the environment): {0}"
    )]
    NoShim(String),
    #[error("{0}")]
    Failures(String),
    #[error("an answer lacks `{0}`")]
    AnswerLacks(&'static str),
    #[error("the verifier failed: {0}")]
    Service(#[from] ServiceError),
    #[error("the verifier cannot open the database: {0}")]
    Store(#[from] StoreError),
    #[error("the verifier cannot look into the database: {0}")]
    Sql(#[from] SqlError),
    #[error("the verifier cannot fill the log: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl StressError {
    pub fn from_failures(failures: Vec<String>) -> Self {
        Self::Failures(failures.join("\n"))
    }
}

fn listed(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A failure with what is needed to repeat it.
#[derive(Debug, Error)]
#[error("seed {seed}, round {round}: {cause}")]
pub struct Failed {
    pub seed: u64,
    pub round: u64,
    pub cause: StressError,
}

impl Failed {
    pub fn at(seed: u64, round: u64) -> impl Fn(StressError) -> Self {
        move |cause| Self { seed, round, cause }
    }
}
