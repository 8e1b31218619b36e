//! `context_*`: an agent's working context. What is decided lives in `crate::context` and `rootset_gc::context`; here are
//! the operations.

mod add;
mod analyze;
mod compress;
mod configure;
mod explain;
mod fit;
mod focus;
mod get;
mod pin;
mod prune;
mod recall;
mod sessions;
mod stash;
mod transfer;
