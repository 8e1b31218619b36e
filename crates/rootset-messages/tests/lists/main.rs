//! Message lists in, message lists out: what a caller can rely on, without looking at how.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod harness;
mod pruning;
mod reading;
mod round_trips;
mod sessions;
mod validating;
