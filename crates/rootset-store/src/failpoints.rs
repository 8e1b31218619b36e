//! Places where a test can make the process die or an error appear: the edges between the phases of everything that
//! must survive a crash.
//!
//! They need the feature `failpoints` and a profile with debug assertions (`dev`, `stress`); otherwise they are nothing at
//! all. The feature alone is not enough because cargo gives it to every crate of a workspace build as soon as one asks for
//! it, and no release binary may have them.

/// Every place, so that a test can walk all of them.
pub const FAILPOINTS: &[&str] = &[
    "apply.first_batch",
    "apply.started",
    "apply.batch",
    "apply.batch_committed",
    "apply.swept",
    "undo.batch",
    "undo.batch_committed",
    "purge.batch",
    "purge.batch_committed",
    "purge.workspace_batch",
    "purge.workspace_batch_committed",
    "purge.removed",
    "purge.compaction_step",
    "purge.log_emptied",
    "backup.begun",
    "backup.copied",
    "backup.table",
    "backup.written",
    "backup.published",
    "restore.verified",
    "restore.emptied",
    "restore.inserted",
    "restore.replayed",
    "restore.checked",
    "restore.committed",
    "rewrite.restored",
    "rewrite.aside",
    "rewrite.replaced",
    "defrag.begun",
    "defrag.optimized",
    "defrag.rebuilt",
    "defrag.noted",
    "migrate.backed_up",
    "migrate.step",
    "migrate.committed",
];

/// Memories per batch of a sweep or an undo. A test that wants several batches need not store thousands of memories: it
/// says `return(300)` at this point, which is none of [`FAILPOINTS`] because nothing fails there.
pub(crate) fn sweep_batch_memories() -> usize {
    #[cfg(all(feature = "failpoints", debug_assertions))]
    fail::fail_point!("sweep.batch_memories", |size| {
        size.and_then(|size| size.parse().ok()).expect("a test gives a number")
    });
    rootset_model::limits::SWEEP_BATCH_MEMORIES
}

/// Roots per batch of a purge, which a test can make smaller in the same way.
pub(crate) fn purge_batch_memories() -> usize {
    #[cfg(all(feature = "failpoints", debug_assertions))]
    fail::fail_point!("purge.batch_memories", |size| {
        size.and_then(|size| size.parse().ok()).expect("a test gives a number")
    });
    rootset_model::limits::PURGE_BATCH_MEMORIES
}

/// How commits are synced. A test turns it off to see that it would notice.
pub(crate) fn synchronous() -> &'static str {
    #[cfg(all(feature = "failpoints", debug_assertions))]
    fail::fail_point!("control.synchronous_off", |_| "OFF");
    "FULL"
}

/// The room on the disk of this file, if the system says. A disk that a test makes small says it here.
pub(crate) fn disk_room_bytes(path: &std::path::Path) -> Option<u64> {
    #[cfg(all(feature = "failpoints", debug_assertions))]
    fail::fail_point!("disk.room_bytes", |bytes| bytes.and_then(|bytes| bytes.parse().ok()));
    fs4::available_space(path).ok()
}

/// How an erasure leaves the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(feature = "failpoints", debug_assertions)), expect(dead_code, reason = "mistakes are for tests"))]
pub(crate) enum LogAfterErasure {
    Erased,
    /// Mistakes that a test has to notice.
    Untouched,
    CutOff,
}

pub(crate) fn log_after_erasure() -> LogAfterErasure {
    #[cfg(all(feature = "failpoints", debug_assertions))]
    {
        fail::fail_point!("control.log_not_emptied", |_| LogAfterErasure::Untouched);
        fail::fail_point!("control.log_not_synced", |_| LogAfterErasure::CutOff);
    }
    LogAfterErasure::Erased
}

/// Dies or fails here when a test says so.
macro_rules! failpoint {
    ($name:literal) => {
        #[cfg(all(feature = "failpoints", debug_assertions))]
        fail::fail_point!($name, |_| Err($crate::StoreError::Engine(concat!("failpoint ", $name).to_owned())));
    };
}
pub(crate) use failpoint;
