//! Context sessions: what the service adds to the pure window of `rootset_gc::context` and the durable rows of the store.
//!
//! The path of an addition: `incoming` turns a request into checked segments with token counts and hashes of names;
//! `sessions` finds the session in memory, catches up with what other processes wrote, and hands out an `edit`;
//! `collecting` decides whether something has to leave; the edit is written in one transaction; on a version conflict
//! the session is reloaded and the work is repeated.
//!
//! A session in memory is a cache of the database and nothing more: after any failure it is dropped and read again.

mod answers;
mod collecting;
mod counting;
mod edit;
pub mod fitting;
mod incoming;
mod live;
mod rendering;
mod reports;
mod restoring;
mod sessions;
mod settings;
mod token_tables;

pub use answers::{grouped, segment_answer, segment_error, segment_placeholder, usage_answer};
pub use collecting::{Collected, analysis, collect_if_full, stash_items};
pub use counting::count_tokens;
pub use edit::Edit;
pub use incoming::{Arrival, Incoming, name_with_hash};
pub use live::LiveSession;
pub use rendering::{message_format, render_messages};
pub use reports::{Analysed, segment_ids_of};
pub use restoring::copy_from_session;
pub use sessions::{LiveSessions, check_session_id};
pub use settings::{ContextSettings, SettingsChange, settings_in_force};
