//! The line about what agents removed.

use rootset_service::Digest;

use super::{counted, escaped};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// `agents removed 3 memories in falcon; the first undo ends in 2 days: rootset log`.
pub fn digest(digest: &Digest) -> String {
    let left = digest.undo_until.0.saturating_sub(digest.now.0);
    let left = match (left / DAY_MS, left / HOUR_MS) {
        (0, 0) => "within the hour".to_owned(),
        (0, hours) => format!("in {}", counted(hours, "hour", "hours")),
        (days, _) => format!("in {}", counted(days, "day", "days")),
    };
    let memories = counted(digest.removed, "memory", "memories");
    format!("agents removed {memories} in {}; the first undo ends {left}: rootset log", escaped(&digest.workspace_id))
}

#[cfg(test)]
mod tests {
    use rootset_model::Timestamp;

    use super::*;

    #[test]
    fn the_line_says_how_much_and_until_when() {
        let line = |removed, left| {
            digest(&Digest {
                workspace_id: "falcon".to_owned(),
                removed,
                undo_until: Timestamp(1_000 + left),
                now: Timestamp(1_000),
            })
        };
        let three = "agents removed 3 memories in falcon; the first undo ends in 2 days: rootset log";
        assert_eq!(line(3, 2 * DAY_MS + HOUR_MS), three);
        assert_eq!(line(1, HOUR_MS), "agents removed 1 memory in falcon; the first undo ends in 1 hour: rootset log");
        assert!(line(1, 60_000).contains("ends within the hour"));
    }
}
