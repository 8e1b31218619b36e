//! For tests: I4 to I12, one predicate each over values. The properties of the collector ask them of a model in memory,
//! those of the service of rows that they read from a database. Nothing here looks anything up: the caller brings the
//! evidence.
//!
//! I1 to I3 are in `rootset_gc::invariants`, because the sweep asserts them on every batch. The `doctor` counts in SQL what
//! breaks an invariant, and reports it under the same ids.
//!
//! | evidence | invariants | module |
//! |---|---|---|
//! | a heap and what strategies select of it | I4, I5 | [`selection`] |
//! | rows of a database at rest, and what it serves | I6, I7, I8 | [`rows`] |
//! | before and after a step | I9, I10, I11, I12 | [`steps`] |

pub mod rows;
pub mod selection;
pub mod steps;
