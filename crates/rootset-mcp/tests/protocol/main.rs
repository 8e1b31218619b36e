//! The server as clients meet it: real messages over pipes in memory and over HTTP, a real database behind.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod brief;
mod calling;
mod confirming;
mod equality;
mod harness;
mod http;
mod listing;
mod offering;
mod raw;
