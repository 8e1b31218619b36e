//! The line of news for a person.

use rootset_model::Timestamp;
use rootset_service::Digest;

use super::{counted, escaped};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// `agents removed 3 memories in falcon; the first undo ends in 2 days: rootset log`, and what else there is, on one line.
pub fn digest(digest: &Digest) -> String {
    let workspace = escaped(&digest.workspace_id);
    let mut news = Vec::new();
    if let Some(undo_until) = digest.undo_until.filter(|_| digest.removed > 0) {
        let memories = counted(digest.removed, "memory", "memories");
        let left = left(undo_until.0.saturating_sub(digest.now.0));
        news.push(format!("agents removed {memories} in {workspace}; the first undo ends {left}: rootset log"));
    }
    if digest.waiting > 0 {
        let wait = counted(digest.waiting, "personal memory waits", "personal memories wait");
        news.push(format!("{wait} for you: rootset review"));
    }
    if digest.garbage > 0 {
        let are = counted(digest.garbage, "memory is", "memories are");
        news.push(format!("{are} garbage in {workspace}: rootset prune --dry-run"));
    }
    let days_since = |at: Timestamp| counted(digest.now.0.saturating_sub(at.0) / DAY_MS, "day", "days");
    if let Some(at) = digest.indexed_at {
        news.push(format!("the code index of {workspace} is {} old: rootset index", days_since(at)));
    }
    if digest.stale_files > 0 {
        let are = counted(digest.stale_files, "indexed file is", "indexed files are");
        news.push(format!("{are} gone: rootset prune --dry-run"));
    }
    if let Some(at) = digest.last_backup_at {
        news.push(format!("the last backup is {} old: rootset backup create", days_since(at)));
    }
    news.join(" · ")
}

fn left(milliseconds: i64) -> String {
    match (milliseconds / DAY_MS, milliseconds / HOUR_MS) {
        (0, 0) => "within the hour".to_owned(),
        (0, hours) => format!("in {}", counted(hours, "hour", "hours")),
        (days, _) => format!("in {}", counted(days, "day", "days")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_much_and_until_when() {
        let line = |removed, left| {
            digest(&Digest {
                workspace_id: "falcon".to_owned(),
                removed,
                undo_until: Some(Timestamp(1_000 + left)),
                now: Timestamp(1_000),
                ..Digest::default()
            })
        };
        let three = "agents removed 3 memories in falcon; the first undo ends in 2 days: rootset log";
        assert_eq!(line(3, 2 * DAY_MS + HOUR_MS), three);
        assert_eq!(line(1, HOUR_MS), "agents removed 1 memory in falcon; the first undo ends in 1 hour: rootset log");
        assert!(line(1, 60_000).contains("ends within the hour"));
    }
    #[test]
    fn all_news_are_one_line() {
        let news = Digest {
            workspace_id: "falcon".to_owned(),
            waiting: 1,
            garbage: 12,
            indexed_at: Some(Timestamp(DAY_MS)),
            stale_files: 2,
            last_backup_at: Some(Timestamp(0)),
            now: Timestamp(9 * DAY_MS),
            ..Digest::default()
        };
        let line = "1 personal memory waits for you: rootset review · 12 memories are garbage in falcon: rootset prune \
                    --dry-run · the code index of falcon is 8 days old: rootset index · 2 indexed files are gone: rootset prune \
                    --dry-run · the last backup is 9 days old: rootset backup create";
        assert_eq!(digest(&news), line);
    }
}
