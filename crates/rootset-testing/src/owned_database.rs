//! A database that belongs to a login of its own: what a server looks like where the program is nobody special.

use crate::database::TestDatabase;
use crate::engine::TestEngine;
use crate::sql::Sql;

/// An empty database on a server whose owner may make databases and roles, and nothing more. That login goes with it.
#[derive(Debug)]
pub struct OwnedDatabase {
    pub database: TestDatabase,
    pub login: String,
}

impl OwnedDatabase {
    pub fn new() -> Self {
        let database = TestDatabase::empty_on(TestEngine::Postgres);
        let sql = database.sql();
        let name: String = sql.scalar("SELECT current_database()::TEXT", &[]).expect("a name");
        let login = format!("{name}_owner");
        let statements =
            format!("CREATE ROLE {login} LOGIN CREATEDB CREATEROLE; ALTER DATABASE {name} OWNER TO {login}");
        sql.execute_batch(&statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
        // Where another database has brought the role, it is not this login's to give; and else it does not exist yet.
        sql.execute_batch(&format!("GRANT rootset_application TO {login}")).ok();
        Self { database, login }
    }

    /// The database as its owner logs in to it.
    pub fn url(&self) -> String {
        let (scheme, rest) = self.database.url().split_once("://").expect("a URL");
        let place = rest.split_once('@').map_or(rest, |(_, place)| place);
        format!("{scheme}://{}@{place}", self.login)
    }
}

impl Default for OwnedDatabase {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for OwnedDatabase {
    fn drop(&mut self) {
        let login = &self.login;
        // The server may have ended before the test, and a second panic would hide the first.
        if let Ok(sql) = Sql::open(self.database.location()) {
            let gone = format!("REASSIGN OWNED BY {login} TO CURRENT_USER; DROP OWNED BY {login}; DROP ROLE {login}");
            sql.execute_batch(&gone).ok();
        }
    }
}
