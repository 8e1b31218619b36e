//! The durable half of context windows, at its border: sessions and segments in, rows, words and hits out; and both in
//! the protocol that deletes.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod archiving;
mod changing;
mod checking;
mod deleting;
mod forgetting;
mod harness;
mod properties;
mod purging;
mod searching;
