//! Originals in the transcripts of sessions that hooks know: by their place, or by words. Only for callers on this machine.

use std::collections::HashSet;
use std::path::Path;

use rootset_messages::text_of_line;
use rootset_store::Workspace;
use rootset_text::terms;

use super::files::{self, TAIL_BYTES_MAX, Tail};
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

/// Sessions that are looked through, the newest first.
const SESSIONS_MAX: usize = 3;
/// Sessions among which one is looked for by its id.
const KNOWN_MAX: usize = 100;
/// How a place is written: `t`, the beginning of the session's id, a colon, and where the line begins.
const MARK: char = 't';
const SESSION_CHARS: usize = 8;

fn short(session_id: &str) -> String {
    session_id.chars().filter(char::is_ascii_alphanumeric).take(SESSION_CHARS).collect()
}

/// How the line that begins at this byte of a session is called.
pub(super) fn place_of(session_id: &str, at: u64) -> String {
    format!("{MARK}{}:{at}", short(session_id))
}

impl Service {
    /// The text at a place.
    pub(crate) fn original_at(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        id: &str,
    ) -> Result<Option<String>, ServiceError> {
        let place = id.strip_prefix(MARK).and_then(|rest| rest.split_once(':')).filter(|_| !caller.is_remote);
        let Some((session, at)) = place.and_then(|(session, at)| Some((session, at.parse().ok()?))) else {
            return Ok(None);
        };
        let sessions = self.session_notes(workspace.key, KNOWN_MAX)?;
        let transcript =
            sessions.iter().find(|it| short(&it.session_id) == session).and_then(|it| it.transcript.as_deref());
        let text = transcript.and_then(|path| files::line_at(Path::new(path), at, TAIL_BYTES_MAX));
        Ok(text.as_deref().and_then(|text| text_of_line(text.lines().next()?)))
    }

    /// Texts of the last sessions that hold most of these words, with their places; those that hold more come first, then the
    /// newer ones.
    pub(crate) fn originals_with(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<(String, String)>, ServiceError> {
        if caller.is_remote {
            return Ok(Vec::new());
        }
        let mut found: Vec<(usize, String, String)> = Vec::new();
        for session in self.session_notes(workspace.key, SESSIONS_MAX)? {
            let Some(path) = session.transcript.as_deref() else { continue };
            let Some(tail) = Tail::until(Path::new(path), None) else { continue };
            let mut of_session: Vec<(usize, String, String)> = tail
                .lines()
                .filter_map(|(at, line)| {
                    let text = text_of_line(line)?;
                    let held = matched(&text, words);
                    (held * 2 > words.len()).then(|| (held, place_of(&session.session_id, at), text))
                })
                .collect();
            of_session.reverse();
            found.extend(of_session);
        }
        found.sort_by_key(|(held, _, _)| std::cmp::Reverse(*held));
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, id, text)| (id, text)).collect())
    }
}

fn matched(text: &str, words: &[String]) -> usize {
    let indexed = terms::index_terms(text);
    let held: HashSet<&str> = indexed.split(' ').collect();
    words.iter().filter(|word| held.contains(word.as_str())).count()
}
