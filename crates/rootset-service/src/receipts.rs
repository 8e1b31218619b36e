//! Receipts of erasures: files that say what was erased, where was searched, what was left and what is out of reach, and
//! that anybody can check without the database.
//!
//! A receipt holds numbers, ids, names of workspaces and keyed hashes, never a word of what was erased or asked for.

mod document;
mod issuing;
mod signing;

pub use document::{
    AskedFor, AuditLink, BackupLine, ErasedLine, FailedLine, Left, ReceiptDocument, SearchedLine, SignedBy,
};
pub(crate) use issuing::{ErasedPart, Erasure, FailedPart, Wanted, purged_rows};
pub use signing::{FORMAT, UnverifiedReceipt, fingerprint, verify_receipt};
