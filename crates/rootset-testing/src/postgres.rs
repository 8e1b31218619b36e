//! Databases on the server that `ROOTSET_TEST_POSTGRES` names.
//!
//! The schema is made once per server, in a template that all others are copied from. The template's name holds a hash of
//! what makes the schema, so that a changed schema makes a new one.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rootset_store::{Location, SCHEMA_VERSION, Store};

use crate::sql::Sql;

const VARIABLE: &str = "ROOTSET_TEST_POSTGRES";
/// Any number that nobody else locks: one process makes the template, the others wait for it.
const TEMPLATE_LOCK: i64 = 0x726f_6f74_7365_7401;

/// Dropped with its value, even while clients are connected.
#[derive(Debug)]
pub struct PostgresDatabase {
    name: String,
    pub url: String,
}

pub fn create_with_schema() -> PostgresDatabase {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    create(TEMPLATE.get_or_init(template))
}

pub fn create_empty() -> PostgresDatabase {
    create("template0")
}

fn create(template: &str) -> PostgresDatabase {
    let name = unused_name();
    // Half the time of the default strategy, which writes every page to the log; the template never changes.
    administrate(&format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"));
    PostgresDatabase { url: url_of(&name), name }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        // The server may have ended before the test, and a second panic would hide the first.
        if let Ok(sql) = Sql::open(&location_of("postgres")) {
            sql.execute_batch(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).ok();
        }
    }
}

/// The name of the database with the current schema, which is made if need be.
fn template() -> String {
    let name = format!("rootset_template_{SCHEMA_VERSION}_{}", schema_hash());
    let server = Sql::open(&location_of("postgres")).unwrap_or_else(|error| panic!("`{VARIABLE}`: {error}"));
    server.rows("SELECT pg_advisory_lock(?1)", &[TEMPLATE_LOCK.into()], |_| Ok(())).expect("a lock of our own");
    let is_there = "SELECT COUNT(*) FROM pg_database WHERE datname = ?1 AND datistemplate";
    if server.scalar::<i64>(is_there, &[(&name).into()]).expect("a count") == 0 {
        // Somebody may have been killed on the way.
        administrate(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        administrate(&format!("CREATE DATABASE {name} TEMPLATE template0"));
        drop(Store::open(&location_of(&name), None).unwrap_or_else(|error| panic!("a new database: {error}")));
        // Nobody may be connected to what is copied.
        administrate(&format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false IS_TEMPLATE true"));
        let others = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = ?1";
        server.rows(others, &[(&name).into()], |_| Ok(())).expect("backends that end");
    }
    name
}

fn administrate(sql: &str) {
    let result = Sql::open(&location_of("postgres")).and_then(|server| server.execute_batch(sql));
    result.unwrap_or_else(|error| panic!("`{VARIABLE}`: {sql}: {error}"));
}

/// Of everything that makes a new database: migrations, and what the engine itself makes at its start.
fn schema_hash() -> String {
    let store = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("rootset-store");
    let mut hasher = blake3::Hasher::new();
    for folder in ["migrations/postgres", "src/postgres"] {
        let Ok(entries) = std::fs::read_dir(store.join(folder)) else { continue };
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file()) {
            hasher.update(&std::fs::read(path).expect("a readable source"));
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn unused_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock after 1970");
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("rootset_test_{}_{}_{number}", std::process::id(), since.as_micros())
}

fn location_of(database: &str) -> Location {
    Location::parse(&url_of(database)).unwrap_or_else(|error| panic!("`{VARIABLE}`: {error}"))
}

/// The server's URL with another database in it.
fn url_of(database: &str) -> String {
    let Ok(server) = std::env::var(VARIABLE) else {
        panic!("`{VARIABLE}` is not set; hint: scripts/test sets it, and for a single command scripts/postgres does")
    };
    replace_database(&server, database).unwrap_or_else(|| panic!("`{VARIABLE}` is no URL with `postgres://`"))
}

fn replace_database(server: &str, database: &str) -> Option<String> {
    let (scheme, rest) = server.split_once("://")?;
    let (place, parameters) = rest.split_once('?').map_or((rest, None), |(place, it)| (place, Some(it)));
    let authority = place.split_once('/').map_or(place, |(authority, _)| authority);
    let parameters = parameters.map_or(String::new(), |it| format!("?{it}"));
    Some(format!("{scheme}://{authority}/{database}{parameters}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_a_url_is_replaced_and_nothing_else() {
        let replaced = |server: &str| replace_database(server, "mine");
        assert_eq!(
            replaced("postgres://postgres@/postgres?host=/tmp/x/socket").as_deref(),
            Some("postgres://postgres@/mine?host=/tmp/x/socket")
        );
        assert_eq!(replaced("postgresql://ann:pw@db:5433").as_deref(), Some("postgresql://ann:pw@db:5433/mine"));
        assert_eq!(replaced("host=/tmp"), None);
    }
}
