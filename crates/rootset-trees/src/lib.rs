//! Source trees for tests: small random projects that change step by step ([`Tree`]), and everything that a code index
//! says about a tree, in a form in which two databases can be compared ([`logical_dump`]).
//!
//! Used by the tests of the operations and by `rootset-stress`. It knows the database by its
//! tables, not by what the crates that write it say of them: an index that is wrong in the same way on both sides of a
//! border would otherwise look right.

pub mod dump;
mod logical;
mod scope;
mod source;
mod steps;
mod tree;

pub use dump::raw_dump;
pub use logical::{indexed_paths, logical_dump, stale_paths};
pub use scope::IndexScope;
pub use source::{Function, Language, Source};
pub use tree::{Entry, Tree};
