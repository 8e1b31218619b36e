//! Whole files in, outlines out: what each language's sources give, that chunks lose nothing, that no text is too much.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod chunking;
mod fixtures;
mod hostile;
mod outlines;
mod properties;
mod searching;
