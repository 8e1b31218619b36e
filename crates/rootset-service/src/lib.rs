//! Every operation of Rootset: one request type, one response type, one implementation, listed in exactly one place.
//!
//! The service owns what the store must not know: the clock, ids, text processing, models, and the rules that differ by
//! front end. Front ends are thin: they turn a request into JSON, call [`Service::call`], and show the answer.

mod backups;
mod caller;
mod calls;
mod clock;
mod code_ranking;
mod code_snippet;
mod collecting;
mod context;
mod error;
mod folders;
mod housekeeping;
mod indexing;
mod languages;
mod operation;
pub mod operations;
mod platform;
mod prepare;
mod profile;
mod ranking;
mod request;
pub mod scheduler;
mod schema;
mod service;
mod settings;
mod shared;
mod tokens;
mod uses;
mod worker;

pub use backups::HoldingBackup;
pub use caller::{Caller, FrontEnd, Progress, Rights};
pub use clock::{Clock, Ids, SystemClock, SystemIds};
pub use context::{ContextMode, ContextSettings, SettingsChange as ContextChange, Tokenizer};
pub use error::{ErrorCode, ServiceError};
pub use housekeeping::{Housekeeper, Housekept};
pub use operation::{Effect, Operation, OperationInfo};
pub use operations::catalogue;
pub use profile::{Profile, Profiles, UnknownProfile};
pub use rootset_gc::StrategyChoice;
pub use service::Service;
pub use settings::{BackupSettings, CodeSettings, GcSettings, Settings, WorkspaceGcSettings};
