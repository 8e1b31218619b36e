//! The end of a scan. Only here does a file become stale, and only one run can be the next.

use rootset_model::MemoryId;

use super::served::{self, TermsOfChunk};
use super::states::FileStamp;
use crate::error::StoreError;
use crate::leases::{self, Lease};
use crate::statements::code as sql;
use crate::{Stamp, Store, Workspace, workspaces};

#[derive(Clone, Debug)]
pub struct CompletedScan<'a> {
    pub repo: &'a str,
    /// The number of the last run when this one began.
    pub expected_run: i64,
    pub run_id: [u8; 16],
    /// For the next run: what was looked for, and until when stamps can be trusted.
    pub scope: &'a str,
    pub trusted_at: i64,
    /// Held while files were written; released with the run.
    pub lease: Option<&'a Lease>,
    /// Files whose content is what it was although their stamps are not.
    pub refreshed: &'a [(String, MemoryId, FileStamp)],
    /// Stale files that are there again.
    pub returned: &'a [MemoryId],
    /// Files that the run looked for and did not find.
    pub gone: &'a [MemoryId],
}

impl Store {
    /// Notes that a run has seen all it wanted to see, in one transaction; answers how many files of the repository are
    /// stale now, and what went wrong after that was stored. When nothing changed, one row is written.
    pub fn complete_scan(
        &self,
        workspace: &Workspace,
        scan: &CompletedScan<'_>,
        terms_of: TermsOfChunk<'_>,
        stamp: Stamp<'_>,
    ) -> Result<(i64, Vec<String>), StoreError> {
        let key = workspace.key;
        let stale = self.write(workspace, |tx| {
            if let Some(lease) = scan.lease {
                leases::release(tx, lease)?;
            }
            let parameters = [
                key.into(),
                scan.repo.into(),
                scan.expected_run.into(),
                (&scan.run_id).into(),
                stamp.now.into(),
                scan.scope.into(),
                scan.trusted_at.into(),
            ];
            if tx.execute(&sql::COMPLETE_RUN, &parameters)? == 0 {
                let found = super::repos::find(tx, key, scan.repo)?;
                let repo = scan.repo.to_owned();
                return Err(match found {
                    Some(row) => StoreError::ScanOvertaken { repo, expected: scan.expected_run, found: row.run },
                    None => StoreError::RepoNotFound(repo),
                });
            }
            let rows: Vec<_> = scan
                .refreshed
                .iter()
                .map(|(path, memory, stamp)| {
                    vec![
                        key.into(),
                        scan.repo.into(),
                        path.into(),
                        memory.into(),
                        stamp.size.into(),
                        stamp.modified_ns.into(),
                        stamp.changed_ns.into(),
                        stamp.inode.into(),
                    ]
                })
                .collect();
            tx.execute_many(&sql::REFRESH_FILE, &rows)?;
            let mut flipped = 0;
            if !scan.returned.is_empty() {
                let ids: Vec<[u8; 16]> = scan.returned.iter().map(|id| id.0).collect();
                flipped += tx.execute(&sql::MARK_RETURNED, &[key.into(), scan.repo.into(), ids.as_slice().into()])?;
                served::enter(tx, key, scan.repo, &ids, terms_of)?;
            }
            if !scan.gone.is_empty() {
                let ids: Vec<[u8; 16]> = scan.gone.iter().map(|id| id.0).collect();
                let parameters = [key.into(), scan.repo.into(), ids.as_slice().into(), stamp.now.into()];
                flipped += tx.execute(&sql::MARK_GONE, &parameters)?;
                served::leave(tx, key, &ids)?;
            }
            if flipped > 0 {
                // Plans made before are looked at again before they are carried out.
                workspaces::touch(tx, key, 0, 0, stamp.now)?;
            }
            tx.scalar(&sql::STALE_COUNT, &[key.into(), scan.repo.into()])
        })?;
        let mut warnings = Vec::new();
        if scan.lease.is_some() {
            // What the run wrote may have left full-text rows that are only marked. The debt is noted: whoever purges or keeps
            // house next pays it.
            if let Err(error) = self.compact_searches() {
                warnings.push(format!(
                    "the full-text index still holds what was replaced; the next purge removes it: {error}"
                ));
            }
        }
        Ok((stale, warnings))
    }
}
