//! The API of Rootset as types: every request, response, error, effect and profile, and the one list of operations.
//!
//! Pure: nothing here carries out an operation or knows a store, a clock or a network. The service implements the list,
//! front ends generate themselves from it, and programs in Rust can use these types to talk to a server.
//!
//! Operations live in rooms by what they are about, each with its requests, its responses and one row per operation.

mod admin;
mod backup;
mod brief;
mod catalogue;
mod code;
mod collector;
mod context;
mod counts;
mod detail;
mod effect;
mod error;
mod graph;
mod irreversible;
mod memory;
mod memory_of;
mod mismatch;
mod operation;
mod parsing;
mod profile;
mod schema;
mod search;
mod secrets;
mod tokens;
mod upkeep;

pub use admin::*;
pub use backup::*;
pub use brief::*;
pub use catalogue::catalogue;
pub use code::*;
pub use collector::*;
pub use context::*;
pub use detail::Detail;
pub use effect::Effect;
pub use error::{Error, ErrorCode};
pub use graph::*;
pub use irreversible::{Harm, Irreversible};
pub use memory::*;
pub use memory_of::MemoryOf;
pub use operation::{OperationInfo, Request};
pub use parsing::{nearest, nearest_words, read, word};
pub use profile::{Profile, Profiles, UnknownProfile};
pub use rootset_gc::context::SegmentState;
pub use rootset_gc::{Blocked, StrategyChoice};
pub use search::*;
pub use secrets::*;
pub use tokens::*;
pub use upkeep::*;
