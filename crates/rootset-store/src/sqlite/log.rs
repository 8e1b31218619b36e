//! What an open database does about its log: looks at it before SQLite does, and knows how long something has been in it.

use std::time::{Duration, Instant};

use rootset_model::limits::WRITE_WAIT_MS;

use super::{SqliteEngine, wal};
use crate::error::StoreError;

/// What was written moves into the database after so long, too: a log that nobody empties is the only place of what is in
/// it, and the one place that SQLite does not check before it reads.
const LOG_AGE_MAX: Duration = Duration::from_secs(300);

impl SqliteEngine {
    /// Before SQLite reads the log and drops what it cannot read: bits that have flipped are turned back, and a log of which
    /// acknowledged transactions would be lost is left as it is.
    pub(super) fn look_at_log(&mut self) -> Result<(), StoreError> {
        let path = self.log_path();
        let trouble = |error: std::io::Error| StoreError::of_file(&path, &error);
        let log = wal::read(&path).map_err(trouble)?;
        *self.logged_since.lock() = (!log.pages.is_empty()).then(Instant::now);
        if log.damage.is_none() {
            return Ok(());
        }
        // Somebody may just be writing; under the lock nobody is.
        let _guard = self.lock.acquire(Duration::from_millis(WRITE_WAIT_MS))?;
        let (mended, damage) = wal::mend(&path).map_err(trouble)?;
        if mended > 0 {
            self.notices.push(format!(
                "{mended} flipped bits in the log `{}` were corrected: the disk or the memory may be failing",
                path.display()
            ));
        }
        match damage {
            None => Ok(()),
            Some(damage) => Err(StoreError::Damaged(damage.in_words())),
        }
    }

    /// Whether at that time something was in the log for longer than it should.
    pub(super) fn has_log_from_before(&self, now: Instant) -> bool {
        self.logged_since.lock().is_some_and(|since| now.saturating_duration_since(since) >= LOG_AGE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::driver::{Engine, Tenant};

    fn opened(path: &Path) -> Result<SqliteEngine, StoreError> {
        SqliteEngine::open(path, &|_| Ok(()))
    }

    fn write(engine: &SqliteEngine, number: i64) {
        let insert = crate::driver::Statement {
            scans: None,
            name: "test",
            sqlite: "INSERT INTO counters (name, value) VALUES (?1, ?2)",
            postgres: "",
        };
        let name = format!("test-{number} {}", "x".repeat(5_000));
        engine
            .write(Tenant::Database, &mut |tx| tx.execute(&insert, &[(&name).into(), number.into()]).map(drop))
            .unwrap();
    }

    fn counters(engine: &SqliteEngine) -> i64 {
        let sql = "SELECT COUNT(*) FROM counters WHERE name LIKE 'test%'";
        engine.with_reader(|connection| connection.pragma(sql)).unwrap()
    }

    /// A copy of a database and its log, as a process leaves them that is killed after six writes.
    fn killed(folder: &Path) -> PathBuf {
        let (path, copy) = (folder.join("x.db"), folder.join("copy.db"));
        let engine = opened(&path).unwrap();
        engine.truncate_log().unwrap();
        (0..6).for_each(|number| write(&engine, number));
        std::fs::copy(&path, &copy).unwrap();
        std::fs::copy(engine.log_path(), SqliteEngine::at(&copy, false).log_path()).unwrap();
        copy
    }

    #[test]
    fn a_bit_that_flipped_in_the_log_is_turned_back_before_anything_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = killed(folder.path());
        let log = SqliteEngine::at(&path, false).log_path();
        let mut bytes = std::fs::read(&log).unwrap();
        let place = bytes.len() / 2;
        bytes[place] ^= 4;
        std::fs::write(&log, bytes).unwrap();
        let engine = opened(&path).unwrap();
        assert_eq!(counters(&engine), 6);
        assert!(engine.notices()[0].starts_with("1 flipped bits"), "{:?}", engine.notices());
        assert_eq!(engine.integrity().unwrap(), [""; 0]);
    }

    #[test]
    fn a_log_whose_transactions_would_be_lost_is_reported_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = killed(folder.path());
        let log = SqliteEngine::at(&path, false).log_path();
        let mut bytes = std::fs::read(&log).unwrap();
        bytes[600..1_200].fill(0xAB);
        std::fs::write(&log, &bytes).unwrap();
        let refused = opened(&path).unwrap_err();
        assert!(matches!(&refused, StoreError::Damaged(why) if why.contains("would be lost")), "{refused}");
        assert!(std::fs::read(&log).unwrap() == bytes);
        // As the message says: whoever can do without them moves the log away.
        std::fs::remove_file(&log).unwrap();
        assert_eq!(counters(&opened(&path).unwrap()), 0);
    }

    #[test]
    fn a_log_that_rots_under_an_open_database_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let engine = opened(&path).unwrap();
        (0..3).for_each(|number| write(&engine, number));
        let mut bytes = std::fs::read(engine.log_path()).unwrap();
        let place = bytes.len() - 100;
        bytes[place] ^= 1;
        std::fs::write(engine.log_path(), bytes).unwrap();
        let problems = engine.integrity().unwrap();
        assert!(problems.iter().any(|problem| problem.contains("a bit of the log has flipped")), "{problems:?}");
    }

    #[test]
    fn what_was_written_long_ago_moves_out_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let engine = opened(&folder.path().join("x.db")).unwrap();
        write(&engine, 1);
        let now = Instant::now();
        assert!(!engine.has_log_from_before(now));
        assert!(engine.has_log_from_before(now + LOG_AGE_MAX));
        assert!(engine.truncate_log().unwrap());
        assert!(!engine.has_log_from_before(now + 2 * LOG_AGE_MAX), "nothing is in it any more");
        // Also what somebody else left in it.
        let other = tempfile::tempdir().unwrap();
        let copy = killed(other.path());
        assert!(opened(&copy).unwrap().has_log_from_before(Instant::now() + LOG_AGE_MAX));
    }
}
