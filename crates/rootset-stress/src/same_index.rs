//! Whether two databases say the same about the source trees that both have indexed.

use std::fmt;

use rootset_store::Location;
use rootset_trees::dump::differences;
use rootset_trees::{IndexScope, logical_dump};

use crate::error::StressError;
use crate::model::Violation;

/// What was compared.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Rows by table.
    pub rows: Vec<(String, usize)>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<String> = self.rows.iter().map(|(table, rows)| format!("{rows} {table}")).collect();
        write!(f, "equal: {}", rows.join(", "))
    }
}

/// Fails with the first differences, and when there is nothing to compare.
pub fn run(wanted: &Location, found: &Location, workspace: &str) -> Result<Compared, StressError> {
    run_within(wanted, found, workspace, &IndexScope::default())
}

/// Only what a run of this scope speaks about.
pub fn run_within(
    wanted: &Location,
    found: &Location,
    workspace: &str,
    scope: &IndexScope,
) -> Result<Compared, StressError> {
    let (wanted, found) = (logical_dump(wanted, workspace, scope)?, logical_dump(found, workspace, scope)?);
    if wanted.is_empty() {
        return Err(violated(vec![format!("no workspace `{workspace}` to compare with")]));
    }
    let differences = differences(&wanted, &found);
    if !differences.is_empty() {
        return Err(violated(differences));
    }
    Ok(Compared { rows: wanted.into_iter().map(|(table, rows)| (table, rows.len())).collect() })
}

fn violated(differences: Vec<String>) -> StressError {
    StressError::Violated(differences.into_iter().map(Violation::Twin).collect())
}
