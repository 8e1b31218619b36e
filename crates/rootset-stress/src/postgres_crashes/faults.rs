//! What happens to the servers while others write.

use std::time::{Duration, Instant};

use rand::Rng;
use rand::rngs::StdRng;
use rootset_testing::{Cut, OwnServer, Proxy, Sql};

use super::{DATABASE, Fault, PostgresCrashReport};
use crate::error::StressError;

/// How long writers work before something happens, at most: a few commits each.
const BEFORE_MS_MAX: u64 = 600;
/// And afterwards.
const AFTER_MS: u64 = 250;
/// Longer than a commit waits before the log is written.
const COMMIT_MS: u64 = 150;
/// Commits after which an answer may be lost.
const COMMITS_MAX: usize = 6;
/// Transactions of others between a crash and the next word to a client.
const OTHERS_MAX: usize = 60;
/// Longer than a standby takes to catch up.
const STANDBY_WAIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub fn happen(
    fault: Fault,
    server: &mut OwnServer,
    door: &Proxy,
    random: &mut StdRng,
    report: &mut PostgresCrashReport,
) -> Result<(), StressError> {
    let others = random.random_range(0..OTHERS_MAX);
    let promoted = match fault {
        Fault::Crash => {
            lose_answers_for_a_while(door, random);
            door.shut();
            server.kill()?;
            server.start()?;
            None
        }
        Fault::AsynchronousFailover => {
            let standby = server.standby()?;
            lose_answers_for_a_while(door, random);
            // From here on nobody is told anything. What somebody was told gets to the standby, and no more than that.
            door.shut();
            door.mute();
            let sql = server.sql(DATABASE);
            catch_up(&standby, &text(&sql, "SELECT pg_current_wal_flush_lsn()::TEXT")?)?;
            server.halt(sql.scalar("SELECT pid::BIGINT FROM pg_stat_replication", &[])?)?;
            wait_ms(COMMIT_MS);
            server.kill()?;
            Some(standby)
        }
        Fault::SynchronousFailover => {
            let standby = synchronous_standby(server)?;
            lose_answers_for_a_while(door, random);
            door.shut();
            server.kill()?;
            Some(standby)
        }
        Fault::CrashBeforeFailover => {
            let mut standby = synchronous_standby(server)?;
            lose_answers_for_a_while(door, random);
            standby.stop()?;
            // Commits are on the disk by now, and wait.
            wait_ms(COMMIT_MS);
            door.shut();
            server.kill()?;
            server.start()?;
            report.crashes += 1;
            door.open();
            // Whoever asks now finds commits that no standby has.
            wait_ms(random.random_range(0..BEFORE_MS_MAX));
            door.shut();
            server.kill()?;
            standby.start()?;
            Some(standby)
        }
    };
    report.crashes += 1;
    if let Some(standby) = promoted {
        promote(&standby)?;
        report.promotions += 1;
        // What was the first one is gone for good.
        *server = standby;
    }
    use_numbers(&server.sql(DATABASE), others)?;
    door.lead_to(&server.url(DATABASE));
    door.open();
    wait_ms(AFTER_MS);
    Ok(())
}

/// Time is what this is about: the fault comes at any moment of what others do.
fn wait_ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

fn lose_answers_for_a_while(door: &Proxy, random: &mut StdRng) {
    let end = Instant::now() + Duration::from_millis(random.random_range(0..BEFORE_MS_MAX));
    while Instant::now() < end {
        let commits = random.random_range(1..=COMMITS_MAX);
        door.arm(if random.random_bool(0.7) { Cut::AfterCommit(commits) } else { Cut::BeforeCommit(commits) });
        wait_ms(random.random_range(20..120));
    }
    door.disarm();
}

fn synchronous_standby(server: &OwnServer) -> Result<OwnServer, StressError> {
    let standby = server.standby()?;
    let sql = server.sql(DATABASE);
    set(&sql, "synchronous_standby_names = '*'")?;
    let is_waited_for = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    wait_until("a synchronous standby", || Ok(sql.scalar::<i64>(is_waited_for, &[])? == 1))?;
    // The checkpointer tells everybody else to wait, and looks at its settings before each checkpoint; at the second one they
    // have reached it.
    sql.execute_batch("CHECKPOINT")?;
    sql.execute_batch("CHECKPOINT")?;
    // Of what was written before, nothing is missing there.
    catch_up(&standby, &text(&sql, "SELECT pg_current_wal_flush_lsn()::TEXT")?)?;
    Ok(standby)
}

fn promote(standby: &OwnServer) -> Result<(), StressError> {
    let sql = standby.sql(DATABASE);
    sql.rows("SELECT pg_promote(TRUE, 60)", &[], |_| Ok(()))?;
    // It has inherited this from the first one, and has no standby itself.
    set(&sql, "synchronous_standby_names = ''")
}

fn set(sql: &Sql, setting: &str) -> Result<(), StressError> {
    sql.execute_batch(&format!("ALTER SYSTEM SET {setting}"))?;
    Ok(sql.rows("SELECT pg_reload_conf()", &[], |_| Ok(())).map(drop)?)
}

fn use_numbers(sql: &Sql, count: usize) -> Result<(), StressError> {
    (0..count).try_for_each(|_| Ok(sql.execute_batch("SELECT pg_current_xact_id()")?))
}

fn catch_up(standby: &OwnServer, place: &str) -> Result<(), StressError> {
    let sql = standby.sql(DATABASE);
    let is_there = "SELECT COALESCE(pg_last_wal_receive_lsn() >= ?1::TEXT::pg_lsn, FALSE)";
    wait_until("a standby that catches up", || Ok(sql.scalar::<bool>(is_there, &[place.into()])?))
}

fn wait_until(awaited: &'static str, mut is_so: impl FnMut() -> Result<bool, StressError>) -> Result<(), StressError> {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() > STANDBY_WAIT {
            return Err(StressError::NeverCame { awaited });
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

fn text(sql: &Sql, statement: &str) -> Result<String, StressError> {
    Ok(sql.scalar(statement, &[])?)
}
