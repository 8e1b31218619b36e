//! Where a step can be struck: failpoints of the store, at which the process dies or hears of an error.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use rootset_testing::TestEngine;

use crate::lives::steps::{Strike, What};

const APPLY: [&str; 3] = ["apply.first_batch", "apply.started", "apply.swept"];
const PURGE: [&str; 4] = ["purge.batch", "purge.batch_committed", "purge.removed", "purge.log_emptied"];
const UNDO: [&str; 2] = ["undo.batch", "undo.batch_committed"];
const SNAPSHOT: [&str; 3] = ["backup.begun", "backup.copied", "backup.published"];
const BUNDLE: [&str; 4] = ["backup.begun", "backup.table", "backup.written", "backup.published"];
const RESTORE: [&str; 6] = [
    "restore.verified",
    "restore.emptied",
    "restore.inserted",
    "restore.replayed",
    "restore.checked",
    "restore.committed",
];
/// What the message of every failpoint says.
const MARK: &str = "failpoint ";

#[derive(Clone, Copy, Debug)]
pub struct Struck {
    place: &'static str,
    is_death: bool,
}

/// How an attempt ended.
pub enum Ended<T> {
    Died,
    Failed,
    Answered(T),
}

/// `None` for steps that pass no such place.
pub fn place_of(what: What, strike: Strike, engine: TestEngine) -> Option<Struck> {
    let places: Vec<&'static str> = match what {
        What::Prune | What::Erase { .. } => APPLY.to_vec(),
        What::UndoRun { .. } => UNDO.to_vec(),
        What::PurgeRun { .. } | What::Housekeep => PURGE.to_vec(),
        What::Tick => [&APPLY[..], &PURGE[..]].concat(),
        What::Backup if engine == TestEngine::Sqlite => SNAPSHOT.to_vec(),
        What::Backup => BUNDLE.to_vec(),
        What::Restore { .. } => RESTORE.to_vec(),
        _ => return None,
    };
    let place = places[strike.place % places.len()];
    // A tick only logs what goes wrong with its housekeeping.
    let is_death = strike.is_death || (what == What::Tick && PURGE.contains(&place));
    Some(Struck { place, is_death })
}

/// Whether an answer warns of a strike.
pub fn is_told_of(answer: &serde_json::Value) -> bool {
    answer["warnings"].as_array().into_iter().flatten().any(|it| it.as_str().is_some_and(|it| it.contains(MARK)))
}

impl Struck {
    pub fn arm(&self) {
        let action = if self.is_death { "1*panic" } else { "1*return" };
        fail::cfg(self.place, action).expect("the action can be read");
    }

    pub fn disarm(&self) {
        fail::remove(self.place);
    }

    /// `attempt` answers an error's message.
    pub fn catch<T>(&self, attempt: impl FnOnce() -> Result<T, String>) -> Ended<Result<T, String>> {
        match catch_unwind(AssertUnwindSafe(attempt)) {
            Err(panic) if message_of(&*panic).contains(MARK) => Ended::Died,
            Err(panic) => resume_unwind(panic),
            Ok(Err(message)) if message.contains(MARK) => Ended::Failed,
            Ok(answer) => Ended::Answered(answer),
        }
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}

/// Deaths are part of a life; every other panic is told as ever.
pub fn be_quiet_about_deaths() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !message_of(panic.payload()).contains(MARK) {
                others(panic);
            }
        }));
    });
}
