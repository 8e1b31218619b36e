//! Message lists in, message lists out: what a caller can rely on, without looking at how.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]
// The bans on clocks and the environment are for the crate; tests take their number of cases and their seeds from them.
#![allow(clippy::disallowed_methods)]

mod converting;
mod generated;
mod harness;
mod properties;
mod pruning;
mod reading;
mod round_trips;
mod sessions;
mod validating;
