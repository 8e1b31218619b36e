//! For tests: a database of its own for every one of them ([`TestDatabase`]), on the engine that `ROOTSET_TEST_ENGINE`
//! names, and raw SQL on it ([`Sql`]) that says the same to both engines; folders that cost no disk ([`temporary_folder`]);
//! chance that can be repeated ([`Dice`]); a PostgreSQL server that may be crashed ([`OwnServer`]), and a door before one
//! that can be slammed ([`Proxy`]).
//!
//! It knows how to make and remove databases, and nothing of what is in them. A test that is about one engine only says
//! so in its name or its module's name: the pass over PostgreSQL leaves out what has `sqlite` in it.

mod database;
mod dice;
mod engine;
mod folder;
mod own_server;
mod owned_database;
mod postgres;
mod proxy;
mod sql;

pub use database::{HeldWriters, TestDatabase};
pub use dice::Dice;
pub use engine::TestEngine;
pub use folder::temporary_folder;
pub use own_server::OwnServer;
pub use owned_database::OwnedDatabase;
pub use proxy::{Cut, Proxy};
pub use sql::{Cell, Sql, SqlError, SqlRow};

/// On a thread of its own: the store waits for its answers, and inside an async function nobody may.
pub fn off_runtime<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| match scope.spawn(work).join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
