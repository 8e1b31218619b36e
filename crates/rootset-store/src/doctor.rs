//! The invariants as checks over what is stored. Looks at everything and changes nothing.

use std::collections::BTreeMap;

use rootset_model::WorkspaceKey;

use crate::driver::{DurabilitySetting, SearchIndex, Statement, Tenant, Transaction};
use crate::error::StoreError;
use crate::kinds::KINDS;
use crate::repair::search_difference;
use crate::statements::doctor as sql;
use crate::{Store, audit, compaction, seals, workspaces};

/// One invariant, looked at over the whole database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub id: &'static str,
    /// Things that break it.
    pub count: i64,
    pub detail: &'static str,
    /// What was found, where there is more to say than a number.
    pub found: Vec<String>,
}

impl Check {
    pub fn is_ok(&self) -> bool {
        self.count == 0
    }
}

/// An invariant that a statement can count: id, what it means, statement.
pub(crate) type CountedCheck = (&'static str, &'static str, &'static Statement);

/// What is asked of the trash and of runs, whatever their kinds.
const OF_RUNS: [CountedCheck; 2] = [
    ("I9.runs", "things in the trash of a run that does not exist", &sql::TRASH_WITHOUT_RUN),
    ("I11.steps", "runs that removed something without an audit entry", &sql::RUNS_WITHOUT_AUDIT),
];

/// All of them, by the numbers of the invariants.
fn counted_checks() -> Vec<CountedCheck> {
    let number = |id: &str| id[1..].split('.').next().and_then(|number| number.parse::<u32>().ok());
    let mut checks: Vec<CountedCheck> = KINDS.iter().flat_map(|kind| kind.checks()).chain(&OF_RUNS).copied().collect();
    checks.sort_by_key(|(id, ..)| number(id));
    checks
}

/// Duplicates named in a report; there is no wrong and right about them.
const DUPLICATES_SHOWN: i64 = 20;

impl Store {
    /// Looks at everything and changes nothing.
    pub fn check(&self) -> Result<Vec<Check>, StoreError> {
        let engine = self.engine.integrity()?;
        let mut checks = vec![Check {
            id: "engine",
            count: engine.len() as i64,
            detail: "problems that the database engine reports",
            found: engine,
        }];
        checks.extend(durability(&self.engine.durability()?));
        checks.extend(self.read(Tenant::Database, |tx| check_rows(tx, self.engine.name()))?);
        Ok(checks)
    }
}

/// What a server that is not ours promises; `None` where there is no server.
fn durability(settings: &[DurabilitySetting]) -> Option<Check> {
    (!settings.is_empty()).then(|| Check {
        id: "durability",
        count: settings.iter().filter(|setting| setting.risk.is_some()).count() as i64,
        detail: "settings of the server that can lose acknowledged writes",
        found: settings.iter().map(ToString::to_string).collect(),
    })
}

fn check_rows(tx: &mut dyn Transaction, engine: &str) -> Result<Vec<Check>, StoreError> {
    let keys = workspaces::keys(tx)?;
    let mut checks = vec![check_seals(tx, &keys)?];
    checks.extend(check_workspaces(tx, &keys, engine)?);
    let broken = audit::broken_links(tx)?;
    checks.push(Check {
        id: "I11.audit",
        count: broken.len() as i64,
        detail: "audit chains that were altered",
        found: broken.iter().map(|(chain, seq)| format!("chain {} breaks at entry {seq}", chain.0)).collect(),
    });
    let debts = compaction::debts(tx)?;
    checks.push(Check {
        id: "I12.compaction",
        count: debts.len() as i64,
        detail: "full-text indexes that still hold terms of purged memories",
        found: Vec::new(),
    });
    checks.push(duplicates(tx, &keys)?);
    Ok(checks)
}

/// Whether what people and agents have said is still what they said.
fn check_seals(tx: &mut dyn Transaction, keys: &[WorkspaceKey]) -> Result<Check, StoreError> {
    let mut altered = seals::Altered::default();
    for workspace in keys {
        tx.enter((*workspace).into())?;
        altered.add(seals::check(tx, *workspace)?);
    }
    let detail = "rows that are no longer what was written";
    Ok(Check { id: "seals", count: altered.count, detail, found: altered.found })
}

/// The invariants of the rows of some workspaces.
pub(crate) fn check_workspaces(
    tx: &mut dyn Transaction,
    keys: &[WorkspaceKey],
    engine: &str,
) -> Result<Vec<Check>, StoreError> {
    // Elsewhere foreign keys leave no such rows, and nobody sees the rows of all workspaces at once.
    let strays = match engine {
        "sqlite" => tx.scalar(&sql::ROWS_WITHOUT_WORKSPACE, &[])?,
        _ => 0,
    };
    let mut checks = vec![Check {
        id: "I6.workspaces",
        count: strays,
        detail: "rows of workspaces that do not exist",
        found: Vec::new(),
    }];
    for (id, detail, statement) in counted_checks() {
        let mut count = 0;
        for workspace in keys {
            tx.enter((*workspace).into())?;
            count += tx.scalar::<i64>(statement, &[(*workspace).into()])?;
        }
        checks.push(Check { id, count, detail, found: Vec::new() });
    }
    let (mut missing, mut superfluous, mut jobless, mut miscounted) = (0, 0, 0, 0);
    for workspace in keys {
        tx.enter((*workspace).into())?;
        for index in SearchIndex::ALL {
            let difference = search_difference(tx, *workspace, index)?;
            missing += difference.0.len() as i64;
            superfluous += difference.1.len() as i64;
        }
        jobless += tx.scalar::<i64>(&sql::PENDING_WITHOUT_JOB, &[(*workspace).into()])?;
        let off = tx.row(&sql::COUNTERS, &[(*workspace).into()], |row| {
            Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?))
        })?;
        miscounted += i64::from(off.is_some_and(|off| off != (0, 0, 0)));
    }
    let plain = |id, count, detail| Check { id, count, detail, found: Vec::new() };
    checks.push(plain("I8.search_missing", missing, "texts that are missing in full text"));
    checks.push(plain("I8.search_superfluous", superfluous, "full-text rows of things that do not exist"));
    checks.push(plain("jobs", jobless, "pending memories that no job will complete"));
    checks.push(plain("counters", miscounted, "workspaces whose counters are wrong"));
    Ok(checks)
}

/// Entities whose names differ only in spelling, or that have one name under several types. A report: the check holds.
fn duplicates(tx: &mut dyn Transaction, workspaces: &[WorkspaceKey]) -> Result<Check, StoreError> {
    let mut found = Vec::new();
    for workspace in workspaces {
        tx.enter((*workspace).into())?;
        let room = DUPLICATES_SHOWN - found.len() as i64;
        let mut alike: BTreeMap<String, Vec<String>> = BTreeMap::new();
        tx.query(&sql::DUPLICATES, &[(*workspace).into(), room.into()], &mut |row| {
            let name = format!("{} ({})", row.get::<String>(1)?, row.get::<String>(2)?);
            alike.entry(row.get(0)?).or_default().push(name);
            Ok(())
        })?;
        let mut named: Vec<String> = alike.into_values().map(|names| names.join(", ")).collect();
        named.sort_unstable();
        found.extend(named);
    }
    Ok(Check { id: "report.duplicates", count: 0, detail: "entities that may be the same", found })
}
