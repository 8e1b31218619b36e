//! Storage under real processes: many writers on one file, writers that are killed, creation races, an upgrade by
//! somebody else.
//!
//! The binary's hidden command `writer` is a process of its own: it opens the database, performs a seeded stream of
//! operations, and tells its parent over a pipe what it is about to do and, only after the operation returned, what came
//! of it (see [`protocol`]). The parent kills it, or stops it by closing its standard input, and then holds the database
//! against everything that was acknowledged (see [`model`]): the one operation under way may have happened or not, and
//! nothing else may differ. A failure prints the seed and the round.
//!
//! `SIGKILL` leaves the kernel's page cache alone, so a missing `fsync` is not noticed by it. Power cuts and failing disks
//! have their own runs ([`disk`]), below the files of a process.
//!
//! The collector has its own runs. One operation in a process of its own ([`step`]) dies or fails at a failpoint of the
//! store ([`failpoints`]), finds the disk full ([`disk_full`]), or is killed at a random moment ([`collector_kills`]); then
//! somebody else does the same again, and the dump ([`dump`]) must be that of a twin that nobody disturbed.
//!
//! The code index, too ([`index_kills`]): processes that index a tree are killed while the tree changes between them, and
//! what the last of them leaves is compared with a fresh index ([`same_index`]).
//!
//! Seeded lives ([`lives`]) need no processes of their own: services take turns on one database, with clocks that jump, beside
//! a model that knows where every memory should be.
//!
//! And the servers ([`servers`]): clients write through two of them while one after the other is killed, and everything
//! that a client was told must be there when the last one is dead.
//!
//! And PostgreSQL's own ([`postgres_crashes`]): servers that are killed while commits are on their way to the disk, and
//! standbys that take their place.
//!
//! Files rot, too ([`bit_rot`]): one bit after the other is flipped, and every answer is right or something is reported.
//!
//! The integration tests are short versions of long runs:
//!
//! ```text
//! cargo run --profile stress -p rootset-stress -- writers --processes 64 --seconds 20
//! cargo run --profile stress -p rootset-stress -- kills --rounds 5000
//! cargo run --profile stress -p rootset-stress -- kills --rounds 5000 --extractor slow
//! cargo run --profile stress -p rootset-stress -- creation --rounds 500
//! cargo run --profile stress -p rootset-stress -- failpoints
//! cargo run --profile stress -p rootset-stress -- disk-full
//! cargo run --profile stress -p rootset-stress -- power-cuts --images 200
//! cargo run --profile stress -p rootset-stress -- faults --scenario purge
//! cargo run --profile stress -p rootset-stress -- small-disk
//! cargo run --profile stress -p rootset-stress -- collector-kills --rounds 500
//! cargo run --profile stress -p rootset-stress -- indexing --rounds 500
//! cargo run --profile stress -p rootset-stress -- servers --clients 16 --seconds 120 --kill-every 4
//! scripts/postgres cargo run --profile stress -p rootset-stress -- postgres-crashes --rounds 100
//! cargo run --profile stress -p rootset-stress -- bit-rot --every 97
//! cargo run --profile stress -p rootset-stress -- lives --lives 50 --steps 10000
//! cargo run --profile stress -p rootset-stress -- same-index one.db other.db
//! ```
//!
//! `writers` starts that many processes, which all add for that long, and prints how the commits were shared among them.
//! It fails when anybody saw an error, when a process got less than a quarter of the median, when an acknowledged memory
//! is missing, or when `doctor` finds anything. `kills` repeats: start one to three writers of a mix of add, update,
//! delete, undo and purge on a database that outlives the round, kill each at a random moment, compare. With
//! `--extractor slow` memories are pending when the kill comes, and somebody else completes them once their leases ran
//! out. `--seed` repeats a run: the operations are the same, the moments of the kills only as far as the machine allows.
//!
//! The tests read `ROOTSET_STRESS_PROCESSES`, `ROOTSET_STRESS_SECONDS`, `ROOTSET_STRESS_COLLECTOR_ROUNDS`,
//! `ROOTSET_STRESS_INDEX_ROUNDS`, `ROOTSET_STRESS_POSTGRES_ROUNDS`, `ROOTSET_STRESS_SERVER_SECONDS`, `ROOTSET_STRESS_LIVES`,
//! `ROOTSET_STRESS_LIFE_STEPS`, `ROOTSET_STRESS_IMAGES`, `ROOTSET_STRESS_FAULTS`, `ROOTSET_STRESS_SEED`, and for what has no
//! number of rounds `ROOTSET_TEST_BUDGET_MS`.

pub mod bit_rot;
pub mod collector_kills;
pub mod creation_race;
pub mod disk;
pub mod disk_full;
pub mod dump;
pub mod error;
pub mod failpoints;
pub mod index_kills;
pub mod lives;
pub mod many_writers;
pub mod model;
pub mod postgres_crashes;
pub mod prepared_databases;
pub mod process;
pub mod protocol;
pub mod run_length;
pub mod same_index;
pub mod servers;
pub mod slow_extractor;
pub mod step;
pub mod texts;
pub mod verify;
pub mod writer;
pub mod writer_kills;

pub use error::{Failed, StressError};
