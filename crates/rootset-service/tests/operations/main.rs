//! The operations as a caller sees them: JSON in, JSON out, over a real database with a clock that the test moves.
//!
//! One file per theme; each test is a line of the specification's scenarios, or a bug that must not come back.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod adding;
mod agents;
mod archives;
mod backups;
mod batches;
mod both_engines;
mod briefing;
mod checking;
mod clocks;
mod context;
mod contradictions;
mod defragmenting;
mod deleting;
mod delivering;
mod draining;
mod embedding;
mod erasing;
mod everywhere;
mod explaining;
mod extracting;
mod files;
mod forgetting;
mod graphs;
mod harness;
mod hooking;
mod housekeeping;
mod knowing;
mod ledgers;
mod listing;
mod model;
mod naming;
mod nonsense;
mod personal;
mod projects;
mod properties;
mod provenance;
mod pruning;
mod receipts;
mod redacting;
mod refusing;

mod restoring;
mod retaining;
mod rights;
mod rotting;
mod round_trips;
mod salvaging_sqlite;
mod scheduling;
mod searching;
mod secrets;
mod segments;
mod simulating;
mod strategies;
mod superseding;
mod surface;
mod tenancy;
mod times;
mod tokens;
mod unattended;
mod updating;
mod using;
mod versions;
mod workspaces;
