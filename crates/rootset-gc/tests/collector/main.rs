//! Properties of the collector's decisions over random heaps.
//!
//! A failure prints the smallest input that shows it, and the seed to repeat it with.
// The bans on clocks and the environment are for the crate; tests take their number of cases and their seeds from them.
#![allow(clippy::disallowed_methods)]

mod context;
mod days;
mod heaps;
mod model;
mod retention;
mod simulation;
mod strategies;
