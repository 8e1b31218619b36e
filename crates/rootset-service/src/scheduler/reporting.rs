//! What a round tells of: findings that were not told of before, and events of every kind.

use rootset_store::{BucketFindings, BucketTotals, Garbage, Stamp, Workspace};

use super::findings::{Reported, about_bucket, digest_of};
use super::removals::REMOVALS;
use super::state::WorkspaceNote;
use super::telemetry::{self, Event, Tombstone, TombstoneDetail};
use super::workspace_round::BLOCKED;
use super::{ACTOR, Scheduler};
use crate::error::ServiceError;

/// What reports say beside what was found.
pub(super) struct Reporting<'a> {
    pub auto_delete: bool,
    pub defrag_recommended: bool,
    pub totals: &'a [BucketTotals],
    pub taken: &'a [BucketTotals],
}

impl Scheduler {
    /// Tells of what was found and was not told of before; answers how many memories have expired.
    pub(super) fn report(
        &self,
        workspace: &Workspace,
        garbage: &Garbage,
        note: &mut WorkspaceNote,
        context: &Reporting<'_>,
    ) -> Result<i64, ServiceError> {
        let mut reported = Reported::default();
        reported.keep(BLOCKED, &note.reported);
        reported.keep(REMOVALS, &note.reported);
        let mut expired = 0;
        for found in garbage.buckets.iter().filter(|found| !found.expired.is_empty()) {
            expired += found.expired.len() as i64;
            let about = about_bucket(&found.source, found.repo.as_deref());
            let digest = digest_of(&found.expired);
            let deleted = totals_of(context.taken, found);
            if note.reported.is_new(&about, &digest) || deleted.memories > 0 {
                let event = tombstone(workspace, found, totals_of(context.totals, found), deleted, |detail| {
                    detail.auto_delete = context.auto_delete;
                    detail.defrag_recommended = context.defrag_recommended;
                });
                self.tell(Some(workspace), &Event::Tombstone(event))?;
            }
            reported.note(about, digest);
        }
        note.reported = reported;
        Ok(expired)
    }

    /// An event for the audit trail, for whoever wants to hear of it, and for the log.
    pub(super) fn tell(&self, workspace: Option<&Workspace>, event: &Event) -> Result<(), ServiceError> {
        let stamp = Stamp::new(self.service.now(), ACTOR);
        self.service.store.note_event(workspace, &event.note(), stamp)?;
        telemetry::emit(&self.sink, event);
        Ok(())
    }
}

fn totals_of(totals: &[BucketTotals], found: &BucketFindings) -> BucketTotals {
    let same = totals.iter().find(|it| it.source == found.source && it.repo == found.repo);
    same.cloned().unwrap_or_else(|| BucketTotals {
        source: found.source.clone(),
        repo: found.repo.clone(),
        memories: 0,
        chunks: 0,
    })
}

fn tombstone(
    workspace: &Workspace,
    found: &BucketFindings,
    totals: BucketTotals,
    deleted: BucketTotals,
    with: impl FnOnce(&mut TombstoneDetail),
) -> Tombstone {
    let mut detail = TombstoneDetail {
        expired: found.expired.len() as i64,
        evaluated: found.evaluated,
        unclassifiable: found.unclassifiable,
        deleted: deleted.memories,
        retention: (&found.policy).into(),
        auto_delete: false,
        defrag_recommended: false,
    };
    with(&mut detail);
    Tombstone {
        workspace_id: workspace.id.clone(),
        source: found.source.clone(),
        repo: found.repo.clone(),
        memories_total: totals.memories,
        chunks_total: totals.chunks,
        chunks_deleted: deleted.chunks,
        detail,
    }
}
