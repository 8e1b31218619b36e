//! What may happen in a life. A step names no id: its numbers choose among what is there when it is taken, so that a script
//! still makes sense after steps were left out.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::clock::{DAY_MS, HOUR_MS, MINUTE_MS};

/// Processes that share the database.
pub const PROCESSES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A process changes something or asks for it.
    Do { process: usize, what: What, struck: Option<Strike> },
    /// Two processes at the same time.
    Both { first: What, second: What },
    /// Time passes while something runs.
    Pass { ms: i64 },
    /// Somebody sets the clock.
    Jump { ms: i64 },
    /// Somebody sets it right.
    SetRight,
    /// A process ends without a word and starts again.
    Die { process: usize },
}

/// Numbers stand for things that are there by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Add {
        expires_in_days: Option<i64>,
    },
    /// A text that some memory has or had.
    AddAgain {
        memory: usize,
    },
    /// `stale`: with a version that is no longer current.
    Update {
        memory: usize,
        stale: bool,
    },
    Delete {
        memory: usize,
    },
    UndoRun {
        run: usize,
    },
    UndoMemory {
        memory: usize,
    },
    Erase {
        memory: usize,
    },
    PurgeRun {
        run: usize,
    },
    /// A person plans what is expired and applies it.
    Prune,
    Housekeep,
    Tick,
    Backup,
    Restore {
        backup: usize,
    },
    Get {
        memory: usize,
    },
    List,
}

/// A step that is struck is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strike {
    /// Which of the places that the step may pass.
    pub place: usize,
    /// The process dies there; otherwise it hears of an error.
    pub is_death: bool,
}

/// The steps of a seed; a longer life begins like a shorter one.
pub fn of_seed(seed: u64, count: usize) -> Vec<Step> {
    let mut random = StdRng::seed_from_u64(seed);
    (0..count).map(|_| step(&mut random)).collect()
}

fn step(random: &mut StdRng) -> Step {
    match random.random_range(0..100) {
        0..70 => {
            let what = what(random);
            let strike = Strike { place: random.random_range(0..8), is_death: random.random_bool(0.5) };
            let struck = random.random_bool(0.15).then_some(strike);
            Step::Do { process: random.random_range(0..PROCESSES), what, struck }
        }
        70..76 => Step::Both { first: quick(random), second: quick(random) },
        76..94 => Step::Pass { ms: passing(random) },
        94..96 => Step::Jump { ms: jump(random) },
        96..98 => Step::SetRight,
        _ => Step::Die { process: random.random_range(0..PROCESSES) },
    }
}

fn number(random: &mut StdRng) -> usize {
    random.random_range(0..1_000)
}

fn what(random: &mut StdRng) -> What {
    match random.random_range(0..200) {
        0..70 => quick(random),
        70..82 => What::UndoRun { run: number(random) },
        82..92 => What::Erase { memory: number(random) },
        92..100 => What::PurgeRun { run: number(random) },
        100..115 => What::Prune,
        115..140 => What::Housekeep,
        140..155 => What::Tick,
        155..157 => What::Backup,
        157..158 => What::Restore { backup: number(random) },
        158..170 => What::List,
        _ => What::Get { memory: number(random) },
    }
}

/// What one short transaction does.
fn quick(random: &mut StdRng) -> What {
    match random.random_range(0..20) {
        0..7 => What::Add { expires_in_days: random.random_bool(0.2).then(|| random.random_range(-1..20)) },
        7..9 => What::AddAgain { memory: number(random) },
        9..13 => What::Update { memory: number(random), stale: random.random_bool(0.2) },
        13..18 => What::Delete { memory: number(random) },
        _ => What::UndoMemory { memory: number(random) },
    }
}

fn passing(random: &mut StdRng) -> i64 {
    match random.random_range(0..10) {
        0..3 => random.random_range(1_000..10 * MINUTE_MS),
        3..6 => random.random_range(MINUTE_MS..6 * HOUR_MS),
        6..9 => random.random_range(HOUR_MS..=DAY_MS),
        // Nothing ran meanwhile.
        _ => random.random_range(DAY_MS..40 * DAY_MS),
    }
}

fn jump(random: &mut StdRng) -> i64 {
    let ms = match random.random_range(0..4) {
        0 => random.random_range(MINUTE_MS..2 * HOUR_MS),
        1 => random.random_range(HOUR_MS..3 * DAY_MS),
        _ => random.random_range(DAY_MS..400 * DAY_MS),
    };
    if random.random_bool(0.5) { ms } else { -ms }
}
