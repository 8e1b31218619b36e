//! Which engine a run of the tests is about.

const VARIABLE: &str = "ROOTSET_TEST_ENGINE";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestEngine {
    Sqlite,
    Postgres,
}

impl TestEngine {
    /// The one that `ROOTSET_TEST_ENGINE` names; SQLite where it is not set.
    pub fn chosen() -> Self {
        match std::env::var(VARIABLE).as_deref() {
            Err(std::env::VarError::NotPresent) | Ok("sqlite") => Self::Sqlite,
            Ok("postgres") => Self::Postgres,
            other => panic!("`{VARIABLE}` is {other:?}; hint: `sqlite` or `postgres`"),
        }
    }

    /// Whether a purge can look into the engine's own files for what is left.
    pub fn has_files(self) -> bool {
        self == Self::Sqlite
    }

    /// The formats in which this engine makes backups.
    pub fn backup_formats(self) -> &'static [&'static str] {
        match self {
            Self::Sqlite => &["snapshot", "jsonl"],
            Self::Postgres => &["jsonl"],
        }
    }
}
