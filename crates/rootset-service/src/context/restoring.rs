//! Copying segments from another session's stash: the stash is shared by the sessions of a workspace.

use rootset_api::ErrorCode;
use rootset_gc::context::SegmentState;
use rootset_store::{SegmentText, Workspace};

use super::incoming::Incoming;
use super::live::LiveSession;
use crate::error::ServiceError;
use crate::service::Service;

/// A copy to be added to another session, or why there is none.
pub type Copied = Result<Incoming, ServiceError>;

/// Copies of the named segments, each with the other halves of its pair. The originals stay where they are.
pub fn copy_from_session(
    service: &Service,
    workspace: &Workspace,
    from: &str,
    segment_ids: &[String],
) -> Result<Vec<(String, Copied)>, ServiceError> {
    service.read_session(workspace, from, |live| {
        let mut copies: Vec<(String, Copied)> = Vec::new();
        for segment_id in segment_ids {
            match live.find(segment_id) {
                Err(error) => copies.push((segment_id.clone(), Err(error))),
                Ok(index) => {
                    for member in live.with_pairs(index, rootset_gc::context::Population::ActiveAndStashed) {
                        let id = &live.row(member).segment_id;
                        if !copies.iter().any(|(copied, _)| copied == id) {
                            copies.push((id.clone(), Ok(copy(service, workspace, live, member)?)));
                        }
                    }
                }
            }
        }
        Ok(copies)
    })
}

fn copy(
    service: &Service,
    workspace: &Workspace,
    live: &LiveSession,
    segment: rootset_gc::context::SegmentIndex,
) -> Result<Incoming, ServiceError> {
    let row = live.row(segment);
    let texts = service.store.segment_texts(workspace, &[row.segment])?;
    let gone = || ServiceError::new(ErrorCode::NotFound, format!("the segment `{}` was purged", row.segment_id));
    let SegmentText { text, raw, .. } = texts.into_iter().next().ok_or_else(gone)?;
    let mut row = row.clone();
    row.names = super::incoming::names_of(&text);
    (row.is_pinned, row.pin_reason) = (false, None);
    (row.state, row.stashed_at, row.stash_reason) = (SegmentState::Active, None, None);
    (row.touched_step, row.touched_at) = (0, service.now());
    Ok(Incoming { row, text, raw })
}
