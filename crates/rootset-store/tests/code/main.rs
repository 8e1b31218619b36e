//! The store's half of the code index, at its border: files in, states, symbols and text out.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod exactness;
mod harness;
mod reading;
mod scanning;
mod writing;
