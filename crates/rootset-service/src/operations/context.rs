//! `context_*`: an agent's working context. What is decided lives in `crate::context` and `rootset_gc::context`; here are
//! requests and answers.

mod add;
mod analyze;
mod compress;
mod configure;
mod explain;
mod focus;
mod get;
mod pin;
mod prune;
mod sessions;
mod stash;
mod transfer;

pub use add::ContextAdd;
pub use analyze::ContextGcAnalyze;
pub use compress::ContextCompress;
pub use configure::ContextGcConfigure;
pub use explain::ContextExplain;
pub use focus::ContextSetFocus;
pub use get::ContextGet;
pub use pin::{ContextGcPin, ContextGcUnpin};
pub use prune::ContextGcPrune;
pub use sessions::{ContextDeleteSession, ContextListSessions};
pub use stash::{ContextRestore, ContextSearchStash};
pub use transfer::{ContextExport, ContextImport};
