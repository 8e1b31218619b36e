//! Which backups are no longer needed. The act is elsewhere: here is only the choice.

use rootset_model::Timestamp;

/// What is known of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupFacts {
    pub created_at: Timestamp,
    /// It verifies and holds something. Others are no backups: they take no place among those kept.
    pub is_good: bool,
}

/// How long backups are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupPolicy {
    /// So many of the newest good ones stay, however old.
    pub keep_last: i64,
    /// Younger ones stay, however many.
    pub max_age_ms: i64,
}

/// Places of the backups to remove, in the order given: older than allowed and not among the newest. The last good one
/// stays whatever the policy says; one from the future stays and takes no place, because a clock is wrong somewhere.
pub fn backups_to_remove(backups: &[BackupFacts], policy: BackupPolicy, now: Timestamp) -> Vec<usize> {
    let is_past = |place: &usize| backups[*place].created_at <= now;
    let mut newest_first: Vec<usize> = (0..backups.len()).filter(is_past).collect();
    newest_first.sort_by_key(|place| (std::cmp::Reverse(backups[*place].created_at), *place));
    let kept_however_old = usize::try_from(policy.keep_last.max(1)).unwrap_or(usize::MAX);
    let mut good_ones = 0;
    let mut removed: Vec<usize> = newest_first
        .into_iter()
        .filter(|place| {
            let backup = backups[*place];
            good_ones += usize::from(backup.is_good);
            let is_among_newest = backup.is_good && good_ones <= kept_however_old;
            let is_old = now.0.saturating_sub(backup.created_at.0) > policy.max_age_ms;
            is_old && !is_among_newest
        })
        .collect();
    removed.sort_unstable();
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;
    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    /// Ages in days of the backups that stay; those in `bad` do not verify.
    fn kept(ages: &[i64], bad: &[i64], keep_last: i64, max_age_days: i64) -> Vec<i64> {
        let facts: Vec<BackupFacts> = ages
            .iter()
            .map(|age| BackupFacts { created_at: Timestamp(NOW.0 - age * DAY_MS), is_good: !bad.contains(age) })
            .collect();
        let policy = BackupPolicy { keep_last, max_age_ms: max_age_days * DAY_MS };
        let removed = backups_to_remove(&facts, policy, NOW);
        (0..ages.len()).filter(|place| !removed.contains(place)).map(|place| ages[place]).collect()
    }

    #[test]
    fn beyond_the_last_ones_the_older_go() {
        assert_eq!(kept(&[1, 10, 25, 40, 60], &[], 3, 30), [1, 10, 25]);
        assert_eq!(kept(&[1, 3, 10, 30, 60], &[], 1, 7), [1, 3]);
        assert_eq!(kept(&[60, 10, 1, 40, 25], &[], 3, 30), [10, 1, 25], "in any order");
        assert_eq!(kept(&[40, 50, 60], &[], 3, 30), [40, 50, 60]);
    }

    #[test]
    fn a_backup_that_does_not_verify_takes_no_place() {
        assert_eq!(kept(&[40, 50, 60, 70], &[40], 2, 30), [50, 60]);
        assert_eq!(kept(&[1, 50, 60], &[1], 1, 30), [1, 50], "a young one stays: it may be of use to somebody");
    }

    #[test]
    fn the_last_good_one_stays_whatever_the_policy_says() {
        assert_eq!(kept(&[100, 200], &[100], 0, 0), [200]);
        assert_eq!(kept(&[100], &[], -5, 1), [100]);
        assert_eq!(kept(&[], &[], 3, 7), [0; 0]);
    }

    #[test]
    fn a_backup_from_the_future_stays_and_takes_no_place() {
        assert_eq!(kept(&[-400, 40, 50], &[], 1, 30), [-400, 40]);
    }
}
