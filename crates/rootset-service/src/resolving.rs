//! Whom a call reaches, told from stored facts alone: what files define, import and say of types, and what manifests say
//! of names.
//!
//! Pure, and demand-driven: a question is asked of the [`Facts`] at hand; what it missed is in [`Facts::take_wanted`],
//! and once that is loaded the question is asked again. Not here: the database, and what an answer looks like.
//!
//! Invariants:
//! - Certain: the file says itself where the name is from, or what type the receiver is. Several definitions of different
//!   names are never certain.
//! - Possible: the receiver could be of that type; the reason says why.
//! - A call is `foreign` only when a name leads out of what is indexed. Everything else is `unplaced`, and counted.
//! - Work per call is bounded by [`Facts::STEPS_MAX`], and the stack by a depth: sources decide how names lead to names.

mod chains;
mod facts;
mod names;
mod paths;
mod place;
mod types;

pub use facts::{Facts, File, Known, Sym};
pub use place::Placed;

use rootset_code::name_parts;

/// What a name or an expression stands for.
#[derive(Clone, Debug)]
pub(super) enum Thing {
    /// A function, a method or a type itself.
    Symbol(Sym),
    /// A value of a type.
    Value(Sym),
    /// A module, package or namespace, by its name with `.` between the parts.
    Module(String),
    /// A Go package, by its folder.
    Folder(String),
    /// Of a script: a namespace or an object, which is no symbol but may hold functions. Where those may stand, nearest first.
    Object(Vec<String>),
    /// Defined nowhere in the index.
    Foreign,
    Unknown,
}

impl Thing {
    pub(super) fn is_known(&self) -> bool {
        !matches!(self, Self::Foreign | Self::Unknown | Self::Object(_))
    }
}

/// A name with `.` between its parts, whatever the language writes there.
pub fn key_of(qualified_name: &str) -> String {
    name_parts(qualified_name).join(".")
}

/// A name and what it stands in.
pub(super) fn split_last(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

pub(super) fn joined(container: &str, name: &str) -> String {
    match (container, name) {
        ("", name) => name.to_owned(),
        (container, "") => container.to_owned(),
        (container, name) => [container, ".", name].concat(),
    }
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
