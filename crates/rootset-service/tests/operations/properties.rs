//! Random lives of two workspaces on a real database: people write, use, pin and supersede, files come and go, policies
//! change, plans are made, applied late, undone and purged, in any order.
//!
//! Every answer is compared with that of the model of `model.rs`, which is written from the specification and shares
//! nothing with the collector; and after every step the invariants are asked of the database itself. A failure prints
//! the shortest life that shows it, and the seed to repeat it with.

mod collecting;
mod comparing;
mod evidence;
mod simulation;
mod steps;
mod writing;

use proptest::prelude::*;

use rootset_properties::for_longer;
use simulation::Simulation;
use steps::life;

/// Every life has a database of its own.
const WEIGHT: u32 = 8;

#[test]
fn whatever_happens_answers_are_as_the_model_says_and_the_invariants_hold() {
    for_longer(WEIGHT, |config| {
        proptest!(config, |(life in life())| {
            Simulation::new().live(&life)?;
        })
    });
}
