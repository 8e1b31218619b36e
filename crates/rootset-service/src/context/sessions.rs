//! The sessions that this process has in memory, and how they are read and changed.

use std::sync::Arc;

use parking_lot::Mutex;
use rootset_api::ErrorCode;
use rootset_model::WorkspaceKey;
use rootset_model::limits::SESSION_ID_CHARS_MAX;
use rootset_store::{StoreError, Workspace};
use serde_json::json;

use super::edit::Edit;
use super::live::LiveSession;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

/// An agent has one session, a server's agents a few; who comes back after that is loaded again.
const SESSIONS_KEPT: usize = 16;
/// How often a change is tried again when others change the same session.
const ATTEMPTS_MAX: usize = 16;

type Key = (WorkspaceKey, String);

/// Used last comes last.
#[derive(Debug, Default)]
pub struct LiveSessions(Mutex<Vec<(Key, Arc<Mutex<LiveSession>>)>>);

impl LiveSessions {
    fn get(&self, workspace: &Workspace, session_id: &str) -> Arc<Mutex<LiveSession>> {
        let mut sessions = self.0.lock();
        let known = sessions.iter().position(|((key, id), _)| *key == workspace.key && id == session_id);
        let entry = match known {
            Some(place) => sessions.remove(place),
            None => {
                let live = Arc::new(Mutex::new(LiveSession::new(session_id)));
                ((workspace.key, session_id.to_owned()), live)
            }
        };
        let live = Arc::clone(&entry.1);
        sessions.push(entry);
        if sessions.len() > SESSIONS_KEPT {
            sessions.remove(0);
        }
        live
    }
}

pub fn check_session_id(session_id: &str) -> Result<(), ServiceError> {
    let length = session_id.chars().count();
    let is_blank = session_id.trim().is_empty();
    if !is_blank && length <= SESSION_ID_CHARS_MAX && !session_id.chars().any(char::is_control) {
        return Ok(());
    }
    Err(ServiceError::invalid(format!(
        "`session_id` must be a name of 1 to {SESSION_ID_CHARS_MAX} characters without control characters; this has {length}"
    )))
}

impl Service {
    /// Reads a session as it is now.
    pub(crate) fn read_session<T>(
        &self,
        workspace: &Workspace,
        session_id: &str,
        work: impl FnOnce(&LiveSession) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        check_session_id(session_id)?;
        let shared = self.sessions.get(workspace, session_id);
        let mut live = shared.lock();
        match self.caught_up(workspace, &mut live) {
            Ok(true) => work(&live),
            Ok(false) => Err(self.unknown_session(workspace, session_id)),
            // To a reader, what is in the trash is not there; only a writer has to know that the name is taken.
            Err(mut error) if error.code == ErrorCode::Conflict => {
                error.code = ErrorCode::NotFound;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Changes a session, which is created where there is none. The work may be done again when another process was
    /// faster; it should check before it changes, because a session whose change fails has to be loaded anew.
    pub(crate) fn edit_session<T>(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        session_id: &str,
        mut work: impl FnMut(&mut Edit<'_>) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        check_session_id(session_id)?;
        let shared = self.sessions.get(workspace, session_id);
        for _ in 0..ATTEMPTS_MAX {
            let mut live = shared.lock();
            self.caught_up(workspace, &mut live)?;
            match self.try_edit(caller, workspace, &mut live, &mut work) {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => *live = LiveSession::new(session_id),
                Err(error) => {
                    *live = LiveSession::new(session_id);
                    return Err(error);
                }
            }
        }
        Err(ServiceError::new(ErrorCode::Busy, format!("other callers keep changing the session `{session_id}`"))
            .with_hint("try again"))
    }

    /// `None`: another process changed the session meanwhile.
    fn try_edit<T>(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        live: &mut LiveSession,
        work: &mut impl FnMut(&mut Edit<'_>) -> Result<T, ServiceError>,
    ) -> Result<Option<T>, ServiceError> {
        let stamp = self.stamp(caller);
        let is_new = live.head.is_none();
        let mut edit = Edit::new(live, stamp.now);
        let answer = work(&mut edit)?;
        if edit.is_empty() && !is_new {
            return Ok(Some(answer));
        }
        let wanted = edit.texts_wanted();
        let texts = if wanted.is_empty() { Vec::new() } else { self.store.segment_texts(workspace, &wanted)? };
        let (change, first_added) = edit.into_change(&texts);
        match self.store.change_session(workspace, &change, stamp) {
            Ok((head, numbers)) => {
                live.written(head, first_added, &numbers, &change);
                Ok(Some(answer))
            }
            Err(StoreError::SessionChanged { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether there is such a session at all.
    fn caught_up(&self, workspace: &Workspace, live: &mut LiveSession) -> Result<bool, ServiceError> {
        let session_id = live.session_id.clone();
        match self.store.load_session(workspace, &session_id, live.head) {
            Ok(Some(loaded)) => live.catch_up(loaded).map(|()| true),
            Ok(None) => {
                *live = LiveSession::new(&session_id);
                Ok(false)
            }
            Err(error) => {
                *live = LiveSession::new(&session_id);
                Err(error.into())
            }
        }
    }

    fn unknown_session(&self, workspace: &Workspace, session_id: &str) -> ServiceError {
        let error = ServiceError::new(ErrorCode::NotFound, format!("no session `{session_id}`"));
        let Ok((sessions, _)) = self.store.list_sessions(workspace, 0, 100) else { return error };
        let nearest = rootset_api::nearest(session_id, sessions.iter().map(|it| it.session_id.as_str()), 3);
        if nearest.is_empty() {
            return error
                .with_hint("`context_list_sessions` shows the existing sessions; adding a segment creates one");
        }
        error.with_hint(format!("did you mean `{}`?", nearest.join("`, `"))).with_details(json!({"nearest": nearest}))
    }
}
