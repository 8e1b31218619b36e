//! The audit trail: who did what to how many, never with which words. Hash-chained, so that an altered row shows.

use rootset_model::{PlanId, RunId, Timestamp, TokenId, WorkspaceKey};

use crate::driver::{Row, Tenant, Transaction};
use crate::error::StoreError;
use crate::leases::DATABASE;
use crate::statements::audit as sql;
use crate::{Stamp, Store, Way};

#[derive(Clone, Debug, Default)]
pub(crate) struct Entry<'a> {
    /// The operation's name.
    pub operation: &'a str,
    /// JSON of numbers.
    pub counts: Option<String>,
    pub plan: Option<PlanId>,
    pub run: Option<RunId>,
    /// JSON of codes, names and policies, never of content.
    pub details: Option<String>,
}

impl<'a> Entry<'a> {
    pub fn of(operation: &'a str) -> Self {
        Self { operation, ..Self::default() }
    }
}

/// Counts as an entry holds them.
pub(crate) fn json(counts: &impl serde::Serialize) -> String {
    serde_json::to_string(counts).expect("numbers always serialise")
}

/// Appends to the workspace's chain, in the transaction of the change itself.
pub(crate) fn append(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    stamp: Stamp<'_>,
    entry: &Entry<'_>,
) -> Result<(), StoreError> {
    append_numbered(tx, workspace, stamp, entry).map(drop)
}

/// The same; answers the number of the entry in its chain.
pub(crate) fn append_numbered(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    stamp: Stamp<'_>,
    entry: &Entry<'_>,
) -> Result<i64, StoreError> {
    let last = tx.row(&sql::LAST, &[workspace.into()], |row| Ok((row.get::<i64>(0)?, row.get::<Vec<u8>>(1)?)))?;
    let (last_seq, last_hash) = last.unwrap_or_default();
    let row = AuditEntry {
        seq: last_seq + 1,
        at: stamp.now,
        actor: stamp.actor.to_owned(),
        operation: entry.operation.to_owned(),
        counts: entry.counts.clone().unwrap_or_else(|| "{}".into()),
        plan: entry.plan,
        run: entry.run,
        details: entry.details.clone(),
        token: stamp.way.and_then(|it| it.token),
        origin: stamp.way.map(|it| it.in_words()),
    };
    let hash = row.hash(workspace, &last_hash);
    tx.execute(
        &sql::INSERT,
        &[
            workspace.into(),
            row.seq.into(),
            row.at.into(),
            (&row.actor).into(),
            (&row.operation).into(),
            (&row.counts).into(),
            row.plan.as_ref().into(),
            row.run.as_ref().into(),
            (&hash).into(),
            row.details.as_ref().into(),
            row.token.as_ref().into(),
            row.origin.as_ref().into(),
        ],
    )?;
    Ok(row.seq)
}

/// One line of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub seq: i64,
    pub at: Timestamp,
    pub actor: String,
    pub operation: String,
    /// JSON of numbers.
    pub counts: String,
    pub plan: Option<PlanId>,
    pub run: Option<RunId>,
    /// JSON of codes, names and policies.
    pub details: Option<String>,
    pub token: Option<TokenId>,
    /// How the request came: `http 192.0.2.7`.
    pub origin: Option<String>,
}

/// What an entry about refused requests is called.
pub const ACCESS_DENIED: &str = "access_denied";

/// Requests of one kind that were refused.
#[derive(Clone, Debug)]
pub struct Denial {
    pub actor: String,
    pub way: Option<Way>,
    /// What was asked for: an operation or a route.
    pub operation: &'static str,
    /// The code of the refusals.
    pub code: &'static str,
    pub count: i64,
}

#[derive(Clone, Debug, Default)]
pub struct AuditFilters {
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Operations and kinds of events; none: all of them.
    pub operations: Vec<String>,
}

/// The last entry of a chain: whoever knows its hash notices when anything before it is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHead {
    pub seq: i64,
    pub hash: Vec<u8>,
}

impl Store {
    /// Notes requests that were refused, in the chain of the database.
    pub fn note_denials(&self, denials: &[Denial], now: Timestamp) -> Result<(), StoreError> {
        self.write(Tenant::Database, |tx| {
            for denial in denials {
                let stamp = Stamp { now, actor: &denial.actor, origin: None, way: denial.way };
                let counts = Some(json(&serde_json::json!({"denials": denial.count})));
                let details = serde_json::json!({"operation": denial.operation, "code": denial.code});
                let entry = Entry { counts, details: Some(details.to_string()), ..Entry::of(ACCESS_DENIED) };
                append(tx, DATABASE, stamp, &entry)?;
            }
            Ok(())
        })
    }

    /// `None` while the chain has no entry.
    pub fn audit_head(&self, chain: WorkspaceKey) -> Result<Option<AuditHead>, StoreError> {
        self.read(chain, |tx| {
            tx.row(&sql::LAST, &[chain.into()], |row| Ok(AuditHead { seq: row.get(0)?, hash: row.get(1)? }))
        })
    }

    /// A page of a chain, newest first, and how many entries match.
    pub fn list_audit(
        &self,
        chain: WorkspaceKey,
        filters: &AuditFilters,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<AuditEntry>, i64), StoreError> {
        self.read(chain, |tx| {
            let operations = &filters.operations;
            let matching = vec![
                chain.into(),
                filters.since.into(),
                filters.until.into(),
                operations.as_slice().into(),
                operations.is_empty().into(),
            ];
            let total = tx.scalar(&sql::ENTRY_COUNT, &matching)?;
            let page = [matching, vec![limit.into(), offset.into()]].concat();
            Ok((tx.rows(&sql::ENTRIES, &page, AuditEntry::read)?, total))
        })
    }
}

impl AuditEntry {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.get(0)?,
            at: row.get(1)?,
            actor: row.get(2)?,
            operation: row.get(3)?,
            counts: row.get(4)?,
            plan: row.get(5)?,
            run: row.get(6)?,
            details: row.get(7)?,
            token: row.get(8)?,
            origin: row.get(9)?,
        })
    }

    fn hash(&self, workspace: WorkspaceKey, previous: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(previous);
        part(&workspace.0.to_le_bytes());
        part(&self.seq.to_le_bytes());
        part(&self.at.0.to_le_bytes());
        part(self.actor.as_bytes());
        part(self.operation.as_bytes());
        part(self.counts.as_bytes());
        part(self.plan.as_ref().map_or(&[][..], |it| it.as_bytes()));
        part(self.run.as_ref().map_or(&[][..], |it| it.as_bytes()));
        // Not a part of entries from before there were details.
        if let Some(details) = &self.details {
            part(details.as_bytes());
        }
        // Named, so that none of them can be taken for another.
        if let Some(token) = &self.token {
            part(b"token");
            part(token.as_bytes());
        }
        if let Some(origin) = &self.origin {
            part(b"origin");
            part(origin.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// The first broken link of each chain: its workspace and sequence number.
pub(crate) fn broken_links(tx: &mut dyn Transaction) -> Result<Vec<(WorkspaceKey, i64)>, StoreError> {
    // Also those of workspaces that are gone: a chain outlives its workspace.
    let last = crate::workspaces::last_number(tx)?;
    let mut broken = Vec::new();
    for chain in (DATABASE.0..=last).map(WorkspaceKey) {
        tx.enter(chain.into())?;
        let mut previous: Vec<u8> = Vec::new();
        let mut expected_seq = 1;
        let mut first_broken = None;
        tx.query(&sql::CHAIN, &[chain.into()], &mut |row| {
            let entry = AuditEntry::read(row)?;
            let stored: Vec<u8> = row.get(10)?;
            if first_broken.is_none() && (entry.seq != expected_seq || entry.hash(chain, &previous)[..] != stored[..]) {
                first_broken = Some(expected_seq);
            }
            expected_seq += 1;
            previous = stored;
            Ok(())
        })?;
        broken.extend(first_broken.map(|seq| (chain, seq)));
    }
    Ok(broken)
}
