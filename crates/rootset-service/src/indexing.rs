//! The code index: what is on disk, compared with what is stored, and as little work as makes the two agree.
//!
//! The path of a file: `tree` sees it, `compare` decides whether it has to be read, `open` opens it and nothing else,
//! `read` turns it into symbols and terms, `pipeline` does that on all cores, `writer` writes
//! it, and `look` ends the run that `run` began.
//! Not here: parsing (rootset-code), rows (rootset-store), and what happens to stale files (the collector).

mod citations;
mod compare;
mod large_rules;
mod look;
mod open;
mod pipeline;
mod read;
mod renames;
mod report;
mod repositories;
mod room;
mod run;
mod scope;
mod secret_files;
mod skipped;
mod tree;
mod writer;

pub(crate) use report::Report;
pub(crate) use run::IndexRun;
pub(crate) use scope::IndexScope;
