//! What may leave an agent's context window, why, and in which order.
//!
//! Pure, like the rest of the crate: steps and times are parameters, text is the caller's business. Segments are numbers
//! in order of addition; tasks, files, identifiers and paths are hashes that the caller makes. Nothing here stashes or
//! deletes: a [`WindowPlan`] is a proposal.
//!
//! How the parts build on each other, from the bottom up:
//!
//! - `lists`: many growing lists of numbers in one arena; `bitset`: one bit per segment.
//! - `graph`: references, hubs and states, with reference counts kept up to date (on `lists`).
//! - `holders`: who holds which identifier or path, and who alone; `views`: who shows which file (on `lists`).
//! - `instructions`: what the user said and has not got yet.
//! - `bindings`: ids, tool calls and tags, also of segments that are still to come; `recall`: what was stashed and is named.
//! - `window`: all of these and the facts of every segment, changed together. Callers keep one per session.
//! - `roots`, `mark`, `dominators`: read a window or its graph; what must stay, what that reaches, what hangs on whom.
//! - `names`: what an identifier or path is worth; `score`: what a segment is, in parts and as a prune score (on `decay`).
//! - `analysis`: roots, mark and scores of everything, once. `plan`: what should leave for a number of tokens.
//!
//! Additions, references and changes of state cost what the segment itself holds, never what the session holds.
//! [`analyse`], [`plan()`] and [`retained_tokens`] read the whole window; callers run them when a limit is passed.

mod analysis;
mod bindings;
mod bitset;
mod decay;
mod dominators;
mod graph;
mod hashes;
mod holders;
mod instructions;
mod lists;
mod mark;
mod names;
mod plan;
mod recall;
mod roots;
mod score;
mod segment;
mod views;
mod window;

pub use analysis::{Analysis, Candidate, analyse};
pub use dominators::retained_tokens;
pub use graph::{Graph, Hub, Population, ReferenceKind};
pub use holders::{Holders, LOOSE, is_loose};
pub use mark::{Marks, mark, path_from_root};
pub use plan::{EmptyPlan, LeavingReason, Region, STASH_RETENTION_MS, Target, WindowItem, WindowPlan, plan};
pub use recall::{Recall, RecallCause};
pub use roots::{Focus, RootKind, Roots, find_roots};
pub use score::{Parts, Scoring, Weights, parts};
pub use segment::{Author, Facts, Generation, Lines, Now, SegmentIndex, SegmentState, SegmentType};
pub use window::{Added, NewSegment, SURVIVALS_FOR_OLD, Window};

#[cfg(test)]
mod tests;
