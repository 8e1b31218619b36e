//! The store's half of the code index: repositories, the memories of their files, symbols and references.
//!
//! The caller walks the tree, parses, and decides what a file is and whether it changed; here it is stored and found. A
//! file is a memory like any other to the trash, the collector and backups; it differs in that its content is replaced in
//! place, its chunks know their symbols, and its terms are in an index of their own.

mod complete;
mod derive;
mod previous;
mod read;
pub(crate) mod references;
mod repos;
mod search;
mod served;
mod states;
mod write;

pub use complete::CompletedScan;
pub use read::{CodeText, FileReferences, SymbolRow};
pub use repos::{RepoRow, RepoView};
pub use search::{CodeCandidate, CodeFilters, CodeHit, CodeSearch, CodeSymbol, RankCode};
pub use served::{ChunkOrigin, TermsOfChunk};
pub use states::{FileStamp, FileState, ServedFile};
pub use write::{FileOutcome, NewFile};
