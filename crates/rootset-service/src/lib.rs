//! Every operation of Rootset: one request type, one response type, one implementation, listed in exactly one place.
//!
//! The service owns what the store must not know: the clock, ids, text processing, models, and the rules that differ by
//! front end. Front ends are thin: they call [`Service::run`] with a request or [`Service::call`] with JSON, and show
//! the answer.

mod backups;
mod brief;
mod caller;
mod chunk_terms;
mod clock;
mod code_query;
mod code_ranking;
mod code_snippet;
mod collecting;
mod context;
mod contradictions;
pub mod delivery;
mod denials;
mod digest;
mod embedding;
mod error;
mod fields;
mod freshening;
pub mod hooks;
mod housekeeping;
mod indexing;
mod labels;
mod languages;
mod occurred;
mod operation;
pub mod operations;
mod own_tree;
mod per_caller;
mod personal;
mod personal_hits;
mod places;
mod platform;
mod prepare;
mod projects;
mod pushed_notes;
mod ranking;
pub mod receipts;
mod referring;
mod resolving;
pub mod scheduler;
mod secrets;
mod service;
mod settings;
mod tokens;
mod updates;
mod uses;
mod visits;
mod worker;

pub use brief::Brief;
pub use caller::{Caller, CallerToken, FrontEnd, Progress, Rights};
pub use clock::{Clock, Ids, SystemClock, SystemIds};
pub use context::{ContextSettings, SettingsChange as ContextChange};
pub use digest::Digest;
pub use error::ServiceError;
pub use housekeeping::{Housekeeper, Housekept};
pub use operation::Operation;
pub use per_caller::PerCaller;
pub use personal::{PERSONAL, Person};
pub use projects::{CurrentWorkspace, Decided, Project, Reason, Remark, WorkingFolder, declared_workspace};
pub use rootset_gc::drains::DrainMode;
pub use rootset_gc::strategies::chosen as chosen_strategies;
pub use secrets::{Notes as SecretNotes, SecretPolicy, SecretSettings};
pub use service::{Service, unknown_operation};
pub use settings::{BackupSettings, Birth, CodeSettings, GcOverrides, GcSettings, Settings};
