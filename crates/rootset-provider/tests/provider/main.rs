//! The crate from outside: against a local server that answers as an endpoint does, well or badly; against a tiny model
//! that the tests write themselves; and, where the environment names them, against real endpoints.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod chat;
mod embeddings;
#[cfg(feature = "local-model")]
mod local_model;
mod real_endpoints;
mod static_table;
mod support;
